//! Connections between two sessions: used once, made like new, used again.
//!
//! A session is exactly one connection from its beginning to its end. But what comes after its end? A new connection
//! costs the server a new process, three or four milliseconds; a whole case takes not much more. So when a session ends
//! in good order, its connection forgets everything (`DISCARD ALL`: settings, temporary tables, prepared statements,
//! cursors, advisory locks, subscriptions) and waits for the next session that is opened.
//!
//! ```text
//!   case 1   connect ─ a ─ DISCARD ALL ┐
//!   case 2                             └ a ─ DISCARD ALL ┐
//!   case 3                                               └ b …
//! ```
//!
//! Three kinds of connections are closed instead:
//!
//! * those with an open transaction, or whose end is not in good order for another reason;
//! * those on which a statement was cancelled: the request may still be under way, and would hit somebody else;
//! * those that logged in while settings of the database or of a role were in force: `DISCARD ALL` returns to these.

use std::sync::{Mutex, MutexGuard, PoisonError};

use txloom_core::level::LevelName;
use txloom_core::outcome::TxStatus;

use super::connection::{ConnectError, Connection, Login};

/// How many sessions one connection serves: what a server's process keeps for itself does not grow for ever.
const SESSIONS_MAX: usize = 200;

/// The connections that no session has at the moment.
pub(super) struct Idle {
    login: Login,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    connections: Vec<Used>,
    /// Counts the discards: what was opened before one does not come back.
    generation: u64,
    /// Whether connections that are opened now log in to settings that are not those of a new database.
    tainted: bool,
}

/// A connection and its past.
pub(super) struct Used {
    pub(super) connection: Connection,
    sessions: usize,
    generation: Option<u64>,
}

impl Idle {
    /// None yet; they will be opened with this login.
    pub(super) fn new(login: Login) -> Idle {
        Idle { login, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection that knows nothing of earlier sessions, whose transactions run at that level.
    pub(super) fn take(&self, level: Option<&LevelName>) -> Result<Used, ConnectError> {
        let mut used = match self.waiting() {
            Some(used) => used,
            None => self.open()?,
        };
        if let Some(level) = level {
            let sql = format!("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}");
            if let Some(error) = used.connection.execute(&sql, |_| String::new())?.error {
                return Err(ConnectError::Refused(error));
            }
        }
        used.sessions += 1;
        Ok(used)
    }

    /// One that waits, and that the server has not closed in the meantime.
    fn waiting(&self) -> Option<Used> {
        let mut state = self.lock();
        while let Some(mut used) = state.connections.pop() {
            if used.connection.is_silent() {
                return Some(used);
            }
        }
        None
    }

    fn open(&self) -> Result<Used, ConnectError> {
        let (generation, tainted) = {
            let state = self.lock();
            (state.generation, state.tainted)
        };
        let connection = Connection::open(&self.login)?;
        Ok(Used { connection, sessions: 0, generation: (!tainted).then_some(generation) })
    }

    /// Takes a connection back whose session has ended without a transaction; returns it if it has to be closed.
    pub(super) fn give_back(&self, mut used: Used) -> Option<Connection> {
        let current = used.generation == Some(self.lock().generation);
        if !current || used.sessions >= SESSIONS_MAX {
            return Some(used.connection);
        }
        let forgotten = used.connection.execute("DISCARD ALL", |_| String::new());
        let forgotten = forgotten.is_ok_and(|outcome| outcome.error.is_none() && outcome.status == TxStatus::Idle);
        let mut state = self.lock();
        if !forgotten || used.generation != Some(state.generation) {
            return Some(used.connection);
        }
        state.connections.push(used);
        None
    }

    /// Closes all connections that wait, and lets none come back that is in use. `tainted` says that logins now find
    /// settings which the next case must not find.
    pub(super) fn discard(&self, tainted: bool) {
        let mut state = self.lock();
        state.connections.clear();
        state.generation += 1;
        state.tainted = tainted;
    }
}
