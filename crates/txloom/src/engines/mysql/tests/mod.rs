//! The engine against a real MariaDB. Tests that can share a server do: one at a time.

mod borrowed;
mod fake;
mod forgetting;
mod hostile;
mod tls;
mod trouble;
mod waiting;
mod wire;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use txloom_core::case::SessionName;
use txloom_core::dialect::{Dialect, MySql};
use txloom_core::engine::{Engine, Holder, KnownWaits, Session, SessionId, SessionSpec};
use txloom_core::level::LevelName;
use txloom_core::outcome::{Outcome, StatementResult};

use super::super::testing::{InFlight, LIMIT, Shared, await_wait, ok, open_session, reset_engine, session};
use super::MySqlEngine;
use crate::servers::mysql::Product;
use crate::servers::{PrivateMySql, Programs, ServerOptions, ServerUser, testing};

/// A server of the test's own, with extra settings.
fn private(extra: &[(&str, &str)]) -> PrivateMySql {
    private_of(None, extra)
}

/// A private server that runs as that user.
fn private_of(user: Option<ServerUser>, extra: &[(&str, &str)]) -> PrivateMySql {
    let extra = extra.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect();
    PrivateMySql::start(Product::MariaDb, &Programs::Newest, ServerOptions { extra, user, ..ServerOptions::default() })
        .unwrap()
}

/// Takes the shared engine, and resets it to a setup.
fn shared(setup: &[&str]) -> Shared<MySqlEngine> {
    static ENGINE: Mutex<Option<MySqlEngine>> = Mutex::new(None);
    Shared::take(&ENGINE, || MySqlEngine::start_private("mariadb", private(&[])).unwrap(), setup)
}

/// Resets the engine; every message of the setup must succeed.
fn reset(engine: &mut MySqlEngine, setup: &[&str]) {
    reset_engine(engine, setup);
}

/// Opens session number `n`.
fn open(engine: &mut MySqlEngine, n: usize) -> Box<dyn Session> {
    open_session(engine, n, None)
}

/// Opens session number `n` at a level.
fn open_at(engine: &mut MySqlEngine, n: usize, level: Option<&str>) -> Box<dyn Session> {
    open_session(engine, n, level)
}

/// The rows of a result as a case writes them: `(1, 'a') (2, NULL)`.
fn show(result: &StatementResult) -> String {
    txloom_core::case::expect::print_rows(&MySql.values(result))
}

/// The rows of an outcome.
fn rows(outcome: &Outcome) -> String {
    outcome.rows().map_or(String::new(), show)
}

/// The committed rows of all tables.
fn state(engine: &mut MySqlEngine) -> BTreeMap<String, String> {
    engine.snapshot().unwrap().tables.iter().map(|(name, result)| (name.clone(), show(result))).collect()
}

/// Asks until the session is listed as waiting; says for whom, and where that is known from.
fn await_listed(engine: &mut MySqlEngine, in_flight: &[usize], waiter: usize) -> (Vec<Holder>, &'static str) {
    await_wait(engine, in_flight, waiter)
}
