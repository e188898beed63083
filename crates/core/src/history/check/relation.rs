//! The cycles that a level forbids, in a graph whose version orders are settled.

use std::collections::{BTreeMap, VecDeque};

use super::super::KeyId;
use super::super::facts::{Facts, INITIAL, KeyFacts, NOBODY, Node, Read, Version};
use super::budget::{CheckBudget, Spent};
use super::graph::{Edge, EdgeKind, Graph};
use super::orders::Orders;
use super::seen::topological;
use super::walk::{Cycle, Walk, Walker};
use crate::level::formal::Level;

/// A graph under one choice of version orders.
pub(super) struct Chosen<'a> {
    pub(super) facts: &'a Facts,
    pub(super) orders: &'a Orders,
    pub(super) graph: &'a Graph,
    pub(super) budget: CheckBudget<'a>,
}

impl Chosen<'_> {
    /// Cycles that the level forbids, short ones first; at most so many. None at all means that the level is kept.
    pub(super) fn forbidden(&self, level: Level, count_max: usize) -> Result<Vec<Cycle>, Spent> {
        let walk = |walk| Walker::new(self.graph, walk).cycles(count_max, self.budget.should_stop);
        let dependencies = || Some(walk(Walk::Dependencies)).filter(|cycles| !cycles.is_empty());
        self.budget.tick()?;
        Ok(match level {
            Level::ReadUncommitted => walk(Walk::Writes),
            Level::ReadCommitted => walk(Walk::Dependencies),
            Level::CursorStability => {
                dependencies().unwrap_or_else(|| lost_updates(self.facts, self.orders, count_max))
            }
            Level::Prefix => walk(Walk::Prefix),
            Level::ParallelSnapshotIsolation => match dependencies() {
                Some(cycles) => cycles,
                None => self.single(count_max)?,
            },
            Level::SnapshotIsolation => walk(Walk::Snapshot),
            _ => walk(Walk::All),
        })
    }

    /// G-single: cycles with exactly one `rw`. The dependencies alone have no cycle.
    fn single(&self, count_max: usize) -> Result<Vec<Cycle>, Spent> {
        let graph = self.graph;
        let all = Walker::new(graph, Walk::All);
        if all.is_acyclic() {
            return Ok(Vec::new());
        }
        let mut ranks = vec![0; graph.len()];
        let forward = topological(graph, |edge| edge.kind != EdgeKind::Rw);
        forward.iter().enumerate().for_each(|(at, node)| ranks[*node as usize] = at as u32);
        let mut cycles: Vec<Cycle> = Vec::new();
        for node in 0..graph.transactions as Node {
            let Some(component) = all.component(node) else { continue };
            let stays = |edge: &&Edge| edge.kind == EdgeKind::Rw && all.component(edge.to) == Some(component);
            // Dependencies lead forward only.
            let goes_back = |edge: &&Edge| ranks[edge.to as usize] < ranks[node as usize];
            for edge in graph.edges(node).iter().filter(stays).filter(goes_back) {
                if cycles.is_empty() {
                    self.budget.tick()?;
                }
                let Some(mut path) = path(graph, edge.to, node, &ranks) else { continue };
                path.insert(0, (node, *edge));
                cycles.push(path);
                if cycles.len() >= count_max || (self.budget.should_stop)() {
                    return Ok(cycles);
                }
            }
        }
        cycles.sort_by_key(Vec::len);
        Ok(cycles)
    }
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

/// G-cursor: a transaction reads a key and writes it, and another writer came between.
fn lost_updates(facts: &Facts, orders: &Orders, count_max: usize) -> Vec<Cycle> {
    let mut by_key: Vec<Vec<&Read>> = vec![Vec::new(); facts.keys.len()];
    facts.reads.iter().for_each(|read| by_key[read.key.0 as usize].push(read));
    let mut cycles = Vec::new();
    for (at, reads) in by_key.iter().enumerate().filter(|(_, reads)| !reads.is_empty()) {
        let line = KeyLine::of(KeyId(at as u32), &facts.keys[at], orders);
        for read in reads {
            let left = count_max - cycles.len();
            cycles.extend(line.lost_updates(read).into_iter().take(left));
            if cycles.len() >= count_max {
                return cycles;
            }
        }
    }
    cycles
}

/// The versions of a key in their order.
struct KeyLine<'a> {
    id: KeyId,
    key: &'a KeyFacts,
    orders: &'a Orders,
    /// The versions whose order is known or chosen.
    versions: Vec<Version>,
    /// The writer of each version with its place; what has no order stands at the end of all that has one.
    places: Vec<(Node, u32, Version)>,
}

impl<'a> KeyLine<'a> {
    fn of(id: KeyId, key: &'a KeyFacts, orders: &'a Orders) -> KeyLine<'a> {
        let first = key.chain.len() as Version;
        let mut versions: Vec<Version> = (0..first).collect();
        if !orders.is_open() {
            versions.extend(orders.sequence(id));
        }
        let mut line = KeyLine { id, key, orders, versions, places: Vec::new() };
        let all = 0..first + key.loose.len() as Version;
        line.places = all.map(|version| (key.writer(version), line.place(version), version)).collect();
        line.places.sort_unstable();
        line
    }

    fn place(&self, version: Version) -> u32 {
        let first = self.key.chain.len() as Version;
        match (version < first, self.orders.is_open()) {
            (true, _) => version,
            (false, true) => first,
            (false, false) => first + self.orders.rank(self.id, self.key, version),
        }
    }

    /// One for each version that the reader wrote behind the one that it read.
    fn lost_updates(&self, read: &Read) -> Vec<Cycle> {
        let start = self.places.partition_point(|(writer, ..)| *writer < read.reader);
        let own = self.places[start..].iter().take_while(|(writer, ..)| *writer == read.reader);
        let place = self.place(read.version);
        let is_other = |version: &&Version| ![read.reader, NOBODY, INITIAL].contains(&self.key.writer(**version));
        let lost = |(_, own_place, own): &(Node, u32, Version)| {
            let between = self.versions.get(place as usize + 1..*own_place as usize)?;
            let other = *between.iter().find(is_other)?;
            Some(lost_update(self.id, (read.reader, read.version), (self.key.writer(other), other), *own))
        };
        own.filter_map(lost).collect()
    }
}

fn lost_update(key: KeyId, (reader, read): (Node, Version), (writer, other): (Node, Version), own: Version) -> Cycle {
    let rw = Edge { to: writer, kind: EdgeKind::Rw, key, low: read, high: other };
    let ww = Edge { to: reader, kind: EdgeKind::Ww, key, low: other, high: own };
    vec![(reader, rw), (writer, ww)]
}
