//! SQLite itself: a database file in WAL mode, one connection per session.
//!
//! SQLite never blocks a statement for long: a lock that is taken makes it fail with `SQLITE_BUSY`, and applications
//! try again, mostly by a *busy timeout*. Here the timeout is 0 and the engine does the trying: `BUSY` means that the
//! statement *waits*, and it is submitted again whenever another session completes a statement or closes.
//!
//! ```text
//!   a   BEGIN   UPDATE …                              COMMIT
//!   b                      UPDATE …: BUSY, waits for a ······ submitted again: done
//! ```
//!
//! * **For whom it waits.** WAL mode has one writer at a time. After each statement a session notes whether it is
//!   within a write transaction (`sqlite3_txn_state`); who meets `BUSY` waits for the session that is. If there is none
//!   (a case may switch to a rollback journal, where a COMMIT waits for readers), it waits for all with an open
//!   transaction. If nobody has one, a stranger holds the lock: then `BUSY` is the answer, of class *lock timeout*.
//! * **`SQLITE_BUSY_SNAPSHOT`**: the transaction reads a snapshot that is no longer the newest and wants to write. No
//!   waiting helps: a serialization failure.
//! * **Deadlock**: two that wait for each other; the later one gets the `BUSY`, as class *deadlock*. SQLite knows only
//!   one level, serializable, and leaves a transaction open after either error: the status says so.
//!
//! Nothing here survives a crash of the machine (`synchronous = OFF`): the file lives as long as one case.

mod session;
mod load;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rusqlite::{Connection, TransactionState};
use txloom_core::bulk::Bulk;
use txloom_core::dialect::Sqlite;
use txloom_core::engine::{
    Capabilities, Engine, EngineError, EngineErrorKind, EngineInfo, Session, SessionId, SessionSpec, State, Version,
    Waits,
};
use txloom_core::level::LevelName;
use txloom_core::outcome::Outcome;

use super::embedded::run::{execute_alone, set_up, state};
use super::embedded::turns::Turns;
use crate::servers::{self, ScratchDir};
use session::SqliteSession;

/// SQLite, in this process.
pub struct SqliteEngine {
    info: EngineInfo,
    directory: ScratchDir,
    /// How many database files there have been.
    file_count: u64,
    /// The file of the current case, and a connection that belongs to no session.
    current: Option<Database>,
}

struct Database {
    path: PathBuf,
    control: Connection,
    shared: Arc<Shared>,
}

/// What the sessions of a case know of each other.
#[derive(Default)]
struct Shared {
    turns: Arc<Turns>,
    /// The open transactions, as of each session's last statement.
    open: Mutex<BTreeMap<SessionId, TransactionState>>,
}

impl SqliteEngine {
    /// Makes a private directory for the database files. `target` is what the user wrote.
    pub fn start(target: &str) -> Result<SqliteEngine, EngineError> {
        let level = LevelName::parse("serializable").expect("a known level");
        let info = EngineInfo {
            target: target.to_string(),
            family: "sqlite",
            version: Version::parse(rusqlite::version()),
            settings: Vec::new(),
            dialect: &Sqlite,
            levels: vec![level.clone()],
            default_level: level,
            capabilities: Capabilities::default(),
            client: None,
        };
        // What a killed txloom left goes first.
        servers::sweep();
        let directory = ScratchDir::create().map_err(|error| {
            let what =
                format!("cannot make a directory for database files in {}: {error}", std::env::temp_dir().display());
            EngineError::new(target, EngineErrorKind::Unreachable(what))
        })?;
        Ok(SqliteEngine { info, directory, file_count: 0, current: None })
    }

    /// A connection to a new, empty file.
    fn create(&mut self) -> rusqlite::Result<Database> {
        self.current = None;
        self.file_count += 1;
        let path = self.directory.path().join(format!("{}.db", self.file_count));
        let control = connect(&path)?;
        // Our own checkpoints would only cost time; the file is thrown away.
        control.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")?;
        Ok(Database { path, control, shared: Arc::default() })
    }

    fn current(&mut self) -> Result<&mut Database, EngineError> {
        if self.current.is_none() {
            self.current = Some(self.create().map_err(|error| self.failed("open a database file", &error))?);
        }
        Ok(self.current.as_mut().expect("it was just created"))
    }

    fn failed(&self, attempted: &str, error: &rusqlite::Error) -> EngineError {
        let what = format!("could not {attempted}: {error}");
        EngineError::new(&self.info.target, EngineErrorKind::Protocol(what))
    }
}

/// A connection as all of them are: no waiting, no syncing.
fn connect(path: &std::path::Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(std::time::Duration::ZERO)?;
    connection.execute_batch("PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON")?;
    Ok(connection)
}

impl Engine for SqliteEngine {
    fn info(&self) -> &EngineInfo {
        &self.info
    }

    fn reset(&mut self, setup: &[String]) -> Result<Vec<Outcome>, EngineError> {
        let database = self.create().map_err(|error| self.failed("open a database file", &error))?;
        let outcomes = set_up(&database.control, setup, |_| Ok(()));
        self.current = Some(database);
        outcomes.map_err(|error| self.failed("execute the setup", &error))
    }

    fn load(&mut self, bulk: &dyn Bulk, _threads: usize) -> Result<u64, EngineError> {
        self.load_rows(bulk)
    }

    fn open(&mut self, spec: &SessionSpec) -> Result<Box<dyn Session>, EngineError> {
        if let Some(level) = &spec.level {
            self.info.require_level(level)?;
        }
        let target = self.info.target.clone();
        let database = self.current()?;
        let (path, shared) = (database.path.clone(), Arc::clone(&database.shared));
        let connection = connect(&path).map_err(|error| self.failed("open a session", &error))?;
        let session = SqliteSession::new(spec.id, target, connection, shared);
        Ok(Box::new(session.map_err(|error| self.failed("open a session", &error))?))
    }

    fn waits(&mut self, in_flight: &[SessionId]) -> Result<Waits, EngineError> {
        Ok(self.current()?.shared.turns.waits(in_flight, "SQLITE_BUSY"))
    }

    fn snapshot(&mut self) -> Result<State, EngineError> {
        state(&self.current()?.control).map_err(|error| self.failed("read the tables", &error))
    }

    fn probe(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        execute_alone(&self.current()?.control, sql, |_| Ok(())).map_err(|error| self.failed("execute a query", &error))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        use rusqlite::config::DbConfig;
        // Closing the last connection would copy the log into a file that is about to be removed. If that cannot be
        // avoided, or removing fails, it only costs time: the directory goes with the engine.
        let _ = self.control.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let mut file = self.path.clone().into_os_string();
            file.push(suffix);
            let _ = std::fs::remove_file(file);
        }
    }
}

#[cfg(test)]
mod tests;
