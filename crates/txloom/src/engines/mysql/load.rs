//! Loading rows: LOAD DATA LOCAL over the wire, on several connections at once.
//!
//! ```text
//!   positions 0 … n/2    ── connection, thread ── LOAD DATA LOCAL INFILE … INTO TABLE y ──→ server thread
//!   positions n/2 … n    ── connection, thread ── LOAD DATA LOCAL INFILE … INTO TABLE y ──→ server thread
//! ```
//!
//! There is no file: the server asks for it by its name, and gets the rows as they are rendered. It reads them without any
//! character set, so that bytes need no other form than texts.
//!
//! With LOCAL, a row that cannot be stored is a warning, and the others are stored. Every row must be, so a warning is an
//! error here. Where local files are switched off (MySQL's default), rows are inserted.

use std::fmt::Display;
use std::time::Duration;

use txloom_core::bulk::{self, Bulk};
use txloom_core::engine::EngineError;

use super::super::wire::rows::{Form, Pieces, in_parallel};
use super::connection::{Connection, Login};
use super::{MySqlEngine, UNLOGGED, explain};

/// How long the server may take for one piece, or for its answer at the end. There is no limit for all of it.
const PATIENCE: Duration = Duration::from_secs(600);

/// Our own servers end statements that take too long; this one may. MySQL has no such variable.
const NO_LIMIT: &str = "SET SESSION max_statement_time = 0";

impl MySqlEngine {
    /// Loads rows on at most so many connections.
    pub(super) fn load_rows(&self, bulk: &dyn Bulk, threads: usize) -> Result<u64, EngineError> {
        let login = Login { patience: Some(PATIENCE), gives_files: true, ..self.login.clone() };
        in_parallel(bulk, threads, Form::LoadData, |pieces| self.load_range(&login, pieces))
    }

    fn load_range(&self, login: &Login, pieces: &mut Pieces<'_>) -> Result<u64, EngineError> {
        let (target, bulk) = (&self.info.target, pieces.bulk());
        let (table, columns) = (bulk.table().to_string(), bulk.columns().join(", "));
        let connection = Connection::open(login);
        let mut connection = connection.map_err(|error| explain::unreachable(target, login, &error))?;
        let not_understood = |sql: &str, error| explain::not_understood(target, sql, &error);
        let settings = [Some(NO_LIMIT), self.is_member.then_some(UNLOGGED)];
        for setting in settings.into_iter().flatten() {
            connection.execute(setting).map_err(|error| not_understood(setting, error))?;
        }
        let sql = format!("LOAD DATA LOCAL INFILE 'rows' INTO TABLE {table} CHARACTER SET binary ({columns})");
        let loaded = connection.load(&sql, |out| pieces.next(out)).map_err(|error| not_understood(&sql, error))?;
        let refused = |said: &dyn Display| Err(bulk::refused(target, &table, said));
        match loaded {
            Some(outcome) => match (outcome.error, outcome.notices.first()) {
                (Some(error), _) => refused(&error),
                (None, Some(warning)) => refused(&format!("{} ({})", warning.message, warning.code)),
                (None, None) => Ok(pieces.rows()),
            },
            // If it is not for want of local files, the INSERT fails, too, and says why.
            None => bulk::insert(target, self.info.dialect, pieces.bulk(), pieces.left(), &mut |sql| {
                connection.execute(sql).map_err(|error| not_understood(sql, error))
            }),
        }
    }
}
