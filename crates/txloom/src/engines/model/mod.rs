//! The model: a small database with real isolation levels, and with isolation bugs on demand.
//!
//! An oracle for transaction bugs has to be tested itself: on a database that certainly keeps its isolation levels, and
//! on the same database with one rule switched off. The model is that database. It needs nothing installed, is
//! deterministic to the last detail, and its rules fit on a page. SQLite stores and executes; isolation is the model's
//! own business:
//!
//! ```text
//!   version 1 ─────────────────────→ version 2 ────────────────→ version 3         committed, never changed
//!       │ copy                          ↑   │ (a's base)             ↑
//!       ├──→ b: UPDATE  ────────────────┘   │                        │ install a's net changes
//!       │       COMMIT                      │                        │
//!       └──→ a: SELECT   UPDATE ────────────┴────────────── COMMIT ──┘
//! ```
//!
//! 1. **A transaction works on a copy** of a committed version, private to it; before its first change, on the version
//!    itself. `transaction`, `store`
//! 2. **Triggers write down** which rows and keys each statement touches. `capture`
//! 3. **Touched rows and keys are locked** until the transaction ends. Is one locked by somebody else, the statement is
//!    undone, waits, and is executed again. A wait that would close a cycle fails: deadlock. `locks`, `statements`
//! 4. **COMMIT installs the net changes** into a copy of the newest version, which becomes the next one. `changes`,
//!    `commit`
//!
//! What the levels add:
//!
//! | level | sees | changing what others changed since | at COMMIT |
//! |---|---|---|---|
//! | read committed | what is committed when each statement begins, and its own changes | is allowed | |
//! | snapshot isolation | what was committed when its first statement began, and its own changes | fails | |
//! | serializable | the same | fails | executed again, alone and now, it must get the same answers |
//!
//! A statement that fails is undone alone, and its transaction stays open. Deadlock and serialization failure roll the
//! whole transaction back: the session's later statements are transactions of their own. So does a foreign key that is
//! found violated at COMMIT, because another transaction took the parent away.
//!
//! **Limits.** A new row's `INTEGER PRIMARY KEY`, if SQLite chooses it, is the same for two transactions at a time: the
//! second one waits for the first, and above read committed fails if that one commits. (Servers give numbers out ahead
//! of the commits. But then transactions that commit in another order have other numbers than in any serial execution,
//! and serializable would no longer be what it says.) A unique index of an expression is locked as a whole. Values that
//! are written to `sqlite_sequence` directly are lost at COMMIT. Statements that leave the model's control (other files,
//! temporary objects, virtual tables, most pragmas) are refused (`request`).

mod schema;
mod request;
mod capture;
mod changes;
mod store;
mod locks;
mod rules;
mod transaction;
mod errors;
mod world;
mod aim;
mod astray;
mod statements;
mod commit;
mod define;
mod session;
mod load;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use txloom_core::bulk::Bulk;
use txloom_core::dialect::LockingSqlite;
use txloom_core::engine::{
    Capabilities, Engine, EngineError, EngineInfo, Session, SessionId, SessionSpec, State, Version, Waits,
};
use txloom_core::level::LevelName;
use txloom_core::outcome::Outcome;
use txloom_core::planted::PlantedBug;

use super::embedded::run::{execute_alone, set_up, state};
use super::embedded::turns::Turns;
use errors::unsupported;
use rules::Rules;
use schema::{Schema, Unsupported};
use session::{ModelSession, Shared, failed};
use store::{Store, Tools};
use transaction::Level;
use world::World;

/// The model database.
pub struct ModelEngine {
    info: EngineInfo,
    rules: Rules,
    shared: Arc<Shared>,
    /// The setup of the world as it is, and what was answered to it.
    setup: (Vec<String>, Vec<Outcome>),
}

impl ModelEngine {
    /// The model, with these bugs planted. `target` is what the user wrote.
    pub fn start(target: &str, bugs: &[&'static PlantedBug]) -> Result<ModelEngine, EngineError> {
        let levels = Level::ALL.map(|(_, name)| LevelName::custom(name));
        let rules = Rules::with_bugs(target, bugs)?;
        let info = EngineInfo {
            target: target.to_string(),
            family: "model",
            version: Version::parse(env!("CARGO_PKG_VERSION")),
            settings: Vec::new(),
            dialect: &LockingSqlite,
            default_level: levels[0].clone(),
            levels: levels.to_vec(),
            capabilities: Capabilities { late_references: true, ..Capabilities::default() },
            client: None,
        };
        let (shared, outcomes) = set_up_world(&rules, &[]).map_err(|error| failed(target, &error))?;
        Ok(ModelEngine { info, rules, shared, setup: (Vec::new(), outcomes) })
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.shared.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, error: &rusqlite::Error) -> EngineError {
        failed(&self.info.target, error)
    }
}

/// A world in which only the setup has happened.
fn set_up_world(rules: &Rules, setup: &[String]) -> rusqlite::Result<(Arc<Shared>, Vec<Outcome>)> {
    let turns = Arc::new(Turns::default());
    let tools = Tools { interrupt: turns.interrupt().clone(), ..Tools::default() };
    let connection = tools.connect()?;
    let mut outcomes = set_up(&connection, setup, request::admit)?;
    let schema = match Schema::read(&connection)? {
        Ok(schema) => schema,
        Err(Unsupported(reason)) => {
            if let Some(last) = outcomes.last_mut() {
                last.error.get_or_insert_with(|| unsupported(&reason));
            }
            Schema::default()
        }
    };
    let store = Store::new(connection, schema, tools.clone());
    let world = Mutex::new(World::new(rules.clone(), tools, store));
    Ok((Arc::new(Shared { turns, world }), outcomes))
}

impl Engine for ModelEngine {
    fn info(&self) -> &EngineInfo {
        &self.info
    }

    fn reset(&mut self, setup: &[String]) -> Result<Vec<Outcome>, EngineError> {
        // Most cases have the setup of the one before: another order, another group of transactions, a smaller case.
        // What the setup made is still there: versions never change.
        let again = self.setup.0 == setup && Arc::get_mut(&mut self.shared).is_some_and(|shared| shared.rewind());
        if !again {
            let (shared, outcomes) = set_up_world(&self.rules, setup).map_err(|error| self.failed(&error))?;
            self.shared = shared;
            self.setup = (setup.to_vec(), outcomes);
        }
        Ok(self.setup.1.clone())
    }

    fn load(&mut self, bulk: &dyn Bulk, _threads: usize) -> Result<u64, EngineError> {
        self.load_rows(bulk)
    }

    fn open(&mut self, spec: &SessionSpec) -> Result<Box<dyn Session>, EngineError> {
        let wanted = spec.level.as_ref().unwrap_or(&self.info.default_level);
        self.info.require_level(wanted)?;
        let level = Level::named(wanted).expect("the engine's levels are those of the model");
        self.world().join(spec.id, level);
        let (target, shared) = (self.info.target.clone(), Arc::clone(&self.shared));
        Ok(Box::new(ModelSession { id: spec.id, target, shared }))
    }

    fn waits(&mut self, in_flight: &[SessionId]) -> Result<Waits, EngineError> {
        Ok(self.shared.turns.waits(in_flight, "model lock table"))
    }

    fn snapshot(&mut self) -> Result<State, EngineError> {
        let world = self.world();
        state(&world.store.version(world.store.newest()).connection).map_err(|error| self.failed(&error))
    }

    fn probe(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        let mut world = self.world();
        let newest = world.store.newest();
        // On a copy: a probe that is no query changes nothing that lasts.
        let probe = |store: &mut Store| -> rusqlite::Result<Outcome> {
            let copy = store.copy(newest)?;
            copy.will_differ();
            let outcome = execute_alone(&copy.connection, sql, request::admit)?;
            store.give_back(copy)?;
            Ok(outcome)
        };
        probe(&mut world.store).map_err(|error| self.failed(&error))
    }
}

#[cfg(test)]
mod tests;
