//! A ring of MariaDB servers: each replicates from the one before it, and all of them can be written to.
//!
//! ```text
//!        ┌──→ 1 ──→ 2 ──→ … ──→ N ──┐      rows, not statements; what came from elsewhere is passed on,
//!        └──────────────────────────┘      until it is back where it was written
//! ```
//!
//! This is a weakly consistent cluster as people run them, and the real counterpart of `replicas:N`. Servers answer at
//! once, and let the others know later; of two that write one row at the same time, each hears of the other's write last,
//! and so they end up with *swapped* rows, without an error and for ever. `replicas` converges by the stamps of its
//! effects; a ring has no stamps.
//!
//! * **Sessions** are at the node that the case says, or take turns; levels are those of MariaDB, and hold among the
//!   sessions of one node.
//! * **Connected**, a statement that ends a transaction has ended when all servers have applied it. (Replication is
//!   asynchronous; but a run that depends on how fast it is cannot be repeated.) One exception: if a server cannot apply
//!   it because a session holds a lock there, nobody waits; it is applied as soon as the session lets go.
//! * **`@partition 1|2,3`** stops the links between the groups. Within a group everything still goes along the ring, and
//!   no other way: 3 hears of 2, but 2 hears of 3 only by way of 1.
//! * **`@deliver 1>3`** lets everybody from 1 to 3 apply what the one before has written so far.
//! * **`@heal`** starts everything and waits until all servers have applied everything. So does a snapshot.
//! * **Divergence is part of the state.** A snapshot shows the tables of node 1; a table that differs at node 2 is there
//!   as `node2.t`, too. Serial runs never have such tables, so that every oracle sees the difference.
//!
//! Rows that are there already or missing do not stop replication (`slave_exec_mode = IDEMPOTENT`); any other error does,
//! and is told. What the engine itself does (setups, rows that are loaded) is done at each server and not replicated.
//!
//! **Limits.** Servers are not killed. Deliveries of single statements are not possible, sessions stay on their servers,
//! and columns are not merged: a row event carries the whole row. Tables should have primary keys, or a row is looked for
//! by all of its columns.

mod links;
mod position;
mod session;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use txloom_core::bulk::Bulk;
use txloom_core::case::Event;
use txloom_core::engine::{
    Capabilities, Death, Engine, EngineError, EngineErrorKind, EngineInfo, KnownWaits, Session, SessionId, SessionSpec,
    State, Waits,
};
use txloom_core::outcome::{Outcome, Row, StatementResult};

use self::links::{Links, Place};
use self::session::RingSession;
use super::monitor::Monitor;
use super::{Home, MONITOR_LIMIT, MySqlEngine, limited};
use crate::servers::mysql::RingMember;
use crate::servers::{Programs, ServerOptions, new_password};

/// The most members that a ring can have.
pub const MEMBERS_MAX: u32 = 4;

/// Logs that are longer than this are thrown away before the next case.
const LOG_LENGTH_MAX: u64 = 5_000;

/// The ring.
pub struct RingEngine {
    info: EngineInfo,
    members: Vec<MySqlEngine>,
    links: Arc<Links>,
    /// The processes that the ring was made of.
    processes: Vec<u32>,
    /// Where the sessions of the case are.
    places: BTreeMap<SessionId, usize>,
    /// How many sessions there are now.
    open: Arc<AtomicUsize>,
}

impl RingEngine {
    /// Starts so many servers and makes a ring of them.
    pub fn start(
        target: &str,
        programs: &Programs,
        options: &ServerOptions,
        nodes: u32,
    ) -> Result<RingEngine, EngineError> {
        let password = new_password()
            .map_err(|error| EngineError::new(target, EngineErrorKind::Unreachable(error.to_string())))?;
        let (mut members, mut places) = (Vec::new(), Vec::new());
        for number in 1..=nodes {
            let member = RingMember::start(programs, options, number, &password);
            let RingMember { server, port } = member.map_err(|error| error.for_target(target))?;
            let mut member = MySqlEngine::start_private(target, server)?;
            places.push(Place { monitor: Monitor::new(limited(&member.login, MONITOR_LIMIT)), port });
            member.join_ring();
            members.push(member);
        }
        let first = members.first().map(|member| member.info.clone());
        let Some(info) = first else {
            return Err(EngineError::new(target, EngineErrorKind::Unsupported("a ring of no servers".to_string())));
        };
        let clients: Vec<String> = members.iter().filter_map(|member| member.info.client.clone()).collect();
        let info = EngineInfo {
            family: "mariadb-ring",
            capabilities: Capabilities { nodes, is_ring: true, ..Capabilities::default() },
            client: Some(clients.join("\n")),
            ..info
        };
        let links = Arc::new(Links::new(target, password, places));
        let (processes, open) = (Vec::new(), Arc::default());
        let mut ring = RingEngine { info, members, links, processes, places: BTreeMap::new(), open };
        ring.form()?;
        Ok(ring)
    }

    fn form(&mut self) -> Result<(), EngineError> {
        self.links.form()?;
        self.processes = self.members.iter().filter_map(MySqlEngine::process).collect();
        Ok(())
    }

    /// Whether all servers know everything, and none remembers too much. If not, what they have yet to apply is no business
    /// of the next case.
    fn is_calm(&self) -> bool {
        self.links.heal().is_ok() && self.links.length().is_ok_and(|length| length <= LOG_LENGTH_MAX)
    }

    fn unsupported(&self, what: String) -> EngineError {
        EngineError::new(&self.info.target, EngineErrorKind::Unsupported(what))
    }
}

impl Engine for RingEngine {
    fn info(&self) -> &EngineInfo {
        &self.info
    }

    fn reset(&mut self, setup: &[String]) -> Result<Vec<Outcome>, EngineError> {
        self.places.clear();
        // What a session did at one of them was replicated to all.
        let reach = self.members.iter().map(|member| member.shared.reach()).max();
        reach.into_iter().for_each(|reach| self.members.iter().for_each(|member| member.shared.note_reach(reach)));
        let is_calm = self.is_calm();
        if !is_calm {
            self.links.stop();
        }
        let mut outcomes = Vec::new();
        for member in &mut self.members {
            outcomes.push(member.reset(setup)?);
        }
        let processes: Vec<u32> = self.members.iter().filter_map(MySqlEngine::process).collect();
        if !is_calm || processes != self.processes {
            self.form()?;
        }
        let failed = outcomes.iter().position(|outcomes| outcomes.iter().any(|outcome| outcome.error.is_some()));
        Ok(outcomes.swap_remove(failed.unwrap_or(0)))
    }

    fn load(&mut self, bulk: &dyn Bulk, threads: usize) -> Result<u64, EngineError> {
        let loaded = self.members.iter_mut().map(|member| member.load(bulk, threads));
        loaded.collect::<Result<Vec<u64>, _>>().map(|counts| counts.first().copied().unwrap_or(0))
    }

    fn open(&mut self, spec: &SessionSpec) -> Result<Box<dyn Session>, EngineError> {
        let place = match spec.node {
            Some(number) => self.links.position(number).map_err(|problem| self.unsupported(problem))?,
            None => spec.id.0 % self.members.len(),
        };
        let inner = self.members[place].open(&SessionSpec { node: None, ..spec.clone() })?;
        self.places.insert(spec.id, place);
        Ok(Box::new(RingSession::new(inner, Arc::clone(&self.links), Arc::clone(&self.open))))
    }

    fn waits(&mut self, in_flight: &[SessionId]) -> Result<Waits, EngineError> {
        let mut all = Waits::none("");
        for (place, member) in self.members.iter_mut().enumerate() {
            let own: Vec<SessionId> =
                in_flight.iter().copied().filter(|id| self.places.get(id) == Some(&place)).collect();
            if own.is_empty() {
                continue;
            }
            let Waits { known, source } = member.waits(&own)?;
            if let (KnownWaits::Edges(all), KnownWaits::Edges(edges)) = (&mut all.known, known) {
                all.extend(edges);
            }
            all.source = source;
        }
        Ok(all)
    }

    fn snapshot(&mut self) -> Result<State, EngineError> {
        self.links.heal()?;
        let states = self.members.iter_mut().map(Engine::snapshot).collect::<Result<Vec<State>, _>>()?;
        Ok(together(states))
    }

    fn probe(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        // When all sessions have ended, what counts is what they have come to.
        if self.open.load(Ordering::SeqCst) == 0 {
            self.links.heal()?;
        }
        self.members[0].probe(sql)
    }

    fn death(&mut self) -> Option<Death> {
        self.members.iter_mut().find_map(Engine::death)
    }

    fn alarms(&mut self) -> Vec<String> {
        self.members.iter_mut().flat_map(Engine::alarms).collect()
    }

    fn event(&mut self, event: &Event) -> Result<(), EngineError> {
        let lacks = || Err(self.unsupported(format!("the event `@{event}`")));
        let happened = match event {
            Event::Partition(groups) => self.links.cut(groups)?,
            Event::Heal => self.links.heal().map(Ok)?,
            Event::Deliver { from, to, write: None } => self.links.deliver(*from, *to)?,
            Event::Deliver { .. } | Event::Route { .. } | Event::Kill => return lacks(),
        };
        happened.map_err(|what| self.unsupported(what))
    }
}

impl MySqlEngine {
    /// From now on it is a member of a ring: what the engine itself does there is not told to others.
    fn join_ring(&mut self) {
        self.is_member = true;
        // Those that are open are not told.
        self.disconnect();
    }

    /// The process of a server of our own.
    fn process(&self) -> Option<u32> {
        match &self.home {
            Home::Private(server) => Some(server.id()),
            Home::Borrowed => None,
        }
    }
}

/// The state of the first member; where another one differs, with its table as well.
fn together(states: Vec<State>) -> State {
    let mut states = states.into_iter();
    let mut first = states.next().unwrap_or_default();
    let mut others = BTreeMap::new();
    for (number, state) in (2..).zip(states) {
        // A table that is not there at all differs from one that is.
        let missing = first.tables.keys().filter(|name| !state.tables.contains_key(*name));
        others.extend(missing.map(|name| (format!("node{number}.{name}"), StatementResult::default())));
        for (name, table) in state.tables {
            if first.tables.get(&name).is_none_or(|own| !is_same(own, &table)) {
                others.insert(format!("node{number}.{name}"), table);
            }
        }
    }
    first.tables.extend(others);
    first
}

fn is_same(one: &StatementResult, other: &StatementResult) -> bool {
    let sorted = |result: &StatementResult| {
        let mut rows: Vec<Row> = result.rows.clone();
        rows.sort();
        rows
    };
    sorted(one) == sorted(other)
}
