//! Replicas: a small, weakly consistent, replicated database, whose network is scripted.
//!
//! Is an application safe on a store that answers at once, at the nearest node, and lets the others know later? The
//! anomalies of such stores depend on who knew what when, which no real cluster lets one choose. Here every delivery is an
//! event of the case: an anomaly that exists is shown in one run, and shown again in the next.
//!
//! ```text
//!   node 1   a: SELECT v → 10                    a: UPDATE v = 11           knows 1: v = 11    ┐
//!      ╳ partition                                                                             │ heal: both know both,
//!   node 2                   b: SELECT v → 10                 b: UPDATE …   knows 2: v = 12    ┘ and the later one wins
//! ```
//!
//! The semantics are those of CLOTHO's abstract store (Rahmani et al., OOPSLA 2019, section 3): an execution is a set of
//! effects, a visibility relation (which effects a statement saw) and an arbitration order (which of two wins).
//!
//! * **Each node has a full copy**, an in-memory database of SQLite's. A statement is executed at once at its session's
//!   node, on what that node knows; nobody ever waits, and `FOR UPDATE` locks nothing. `node`
//! * **A write statement is a set of effects**, per row and column: UPDATE writes the columns that it assigns, also where
//!   the value stays the same; INSERT writes all columns, and that the row is alive; DELETE writes that it is not. A change
//!   of a primary key is a deletion and an insertion. `capture`, `effects`
//! * **Arbitration is the order of execution**, over all nodes. What a node shows is the fold of the effects that it knows
//!   in that order, whatever the order of their arrival: the last writer wins, column by column. So nodes that know the
//!   same show the same. `log`
//! * **Visibility is scripted.** At first all nodes are connected, and what one writes all others know at once.
//!   `@partition 1|2,3` cuts: from then on only the nodes of a group know at once. `@deliver 1>2` lets node 2 know
//!   everything that node 1 knows, `@deliver 1>2 #3` what the third write statement at node 1 did and nothing else. `@heal`
//!   connects all, and delivers everything. `nodes`, `world`
//! * **There is no isolation.** BEGIN and COMMIT are accepted and mean nothing to others: they see uncommitted effects.
//!   ROLLBACK takes all effects of the transaction back, everywhere, as if they had never been.
//!
//! Snapshots and probes look at the *ledger*, a further copy that knows every committed effect at once: the state in which
//! all nodes end when everything has been delivered.
//!
//! **Constraints.** NOT NULL, CHECK, PRIMARY KEY and UNIQUE hold at the node that executes, against what it knows; a
//! statement that violates one fails as usual. What is delivered is never refused: a row that two nodes inserted is one
//! row then, two rows may share a unique value, and columns of two writers may violate a CHECK together. Foreign keys are
//! not enforced anywhere. That is how weakly consistent stores are, and what an application must cope with.
//!
//! **Limits.** A primary key has no NULLs; a table without one has a hidden one, its rowid. A secondary unique key is
//! checked at the end of a statement: it fails then, whatever `OR IGNORE` or `ON CONFLICT` say about that key
//! (`loosen`). The schema cannot be changed after the setup. One stamp orders a whole statement; clocks that disagree
//! are not modelled.

mod errors;
mod schema;
mod loosen;
mod effects;
mod log;
mod capture;
mod node;
mod tools;
mod request;
mod world;
mod session;

use std::sync::{Arc, Mutex};

use txloom_core::bulk::{self, Bulk};
use txloom_core::case::Event;
use txloom_core::dialect::ReplicatedSqlite;
use txloom_core::engine::{
    Capabilities, Engine, EngineError, EngineErrorKind, EngineInfo, Session, SessionId, SessionSpec, State, Version,
    Waits,
};
use txloom_core::level::LevelName;
use txloom_core::outcome::{Outcome, TxStatus};

use super::embedded::load::load;
use super::embedded::run::{execute_alone, set_up, state};
use super::embedded::turns::Turns;
use schema::Schema;
use session::{ReplicasSession, Shared, failed};
use tools::Tools;
use world::World;

/// The only level: what has been delivered is seen, and nothing else is promised.
pub const LEVEL: &str = "eventual";
/// The most nodes that there can be.
pub const NODES_MAX: u32 = super::nodes::NODES_MAX as u32;

/// The replicated database.
pub struct ReplicasEngine {
    info: EngineInfo,
    nodes: usize,
    shared: Arc<Shared>,
    /// The setup of the world as it is, and what was answered to it.
    setup: (Vec<String>, Vec<Outcome>),
}

impl ReplicasEngine {
    /// So many nodes. `target` is what the user wrote.
    pub fn start(target: &str, nodes: u32) -> Result<ReplicasEngine, EngineError> {
        if nodes == 0 || nodes > NODES_MAX {
            let what = format!("{nodes} nodes (there may be 1 to {NODES_MAX})");
            return Err(EngineError::new(target, EngineErrorKind::Unsupported(what)));
        }
        let info = EngineInfo {
            target: target.to_string(),
            family: "replicas",
            version: Version::parse(env!("CARGO_PKG_VERSION")),
            settings: Vec::new(),
            dialect: &ReplicatedSqlite,
            default_level: LevelName::custom(LEVEL),
            levels: vec![LevelName::custom(LEVEL)],
            capabilities: Capabilities { nodes, lock_free: true, ..Capabilities::default() },
            client: None,
        };
        let nodes = nodes as usize;
        let (shared, outcomes) = set_up_world(nodes, &[]).map_err(|error| failed(target, &error))?;
        Ok(ReplicasEngine { info, nodes, shared, setup: (Vec::new(), outcomes) })
    }

    fn failed(&self, error: &rusqlite::Error) -> EngineError {
        failed(&self.info.target, error)
    }

    fn unsupported(&self, what: String) -> EngineError {
        EngineError::new(&self.info.target, EngineErrorKind::Unsupported(what))
    }
}

/// A world in which only the setup has happened.
fn set_up_world(nodes: usize, setup: &[String]) -> rusqlite::Result<(Arc<Shared>, Vec<Outcome>)> {
    let turns = Arc::new(Turns::default());
    let tools = Tools { interrupt: turns.interrupt().clone(), ..Tools::default() };
    let mut origin = tools.connect()?;
    let mut outcomes = set_up(&origin, setup, request::admit)?;
    let schema = match Schema::read(&origin)? {
        Ok(schema) => schema,
        Err(problem) => {
            outcomes.last_mut().into_iter().for_each(|last| last.error = last.error.take().or(Some(problem.clone())));
            origin = tools.connect()?;
            Schema::default()
        }
    };
    if schema.tables.iter().any(|table| !table.unique.is_empty()) {
        let loose = tools.connect()?;
        loosen::copy_loosely(&origin, &loose, &schema)?;
        origin = loose;
    }
    let world = Mutex::new(World::new(tools, origin, schema, nodes)?);
    Ok((Arc::new(Shared { turns, world }), outcomes))
}

impl Engine for ReplicasEngine {
    fn info(&self) -> &EngineInfo {
        &self.info
    }

    fn reset(&mut self, setup: &[String]) -> Result<Vec<Outcome>, EngineError> {
        let again = self.setup.0 == setup && Arc::get_mut(&mut self.shared).is_some_and(Shared::rewind);
        if !again {
            let (shared, outcomes) = set_up_world(self.nodes, setup).map_err(|error| self.failed(&error))?;
            self.shared = shared;
            self.setup = (setup.to_vec(), outcomes);
        }
        Ok(self.setup.1.clone())
    }

    fn load(&mut self, bulk: &dyn Bulk, _threads: usize) -> Result<u64, EngineError> {
        let loaded = self.shared.world().change_all(|connection| load(connection, bulk));
        let loaded = loaded.map_err(|error| self.failed(&error))?;
        loaded.map_err(|error| bulk::refused(&self.info.target, bulk.table(), error))
    }

    fn open(&mut self, spec: &SessionSpec) -> Result<Box<dyn Session>, EngineError> {
        self.info.require_level(spec.level.as_ref().unwrap_or(&self.info.default_level))?;
        let joined = self.shared.world().join(spec.id, spec.name.clone(), spec.node);
        joined.map_err(|problem| self.unsupported(problem))?;
        let (target, shared) = (self.info.target.clone(), Arc::clone(&self.shared));
        Ok(Box::new(ReplicasSession { id: spec.id, target, shared }))
    }

    fn waits(&mut self, in_flight: &[SessionId]) -> Result<Waits, EngineError> {
        Ok(self.shared.turns.waits(in_flight, "replicas, where nobody waits"))
    }

    fn snapshot(&mut self) -> Result<State, EngineError> {
        state(&self.shared.world().ledger().connection).map_err(|error| self.failed(&error))
    }

    fn probe(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        let world = self.shared.world();
        let connection = &world.ledger().connection;
        let probe = || -> rusqlite::Result<Outcome> {
            connection.execute_batch("SAVEPOINT txloom_probe")?;
            let outcome = execute_alone(connection, sql, request::admit_probe)?;
            if !connection.is_autocommit() {
                connection.execute_batch("ROLLBACK TO txloom_probe; RELEASE txloom_probe")?;
            }
            capture::clear(connection)?;
            Ok(Outcome { status: TxStatus::Idle, ..outcome })
        };
        probe().map_err(|error| self.failed(&error))
    }

    fn event(&mut self, event: &Event) -> Result<(), EngineError> {
        let happened = self.shared.world().happen(event).map_err(|error| self.failed(&error))?;
        happened.map_err(|what| self.unsupported(what))
    }
}

#[cfg(test)]
mod tests;
