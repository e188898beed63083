//! The dependency graph of a history, under one choice of version orders.
//!
//! Edges are kept where the relations need them, and no more: between neighbours of a version order, not between all
//! pairs; from each session's transaction to the next; and real time goes through *barriers*, extra nodes on the time line:
//!
//! ```text
//!   T1 ──────┐                       T1 ended before T3 and T4 began:
//!   T2 ───────────┐                  T1 → barrier → barrier → T3, T4
//!   barriers  ────●────●────→        O(n) edges stand for O(n²) pairs
//!                 └─ T3 └─ T4
//! ```
//!
//! The initial transaction comes before all others and is on no cycle, so it has no edges.

use super::super::facts::{Facts, INITIAL, KeyFacts, NOBODY, Node, Read, Version};
use super::super::{History, KeyId};
use super::orders::Orders;
use crate::level::formal::Order;

/// What an edge says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeKind {
    /// The next version of a key.
    Ww,
    /// A version that was read.
    Wr,
    /// A read that a later version makes old.
    Rw,
    /// The next transaction of a session.
    Session,
    /// A transaction that began later.
    Time,
    /// What somebody saw must be newer than what they saw as well: an edge of a commit order, not of the history. It rests
    /// on an order of transactions if only that says what they must have seen.
    Implied(Order),
    /// The same, of what somebody had seen before and does not see any more.
    Vanished,
}

impl EdgeKind {
    /// Whether it is an edge of a commit order, not of the history.
    pub fn is_implied(self) -> bool {
        matches!(self, EdgeKind::Implied(_) | EdgeKind::Vanished)
    }
}

/// An edge to another node, with its evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Where it leads.
    pub to: Node,
    /// What it says.
    pub kind: EdgeKind,
    /// Of which key (`ww`, `wr`, `rw`).
    pub key: KeyId,
    /// The earlier version: overwritten, or read (of an implied edge: the version that was read).
    pub low: Version,
    /// The later version (`ww`, `rw`); which operation reads (`wr`); who reads (implied).
    pub high: Version,
}

/// Edges by the node that they leave.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    offsets: Vec<u32>,
    edges: Vec<Edge>,
    /// Nodes from here on are barriers of real time.
    pub transactions: usize,
}

impl Graph {
    /// The graph of a history under a choice of version orders.
    pub fn new(history: &History, facts: &Facts, orders: &Orders, order: Order) -> Graph {
        let mut edges = Edges::new(facts);
        for (at, key) in facts.keys.iter().enumerate() {
            edges.add_versions(KeyId(at as u32), key, orders);
        }
        for read in &facts.reads {
            edges.add_read(read, facts, orders);
        }
        edges.add_order(history, facts, order);
        edges.finish()
    }

    /// Sorts edges by where they begin.
    pub(super) fn from_list(list: &[(Node, Edge)], count: usize, transactions: usize) -> Graph {
        let mut offsets = vec![0u32; count + 1];
        list.iter().for_each(|(from, _)| offsets[*from as usize + 1] += 1);
        (0..count).for_each(|at| offsets[at + 1] += offsets[at]);
        let mut next = offsets.clone();
        let nothing = Edge { to: 0, kind: EdgeKind::Ww, key: KeyId(0), low: 0, high: 0 };
        let mut edges = vec![nothing; list.len()];
        for (from, edge) in list {
            edges[next[*from as usize] as usize] = *edge;
            next[*from as usize] += 1;
        }
        Graph { offsets, edges, transactions }
    }

    /// How many nodes there are, barriers included.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The edges that leave a node.
    pub fn edges(&self, from: Node) -> &[Edge] {
        let at = from as usize;
        &self.edges[self.offsets[at] as usize..self.offsets[at + 1] as usize]
    }

    /// Whether a node stands for a moment, not for a transaction.
    pub fn is_barrier(&self, node: Node) -> bool {
        node as usize >= self.transactions
    }
}

/// Edges, before they are sorted.
pub(super) struct Edges {
    pub(super) list: Vec<(Node, Edge)>,
    transactions: usize,
    next_barrier: Node,
}

impl Edges {
    pub(super) fn new(facts: &Facts) -> Edges {
        Edges { list: Vec::new(), transactions: facts.node_count(), next_barrier: facts.node_count() as Node }
    }

    pub(super) fn finish(self) -> Graph {
        Graph::from_list(&self.list, self.next_barrier as usize, self.transactions)
    }

    /// Sessions and real time, as far as they count.
    pub(super) fn add_order(&mut self, history: &History, facts: &Facts, order: Order) {
        if order >= Order::Session {
            self.add_sessions(history, facts);
        }
        if order == Order::RealTime {
            self.add_times(history, facts);
        }
    }

    pub(super) fn add(&mut self, from: Node, edge: Edge) {
        if from != edge.to && from != INITIAL && from != NOBODY && edge.to != NOBODY {
            self.list.push((from, edge));
        }
    }

    pub(super) fn add_versions(&mut self, id: KeyId, key: &KeyFacts, orders: &Orders) {
        orders.each_pair(id, key, |low, high| {
            self.add(key.writer(low), Edge { to: key.writer(high), kind: EdgeKind::Ww, key: id, low, high });
        });
    }

    fn add_read(&mut self, read: &Read, facts: &Facts, orders: &Orders) {
        let key = &facts.keys[read.key.0 as usize];
        let Read { reader, op, key: id, version: low } = *read;
        self.add(key.writer(low), Edge { to: reader, kind: EdgeKind::Wr, key: id, low, high: op });
        let rw = |high| Edge { to: key.writer(high), kind: EdgeKind::Rw, key: id, low, high };
        orders.each_next(id, key, low, |high| self.add(reader, rw(high)));
    }

    fn add_sessions(&mut self, history: &History, facts: &Facts) {
        let mut last: std::collections::HashMap<u32, Node> = std::collections::HashMap::new();
        for (at, id) in facts.committed.iter().enumerate() {
            let node = at as Node + 1;
            if let Some(before) = last.insert(history.transaction(*id).session, node) {
                self.add(before, plain(node, EdgeKind::Session));
            }
        }
    }

    fn add_times(&mut self, history: &History, facts: &Facts) {
        // At one moment beginnings come first: who ends when another begins did not end before it.
        let mut moments: Vec<(u64, bool, Node)> = Vec::new();
        for (at, id) in facts.committed.iter().enumerate() {
            let (transaction, node) = (history.transaction(*id), at as Node + 1);
            moments.extend(transaction.began.map(|began| (began, false, node)));
            moments.extend(transaction.ended.map(|ended| (ended, true, node)));
        }
        moments.sort_unstable();
        let mut barrier: Option<Node> = None;
        let mut ended: Vec<Node> = Vec::new();
        for (_, is_end, node) in moments {
            if is_end {
                ended.push(node);
                continue;
            }
            if !ended.is_empty() {
                let next = self.next_barrier;
                self.next_barrier += 1;
                ended.drain(..).chain(barrier).for_each(|from| self.add(from, plain(next, EdgeKind::Time)));
                barrier = Some(next);
            }
            if let Some(barrier) = barrier {
                self.add(barrier, plain(node, EdgeKind::Time));
            }
        }
    }
}

fn plain(to: Node, kind: EdgeKind) -> Edge {
    Edge { to, kind, key: KeyId(0), low: 0, high: 0 }
}
