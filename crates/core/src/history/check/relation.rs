//! The cycles that a level forbids, in a graph whose version orders are settled.

use std::collections::{BTreeMap, VecDeque};

use super::super::KeyId;
use super::super::facts::{Facts, INITIAL, NOBODY, Node, Version};
use super::graph::{Edge, EdgeKind, Graph};
use super::orders::Orders;
use super::walk::{Cycle, Walk, Walker};
use crate::level::formal::Level;

/// Cycles that the level forbids, short ones first; at most so many. None at all means that the level is kept.
pub(super) fn forbidden(facts: &Facts, orders: &Orders, graph: &Graph, level: Level, count_max: usize) -> Vec<Cycle> {
    let walk = |walk| Walker::new(graph, walk).cycles(count_max);
    match level {
        Level::ReadUncommitted => walk(Walk::Writes),
        Level::ReadCommitted => walk(Walk::Dependencies),
        Level::CursorStability => both(walk(Walk::Dependencies), || lost_updates(facts, orders, count_max)),
        Level::Prefix => walk(Walk::Prefix),
        Level::ParallelSnapshotIsolation => both(walk(Walk::Dependencies), || single(graph, count_max)),
        Level::SnapshotIsolation => walk(Walk::Snapshot),
        _ => walk(Walk::All),
    }
}

fn both(first: Vec<Cycle>, then: impl FnOnce() -> Vec<Cycle>) -> Vec<Cycle> {
    if first.is_empty() { then() } else { first }
}

/// G-single: cycles with exactly one `rw`. The dependencies alone have no cycle.
fn single(graph: &Graph, count_max: usize) -> Vec<Cycle> {
    let all = Walker::new(graph, Walk::All);
    if all.is_acyclic() {
        return Vec::new();
    }
    let ranks = ranks(graph);
    let mut cycles: Vec<Cycle> = Vec::new();
    for node in 0..graph.transactions as Node {
        let Some(component) = all.component(node) else { continue };
        let stays = |edge: &&Edge| edge.kind == EdgeKind::Rw && all.component(edge.to) == Some(component);
        for edge in graph.edges(node).iter().filter(stays) {
            // Dependencies lead forward only.
            if ranks[edge.to as usize] < ranks[node as usize]
                && let Some(mut path) = path(graph, edge.to, node, &ranks)
            {
                path.insert(0, (node, *edge));
                cycles.push(path);
                if cycles.len() >= count_max {
                    return cycles;
                }
            }
        }
    }
    cycles.sort_by_key(Vec::len);
    cycles
}

/// A shortest way from one node to another over dependencies.
fn path(graph: &Graph, from: Node, to: Node, ranks: &[u32]) -> Option<Cycle> {
    let mut came: BTreeMap<Node, (Node, Edge)> = BTreeMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        for edge in graph.edges(node).iter().filter(|edge| edge.kind != EdgeKind::Rw) {
            let is_new = edge.to != from && !came.contains_key(&edge.to);
            if !is_new || ranks[edge.to as usize] > ranks[to as usize] {
                continue;
            }
            came.insert(edge.to, (node, *edge));
            if edge.to == to {
                let mut back = vec![came[&to]];
                while let Some(step) = back.last().and_then(|(node, _)| came.get(node)) {
                    back.push(*step);
                }
                back.reverse();
                return Some(back);
            }
            queue.push_back(edge.to);
        }
    }
    None
}

/// The place of each node in an order in which dependencies lead forward.
fn ranks(graph: &Graph) -> Vec<u32> {
    let mut incoming = vec![0u32; graph.len()];
    let dependencies = |node: Node| graph.edges(node).iter().filter(|edge| edge.kind != EdgeKind::Rw);
    (0..graph.len() as Node).for_each(|node| dependencies(node).for_each(|edge| incoming[edge.to as usize] += 1));
    let mut order: Vec<Node> = (0..graph.len() as Node).filter(|node| incoming[*node as usize] == 0).collect();
    let mut ranks = vec![0; graph.len()];
    let mut at = 0;
    while at < order.len() {
        ranks[order[at] as usize] = at as u32;
        for edge in dependencies(order[at]) {
            incoming[edge.to as usize] -= 1;
            if incoming[edge.to as usize] == 0 {
                order.push(edge.to);
            }
        }
        at += 1;
    }
    ranks
}

/// G-cursor: somebody reads a key and writes it, and another writer came between.
fn lost_updates(facts: &Facts, orders: &Orders, count_max: usize) -> Vec<Cycle> {
    let mut cycles = Vec::new();
    for read in &facts.reads {
        let key = &facts.keys[read.key.0 as usize];
        let own = (0..(key.chain.len() + key.loose.len()) as Version).filter(|own| key.writer(*own) == read.reader);
        for own in own.filter(|own| orders.is_before(read.key, key, read.version, *own)) {
            let between = |other: &Version| {
                let writer = key.writer(*other);
                ![read.reader, NOBODY, INITIAL].contains(&writer)
                    && orders.is_before(read.key, key, read.version, *other)
                    && orders.is_before(read.key, key, *other, own)
            };
            let all = 0..(key.chain.len() + key.loose.len()) as Version;
            for other in all.filter(between) {
                cycles.push(lost_update(read.key, (read.reader, read.version), (key.writer(other), other), own));
                if cycles.len() >= count_max {
                    return cycles;
                }
            }
        }
    }
    cycles
}

fn lost_update(key: KeyId, (reader, read): (Node, Version), (writer, other): (Node, Version), own: Version) -> Cycle {
    let rw = Edge { to: writer, kind: EdgeKind::Rw, key, low: read, high: other };
    let ww = Edge { to: reader, kind: EdgeKind::Ww, key, low: other, high: own };
    vec![(reader, rw), (writer, ww)]
}
