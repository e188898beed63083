//! Planted bugs for any engine: a wrapper that executes something else than it was asked, or answers something else.
//!
//! The bugs of `model` break rules of isolation. Many bugs of databases are of another kind: an UPDATE reaches a row
//! too many, an aggregate is wrong, an error is not reported, the server dies. They need no access to the engine's
//! inside. [`Planted`] stands between the executor and an engine, and each of its sessions passes every statement
//! through the bugs that were asked for, in that order:
//!
//! ```text
//!   executor ──"UPDATE t SET v = 0 WHERE id = 1"──→ extra-row ──→ … ──→ session of the engine
//!                                                       │   hidden: SELECT id FROM t WHERE (id = 1) IS NOT TRUE …
//!                                                       └─→ UPDATE t SET v = 0 WHERE (id = 1) OR (id = 7)
//! ```
//!
//! A bug (`Defect`) is one function: it is given the statement and what lies below it, and returns an outcome. What it
//! may look at is only what a session knows (`View`): the transaction so far, whether others have one open, the keys of
//! the setup. So one case on one engine still gives one trace.
//!
//! * `rows`: *extra-row*, *missing-row*
//! * `aggregate`: *wrong-aggregate*
//! * `errors`: *missing-error*, *unexpected-error*
//! * `crash`: *crash*
//!
//! # When they strike
//!
//! Inside transactions only, so that a statement on its own shows what would have been right. Those that change what is
//! stored or refuse to store it (`extra-row`, `missing-row`, `unexpected-error`) strike only while another transaction
//! is open, as the bugs of `model` do: then a serial execution is right, too.
//!
//! # Limits
//!
//! Only messages of a single statement are meddled with. A hidden query is executed in the session's transaction: on
//! engines whose transactions take their snapshot by their first read (InnoDB at repeatable read) it may take it a
//! statement earlier. A crash is played, not done: a private server would take a second to start again, and a server
//! that is not ours must not be killed. All sessions are lost, what is open is rolled back, the next reset revives the
//! target.

mod aggregate;
mod crash;
mod errors;
mod rows;
mod session;
mod world;

use std::sync::Arc;

use txloom_core::bulk::Bulk;
use txloom_core::case::Event;
use txloom_core::engine::{
    Death, Engine, EngineError, EngineErrorKind, EngineInfo, Fault, Session, SessionId, SessionSpec, State, Waits,
};
use txloom_core::outcome::Outcome;
use txloom_core::planted::PlantedBug;

use session::{Below, PlantedSession, View};
use world::World;

/// A bug: what it makes of a statement.
trait Defect: Sync {
    /// Executes a statement, one way or another. A healthy engine would just say `below.execute(sql)`.
    fn execute(&self, sql: &str, view: &View<'_>, below: &mut Below<'_>) -> Result<Outcome, EngineError>;
}

/// The bugs by their names. What they do stands in [`txloom_core::planted::ALL`].
const DEFECTS: &[(&str, &'static dyn Defect)] = &[
    ("crash", &crash::Crash),
    ("extra-row", &rows::ExtraRow),
    ("missing-error", &errors::MissingError),
    ("missing-row", &rows::MissingRow),
    ("unexpected-error", &errors::UnexpectedError),
    ("wrong-aggregate", &aggregate::WrongAggregate),
];

/// An engine with planted bugs.
pub struct Planted {
    inner: Box<dyn Engine>,
    defects: Arc<[&'static dyn Defect]>,
    world: Arc<World>,
}

impl Planted {
    /// Plants bugs in an engine. Bugs that are none of any engine's are the engine's own business.
    pub fn new(inner: Box<dyn Engine>, bugs: &[&'static PlantedBug]) -> Planted {
        let find = |bug: &&PlantedBug| DEFECTS.iter().find(|(name, _)| *name == bug.name).map(|(_, defect)| *defect);
        Planted { inner, defects: bugs.iter().filter_map(find).collect(), world: Arc::default() }
    }

    fn require_alive(&self) -> Result<(), EngineError> {
        match self.world.death() {
            None => Ok(()),
            Some(death) => Err(EngineError::new(&self.info().target, EngineErrorKind::Lost(death.to_string()))),
        }
    }
}

impl Engine for Planted {
    fn info(&self) -> &EngineInfo {
        self.inner.info()
    }

    fn reset(&mut self, setup: &[String]) -> Result<Vec<Outcome>, EngineError> {
        self.world = Arc::new(World::new(setup));
        self.inner.reset(setup)
    }

    fn load(&mut self, bulk: &dyn Bulk, threads: usize) -> Result<u64, EngineError> {
        self.require_alive()?;
        self.inner.load(bulk, threads)
    }

    fn open(&mut self, spec: &SessionSpec) -> Result<Box<dyn Session>, EngineError> {
        self.require_alive()?;
        let inner = self.inner.open(spec)?;
        self.world.join(spec.id, inner.canceller());
        let (defects, world) = (Arc::clone(&self.defects), Arc::clone(&self.world));
        Ok(Box::new(PlantedSession::new(spec.id, inner, self.inner.info().dialect, defects, world)))
    }

    fn waits(&mut self, in_flight: &[SessionId]) -> Result<Waits, EngineError> {
        self.inner.waits(in_flight)
    }

    fn snapshot(&mut self) -> Result<State, EngineError> {
        self.require_alive()?;
        self.inner.snapshot()
    }

    fn probe(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        self.require_alive()?;
        self.inner.probe(sql)
    }

    fn death(&mut self) -> Option<Death> {
        self.world.death().or_else(|| self.inner.death())
    }

    fn alarms(&mut self) -> Vec<String> {
        self.inner.alarms()
    }

    fn event(&mut self, event: &Event) -> Result<(), EngineError> {
        self.require_alive()?;
        self.inner.event(event)
    }

    fn fault(&mut self, fault: Fault) -> Result<(), EngineError> {
        self.require_alive()?;
        self.inner.fault(fault)
    }
}

#[cfg(test)]
#[cfg(feature = "sqlite")]
mod tests;
