//! What the tests of engines with servers share: an engine that is taken one test at a time, sessions on threads.

pub(super) mod certificates;

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use txloom_core::case::SessionName;
use txloom_core::engine::{Engine, Holder, KnownWaits, Session, SessionId, SessionSpec, Waits};
use txloom_core::level::LevelName;
use txloom_core::outcome::Outcome;

use crate::servers::testing;

/// How long anything in a test may take.
pub(super) const LIMIT: Duration = Duration::from_secs(120);

/// The engine that tests share.
pub(super) struct Shared<E: 'static>(MutexGuard<'static, Option<E>>);

impl<E: Engine> Shared<E> {
    /// Takes the engine, starting it if nobody has, and resets it to a setup.
    pub(super) fn take(engine: &'static Mutex<Option<E>>, start: impl FnOnce() -> E, setup: &[&str]) -> Shared<E> {
        // A test that failed leaves the engine as good as any other: it is reset anyway.
        let mut engine = Shared(engine.lock().unwrap_or_else(PoisonError::into_inner));
        if engine.0.is_none() {
            testing::sweep_up_after_us();
            *engine.0 = Some(start());
        }
        reset_engine(&mut *engine, setup);
        engine
    }
}

impl<E> Deref for Shared<E> {
    type Target = E;

    fn deref(&self) -> &E {
        self.0.as_ref().unwrap()
    }
}

impl<E> DerefMut for Shared<E> {
    fn deref_mut(&mut self) -> &mut E {
        self.0.as_mut().unwrap()
    }
}

/// Resets the engine; every message of the setup must succeed.
pub(super) fn reset_engine(engine: &mut dyn Engine, setup: &[&str]) {
    let setup: Vec<String> = setup.iter().map(|message| (*message).to_string()).collect();
    let outcomes = engine.reset(&setup).unwrap();
    assert_eq!(outcomes.len(), setup.len());
    for (message, outcome) in setup.iter().zip(&outcomes) {
        assert_eq!(outcome.error, None, "{message}");
    }
}

/// Opens session number `n`, at a level if one is given.
pub(super) fn open_session(engine: &mut dyn Engine, n: usize, level: Option<&str>) -> Box<dyn Session> {
    let name = SessionName::new(&format!("s{n}")).unwrap();
    let level = level.map(|level| LevelName::parse(level).unwrap());
    engine.open(&SessionSpec { id: SessionId(n), name, node: None, level }).unwrap()
}

/// Executes a statement that must succeed.
pub(super) fn ok(session: &mut Box<dyn Session>, sql: &str) -> Outcome {
    let outcome = session.execute(sql).unwrap();
    assert_eq!(outcome.error, None, "{sql}");
    outcome
}

/// A statement that is being executed on a thread of its own.
pub(super) struct InFlight(JoinHandle<(Box<dyn Session>, Outcome)>);

impl InFlight {
    pub(super) fn start(mut session: Box<dyn Session>, sql: &str) -> InFlight {
        let sql = sql.to_string();
        InFlight(std::thread::spawn(move || {
            let outcome = session.execute(&sql).unwrap();
            (session, outcome)
        }))
    }

    pub(super) fn is_over(&self) -> bool {
        self.0.is_finished()
    }

    pub(super) fn finish(self) -> (Box<dyn Session>, Outcome) {
        self.0.join().unwrap()
    }
}

/// Asks until the session is listed as waiting; says for whom, and where that is known from.
pub(super) fn await_wait(engine: &mut dyn Engine, in_flight: &[usize], waiter: usize) -> (Vec<Holder>, &'static str) {
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

/// Session number `n` as a holder.
pub(super) fn session(n: usize) -> Holder {
    Holder::Session(SessionId(n))
}
