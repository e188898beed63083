//! Sessions: one connection each, and their orderly end.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use txloom_core::engine::{Cancel, EngineError, EngineErrorKind, Session};
use txloom_core::outcome::{Outcome, TxStatus};

use super::super::guard::StatementGuard;
use super::super::wire::stream::Stream;
use super::connection::{CancelKey, Connection};
use super::idle::{Idle, Used};
use super::types::TypeNames;

/// One session of a case.
pub(super) struct PostgresSession {
    target: String,
    /// Taken when the session ends.
    used: Option<Used>,
    key: CancelKey,
    /// The status after the last statement.
    status: TxStatus,
    /// Whether a cancellation was ever asked for.
    cancelled: Arc<AtomicBool>,
    idle: Arc<Idle>,
    types: Arc<TypeNames>,
    endings: Arc<Endings>,
    lost: Arc<AtomicBool>,
    guard: Arc<StatementGuard>,
}

impl PostgresSession {
    /// A session on a connection of its own. `lost` is set when it finds that connection gone.
    pub(super) fn new(
        target: &str,
        used: Used,
        types: Arc<TypeNames>,
        (idle, endings): (Arc<Idle>, Arc<Endings>),
        lost: Arc<AtomicBool>,
    ) -> PostgresSession {
        PostgresSession {
            target: target.to_string(),
            key: used.connection.cancel_key(),
            used: Some(used),
            status: TxStatus::Idle,
            cancelled: Arc::default(),
            idle,
            types,
            endings,
            lost,
            guard: Arc::new(StatementGuard::open()),
        }
    }

    /// The same with a guard that looks at statements before they are sent.
    pub(super) fn guarded(mut self, guard: Arc<StatementGuard>) -> PostgresSession {
        self.guard = guard;
        self
    }
}

impl Session for PostgresSession {
    fn execute(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        self.guard.check(&self.target, sql)?;
        let used = self.used.as_mut().expect("the connection is taken only when the session is dropped");
        let outcome = used.connection.execute(sql, |oid| self.types.name(oid));
        if used.connection.is_lost() {
            self.lost.store(true, Ordering::SeqCst);
        }
        // After an exchange that went wrong nobody knows what the connection is good for.
        self.status = outcome.as_ref().map_or(TxStatus::Lost, |outcome| outcome.status);
        outcome.map_err(|error| not_understood(&self.target, sql, &error))
    }

    /// As one message: if BEGIN fails the server does not look at the rest, so nothing is ever committed by itself.
    fn begin_with(&mut self, begin: &str, sql: &str) -> Result<Outcome, EngineError> {
        let mut outcome = self.execute(&format!("{begin}; {sql}"))?;
        if !outcome.results.is_empty() {
            outcome.results.remove(0);
        }
        Ok(outcome)
    }

    fn canceller(&self) -> Box<dyn Cancel> {
        let (target, key) = (self.target.clone(), self.key.clone());
        Box::new(PostgresCancel { target, key, asked: Arc::clone(&self.cancelled) })
    }
}

impl Drop for PostgresSession {
    fn drop(&mut self) {
        let Some(used) = self.used.take().filter(|used| !used.connection.is_lost()) else { return };
        let in_good_order = self.status == TxStatus::Idle && !self.cancelled.load(Ordering::SeqCst);
        let to_close = if in_good_order { self.idle.give_back(used) } else { Some(used.connection) };
        if let Some(connection) = to_close {
            self.endings.add(connection);
        }
    }
}

/// The error for a message that could not be sent or answered sensibly.
pub(super) fn not_understood(target: &str, sql: &str, error: &io::Error) -> EngineError {
    let sql = txloom_core::sql::one_line(sql);
    EngineError::new(target, EngineErrorKind::Protocol(format!("cannot exchange the statement `{sql}`: {error}")))
}

struct PostgresCancel {
    target: String,
    key: CancelKey,
    asked: Arc<AtomicBool>,
}

impl Cancel for PostgresCancel {
    fn cancel(&self) -> Result<(), EngineError> {
        self.asked.store(true, Ordering::SeqCst);
        match self.key.cancel() {
            Ok(()) => Ok(()),
            // A server that is gone executes nothing; the session itself will tell of the loss.
            Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound) => Ok(()),
            Err(error) => {
                let why = format!("cannot cancel a statement of process {}: {error}", self.key.pid());
                Err(EngineError::new(&self.target, EngineErrorKind::Protocol(why)))
            }
        }
    }
}

/// Connections that said goodbye, and whose other ends may still be rolling back.
///
/// The server's process closes the socket as the last thing it does. Waiting for that means that no lock and no
/// temporary table of an earlier session is in the way of the next case.
#[derive(Default)]
pub(super) struct Endings(Mutex<Vec<(i32, Stream)>>);

impl Endings {
    fn add(&self, connection: Connection) {
        let pid = connection.pid();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((pid, connection.end()));
    }

    /// Waits until the server has closed them all; returns the processes that had not done so within the limit. Those
    /// are waited for again the next time.
    pub(super) fn wait(&self, limit: Duration) -> Vec<i32> {
        let deadline = Instant::now() + limit;
        let mut streams = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        streams.retain_mut(|(_, stream)| !stream.closes_within(deadline.saturating_duration_since(Instant::now())));
        streams.iter().map(|(pid, _)| *pid).collect()
    }

    /// Waits for none of them any more: their server is gone.
    pub(super) fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
