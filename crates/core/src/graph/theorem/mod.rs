//! The theorem, tried out: whatever the interleaving and the views, every order that respects the graph shows every
//! statement the same rows again, lets it do the same, and ends the same.
//!
//! The store is a toy (`store`), but the statements are not (`plan`): which rows they choose and what they write depends on
//! the values of all rows that they refer to, so that a dependency too few shows sooner or later. A second test takes the
//! graph's edges away, one kind after the other, and demands that it does show.

mod plan;
mod store;

use std::collections::{BTreeMap, BTreeSet};

use super::{EdgeKind, Graph, Odd, Row, Version};
use crate::generate::random::Random;
use crate::level::formal::Level;
use crate::schedule::StepRef;
use plan::{Effect, Plan, View};
use store::{Bug, Run, replay, run};

const VIEWS: [View; 3] = [View::ReadCommitted, View::Snapshot, View::Mixed];
const SEEDS: u64 = 600;
const ORDERS: usize = 50;

/// Runs until there is no cycle.
fn decycled(plan: &mut Plan, random: &mut Random) -> (Run, Graph, usize) {
    let count: usize = plan.transactions.iter().map(|transaction| transaction.programs.len()).sum();
    for round in 0..=count {
        let run = run(plan, Bug::None);
        let graph = run.graph().expect("a store without bugs shows nothing odd");
        let removed = graph.to_remove(random);
        if removed.is_empty() {
            return (run, graph, round);
        }
        let steps: Vec<StepRef> = removed.iter().map(|at| graph.statements[*at].step.clone()).collect();
        plan.remove(&steps);
    }
    panic!("decycling does not end");
}

/// Whether statements that run in an order, without transactions, do the same as in the run.
fn agrees(plan: &Plan, run: &Run, graph: &Graph, order: &[usize]) -> bool {
    let steps: Vec<&StepRef> = order.iter().map(|at| &graph.statements[*at].step).collect();
    let (effects, end) = replay(plan, &steps);
    // An INSERT of given values does not care what else is in its table.
    let cared = |effects: &BTreeMap<StepRef, Effect>, at: usize| {
        let statement = &graph.statements[at];
        let mut effect = effects[&statement.step].clone();
        effect.seen.retain(|row, _| statement.uses[&row.table].is_any());
        effect
    };
    order.iter().all(|at| cared(&effects, *at) == cared(&run.effects, *at)) && end == run.end
}

/// What a test has come across: so that it is known to have been one.
#[derive(Debug, Default)]
struct Coverage {
    kinds: BTreeMap<EdgeKind, usize>,
    births: usize,
    deaths: usize,
    /// How often somebody did not find a row that was born and died in the run, and was put after its death.
    after_both: usize,
    strangers: usize,
    statements: usize,
    rounds: usize,
}

impl Coverage {
    fn add(&mut self, run: &Run, graph: &Graph, rounds: usize) {
        let writes = || graph.statements.iter().flat_map(|statement| &statement.writes);
        let born: BTreeSet<&Row> = writes().filter(|write| write.before.is_none()).map(|write| &write.row).collect();
        self.births += born.len();
        self.deaths += writes().filter(|write| write.after.is_none()).count();
        for edge in &graph.edges {
            *self.kinds.entry(edge.kind).or_insert(0) += 1;
            let wrote = |row: &Row| graph.statements[edge.to].writes.iter().any(|write| write.row == *row);
            let after_both = |(row, version): &&(Row, Version)| version.is_none() && born.contains(row) && !wrote(row);
            self.after_both += edge.rows.iter().filter(after_both).count();
        }
        self.strangers += run.strangers.len();
        self.statements += graph.statements.len();
        self.rounds += rounds;
    }
}

#[test]
fn every_order_that_respects_the_graph_does_the_same() {
    let mut coverage = Coverage::default();
    for seed in 0..SEEDS {
        let mut random = Random::new(seed, &[6]);
        let mut plan = Plan::random(&mut random, &VIEWS);
        let (run, graph, rounds) = decycled(&mut plan, &mut random);
        coverage.add(&run, &graph, rounds);
        let first = graph.first_order().expect("there is no cycle");
        assert!(agrees(&plan, &run, &graph, &first), "seed {seed}: the first order");
        for at in 0..ORDERS {
            let order = graph.order(&mut random).expect("there is no cycle");
            assert!(graph.respects(&order), "seed {seed}, order {at}");
            assert!(agrees(&plan, &run, &graph, &order), "seed {seed}, order {at}: {order:?}");
        }
    }
    assert_eq!(coverage.kinds.len(), 8, "{coverage:?}");
    assert!(coverage.kinds.values().all(|count| *count > 50), "{coverage:?}");
    let others = [coverage.births, coverage.deaths, coverage.after_both, coverage.strangers, coverage.rounds];
    assert!(others.iter().all(|count| *count > 50), "{coverage:?}");
    assert!(coverage.statements > SEEDS as usize * 6, "{coverage:?}");
}

#[test]
fn without_edges_of_a_kind_some_order_differs() {
    let needed = [
        EdgeKind::PredicateRead,
        EdgeKind::PredicateWrite,
        EdgeKind::PredicateAnti,
        EdgeKind::ValueWrite,
        EdgeKind::Key,
    ];
    let mut missed: BTreeSet<EdgeKind> = BTreeSet::new();
    for seed in 0..SEEDS {
        let mut random = Random::new(seed, &[7]);
        let mut plan = Plan::random(&mut random, &VIEWS);
        let (run, graph, _) = decycled(&mut plan, &mut random);
        for kind in needed {
            let mut weaker = graph.clone();
            weaker.edges.retain(|edge| edge.kind != kind);
            let mut orders = (0..5).filter_map(|_| weaker.order(&mut random));
            if orders.any(|order| !agrees(&plan, &run, &weaker, &order)) {
                missed.insert(kind);
            }
        }
    }
    assert_eq!(missed, BTreeSet::from(needed));
}

#[test]
fn nobody_is_accused_of_what_their_view_allows() {
    // A mixture of views is worth read committed, and no more: some of the runs would be found guilty otherwise.
    let worth = [
        (View::ReadCommitted, Level::MonotonicAtomicView, Level::SnapshotIsolation),
        (View::Snapshot, Level::SnapshotIsolation, Level::Serializable),
        (View::Mixed, Level::ReadCommitted, Level::MonotonicAtomicView),
    ];
    for (view, level, above) in worth {
        let mut guilty_above = 0;
        for seed in 0..1_000 {
            let plan = Plan::random(&mut Random::new(seed, &[8]), &[view]);
            let graph = run(&plan, Bug::None).graph().expect("nothing is odd");
            assert_eq!(graph.isolation(level), None, "{view:?}, seed {seed}");
            guilty_above += usize::from(graph.isolation(above).is_some());
        }
        assert!(guilty_above > 0, "{view:?} never differs from {above}");
    }
}

#[test]
fn transactions_one_after_the_other_are_serializable() {
    for seed in 0..200 {
        let mut plan = Plan::random(&mut Random::new(seed, &[9]), &VIEWS);
        plan.schedule.sort_unstable();
        let graph = run(&plan, Bug::None).graph().expect("nothing is odd");
        assert_eq!((graph.cyclic(), graph.isolation(Level::Serializable)), (Vec::new(), None), "seed {seed}");
    }
}

/// How many of the runs with a bug show something odd of that kind.
fn odd_count(bug: Bug, view: View, is_expected: impl Fn(&Odd) -> bool) -> usize {
    let odd = |seed: u64| run(&Plan::random(&mut Random::new(seed, &[10]), &[view]), bug).graph().err();
    (0..SEEDS).filter_map(odd).filter(is_expected).count()
}

#[test]
fn bugs_show() {
    for view in VIEWS {
        assert_eq!(odd_count(Bug::None, view, |_| true), 0, "{view:?}");
    }
    assert!(odd_count(Bug::DirtyReads, View::ReadCommitted, |odd| matches!(odd, Odd::Stranger { .. })) > 20);
    assert!(odd_count(Bug::LostUpdates, View::Snapshot, |odd| matches!(odd, Odd::Fork { .. })) > 20);
    assert!(odd_count(Bug::ForgottenInserts, View::Mixed, |odd| matches!(odd, Odd::Vanished { .. })) > 20);
}
