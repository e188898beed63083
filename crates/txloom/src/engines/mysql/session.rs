//! Sessions: one connection each, and their orderly end.

use std::io;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use txloom_core::engine::{Cancel, EngineError, Session};
use txloom_core::outcome::Outcome;

use super::super::guard::StatementGuard;
use super::super::wire::stream::SocketHandle;
use super::connection::Connection;
use super::explain;
use super::monitor::Monitor;
use super::reach::Reach;

/// What the sessions of an engine share with it.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) target: String,
    pub(super) monitor: Monitor,
    /// The furthest [`Reach`] of a statement since the last reset.
    reach: AtomicU8,
    /// Connections that said goodbye, and whose other ends may still be rolling back.
    endings: Mutex<Vec<u32>>,
}

impl Shared {
    /// Nothing has happened yet.
    pub(super) fn new(target: &str, monitor: Monitor) -> Shared {
        let (reach, endings) = (AtomicU8::new(0), Mutex::default());
        Shared { target: target.to_string(), monitor, reach, endings }
    }

    /// A statement is about to be executed.
    pub(super) fn note(&self, sql: &str) {
        self.reach.fetch_max(Reach::of(sql) as u8, Ordering::SeqCst);
    }

    /// Something else has reached so far.
    pub(super) fn note_reach(&self, reach: Reach) {
        self.reach.fetch_max(reach as u8, Ordering::SeqCst);
    }

    /// How far the statements of the case have reached.
    pub(super) fn reach(&self) -> Reach {
        Reach::ALL[usize::from(self.reach.load(Ordering::SeqCst))]
    }

    /// A new case begins.
    pub(super) fn forget_reach(&self) {
        self.reach.store(Reach::Rows as u8, Ordering::SeqCst);
    }

    /// A connection is given up; its other end is waited for before the next case.
    pub(super) fn await_ending(&self, connection: Option<Connection>) {
        let mut endings = self.endings.lock().unwrap_or_else(PoisonError::into_inner);
        endings.extend(connection.map(|connection| connection.id()));
    }

    /// The connections that have ended on our side since this was last asked.
    pub(super) fn take_endings(&self) -> Vec<u32> {
        std::mem::take(&mut self.endings.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// How far a session has come, for those who look at it from other threads. Statements are numbered from 1.
#[derive(Debug, Default)]
pub(super) struct Progress {
    begun: AtomicU64,
    completed: AtomicU64,
    cancelled: AtomicU64,
}

impl Progress {
    /// The statement that was begun last.
    pub(super) fn begun(&self) -> u64 {
        self.begun.load(Ordering::SeqCst)
    }

    /// Whether a statement is being executed.
    fn is_executing(&self) -> bool {
        self.completed.load(Ordering::SeqCst) < self.begun()
    }

    /// Whether the statement that was begun last has been asked to end. It may still look as if it waited, but it waits
    /// for nobody any more.
    pub(super) fn is_ending(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst) == self.begun() && self.is_executing()
    }
}

/// One session of a case.
pub(super) struct MySqlSession {
    connection: Connection,
    shared: Arc<Shared>,
    progress: Arc<Progress>,
    guard: Arc<StatementGuard>,
}

impl MySqlSession {
    /// A session on a connection that nobody has used.
    pub(super) fn new(connection: Connection, shared: Arc<Shared>, progress: Arc<Progress>) -> MySqlSession {
        MySqlSession { connection, shared, progress, guard: Arc::new(StatementGuard::open()) }
    }

    /// The same with a guard that looks at statements before they are sent.
    pub(super) fn guarded(mut self, guard: Arc<StatementGuard>) -> MySqlSession {
        self.guard = guard;
        self
    }
}

impl Session for MySqlSession {
    fn execute(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        self.guard.check(&self.shared.target, sql)?;
        self.shared.note(sql);
        let number = self.progress.begun.fetch_add(1, Ordering::SeqCst) + 1;
        let outcome = self.connection.execute(sql);
        self.progress.completed.store(number, Ordering::SeqCst);
        outcome.map_err(|error| explain::not_understood(&self.shared.target, sql, &error))
    }

    fn canceller(&self) -> Box<dyn Cancel> {
        Box::new(MySqlCancel {
            connection: self.connection.id(),
            socket: self.connection.second_handle(),
            shared: Arc::clone(&self.shared),
            progress: Arc::clone(&self.progress),
        })
    }
}

impl Drop for MySqlSession {
    fn drop(&mut self) {
        self.shared.endings.lock().unwrap_or_else(PoisonError::into_inner).push(self.connection.id());
    }
}

struct MySqlCancel {
    connection: u32,
    socket: io::Result<SocketHandle>,
    shared: Arc<Shared>,
    progress: Arc<Progress>,
}

impl Cancel for MySqlCancel {
    /// Asks the server to end the statement. If the server does not listen, the connection is ended from our side: a
    /// session never hangs longer than the server's silence takes to be noticed.
    fn cancel(&self) -> Result<(), EngineError> {
        if !self.progress.is_executing() {
            return Ok(());
        }
        self.progress.cancelled.store(self.progress.begun(), Ordering::SeqCst);
        let asked = self.shared.monitor.cancel(self.connection);
        match (&asked, &self.socket) {
            (Ok(()), _) => Ok(()),
            (Err(_), Ok(socket)) => {
                socket.end();
                Ok(())
            }
            (Err(error), Err(_)) => {
                let attempt = format!("cancel a statement of connection {}", self.connection);
                Err(explain::unanswered(&self.shared.target, &attempt, error))
            }
        }
    }
}
