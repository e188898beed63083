//! The engine against a real MariaDB. Tests that can share a server do: one at a time.

mod borrowed;
mod fake;
mod forgetting;
mod trouble;
mod waiting;
mod wire;

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use txloom_core::case::SessionName;
use txloom_core::dialect::{Dialect, MySql};
use txloom_core::engine::{Engine, Holder, KnownWaits, Session, SessionId, SessionSpec, Waits};
use txloom_core::level::LevelName;
use txloom_core::outcome::{Outcome, StatementResult};

use super::MySqlEngine;
use crate::servers::mysql::Product;
use crate::servers::{PrivateMySql, Programs, ServerOptions, testing};

/// How long anything in a test may take.
const LIMIT: Duration = Duration::from_secs(30);

/// A server of the test's own, with extra settings.
fn private(extra: &[(&str, &str)]) -> PrivateMySql {
    let extra = extra.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect();
    PrivateMySql::start(Product::MariaDb, &Programs::Newest, ServerOptions { extra, keep: false }).unwrap()
}

/// The engine that tests share.
struct Shared(MutexGuard<'static, Option<MySqlEngine>>);

/// Takes the shared engine, and resets it to a setup.
fn shared(setup: &[&str]) -> Shared {
    static ENGINE: Mutex<Option<MySqlEngine>> = Mutex::new(None);
    // A test that failed leaves the engine as good as any other: it is reset anyway.
    let mut engine = Shared(ENGINE.lock().unwrap_or_else(PoisonError::into_inner));
    if engine.0.is_none() {
        testing::sweep_up_after_us();
        *engine.0 = Some(MySqlEngine::start_private("mariadb", private(&[])).unwrap());
    }
    reset(&mut engine, setup);
    engine
}

impl Deref for Shared {
    type Target = MySqlEngine;

    fn deref(&self) -> &MySqlEngine {
        self.0.as_ref().unwrap()
    }
}

impl DerefMut for Shared {
    fn deref_mut(&mut self) -> &mut MySqlEngine {
        self.0.as_mut().unwrap()
    }
}

/// Resets the engine; every message of the setup must succeed.
fn reset(engine: &mut MySqlEngine, setup: &[&str]) {
    let setup: Vec<String> = setup.iter().map(|message| (*message).to_string()).collect();
    let outcomes = engine.reset(&setup).unwrap();
    assert_eq!(outcomes.len(), setup.len());
    for (message, outcome) in setup.iter().zip(&outcomes) {
        assert_eq!(outcome.error, None, "{message}");
    }
}

/// Opens session number `n`.
fn open(engine: &mut MySqlEngine, n: usize) -> Box<dyn Session> {
    open_at(engine, n, None)
}

/// Opens session number `n` at a level.
fn open_at(engine: &mut MySqlEngine, n: usize, level: Option<&str>) -> Box<dyn Session> {
    let name = SessionName::new(&format!("s{n}")).unwrap();
    let level = level.map(|level| LevelName::parse(level).unwrap());
    engine.open(&SessionSpec { id: SessionId(n), name, node: None, level }).unwrap()
}

/// Executes a statement that must succeed.
fn ok(session: &mut Box<dyn Session>, sql: &str) -> Outcome {
    let outcome = session.execute(sql).unwrap();
    assert_eq!(outcome.error, None, "{sql}");
    outcome
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

    fn finish(self) -> (Box<dyn Session>, Outcome) {
        self.0.join().unwrap()
    }
}

/// Asks until the session is listed as waiting; says for whom, and where that is known from.
fn await_listed(engine: &mut MySqlEngine, in_flight: &[usize], waiter: usize) -> (Vec<Holder>, &'static str) {
    let in_flight: Vec<SessionId> = in_flight.iter().copied().map(SessionId).collect();
    let deadline = Instant::now() + LIMIT;
    loop {
        let Waits { known: KnownWaits::Edges(edges), source } = engine.waits(&in_flight).unwrap() else {
            panic!("only a count")
        };
        if let Some(holders) = edges.get(&SessionId(waiter)) {
            return (holders.clone(), source);
        }
        assert!(Instant::now() < deadline, "s{waiter} is not listed: {edges:?}");
        std::thread::yield_now();
    }
}

fn session(n: usize) -> Holder {
    Holder::Session(SessionId(n))
}
