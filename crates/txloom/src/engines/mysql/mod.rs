//! MariaDB and MySQL: a private server of our own, or a database of our own on a server that is running already.
//!
//! ```text
//!   executor's thread ── monitor ──→ who waits for whom? and: end this statement
//!                     ── control ──→ resets, snapshots, assertions
//!                     ── keeper  ──→ setups; then it holds a read view, so that purge does nothing during the case
//!   session threads   ── one connection each
//! ```
//!
//! In reading order: `packet`, `auth` with `rsa`, `connection`, `answer`, `types` and `classify`
//! speak the protocol; `session` holds the connections of a case; `monitor`, `innodb`, `metadata` and `waits`
//! watch them; `reach`, `layout`, `reset`, `load` and `snapshot` begin and end a case; `url` and `explain` are for
//! people. [`ring`] makes a cluster of several.
//!
//! # Quiet InnoDB
//!
//! A transaction that deletes a row only marks it; *purge* removes it some time after nobody can see it any more. A
//! locking read of the deleted key locks the marked row as long as it is there, and the gap when it is gone: whether
//! a second one waits depends on when purge came by. So before a case purge has nothing left to do, and during it purge
//! may not do anything:
//!
//! ```text
//!   reset: setup ── history empty? ── keeper: START TRANSACTION WITH CONSISTENT SNAPSHOT
//!   case:                                │  DELETE … COMMIT … (marked rows stay)           │
//!   next reset:                          └─────────────────────── keeper: reset ───────────┘
//! ```
//!
//! **What is ours.** On a private server everything is. On any other, one database `txloom_…` that we create and drop,
//! and our own connections: no global setting, no account, no other database is touched.
//!
//! **Limits.** InnoDB alone is made quiet; other storage engines are as they are.

mod packet;
mod auth;
mod types;
mod classify;
mod answer;
mod connection;
mod url;
mod monitor;
mod reach;
mod session;
mod circles;
mod innodb;
mod metadata;
mod waits;
mod layout;
mod reset;
mod snapshot;
mod load;
mod explain;
mod borrowed;
mod engine;
pub mod ring;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use txloom_core::dialect;
use txloom_core::engine::{Capabilities, EngineError, EngineErrorKind, EngineInfo, SessionId, Version};
use txloom_core::level::LevelName;

use self::connection::{Connection, Login, text};
use self::layout::Layout;
use self::monitor::Monitor;
use self::session::{Progress, Shared};
use self::waits::Watch;
use super::access::{AccessOptions, AccessReport};
use super::guard::StatementGuard;
use super::wire::limits::sessions_max;
use super::wire::owner::DatabaseOwner;
use super::wire::security::Security;
use super::wire::stream::Address;
use crate::servers::PrivateMySql;

/// The levels that sessions may ask for, weakest first.
const LEVELS: &[&str] = &["read uncommitted", "read committed", "repeatable read", "serializable"];

/// How long a statement of the engine's own may take: a setup, an assertion, a snapshot.
const CONTROL_LIMIT: Duration = Duration::from_secs(30);

/// How long a question of the monitor may take. It waits for nobody, so a server that takes longer does not answer.
const MONITOR_LIMIT: Duration = Duration::from_secs(5);

/// What the engine itself does at a server that replicates is its own business.
const UNLOGGED: &str = "SET SESSION sql_log_bin = 0";

/// The database of the cases on a private server: the one that bug reports use.
const PRIVATE_DATABASE: &str = "test";

/// MariaDB or MySQL as a target.
pub struct MySqlEngine {
    info: EngineInfo,
    /// How sessions log in.
    login: Login,
    database: String,
    shared: Arc<Shared>,
    watch: Watch,
    /// Resets, snapshots, assertions. Opened when it is needed.
    control: Option<Connection>,
    /// Setups, and the read view that keeps purge away. Opened when it is needed.
    keeper: Option<Connection>,
    sessions: BTreeMap<SessionId, Opened>,
    layout: Option<Layout>,
    /// Looks at what cases say before it is sent.
    guard: Arc<StatementGuard>,
    /// How many sessions may be open at once.
    sessions_max: Option<u32>,
    /// Whether the server replicates, and what the engine itself does must not be part of that.
    is_member: bool,
    /// Dropped last.
    home: Home,
}

/// Where the cases run.
enum Home {
    /// A server of our own.
    Private(Box<PrivateMySql>),
    /// A database of our own.
    Borrowed,
}

/// A session that was opened since the last reset.
struct Opened {
    connection: u32,
    progress: Arc<Progress>,
}

impl MySqlEngine {
    /// The engine of a private server, which it stops when it is dropped.
    pub fn start_private(target: &str, server: PrivateMySql) -> Result<MySqlEngine, EngineError> {
        let login = Login {
            address: Address::Private(server.socket()),
            user: server.superuser().to_string(),
            password: None,
            security: Security::default(),
            database: None,
            patience: None,
            gives_files: false,
        };
        MySqlEngine::assemble(target, login, PRIVATE_DATABASE.to_string(), Home::Private(Box::new(server)))
    }

    /// What the user of a URL can do on the server.
    pub fn examine_access(
        target: &str,
        url: &str,
        access: &AccessOptions,
        sweeps: bool,
    ) -> Result<AccessReport, EngineError> {
        let login = limited(&entry_login(target, url, access)?, CONTROL_LIMIT);
        let entry = Connection::open(&login).map_err(|error| explain::unreachable(target, &login, &error));
        Ok(borrowed::examine(&login.user, &mut entry?, sweeps))
    }

    /// The engine of a running server, `mysql://user:password@host:port/?…`. It creates a database of its own, works
    /// only there, and drops it in the end.
    pub fn connect(target: &str, url: &str, access: &AccessOptions) -> Result<MySqlEngine, EngineError> {
        let target = &super::target::mask_password(target);
        let login = entry_login(target, url, access)?;
        let database = DatabaseOwner::this_process().new_name();
        let guard = if access.allow_server_changes { StatementGuard::open() } else { StatementGuard::mysql(&database) };
        let mut entry = Connection::open(&limited(&login, CONTROL_LIMIT))
            .map_err(|error| explain::unreachable(target, &login, &error))?;
        borrowed::check_role(target, &login, &mut entry, access)?;
        borrowed::sweep(&mut entry);
        let left = borrowed::connections_left(&mut entry);
        drop(entry);
        let mut engine = MySqlEngine::assemble(target, login, database, Home::Borrowed)?;
        (engine.guard, engine.sessions_max) = (Arc::new(guard), sessions_max(access, left));
        Ok(engine)
    }

    fn assemble(target: &str, login: Login, database: String, home: Home) -> Result<MySqlEngine, EngineError> {
        let probe = Connection::open(&limited(&login, CONTROL_LIMIT));
        let mut probe = probe.map_err(|error| explain::unreachable(target, &login, &error))?;
        let version = Version::parse(probe.server_version());
        let family = family(&mut probe);
        let monitor = Monitor::new(limited(&login, MONITOR_LIMIT));
        let is_late = family == "mariadb" && version.numbers >= vec![10, 6];
        let watch = Watch::new(&monitor, is_late);
        let watch =
            watch.map_err(|error| explain::unanswered(target, "find out how the server tells waits", &error))?;
        let info = EngineInfo {
            target: target.to_string(),
            family,
            version,
            settings: settings(&mut probe),
            dialect: &dialect::MySql,
            levels: LEVELS.iter().map(|level| LevelName::custom(level)).collect(),
            default_level: default_level(&mut probe),
            capabilities: match &home {
                Home::Private(server) => {
                    Capabilities { kill: true, small_disk: server.has_small_disk(), ..Capabilities::default() }
                }
                Home::Borrowed => Capabilities::default(),
            },
            client: match &home {
                Home::Private(server) => Some(server.client()),
                Home::Borrowed => None,
            },
        };
        let mut engine = MySqlEngine {
            info,
            login: Login { database: Some(database.clone()), ..login },
            database,
            shared: Arc::new(Shared::new(target, monitor)),
            watch,
            control: None,
            keeper: None,
            sessions: BTreeMap::new(),
            layout: None,
            guard: Arc::new(StatementGuard::open()),
            sessions_max: None,
            is_member: false,
            home,
        };
        engine.create_database()?;
        Ok(engine)
    }

    fn is_private(&self) -> bool {
        matches!(self.home, Home::Private(_))
    }
}

impl Drop for MySqlEngine {
    fn drop(&mut self) {
        if !self.is_private() {
            // Nobody is there to be told. What cannot be dropped has our name on it.
            let _ = self.drop_own_database();
        }
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
        database: None,
        patience: None,
        gives_files: false,
    })
}

/// The same login for a connection of the engine's own, whose statements must end.
fn limited(login: &Login, limit: Duration) -> Login {
    Login { patience: Some(limit), database: None, ..login.clone() }
}

/// The family, as guards and the table of guarantees name it. Others speak MySQL's protocol, too, with other guarantees.
fn family(connection: &mut Connection) -> &'static str {
    let comment = single_value(connection, "SELECT CONCAT(VERSION(), ' ', @@version_comment)").unwrap_or_default();
    let says = |name: &str| comment.contains(name) || connection.server_version().contains(name);
    let others = [("TiDB", "tidb"), ("OceanBase", "oceanbase"), ("MariaDB", "mariadb")];
    others.iter().find(|(name, _)| says(name)).map_or("mysql", |(_, family)| family)
}

/// The level of a session that asks for none. The variable's name depends on product and version.
fn default_level(connection: &mut Connection) -> LevelName {
    let names = ["tx_isolation", "transaction_isolation"];
    let found = names.iter().find_map(|name| global_variable(connection, name));
    LevelName::custom(found.as_deref().unwrap_or("repeatable read"))
}

/// The settings that decide what levels are worth.
fn settings(connection: &mut Connection) -> Vec<String> {
    let names = ["innodb_snapshot_isolation"];
    let setting = |name: &str| Some(format!("{name}={}", global_variable(connection, name)?));
    names.map(setting).into_iter().flatten().collect()
}

/// A variable of the server; `None` if it has none of that name.
fn global_variable(connection: &mut Connection, name: &str) -> Option<String> {
    let outcome = connection.execute(&format!("SHOW GLOBAL VARIABLES LIKE '{name}'")).ok()?;
    let row = outcome.rows()?.rows.first()?;
    Some(text(row, 1).to_string())
}

fn single_value(connection: &mut Connection, sql: &str) -> Option<String> {
    let outcome = connection.execute(sql).ok()?;
    let row = outcome.rows()?.rows.first()?;
    Some(text(row, 0).to_string())
}

/// A name as SQL writes it.
fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
