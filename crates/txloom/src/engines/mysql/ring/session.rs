//! A session at one member of a ring.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use txloom_core::engine::{Cancel, EngineError, Session};
use txloom_core::outcome::{Outcome, TxStatus};

use super::links::Links;

/// A session of a member. A statement that ends a transaction has ended when everybody who can hear of it has.
pub(super) struct RingSession {
    inner: Box<dyn Session>,
    links: Arc<Links>,
    open: Arc<AtomicUsize>,
}

impl RingSession {
    /// A session of the ring. `open` counts those that there are.
    pub(super) fn new(inner: Box<dyn Session>, links: Arc<Links>, open: Arc<AtomicUsize>) -> RingSession {
        open.fetch_add(1, Ordering::SeqCst);
        RingSession { inner, links, open }
    }
}

impl Session for RingSession {
    fn execute(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        let outcome = self.inner.execute(sql)?;
        if outcome.status == TxStatus::Idle {
            self.links.settle()?;
        }
        Ok(outcome)
    }

    fn canceller(&self) -> Box<dyn Cancel> {
        self.inner.canceller()
    }
}

impl Drop for RingSession {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::SeqCst);
    }
}
