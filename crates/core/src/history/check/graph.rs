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
use super::budget::{CheckBudget, Spent};
use super::orders::Orders;
use super::stretches::Stretches;
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
    /// The graph of a history under a choice of version orders; `Err` if it is larger than the budget allows.
    pub fn new(
        history: &History,
        facts: &Facts,
        orders: &Orders,
        scope: GraphScope,
        budget: CheckBudget<'_>,
    ) -> Result<Graph, Spent> {
        Edges::collect(facts, budget, |edges| edges.add_all(history, facts, orders, scope))
    }

    /// The part of the same graph that holds all of its cycles; `None` if there is no such part.
    pub(super) fn around_cycles(
        history: &History,
        facts: &Facts,
        orders: &Orders,
        scope: GraphScope,
        budget: CheckBudget<'_>,
    ) -> Result<Option<Graph>, Spent> {
        Edges::around_cycles(history, facts, budget, |edges| edges.add_all(history, facts, orders, scope))
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

/// Which edges a graph has.
#[derive(Debug, Clone, Copy)]
pub struct GraphScope {
    /// Sessions, real time, or neither.
    pub order: Order,
    /// Whether it has anti-dependencies.
    pub has_rw: bool,
}

/// Edges on their way into a graph. They are given several times: first they are counted, then they are put in their
/// places. So they are never stored twice, and it is known how much memory they take before it is asked for.
pub(super) struct Edges {
    /// While counting: by node, how many edges leave it. Then: where its next edge goes.
    next: Vec<u32>,
    edges: Vec<Edge>,
    pass: Pass,
    /// While counting: how many there are, and how many there may be.
    count: usize,
    count_max: usize,
    next_barrier: Node,
    /// Nodes whose edges count; `None`: all of them.
    stretches: Option<Stretches>,
}

/// The reason why edges are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// Edges that lead back in a guessed order are looked for.
    Compare,
    /// Edges are counted.
    Count,
    /// Edges are put in their places.
    Store,
}

impl Edges {
    /// The graph of all edges that `give` adds; it adds the same ones each time.
    pub(super) fn collect(
        facts: &Facts,
        budget: CheckBudget<'_>,
        give: impl FnMut(&mut Edges),
    ) -> Result<Graph, Spent> {
        Edges::new(facts, None).into_graph(facts, budget, give)
    }

    /// The part of the graph that holds all of its cycles: the [stretches](Stretches) of the order in which transactions
    /// ended that edges lead back over. `None` if no edge leads back, so that there is no cycle at all.
    pub(super) fn around_cycles(
        history: &History,
        facts: &Facts,
        budget: CheckBudget<'_>,
        mut give: impl FnMut(&mut Edges),
    ) -> Result<Option<Graph>, Spent> {
        budget.tick()?;
        let mut edges = Edges::new(facts, Some(Stretches::new(history, facts)));
        edges.pass = Pass::Compare;
        give(&mut edges);
        let is_empty = edges.stretches.as_mut().is_none_or(|stretches| !stretches.close());
        if is_empty { Ok(None) } else { edges.into_graph(facts, budget, give).map(Some) }
    }

    fn new(facts: &Facts, stretches: Option<Stretches>) -> Edges {
        Edges {
            next: vec![0; facts.node_count()],
            edges: Vec::new(),
            pass: Pass::Count,
            count: 0,
            count_max: 0,
            next_barrier: facts.node_count() as Node,
            stretches,
        }
    }

    fn into_graph(
        mut self,
        facts: &Facts,
        budget: CheckBudget<'_>,
        mut give: impl FnMut(&mut Edges),
    ) -> Result<Graph, Spent> {
        let transactions = facts.node_count();
        budget.tick()?;
        // Real time has at most as many barriers as there are transactions.
        self.count_max = budget.edges_max(2 * transactions);
        self.pass = Pass::Count;
        give(&mut self);
        if self.count > self.count_max || self.count_max == 0 {
            return Err(Spent::Memory(budget.bytes_max));
        }
        budget.tick()?;
        let mut offsets = vec![0u32];
        let sums = self.next.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        offsets.extend(sums);
        self.next.copy_from_slice(&offsets[..offsets.len() - 1]);
        self.edges = vec![plain(0, EdgeKind::Ww); self.count];
        (self.pass, self.next_barrier) = (Pass::Store, transactions as Node);
        give(&mut self);
        Ok(Graph { offsets, edges: self.edges, transactions })
    }

    /// All edges of a dependency graph.
    fn add_all(&mut self, history: &History, facts: &Facts, orders: &Orders, scope: GraphScope) {
        for (at, key) in facts.keys.iter().enumerate() {
            self.add_versions(KeyId(at as u32), key, orders);
        }
        for read in &facts.reads {
            self.add_read(read, facts, orders, scope.has_rw);
        }
        self.add_order(history, facts, scope.order);
    }

    /// Adds an edge of a commit order, wherever it leads.
    pub(super) fn add_implied(&mut self, from: Node, edge: Edge) {
        if let Some(stretches) = &mut self.stretches {
            match self.pass {
                Pass::Compare => return stretches.compare(from, edge.to),
                Pass::Count | Pass::Store if !(stretches.holds(from) && stretches.holds(edge.to)) => return,
                Pass::Count | Pass::Store => {}
            }
        }
        let from = from as usize;
        if self.pass == Pass::Store {
            self.edges[self.next[from] as usize] = edge;
            self.next[from] += 1;
        } else if self.count <= self.count_max {
            self.count += 1;
            let nodes = self.next.len().max(from + 1).max(edge.to as usize + 1);
            self.next.resize(nodes, 0);
            self.next[from] += 1;
        }
    }

    /// Sessions and real time, as far as they count.
    pub(super) fn add_order(&mut self, history: &History, facts: &Facts, order: Order) {
        if order >= Order::Session {
            self.add_sessions(history, facts);
        }
        // The order in which transactions ended agrees with real time.
        if order == Order::RealTime && self.pass != Pass::Compare {
            self.add_times(history, facts);
        }
    }

    pub(super) fn add(&mut self, from: Node, edge: Edge) {
        if from != edge.to && from != INITIAL && from != NOBODY && edge.to != NOBODY {
            self.add_implied(from, edge);
        }
    }

    pub(super) fn add_versions(&mut self, id: KeyId, key: &KeyFacts, orders: &Orders) {
        orders.each_pair(id, key, |low, high| {
            self.add(key.writer(low), Edge { to: key.writer(high), kind: EdgeKind::Ww, key: id, low, high });
        });
    }

    fn add_read(&mut self, read: &Read, facts: &Facts, orders: &Orders, has_rw: bool) {
        let key = &facts.keys[read.key.0 as usize];
        let Read { reader, op, key: id, version: low } = *read;
        self.add(key.writer(low), Edge { to: reader, kind: EdgeKind::Wr, key: id, low, high: op });
        if !has_rw {
            return;
        }
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
        let holds = |node: Node| self.stretches.as_ref().is_none_or(|stretches| stretches.holds(node));
        let nodes = (1..).zip(&facts.committed).filter(|(node, _)| holds(*node));
        for (node, id) in nodes {
            let transaction = history.transaction(*id);
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
