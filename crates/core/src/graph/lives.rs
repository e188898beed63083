//! The lives of rows: which statement wrote each version of a row, and which one replaced it.
//!
//! ```text
//!   born in the run       (unborn) ──a2──→ 5 ──b3──→ 8 ──a4──→ (dead)
//!   there from the start           initial ──b2──→ 6
//! ```
//!
//! Versions are compared, never ordered: the order is what the statements say about what they replaced.

use std::collections::BTreeMap;

use super::{Row, Statement};

/// What statements did to one row. They are known by their positions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Life {
    /// Who inserted it.
    pub(super) births: Vec<usize>,
    /// Who deleted it.
    pub(super) deaths: Vec<usize>,
    /// Who wrote each version.
    pub(super) writers: BTreeMap<i64, usize>,
    /// Who replaced each version, by another one or by nothing. One statement, unless an update was lost.
    pub(super) replacers: BTreeMap<i64, Vec<usize>>,
}

impl Life {
    /// Who replaced a version, if anybody did.
    pub(super) fn replacer(&self, version: i64) -> Option<usize> {
        self.replacers.get(&version).and_then(|replacers| replacers.first().copied())
    }
}

/// The lives of all rows that were written.
pub(super) fn lives(statements: &[Statement]) -> BTreeMap<Row, Life> {
    let mut lives: BTreeMap<Row, Life> = BTreeMap::new();
    for (at, statement) in statements.iter().enumerate() {
        for write in &statement.writes {
            let life = lives.entry(write.row.clone()).or_default();
            match write.before {
                Some(version) => life.replacers.entry(version).or_default().push(at),
                None if write.after.is_some() => life.births.push(at),
                None => {}
            }
            match write.after {
                Some(version) => {
                    life.writers.entry(version).or_insert(at);
                }
                None if write.before.is_some() => life.deaths.push(at),
                None => {}
            }
        }
    }
    lives
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::notation::{row, statements};

    #[test]
    fn a_life_from_birth_to_death() {
        let statements = statements("a1 T0 writes t1:->5\nb1 T1 writes t1:5>8 t2:0>8\na2 T0 writes t1:8>-");
        let lives = lives(&statements);
        let life = &lives[&row("t1")];
        assert_eq!((life.births.as_slice(), life.deaths.as_slice()), (&[0][..], &[2][..]));
        assert_eq!(life.writers, BTreeMap::from([(5, 0), (8, 1)]));
        assert_eq!((life.replacer(5), life.replacer(8), life.replacer(9)), (Some(1), Some(2), None));
        assert_eq!((lives[&row("t2")].births.len(), lives[&row("t2")].replacer(0)), (0, Some(1)));
    }
}
