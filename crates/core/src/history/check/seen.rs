//! Everything that a transaction has seen, directly or through others: who happened before it.
//!
//! With sessions, a vector of clocks per transaction says it all: of each session, how many of its transactions are behind
//! it. Without them there is no such short form, and every pair of transactions is a bit.

use super::super::History;
use super::super::facts::{Facts, INITIAL, Node, Read};
use super::budget::{CheckBudget, Spent};
use super::graph::{Edge, EdgeKind, Edges, Graph};
use crate::level::formal::Order;

/// How many bytes the clocks or the bits may take, whatever the budget is.
const BYTES_MAX: u64 = 1 << 30;

/// Who has seen whom.
pub(super) enum Seen {
    /// By node and session: how many transactions of it were seen; by key: its writers by session.
    Clocks { sessions: usize, clocks: Vec<u32>, writers: Vec<Vec<Place>> },
    /// By node: a bit per node that it has seen.
    Bits { words: usize, bits: Vec<u64> },
}

/// A writer of a key: its session, its place in it (from 1), its node.
type Place = (u32, u32, Node);

impl Seen {
    /// Follows reads and order; `Err` if the history is too large for that. Of a cycle nobody sees anything: the cycle is
    /// found anyway.
    pub(super) fn of(history: &History, facts: &Facts, order: Order, budget: CheckBudget<'_>) -> Result<Seen, Spent> {
        let graph = Edges::collect(facts, budget, |edges| {
            for read in &facts.reads {
                let edge = Edge { to: read.reader, kind: EdgeKind::Wr, key: read.key, low: 0, high: 0 };
                edges.add(facts.writer_of(read), edge);
            }
            edges.add_order(history, facts, order);
        })?;
        let budget = CheckBudget { bytes_max: budget.bytes_max.min(BYTES_MAX), ..budget };
        let topological = topological(&graph, |_| true);
        match order {
            Order::Free => Seen::bits(facts, &graph, &topological, budget),
            Order::Session | Order::RealTime => Seen::clocks(history, facts, &graph, &topological, budget),
        }
    }

    fn clocks(
        history: &History,
        facts: &Facts,
        graph: &Graph,
        topological: &[Node],
        budget: CheckBudget<'_>,
    ) -> Result<Seen, Spent> {
        let places = places(history, facts);
        let sessions = places.iter().map(|(session, _)| *session as usize + 1).max().unwrap_or(0);
        let count = graph.len().saturating_mul(sessions);
        budget.afford((count as u64).saturating_mul(size_of::<u32>() as u64))?;
        let mut clocks = vec![0u32; count];
        for node in topological {
            let from = *node as usize * sessions;
            for edge in graph.edges(*node) {
                let to = edge.to as usize * sessions;
                for session in 0..sessions {
                    clocks[to + session] = clocks[to + session].max(clocks[from + session]);
                }
                if !graph.is_barrier(*node) {
                    let (session, place) = places[*node as usize];
                    let clock = &mut clocks[to + session as usize];
                    *clock = place.max(*clock);
                }
            }
        }
        let writers = facts.keys.iter().map(|key| {
            let place = |node: Node| (places[node as usize].0, places[node as usize].1, node);
            let mut writers: Vec<Place> = key.writers().filter(|node| *node != INITIAL).map(place).collect();
            writers.sort_unstable();
            writers.dedup();
            writers
        });
        Ok(Seen::Clocks { sessions, writers: writers.collect(), clocks })
    }

    fn bits(facts: &Facts, graph: &Graph, topological: &[Node], budget: CheckBudget<'_>) -> Result<Seen, Spent> {
        let words = facts.node_count().div_ceil(64);
        budget.afford((words as u64).saturating_mul(8).saturating_mul(facts.node_count() as u64))?;
        let mut bits = vec![0u64; words * facts.node_count()];
        for node in topological {
            let from = *node as usize;
            for edge in graph.edges(*node) {
                let to = edge.to as usize;
                for word in 0..words {
                    bits[to * words + word] |= bits[from * words + word];
                }
                bits[to * words + from / 64] |= 1 << (from % 64);
            }
        }
        Ok(Seen::Bits { words, bits })
    }

    /// Every writer of a read's key that the reader has seen; of those in one session, the last one.
    pub(super) fn each_writer(&self, facts: &Facts, read: &Read, mut with: impl FnMut(Node)) {
        match self {
            Seen::Clocks { sessions, clocks, writers } => {
                let clocks = &clocks[read.reader as usize * sessions..][..*sessions];
                for of_session in writers[read.key.0 as usize].chunk_by(|a, b| a.0 == b.0) {
                    let seen = of_session.partition_point(|(session, place, _)| *place <= clocks[*session as usize]);
                    of_session[..seen].last().iter().for_each(|(_, _, node)| with(*node));
                }
            }
            Seen::Bits { words, bits } => {
                let row = &bits[read.reader as usize * words..][..*words];
                let has_seen = |node: &Node| row[*node as usize / 64] >> (node % 64) & 1 == 1;
                facts.keys[read.key.0 as usize].writers().filter(has_seen).for_each(with);
            }
        }
    }
}

/// The session of each node, numbered from 0, and its place in it, from 1.
fn places(history: &History, facts: &Facts) -> Vec<(u32, u32)> {
    let mut numbers: std::collections::HashMap<u32, (u32, u32)> = std::collections::HashMap::new();
    let mut places = vec![(0, 0)];
    for id in &facts.committed {
        let next = numbers.len() as u32;
        let (number, count) = numbers.entry(history.transaction(*id).session).or_insert((next, 0));
        *count += 1;
        places.push((*number, *count));
    }
    places
}

/// Nodes such that every edge that counts leads forward; those on or behind a cycle are missing.
pub(super) fn topological(graph: &Graph, counts: impl Fn(&Edge) -> bool) -> Vec<Node> {
    let edges = |node: Node| graph.edges(node).iter().filter(|edge| counts(edge));
    let mut incoming = vec![0u32; graph.len()];
    (0..graph.len() as Node).for_each(|node| edges(node).for_each(|edge| incoming[edge.to as usize] += 1));
    let mut order: Vec<Node> = (0..graph.len() as Node).filter(|node| incoming[*node as usize] == 0).collect();
    let mut at = 0;
    while at < order.len() {
        for edge in edges(order[at]) {
            incoming[edge.to as usize] -= 1;
            if incoming[edge.to as usize] == 0 {
                order.push(edge.to);
            }
        }
        at += 1;
    }
    order
}
