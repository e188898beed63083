//! The engine against a real server. Tests that can share a server do: one at a time.

mod borrowed;
mod death;
mod forgetting;
mod hostile;
mod tls;
mod waiting;
mod wire;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use txloom_core::case::SessionName;
use txloom_core::engine::{Engine, Holder, KnownWaits, Session, SessionId, SessionSpec, State};
use txloom_core::level::LevelName;
use txloom_core::outcome::{Outcome, StatementResult};

use super::super::testing::{InFlight, LIMIT, Shared, await_wait, ok, open_session, reset_engine, session};
use super::PostgresEngine;
use crate::servers::{PrivatePostgres, Programs, ServerOptions, ServerUser};

/// A server of the test's own, with extra settings. The variable `TXLOOM_TEST_POSTGRES` names the directory of another
/// PostgreSQL than the newest one that is installed.
fn private(extra: &[(&str, &str)]) -> PrivatePostgres {
    private_of(None, extra)
}

/// A private server that runs as that user.
fn private_of(user: Option<ServerUser>, extra: &[(&str, &str)]) -> PrivatePostgres {
    let extra = extra.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect();
    let programs = std::env::var_os("TXLOOM_TEST_POSTGRES").map_or(Programs::Newest, |dir| Programs::Dir(dir.into()));
    PrivatePostgres::start(&programs, ServerOptions { extra, user, ..ServerOptions::default() }).unwrap()
}

/// Takes the shared engine, and resets it to a setup.
fn shared(setup: &[&str]) -> Shared<PostgresEngine> {
    static ENGINE: Mutex<Option<PostgresEngine>> = Mutex::new(None);
    Shared::take(&ENGINE, || PostgresEngine::start_private("postgres", private(&[])).unwrap(), setup)
}

/// Resets the engine; every message of the setup must succeed.
fn reset(engine: &mut PostgresEngine, setup: &[&str]) {
    reset_engine(engine, setup);
}

/// Opens session number `n`.
fn open(engine: &mut PostgresEngine, n: usize) -> Box<dyn Session> {
    open_at(engine, n, None)
}

/// Opens session number `n` at a level. Its statements end within the limit of all tests.
fn open_at(engine: &mut PostgresEngine, n: usize, level: Option<&str>) -> Box<dyn Session> {
    let mut session = open_session(engine, n, level);
    ok(&mut session, &format!("SET statement_timeout = {}", LIMIT.as_millis()));
    session
}

/// Asks until the query returns no rows.
fn await_no_rows(engine: &mut PostgresEngine, query: &str) {
    let deadline = Instant::now() + LIMIT;
    while !engine.probe(query).unwrap().rows().unwrap().rows.is_empty() {
        assert!(Instant::now() < deadline, "{query}");
    }
}

/// The first cell of a result.
fn cell(outcome: &Outcome) -> String {
    let rows = &outcome.rows().expect("a result with rows").rows;
    rows.first().map_or(String::new(), |row| text(&row[0]))
}

fn text(cell: &Option<Vec<u8>>) -> String {
    cell.as_ref().map_or("NULL".to_string(), |bytes| String::from_utf8(bytes.clone()).unwrap())
}

/// A result as text: rows of cells, and the types of the columns.
fn show(result: &StatementResult) -> String {
    let types: Vec<&str> = result.columns.iter().map(|column| column.type_name.as_str()).collect();
    let rows = result.rows.iter().map(|row| row.iter().map(text).collect::<Vec<_>>().join(","));
    format!("{}: {}", types.join(","), rows.collect::<Vec<_>>().join(" | "))
}

/// A state as text, by table.
fn show_state(state: &State) -> BTreeMap<&str, String> {
    state.tables.iter().map(|(name, result)| (name.as_str(), show(result))).collect()
}

/// Asks until the session is listed as waiting; says for whom.
fn await_listed(engine: &mut PostgresEngine, in_flight: &[usize], waiter: usize) -> Vec<Holder> {
    await_wait(engine, in_flight, waiter).0
}
