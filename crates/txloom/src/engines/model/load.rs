//! Loading rows: they make the next version, without locks and without being written down.
//!
//! The version of the setup stays as it is: a reset that goes back to it finds the tables empty, and they are loaded again.

use txloom_core::bulk::{self, Bulk};
use txloom_core::engine::EngineError;

use super::ModelEngine;
use super::errors::unsupported;
use super::schema::{Schema, Unsupported};
use crate::engines::embedded::load::load;

impl ModelEngine {
    /// Loads rows in one transaction.
    pub(super) fn load_rows(&self, bulk: &dyn Bulk) -> Result<u64, EngineError> {
        let mut rows = 0;
        let loaded = self.world().store.redefine(|connection| match load(connection, bulk)? {
            Ok(count) => {
                rows = count;
                Ok(Schema::read(connection)?.map_err(|Unsupported(reason)| unsupported(&reason)))
            }
            Err(error) => Ok(Err(error)),
        });
        match loaded.map_err(|error| self.failed(&error))? {
            Ok(_) => Ok(rows),
            Err(error) => Err(bulk::refused(&self.info.target, bulk.table(), error)),
        }
    }
}
