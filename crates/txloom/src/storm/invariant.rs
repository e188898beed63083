//! Invariants: what must be true of a workload's tables when nobody is at work.
//!
//! The versions of rows tell whether what happened keeps what the engine promises, row by row. An invariant asks
//! the other question, the one that the owner of the data asks: is the money there?
//!
//! ```text
//!   at rest ──→ audit:    which versions are there                 → the history, losses
//!           └─→ inquiry:  SELECT … that finds what is wrong        → rows: the invariant is broken, and here is where
//! ```
//!
//! **Broken is not yet a finding.** Every invariant here holds if transactions come one after the other. At a weaker level
//! two of them may break it together although the engine does what it promises: who reads a balance and writes it back
//! loses what was paid in between, and read committed lets him. So an invariant says from which [level](Level) of the
//! theory on it must hold. If the engine promises that level, rows are a finding; if not, they are an observation, and
//! told as one.
//!
//! # Limits
//!
//! The queries are asked in one transaction, at the level of the storm. After the first that fails, no other is asked.

use std::sync::mpsc::Sender;

use txloom_core::level::formal::Level;

use super::fault::FaultKind;
use super::judge::Promise;
use super::log::Log;
use super::workload::{Answer, Next, Transactions};

/// Of an invariant that is broken, so many rows are kept.
const ROWS_KEPT: usize = 20;

/// Something that is true of a workload's tables when nobody is at work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invariant {
    /// Its name: a word or two, or a number that people know it by.
    pub name: &'static str,
    /// What it says, in one sentence, lower case, without a full stop.
    pub says: String,
    /// A query that returns rows exactly when it is broken. They show where.
    pub query: String,
    /// The weakest level of the theory at which it must hold.
    pub from: Level,
}

/// An invariant that was broken when nobody was at work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// The invariant.
    pub invariant: Invariant,
    /// What had befallen the server last, and for which time; nothing at the end of the storm.
    pub after: Option<(FaultKind, u64)>,
    /// What the engine promises; `None` if nobody has found out.
    pub promised: Option<Promise>,
    /// What the query returned.
    pub found: Found,
}

impl Breach {
    /// Whether the engine may break it, as far as anybody knows.
    pub fn is_allowed(&self) -> bool {
        !self.promised.is_some_and(|promised| promised.implies(self.invariant.from))
    }
}

/// The rows that a query returned.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// The names of its columns.
    pub columns: Vec<String>,
    /// The first rows.
    pub rows: Vec<Vec<String>>,
    /// How many there are.
    pub row_count: u64,
}

impl Found {
    fn of(answer: &Answer<'_>) -> Found {
        let rows = answer.rows();
        let columns = answer.outcome.rows().map_or(&[][..], |result| &result.columns);
        Found {
            columns: columns.iter().map(|column| column.name.clone()).collect(),
            row_count: rows.len() as u64,
            rows: rows.iter().take(ROWS_KEPT).map(|row| row.iter().map(ToString::to_string).collect()).collect(),
        }
    }
}

/// Asks all queries in one transaction, and hands over what each of them returned: `Err` is what the server complained
/// of.
pub(super) struct Inquiry {
    queries: std::vec::IntoIter<String>,
    tell: Sender<Result<Found, String>>,
}

impl Inquiry {
    /// One answer for each invariant, in their order, unless one cannot be had.
    pub(super) fn new(invariants: &[Invariant], tell: Sender<Result<Found, String>>) -> Inquiry {
        let queries: Vec<String> = invariants.iter().map(|invariant| invariant.query.clone()).collect();
        Inquiry { queries: queries.into_iter(), tell }
    }
}

impl Transactions for Inquiry {
    fn begin(&mut self) {}

    fn next(&mut self) -> Next {
        self.queries.next().map_or(Next::Commit, Next::Execute)
    }

    fn answered(&mut self, answer: &Answer<'_>, _log: &mut Log) {
        let found = match &answer.outcome.error {
            None => Ok(Found::of(answer)),
            Some(error) => Err(error.to_string()),
        };
        // Whoever asked listens until this is dropped.
        let _ = self.tell.send(found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_level_allows_is_no_finding() {
        let check = |promised: Option<Level>, from, is_allowed| {
            let promised = promised.map(|level| Promise::Level(level.into()));
            let invariant = Invariant { name: "money", says: String::new(), query: String::new(), from };
            let breach = Breach { invariant, after: None, promised, found: Found::default() };
            assert_eq!(breach.is_allowed(), is_allowed, "{promised:?} {from}");
        };
        check(Some(Level::Serializable), Level::CursorStability, false);
        check(Some(Level::SnapshotIsolation), Level::CursorStability, false);
        check(Some(Level::MonotonicAtomicView), Level::CursorStability, true);
        check(Some(Level::SnapshotIsolation), Level::Serializable, true);
        check(None, Level::ReadUncommitted, true);
        assert!(!Promise::Nothing.implies(Level::ReadUncommitted));
    }
}
