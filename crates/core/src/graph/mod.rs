//! Statement-dependency graphs: which statement had to run before which.
//!
//! A transaction is more than the sum of its statements, but not to the data: if it is known which *versions* of which
//! rows every statement saw, and which it replaced, then any order of the statements that respects
//!
//! ```text
//!   S1 wrote what S2 saw            S1 → S2        read dependency
//!   S1 wrote what S2 replaced       S1 → S2        write dependency
//!   S1 saw what S2 replaced         S1 → S2        anti-dependency
//! ```
//!
//! shows each of them the same versions again, with or without transactions around them. So a correct engine gives the
//! same answers (Jiang et al., "Detecting Transactional Bugs in Database Engines via Graph-Based Oracle Construction",
//! OSDI 2023, Theorem 1). This module is about the graph alone; where the versions come from is the business of
//! [`crate::oracle::graph`].
//!
//! *Absence is a version, too.* A row that a statement did not find was not yet born or already dead; whoever inserts or
//! deletes it replaces that version like any other. This takes keys that are used once: a key that is deleted and
//! inserted again has two births, and a reader that did not find it cannot say before which.
//!
//! * [`infer()`]: from observations to dependencies, or to an [`Odd`] that no dependencies explain (`lives`, `absence`)
//! * [`decycle`]: cycles, and what to give up so that there are none
//! * [`sort`]: orders that respect all dependencies
//! * [`lift`], [`isolation`]: what this says about transactions, and whether their level allows it
//! * [`draw()`]: the graph as text

mod lives;
mod absence;
pub mod odd;
pub mod infer;
pub mod decycle;
pub mod sort;
pub mod lift;
pub mod isolation;
pub mod draw;
#[cfg(test)]
pub(crate) mod notation;
#[cfg(test)]
mod theorem;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use crate::schedule::StepRef;
use crate::value::Value;
pub use draw::draw;
pub use infer::infer;
pub use isolation::IsolationViolation;
pub use odd::Odd;

/// A row, known by its primary key, which never changes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// The table, by its plain name.
    pub table: Arc<str>,
    /// The primary key.
    pub key: Vec<Value>,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key: Vec<String> = self.key.iter().map(Value::to_string).collect();
        write!(f, "{}({})", self.table, key.join(", "))
    }
}

/// A version of a row: the number that the statement that wrote it put into the version column. `None`: the row is not
/// there.
pub type Version = Option<i64>;

/// What for a statement refers to a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Uses {
    /// A query (or a subquery in a condition) chooses among its rows: Adya's `r(P: Vset(P))`.
    pub read: bool,
    /// An UPDATE or DELETE chooses among its rows which ones it writes: `w(P: Vset(P))`.
    pub write: bool,
    /// Values that are written are computed from its rows: `w-value(E: Vset(E))`.
    pub value: bool,
}

impl Uses {
    /// Whether what its rows are matters to the statement at all. It does not to an INSERT of given values.
    pub fn is_any(self) -> bool {
        self.read || self.write || self.value
    }
}

/// A version that a statement replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// The row.
    pub row: Row,
    /// What was there before.
    pub before: Version,
    /// What the statement left.
    pub after: Version,
}

/// A value of a unique or foreign key that a statement made, removed or asked for. Engines look such values up in what
/// is there *now*, whatever the snapshot: two statements that touch the same value keep the order in which they ran.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Probe {
    /// The constraint.
    pub constraint: Arc<str>,
    /// The value.
    pub value: Vec<Value>,
}

/// One statement of a committed transaction, with all that was observed of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Which step of the case it is.
    pub step: StepRef,
    /// Its transaction: a position in the order of commits.
    pub transaction: usize,
    /// When it was completed: a position among all statements of the run.
    pub done: usize,
    /// The tables that it refers to.
    pub uses: BTreeMap<Arc<str>, Uses>,
    /// The version of every row of those tables, as the statement saw them. A row that is not listed was not there.
    pub seen: BTreeMap<Row, i64>,
    /// For a query that returns the keys and versions of its rows: those. `None` for others.
    pub output: Option<BTreeSet<(Row, i64)>>,
    /// What it replaced. Each row once.
    pub writes: Vec<Write>,
    /// The values of unique and foreign keys that it touched.
    pub probes: BTreeSet<Probe>,
    /// The constraints of which *any* value may have decided what it did. An INSERT that skips rows leaves no trace of the
    /// values that it looked up, so it keeps its place among all statements that touch a value of the constraint.
    pub lookups: BTreeSet<Arc<str>>,
}

/// Why one statement had to run before another: TxCheck's seven dependencies, and keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeKind {
    /// The second returned a version that the first wrote.
    ItemRead,
    /// The second replaced a version that the first wrote.
    ItemWrite,
    /// The second replaced a version that the first returned.
    ItemAnti,
    /// The second, or a subquery in its condition, chose among versions of which the first wrote one.
    PredicateRead,
    /// One of them chose what to write among versions of which the other wrote or replaced one.
    PredicateWrite,
    /// The second replaced a version among which the first, or a subquery in its condition, chose.
    PredicateAnti,
    /// One of them computed what it wrote from versions of which the other wrote or replaced one.
    ValueWrite,
    /// Both touched one value of a unique or foreign key, or one of them looked values of it up.
    Key,
}

impl EdgeKind {
    /// As the paper calls it.
    pub fn name(self) -> &'static str {
        match self {
            EdgeKind::ItemRead => "item-read",
            EdgeKind::ItemWrite => "item-write",
            EdgeKind::ItemAnti => "item-anti",
            EdgeKind::PredicateRead => "predicate-read",
            EdgeKind::PredicateWrite => "predicate-write",
            EdgeKind::PredicateAnti => "predicate-anti",
            EdgeKind::ValueWrite => "value-write",
            EdgeKind::Key => "key",
        }
    }

    /// Whether it is about rows that were returned or written, which are known exactly. The others may be spurious: not
    /// every row of a table that a statement refers to matters to it.
    pub fn is_item(self) -> bool {
        matches!(self, EdgeKind::ItemRead | EdgeKind::ItemWrite | EdgeKind::ItemAnti)
    }
}

/// A dependency. Between two statements there is at most one of each kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The statement that had to run first: a position in [`Graph::statements`].
    pub from: usize,
    /// The one that had to run later.
    pub to: usize,
    /// Why.
    pub kind: EdgeKind,
    /// The versions (of the first statement's making, or replaced by the second) that say so.
    pub rows: Vec<(Row, Version)>,
    /// The key values that say so.
    pub probes: Vec<Probe>,
}

/// Statements and their dependencies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Graph {
    /// The statements of committed transactions, in the order in which they completed.
    pub statements: Vec<Statement>,
    /// The dependencies, ordered by `from`, `to`, kind.
    pub edges: Vec<Edge>,
}
