//! Statements that change the schema.
//!
//! As in many servers they are transactions of their own: what is open commits first, and the change waits until nobody
//! else holds a lock. Transactions that only read go on with the schema of their snapshot; one that then wants to write
//! meets a schema that changed since, and fails like at a row that changed since.

use txloom_core::engine::SessionId;

use super::errors::unsupported;
use super::locks::{LockKey, LockMode, Wanted};
use super::schema::{Schema, Unsupported};
use super::world::{Attempt, DONE, World, answer_of};
use crate::engines::embedded::run::ask;

impl World {
    /// Executes a statement that changes the schema.
    pub(super) fn define(&mut self, who: SessionId, sql: &str) -> rusqlite::Result<Attempt> {
        // A statement that SQLite refuses at first sight changes nothing, and so commits nothing.
        if let Err(error) = self.store.version(self.store.newest()).connection.prepare(sql) {
            return answer_of(error).map(Attempt::Answer);
        }
        if let Err(error) = self.commit(who)? {
            return Ok(Attempt::Answer(Err(error)));
        }
        let blockers = self.locks.blockers(who, &Wanted::from([(LockKey::Schema, LockMode::Exclusive)]));
        if !blockers.is_empty() {
            return Ok(Attempt::Wait(blockers));
        }
        let interrupt = self.tools.interrupt.clone();
        let defined = self.store.redefine(|connection| {
            if let Err(error) = interrupt.listening(|| ask(connection, sql))? {
                return Ok(Err(error));
            }
            Ok(Schema::read(connection)?.map_err(|Unsupported(reason)| unsupported(&reason)))
        })?;
        if let Ok(version) = defined {
            self.locks.note_changed([LockKey::Schema], version);
            self.forget_versions()?;
        }
        Ok(Attempt::Answer(defined.map(|_| DONE)))
    }
}
