//! The engine against a real server. Tests that can share a server do: one at a time.

mod borrowed;
mod death;
mod forgetting;
mod waiting;
mod wire;

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use txloom_core::case::SessionName;
use txloom_core::engine::{Engine, Holder, KnownWaits, Session, SessionId, SessionSpec, State};
use txloom_core::level::LevelName;
use txloom_core::outcome::{Outcome, StatementResult};

use super::PostgresEngine;
use crate::servers::{PrivatePostgres, Programs, ServerOptions, testing};

/// How long anything in a test may take.
const LIMIT: Duration = Duration::from_secs(20);

/// A server of the test's own, with extra settings. The variable `TXLOOM_TEST_POSTGRES` names the directory of another
/// PostgreSQL than the newest one that is installed.
fn private(extra: &[(&str, &str)]) -> PrivatePostgres {
    let extra = extra.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect();
    let programs = std::env::var_os("TXLOOM_TEST_POSTGRES").map_or(Programs::Newest, |dir| Programs::Dir(dir.into()));
    PrivatePostgres::start(&programs, ServerOptions { extra, ..ServerOptions::default() }).unwrap()
}

/// The engine that tests share.
struct Shared(MutexGuard<'static, Option<PostgresEngine>>);

/// Takes the shared engine, and resets it to a setup.
fn shared(setup: &[&str]) -> Shared {
    static ENGINE: Mutex<Option<PostgresEngine>> = Mutex::new(None);
    // A test that failed leaves the engine as good as any other: it is reset anyway.
    let mut engine = Shared(ENGINE.lock().unwrap_or_else(PoisonError::into_inner));
    if engine.0.is_none() {
        testing::sweep_up_after_us();
        *engine.0 = Some(PostgresEngine::start_private("postgres", private(&[])).unwrap());
    }
    reset(&mut engine, setup);
    engine
}

impl Deref for Shared {
    type Target = PostgresEngine;

    fn deref(&self) -> &PostgresEngine {
        self.0.as_ref().unwrap()
    }
}

impl DerefMut for Shared {
    fn deref_mut(&mut self) -> &mut PostgresEngine {
        self.0.as_mut().unwrap()
    }
}

/// Resets the engine; every message of the setup must succeed.
fn reset(engine: &mut PostgresEngine, setup: &[&str]) {
    let setup: Vec<String> = setup.iter().map(|message| (*message).to_string()).collect();
    let outcomes = engine.reset(&setup).unwrap();
    assert_eq!(outcomes.len(), setup.len());
    for (message, outcome) in setup.iter().zip(&outcomes) {
        assert_eq!(outcome.error, None, "{message}");
    }
}

/// Opens session number `n`.
fn open(engine: &mut PostgresEngine, n: usize) -> Box<dyn Session> {
    open_at(engine, n, None)
}

/// Opens session number `n` at a level. Its statements end within the limit of all tests.
fn open_at(engine: &mut PostgresEngine, n: usize, level: Option<&str>) -> Box<dyn Session> {
    let name = SessionName::new(&format!("s{n}")).unwrap();
    let level = level.map(|level| LevelName::parse(level).unwrap());
    let mut session = engine.open(&SessionSpec { id: SessionId(n), name, node: None, level }).unwrap();
    ok(&mut session, &format!("SET statement_timeout = {}", LIMIT.as_millis()));
    session
}

/// Executes a statement that must succeed.
fn ok(session: &mut Box<dyn Session>, sql: &str) -> Outcome {
    let outcome = session.execute(sql).unwrap();
    assert_eq!(outcome.error, None, "{sql}");
    outcome
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

/// A statement that is being executed on a thread of its own.
struct InFlight(JoinHandle<(Box<dyn Session>, Outcome)>);

impl InFlight {
    fn start(mut session: Box<dyn Session>, sql: &str) -> InFlight {
        let sql = sql.to_string();
        InFlight(std::thread::spawn(move || {
            let outcome = session.execute(&sql).unwrap();
            (session, outcome)
        }))
    }

    fn is_over(&self) -> bool {
        self.0.is_finished()
    }

    fn finish(self) -> (Box<dyn Session>, Outcome) {
        self.0.join().unwrap()
    }
}

/// Asks until the session is listed as waiting; says for whom.
fn await_listed(engine: &mut PostgresEngine, in_flight: &[usize], waiter: usize) -> Vec<Holder> {
    let in_flight: Vec<SessionId> = in_flight.iter().copied().map(SessionId).collect();
    let deadline = Instant::now() + LIMIT;
    loop {
        let KnownWaits::Edges(edges) = engine.waits(&in_flight).unwrap().known else { panic!("only a count") };
        if let Some(holders) = edges.get(&SessionId(waiter)) {
            return holders.clone();
        }
        assert!(Instant::now() < deadline, "s{waiter} is not listed: {edges:?}");
        std::thread::yield_now();
    }
}

fn session(n: usize) -> Holder {
    Holder::Session(SessionId(n))
}
