//! H2: a private server, spoken to by PostgreSQL's protocol.
//!
//! H2 speaks that protocol for those who have nothing better. It answers statements, reports errors with codes of its
//! own, and tells whether a transaction is open; it has none of PostgreSQL's catalogs that the engine `postgres` asks.
//! So this is an engine of its own that shares only the connection:
//!
//! ```text
//!   postgres::connection ── bytes, messages, outcomes ──→ H2Session (one connection; errors by H2's codes)
//!                                                    └──→ H2Engine  (control: resets, snapshots, who waits for whom)
//! ```
//!
//! **Waits** stand in `INFORMATION_SCHEMA.SESSIONS` (`BLOCKER_ID`), and are up to date. **Levels** are those of the
//! session; what H2 calls *snapshot* is *snapshot isolation* to us.
//!
//! **Limits.** H2's language is not PostgreSQL's: what is generated for it keeps to what every engine has.

mod classify;
mod session;

use std::collections::BTreeMap;
use std::time::Duration;

use txloom_core::dialect;
use txloom_core::engine::{
    Capabilities, Death, Engine, EngineError, EngineErrorKind, EngineInfo, Fault, Holder, KnownWaits, Session,
    SessionId, SessionSpec, State, Version, Waits,
};
use txloom_core::level::LevelName;
use txloom_core::outcome::{Outcome, Row, StatementResult};

use self::session::{H2Session, NAMES, exchange};
use super::postgres::connection::{ConnectError, Connection, Login};
use super::wire::security::Security;
use super::wire::stream::Address;
use super::wire::url::Password;
use crate::servers::PrivateH2;

/// The levels that sessions may ask for, weakest first: what we call them, and what H2 does.
const LEVELS: &[(&str, &str)] = &[
    ("read uncommitted", "READ UNCOMMITTED"),
    ("read committed", "READ COMMITTED"),
    ("repeatable read", "REPEATABLE READ"),
    ("snapshot isolation", "SNAPSHOT"),
    ("serializable", "SERIALIZABLE"),
];

/// How long a statement of the engine's own may take.
const CONTROL_LIMIT: Duration = Duration::from_secs(30);

/// How long a server that has lost its connections may take to be gone.
const DYING_LIMIT: Duration = Duration::from_secs(5);

/// Where it is known from who waits.
const SOURCE: &str = "INFORMATION_SCHEMA.SESSIONS";

/// H2 as a target.
pub struct H2Engine {
    info: EngineInfo,
    login: Login,
    /// Resets, setups, snapshots, assertions, waits. Opened when it is needed.
    control: Option<Connection>,
    /// The sessions that were opened since the last reset, by what H2 calls them.
    sessions: BTreeMap<SessionId, i64>,
    server: PrivateH2,
}

impl H2Engine {
    /// The engine of a private server, which it stops when it is dropped.
    pub fn start_private(target: &str, server: PrivateH2) -> Result<H2Engine, EngineError> {
        let info = EngineInfo {
            target: target.to_string(),
            family: "h2",
            version: Version::parse(""),
            settings: Vec::new(),
            dialect: &dialect::H2,
            levels: LEVELS.iter().map(|(level, _)| LevelName::custom(level)).collect(),
            default_level: LevelName::custom("read committed"),
            capabilities: Capabilities { kill: true, ..Capabilities::default() },
            client: Some(server.client()),
        };
        let login = login(&server);
        let mut engine = H2Engine { info, login, control: None, sessions: BTreeMap::new(), server };
        let version = engine.ask("SELECT H2VERSION()")?;
        engine.info.version = Version::parse(&version.first().map(|row| text(row, 0)).unwrap_or_default());
        Ok(engine)
    }

    /// Replaces the server with a new one.
    fn renew(&mut self) -> Result<(), EngineError> {
        self.control = None;
        self.server.renew().map_err(|error| error.for_target(&self.info.target))?;
        self.login = login(&self.server);
        Ok(())
    }

    fn lost(&self, attempt: &str, why: impl std::fmt::Display) -> EngineError {
        EngineError::new(&self.info.target, EngineErrorKind::Lost(format!("cannot {attempt}: {why}")))
    }

    /// The control connection; a new one, if the old one is gone.
    fn control(&mut self) -> Result<&mut Connection, EngineError> {
        if !self.control.as_mut().is_some_and(Connection::is_silent) {
            let login = Login { patience: Some(CONTROL_LIMIT), ..self.login.clone() };
            let mut opened = Connection::open(&login).map_err(|error| self.lost("connect to the server", error))?;
            exchange(&self.info.target, &mut opened, NAMES)?;
            self.control = Some(opened);
        }
        Ok(self.control.as_mut().expect("it has just been opened"))
    }

    /// Executes a message on the control connection.
    fn execute(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        let target = self.info.target.clone();
        exchange(&target, self.control()?, sql)
    }

    /// The rows of a question of our own.
    fn ask(&mut self, sql: &str) -> Result<Vec<Row>, EngineError> {
        let outcome = self.execute(sql)?;
        match &outcome.error {
            Some(error) => Err(self.lost(&format!("ask `{sql}`"), error)),
            None => Ok(outcome.results.into_iter().flat_map(|result| result.rows).collect()),
        }
    }

    fn session_of(&self, number: i64) -> Option<SessionId> {
        self.sessions.iter().find(|(_, known)| **known == number).map(|(id, _)| *id)
    }
}

impl Engine for H2Engine {
    fn info(&self) -> &EngineInfo {
        &self.info
    }

    fn reset(&mut self, setup: &[String]) -> Result<Vec<Outcome>, EngineError> {
        self.sessions.clear();
        if self.server.died().is_some() {
            self.renew()?;
        }
        // A statement that cannot be cancelled keeps its locks: only a new server is empty then.
        if self.ask("DROP ALL OBJECTS").is_err() {
            self.renew()?;
            self.ask("DROP ALL OBJECTS")?;
        }
        let mut outcomes = Vec::new();
        for message in setup {
            outcomes.push(self.execute(message)?);
            if outcomes.last().is_some_and(|outcome| outcome.error.is_some()) {
                break;
            }
        }
        // What a setup did to its connection is nobody else's business.
        self.control = None;
        Ok(outcomes)
    }

    fn open(&mut self, spec: &SessionSpec) -> Result<Box<dyn Session>, EngineError> {
        if spec.node.is_some() {
            let what = "several nodes".to_string();
            return Err(EngineError::new(&self.info.target, EngineErrorKind::Unsupported(what)));
        }
        let level = spec.level.as_ref().unwrap_or(&self.info.default_level);
        self.info.require_level(level)?;
        let (_, name) = LEVELS.iter().find(|(ours, _)| *ours == level.as_str()).expect("a level that it has");
        let session = H2Session::open(&self.info.target, &self.login, name)?;
        self.sessions.insert(spec.id, session.number());
        Ok(Box::new(session))
    }

    fn waits(&mut self, in_flight: &[SessionId]) -> Result<Waits, EngineError> {
        let rows = self.ask("SELECT SESSION_ID, BLOCKER_ID FROM INFORMATION_SCHEMA.SESSIONS WHERE BLOCKER_ID > 0")?;
        let mut edges: BTreeMap<SessionId, Vec<Holder>> = BTreeMap::new();
        for row in &rows {
            let (Ok(waiter), Ok(holder)) = (text(row, 0).parse(), text(row, 1).parse()) else { continue };
            let Some(waiter) = self.session_of(waiter).filter(|waiter| in_flight.contains(waiter)) else { continue };
            let outside = || Holder::Outside("another session".to_string());
            edges.entry(waiter).or_default().push(self.session_of(holder).map_or_else(outside, Holder::Session));
        }
        Ok(Waits { known: KnownWaits::Edges(edges), source: SOURCE })
    }

    fn snapshot(&mut self) -> Result<State, EngineError> {
        let tables = self.ask(
            "SELECT TABLE_SCHEMA, TABLE_NAME FROM INFORMATION_SCHEMA.TABLES \
             WHERE TABLE_TYPE = 'BASE TABLE' AND LOWER(TABLE_SCHEMA) NOT IN ('information_schema', 'pg_catalog') \
             ORDER BY 1, 2",
        )?;
        let mut state = State::default();
        for row in &tables {
            let (schema, table) = (text(row, 0), text(row, 1));
            let outcome = self.execute(&format!("SELECT * FROM {}.{}", quoted(&schema), quoted(&table)))?;
            if let Some(error) = &outcome.error {
                return Err(self.lost(&format!("read the table {table}"), error));
            }
            let mut result: StatementResult = outcome.results.into_iter().next().unwrap_or_default();
            result.rows.sort_unstable();
            result.tag = None;
            let is_usual = schema.eq_ignore_ascii_case("public");
            let name = if is_usual { table.to_lowercase() } else { format!("{schema}.{table}").to_lowercase() };
            state.tables.insert(name, result);
        }
        Ok(state)
    }

    fn probe(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        self.execute(sql)
    }

    fn death(&mut self) -> Option<Death> {
        if self.server.died().is_none() && self.execute("SELECT 1").is_err() {
            // It may be about to be gone.
            self.server.ends_within(DYING_LIMIT);
        }
        self.server.died()
    }

    fn fault(&mut self, fault: Fault) -> Result<(), EngineError> {
        let mended = self.server.fault(fault).map_err(|error| error.for_target(&self.info.target));
        if !matches!(mended, Ok(false)) {
            self.control = None;
            // It listens elsewhere now.
            self.login = login(&self.server);
        }
        mended.map(drop)
    }
}

fn login(server: &PrivateH2) -> Login {
    Login {
        address: Address::Tcp { host: "127.0.0.1".to_string(), port: server.port() },
        user: server.superuser().to_string(),
        password: Some(Password(server.password().to_string())),
        // It asks for the password as it is; nobody listens on the way to a server of this machine.
        security: Security { insecure_auth: true, ..Security::default() },
        database: server.database().to_string(),
        settings: Vec::new(),
        patience: None,
    }
}

/// A cell as text.
fn text(row: &Row, column: usize) -> String {
    let cell = row.get(column).and_then(Option::as_ref);
    cell.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
}

/// A name as SQL writes it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Why a session could not be opened.
fn unreachable(target: &str, error: &ConnectError) -> EngineError {
    EngineError::new(target, EngineErrorKind::Unreachable(format!("H2 does not let us in: {error}")))
}
