//! COMMIT, and the rule that makes *serializable* serializable.
//!
//! At snapshot isolation two transactions can each read what the other one changes (write skew). The model finds out by
//! trying: at COMMIT, if others have committed since the snapshot, the transaction's statements are executed again, in
//! order, on a copy of the newest version. If every answer is the same (rows, counts, errors), the transaction could
//! have run alone, now, and nobody could tell: its result is installed. If not, it fails.
//!
//! ```text
//!   a   read x, y: 1 1   write x = 0              COMMIT
//!   b   read x, y: 1 1                write y = 0         COMMIT: again, alone: read x, y is 0 1, not 1 1: fails
//! ```
//!
//! **Why that is serializable.** Each transaction that changes something takes effect at its COMMIT, in one step, and
//! what it saw is exactly what it would have seen, had it run in that step. So the order of the COMMITs is a serial
//! order. A transaction that changes nothing needs no check: it saw one committed version, which is the result of the
//! transactions before it in that order, and so it belongs between them and the next one. (The anomaly that snapshot
//! isolation shows to read-only transactions needs a writer whose COMMIT does not fit behind an earlier one; here, such
//! a writer has failed.)
//!
//! The rule is stricter than theory asks for in one way (a serial order other than that of the COMMITs might do), and
//! more generous in another: it looks at what was answered, so a query whose answer did not change does not matter,
//! whatever became of the rows behind it.
//!
//! **Limits.** A statement whose answer changes by itself (`random()`, `datetime('now')`, hidden rowids that are asked
//! for) fails the check for no reason of isolation. The statements may touch other rows than before; if one of these is
//! locked by an open transaction, the COMMIT fails rather than waits.

use std::collections::BTreeSet;

use txloom_core::engine::SessionId;
use txloom_core::outcome::{DbError, ErrorClass};

use super::capture;
use super::changes::Changes;
use super::errors::serialization_failure;
use super::locks::LockKey;
use super::store::Database;
use super::transaction::{Level, Transaction};
use super::world::World;
use crate::engines::embedded::errors::cancelled;
use crate::engines::embedded::run::ask;

/// What a transaction did when it was executed again.
struct Repeated {
    changes: Changes,
    written: BTreeSet<LockKey>,
}

impl World {
    /// Ends the session's transaction; with an error, as if it had not been.
    pub(super) fn commit(&mut self, who: SessionId) -> rusqlite::Result<Result<(), DbError>> {
        let Some(mut transaction) = self.session(who).transaction.take() else { return Ok(Ok(())) };
        let committed = match self.publish_private(&mut transaction)? {
            Some(version) => {
                self.note_committed(who, &transaction, transaction.written.clone(), version);
                Ok(())
            }
            None => self.install(who, &transaction)?,
        };
        self.end(who, transaction)?;
        Ok(committed)
    }

    /// If nobody has committed since the transaction's base, its private copy is what the next version has to be. (Not
    /// where more than rows is at stake: foreign keys that are checked at COMMIT, sequences.)
    fn publish_private(&mut self, transaction: &mut Transaction) -> rusqlite::Result<Option<u64>> {
        let newest = self.store.newest();
        let schema = &self.store.version(newest).schema;
        let rows_only = !schema.has_foreign_keys && !schema.has_sequences;
        if transaction.base() != Some(newest) || !rows_only || !self.rules.commit_is_complete {
            return Ok(None);
        }
        let database = transaction.take_changed(&self.store)?;
        database
            .map(|database| {
                database.connection.execute_batch("COMMIT")?;
                Ok(self.store.publish(database))
            })
            .transpose()
    }

    fn note_committed(
        &mut self,
        who: SessionId,
        transaction: &Transaction,
        written: impl IntoIterator<Item = LockKey>,
        version: u64,
    ) {
        self.locks.note_changed(written, version);
        self.hide_moved_rows(who, transaction);
    }

    fn install(&mut self, who: SessionId, transaction: &Transaction) -> rusqlite::Result<Result<(), DbError>> {
        let changes = transaction.changes(&self.store)?;
        if changes.is_empty() {
            return Ok(Ok(()));
        }
        let result = if self.must_repeat(transaction) {
            match self.repeat(who, transaction)? {
                Ok(repeated) => repeated,
                Err(error) => return Ok(Err(error)),
            }
        } else {
            Repeated { changes, written: transaction.written.clone() }
        };
        // A part that cannot stand alone (a row without its parent) is no part that could be written by mistake.
        let part = self.incomplete(who, &result.changes);
        let part_installed = part.map(|part| self.store.install(&part, &self.rules)).transpose()?.and_then(Result::ok);
        match part_installed
            .map_or_else(|| self.store.install(&result.changes, &self.rules), |version| Ok(Ok(version)))?
        {
            Ok(version) => {
                self.note_committed(who, transaction, result.written, version);
                Ok(Ok(()))
            }
            Err(error) => Ok(Err(error)),
        }
    }

    fn must_repeat(&self, transaction: &Transaction) -> bool {
        transaction.level == Level::Serializable
            && transaction.base() != Some(self.store.newest())
            && self.rules.validate_at_commit
            && !transaction.misled
    }

    /// Executes the transaction again, alone, on the newest version.
    fn repeat(&mut self, who: SessionId, transaction: &Transaction) -> rusqlite::Result<Result<Repeated, DbError>> {
        let copy = self.store.copy(self.store.newest())?;
        let repeated = self.repeat_on(&copy, who, transaction)?;
        self.store.give_back(copy)?;
        Ok(repeated)
    }

    fn repeat_on(
        &mut self,
        copy: &Database,
        who: SessionId,
        transaction: &Transaction,
    ) -> rusqlite::Result<Result<Repeated, DbError>> {
        let connection = &copy.connection;
        connection.execute_batch("BEGIN")?;
        let mut registers = transaction.registers;
        for executed in &transaction.executed {
            self.tools.registers.load(registers);
            let answer = self.tools.interrupt.listening(|| ask(connection, &executed.sql))?;
            if matches!(&answer, Err(error) if error.class == ErrorClass::Cancelled) {
                return Ok(Err(cancelled()));
            }
            if answer != executed.answer || connection.is_autocommit() {
                return Ok(Err(serialization_failure("what the transaction read has been changed by others since")));
            }
            registers = registers.after(&answer, executed.inserts.then(|| connection.last_insert_rowid()));
        }
        let log = capture::take(connection, &copy.schema)?;
        let newest = self.store.version(self.store.newest());
        let wanted = log.wanted_locks(newest)?;
        if !self.locks.blockers(who, &wanted).is_empty() {
            return Ok(Err(serialization_failure("the transaction now has to change rows that others have locked")));
        }
        let touched = log.old_rows.into_iter().chain(log.new_rows).collect();
        let changes = Changes::between(newest, copy, &touched)?;
        let written = wanted.into_keys().filter(|key| *key != LockKey::Schema).collect();
        Ok(Ok(Repeated { changes, written }))
    }
}
