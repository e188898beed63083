//! Loading rows: COPY over the wire, on several connections at once.
//!
//! ```text
//!   positions 0 … n/2    ── connection, thread ── COPY y (pk, attr0, v) FROM STDIN ──→ server process
//!   positions n/2 … n    ── connection, thread ── COPY y (pk, attr0, v) FROM STDIN ──→ server process
//! ```
//!
//! Each COPY is a transaction of its own. Servers that speak the protocol and have no COPY get INSERTs.

use std::time::Duration;

use txloom_core::bulk::{self, Bulk};
use txloom_core::engine::EngineError;

use super::super::wire::rows::{Form, Pieces, in_parallel};
use super::connection::{Connection, Login};
use super::session::not_understood;
use super::{PostgresEngine, explain};

/// How long the server may take for one piece, or for what it checks at the end. There is no limit for all of it.
const PATIENCE: Duration = Duration::from_secs(600);

impl PostgresEngine {
    /// Loads rows on at most so many connections.
    pub(super) fn load_rows(&self, bulk: &dyn Bulk, threads: usize) -> Result<u64, EngineError> {
        let login = Login { patience: Some(PATIENCE), ..self.session_login.clone() };
        in_parallel(bulk, threads, Form::Copy, |pieces| self.load_range(&login, pieces))
    }

    fn load_range(&self, login: &Login, pieces: &mut Pieces<'_>) -> Result<u64, EngineError> {
        let (target, bulk) = (&self.info.target, pieces.bulk());
        let (table, columns) = (bulk.table().to_string(), bulk.columns().join(", "));
        let attempt = format!("load the rows of table {table}");
        let lost = |error: &dyn std::fmt::Display| explain::lost(target, &attempt, error);
        let mut connection = Connection::open(login).map_err(|error| lost(&error))?;
        let copied = connection.copy_in(&format!("COPY {table} ({columns}) FROM STDIN"), |out| pieces.next(out));
        match copied.map_err(|error| lost(&error))?.map(|outcome| outcome.error) {
            Some(None) => Ok(pieces.rows()),
            Some(Some(error)) => Err(bulk::refused(target, &table, error)),
            // If it is not for want of COPY, the INSERT fails, too, and says why.
            None => bulk::insert(target, self.info.dialect, pieces.bulk(), pieces.left(), &mut |sql| {
                connection.execute(sql, |_| String::new()).map_err(|error| not_understood(target, sql, &error))
            }),
        }
    }
}
