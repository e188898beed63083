use std::collections::BTreeSet;

use super::*;
use crate::graph::notation::bare;

/// An acyclic graph: edges lead forward in some order of the statements.
fn random_graph(random: &mut Random, count_max: usize) -> Graph {
    let count = 1 + random.below(count_max);
    let mut order: Vec<usize> = (0..count).collect();
    random.shuffle(&mut order);
    let mut edges = Vec::new();
    for _ in 0..random.below(2 * count) {
        let (a, b) = (random.below(count), random.below(count));
        if a != b {
            edges.push((order[a.min(b)], order[a.max(b)]));
        }
    }
    bare(count, &edges)
}

/// All orders, by trying everything.
fn all_orders(graph: &Graph) -> BTreeSet<Vec<usize>> {
    fn go(graph: &Graph, order: &mut Vec<usize>, found: &mut BTreeSet<Vec<usize>>) {
        if order.len() == graph.statements.len() {
            found.insert(order.clone());
        }
        for at in 0..graph.statements.len() {
            let waits = graph.edges.iter().any(|edge| edge.to == at && !order.contains(&edge.from));
            if !order.contains(&at) && !waits {
                order.push(at);
                go(graph, order, found);
                order.pop();
            }
        }
    }
    let mut found = BTreeSet::new();
    go(graph, &mut Vec::new(), &mut found);
    found
}

#[test]
fn the_first_order_is_nearest_to_how_it_was() {
    assert_eq!(bare(4, &[(3, 1)]).first_order(), Some(vec![0, 2, 3, 1]));
    assert_eq!(bare(0, &[]).first_order(), Some(vec![]));
    let mut reversed = bare(3, &[]);
    reversed.statements.iter_mut().for_each(|statement| statement.done = 9 - statement.done);
    assert_eq!(reversed.first_order(), Some(vec![2, 1, 0]));
}

#[test]
fn a_cycle_has_no_order() {
    let graph = bare(3, &[(0, 1), (1, 2), (2, 1)]);
    assert_eq!((graph.order(&mut Random::new(1, &[])), graph.first_order(), graph.order_count(9)), (None, None, 0));
    assert_eq!(graph.zero_in_degree(), [0]);
}

#[test]
fn orders_that_do_not_fit_are_refused() {
    let graph = bare(3, &[(0, 1)]);
    assert!(graph.respects(&[2, 0, 1]) && graph.respects(&[0, 2, 1]));
    for wrong in [&[1, 0, 2][..], &[0, 1], &[0, 1, 1], &[0, 1, 2, 2], &[0, 1, 3]] {
        assert!(!graph.respects(wrong), "{wrong:?}");
    }
}

#[test]
fn counts_are_those_of_trying_everything() {
    let mut random = Random::new(21, &[]);
    for _ in 0..1_500 {
        let graph = random_graph(&mut random, 7);
        let count = all_orders(&graph).len() as u64;
        assert_eq!(graph.order_count(u64::MAX), count, "{:?}", graph.edges);
        let max = 1 + random.below(50) as u64;
        assert_eq!(graph.order_count(max), count.min(max), "{:?}", graph.edges);
    }
}

#[test]
fn counts_of_large_graphs_stop_in_time() {
    assert_eq!(bare(100, &[]).order_count(10_000), 10_000);
    let chain: Vec<(usize, usize)> = (0..99).map(|at| (at, at + 1)).collect();
    assert_eq!(bare(100, &chain).order_count(10_000), 1);
    assert_eq!(bare(101, &chain).order_count(10_000), 101);
    assert_eq!(bare(10, &[]).order_count(u64::MAX), 3_628_800);
}

#[test]
fn orders_by_chance_are_orders_and_reach_all() {
    let mut random = Random::new(22, &[]);
    for _ in 0..3_000 {
        let graph = random_graph(&mut random, 20);
        let order = graph.order(&mut random).unwrap();
        assert!(graph.respects(&order), "{:?}: {order:?}", graph.edges);
        let first = graph.first_order().unwrap();
        assert!(graph.respects(&first) && graph.zero_in_degree().contains(&order[0]), "{:?}", graph.edges);
    }
    for _ in 0..100 {
        let graph = random_graph(&mut random, 4);
        let found: BTreeSet<Vec<usize>> = (0..500).filter_map(|_| graph.order(&mut random)).collect();
        assert_eq!(found, all_orders(&graph), "{:?}", graph.edges);
    }
}
