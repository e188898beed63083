//! Monotonic atomic view, read atomic, causal: is there an order in which transactions can have committed?
//!
//! These levels say which transactions a transaction must have seen. If T reads `x` from V, and must have seen U, which
//! writes `x`, too, then U committed before V: otherwise T would have seen U's `x`. Such *implied* edges, together with
//! what was read from whom, have no cycle iff there is a commit order (Biswas and Enea, OOPSLA 2019). No order needs to be
//! guessed, so this is fast:
//!
//! | level | T must have seen | edges are found in |
//! |---|---|---|
//! | monotonic atomic view | everybody it has read from before this read | n^{3/2} |
//! | read atomic | everybody it reads from, and its order | n^{3/2} |
//! | causal | everybody that these have seen, and so on | n · k for k sessions |
//!
//! The bounds are AWDIT's (Møldrup and Pavlogiannis, PLDI 2025): the smaller one of what U writes and what T reads is
//! gone through; of a session only its last writer of a key counts.

use super::super::facts::{Facts, INITIAL, Node, Read};
use super::super::{History, KeyId};
use super::budget::{CheckBudget, Spent};
use super::graph::{Edge, EdgeKind, Edges, Graph};
use super::orders::Orders;
use super::seen::Seen;
use crate::level::formal::{Level, Order, Requirement};

/// The commit orders that a level leaves possible: edges that all of them respect.
pub(super) struct CommitEdges<'a> {
    history: &'a History,
    facts: &'a Facts,
    requirement: Requirement,
    open: Orders,
    writes: Writes,
    seen: Option<Seen>,
}

impl<'a> CommitEdges<'a> {
    /// Prepares what the edges follow from; `Err` if that takes more than the budget.
    pub(super) fn of(
        history: &'a History,
        facts: &'a Facts,
        requirement: Requirement,
        budget: CheckBudget<'_>,
    ) -> Result<CommitEdges<'a>, Spent> {
        let seen = match requirement.level {
            Level::MonotonicAtomicView | Level::ReadAtomic => None,
            _ => Some(Seen::of(history, facts, requirement.order, budget)?),
        };
        let (open, writes) = (Orders::open(facts), Writes::of(facts));
        Ok(CommitEdges { history, facts, requirement, open, writes, seen })
    }

    /// The graph of all edges.
    pub(super) fn graph(&self, budget: CheckBudget<'_>) -> Result<Graph, Spent> {
        Edges::collect(self.facts, budget, |edges| self.give(edges))
    }

    /// The part of the graph that holds all of its cycles; `None` if there is no such part.
    pub(super) fn around_cycles(&self, budget: CheckBudget<'_>) -> Result<Option<Graph>, Spent> {
        Edges::around_cycles(self.history, self.facts, budget, |edges| self.give(edges))
    }

    fn give(&self, edges: &mut Edges) {
        let CommitEdges { history, facts, requirement: Requirement { level, order }, .. } = *self;
        for (at, key) in facts.keys.iter().enumerate() {
            edges.add_versions(KeyId(at as u32), key, &self.open);
        }
        for read in &facts.reads {
            let edge = Edge { to: read.reader, kind: EdgeKind::Wr, key: read.key, low: read.version, high: read.op };
            edges.add(facts.writer_of(read), edge);
        }
        edges.add_order(history, facts, order);
        let kind =
            if level == Level::MonotonicAtomicView { EdgeKind::Vanished } else { EdgeKind::Implied(Order::Free) };
        let mut implied = Implied { facts, writes: &self.writes, kind, edges };
        match &self.seen {
            Some(seen) => implied.by_seen(seen),
            None if level == Level::MonotonicAtomicView => implied.by_reads(true),
            None => {
                implied.by_reads(false);
                implied.by_order(history, order);
            }
        }
    }
}

struct Implied<'a> {
    facts: &'a Facts,
    writes: &'a Writes,
    kind: EdgeKind,
    edges: &'a mut Edges,
}

impl Implied<'_> {
    /// `seen`, which writes the key of a read, comes before whoever wrote what was read.
    fn add(&mut self, seen: Node, read: &Read) {
        let writer = self.facts.writer_of(read);
        if seen == writer || seen == read.reader || seen == INITIAL {
            return;
        }
        let kind = self.kind;
        let edge = |to| Edge { to, kind, key: read.key, low: read.version, high: read.reader };
        self.edges.add_implied(seen, edge(writer));
        if writer == INITIAL {
            // Nobody is before the initial transaction: this closes a cycle.
            self.edges.add_implied(INITIAL, Edge { kind: EdgeKind::Ww, high: 0, ..edge(seen) });
        }
    }

    /// Everybody that a transaction reads from; only before a read, or at all.
    fn by_reads(&mut self, only_before: bool) {
        let facts = self.facts;
        for reads in facts.reads.chunk_by(|a, b| a.reader == b.reader) {
            let mut by_key: Vec<&Read> = reads.iter().collect();
            by_key.sort_unstable_by_key(|read| read.key);
            let mut seen: Vec<(Node, u32)> = reads.iter().map(|read| (facts.writer_of(read), read.op)).collect();
            seen.sort_unstable();
            seen.dedup_by_key(|(node, _)| *node);
            for (node, op) in seen.into_iter().filter(|(node, _)| *node != INITIAL) {
                let counts = |read: &&&Read| !only_before || read.op > op;
                let both = self.writes.and_reads(node, &by_key);
                both.iter().filter(counts).for_each(|read| self.add(node, read));
            }
        }
    }

    /// Everybody who comes before a transaction in its session, or in time.
    fn by_order(&mut self, history: &History, order: Order) {
        if order == Order::Free {
            return;
        }
        let facts = self.facts;
        let session = |node: Node| facts.transaction(node).map(|id| history.transaction(id).session);
        let mut last: std::collections::HashMap<(u32, u32), Node> = std::collections::HashMap::new();
        let mut reads = facts.reads.chunk_by(|a, b| a.reader == b.reader).peekable();
        for node in 1..facts.node_count() as Node {
            let Some(session) = session(node) else { continue };
            if let Some(reads) = reads.next_if(|reads| reads[0].reader == node) {
                for read in reads {
                    if let Some(before) = last.get(&(session, read.key.0)) {
                        self.add(*before, read);
                    }
                }
            }
            for key in self.writes.of_node(node) {
                last.insert((session, *key), node);
            }
        }
        if order == Order::RealTime {
            self.by_time(history);
        }
    }

    /// Every writer of a key that ended before a reader began; those that others of them follow say nothing new.
    fn by_time(&mut self, history: &History) {
        let facts = self.facts;
        // Of a transaction whose end nobody knows it may still be known when it began.
        let began = |node: Node| history.transaction(facts.transaction(node)?).began;
        let times = |node: Node| Some((began(node)?, history.transaction(facts.transaction(node)?).ended?));
        let mut writers: Vec<Vec<(u64, u64, Node)>> = Vec::new();
        for key in &facts.keys {
            let timed = |node: Node| times(node).map(|(began, ended)| (ended, began, node));
            let mut of_key: Vec<_> = key.writers().filter(|node| *node != INITIAL).filter_map(timed).collect();
            of_key.sort_unstable();
            of_key.dedup();
            writers.push(of_key);
        }
        for read in &facts.reads {
            let Some(began) = began(read.reader) else { continue };
            let of_key = &writers[read.key.0 as usize];
            let end = of_key.partition_point(|(ended, ..)| *ended < began);
            let mut latest = 0;
            for (ended, began, node) in of_key[..end].iter().rev() {
                if *ended < latest {
                    break;
                }
                latest = latest.max(*began);
                self.add(*node, read);
            }
        }
    }

    fn by_seen(&mut self, seen: &Seen) {
        let facts = self.facts;
        for read in &facts.reads {
            seen.each_writer(facts, read, |node| self.add(node, read));
        }
    }
}

/// The keys that each node writes, in order.
struct Writes {
    offsets: Vec<u32>,
    keys: Vec<u32>,
}

impl Writes {
    fn of(facts: &Facts) -> Writes {
        let mut pairs: Vec<(Node, u32)> = Vec::new();
        for (at, key) in facts.keys.iter().enumerate() {
            pairs.extend(key.writers().filter(|node| *node != INITIAL).map(|node| (node, at as u32)));
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut offsets = vec![0u32; facts.node_count() + 1];
        pairs.iter().for_each(|(node, _)| offsets[*node as usize + 1] += 1);
        (0..facts.node_count()).for_each(|at| offsets[at + 1] += offsets[at]);
        Writes { offsets, keys: pairs.into_iter().map(|(_, key)| key).collect() }
    }

    fn of_node(&self, node: Node) -> &[u32] {
        let at = node as usize;
        &self.keys[self.offsets[at] as usize..self.offsets[at + 1] as usize]
    }

    /// Those reads, given in order of their keys, whose key a node writes. The fewer of the two are gone through.
    fn and_reads<'r>(&self, node: Node, by_key: &[&'r Read]) -> Vec<&'r Read> {
        let keys = self.of_node(node);
        if by_key.len() <= keys.len() {
            return by_key.iter().copied().filter(|read| keys.binary_search(&read.key.0).is_ok()).collect();
        }
        let of_key = |key: &u32| {
            let start = by_key.partition_point(|read| read.key.0 < *key);
            by_key[start..].iter().copied().take_while(move |read| read.key.0 == *key).collect::<Vec<_>>()
        };
        keys.iter().flat_map(of_key).collect()
    }
}
