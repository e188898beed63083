//! The monitor: a connection of the engine's own that only looks, and that ends statements when it is told to.
//!
//! It runs no statement of any case. The executor's thread asks it for waits, other threads ask it to cancel; a lock puts
//! them in a row. If its connection is lost (a case may kill every other connection), it connects again. A server that
//! accepts questions but does not answer them is *silent*: that is remembered, so that nobody waits for it twice.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use txloom_core::outcome::{DbError, StatementResult};

use super::connection::{ConnectError, Connection, Login};

/// Why a question has no answer.
#[derive(Debug)]
pub(super) enum AskError {
    /// The server cannot be reached any more.
    Connect(ConnectError),
    /// The server does not answer.
    Silent,
    /// The server answered with an error.
    Failed(DbError),
    /// The server's answer makes no sense.
    Protocol(io::Error),
}

/// A connection that only looks.
#[derive(Debug)]
pub(super) struct Monitor {
    login: Login,
    connection: Mutex<Option<Connection>>,
    silent: AtomicBool,
}

impl Monitor {
    /// A monitor that will connect when it is first asked.
    pub(super) fn new(login: Login) -> Monitor {
        Monitor { login, connection: Mutex::new(None), silent: AtomicBool::new(false) }
    }

    /// Asks, and returns all results.
    pub(super) fn ask(&self, sql: &str) -> Result<Vec<StatementResult>, AskError> {
        let mut slot = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_silent() {
            return Err(AskError::Silent);
        }
        if let Some(connection) = slot.as_mut() {
            let answer = ask(connection, sql);
            if !connection.is_lost() {
                return answer;
            }
            if connection.is_silent() {
                self.silent.store(true, Ordering::SeqCst);
                return Err(AskError::Silent);
            }
        }
        *slot = None;
        let opened = Connection::open(&self.login).map_err(|error| self.note(error))?;
        ask(slot.insert(opened), sql)
    }

    /// A server that lets us in but says nothing is silent, too.
    fn note(&self, error: ConnectError) -> AskError {
        if matches!(&error, ConnectError::Io(error) if super::super::wire::stream::is_timeout(error)) {
            self.silent.store(true, Ordering::SeqCst);
            return AskError::Silent;
        }
        AskError::Connect(error)
    }

    /// Whether the server has stopped answering.
    pub(super) fn is_silent(&self) -> bool {
        self.silent.load(Ordering::SeqCst)
    }

    /// Ends what a connection is executing. Harmless if that is nothing, or if the connection is gone.
    pub(super) fn cancel(&self, connection: u32) -> Result<(), AskError> {
        const NO_SUCH_THREAD: i64 = 1094;
        match self.ask(&format!("KILL QUERY {connection}")) {
            Err(AskError::Failed(error)) if error.native == Some(NO_SUCH_THREAD) => Ok(()),
            other => other.map(|_| ()),
        }
    }

    /// Starts anew, with a server that was restarted.
    pub(super) fn disconnect(&self) {
        *self.connection.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.silent.store(false, Ordering::SeqCst);
    }
}

fn ask(connection: &mut Connection, sql: &str) -> Result<Vec<StatementResult>, AskError> {
    let outcome = connection.execute(sql).map_err(AskError::Protocol)?;
    match outcome.error {
        Some(error) => Err(AskError::Failed(error)),
        None => Ok(outcome.results),
    }
}
