//! Is there an order of versions under which the level is kept?
//!
//! Registers do not tell what they overwrote. A database has *some* order of versions, and a history violates a level only
//! if every order does. There are too many to try; but nearly always one of them is obvious.
//!
//! 1. Guess: versions in the order in which their writers ended. If that works, it is the witness; on a healthy database it
//!    does, and one graph is all that is ever built.
//! 2. What is known without any choice may already be a cycle.
//! 3. Guess again: an order in which everything known leads forward.
//! 4. Otherwise learn from failure. Each forbidden cycle says that not all pairs of versions on it may be ordered as they
//!    are; a solver finds orders of the pairs that were named so far which keep all these rules; all other pairs stay as
//!    guessed. Then look for cycles again. The rules are all true, so when they contradict each other, no order is left.

use std::collections::BTreeMap;

use super::super::History;
use super::super::KeyId;
use super::super::facts::{Facts, Node, Version};
use super::graph::{EdgeKind, Graph};
use super::orders::Orders;
use super::relation;
use super::seen::topological;
use super::walk::Cycle;
use crate::level::formal::{Level, Requirement};
use crate::sat::{Answer, Lit, Sat, Var};

/// What a search found out.
pub(super) enum Found {
    /// These orders keep the level.
    Kept(Orders),
    /// No order does. A cycle, and how many other cycles it takes to see that no order helps (0: this one suffices).
    Forbidden(Cycle, usize),
    /// The budget is spent.
    Undecided(String),
}

/// How many cycles are learnt from at a time.
const CYCLES_MAX: usize = 64;

/// How long the solver works before it looks at the clock.
const SOLVER_STEPS: u64 = 100_000;

/// Looks for an order.
pub(super) fn search(
    history: &History,
    facts: &Facts,
    requirement: Requirement,
    should_stop: &dyn Fn() -> bool,
) -> Found {
    let kept = |orders: &Orders, graph: &Graph| {
        relation::forbidden(facts, orders, graph, requirement.level, 1).into_iter().next().map_or(Ok(()), Err)
    };
    let in_time = Orders::guess(facts, rank_in_time(history, facts));
    let guessed = kept(&in_time, &Graph::new(history, facts, &in_time, requirement.order));
    let nothing_to_guess = facts.keys.iter().all(|key| key.loose.len() < 2);
    match guessed {
        Ok(()) => return Found::Kept(in_time),
        Err(cycle) if nothing_to_guess => return Found::Forbidden(cycle, 0),
        Err(_) => {}
    }
    let open = Orders::open(facts);
    let known = Graph::new(history, facts, &open, requirement.order);
    if let Err(cycle) = kept(&open, &known) {
        return Found::Forbidden(cycle, 0);
    }
    let forward = Orders::guess(facts, rank_forward(&known, requirement.level));
    drop(known);
    if kept(&forward, &Graph::new(history, facts, &forward, requirement.order)).is_ok() {
        return Found::Kept(forward);
    }
    Learner { history, facts, requirement, orders: in_time, sat: Sat::default(), pairs: BTreeMap::new(), rules: 0 }
        .run(should_stop)
}

/// When the writer of a version ended; where that is not known, its position in the input.
fn rank_in_time<'a>(history: &'a History, facts: &'a Facts) -> impl Fn(Node) -> u64 + 'a {
    move |node| {
        let id = facts.transaction(node);
        id.map_or(0, |id| history.transaction(id).ended.unwrap_or(u64::from(id.0)))
    }
}

/// An order in which everything known leads forward. Weak levels do not care about `rw`, and must not be led astray by it.
fn rank_forward(known: &Graph, level: Level) -> impl Fn(Node) -> u64 {
    let with_rw = level.implies(Level::RepeatableRead);
    let list: Vec<_> = (0..known.len() as Node)
        .flat_map(|node| known.edges(node).iter().map(move |edge| (node, *edge)))
        .filter(|(_, edge)| with_rw || edge.kind != EdgeKind::Rw)
        .collect();
    let order = topological(&Graph::from_list(&list, known.len(), known.transactions));
    let mut ranks = vec![u64::MAX; known.len()];
    order.iter().enumerate().for_each(|(at, node)| ranks[*node as usize] = at as u64);
    move |node| ranks[node as usize]
}

/// A pair of loose versions, as the guess orders them.
type Pair = (KeyId, Version, Version);

struct Learner<'a> {
    history: &'a History,
    facts: &'a Facts,
    requirement: Requirement,
    orders: Orders,
    sat: Sat,
    /// True means: the other way round than guessed.
    pairs: BTreeMap<Pair, Var>,
    rules: usize,
}

impl Learner<'_> {
    fn run(mut self, should_stop: &dyn Fn() -> bool) -> Found {
        // What a reader wants to see: a cycle that is not just an order badly chosen; of those, the shortest one under the
        // earliest, most plausible orders.
        let mut telling: Option<Cycle> = None;
        let misleads = |cycle: &Cycle| cycle.iter().all(|(_, edge)| edge.kind != EdgeKind::Rw);
        loop {
            let graph = Graph::new(self.history, self.facts, &self.orders, self.requirement.order);
            let cycles = relation::forbidden(self.facts, &self.orders, &graph, self.requirement.level, CYCLES_MAX);
            if cycles.is_empty() {
                return Found::Kept(self.orders);
            }
            if telling.as_ref().is_none_or(misleads) {
                telling = cycles.iter().find(|cycle| !misleads(cycle)).cloned().or(telling).or(cycles.first().cloned());
            }
            for cycle in &cycles {
                let rule = self.rule(cycle);
                if rule.is_empty() {
                    return Found::Forbidden(cycle.clone(), 0);
                }
                self.sat.add(&rule);
                self.rules += 1;
            }
            if should_stop() {
                return Found::Undecided(format!("the time is over after {} cycles", self.rules));
            }
            let answer = loop {
                match self.sat.solve(SOLVER_STEPS) {
                    Answer::Unknown if !should_stop() => {}
                    answer => break answer,
                }
            };
            match answer {
                Answer::Impossible => return Found::Forbidden(telling.unwrap_or_default(), self.rules),
                Answer::Unknown => return Found::Undecided(format!("the time is over after {} cycles", self.rules)),
                Answer::Possible => self.follow(),
            }
        }
    }

    /// "Not all of these pairs as they are": the pairs whose order on the cycle is a choice.
    fn rule(&mut self, cycle: &Cycle) -> Vec<Lit> {
        let mut rule = Vec::new();
        for (_, edge) in cycle.iter().filter(|(_, edge)| matches!(edge.kind, EdgeKind::Ww | EdgeKind::Rw)) {
            let key = &self.facts.keys[edge.key.0 as usize];
            if !Orders::is_choice(key, edge.low, edge.high) {
                continue;
            }
            let is_guessed = self.orders.is_guessed(edge.key, key, edge.low, edge.high);
            let pair = if is_guessed { (edge.key, edge.low, edge.high) } else { (edge.key, edge.high, edge.low) };
            let variable = *self.pairs.entry(pair).or_insert_with(|| self.sat.variable());
            rule.push(if is_guessed { variable.pos_lit() } else { variable.neg_lit() });
        }
        rule
    }

    /// Orders the pairs as the solver says.
    fn follow(&mut self) {
        for ((key, low, high), variable) in &self.pairs {
            self.orders.reverse(*key, *low, *high, self.sat.is_true(*variable));
        }
    }
}
