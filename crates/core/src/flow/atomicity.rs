//! Commit points at which a procedure must not be lost (§5).
//!
//! A transaction is all or nothing; a procedure of two transactions is not. If the process dies behind the commit
//! of the first, what it wrote stays, and what the second would have written never comes: the money has left one
//! account and reaches no other. No schedule shows this, since nobody else is involved; so these points are found
//! by themselves.

use std::collections::BTreeSet;

use super::input::{Application, Element, Node, TransactionId};
use super::ways::{reached, reached_behind};
use crate::budget::WorkBudget;

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
    commit_points_up_to(application, usize::MAX, &WorkBudget::unlimited()).0
}

/// The same, but not more than so many, each with at most so many transactions that may be lost; and whether these are
/// all.
pub fn commit_points_up_to(
    application: &Application,
    count_max: usize,
    budget: &WorkBudget,
) -> (Vec<CommitPoint>, bool) {
    let mut points = Vec::new();
    let mut is_complete = true;
    for (procedure, it) in application.procedures.iter().enumerate() {
        let reached = reached(it);
        let writers: Vec<usize> = (0..it.nodes.len())
            .filter(|at| reached[*at] && it.nodes[*at].is_transaction && it.nodes[*at].writes())
            .collect();
        for after in writers.iter().copied() {
            if points.len() >= count_max || budget.is_spent() {
                return (points, false);
            }
            let behind = reached_behind(it, after);
            let mut follow = writers.iter().filter(|at| behind[**at]);
            let lost: Vec<_> = (follow.by_ref().take(count_max))
                .map(|at| (TransactionId { procedure, node: *at }, written(&it.nodes[*at])))
                .collect();
            is_complete &= follow.next().is_none();
            if !lost.is_empty() {
                let after = TransactionId { procedure, node: after };
                points.push(CommitPoint { after, written: written(application.node(after)), lost });
            }
        }
    }
    (points, is_complete)
}

fn written(node: &Node) -> BTreeSet<Element> {
    node.operations.iter().flat_map(|operation| &operation.writes).cloned().collect()
}
