//! Spare connections: the next case's connections are opened while this one runs.
//!
//! A new connection costs the server a new process, some milliseconds; a whole case takes not much more. So whenever
//! a session takes a connection, a thread opens the next one, at the same isolation level: a hunt asks for the same
//! levels again and again. A spare has executed nothing but the statement that sets its level: a session that gets
//! one still has a fresh connection of its own.
//!
//! ```text
//!   executor   open(a) open(b) ──── steps of the case ────→ reset open(a) open(b) …
//!   thread          └ connect  └ connect                         ↑       ↑ taken
//! ```
//!
//! What a server does at *login* (settings of a database or role, login triggers) has happened to a spare before the
//! case's setup; the engine discards its spares when a setup touches such things.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use txloom_core::level::LevelName;

use super::connection::{ConnectError, Connection, Login};

/// The isolation level that a session asks for; `None` is the server's default.
type Level = Option<LevelName>;

/// Connections that wait for their session.
pub(super) struct Spares {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    login: Login,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    ready: Vec<(Level, Connection)>,
    /// Those that are still to be opened; the first one is being opened now.
    wanted: VecDeque<Level>,
    /// Counts the discards: what was begun before one is not kept.
    generation: u64,
    closing: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

impl Spares {
    /// No spares yet; they will be opened with this login.
    pub(super) fn new(login: Login) -> Spares {
        let shared = Arc::new(Shared { login, state: Mutex::default(), changed: Condvar::new() });
        let worker = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("txloom spares".to_string()).spawn(move || open_spares(&worker));
        // Without the thread there are no spares, and every session opens its own connection.
        Spares { shared, thread: thread.ok() }
    }

    /// A connection at that level which nobody has used: a spare, if there is one or one is being opened, or else
    /// a new one. Has the next one opened.
    pub(super) fn take(&self, level: &Level) -> Result<Connection, ConnectError> {
        let mut state = self.shared.lock();
        let found = loop {
            match state.ready.iter().position(|(have, _)| have == level) {
                Some(at) => break Some(state.ready.remove(at).1),
                None if state.wanted.contains(level) && self.thread.is_some() => state = self.shared.wait(state),
                None => break None,
            }
        };
        state.wanted.push_back(level.clone());
        drop(state);
        self.shared.changed.notify_all();
        match found {
            Some(spare) if spare.is_silent() => Ok(spare),
            // There was none, or the server has thrown it out.
            _ => open_at(&self.shared.login, level),
        }
    }

    /// Throws all spares away, those too that are being opened.
    pub(super) fn discard(&self) {
        let mut state = self.shared.lock();
        state.ready.clear();
        state.wanted.clear();
        state.generation += 1;
        drop(state);
        self.shared.changed.notify_all();
    }
}

/// Opens a connection whose transactions run at that level.
fn open_at(login: &Login, level: &Level) -> Result<Connection, ConnectError> {
    let mut connection = Connection::open(login)?;
    if let Some(level) = level {
        let sql = format!("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}");
        if let Some(error) = connection.execute(&sql, |_| String::new())?.error {
            return Err(ConnectError::Refused(error));
        }
    }
    Ok(connection)
}

/// The thread: opens connections as long as some are wanted.
fn open_spares(shared: &Shared) {
    let mut state = shared.lock();
    while !state.closing {
        let Some(level) = state.wanted.front().cloned() else {
            state = shared.wait(state);
            continue;
        };
        let generation = state.generation;
        drop(state);
        let opened = open_at(&shared.login, &level);
        state = shared.lock();
        if state.generation == generation {
            state.wanted.pop_front();
            match opened {
                Ok(connection) => state.ready.push((level, connection)),
                // Whoever wants to open a session will find out for himself, and can say so.
                Err(_) => state.wanted.clear(),
            }
        }
        shared.changed.notify_all();
    }
}

impl Drop for Spares {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing to tell.
            let _ = thread.join();
        }
    }
}
