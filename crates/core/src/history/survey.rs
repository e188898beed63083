//! All levels at once: which are the strongest that hold, and which anomalies stand in the way of the others?
//!
//! Levels imply each other, so most need not be asked: what a level that holds implies holds as well. The strongest are
//! asked first; on a healthy history one question is enough.
//!
//! ```text
//!                    plain    session   strong
//!   serializable       ✗         ✗         ✗       asked
//!   snapshot is.       ✓         ✗         ✗       asked
//!   prefix             ✓         ✓         ✗       plain is implied; session and strong are asked
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::anomaly::Named;
use super::check::budget::{CheckBudget, Spent};
use super::check::graph::{Graph, GraphScope};
use super::check::orders::Orders;
use super::check::walk::{Cycle, Walk, Walker};
use super::check::{Checker, Reason, Verdict};
use super::facts::Node;
use super::{History, Status};
use crate::level::formal::{LEVELS, Level, Order, Requirement};

/// What is known of a level.
#[derive(Debug, Clone)]
pub enum Standing {
    /// It holds.
    Holds,
    /// It does not, for this reason.
    Violated(Reason),
    /// The budget was spent.
    Undecided(String),
}

/// An anomaly that was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// What it is called.
    pub named: Named,
    /// How often it was found; there may be more.
    pub count: usize,
    /// The shortest example.
    pub example: Reason,
}

/// What a history satisfies, and what not.
#[derive(Debug, Clone)]
pub struct Survey {
    /// Every level with every order that makes a difference, the strongest first.
    pub standings: Vec<(Requirement, Standing)>,
    /// The anomalies, those that weaker levels forbid first.
    pub anomalies: Vec<Found>,
}

/// What cannot be where snapshot isolation holds.
const FORBIDDEN_BY_SNAPSHOTS: &[&str] = &["P4", "G-single", "G-nonadjacent", "G-SIb", "long-fork"];

/// How many cycles of one form are looked at.
const CYCLES_MAX: usize = 64;

impl Survey {
    /// Asks for all levels. What takes more than the budget stays undecided.
    pub fn of(history: &History, checker: &Checker<'_>, budget: CheckBudget<'_>) -> Survey {
        let orders = orders(history);
        let mut standings: Vec<(Requirement, Standing)> = Vec::new();
        for row in LEVELS.iter().rev() {
            for order in orders.iter().rev() {
                let requirement = row.level.with(*order);
                let standing = known(&standings, requirement).unwrap_or_else(|| {
                    if (budget.should_stop)() {
                        return Standing::Undecided(Spent::Time.to_string());
                    }
                    match checker.check_within(requirement, budget) {
                        Verdict::Holds(_) => Standing::Holds,
                        Verdict::Violated(reason) => Standing::Violated(reason),
                        Verdict::Undecided(why) => Standing::Undecided(why),
                    }
                });
                standings.push((requirement, standing));
            }
        }
        let anomalies = anomalies(history, checker, &standings, &orders, budget);
        Survey { standings, anomalies }
    }

    /// What is known of a requirement; real time and sessions that make no difference are left out of it.
    pub fn standing(&self, requirement: Requirement) -> Option<&Standing> {
        self.standings.iter().find(|(other, _)| *other == requirement).map(|(_, standing)| standing)
    }

    /// The strongest that hold: none of them implies another one.
    pub fn strongest(&self) -> Vec<Requirement> {
        let holds = |standing: &Standing| matches!(standing, Standing::Holds);
        let all: Vec<Requirement> = self
            .standings
            .iter()
            .filter(|(_, standing)| holds(standing))
            .map(|(requirement, _)| *requirement)
            .collect();
        let is_strongest = |one: &&Requirement| !all.iter().any(|other| other != *one && other.implies(**one));
        all.iter().filter(is_strongest).copied().collect()
    }

    /// Whether there is something that could not be decided.
    pub fn is_undecided(&self) -> bool {
        self.standings.iter().any(|(_, standing)| matches!(standing, Standing::Undecided(_)))
    }
}

/// The orders that say something of this history.
fn orders(history: &History) -> Vec<Order> {
    let mut sessions = BTreeSet::new();
    let may_commit = |status: Status| status != Status::Aborted;
    let mut has_sessions = false;
    let mut has_times = false;
    for (_, transaction) in history.transactions().filter(|(_, transaction)| may_commit(transaction.status)) {
        has_sessions |= !sessions.insert(transaction.session);
        has_times |= transaction.began.is_some();
    }
    let said = [(Order::Free, true), (Order::Session, has_sessions), (Order::RealTime, has_times)];
    said.into_iter().filter(|(_, is_said)| *is_said).map(|(order, _)| order).collect()
}

/// What follows from what is known. Without predicates, repeatable read and serializable are the same.
fn known(standings: &[(Requirement, Standing)], asked: Requirement) -> Option<Standing> {
    let holds =
        |(other, standing): &&(Requirement, Standing)| other.implies(asked) && matches!(standing, Standing::Holds);
    if standings.iter().any(|known| holds(&known)) {
        return Some(Standing::Holds);
    }
    let twin = Level::Serializable.with(asked.order);
    let same = standings.iter().find(|(other, _)| asked.level == Level::RepeatableRead && *other == twin);
    let weaker =
        standings.iter().find(|(other, standing)| asked.implies(*other) && matches!(standing, Standing::Violated(_)));
    same.or(weaker).map(|(_, standing)| standing.clone())
}

/// Everything that was found on the way, and what else is easily seen.
fn anomalies(
    history: &History,
    checker: &Checker<'_>,
    standings: &[(Requirement, Standing)],
    orders: &[Order],
    budget: CheckBudget<'_>,
) -> Vec<Found> {
    let holds = |requirement: Requirement| {
        standings.iter().any(|(other, standing)| *other == requirement && matches!(standing, Standing::Holds))
    };
    let mut collection =
        Collection { is_snapshot: holds(Level::SnapshotIsolation.with(Order::Free)), ..Collection::default() };
    checker.facts.oddities.iter().for_each(|oddity| collection.add(Reason::Odd(*oddity)));
    for (_, standing) in standings.iter().rev() {
        if let Standing::Violated(reason @ Reason::Cycle { .. }) = standing {
            collection.add(reason.clone());
        }
    }
    let violated = |order: Order| {
        let asked = Level::Serializable.with(order);
        standings.iter().any(|(other, standing)| *other == asked && matches!(standing, Standing::Violated(_)))
    };
    for order in orders.iter().filter(|order| violated(**order)) {
        if (budget.should_stop)() {
            break;
        }
        let open = Orders::open(&checker.facts);
        let scope = GraphScope { order: *order, has_rw: true };
        let Ok(graph) = Graph::new(history, &checker.facts, &open, scope, budget) else { break };
        for walk in [Walk::Writes, Walk::Dependencies, Walk::Snapshot, Walk::All] {
            for cycle in Walker::new(&graph, walk).cycles(CYCLES_MAX, budget.should_stop) {
                collection.add(Reason::Cycle { cycle, others: 0 });
            }
        }
    }
    collection.finish()
}

#[derive(Default)]
struct Collection {
    /// Whether snapshot isolation holds.
    is_snapshot: bool,
    found: BTreeMap<(usize, String), Found>,
    /// The nodes of the cycles that were counted, by name.
    counted: BTreeSet<(String, Vec<Node>)>,
}

impl Collection {
    fn add(&mut self, reason: Reason) {
        let named = self.name(&reason);
        if let Reason::Cycle { cycle, .. } = &reason {
            let mut nodes: Vec<Node> = cycle.iter().map(|(node, _)| *node).collect();
            nodes.sort_unstable();
            if !self.counted.insert((named.to_string(), nodes)) {
                return;
            }
        }
        let place = super::anomaly::ALL.iter().position(|anomaly| anomaly == named.anomaly).unwrap_or(usize::MAX);
        let entry = self.found.entry((place, named.to_string()));
        let found = entry.or_insert_with(|| Found { named, count: 0, example: reason.clone() });
        found.count += 1;
        if length(&reason) < length(&found.example) {
            found.example = reason;
        }
    }

    /// The name of a violation. One branch of a case distinction may look like a lost update where snapshot isolation
    /// holds, and so there is none: all that is known then is that there is a cycle with anti-dependencies.
    fn name(&self, reason: &Reason) -> Named {
        let named = Named::of(reason);
        let is_branch = matches!(reason, Reason::Cycle { others, .. } if *others > 0);
        let is_refuted = self.is_snapshot && is_branch && FORBIDDEN_BY_SNAPSHOTS.contains(&named.anomaly.id);
        match super::anomaly::ALL.iter().find(|anomaly| anomaly.id == "G2-item") {
            Some(anomaly) if is_refuted => Named { anomaly, order: named.order },
            _ => named,
        }
    }

    fn finish(self) -> Vec<Found> {
        self.found.into_values().collect()
    }
}

/// What is easier to understand is shorter; what every order shows rather than one choice of it comes first.
fn length(reason: &Reason) -> (bool, usize) {
    match reason {
        Reason::Odd(_) => (false, 0),
        Reason::Cycle { cycle, others } => (*others > 0, Cycle::len(cycle)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::micro::micro;

    fn check(text: &str, strongest: &str, anomalies: &str) {
        let history = micro(text).unwrap();
        let checker = Checker::new(&history).unwrap();
        let survey = Survey::of(&history, &checker, CheckBudget::time(&|| false));
        let join = |names: Vec<String>| names.join(", ");
        assert_eq!(join(survey.strongest().iter().map(ToString::to_string).collect()), strongest, "{text}");
        assert_eq!(join(survey.anomalies.iter().map(|found| found.named.to_string()).collect()), anomalies, "{text}");
    }

    #[test]
    fn the_strongest_levels_are_found() {
        check("wx1 / rx1", "serializable", "");
        check("wx1 | rx1", "strong session serializable", "");
        check("wx1 ry_ / wy1 rx_", "snapshot isolation", "write-skew");
        check(
            "wx1 | rx_",
            "serializable, strong session monotonic atomic view, strong session cursor stability",
            "commit-order-process, G-single-process",
        );
        check("rx7", "", "garbage-read");
        check("wx1 wx2 / rx1", "read uncommitted", "G1b");
    }

    #[test]
    fn what_follows_is_not_asked_again() {
        let history = micro("wx1 / rx1").unwrap();
        let checker = Checker::new(&history).unwrap();
        let questions = std::cell::Cell::new(0);
        let count = || {
            questions.set(questions.get() + 1);
            false
        };
        let survey = Survey::of(&history, &checker, CheckBudget::time(&count));
        assert!(questions.get() <= 4, "{} questions", questions.get());
        assert_eq!(survey.standings.len(), LEVELS.len());
        assert!(!survey.is_undecided());
    }

    #[test]
    fn time_that_is_over_leaves_it_open() {
        let history = micro("wx1 ry_ / wy1 rx_").unwrap();
        let checker = Checker::new(&history).unwrap();
        let survey = Survey::of(&history, &checker, CheckBudget::time(&|| true));
        assert!(survey.is_undecided() && survey.strongest().is_empty());
    }
}
