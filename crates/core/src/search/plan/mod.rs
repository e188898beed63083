//! Plans: who runs when, and who sees what.
//!
//! # The problem
//!
//! A cycle says who reads what of whom. For that to happen, its statements must be executed in a suitable order, and
//! see the right things: on a store, what has been delivered; on an engine, what snapshots and locks let them see.
//!
//! ```text
//!   cycle:  A.select ──rw──→ B.update,  B.select ──rw──→ A.update
//!
//!   moves:  0 A.select   1 B.select   2 B.update   3 B.commit   4 A.update   5 A.commit
//!   sees:                                                        (2, if A is at read committed)
//!   apart:  at snapshot isolation, 2 and 4 must not touch the same row: A would be refused
//! ```
//!
//! # The idea
//!
//! What a plan leaves open, a solver decides afterwards: arguments, rows, and whether those meet who must, and those do
//! not who must not. So the plans of a cycle are enumerated, the simplest first:
//!
//! 1. `steps`: each call along its way: its statements and the ends of its transactions
//! 2. `arrange`: the statements of the cycle in every order, the rest around them
//! 3. `store`: visibility by axioms, the least that the cycle needs and the most that it allows; where no axiom says
//!    anything, it is left to the solver, and one plan serves all cycles with this order; or
//! 4. `engine`: visibility, waiting and refusals by rules
//! 5. `rows`: what is known to be the same row, without a solver; it often shows that there is no plan
//! 6. [`prefix`]: calls that were over before
//!
//! Hops demand: *wr*: the second sees the first. *rw*: the first does not see the second. *ww*: the first comes before
//! the second. What else happens between the calls, outside the cycle, follows from what is seen.
//!
//! # What no plan means
//!
//! That the level forbids the cycle for these ways, in every order of its statements that is looked at. Nobody waits in
//! a plan: what would wait is *apart*. Calls that are one transaction each have no plan at a serializable level; a call
//! that commits in the middle may have one, and rightly so.

mod steps;
mod arrange;
mod scene;
mod rows;
mod store;
mod engine;
pub mod prefix;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use crate::flow::program::Given;
use crate::program::paths::Way;
use crate::search::conflicts::{Conflicts, Kind};
use crate::search::cycles::Cycle;
use crate::search::level::Target;
use crate::search::level::engines::View;
use arrange::{Choice, Interleaving, arrange, choices, interleavings};
use rows::SameRows;
use scene::{Hop, Scene};
use steps::Call;
use store::Amount;

/// Who runs when, and who sees what.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Plan {
    /// Statements and ends of transactions of all instances, in the order in which they are executed (arbitration).
    pub moves: Vec<Move>,
    /// For each move, which earlier moves it sees, ascending: those that write, and all that came
    /// [before](Plan::before). Its own earlier ones are always seen, and not listed, unless the call [roams](Plan::roams).
    pub sees: Vec<Vec<usize>>,
    /// Whether each statement may be answered by any node of a store, so that calls need not see what they wrote, or saw
    /// before.
    pub roams: bool,
    /// Pairs of moves that must not touch the same row of a table: one would wait, or be refused.
    pub apart: Vec<Apart>,
    /// Whether it is left to the solver what is seen. Then `sees` says nothing yet.
    pub is_open: bool,
    /// So many moves, the first ones, are of [calls that were over](prefix) when the others began: these are seen in any
    /// case.
    pub before: usize,
}

impl Plan {
    /// The plan once it is known what is seen, by pairs of who sees and who is seen. What a call has seen once, it sees
    /// from then on, unless it roams.
    #[must_use]
    pub(super) fn settled(&self, seen: impl Iterator<Item = (usize, usize)>) -> Plan {
        let mut sees = self.sees.clone();
        for (reader, writer) in seen {
            let instance = self.moves[reader].instance;
            if self.roams {
                sees[reader].push(writer);
                continue;
            }
            for number in (reader..self.moves.len()).filter(|at| self.moves[*at].instance == instance) {
                sees[number].push(writer);
            }
        }
        for own in &mut sees {
            own.sort_unstable();
            own.dedup();
        }
        Plan { sees, is_open: false, ..self.clone() }
    }
}

/// A step of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Move {
    /// The instance: a position in [`Cycle::visits`].
    pub instance: usize,
    /// The position in [`Way::nodes`]: of a statement, or of what ends a transaction.
    pub at: usize,
}

/// Two moves that must not touch the same row of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Apart {
    /// The earlier move: a position in [`Plan::moves`].
    pub first: usize,
    /// The later one, which would wait or be refused.
    pub second: usize,
    /// The table: a position in [`Conflicts::tables`]. If one of them does not mention it, it touches the row that its
    /// foreign key refers to, or rows that refer to its own.
    pub table: u16,
}

/// What plans are asked for.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The procedures.
    pub procedures: &'a [Given<'a>],
    /// Their conflicts.
    pub conflicts: &'a Conflicts,
    /// The cycle.
    pub cycle: &'a Cycle,
    /// For each visit of the cycle, a way that passes [its nodes](Cycle::passes).
    pub ways: &'a [&'a Way],
    /// For each visit, the rules that its transactions run under: all of stores, or all of one engine. What a call sets
    /// by SET TRANSACTION comes before.
    pub levels: &'a [Target],
}

/// The plans under which the cycle's hops can hold, most promising first.
pub fn plans<'a>(question: Question<'a>) -> impl Iterator<Item = Plan> + 'a {
    Plans::new(question).into_iter().flatten()
}

/// All that is needed to make one plan after the other.
struct Plans<'a> {
    question: Question<'a>,
    calls: Vec<Call>,
    hops: Vec<Hop>,
    same: SameRows,
    orders: Vec<Interleaving>,
    choices: Vec<Choice>,
    amounts: &'static [Amount],
    is_store: bool,
    /// How many combinations have been tried.
    tried: usize,
    given: HashSet<Plan>,
}

impl<'a> Plans<'a> {
    fn new(question: Question<'a>) -> Option<Plans<'a>> {
        let calls: Option<Vec<Call>> =
            (0..question.cycle.visits.len()).map(|instance| Call::of(&question, instance)).collect();
        let calls = calls?;
        let is_store = |call: &Call| call.transactions.iter().all(|one| matches!(one.level, Target::Store(_)));
        let is_engine = |call: &Call| call.transactions.iter().all(|one| matches!(one.level, Target::Engine(_)));
        let all_stores = calls.iter().all(is_store);
        if !all_stores && !calls.iter().all(is_engine) {
            return None;
        }
        let hops = Hop::all(&question);
        if !hops.iter().all(|hop| hop.lasts(&calls)) {
            return None;
        }
        let takes_snapshots = |call: &Call| {
            call.transactions.iter().any(|transaction| match transaction.level {
                Target::Engine(rules) => matches!(rules.view, View::FirstStatement | View::FirstQuery),
                Target::Store(_) => true,
            })
        };
        let amounts = amounts(&calls, all_stores);
        let mut orders = orders(&calls, &hops, amounts == [Amount::Open]);
        if all_stores {
            orders.retain(|order| store::may_hold(&calls, &hops, order));
        }
        Some(Plans {
            same: SameRows::of(&question, &hops),
            orders,
            choices: choices(&calls, calls.iter().any(takes_snapshots), !all_stores),
            amounts,
            is_store: all_stores,
            question,
            calls,
            hops,
            tried: 0,
            given: HashSet::new(),
        })
    }

    /// The plan of a combination, if it has one.
    fn attempt(&self, number: usize) -> Option<Plan> {
        let (amounts, orders) = (self.amounts.len(), self.orders.len());
        let order = &self.orders[number / amounts % orders];
        let choice = &self.choices[number / amounts / orders];
        let items = arrange(&self.calls, order, choice);
        let scene = Scene::new(&self.question, &self.calls, &self.hops, &self.same, items);
        match self.is_store {
            true => store::plan(&scene, self.amounts[number % amounts]),
            false => engine::plan(&scene),
        }
    }
}

/// How much is seen: where no axiom says anything, that is the solver's business; otherwise the extremes are tried.
fn amounts(calls: &[Call], all_stores: bool) -> &'static [Amount] {
    let mut transactions = calls.iter().flat_map(|call| &call.transactions);
    match () {
        () if !all_stores => &[Amount::Least],
        () if transactions.all(|transaction| transaction.level.is_open()) => &[Amount::Open],
        () => &[Amount::Least, Amount::Most],
    }
}

/// How much is seen changes fastest, then the order, then where the rest is put.
impl Iterator for Plans<'_> {
    type Item = Plan;

    fn next(&mut self) -> Option<Plan> {
        while self.tried < self.orders.len() * self.choices.len() * self.amounts.len() {
            self.tried += 1;
            if let Some(plan) = self.attempt(self.tried - 1)
                && self.given.insert(plan.clone())
            {
                return Some(plan);
            }
        }
        None
    }
}

/// The orders of the cycle's statements that its hops allow, the most natural first: who reads before somebody writes
/// does so, and turns are few. If everybody may see anything, few turns count more: such orders serve many cycles.
fn orders(calls: &[Call], hops: &[Hop], is_open: bool) -> Vec<Interleaving> {
    let mut orders = interleavings(calls);
    let place = |order: &Interleaving, node: (usize, usize)| order.iter().position(|one| *one == node);
    orders.retain(|order| hops.iter().all(|hop| !hop.is_ordered() || place(order, hop.from) < place(order, hop.to)));
    orders.sort_by_cached_key(|order| {
        let is_late = |hop: &&Hop| hop.kind == Kind::Rw && place(order, hop.from) > place(order, hop.to);
        let turns = order.windows(2).filter(|pair| pair[0].0 != pair[1].0).count();
        let late = hops.iter().filter(is_late).count();
        (if is_open { (turns, late) } else { (late, turns) }, order.clone())
    });
    orders
}
