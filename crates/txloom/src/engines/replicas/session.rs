//! A session: executes statements in its turns. It never waits in between.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use txloom_core::engine::{Cancel, EngineError, EngineErrorKind, Session, SessionId};
use txloom_core::outcome::Outcome;

use super::world::World;
use crate::engines::embedded::errors::cancelled;
use crate::engines::embedded::split::statements;
use crate::engines::embedded::turns::{CancelTurn, Turns};

/// What the sessions of a case share. Only who has the turn looks at the world; its lock is for the executor's events
/// and snapshots.
pub(super) struct Shared {
    pub(super) turns: Arc<Turns>,
    pub(super) world: Mutex<World>,
}

impl Shared {
    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes back to the moment after the setup. False if that cannot be done: a session could not be closed, somebody
    /// still has the means to cancel its statement, or a database failed.
    pub(super) fn rewind(&mut self) -> bool {
        let nobody_left = Arc::get_mut(&mut self.turns).is_some();
        let world = self.world.get_mut().ok().filter(|world| nobody_left && world.is_deserted());
        world.is_some_and(|world| world.rewind().is_ok())
    }
}

pub(super) struct ReplicasSession {
    pub(super) id: SessionId,
    pub(super) target: String,
    pub(super) shared: Arc<Shared>,
}

impl Session for ReplicasSession {
    fn execute(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        let turn = self.shared.turns.take(self.id);
        let mut outcome = Outcome::empty(self.shared.world().status(self.id));
        for sql in statements(sql) {
            let answer = match turn.cancelled() {
                true => Err(cancelled()),
                false => self.shared.world().execute(self.id, sql).map_err(|error| failed(&self.target, &error))?,
            };
            outcome.status = self.shared.world().status(self.id);
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

impl Drop for ReplicasSession {
    fn drop(&mut self) {
        let _turn = self.shared.turns.take(self.id);
        // A database that fails here fails the next statement, too, and that one can say so.
        let _ = self.shared.world().leave(self.id);
    }
}

/// SQLite refused something that the replicas themselves asked for.
pub(super) fn failed(target: &str, error: &rusqlite::Error) -> EngineError {
    let what = format!("the replicas' own store failed, which is a defect of theirs: {error}");
    EngineError::new(target, EngineErrorKind::Protocol(what))
}
