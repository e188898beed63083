//! Does a history satisfy a level?
//!
//! ```text
//!   History ──facts──→ who read what from whom; oddities ──→ forbidden by the level? violated
//!                          │
//!                          ├─ monotonic atomic view, read atomic, causal ── commit: implied edges, one graph
//!                          └─ the others ── search: is there an order of versions without a forbidden cycle?
//! ```
//!
//! * [`budget`]: what a check may take
//! * [`graph`]: the dependency graph under one choice of version orders ([`orders`])
//! * [`walk`]: cycles of a given form, in linear time
//! * `relation`: which cycles a level forbids
//! * `search`: version orders that nobody observed: guessed, then learnt
//! * `learn`: rules that forbidden cycles teach
//! * `commit`, `seen`: the levels that need no version order
//! * `stretches`: the parts of a history that can hold cycles
//! * `rests`: which order of transactions an edge of a commit order rests on
//!
//! The answer is never wrong: it holds and there is a witness, it is violated and there is a reason, or the budget was
//! spent.

pub mod budget;
pub mod graph;
pub mod orders;
pub mod walk;
mod relation;
mod search;
mod stretches;
mod learn;
mod commit;
mod seen;
mod rests;
#[cfg(test)]
mod tests;

use super::History;
use super::facts::{self, DuplicateWrite, Facts, Oddity};
use crate::level::formal::{Level, Order, Requirement};
use budget::{CheckBudget, Spent};
use commit::CommitEdges;
use graph::Graph;
use orders::Orders;
use search::Found;
use walk::{Cycle, Walk, Walker};

/// Whether a history satisfies a level.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// It does.
    Holds(Witness),
    /// It does not.
    Violated(Reason),
    /// The time was over before it was known.
    Undecided(String),
}

/// Why a history satisfies a level.
#[derive(Debug, Clone)]
pub enum Witness {
    /// With these version orders there is no forbidden cycle.
    Versions(Orders),
    /// There is a commit order.
    CommitOrder,
    /// Nothing was asked for.
    Nothing,
}

/// Why a history does not satisfy a level.
#[derive(Debug, Clone)]
pub enum Reason {
    /// A read makes no sense.
    Odd(Oddity),
    /// A cycle that the level forbids.
    Cycle {
        /// The cycle.
        cycle: Cycle,
        /// How many further cycles it takes to see that no other order of versions helps; 0 if every edge was observed.
        others: usize,
    },
}

impl Verdict {
    /// Whether it holds.
    pub fn holds(&self) -> bool {
        matches!(self, Verdict::Holds(_))
    }

    /// Whether it is violated.
    pub fn is_violated(&self) -> bool {
        matches!(self, Verdict::Violated(_))
    }
}

/// Checks a history against a level, taking as long as it takes.
pub fn check(history: &History, requirement: impl Into<Requirement>) -> Result<Verdict, DuplicateWrite> {
    Ok(Checker::new(history)?.check(requirement.into(), &|| false))
}

/// A history whose facts are known: for more than one question.
#[derive(Debug)]
pub struct Checker<'a> {
    history: &'a History,
    /// The facts.
    pub facts: Facts,
}

impl<'a> Checker<'a> {
    /// Collects the facts.
    pub fn new(history: &'a History) -> Result<Checker<'a>, DuplicateWrite> {
        Ok(Checker { history, facts: facts::collect(history)? })
    }

    /// Checks one level; undecided as soon as `should_stop` says so.
    pub fn check(&self, requirement: Requirement, should_stop: &dyn Fn() -> bool) -> Verdict {
        self.check_within(requirement, CheckBudget::time(should_stop))
    }

    /// Checks one level; undecided if that takes more than the budget.
    pub fn check_within(&self, requirement: Requirement, budget: CheckBudget<'_>) -> Verdict {
        if let Some(oddity) = self.facts.forbidden(requirement.level).next() {
            return Verdict::Violated(Reason::Odd(*oddity));
        }
        match requirement.level {
            Level::MonotonicAtomicView | Level::ReadAtomic | Level::Causal => self.commit_order(requirement, budget),
            _ => match search::search(self.history, &self.facts, requirement, budget) {
                Found::Kept(orders) => Verdict::Holds(Witness::Versions(orders)),
                Found::Forbidden(cycle, others) => Verdict::Violated(Reason::Cycle { cycle, others }),
                Found::Undecided(reason) => Verdict::Undecided(reason),
            },
        }
    }

    fn commit_order(&self, requirement: Requirement, budget: CheckBudget<'_>) -> Verdict {
        match self.commit_cycle(requirement, budget) {
            Ok(Some(cycle)) => Verdict::Violated(Reason::Cycle { cycle, others: 0 }),
            Ok(None) => Verdict::Holds(Witness::CommitOrder),
            // What holds with sessions holds without.
            Err(spent) if requirement.order == Order::Free => {
                let stricter = self.commit_order(requirement.level.with(Order::Session), budget);
                if stricter.holds() { stricter } else { Verdict::Undecided(spent.to_string()) }
            }
            Err(spent) => Verdict::Undecided(spent.to_string()),
        }
    }

    /// A cycle that no commit order can have.
    fn commit_cycle(&self, requirement: Requirement, budget: CheckBudget<'_>) -> Result<Option<Cycle>, Spent> {
        let edges = CommitEdges::of(self.history, &self.facts, requirement, budget)?;
        let cycle = |graph: &Graph| Walker::new(graph, Walk::All).cycles(1, budget.should_stop).into_iter().next();
        let Some(part) = edges.around_cycles(budget)?.filter(|part| cycle(part).is_some()) else { return Ok(None) };
        // The whole graph has more proofs of the same edges, and perhaps a shorter cycle, if there is room for it.
        let graph = edges.graph(budget).unwrap_or(part);
        let mut found = cycle(&graph);
        if let Some(found) = &mut found {
            rests::mark(self.history, &self.facts, &graph, requirement.level, found);
        }
        Ok(found)
    }
}
