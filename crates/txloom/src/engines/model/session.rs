//! A session: executes statements in its turns, and waits in between.

use std::sync::{Arc, Mutex, PoisonError};

use txloom_core::engine::{Cancel, EngineError, EngineErrorKind, Session, SessionId};
use txloom_core::outcome::Outcome;

use super::world::{Attempt, World};
use crate::engines::embedded::run::Answer;
use crate::engines::embedded::split::statements;
use crate::engines::embedded::turns::{CancelTurn, Turn, Turns, Woken};

/// What the sessions of a case share. Only who has the turn looks at the world; its lock is for the executor's
/// snapshots.
pub(super) struct Shared {
    pub(super) turns: Arc<Turns>,
    pub(super) world: Mutex<World>,
}

impl Shared {
    /// Goes back to the moment after the setup. False if that cannot be done: a session could not be closed, somebody
    /// still has the means to cancel its statement, or the store failed.
    pub(super) fn rewind(&mut self) -> bool {
        let nobody_left = Arc::get_mut(&mut self.turns).is_some();
        let world = self.world.get_mut().ok().filter(|world| nobody_left && world.sessions.is_empty());
        world.is_some_and(|world| world.rewind().is_ok())
    }
}

pub(super) struct ModelSession {
    pub(super) id: SessionId,
    pub(super) target: String,
    pub(super) shared: Arc<Shared>,
}

impl ModelSession {
    /// Executes one statement, as often as it takes.
    fn statement(&self, turn: &mut Turn<'_>, sql: &str) -> rusqlite::Result<Answer> {
        loop {
            if turn.cancelled() {
                return Ok(Err(self.act(turn, |world| world.give_up(self.id))?));
            }
            let holders = match self.act(turn, |world| world.attempt(self.id, sql))? {
                Attempt::Answer(answer) => return Ok(answer),
                Attempt::Wait(holders) => holders,
            };
            match turn.wait_for(holders) {
                Woken::Again => {}
                Woken::Cancelled => return Ok(Err(self.act(turn, |world| world.give_up(self.id))?)),
                Woken::Deadlock => return Ok(Err(self.act(turn, |world| world.break_deadlock(self.id))?)),
            }
        }
    }

    /// Does something in this session's turn. Whoever waits for a session that holds no lock afterwards can go on.
    fn act<T>(&self, turn: &Turn<'_>, action: impl FnOnce(&mut World) -> T) -> T {
        let mut world = self.shared.world.lock().unwrap_or_else(PoisonError::into_inner);
        let result = action(&mut world);
        if !world.holds_locks(self.id) {
            turn.wake_waiters();
        }
        result
    }
}

impl Session for ModelSession {
    fn execute(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        let mut turn = self.shared.turns.take(self.id);
        let mut outcome = Outcome::empty(self.act(&turn, |world| world.status(self.id)));
        for sql in statements(sql) {
            let answer = self.statement(&mut turn, sql).map_err(|error| failed(&self.target, &error))?;
            outcome.status = self.act(&turn, |world| world.status(self.id));
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

impl Drop for ModelSession {
    fn drop(&mut self) {
        let turn = self.shared.turns.take(self.id);
        // A store that fails here fails the next statement, too, and that one can say so.
        let _ = self.act(&turn, |world| world.leave(self.id));
    }
}

/// SQLite refused something that the model itself asked for.
pub(super) fn failed(target: &str, error: &rusqlite::Error) -> EngineError {
    let what = format!("the model's own store failed, which is a defect of the model: {error}");
    EngineError::new(target, EngineErrorKind::Protocol(what))
}
