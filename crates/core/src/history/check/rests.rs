//! Which order of transactions an edge of a commit order rests on.
//!
//! An implied edge says that a reader must have seen somebody. Why it must, the edge does not tell: it read from them (or
//! from somebody who did), they come before it in its session, or they had ended when it began.
//!
//! ```text
//!   session 0    T1 write x 1    T2 read x initial        T2 must have seen T1, but read nothing of it:
//!                                                         the violation rests on the order of the session
//! ```
//!
//! The difference decides what a violation is called, and whether it is one without sessions. It is asked only of the one
//! cycle that is told, so it may take a walk through the history. So may the other thing that is left open until then:
//! which version of whoever was not seen comes behind the initial one.

use std::collections::HashMap;

use super::super::History;
use super::super::facts::{Facts, INITIAL, Node, Version};
use super::graph::{Edge, EdgeKind, Graph};
use super::walk::Cycle;
use crate::level::formal::{Level, Order};

/// How many readers that prove the same are asked for the weakest order.
const PROOFS_MAX: usize = 16;

/// Gives every implied edge of a cycle the proof that takes the weakest order, and notes that; notes of an edge from the
/// initial transaction where it leads.
pub(super) fn mark(history: &History, facts: &Facts, graph: &Graph, level: Level, cycle: &mut Cycle) {
    for (seen, edge) in cycle.iter_mut() {
        if let EdgeKind::Implied(_) = edge.kind {
            let is_proof = |other: &&Edge| other.to == edge.to && matches!(other.kind, EdgeKind::Implied(_));
            let proofs = graph.edges(*seen).iter().filter(is_proof).take(PROOFS_MAX);
            let marked = proofs.map(|proof| (weakest(history, facts, level, *seen, proof.high), proof));
            if let Some((order, proof)) = marked.min_by_key(|(order, _)| *order) {
                *edge = Edge { kind: EdgeKind::Implied(order), ..*proof };
            }
        }
        if *seen == INITIAL {
            let key = &facts.keys[edge.key.0 as usize];
            let versions = 1..(key.chain.len() + key.loose.len()) as Version;
            edge.high = versions.rev().find(|version| key.writer(*version) == edge.to).unwrap_or(edge.high);
        }
    }
}

fn weakest(history: &History, facts: &Facts, level: Level, seen: Node, reader: Node) -> Order {
    let is_enough = |order: Order| match level {
        Level::Causal => is_behind(history, facts, order, seen, reader),
        _ if order == Order::Free => writers(facts, reader).any(|writer| writer == seen),
        _ => seen < reader && session(history, facts, seen) == session(history, facts, reader),
    };
    // What neither reads nor sessions explain, only real time does.
    [Order::Free, Order::Session].into_iter().find(|order| is_enough(*order)).unwrap_or(Order::RealTime)
}

fn session(history: &History, facts: &Facts, node: Node) -> Option<u32> {
    facts.transaction(node).map(|id| history.transaction(id).session)
}

/// Whom a transaction reads from.
fn writers(facts: &Facts, reader: Node) -> impl Iterator<Item = Node> + '_ {
    let start = facts.reads.partition_point(|read| read.reader < reader);
    let reads = facts.reads[start..].iter().take_while(move |read| read.reader == reader);
    reads.map(|read| facts.writer_of(read))
}

/// Whether a transaction must have seen another one, if only through others.
fn is_behind(history: &History, facts: &Facts, order: Order, seen: Node, reader: Node) -> bool {
    let previous = if order == Order::Free { Vec::new() } else { previous(history, facts) };
    let mut is_known = vec![false; facts.node_count()];
    let mut open = vec![reader];
    while let Some(node) = open.pop() {
        for next in writers(facts, node).chain(previous.get(node as usize).copied()) {
            if next == seen {
                return true;
            }
            if !std::mem::replace(&mut is_known[next as usize], true) {
                open.push(next);
            }
        }
    }
    false
}

/// By node: the one before it in its session; the initial one if there is none.
fn previous(history: &History, facts: &Facts) -> Vec<Node> {
    let mut last: HashMap<u32, Node> = HashMap::new();
    let mut previous = vec![INITIAL];
    for (at, id) in facts.committed.iter().enumerate() {
        let before = last.insert(history.transaction(*id).session, at as Node + 1);
        previous.push(before.unwrap_or(INITIAL));
    }
    previous
}
