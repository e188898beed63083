//! `crash`: the server dies.
//!
//! TxCheck's Figure 16 is a server that dies of a DELETE, an INSERT and an UPDATE in two transactions. Ours dies of a
//! DELETE from a table into which the same transaction has inserted.

use txloom_core::engine::{Death, EngineError};
use txloom_core::outcome::Outcome;
use txloom_core::sql::write::{Verb, Write};

use super::Defect;
use super::session::{Below, View, lost};

/// A DELETE from a table into which its transaction has inserted kills the server.
pub(super) struct Crash;

impl Defect for Crash {
    fn execute(&self, sql: &str, view: &View<'_>, below: &mut Below<'_>) -> Result<Outcome, EngineError> {
        let fatal = Write::read(sql).filter(|write| {
            write.verb == Verb::Delete
                && view.transaction.is_open()
                && view.transaction.has_done(Verb::Insert, &write.table)
        });
        let Some(delete) = fatal else { return below.execute(sql) };
        let last_words =
            format!("planted: assertion failed: DELETE FROM {} finds a row of its own transaction", delete.name);
        view.world.die(Death { how: "signal 6".to_string(), log: vec![last_words] });
        Ok(lost())
    }
}
