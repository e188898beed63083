//! A test as the schedule of a case: whose message comes when, and what reaches whom.
//!
//! A plan speaks of statements, a schedule of messages: before its first statement a call sends BEGIN, at its end COMMIT.
//! Where each call runs at a node of its own, what a plan says of visibility becomes deliveries:
//!
//! ```text
//!   plan       a1 a2   b1 sees a2, not a1              schedule   [partition 1|2] a a a [deliver 1>2 #2] b b
//! ```

use std::collections::BTreeSet;

use super::find::Test;
use super::ground::Called;
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

/// The node of a call, where each has one: they are counted from 1. Whatever came before happens at the first.
pub fn node(test: &Test, call: usize) -> u32 {
    let call = if call < test.concurrent() { call } else { 0 };
    u32::try_from(call).map_or(u32::MAX, |call| call + 1)
}

/// The schedule of a test. If there are several nodes, each call runs at one of its own, once those are over that come
/// before.
pub fn schedule(test: &Test, calls: &[Called<'_>], dialect: &dyn Dialect, nodes: Option<u32>) -> Schedule {
    let names = names(calls.len());
    let mut entries = Vec::new();
    let mut senders: Vec<Sender<'_>> =
        calls.iter().zip(&test.ways).map(|(called, way)| Sender { called, way, at: 0, is_open: false }).collect();
    let mut delivered: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (number, one) in test.plan.moves.iter().enumerate() {
        if let Some(nodes) = nodes.filter(|_| number == test.plan.before) {
            let apart = (1..=nodes).map(|node| vec![node]).collect();
            entries.push(ScheduleEntry::Event(Event::Partition(apart)));
        }
        if nodes.is_some() && number >= test.plan.before {
            let new: Vec<usize> = test.plan.sees[number]
                .iter()
                .copied()
                .filter(|seen| *seen >= test.plan.before && writes(test, calls, *seen))
                .filter(|seen| delivered.insert((*seen, one.instance)))
                .collect();
            entries.extend(deliveries(test, calls, &new, number, &mut delivered));
        }
        let count = senders[one.instance].messages_up_to(one.at, dialect);
        entries.extend((0..count).map(|_| ScheduleEntry::Step(names[one.instance].clone())));
    }
    if nodes.is_some() {
        entries.push(ScheduleEntry::Event(Event::Heal));
    }
    Schedule(entries)
}

/// What brings some writes to the node of a move.
fn deliveries(
    test: &Test,
    calls: &[Called<'_>],
    new: &[usize],
    number: usize,
    delivered: &mut BTreeSet<(usize, usize)>,
) -> Vec<ScheduleEntry> {
    let to = test.plan.moves[number].instance;
    let mut entries = Vec::new();
    for from in 0..calls.len() {
        let of = |seen: &&usize| test.plan.moves[**seen].instance == from;
        let own: Vec<usize> = new.iter().filter(of).copied().collect();
        if own.is_empty() {
            continue;
        }
        let (sender, receiver) = (node(test, from), node(test, to));
        let deliver = |write| ScheduleEntry::Event(Event::Deliver { from: sender, to: receiver, write });
        let instance = |at: usize| test.plan.moves[at].instance;
        let here: Vec<usize> =
            (0..number).filter(|at| node(test, instance(*at)) == sender && writes(test, calls, *at)).collect();
        let mut all = here.iter().filter(|at| instance(**at) == from);
        if all.all(|at| delivered.contains(&(*at, to))) && !knows_more(test, calls, from, to, number) {
            entries.push(deliver(None));
            continue;
        }
        for one in own {
            let ordinal = here.iter().position(|at| *at == one).map_or(1, |at| at as u32 + 1);
            entries.push(deliver(Some(ordinal)));
        }
    }
    entries
}

/// Whether a node has been told of others' writes, which would go along with its own.
fn knows_more(test: &Test, calls: &[Called<'_>], from: usize, to: usize, number: usize) -> bool {
    let moves = test.plan.moves[..number].iter().enumerate().filter(|(_, one)| one.instance == from);
    let mut seen = moves.flat_map(|(at, _)| &test.plan.sees[at]).filter(|seen| **seen >= test.plan.before);
    seen.any(|seen| test.plan.moves[*seen].instance != to && writes(test, calls, *seen))
}

/// Whether a move is a statement that writes.
fn writes(test: &Test, calls: &[Called<'_>], number: usize) -> bool {
    let one = &test.plan.moves[number];
    let node = calls[one.instance].access.nodes.get(test.ways[one.instance].nodes[one.at]);
    node.is_some_and(|node| node.access.tables.iter().any(|access| access.effect != Effect::Read))
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
