//! The rows that a log lets us know: what its writes left behind.
//!
//! A log holds no answers. But a row that was written in it, by statements that name its key and its new values, has a
//! value that we know; and whoever reads that row later gets it. So the writes of committed transactions are done again
//! here, in the order of their commits. What cannot be followed (an UPDATE of many rows, a computed value) makes
//! unknown what it may have changed.
//!
//! A log is written *before* the work is done, so a read that stands right behind a COMMIT may have come before it. That
//! is why each column remembers the value that it had before, too.

use super::deed::{Given, Row};
use super::value::{ByHash, Said, mix};

/// So many rows are remembered; what else is written stays unknown.
const ROWS_MAX: usize = 400_000;

/// What a column may hold for whoever reads it now: the last value, and the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Known {
    pub(super) last: Option<Said>,
    pub(super) before: Option<Said>,
}

impl Known {
    /// The values that are possible.
    pub(super) fn values(self) -> impl Iterator<Item = Said> {
        self.last.into_iter().chain(self.before.filter(|_| self.last.is_some()))
    }

    fn set(&mut self, value: Option<Said>) {
        *self = Known { last: value, before: self.last };
    }
}

#[derive(Debug, Clone, Default)]
struct Stored {
    /// How often the table had been forgotten when this was written.
    age: u32,
    columns: Box<[Known]>,
}

/// The rows of all tables.
#[derive(Debug, Default)]
pub(super) struct Rows {
    rows: ByHash<Stored>,
    /// How often each table was forgotten.
    ages: Vec<u32>,
    /// How many columns each table has.
    widths: Vec<usize>,
}

/// The hash of a row's table and key.
pub(super) fn key(row: &Row, values: impl Fn(usize) -> Said) -> u64 {
    row.key.iter().fold(row.table as u64 + 1, |hash, slot| mix(hash, values(*slot).hash))
}

impl Rows {
    pub(super) fn new(widths: Vec<usize>) -> Rows {
        Rows { rows: ByHash::default(), ages: vec![0; widths.len()], widths }
    }

    /// What is known of a column of a row.
    pub(super) fn read(&self, table: usize, key: u64, column: usize) -> Known {
        let row = self.rows.get(&key).filter(|row| row.age == self.ages[table]);
        row.and_then(|row| row.columns.get(column)).copied().unwrap_or_default()
    }

    /// Changes columns of a row.
    pub(super) fn write(
        &mut self,
        table: usize,
        key: u64,
        assigned: &[(usize, Given)],
        values: impl Fn(usize) -> Said,
    ) {
        let (age, width) = (self.ages[table], self.widths[table]);
        if self.rows.len() >= ROWS_MAX && !self.rows.contains_key(&key) {
            return;
        }
        let row = self.rows.entry(key).or_default();
        if row.age != age || row.columns.is_empty() {
            *row = Stored { age, columns: vec![Known::default(); width].into() };
        }
        for (column, given) in assigned {
            if let Some(known) = row.columns.get_mut(*column) {
                known.set(given.of(known.last, &values));
            }
        }
    }

    /// Removes a row: nothing is known of it any more.
    pub(super) fn remove(&mut self, key: u64) {
        self.rows.remove(&key);
    }

    /// Anything may have happened to the rows of a table.
    pub(super) fn forget(&mut self, table: usize) {
        if let Some(age) = self.ages.get_mut(table) {
            *age += 1;
        }
    }
}

impl Given {
    /// The new value of a column that held `old`.
    pub(super) fn of(self, old: Option<Said>, values: impl Fn(usize) -> Said) -> Option<Said> {
        let computed = |slot: usize, sign: i64| {
            let (old, change) = (old?.number?, values(slot).number?);
            Some(Said::of_number(old.checked_add(sign * change)?))
        };
        match self {
            Given::Slot(slot) => Some(values(slot)),
            Given::Plus(slot) => computed(slot, 1),
            Given::Minus(slot) => computed(slot, -1),
            Given::Sum(a, b) => Some(Said::of_number(values(a).number?.checked_add(values(b).number?)?)),
            Given::Difference(a, b) => Some(Said::of_number(values(a).number?.checked_sub(values(b).number?)?)),
            Given::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: i64) -> Said {
        Said::of_number(value)
    }

    #[test]
    fn writes_are_done_again() {
        let mut rows = Rows::new(vec![2]);
        let row = Row { table: 0, key: vec![0] };
        let key = key(&row, |_| number(1));
        rows.write(0, key, &[(1, Given::Slot(0))], |_| number(10));
        rows.write(0, key, &[(1, Given::Minus(0))], |_| number(3));
        let known = rows.read(0, key, 1);
        assert_eq!((known.last, known.before), (Some(number(7)), Some(number(10))));
        assert_eq!(rows.read(0, key, 0), Known::default());
        rows.forget(0);
        assert_eq!(rows.read(0, key, 1), Known::default());
        rows.write(0, key, &[(1, Given::Minus(0))], |_| number(3));
        assert_eq!(rows.read(0, key, 1).last, None, "what it was is not known");
    }
}
