//! Commit points at which a procedure must not be lost (§5).
//!
//! A transaction is all or nothing; a procedure of two transactions is not. If the process dies behind the commit
//! of the first, what it wrote stays, and what the second would have written never comes: the money has left one
//! account and reaches no other. No schedule shows this, since nobody else is involved; so these points are found
//! by themselves.

use std::collections::BTreeSet;

use super::input::{Application, Element, Node, TransactionId};
use super::ways::{reached, way};

/// A commit with writes before and after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitPoint {
    /// The transaction behind whose commit the process may die.
    pub after: TransactionId,
    /// What it has written.
    pub written: BTreeSet<Element>,
    /// The transactions that may never come, with what they would write.
    pub lost: Vec<(TransactionId, BTreeSet<Element>)>,
}

/// All commit points of an application at which a part of the writes would be lost.
pub fn commit_points(application: &Application) -> Vec<CommitPoint> {
    let mut points = Vec::new();
    for (procedure, it) in application.procedures.iter().enumerate() {
        let reached = reached(it);
        let writers: Vec<usize> = (0..it.nodes.len())
            .filter(|at| reached[*at] && it.nodes[*at].is_transaction && it.nodes[*at].writes())
            .collect();
        for after in writers.iter().copied() {
            let follows = |at: &&usize| way(it, after, **at, |_| false).is_some();
            let lost: Vec<_> = writers
                .iter()
                .filter(follows)
                .map(|at| (TransactionId { procedure, node: *at }, written(&it.nodes[*at])))
                .collect();
            if !lost.is_empty() {
                let after = TransactionId { procedure, node: after };
                points.push(CommitPoint { after, written: written(application.node(after)), lost });
            }
        }
    }
    points
}

fn written(node: &Node) -> BTreeSet<Element> {
    node.operations.iter().flat_map(|operation| &operation.writes).cloned().collect()
}
