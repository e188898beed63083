//! An order of versions, learnt from the cycles that other orders lead into.
//!
//! Each forbidden cycle says that not all pairs of versions on it may be ordered as they are. A solver orders the pairs
//! that were named so far such that all these rules are kept; the versions of each key are arranged accordingly, and
//! otherwise stay as guessed. Then cycles are looked for again. The rules are all true, so when they contradict each
//! other, no order is left; and every round names a rule that the last one broke, so there is an end.
//!
//! ```text
//!   guessed   1  2  3  4  5         rule: 4 before 2         arranged   1  3  4  2  5
//! ```
//!
//! A rule is the stronger the fewer pairs it names. On a cycle, versions of one key that follow each other are
//! therefore replaced by the first and the last one: where these stand in this order, there is a way between them,
//! whatever is between.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use super::super::KeyId;
use super::super::facts::Version;
use super::budget::Spent;
use super::graph::EdgeKind;
use super::orders::Orders;
use super::search::{Found, Search};
use super::walk::Cycle;
use crate::level::formal::Level;
use crate::sat::{Answer, Lit, Sat, Var};

/// How many cycles are learnt from at a time.
const CYCLES_MAX: usize = 64;

/// How long the solver works before it looks at the clock.
const SOLVER_STEPS: u64 = 100_000;

/// Two loose versions, the earlier one first.
type Pair = (Version, Version);

/// Learns from cycles.
pub(super) struct Learner<'a> {
    search: Search<'a>,
    /// The first guess, which pairs refer to.
    guess: Orders,
    /// The orders that are being tried out.
    orders: Orders,
    sat: Sat,
    /// By key: true means the other way round than guessed.
    pairs: BTreeMap<KeyId, BTreeMap<Pair, Var>>,
    rules: usize,
    literals: usize,
}

impl<'a> Learner<'a> {
    pub(super) fn new(search: Search<'a>, guess: Orders) -> Learner<'a> {
        let orders = guess.clone();
        Learner { search, guess, orders, sat: Sat::default(), pairs: BTreeMap::new(), rules: 0, literals: 0 }
    }

    pub(super) fn run(mut self) -> Result<Found, Spent> {
        // What a reader wants to see: a cycle that is not just an order badly chosen; of those, the shortest one under the
        // earliest, most plausible orders.
        let mut telling: Option<Cycle> = None;
        let misleads = |cycle: &Cycle| cycle.iter().all(|(_, edge)| edge.kind != EdgeKind::Rw);
        loop {
            let graph = self.search.graph(&self.orders)?;
            let mut cycles = self.search.forbidden(&self.orders, &graph, CYCLES_MAX)?;
            drop(graph);
            if cycles.is_empty() {
                return Ok(Found::Kept(self.orders));
            }
            cycles.iter_mut().for_each(|cycle| shorten(cycle, self.search.requirement.level));
            cycles.sort_by_key(Vec::len);
            if telling.as_ref().is_none_or(misleads) {
                telling = cycles.iter().find(|cycle| !misleads(cycle)).cloned().or(telling).or(cycles.first().cloned());
            }
            for cycle in &cycles {
                let rule = self.rule(cycle);
                if rule.is_empty() {
                    return Ok(Found::Forbidden(cycle.clone(), 0));
                }
                self.add(&rule)?;
            }
            if !self.arrange()? {
                return Ok(Found::Forbidden(telling.unwrap_or_default(), self.rules));
            }
        }
    }

    fn add(&mut self, rule: &[Lit]) -> Result<(), Spent> {
        self.literals += rule.len();
        self.search.budget.afford_literals(self.literals)?;
        self.sat.add(rule);
        self.rules += 1;
        Ok(())
    }

    /// "Not all of these pairs as they are": the pairs whose order on the cycle is a choice.
    fn rule(&mut self, cycle: &Cycle) -> Vec<Lit> {
        let mut rule = Vec::new();
        for (_, edge) in cycle.iter().filter(|(_, edge)| matches!(edge.kind, EdgeKind::Ww | EdgeKind::Rw)) {
            if Orders::is_choice(&self.search.facts.keys[edge.key.0 as usize], edge.low, edge.high) {
                rule.push(self.not_before(edge.key, edge.low, edge.high));
            }
        }
        rule
    }

    /// "The first version is not before the second one."
    fn not_before(&mut self, id: KeyId, low: Version, high: Version) -> Lit {
        let key = &self.search.facts.keys[id.0 as usize];
        let is_guessed = self.guess.is_before(id, key, low, high);
        let pair = if is_guessed { (low, high) } else { (high, low) };
        let variable = *self.pairs.entry(id).or_default().entry(pair).or_insert_with(|| self.sat.variable());
        if is_guessed { variable.pos_lit() } else { variable.neg_lit() }
    }

    /// Arranges the versions of every key as the solver says; false if there is no way to.
    fn arrange(&mut self) -> Result<bool, Spent> {
        loop {
            match self.solve()? {
                Answer::Impossible => return Ok(false),
                Answer::Possible | Answer::Unknown => {}
            }
            let keys: Vec<KeyId> = self.pairs.keys().copied().collect();
            let mut circles = Vec::new();
            for id in keys {
                match self.sequence(id) {
                    Ok(sequence) => self.orders.arrange(id, &self.search.facts.keys[id.0 as usize], sequence),
                    Err(circle) => circles.push((id, circle)),
                }
            }
            if circles.is_empty() {
                return Ok(true);
            }
            for (id, circle) in circles {
                let rule: Vec<Lit> = circle.into_iter().map(|(low, high)| self.not_before(id, low, high)).collect();
                self.add(&rule)?;
            }
        }
    }

    fn solve(&mut self) -> Result<Answer, Spent> {
        loop {
            self.search.budget.tick()?;
            match self.sat.solve(SOLVER_STEPS) {
                Answer::Unknown => {}
                answer => return Ok(answer),
            }
        }
    }

    /// The versions of a key, such that all named pairs are as the solver says, and the others as guessed where that is
    /// possible; or pairs that lead in a circle.
    fn sequence(&self, id: KeyId) -> Result<Vec<Version>, Vec<Pair>> {
        let key = &self.search.facts.keys[id.0 as usize];
        let mut after: HashMap<Version, Vec<Version>> = HashMap::new();
        let mut before: HashMap<Version, Vec<Version>> = HashMap::new();
        for ((low, high), variable) in self.pairs.get(&id).into_iter().flatten() {
            let (first, second) = if self.sat.is_true(*variable) { (*high, *low) } else { (*low, *high) };
            after.entry(first).or_default().push(second);
            before.entry(second).or_default().push(first);
        }
        let mut missing: HashMap<Version, usize> = before.iter().map(|(to, from)| (*to, from.len())).collect();
        let guess = self.guess.sequence(id);
        let rank = |version: Version| Reverse((self.guess.rank(id, key, version), version));
        let is_free = |version: &&Version| !before.contains_key(*version);
        let mut ready: BinaryHeap<_> = guess.iter().filter(is_free).map(|version| rank(*version)).collect();
        let mut sequence = Vec::with_capacity(guess.len());
        while let Some(Reverse((_, version))) = ready.pop() {
            sequence.push(version);
            for next in after.get(&version).into_iter().flatten() {
                let left = missing.entry(*next).or_default();
                *left -= 1;
                if *left == 0 {
                    missing.remove(next);
                    ready.push(rank(*next));
                }
            }
        }
        match missing.keys().min() {
            None => Ok(sequence),
            Some(start) => Err(circle(*start, &before, &missing)),
        }
    }
}

/// A circle among those that others keep waiting: each of them waits for another one.
fn circle(start: Version, before: &HashMap<Version, Vec<Version>>, missing: &HashMap<Version, usize>) -> Vec<Pair> {
    let waits_for = |version: Version| before[&version].iter().copied().find(|other| missing.contains_key(other));
    let mut way = vec![start];
    loop {
        let here = way[way.len() - 1];
        let Some(next) = waits_for(here) else { return Vec::new() };
        if let Some(from) = way.iter().position(|version| *version == next) {
            way.push(next);
            return way[from..].windows(2).map(|pair| (pair[1], pair[0])).collect();
        }
        way.push(next);
    }
}

/// Leaves out versions of a key that stand between two others on a cycle; it keeps its form.
fn shorten(cycle: &mut Cycle, level: Level) {
    let mut at = 0;
    let mut kept = 0;
    while kept < cycle.len() && cycle.len() > 2 {
        let next = (at + 1) % cycle.len();
        let ((from, first), (_, second)) = (cycle[at], cycle[next]);
        let follows = first.key == second.key && first.high == second.low && second.kind == EdgeKind::Ww;
        // Snapshot isolation forbids cycles in which no two `rw` are neighbours: what stands between two of them must stay.
        let is_apart = level != Level::SnapshotIsolation || cycle[(at + 2) % cycle.len()].1.kind != EdgeKind::Rw;
        let may_merge = first.kind == EdgeKind::Ww || (first.kind == EdgeKind::Rw && is_apart);
        if follows && may_merge && second.to != from {
            (cycle[at].1.to, cycle[at].1.high) = (second.to, second.high);
            cycle.remove(next);
            at -= usize::from(next < at);
            kept = 0;
        } else {
            at = next;
            kept += 1;
        }
    }
}
