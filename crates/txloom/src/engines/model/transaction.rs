//! One transaction: what it sees, what it has changed, and what it would have to do again.

use std::collections::BTreeSet;

use rusqlite::Connection;
use txloom_core::engine::SessionId;
use txloom_core::level::LevelName;
use txloom_core::outcome::{DbError, ErrorClass};

use super::capture::{self, Log};
use super::changes::{Changes, Touched};
use super::locks::LockKey;
use super::store::{Database, Store};
use crate::engines::embedded::errors::no_such_savepoint;
use crate::engines::embedded::registers::Values;
use crate::engines::embedded::run::{Answer, ask};
use crate::engines::embedded::turns::Interrupt;

/// The isolation levels of the model, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// Each statement sees what is committed when it begins.
    ReadCommitted,
    /// Each transaction sees what is committed when its first statement begins, and of two that change a row, one
    /// fails.
    SnapshotIsolation,
    /// The same, and at COMMIT the transaction must be repeatable, alone and now.
    Serializable,
}

impl Level {
    /// All levels with their names.
    pub(super) const ALL: [(Level, &'static str); 3] = [
        (Level::ReadCommitted, "read committed"),
        (Level::SnapshotIsolation, "snapshot isolation"),
        (Level::Serializable, "serializable"),
    ];

    /// The level of that name.
    pub(super) fn named(name: &LevelName) -> Option<Level> {
        Level::ALL.iter().find(|(_, known)| *known == name.as_str()).map(|(level, _)| *level)
    }
}

/// A transaction that has not ended.
pub(super) struct Transaction {
    pub(super) level: Level,
    /// Whether BEGIN opened it; otherwise it ends with its statement.
    pub(super) explicit: bool,
    /// The committed version that it sees; `None` before its first statement.
    base: Option<u64>,
    /// A copy of the base with the transaction's own changes, once there are any.
    private: Option<Private>,
    /// The keys that it has changed.
    pub(super) written: BTreeSet<LockKey>,
    savepoints: Vec<Savepoint>,
    /// What it has executed, kept for the commit rule of serializable.
    pub(super) executed: Vec<Executed>,
    /// What `last_insert_rowid()` and `changes()` returned when it began.
    pub(super) registers: Values,
    /// For a planted bug: for whom its statements have waited.
    pub(super) waits_for: BTreeSet<SessionId>,
    /// A planted bug showed it something wrong, or let it change what it has not seen: it is not checked at COMMIT.
    pub(super) misled: bool,
    /// For a planted bug: the keys, old and new, of rows that it has given another key.
    pub(super) moved: BTreeSet<LockKey>,
    /// For a planted bug: the keys of rows that it does not find, having waited for who moved them.
    pub(super) lost_sight_of: BTreeSet<LockKey>,
    /// For a planted bug: the changes of the last transaction that was rolled back beside it.
    pub(super) aborted_beside: Option<Changes>,
}

/// A private copy, within a transaction of SQLite's.
pub(super) struct Private {
    pub(super) database: Database,
    pub(super) touched: Touched,
}

struct Savepoint {
    name: String,
    changes: Changes,
    written: BTreeSet<LockKey>,
}

/// A statement and what was answered.
pub(super) struct Executed {
    pub(super) sql: String,
    pub(super) answer: Answer,
    /// Whether it set `last_insert_rowid()`.
    pub(super) inserts: bool,
}

impl Private {
    /// Executes a statement so that it can still be undone.
    pub(super) fn begin_statement(&self, sql: &str, interrupt: &Interrupt) -> rusqlite::Result<Answer> {
        self.database.connection.execute_batch("SAVEPOINT txloom_statement")?;
        interrupt.listening(|| ask(&self.database.connection, sql))
    }

    /// Whether SQLite has rolled back more than the statement: INSERT OR ROLLBACK, and cancelling a change, do that.
    pub(super) fn is_lost(&self) -> bool {
        self.database.connection.is_autocommit()
    }

    /// What the statement touched.
    pub(super) fn log(&self) -> rusqlite::Result<Log> {
        capture::take(&self.database.connection, &self.database.schema)
    }

    /// The statement stays.
    pub(super) fn keep_statement(&self) -> rusqlite::Result<()> {
        self.database.connection.execute_batch("RELEASE txloom_statement")
    }

    /// The statement never was.
    pub(super) fn undo_statement(&self) -> rusqlite::Result<()> {
        self.database.connection.execute_batch("ROLLBACK TO txloom_statement; RELEASE txloom_statement")
    }
}

impl Transaction {
    pub(super) fn new(level: Level, explicit: bool, registers: Values) -> Transaction {
        Transaction {
            level,
            explicit,
            base: None,
            private: None,
            written: BTreeSet::new(),
            savepoints: Vec::new(),
            executed: Vec::new(),
            registers,
            waits_for: BTreeSet::new(),
            misled: false,
            moved: BTreeSet::new(),
            lost_sight_of: BTreeSet::new(),
            aborted_beside: None,
        }
    }

    /// The version that it sees.
    pub(super) fn base(&self) -> Option<u64> {
        self.base
    }

    /// A statement begins: decides which version it sees, and returns it.
    pub(super) fn look(&mut self, store: &mut Store) -> rusqlite::Result<u64> {
        let newest = store.newest();
        let base = match self.base {
            Some(base) if base == newest || self.level != Level::ReadCommitted => return Ok(base),
            Some(_) if self.private.is_some() => {
                let changes = self.changes(store)?;
                self.base = Some(newest);
                self.rebuild(store, &changes)?;
                newest
            }
            _ => newest,
        };
        self.base = Some(base);
        Ok(base)
    }

    /// What its statements read: committed data and its own changes.
    pub(super) fn view<'a>(&'a self, store: &'a Store) -> &'a Connection {
        match &self.private {
            Some(private) => &private.database.connection,
            None => &store.version(self.base.unwrap_or(store.newest())).connection,
        }
    }

    /// Its private copy, made now if there was none.
    pub(super) fn private(&mut self, store: &mut Store) -> rusqlite::Result<&mut Private> {
        if self.private.is_none() {
            let database = store.copy(self.base.unwrap_or(store.newest()))?;
            database.connection.execute_batch("BEGIN")?;
            self.private = Some(Private { database, touched: Touched::new() });
        }
        Ok(self.private.as_mut().expect("it was just made"))
    }

    /// Its net changes, relative to its base.
    pub(super) fn changes(&self, store: &Store) -> rusqlite::Result<Changes> {
        match (&self.private, self.base) {
            (Some(private), Some(base)) => Changes::between(store.version(base), &private.database, &private.touched),
            _ => Ok(Changes::default()),
        }
    }

    /// Takes its private copy away, if its changes amount to anything.
    pub(super) fn take_changed(&mut self, store: &Store) -> rusqlite::Result<Option<Database>> {
        let (Some(private), Some(base)) = (&self.private, self.base) else { return Ok(None) };
        let changed = Changes::any_between(store.version(base), &private.database, &private.touched)?;
        Ok(self.private.take_if(|_| changed).map(|private| private.database))
    }

    /// Makes the private copy anew: the base with these changes.
    fn rebuild(&mut self, store: &mut Store, changes: &Changes) -> rusqlite::Result<()> {
        self.discard_private(store)?;
        if changes.is_empty() {
            return Ok(());
        }
        let database = store.copy(self.base.unwrap_or(store.newest()))?;
        let touched = changes.apply(&database)?;
        database.connection.execute_batch("BEGIN")?;
        self.private = Some(Private { database, touched });
        Ok(())
    }

    /// Gives the private copy back, with all changes.
    pub(super) fn discard_private(&mut self, store: &mut Store) -> rusqlite::Result<()> {
        self.private.take().map_or(Ok(()), |private| store.give_back(private.database))
    }

    /// Keeps a statement for the commit rule. One that was cancelled told nothing and changed nothing.
    pub(super) fn remember(&mut self, sql: &str, answer: &Answer, inserts: bool) {
        let cancelled = matches!(answer, Err(error) if error.class == ErrorClass::Cancelled);
        if self.level == Level::Serializable && !cancelled {
            self.executed.push(Executed { sql: sql.to_string(), answer: answer.clone(), inserts });
        }
    }

    /// `SAVEPOINT name`.
    pub(super) fn set_savepoint(&mut self, store: &Store, name: String) -> rusqlite::Result<()> {
        let changes = self.changes(store)?;
        self.savepoints.push(Savepoint { name, changes, written: self.written.clone() });
        Ok(())
    }

    /// `RELEASE name`: forgets that savepoint and the later ones, not their changes.
    pub(super) fn release(&mut self, name: &str) -> Result<(), DbError> {
        let at = self.savepoint(name)?;
        self.savepoints.truncate(at);
        Ok(())
    }

    /// `ROLLBACK TO name`: undoes what came after it. Locks stay.
    pub(super) fn rollback_to(&mut self, store: &mut Store, name: &str) -> rusqlite::Result<Result<(), DbError>> {
        let at = match self.savepoint(name) {
            Ok(at) => at,
            Err(error) => return Ok(Err(error)),
        };
        self.savepoints.truncate(at + 1);
        self.written = self.savepoints[at].written.clone();
        let changes = self.savepoints[at].changes.clone();
        self.rebuild(store, &changes)?;
        Ok(Ok(()))
    }

    /// The latest savepoint of that name, in upper or lower case.
    fn savepoint(&self, name: &str) -> Result<usize, DbError> {
        let found = self.savepoints.iter().rposition(|savepoint| savepoint.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| no_such_savepoint(name))
    }
}
