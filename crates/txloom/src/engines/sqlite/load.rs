//! Loading rows: there is one writer at a time, so it is one.

use txloom_core::bulk::{self, Bulk};
use txloom_core::engine::EngineError;

use super::SqliteEngine;
use crate::engines::embedded::load::load;

impl SqliteEngine {
    /// Loads rows in one transaction.
    pub(super) fn load_rows(&mut self, bulk: &dyn Bulk) -> Result<u64, EngineError> {
        let control = &self.current()?.control;
        // Nobody reads yet: what lies in the log can go into the file, where it is found sooner.
        let loaded = load(control, bulk).and_then(|loaded| {
            control.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            Ok(loaded)
        });
        let loaded =
            loaded.map_err(|error| self.failed(&format!("load the rows of table {}", bulk.table()), &error))?;
        loaded.map_err(|error| bulk::refused(&self.info.target, bulk.table(), error))
    }
}
