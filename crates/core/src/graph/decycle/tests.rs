use super::*;
use crate::graph::notation::{bare, graph};

/// A graph of up to `count_max` statements with so many edges, in any direction.
fn random_graph(random: &mut Random, count_max: usize) -> Graph {
    let count = 1 + random.below(count_max);
    let edges: Vec<(usize, usize)> =
        (0..random.below(3 * count)).map(|_| (random.below(count), random.below(count))).collect();
    bare(count, &edges)
}

/// What is left without some statements.
fn without(graph: &Graph, removed: &[usize]) -> Graph {
    let left: Vec<usize> = (0..graph.statements.len()).filter(|at| !removed.contains(at)).collect();
    let place = |at: usize| left.iter().position(|other| *other == at);
    let edges = graph.edges.iter().filter_map(|edge| Some((place(edge.from)?, place(edge.to)?)));
    bare(left.len(), &edges.collect::<Vec<_>>())
}

#[test]
fn components_are_those_that_reach_each_other() {
    assert!(bare(3, &[(0, 1), (1, 2), (0, 2)]).cyclic().is_empty());
    let graph = bare(6, &[(4, 1), (1, 4), (0, 1), (2, 3), (3, 5), (5, 2), (4, 2)]);
    assert_eq!(graph.cyclic(), [vec![1, 4], vec![2, 3, 5]]);
    assert_eq!(graph.shortest_cycle(), Some(vec![1, 4]));
    assert!(bare(1, &[(0, 0)]).cyclic().is_empty(), "nobody waits for themselves");
}

#[test]
fn a_statement_on_all_cycles_goes_alone() {
    // Two cycles that share 2.
    let graph = bare(5, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2)]);
    assert_eq!(graph.to_remove(&mut Random::new(1, &[])), [2]);
    assert_eq!(graph.shortest_cycle(), Some(vec![0, 1, 2]));
}

#[test]
fn equals_go_by_chance() {
    let graph = bare(2, &[(0, 1), (1, 0)]);
    let removed = |seed| graph.to_remove(&mut Random::new(seed, &[]));
    assert_eq!(removed(3), removed(3));
    assert!((0..20).any(|seed| removed(seed) == [0]) && (0..20).any(|seed| removed(seed) == [1]));
}

#[test]
fn write_skew_is_a_cycle() {
    let graph = graph(
        "a1 T0 uses t:r sees t1=0 t2=0 outputs t1=0
         b1 T1 uses t:w sees t1=0 t2=0 writes t1:0>5
         a2 T0 uses t:w sees t1=0 t2=0 writes t2:0>6",
    );
    assert_eq!((graph.cyclic(), graph.shortest_cycle()), (vec![vec![1, 2]], Some(vec![1, 2])));
}

#[test]
fn what_is_left_has_no_cycle_and_nobody_goes_in_vain() {
    let mut random = Random::new(11, &[]);
    let (mut cyclic, mut removed_sum) = (0, 0);
    for _ in 0..3_000 {
        let graph = random_graph(&mut random, 12);
        let removed = graph.to_remove(&mut random);
        assert!(without(&graph, &removed).cyclic().is_empty(), "{:?}", graph.edges);
        for kept in &removed {
            let others: Vec<usize> = removed.iter().copied().filter(|at| at != kept).collect();
            assert!(!without(&graph, &others).cyclic().is_empty(), "{kept} could stay: {:?}", graph.edges);
        }
        assert_eq!(graph.cyclic().is_empty(), removed.is_empty());
        assert_eq!(graph.cyclic().is_empty(), graph.first_order().is_some());
        cyclic += usize::from(!removed.is_empty());
        removed_sum += removed.len();
    }
    assert!(cyclic > 500 && removed_sum < 3 * cyclic, "{cyclic} {removed_sum}");
}

/// All cycles, by trying every path.
fn shortest_length(followers: &[Vec<usize>], path: &mut Vec<usize>, best: &mut usize) {
    for next in followers[path[path.len() - 1]].clone() {
        if next == path[0] {
            *best = (*best).min(path.len());
        } else if next > path[0] && !path.contains(&next) {
            path.push(next);
            shortest_length(followers, path, best);
            path.pop();
        }
    }
}

#[test]
fn shortest_cycles_are_cycles_and_shortest() {
    let mut random = Random::new(12, &[]);
    for _ in 0..1_000 {
        let graph = random_graph(&mut random, 8);
        let followers = graph.followers();
        let mut best = usize::MAX;
        (0..followers.len()).for_each(|start| shortest_length(&followers, &mut vec![start], &mut best));
        let Some(cycle) = graph.shortest_cycle() else {
            assert_eq!(best, usize::MAX, "{:?}", graph.edges);
            continue;
        };
        assert_eq!(cycle.len(), best, "{:?}", graph.edges);
        let next = |place: usize| cycle[(place + 1) % cycle.len()];
        assert!((0..cycle.len()).all(|place| followers[cycle[place]].contains(&next(place))), "{cycle:?}");
        assert_eq!(cycle.iter().min(), cycle.first());
    }
}
