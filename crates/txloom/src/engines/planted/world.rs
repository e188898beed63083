//! What the sessions of a case share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use txloom_core::engine::{Cancel, Death, SessionId};
use txloom_core::outcome::TxStatus;
use txloom_core::sql::keys::primary_keys;

/// The sessions of a case, and whether the server has died.
#[derive(Default)]
pub(super) struct World {
    keys: BTreeMap<String, Vec<String>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    death: Option<Death>,
    /// The sessions with an open transaction, as of their last statement.
    open: BTreeSet<SessionId>,
    cancels: BTreeMap<SessionId, Box<dyn Cancel>>,
}

impl World {
    pub(super) fn new(setup: &[String]) -> World {
        World { keys: primary_keys(setup), state: Mutex::default() }
    }

    /// The columns of a table's primary key, if the setup declares one.
    pub(super) fn key_of(&self, table: &str) -> Option<&[String]> {
        self.keys.get(table).map(Vec::as_slice)
    }

    pub(super) fn join(&self, id: SessionId, cancel: Box<dyn Cancel>) {
        self.lock().cancels.insert(id, cancel);
    }

    pub(super) fn leave(&self, id: SessionId) {
        let mut state = self.lock();
        state.cancels.remove(&id);
        state.open.remove(&id);
    }

    /// Notes the status of a session after a statement.
    pub(super) fn note(&self, id: SessionId, status: TxStatus) {
        let mut state = self.lock();
        match status {
            TxStatus::Open | TxStatus::Failed => state.open.insert(id),
            TxStatus::Idle | TxStatus::Lost => state.open.remove(&id),
        };
    }

    /// Whether another session has a transaction open.
    pub(super) fn is_other_open(&self, id: SessionId) -> bool {
        self.lock().open.iter().any(|open| *open != id)
    }

    /// How the server died, if it did.
    pub(super) fn death(&self) -> Option<Death> {
        self.lock().death.clone()
    }

    /// The server dies. What the other sessions have in flight ends.
    pub(super) fn die(&self, death: Death) {
        let mut state = self.lock();
        state.death.get_or_insert(death);
        for cancel in state.cancels.values() {
            // A statement that cannot be ended ends by the executor's time limit.
            let _ = cancel.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
