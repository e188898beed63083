//! A thread per session: it executes what it is sent and reports what came back.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use txloom_core::engine::{Cancel, EngineError, Session, SessionId};
use txloom_core::outcome::Outcome;

/// What a worker tells the executor.
pub(super) struct Completion {
    pub(super) session: SessionId,
    pub(super) result: Result<Outcome, EngineError>,
}

/// The executor's end of a session.
pub(super) struct Worker {
    statements: Option<Sender<String>>,
    ended: Receiver<()>,
    thread: Option<JoinHandle<()>>,
    cancel: Box<dyn Cancel>,
}

/// How long a session may take to close after its statement was cancelled; then its thread is left behind.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

impl Worker {
    /// Moves the session to a thread of its own.
    pub(super) fn start(id: SessionId, mut session: Box<dyn Session>, completions: Sender<Completion>) -> Worker {
        let cancel = session.canceller();
        let (statements, inbox) = channel::<String>();
        let (end, ended) = channel::<()>();
        let thread = std::thread::spawn(move || {
            for sql in inbox {
                let result = session.execute(&sql);
                if completions.send(Completion { session: id, result }).is_err() {
                    break;
                }
            }
            drop(session);
            // Nobody listens if the executor has given up on us.
            let _ = end.send(());
        });
        Worker { statements: Some(statements), ended, thread: Some(thread), cancel }
    }

    /// Sends a statement; its completion comes through the channel.
    pub(super) fn submit(&self, sql: &str) {
        if let Some(statements) = &self.statements {
            // A worker that has ended has reported why.
            let _ = statements.send(sql.to_string());
        }
    }

    /// Asks the engine to end the statement in flight.
    pub(super) fn cancel(&self) -> Result<(), EngineError> {
        self.cancel.cancel()
    }
}

impl Drop for Worker {
    /// Closes the session and waits until it is closed, so that its locks are gone before anything else happens.
    fn drop(&mut self) {
        self.statements = None;
        if self.ended.recv_timeout(Duration::ZERO).is_err() {
            if self.ended.recv_timeout(CLOSE_LIMIT / 10).is_err() {
                let _ = self.cancel.cancel();
            }
            let _ = self.ended.recv_timeout(CLOSE_LIMIT);
        }
        if let Some(thread) = self.thread.take().filter(JoinHandle::is_finished) {
            let _ = thread.join();
        }
    }
}
