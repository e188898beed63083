//! Who wrote a value? A table of all writes, by key and value.
//!
//! The question is asked several times for every operation, so the table decides how fast large histories are checked. In
//! a hash table neighbours in the history are strangers in memory: from some hundred thousand transactions on nearly every
//! lookup waits for memory, and the time for one transaction grows with the length of the history. Here the writes of a
//! key stand together, in the order of their values, and all that is asked of a write stands beside its value:
//!
//! ```text
//!   keys     x        y     z
//!            ↓        ↓     ↓
//!   writes   1  2  3  4  7  1  2  …         y 4: line 9, its transaction's last write of y, version 1
//! ```
//!
//! Clients mostly count upwards, so a value is looked for where counting would have put it, and only then by halving.

use super::collect::written;
use super::{DuplicateWrite, Version};
use crate::history::{History, KeyId, Scalar, TxnId};

/// A write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Write {
    /// What was written.
    value: Scalar,
    /// Who wrote it.
    pub(super) transaction: TxnId,
    /// With which of its operations, from 0.
    pub(super) op: u32,
    /// [`NO_VERSION`], or the version that it made.
    version: Version,
    /// Whether it is the transaction's first write of that key.
    pub(super) is_first: bool,
    /// Whether it is the transaction's last write of that key.
    pub(super) is_last: bool,
}

const NO_VERSION: Version = Version::MAX;

impl Write {
    /// The version that it made, as far as that is known by now.
    pub(super) fn version(&self) -> Option<Version> {
        Some(self.version).filter(|version| *version != NO_VERSION)
    }

    /// Whose it is, and which operation.
    pub(super) fn place(&self) -> (TxnId, u32) {
        (self.transaction, self.op)
    }
}

/// All writes, of whatever became of them.
#[derive(Debug)]
pub(super) struct Writes {
    /// By key: where its writes begin; at the end, how many there are.
    offsets: Vec<u32>,
    writes: Vec<Write>,
}

impl Writes {
    /// Finds them. Values that only rolled-back transactions share are refused, too: a read could not tell.
    pub(super) fn of(history: &History) -> Result<Writes, DuplicateWrite> {
        let mut table = Writes::by_key(history);
        let mut twice: Option<(Write, Write, KeyId)> = None;
        for at in 0..history.keys.len() {
            let key = KeyId(at as u32);
            let range = table.range(key);
            let writes = &mut table.writes[range];
            mark_ends(writes);
            writes.sort_unstable_by_key(|write| (write.value, write.place()));
            for pair in writes.windows(2).filter(|pair| pair[0].value == pair[1].value) {
                // Of several the first one that a reader of the history comes across.
                if twice.is_none_or(|(_, second, _)| pair[1].place() < second.place()) {
                    twice = Some((pair[0], pair[1], key));
                }
            }
        }
        match twice {
            None => Ok(table),
            Some((first, second, key)) => Err(DuplicateWrite {
                line: history.transaction(second.transaction).line,
                key: history.key_name(key).to_string(),
                value: history.show(second.value),
                first_line: history.transaction(first.transaction).line,
            }),
        }
    }

    /// All writes, those of a key together, in the order of the history.
    fn by_key(history: &History) -> Writes {
        let mut offsets = vec![0u32; history.keys.len() + 1];
        let all =
            || history.transactions().flat_map(|(id, _)| history.ops(id).iter().enumerate().map(move |op| (id, op)));
        let writes = || all().filter_map(|(id, (at, op))| written(op).map(|(key, value)| (id, at as u32, key, value)));
        writes().for_each(|(_, _, key, _)| offsets[key.0 as usize + 1] += 1);
        (0..history.keys.len()).for_each(|at| offsets[at + 1] += offsets[at]);
        let count = offsets[history.keys.len()] as usize;
        let nothing = Write {
            value: Scalar(0),
            transaction: TxnId(0),
            op: 0,
            version: NO_VERSION,
            is_first: false,
            is_last: false,
        };
        let mut table = Writes { writes: vec![nothing; count], offsets };
        let mut next = table.offsets.clone();
        for (transaction, op, key, value) in writes() {
            let place = &mut next[key.0 as usize];
            table.writes[*place as usize] = Write { value, transaction, op, ..nothing };
            *place += 1;
        }
        table
    }

    fn range(&self, key: KeyId) -> std::ops::Range<usize> {
        let at = key.0 as usize;
        self.offsets[at] as usize..self.offsets[at + 1] as usize
    }

    fn position(&self, key: KeyId, value: Scalar) -> Option<usize> {
        let range = self.range(key);
        let writes = &self.writes[range.clone()];
        let counted = value.0.wrapping_sub(writes.first()?.value.0) as usize;
        let is_there = writes.get(counted).is_some_and(|write| write.value == value);
        let at = if is_there { counted } else { writes.binary_search_by_key(&value, |write| write.value).ok()? };
        Some(range.start + at)
    }

    /// Who wrote a value to a key.
    pub(super) fn get(&self, key: KeyId, value: Scalar) -> Option<&Write> {
        self.position(key, value).map(|at| &self.writes[at])
    }

    /// Notes which version a value is. Returns the one that it was known to be before.
    pub(super) fn set_version(&mut self, key: KeyId, value: Scalar, version: Version) -> Option<Version> {
        let at = self.position(key, value)?;
        let before = self.writes[at].version();
        self.writes[at].version = version;
        before
    }
}

/// Of the writes of a key, in the order of the history: the first and the last one of each transaction.
fn mark_ends(writes: &mut [Write]) {
    for of_one in writes.chunk_by_mut(|a, b| a.transaction == b.transaction) {
        of_one.iter_mut().take(1).for_each(|write| write.is_first = true);
        of_one.iter_mut().rev().take(1).for_each(|write| write.is_last = true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::micro::micro;

    /// `key value` pairs that are found, with their writers and whether these write the key again.
    fn check(text: &str, key: &str, expected: &[(i64, u32, bool)]) {
        let history = micro(text).unwrap();
        let writes = Writes::of(&history).unwrap();
        let key = KeyId(history.keys.iter().position(|name| name == key).unwrap() as u32);
        let found =
            |value: i64| writes.get(key, Scalar(value)).map(|write| (value, write.transaction.0, write.is_last));
        assert_eq!((-2..20).filter_map(found).collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn values_are_found_wherever_they_stand() {
        check("wx1 wx2 / wy1 wx3", "x", &[(1, 0, false), (2, 0, true), (3, 1, true)]);
        check("wx9 / wx2 / wx5 wy1 wx7", "x", &[(2, 1, true), (5, 2, false), (7, 2, true), (9, 0, true)]);
        check("wx9 / wx2 / wx5 wy1 wx7", "y", &[(1, 2, true)]);
        check("rx_ / wy1", "x", &[]);
    }

    #[test]
    fn the_ends_of_the_numbers_are_values_like_others() {
        let mut builder = crate::history::build::Builder::default();
        let x = builder.key("x");
        let head = crate::history::build::Head {
            session: 0,
            status: crate::history::Status::Committed,
            began: None,
            ended: None,
            line: 1,
        };
        builder.begin(head);
        let values = [i64::MAX, -1, i64::MIN, 0];
        values.iter().for_each(|value| builder.push(crate::history::Op::Write(x, Scalar(*value))));
        let history = builder.finish();
        let writes = Writes::of(&history).unwrap();
        for (op, value) in values.iter().enumerate() {
            assert_eq!(writes.get(x, Scalar(*value)).map(|write| write.op), Some(op as u32), "{value}");
        }
        assert!(writes.get(x, Scalar(1)).is_none());
    }

    #[test]
    fn of_many_duplicates_the_first_in_the_history_is_told() {
        let error = Writes::of(&micro("wx5 wy7 / wy7 wx5 / wx5").unwrap()).unwrap_err();
        assert_eq!((error.key.as_str(), error.line, error.first_line), ("y", 2, 1));
    }

    #[test]
    fn versions_are_noted_once() {
        let history = micro("ax1 / ax2").unwrap();
        let mut writes = Writes::of(&history).unwrap();
        let x = KeyId(0);
        assert_eq!(writes.get(x, Scalar(2)).unwrap().version(), None);
        assert_eq!(writes.set_version(x, Scalar(2), 1), None);
        assert_eq!(writes.set_version(x, Scalar(2), 3), Some(1));
        assert_eq!(writes.get(x, Scalar(2)).unwrap().version(), Some(3));
        assert_eq!(writes.set_version(x, Scalar(7), 1), None);
    }
}
