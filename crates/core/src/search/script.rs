//! A test as the schedule of a case: whose message comes when, and what reaches whom.
//!
//! A plan speaks of statements, a schedule of messages: before its first statement a call sends BEGIN, at its end COMMIT.
//! On a cluster, what a plan says of visibility becomes [a choice of nodes](super::placement), and deliveries:
//!
//! ```text
//!   plan       a1 a2   b1 sees a2, not a1              schedule   [partition 1|2] a a a [deliver 1>2 #2] b b
//! ```

use std::collections::BTreeSet;

use super::find::Test;
use super::ground::Called;
use super::placement::{Cluster, Unplaceable, Wanted, place};
use super::plan::Move;
use crate::case::{Event, SessionName};
use crate::dialect::{Dialect, LevelPlace};
use crate::program::access::Effect;
use crate::program::code::OperationKind;
use crate::schedule::{Schedule, ScheduleEntry};

/// The names of the sessions: one for each call.
pub fn names(count: usize) -> Vec<SessionName> {
    let name = |at: usize| SessionName::new(&char::from(b'a' + at as u8).to_string());
    (0..count.min(26)).filter_map(name).collect()
}

/// The schedule of a test, and on a cluster the node (from 1) at which each session begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// The schedule.
    pub schedule: Schedule,
    /// The nodes, by call; none if there is no cluster.
    pub homes: Vec<u32>,
}

/// The schedule of a test. On a cluster, calls run at nodes that cannot talk to each other, once those are over that come
/// before.
pub fn script(
    test: &Test,
    calls: &[Called<'_>],
    dialect: &dyn Dialect,
    cluster: Option<Cluster>,
) -> Result<Script, Unplaceable> {
    let messages = messages(test, calls, dialect);
    let before = test.plan.before;
    let placed = match cluster {
        Some(cluster) => place(&wanted(test, calls, &messages), test.concurrent(), cluster, test.plan.roams)?,
        None => Vec::new(),
    };
    let mut homes: Vec<Option<usize>> = vec![None; calls.len()];
    for (placed, one) in placed.iter().zip(&test.plan.moves[before..]) {
        homes[one.instance].get_or_insert(placed.node);
    }
    let homes: Vec<usize> = homes.into_iter().map(Option::unwrap_or_default).collect();
    let (names, mut at) = (names(calls.len()), homes.clone());
    let mut entries = Vec::new();
    for (number, one) in test.plan.moves.iter().enumerate() {
        if let Some(cluster) = cluster.filter(|_| number == before) {
            let apart = (1..=cluster.nodes).map(|node| vec![node]).collect();
            entries.push(ScheduleEntry::Event(Event::Partition(apart)));
        }
        let placed = number.checked_sub(before).and_then(|number| placed.get(number));
        for (from, to, write) in placed.into_iter().flat_map(|placed| &placed.deliveries) {
            let [from, to] = [*from, *to].map(|node| node as u32 + 1);
            entries.push(ScheduleEntry::Event(Event::Deliver { from, to, write: *write }));
        }
        if let Some(placed) = placed.filter(|placed| placed.node != at[one.instance]) {
            let (session, node) = (names[one.instance].clone(), placed.node as u32 + 1);
            entries.push(ScheduleEntry::Event(Event::Route { session, node }));
            at[one.instance] = placed.node;
        }
        entries.extend((0..messages[number].0).map(|_| ScheduleEntry::Step(names[one.instance].clone())));
    }
    if cluster.is_some() {
        entries.push(ScheduleEntry::Event(Event::Heal));
    }
    let homes = if cluster.is_some() { homes.iter().map(|node| *node as u32 + 1).collect() } else { Vec::new() };
    Ok(Script { schedule: Schedule(entries), homes })
}

/// For each move, the number of messages that it is, and whether its call has a transaction open then.
fn messages(test: &Test, calls: &[Called<'_>], dialect: &dyn Dialect) -> Vec<(usize, bool)> {
    let mut senders: Vec<Sender<'_>> =
        calls.iter().zip(&test.ways).map(|(called, way)| Sender { called, way, at: 0, is_open: false }).collect();
    let mut send = |one: &Move| {
        let sender = &mut senders[one.instance];
        (sender.messages_up_to(one.at, dialect), sender.is_open)
    };
    test.plan.moves.iter().map(&mut send).collect()
}

/// What the moves ask of the nodes that answer them, without those of calls that come before.
fn wanted(test: &Test, calls: &[Called<'_>], messages: &[(usize, bool)]) -> Vec<Wanted> {
    let (plan, before) = (&test.plan, test.plan.before);
    let tables = |number: usize, is_write: bool| -> BTreeSet<&str> {
        let one = &plan.moves[number];
        let node = calls[one.instance].access.nodes.get(test.ways[one.instance].nodes[one.at]);
        let accesses = node.into_iter().flat_map(|node| &node.access.tables);
        let wanted = accesses.filter(|access| !is_write || access.effect != Effect::Read);
        wanted.map(|access| access.table.as_str()).collect()
    };
    let wanted = |number: usize| {
        let (call, touched) = (plan.moves[number].instance, tables(number, false));
        let matters = |earlier: &usize| !tables(*earlier, true).is_disjoint(&touched);
        // A call that stays on its node sees its own.
        let is_free = |earlier: &usize| plan.roams || plan.moves[*earlier].instance != call;
        let writes = (before..number).filter(matters).filter(is_free);
        let (sees, misses): (BTreeSet<usize>, BTreeSet<usize>) =
            writes.partition(|earlier| plan.sees[number].contains(earlier));
        let shifted = |all: BTreeSet<usize>| all.into_iter().map(|earlier| earlier - before).collect();
        Wanted {
            call,
            is_statement: !touched.is_empty(),
            writes: !tables(number, true).is_empty(),
            is_open: messages[number].1,
            sees: shifted(sees),
            misses: shifted(misses),
        }
    };
    (before..plan.moves.len()).map(wanted).collect()
}

/// A call that sends messages.
struct Sender<'a> {
    called: &'a Called<'a>,
    way: &'a crate::program::paths::Way,
    /// How many nodes of its way are behind it.
    at: usize,
    is_open: bool,
}

impl Sender<'_> {
    /// How many messages it sends until it has passed a node.
    fn messages_up_to(&mut self, at: usize, dialect: &dyn Dialect) -> usize {
        let mut count = 0;
        while self.at <= at {
            count += self.messages(self.way.nodes[self.at], dialect);
            self.at += 1;
        }
        count
    }

    fn messages(&mut self, node: usize, dialect: &dyn Dialect) -> usize {
        let Some(found) = self.called.access.nodes.get(node) else { return self.end() };
        match &found.operation.kind {
            OperationKind::Send(_) | OperationKind::Open(..) => self.begin() + 1,
            OperationKind::Begin => {
                let before = self.end();
                self.is_open = true;
                before + 1
            }
            OperationKind::Isolation(_) => match dialect.level_place() {
                LevelPlace::Inside => self.begin() + 1,
                LevelPlace::Before => 1,
                LevelPlace::Nowhere => 0,
            },
            OperationKind::Commit | OperationKind::Rollback | OperationKind::Return(_) | OperationKind::Raise(_) => {
                self.end()
            }
            _ => 0,
        }
    }

    /// BEGIN, if it is needed.
    fn begin(&mut self) -> usize {
        let is_needed = !self.is_open && !self.called.procedure.autocommit;
        self.is_open |= is_needed;
        usize::from(is_needed)
    }

    /// COMMIT or ROLLBACK, if something is open.
    fn end(&mut self) -> usize {
        usize::from(std::mem::take(&mut self.is_open))
    }
}
