//! Is there an order of versions under which the level is kept?
//!
//! Registers do not tell what they overwrote. A database has *some* order of versions, and a history violates a level only
//! if every order does. There are too many to try; but nearly always one of them is obvious.
//!
//! 1. Guess: versions in the order in which their writers ended. If that works, it is the witness; on a healthy database it
//!    does, and one graph is all that is ever built.
//! 2. What is known without any choice may already be a cycle.
//! 3. Guess again: an order in which everything known leads forward.
//! 4. Otherwise learn from failure (`learn`).

use super::super::History;
use super::super::facts::{Facts, Node};
use super::budget::{CheckBudget, Spent};
use super::graph::{EdgeKind, Graph, GraphScope};
use super::learn::Learner;
use super::orders::Orders;
use super::relation::Chosen;
use super::seen::topological;
use super::walk::Cycle;
use crate::level::formal::{Level, Requirement};

/// What a search found out.
pub(super) enum Found {
    /// These orders keep the level.
    Kept(Orders),
    /// No order does. A cycle, and how many other cycles it takes to see that no order helps (0: this one suffices).
    Forbidden(Cycle, usize),
    /// The budget is spent.
    Undecided(String),
}

/// Looks for an order.
pub(super) fn search(history: &History, facts: &Facts, requirement: Requirement, budget: CheckBudget<'_>) -> Found {
    let search = Search { history, facts, requirement, budget };
    search.run().unwrap_or_else(|spent| Found::Undecided(spent.to_string()))
}

/// A question about an order.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub(super) history: &'a History,
    pub(super) facts: &'a Facts,
    pub(super) requirement: Requirement,
    pub(super) budget: CheckBudget<'a>,
}

impl Search<'_> {
    fn run(self) -> Result<Found, Spent> {
        let in_time = Orders::guess(self.facts, rank_in_time(self.history, self.facts));
        if self.is_kept_by(&in_time)? {
            return Ok(Found::Kept(in_time));
        }
        let guessed = self.forbidden(&in_time, &self.graph(&in_time)?, 1)?.pop();
        let nothing_to_guess = self.facts.keys.iter().all(|key| key.loose.len() < 2);
        match guessed {
            None => return Ok(Found::Kept(in_time)),
            Some(cycle) if nothing_to_guess => return Ok(Found::Forbidden(cycle, 0)),
            Some(_) => {}
        }
        let open = Orders::open(self.facts);
        let known = self.graph(&open)?;
        if let Some(cycle) = self.forbidden(&open, &known, 1)?.pop() {
            return Ok(Found::Forbidden(cycle, 0));
        }
        let forward = Orders::guess(self.facts, rank_forward(&known, self.requirement.level));
        drop(known);
        if self.forbidden(&forward, &self.graph(&forward)?, 1)?.is_empty() {
            return Ok(Found::Kept(forward));
        }
        drop(forward);
        Learner::new(self, in_time).run()
    }

    /// True if orders keep the level, as far as that can be told from a part of the graph. Anti-dependencies lead back
    /// everywhere, so that the part would be the whole.
    fn is_kept_by(&self, orders: &Orders) -> Result<bool, Spent> {
        let scope = self.scope();
        if scope.has_rw {
            return Ok(false);
        }
        let part = Graph::around_cycles(self.history, self.facts, orders, scope, self.budget)?;
        Ok(self.forbidden(orders, &part.unwrap_or_default(), 1)?.is_empty())
    }

    /// The dependency graph under some orders.
    pub(super) fn graph(&self, orders: &Orders) -> Result<Graph, Spent> {
        Graph::new(self.history, self.facts, orders, self.scope(), self.budget)
    }

    fn scope(&self) -> GraphScope {
        let Requirement { level, order } = self.requirement;
        // Weak levels are about dependencies alone; lost updates are found without a graph.
        let has_rw = !matches!(level, Level::ReadUncommitted | Level::ReadCommitted | Level::CursorStability);
        GraphScope { order, has_rw }
    }

    /// Cycles that the level forbids, at most so many.
    pub(super) fn forbidden(&self, orders: &Orders, graph: &Graph, count_max: usize) -> Result<Vec<Cycle>, Spent> {
        let chosen = Chosen { facts: self.facts, orders, graph, budget: self.budget };
        chosen.forbidden(self.requirement.level, count_max)
    }
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
    let order = topological(known, |edge| with_rw || edge.kind != EdgeKind::Rw);
    let mut ranks = vec![u64::MAX; known.len()];
    order.iter().enumerate().for_each(|(at, node)| ranks[*node as usize] = at as u64);
    move |node| ranks[node as usize]
}
