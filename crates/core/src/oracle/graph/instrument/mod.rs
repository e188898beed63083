//! Instrumentation: the reads around every statement that tell which versions it saw and which it replaced.
//!
//! * `prepare` makes a case ready: every table gets a version column, every writing statement a version of its own,
//!   every query returns the keys of its rows where it can
//! * [`Prepared::reads`]: the reads around one statement
//! * [`views`]: whether these reads see what the statement sees

pub mod views;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::case::Case;
use crate::graph::Uses;
use crate::schedule::StepRef;
pub use views::View;

/// A case that is ready to be instrumented: as the user or the generator wrote it, with versions.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The case, without expectations, assertions and schedules: what both executions, with and without transactions,
    /// run. Its steps stand where those of the original case stand.
    pub case: Case,
    /// Every step that is not transaction control.
    pub targets: BTreeMap<StepRef, Target>,
    /// The tables, by their plain names.
    pub tables: BTreeMap<Arc<str>, Table>,
}

/// A table whose rows can be followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The columns of the primary key.
    pub key: Vec<String>,
    /// The version column.
    pub version: String,
    /// The columns of unique and foreign keys, in the order in which reads return them.
    pub probed: Vec<String>,
    /// The constraints that are looked up in what is there now.
    pub constraints: Vec<Constraint>,
}

/// A unique key, or one end of a foreign key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constraint {
    /// What both ends of it are called.
    pub name: Arc<str>,
    /// Its columns: positions in what a read returns (see [`Read`]).
    pub columns: Vec<usize>,
    /// Whether this is the table that a foreign key refers to: then only births and deaths of rows matter.
    pub referenced: bool,
}

/// A statement that is to be followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The tables that it refers to.
    pub uses: BTreeMap<Arc<str>, Uses>,
    /// The table that it writes.
    pub written: Option<Arc<str>>,
    /// The version that it writes.
    pub version: Option<i64>,
    /// Whether it locks what it reads without writing it: FOR UPDATE, FOR SHARE.
    pub locks: bool,
    /// For a query that returns keys and versions: where they stand in its rows, one entry per table of its FROM clause.
    /// They are NULL where an outer join found no row.
    pub output: Option<Vec<Output>>,
}

/// Where a query returns the key and the version of a table's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The table.
    pub table: Arc<str>,
    /// The positions of the key's columns, in the order of [`Table::key`], counted from the first column *after* those
    /// that the statement had: they are appended.
    pub key: Vec<usize>,
    /// The position of the version.
    pub version: usize,
}

/// The reads around a statement, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reads {
    /// Before it.
    pub before: Vec<Read>,
    /// After it.
    pub after: Vec<Read>,
}

/// One read. Returns the columns of the key, the version, and (except for [`Role::BeforeWrite`]) the probed columns of
/// its table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// The query.
    pub sql: String,
    /// What it is for.
    pub role: Role,
    /// The table.
    pub table: Arc<str>,
}

/// What a read is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// All rows of a table that the statement refers to (Version-Set Read). A written table is always among them.
    VersionSet,
    /// The rows that an UPDATE or DELETE is about to write, by its own condition (Before-Write Read).
    BeforeWrite,
    /// All rows of the written table, afterwards (After-Write Read): those with the statement's version were written,
    /// those that are missing were deleted.
    AfterWrite,
}

/// Why a case cannot be followed: a short phrase that is the same for all cases of its kind, e.g. `a table without a
/// primary key`, `an update of a primary key`, `savepoints`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Skip(pub &'static str);

/// Makes a case ready.
pub fn prepare(_case: &Case) -> Result<Prepared, Skip> {
    Err(Skip("nothing can be instrumented yet"))
}

impl Prepared {
    /// The reads around a statement, as the view asks for them; none for a step that is not a target.
    pub fn reads(&self, _step: &StepRef, _view: View) -> Reads {
        Reads::default()
    }
}
