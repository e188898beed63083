//! Instrumentation: the reads around every statement that tell which versions it saw and which it replaced.
//!
//! No engine says which version of a row a statement has read. So every table gets a *version column*, every writing
//! statement a number of its own to put there, and around each statement are reads of its transaction (TxCheck §3.2):
//!
//! ```text
//!   SELECT k, ver FROM t                                      Version-Set Reads: the rows that it may look at,
//!   SELECT k, ver FROM u                                      and by their absence those that it cannot find
//!   SELECT k, ver FROM t WHERE a IN (SELECT b FROM u)         Before-Write Read: the rows that it will write
//!   UPDATE t SET a = a + 1, ver = 7 WHERE a IN (SELECT b FROM u)
//!   SELECT k, ver FROM t                                      After-Write Read: it has written those with version 7
//! ```
//!
//! 1. [`prepare`] reads the setup (`schema`, `setup`), refuses what would answer differently next time (`refuse`,
//!    `rows`), finds the tables that a statement refers to (`references`, `targets`), puts versions into what it writes
//!    (`versions`), and makes queries return the keys and versions of their rows (`output`).
//! 2. [`Prepared::reads`]: the reads around one statement (`reads`), in the way that [`views`] asks for.
//!
//! What differs from the paper: version columns are added to cases that have none; a whole table is read as the version
//! set, since its rows are few; queries return keys themselves; the reads around a write lock only where they must.
//!
//! # Limits
//!
//! A case is followed as a whole or not at all, and [`Skip`] says why not. What is not even looked for: values whose
//! equality is the collation's business ('a' and 'A' in one unique key), sums of floating-point numbers, whose last
//! digit depends on the order of rows, and rows that refer to each other in one table and are deleted together.

mod text;
mod schema;
mod setup;
mod references;
mod rows;
mod refuse;
mod versions;
mod output;
mod targets;
mod reads;
pub mod views;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::case::{Case, Item, Line, SessionName, Sql};
use crate::graph::Uses;
use crate::schedule::StepRef;
use crate::sql::StatementKind;
use reads::Texts;
use setup::Setup;
use text::{Parsed, is_single};
pub use views::View;

/// A case that is ready to be instrumented: as the user or the generator wrote it, with versions.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The case, without expectations, assertions and schedules: what both executions, with and without transactions,
    /// run. Its steps stand where those of the original case stand.
    pub case: Case,
    /// Every step that is not transaction control.
    pub targets: BTreeMap<StepRef, Target>,
    /// The steps that cannot be followed, and why: the case can only be judged without them.
    pub refused: BTreeMap<StepRef, Skip>,
    /// The tables, by their plain names.
    pub tables: BTreeMap<Arc<str>, Table>,
    texts: Texts,
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
    /// True for an INSERT of any kind.
    pub inserts: bool,
    /// Whether it is an INSERT that does what the keys that are there tell it: IGNORE, an upsert, REPLACE.
    pub chooses: bool,
    /// For a query that returns keys and versions: where they stand in its rows, one entry per table of its FROM
    /// clause. They are NULL where an outer join found no row.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Skip(pub &'static str);

/// Makes a case ready.
pub fn prepare(case: &Case) -> Result<Prepared, Skip> {
    if case.events().next().is_some() {
        return Err(Skip("events"));
    }
    let mut setup = Setup::default();
    let mut entries = case.entries.clone();
    for entry in &mut entries {
        if let Line::Init(sql, expectations) = &mut entry.line {
            *sql = rewritten(&setup.prepare(sql.as_str())?)?;
            expectations.clear();
        }
    }
    let tables = setup.schema.finish()?;
    let mut sessions = Sessions {
        texts: Texts::new(&tables, &setup.schema),
        setup: &setup,
        next: setup.highest.max(0) + 1,
        tables: &tables,
        lengths: BTreeMap::new(),
        targets: BTreeMap::new(),
        refused: BTreeMap::new(),
    };
    for entry in &mut entries {
        match &mut entry.line {
            Line::Step(_, Item::Call(_), _) => return Err(Skip("calls of a program")),
            Line::Step(name, Item::Sql(sql), expectations) => {
                *sql = sessions.step(name, sql);
                expectations.clear();
            }
            _ => {}
        }
    }
    let is_kept = |line: &Line| {
        !matches!(line, Line::Assert(_) | Line::Final(_) | Line::Schedule(_) | Line::Anomaly(_) | Line::Program(_))
    };
    entries.retain(|entry| is_kept(&entry.line));
    let Sessions { targets, refused, texts, .. } = sessions;
    if let (true, Some(skip)) = (targets.is_empty(), refused.values().next()) {
        return Err(*skip);
    }
    let case = Case { entries, epilogue: case.epilogue.clone(), program: None };
    Ok(Prepared { case, targets, refused, tables, texts })
}

/// The sessions of a case, as far as they are ready.
struct Sessions<'a> {
    setup: &'a Setup,
    tables: &'a BTreeMap<Arc<str>, Table>,
    /// The next version that is free.
    next: i64,
    lengths: BTreeMap<SessionName, usize>,
    targets: BTreeMap<StepRef, Target>,
    refused: BTreeMap<StepRef, Skip>,
    texts: Texts,
}

impl Sessions<'_> {
    /// Makes the next step of a session ready; one that cannot be followed stays as it is.
    fn step(&mut self, session: &SessionName, sql: &Sql) -> Sql {
        let length = self.lengths.entry(session.clone()).or_default();
        let step = StepRef { session: session.clone(), index: *length };
        *length += 1;
        match self.ready(&step, sql) {
            Ok(sql) => sql,
            Err(skip) => {
                self.refused.insert(step, skip);
                sql.clone()
            }
        }
    }

    fn ready(&mut self, step: &StepRef, sql: &Sql) -> Result<Sql, Skip> {
        match StatementKind::of(sql.as_str()) {
            StatementKind::Begin | StatementKind::Commit | StatementKind::Rollback => {
                return if is_single(sql.as_str()) { Ok(sql.clone()) } else { Err(text::SEVERAL) };
            }
            StatementKind::Savepoint => return Err(Skip("savepoints")),
            StatementKind::Ddl => return Err(Skip("DDL in a session")),
            StatementKind::Query | StatementKind::Write => {}
            StatementKind::Other => return Err(Skip("a statement that is neither a query nor a write")),
        }
        let mut parsed = Parsed::read(sql.as_str())?;
        refuse::check(&parsed.statement, &self.setup.schema)?;
        let (target, beside) = targets::target(&mut parsed.statement, &self.setup.schema, self.next)?;
        let sql = rewritten(&parsed.print()?)?;
        self.next += i64::from(target.version.is_some());
        self.texts.add(step.clone(), beside, self.tables);
        self.targets.insert(step.clone(), target);
        Ok(sql)
    }
}

fn rewritten(text: &str) -> Result<Sql, Skip> {
    Sql::new(text).map_err(|_| Skip("a statement that cannot be written again"))
}

impl Prepared {
    /// The reads around a statement, as the view asks for them; none for a step that is not a target.
    pub fn reads(&self, step: &StepRef, view: View) -> Reads {
        self.targets.get(step).map_or_else(Reads::default, |target| self.texts.around(step, target, view))
    }
}

#[cfg(test)]
mod tests;
