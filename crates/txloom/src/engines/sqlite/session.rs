//! One connection to the file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, MutexGuard, PoisonError};

use rusqlite::{Connection, DEFAULT_NAME, TransactionState};
use txloom_core::engine::{Cancel, EngineError, EngineErrorKind, Session, SessionId};
use txloom_core::outcome::{DbError, ErrorClass, Outcome};

use super::Shared;
use crate::engines::embedded::errors::{cancelled, is_busy};
use crate::engines::embedded::run::{Answer, ask, status};
use crate::engines::embedded::split::statements;
use crate::engines::embedded::turns::{CancelTurn, Turn, Woken};

pub(super) struct SqliteSession {
    id: SessionId,
    target: String,
    /// Present until the session is dropped.
    connection: Option<Connection>,
    shared: Arc<Shared>,
}

impl SqliteSession {
    pub(super) fn new(
        id: SessionId,
        target: String,
        mut connection: Connection,
        shared: Arc<Shared>,
    ) -> rusqlite::Result<SqliteSession> {
        connection.execute_batch("PRAGMA wal_autocheckpoint = 0")?;
        shared.turns.interrupt().attach(&mut connection)?;
        Ok(SqliteSession { id, target, connection: Some(connection), shared })
    }

    fn connection(&self) -> &Connection {
        self.connection.as_ref().expect("only drop takes the connection away")
    }

    /// Executes one statement, as often as it takes.
    fn statement(&self, turn: &mut Turn<'_>, sql: &str) -> rusqlite::Result<Answer> {
        loop {
            if turn.cancelled() {
                return Ok(Err(cancelled()));
            }
            let error = match self.shared.turns.interrupt().listening(|| ask(self.connection(), sql))? {
                Ok(result) => return Ok(Ok(result)),
                Err(error) => error,
            };
            let holders = if is_busy(&error) { self.holders() } else { BTreeSet::new() };
            if holders.is_empty() {
                return Ok(Err(error));
            }
            match turn.wait_for(holders) {
                Woken::Again => {}
                Woken::Cancelled => return Ok(Err(cancelled())),
                Woken::Deadlock => return Ok(Err(DbError { class: ErrorClass::Deadlock, ..error })),
            }
        }
    }

    /// Who may hold the lock that was in the way: the writer, or else everybody with an open transaction.
    fn holders(&self) -> BTreeSet<SessionId> {
        let open = self.open();
        let others = || open.iter().filter(|(id, _)| **id != self.id);
        let writers: BTreeSet<SessionId> =
            others().filter(|(_, state)| **state == TransactionState::Write).map(|(id, _)| *id).collect();
        if writers.is_empty() { others().map(|(id, _)| *id).collect() } else { writers }
    }

    /// Notes for the others whether this session is in a transaction.
    fn note_transaction(&self) -> rusqlite::Result<()> {
        let state = self.connection().transaction_state(DEFAULT_NAME)?;
        let mut open = self.open();
        match state {
            TransactionState::Read | TransactionState::Write => open.insert(self.id, state),
            _ => open.remove(&self.id),
        };
        Ok(())
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<SessionId, TransactionState>> {
        self.shared.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, error: &rusqlite::Error) -> EngineError {
        EngineError::new(&self.target, EngineErrorKind::Protocol(format!("could not execute a statement: {error}")))
    }
}

impl Session for SqliteSession {
    fn execute(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        let turns = Arc::clone(&self.shared.turns);
        let mut turn = turns.take(self.id);
        let mut outcome = Outcome::empty(status(self.connection()));
        for sql in statements(sql) {
            let answer = self.statement(&mut turn, sql).map_err(|error| self.failed(&error))?;
            outcome.status = status(self.connection());
            self.note_transaction().map_err(|error| self.failed(&error))?;
            turn.wake_all();
            match answer {
                Ok(result) => outcome.results.push(result),
                Err(error) => {
                    outcome.error = Some(error);
                    break;
                }
            }
        }
        Ok(outcome)
    }

    fn canceller(&self) -> Box<dyn Cancel> {
        Box::new(CancelTurn { turns: Arc::clone(&self.shared.turns), id: self.id })
    }
}

impl Drop for SqliteSession {
    fn drop(&mut self) {
        let turns = Arc::clone(&self.shared.turns);
        let turn = turns.take(self.id);
        self.connection = None;
        self.open().remove(&self.id);
        turn.wake_all();
    }
}
