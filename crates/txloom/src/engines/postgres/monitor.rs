//! The monitor: a connection of the engine's own that only looks.
//!
//! It runs no statement of any case, so its questions can be prepared once and asked in a tenth of a millisecond. The
//! executor's thread asks it for waits, session threads ask it for the names of types; a lock puts them in a row. If
//! its connection is lost (a case may end every other connection), it connects again.

use std::fmt;
use std::io;
use std::sync::{Mutex, PoisonError};

use txloom_core::outcome::{DbError, Row};

use super::connection::{ConnectError, Connection, Login};

/// Why a question has no answer.
#[derive(Debug)]
pub(super) enum AskError {
    /// The server cannot be reached any more.
    Connect(ConnectError),
    /// The server answered with an error.
    Failed(DbError),
    /// The server's answer makes no sense.
    Protocol(io::Error),
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AskError::Connect(error) => error.fmt(f),
            AskError::Failed(error) => error.fmt(f),
            AskError::Protocol(error) => error.fmt(f),
        }
    }
}

impl From<io::Error> for AskError {
    fn from(error: io::Error) -> AskError {
        AskError::Protocol(error)
    }
}

/// A connection that only looks.
pub(super) struct Monitor {
    login: Login,
    preparation: String,
    connection: Mutex<Option<Connection>>,
}

/// What is asked about a waiting backend. The time of `pg_locks.waitstart` exists since version 14.
fn waits_question(major: u32) -> String {
    let since = if major >= 14 { "(extract(epoch FROM max(waitstart)) * 1000000)::int8" } else { "NULL::int8" };
    format!(
        "PREPARE txloom_waits(int[]) AS
         SELECT pid, blocking, unsafe,
                CASE WHEN blocking <> '' THEN (SELECT {since} FROM pg_locks WHERE pid = asked.pid AND NOT granted) END,
                (extract(epoch FROM clock_timestamp()) * 1000000)::int8
         FROM (SELECT pid, array_to_string(pg_blocking_pids(pid), ' ') AS blocking,
                      array_to_string(pg_safe_snapshot_blocking_pids(pid), ' ') AS unsafe
               FROM unnest($1) AS pid OFFSET 0) AS asked
         WHERE blocking <> '' OR unsafe <> '';"
    )
}

/// All tables that a snapshot must hold: display name, SQL name, kind.
const TABLES_QUESTION: &str = "PREPARE txloom_tables AS
    SELECT CASE WHEN nspname = 'public' THEN relname ELSE nspname || '.' || relname END,
           quote_ident(nspname) || '.' || quote_ident(relname), relkind
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE relkind IN ('r', 'p') AND NOT relispartition AND relpersistence <> 't'
          AND nspname !~ '^pg_' AND nspname <> 'information_schema'
    ORDER BY nspname, relname;";

const TYPES_QUESTION: &str = "PREPARE txloom_type(oid) AS SELECT typname FROM pg_type WHERE oid = $1;";

impl Monitor {
    /// A monitor that will connect when it is first asked. `leftovers` is the question of that name.
    pub(super) fn new(login: Login, major: u32, leftovers: &str) -> Monitor {
        let waits = waits_question(major);
        let leftovers = format!("PREPARE txloom_leftovers AS {leftovers};");
        let preparation = [waits.as_str(), TABLES_QUESTION, TYPES_QUESTION, &leftovers].join("\n");
        Monitor { login, preparation, connection: Mutex::new(None) }
    }

    /// Asks, and returns the rows of the answer.
    pub(super) fn ask(&self, sql: &str) -> Result<Vec<Row>, AskError> {
        let mut slot = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = slot.as_mut() {
            let answer = ask(connection, sql);
            if !connection.is_lost() {
                return answer;
            }
        }
        let connection = slot.insert(Connection::open(&self.login).map_err(AskError::Connect)?);
        ask(connection, &self.preparation)?;
        ask(connection, sql)
    }

    /// The waiting ones of some backends: pid, blocking pids, unsafe-snapshot pids, start of the wait, time now.
    pub(super) fn waits(&self, pids: &[i32]) -> Result<Vec<Row>, AskError> {
        let pids: Vec<String> = pids.iter().map(i32::to_string).collect();
        self.ask(&format!("EXECUTE txloom_waits('{{{}}}')", pids.join(",")))
    }

    /// What an earlier case left: kind and name of each thing.
    pub(super) fn leftovers(&self) -> Result<Vec<Row>, AskError> {
        self.ask("EXECUTE txloom_leftovers")
    }

    /// All user tables: display name, SQL name, kind.
    pub(super) fn tables(&self) -> Result<Vec<Row>, AskError> {
        self.ask("EXECUTE txloom_tables")
    }

    /// The name of a type, if it can be seen.
    pub(super) fn type_name(&self, oid: u32) -> Option<String> {
        let rows = self.ask(&format!("EXECUTE txloom_type({oid})")).ok()?;
        rows.first().map(|row| text(row, 0).to_string())
    }

    /// Gives the connection up; the next question opens another one.
    pub(super) fn disconnect(&self) {
        *self.connection.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

fn ask(connection: &mut Connection, sql: &str) -> Result<Vec<Row>, AskError> {
    let outcome = connection.execute(sql, |_| String::new()).map_err(AskError::Protocol)?;
    match outcome.error {
        Some(error) => Err(AskError::Failed(error)),
        None => Ok(outcome.results.into_iter().next_back().map(|result| result.rows).unwrap_or_default()),
    }
}

/// A cell of a catalog query as text; empty for NULL.
pub(super) fn text(row: &Row, column: usize) -> &str {
    row.get(column).and_then(Option::as_deref).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or("")
}
