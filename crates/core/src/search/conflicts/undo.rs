//! Places where what a transaction wrote is taken back.
//!
//! A dirty read is no cycle as long as only statements are looked at: who reads what is rolled back later depends on a
//! writer, and nobody depends on the reader. With the ROLLBACK for a statement that writes the old values again, it is
//! one:
//!
//! ```text
//!   take: UPDATE stock … ──wr──→ note: SELECT …          note sees the UPDATE,
//!         ROLLBACK       ←──rw──                          and not that it is taken back
//! ```

use std::collections::BTreeSet;

use super::touch::Touch;
use crate::flow::program::Given;
use crate::program::access::ProcedureAccess;
use crate::program::code::OperationKind;

/// A place where a transaction is undone, and the statements that may be undone there.
pub(super) struct Undo {
    pub(super) node: usize,
    pub(super) undone: Vec<usize>,
}

/// The places of a procedure where writes are undone; `touches` says what each node does.
pub(super) fn undos(given: Given<'_>, touches: &[Vec<Touch>]) -> Vec<Undo> {
    let access = given.access;
    let inside = inside_transactions(access, given.autocommit);
    let writes = |node: &usize| inside.contains(node) && touches[*node].iter().any(Touch::is_write);
    let is_undo = |kind: &OperationKind| matches!(kind, OperationKind::Rollback | OperationKind::Raise(_));
    let places = access.nodes.iter().enumerate().filter(|(_, node)| is_undo(&node.operation.kind));
    let undo = |(node, _)| {
        let undone: Vec<usize> = since_the_beginning(access, node).into_iter().filter(writes).collect();
        (!undone.is_empty()).then_some(Undo { node, undone })
    };
    places.filter_map(undo).collect()
}

/// Whether a transaction that was open before is over behind a node.
fn ends(kind: &OperationKind) -> bool {
    matches!(kind, OperationKind::Commit | OperationKind::Rollback | OperationKind::Begin)
}

/// The nodes that may be executed with a transaction open that can be rolled back.
fn inside_transactions(access: &ProcedureAccess, autocommit: bool) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut open = vec![(0, !autocommit)];
    while let Some((node, inside)) = open.pop() {
        if node >= access.nodes.len() || !seen.insert((node, inside)) {
            continue;
        }
        let behind = match &access.nodes[node].operation.kind {
            OperationKind::Begin => true,
            OperationKind::Commit | OperationKind::Rollback => !autocommit,
            _ => inside,
        };
        open.extend(access.nodes[node].successors.iter().map(|next| (*next, behind)));
    }
    seen.into_iter().filter(|(_, inside)| *inside).map(|(node, _)| node).collect()
}

/// The nodes from which a way leads to this one within one transaction, ascending.
fn since_the_beginning(access: &ProcedureAccess, to: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open = vec![to];
    while let Some(node) = open.pop() {
        let before = access.nodes.iter().enumerate().filter(|(_, other)| other.successors.contains(&node));
        for (at, other) in before {
            if !ends(&other.operation.kind) && found.insert(at) {
                open.push(at);
            }
        }
    }
    found
}
