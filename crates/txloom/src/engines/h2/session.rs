//! Sessions of H2: one connection each.

use std::time::Duration;

use txloom_core::engine::{Cancel, EngineError, EngineErrorKind, Session};
use txloom_core::outcome::{ErrorClass, Outcome, TxStatus};

use super::super::postgres::connection::{CancelKey, Connection, Login};
use super::super::postgres::types::built_in;
use super::classify::classify;
use super::{text, unreachable};

/// How long the server may take to roll back what a session left open.
const ENDING_LIMIT: Duration = Duration::from_secs(2);

/// Everybody else takes these for names.
pub(super) const NAMES: &str = "SET NON_KEYWORDS KEY, VALUE";

/// Locks are waited for as long as it takes: whoever watches cancels, no clock does. In milliseconds.
const PATIENT: &str = "SET LOCK_TIMEOUT 2000000000";

/// One session.
pub(super) struct H2Session {
    target: String,
    /// Taken when the session ends.
    connection: Option<Connection>,
    key: CancelKey,
    number: i64,
}

impl H2Session {
    /// Opens one, at a level.
    pub(super) fn open(target: &str, login: &Login, level: &str) -> Result<H2Session, EngineError> {
        let mut connection = Connection::open(login).map_err(|error| unreachable(target, &error))?;
        let set_level = format!("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}");
        let mut number = 0;
        for sql in [NAMES, PATIENT, &set_level, "SELECT SESSION_ID()"] {
            let outcome = exchange(target, &mut connection, sql)?;
            if let Some(error) = &outcome.error {
                let why = format!("cannot open a session at {level}: {error}");
                return Err(EngineError::new(target, EngineErrorKind::Lost(why)));
            }
            let row = outcome.rows().and_then(|result| result.rows.first());
            number = row.and_then(|row| text(row, 0).parse().ok()).unwrap_or(0);
        }
        let key = connection.cancel_key();
        Ok(H2Session { target: target.to_string(), connection: Some(connection), key, number })
    }

    /// What H2 calls it.
    pub(super) fn number(&self) -> i64 {
        self.number
    }
}

impl Session for H2Session {
    fn execute(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        let connection = self.connection.as_mut().expect("it is taken only when the session is dropped");
        exchange(&self.target, connection, sql)
    }

    fn canceller(&self) -> Box<dyn Cancel> {
        Box::new(H2Cancel { target: self.target.clone(), key: self.key.clone() })
    }
}

impl Drop for H2Session {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take().filter(|connection| !connection.is_lost()) {
            connection.end().closes_within(ENDING_LIMIT);
        }
    }
}

struct H2Cancel {
    target: String,
    key: CancelKey,
}

impl Cancel for H2Cancel {
    fn cancel(&self) -> Result<(), EngineError> {
        self.key.cancel().map_err(|error| {
            EngineError::new(&self.target, EngineErrorKind::Protocol(format!("cannot cancel a statement: {error}")))
        })
    }
}

/// Sends one message and waits for its answer, whose error is one of H2's.
pub(super) fn exchange(target: &str, connection: &mut Connection, sql: &str) -> Result<Outcome, EngineError> {
    let executed = connection.execute(sql, |oid| built_in(oid).unwrap_or_default().to_string());
    let mut outcome = executed.map_err(|error| {
        let sql = txloom_core::sql::one_line(sql);
        EngineError::new(target, EngineErrorKind::Protocol(format!("cannot exchange the statement `{sql}`: {error}")))
    })?;
    if outcome.status != TxStatus::Lost
        && let Some(error) = &mut outcome.error
    {
        error.class = classify(&error.code, &error.message).unwrap_or(error.class);
        if error.class == ErrorClass::ConnectionLost {
            // The database was closed; the connection is there, and leads nowhere.
            outcome.status = TxStatus::Lost;
        }
        // The stack of the Java program: the same words again, and places in its code.
        error.detail = None;
    }
    Ok(outcome)
}
