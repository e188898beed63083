//! Which statements can meet on a row, and in which columns.

use std::fmt;

use crate::flow::program::Given;
use crate::program::schema::Schema;

/// A statement of a procedure that touches tables, or a place where what was written is undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The position of its procedure.
    pub procedure: u16,
    /// Its node: a position in [`ProcedureAccess::nodes`](crate::program::access::ProcedureAccess::nodes).
    pub node: u16,
    /// Whether it is no statement, but a ROLLBACK or a failure of the call: it takes back what the transaction wrote.
    pub undoes: bool,
}

/// What ties two statements of different calls together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The first writes what the second reads.
    Wr,
    /// The first reads what the second writes, later.
    Rw,
    /// Both write, the second later.
    Ww,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Wr => "wr",
            Kind::Rw => "rw",
            Kind::Ww => "ww",
        })
    }
}

/// In what two statements meet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Column {
    /// Whether the row is there.
    Existence,
    /// The value of this column.
    Named(String),
}

/// A dependency that is possible between two sites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Where it comes from: a position in [`Conflicts::sites`].
    pub from: u16,
    /// Where it leads to.
    pub to: u16,
    /// What kind it is.
    pub kind: Kind,
    /// The table: a position in [`Conflicts::tables`].
    pub table: u16,
    /// In what they meet, ascending; never empty.
    pub columns: Vec<Column>,
}

/// What counts as a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whether reads count whose values reach no write and no branch.
    pub external: bool,
    /// Whether foreign keys are checked, and so read: true for engines, false for stores.
    pub references: bool,
    /// Whether what is rolled back counts: then a dirty read of it is a cycle.
    pub rollbacks: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { external: false, references: false, rollbacks: true }
    }
}

/// The static conflict graph.
#[derive(Debug, Clone, Default)]
pub struct Conflicts {
    /// The sites, by procedure and node.
    pub sites: Vec<Site>,
    /// The tables that they touch.
    pub tables: Vec<String>,
    /// All possible dependencies between sites of two different instances.
    pub edges: Vec<Conflict>,
}

impl Conflicts {
    /// The conflicts between the statements of some procedures.
    pub fn of(_procedures: &[Given<'_>], _schema: &Schema, _options: Options) -> Conflicts {
        Conflicts::default()
    }
}
