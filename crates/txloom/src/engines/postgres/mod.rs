//! PostgreSQL: a private server of our own, or a database of our own on a server that is running already.
//!
//! ```text
//!   executor's thread ── control ──→ resets, setups, snapshots, assertions
//!                     ── monitor ──→ who waits for whom? (asked by session threads, too: what is this type called?)
//!   session threads   ── one connection each, which knows nothing of earlier sessions
//! ```
//!
//! In reading order: `stream`, `auth`, `connection`, `answer` and `classify` speak the protocol; `session` and `idle`
//! hold the connections of a case; `monitor`, `types` and `waits` watch them; `reset`, `snapshot` and `load` are what their
//! names say; `url`, `explain` and `borrowed` are for servers that are not ours; `engine` puts it together.
//!
//! **What is ours.** On a private server everything is. On any other, one database `txloom_…` that we create and drop,
//! and our own connections: no global setting, no role, no other database is touched.

mod url;

mod auth;
pub(super) mod connection;
mod answer;
mod classify;
mod explain;
mod session;
mod idle;
mod monitor;
pub(super) mod types;
mod waits;
mod reset;
mod snapshot;
mod load;
mod borrowed;
mod engine;
pub mod isolation;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use txloom_core::dialect;
use txloom_core::engine::{Capabilities, EngineError, EngineErrorKind, EngineInfo, SessionId, Version};
use txloom_core::level::LevelName;

use self::borrowed::ScratchDatabase;
use self::connection::{Connection, Login};
use self::idle::Idle;
use self::monitor::Monitor;
use self::session::Endings;
use self::types::TypeNames;
use self::waits::Settling;
use super::access::{AccessOptions, AccessReport};
use super::guard::StatementGuard;
use super::wire::limits::sessions_max;
use super::wire::security::Security;
use super::wire::stream::Address;
use crate::servers::PrivatePostgres;

/// The levels that sessions may ask for, weakest first.
const LEVELS: &[&str] = &["read uncommitted", "read committed", "repeatable read", "serializable"];

/// How long a statement of the engine's own may take: a setup, an assertion, a snapshot.
const CONTROL_LIMIT: Duration = Duration::from_secs(30);

/// How long a question of the monitor may take.
const MONITOR_LIMIT: Duration = Duration::from_secs(10);

/// How much longer than its limit a statement may take until its connection counts as lost.
const GRACE: Duration = Duration::from_secs(10);

/// The `deadlock_timeout` of our own sessions on a server that is not ours, where we may choose it.
const BORROWED_DEADLOCK_TIMEOUT: Duration = Duration::from_millis(5);

/// PostgreSQL as a target.
pub struct PostgresEngine {
    info: EngineInfo,
    major: u32,
    session_login: Login,
    control_login: Login,
    /// Resets, setups, snapshots, assertions. Opened when it is needed.
    control: Option<Connection>,
    monitor: Arc<Monitor>,
    types: Arc<TypeNames>,
    settling: Settling,
    idle: Arc<Idle>,
    /// Whether the last setup changed what logins find.
    idle_tainted: bool,
    endings: Arc<Endings>,
    sessions: BTreeMap<SessionId, Opened>,
    /// Looks at what cases say before it is sent.
    guard: Arc<StatementGuard>,
    /// How many sessions may be open at once.
    sessions_max: Option<u32>,
    cases_since_vacuum: u32,
    cases_since_login: u32,
    /// Dropped last.
    home: Home,
}

/// Where the cases run.
enum Home {
    /// A server of our own.
    Private(PrivatePostgres),
    /// A database of our own.
    Borrowed(ScratchDatabase),
}

/// A session that was opened since the last reset.
struct Opened {
    pid: i32,
    /// Set by the session when it finds its connection gone.
    lost: Arc<AtomicBool>,
}

impl PostgresEngine {
    /// The engine of a private server, which it stops when it is dropped.
    pub fn start_private(target: &str, server: PrivatePostgres) -> Result<PostgresEngine, EngineError> {
        let login = Login {
            address: Address::Private(server.socket()),
            user: server.superuser().to_string(),
            password: None,
            security: Security::default(),
            database: "postgres".to_string(),
            settings: vec![("application_name", "txloom".to_string())],
            patience: None,
        };
        let log = server.log_path();
        PostgresEngine::assemble(target, login, Home::Private(server), |major| {
            Settling::by_log(&log, major).map_err(|error| {
                let why = format!("cannot read the server's log {}: {error}", log.display());
                EngineError::new(target, EngineErrorKind::Protocol(why))
            })
        })
    }

    /// What the user of a URL can do on the server.
    pub fn examine_access(
        target: &str,
        url: &str,
        access: &AccessOptions,
        sweeps: bool,
    ) -> Result<AccessReport, EngineError> {
        let login = entry_login(target, url, access)?;
        ScratchDatabase::examine(target, limited(&login, CONTROL_LIMIT), sweeps)
    }

    /// The engine of a running server, `postgres://user:password@host:port/database?…`. It creates a database of its
    /// own, works only there, and drops it in the end.
    pub fn connect(target: &str, url: &str, access: &AccessOptions) -> Result<PostgresEngine, EngineError> {
        let target = &super::target::mask_password(target);
        let login = entry_login(target, url, access)?;
        let mut database = ScratchDatabase::create(target, limited(&login, CONTROL_LIMIT), access)?;
        let mut login = Login { database: database.name().to_string(), ..login };
        let chosen = format!("{}ms", BORROWED_DEADLOCK_TIMEOUT.as_millis());
        let deadlock_timeout = if database.may_set("deadlock_timeout", &chosen)? {
            login = login.with("deadlock_timeout", chosen);
            BORROWED_DEADLOCK_TIMEOUT
        } else {
            let milliseconds = database.setting("deadlock_timeout")?.and_then(|setting| setting.parse().ok());
            Duration::from_millis(milliseconds.unwrap_or(1000))
        };
        let settling = Settling::by_clock(deadlock_timeout);
        let guard = if access.allow_server_changes {
            StatementGuard::open()
        } else {
            StatementGuard::postgres(database.name())
        };
        let sessions_max = sessions_max(access, database.connections_left()?);
        let mut engine = PostgresEngine::assemble(target, login, Home::Borrowed(database), |_| Ok(settling))?;
        (engine.guard, engine.sessions_max) = (Arc::new(guard), sessions_max);
        Ok(engine)
    }

    /// The engine of a server that is there. `login` is that of the sessions.
    fn assemble(
        target: &str,
        login: Login,
        home: Home,
        settling: impl FnOnce(u32) -> Result<Settling, EngineError>,
    ) -> Result<PostgresEngine, EngineError> {
        let control_login = limited(&login, CONTROL_LIMIT);
        let control = Connection::open(&control_login).map_err(|error| explain::unreachable(target, &login, &error))?;
        let version = Version::parse(control.server_version());
        let major = major_version(control.server_version());
        let is_private = matches!(home, Home::Private(_));
        let leftovers = reset::leftovers_question(major, is_private);
        let monitor = Arc::new(Monitor::new(limited(&login, MONITOR_LIMIT), major, &leftovers));
        monitor.waits(&[]).map_err(|error| explain::unwatchable(target, &error))?;
        Ok(PostgresEngine {
            info: EngineInfo {
                target: target.to_string(),
                family: "postgres",
                version,
                settings: Vec::new(),
                dialect: &dialect::Postgres,
                levels: LEVELS.iter().map(|level| LevelName::custom(level)).collect(),
                default_level: LevelName::custom("read committed"),
                capabilities: Capabilities {
                    kill: is_private,
                    small_disk: matches!(&home, Home::Private(server) if server.has_small_disk()),
                    overtaking: true,
                    ..Capabilities::default()
                },
                client: match &home {
                    Home::Private(server) => Some(server.client()),
                    Home::Borrowed(_) => None,
                },
            },
            major,
            settling: settling(major)?,
            control: Some(control),
            control_login,
            types: Arc::new(TypeNames::new(Arc::clone(&monitor))),
            monitor,
            idle: Arc::new(Idle::new(login.clone())),
            idle_tainted: false,
            session_login: login,
            endings: Arc::default(),
            sessions: BTreeMap::new(),
            guard: Arc::new(StatementGuard::open()),
            sessions_max: None,
            cases_since_vacuum: 0,
            cases_since_login: 0,
            home,
        })
    }
}

/// How a URL says to log in.
fn entry_login(target: &str, url: &str, access: &AccessOptions) -> Result<Login, EngineError> {
    let url = url::parse(url, &|name| std::env::var(name).ok());
    let url = url.map_err(|why| EngineError::new(target, EngineErrorKind::Unreachable(why)))?;
    Ok(Login {
        address: url.address,
        user: url.user,
        password: access.password.clone().or(url.password),
        security: Security { insecure_auth: access.insecure_auth, ..url.security },
        database: url.database,
        settings: vec![("application_name", "txloom".to_string())],
        patience: None,
    })
}

/// The same login for a connection of the engine's own, whose statements must end.
fn limited(login: &Login, limit: Duration) -> Login {
    let login = Login { patience: Some(limit + GRACE), ..login.clone() };
    login.with("statement_timeout", limit.as_millis())
}

/// `15` of `15.18 (Debian …)`; 0 if the server does not say.
fn major_version(server_version: &str) -> u32 {
    Version::parse(server_version).numbers.first().copied().unwrap_or(0)
}
