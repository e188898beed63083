//! Reaching accesses: which accesses of a transaction are still the last word when a later one begins (§4.2).
//!
//! A fact is the tuple ⟨T, op, element or variable⟩. A write replaces what was known of an element, a definition
//! what was known of a variable; reads and uses replace nothing. What reaches a transaction and is accessed by it,
//! too, is a [`Pair`]: the paper's *XactPair*.
//!
//! Two details are finer than the paper's. Within a transaction, order counts for host variables: a use behind a
//! definition is no use of an older value. And what is done only perhaps replaces nothing.

use std::collections::BTreeSet;
use std::fmt;

use super::input::{Element, Node, Operation, Procedure};
use super::ways::{Flow, solve};
use crate::budget::WorkBudget;

/// How something is accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// An element is read.
    Read,
    /// An element is written.
    Write,
    /// A variable is used.
    Use,
    /// A variable is defined.
    Define,
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Op::Read => "R",
            Op::Write => "W",
            Op::Use => "U",
            Op::Define => "D",
        })
    }
}

/// What is accessed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    /// Something in the database.
    Element(Element),
    /// A host variable.
    Variable(String),
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Item::Element(element) => element.fmt(f),
            Item::Variable(variable) => write!(f, ":{variable}"),
        }
    }
}

/// One access of a transaction: the paper's ⟨T, op, elm⟩.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    /// The transaction, as a node of its procedure.
    pub node: usize,
    /// How.
    pub op: Op,
    /// What.
    pub item: Item,
}

/// Two transactions of one way through a procedure that access the same thing: the paper's ⟨Ti, op1, Tk, op2, elm⟩.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// The earlier transaction, as a node of its procedure.
    pub first: usize,
    /// How it accesses the thing.
    pub first_op: Op,
    /// The later one; the same as the earlier one only in a loop.
    pub last: usize,
    /// How it accesses the thing.
    pub last_op: Op,
    /// The thing.
    pub item: Item,
}

/// The sets GEN, IN and OUT of every node of a procedure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    /// All accesses; the sets name them by their position.
    pub accesses: Vec<Access>,
    /// GEN: what each node accesses. Host code between transactions accesses nothing.
    pub generated: Vec<BTreeSet<usize>>,
    /// IN: what reaches each node.
    pub into: Vec<BTreeSet<usize>>,
    /// OUT: what goes on from each node.
    pub out: Vec<BTreeSet<usize>>,
}

/// About how many pairs of one procedure are looked at.
const PAIRS_MAX: usize = 100_000;

impl Reach {
    /// Solves the equations for a procedure.
    pub fn of(procedure: &Procedure) -> Reach {
        Reach::within(procedure, &WorkBudget::unlimited())
    }

    /// The same, as far as the budget goes: then facts are missing.
    pub fn within(procedure: &Procedure, budget: &WorkBudget) -> Reach {
        let mut accesses = Vec::new();
        let mut generated = Vec::new();
        for (at, node) in procedure.nodes.iter().enumerate() {
            let start = accesses.len();
            if node.is_transaction {
                accesses.extend(items(node).into_iter().map(|(op, item)| Access { node: at, op, item }));
            }
            generated.push((start..accesses.len()).collect::<BTreeSet<usize>>());
        }
        let leaving: Vec<BTreeSet<usize>> = procedure
            .nodes
            .iter()
            .zip(&generated)
            .map(|(node, all)| all.iter().copied().filter(|at| leaves(node, &accesses[*at])).collect())
            .collect();
        let Flow { into, out } =
            solve(procedure, &leaving, |node, fact| replaces(&procedure.nodes[node], &accesses[fact].item), budget);
        Reach { accesses, generated, into, out }
    }

    /// XactPair: everything that two transactions of one way access, the same thing each time; as far as the budget goes.
    pub fn pairs(&self, procedure: &Procedure, budget: &WorkBudget) -> BTreeSet<Pair> {
        let mut pairs = BTreeSet::new();
        for (at, node) in procedure.nodes.iter().enumerate() {
            if pairs.len() > PAIRS_MAX || budget.is_spent() {
                break;
            }
            for first in self.into[at].iter().map(|fact| &self.accesses[*fact]) {
                let again = self.generated[at].iter().map(|fact| &self.accesses[*fact]);
                for last in again.filter(|last| last.item == first.item && enters(node, last)) {
                    pairs.insert(Pair {
                        first: first.node,
                        first_op: first.op,
                        last: at,
                        last_op: last.op,
                        item: first.item.clone(),
                    });
                }
            }
        }
        pairs
    }
}

/// Everything that a transaction accesses.
pub(super) fn items(node: &Node) -> BTreeSet<(Op, Item)> {
    let mut items = BTreeSet::new();
    for operation in &node.operations {
        items.extend(operation.reads().map(|element| (Op::Read, Item::Element(element.clone()))));
        items.extend(operation.writes.iter().map(|element| (Op::Write, Item::Element(element.clone()))));
        items.extend(operation.uses().map(|variable| (Op::Use, Item::Variable(variable.to_string()))));
        items.extend(operation.defines.iter().map(|variable| (Op::Define, Item::Variable(variable.clone()))));
    }
    items
}

/// Whether an operation gives the item a new value for certain.
pub(super) fn overwrites(operation: &Operation, item: &Item) -> bool {
    operation.certain
        && match item {
            Item::Element(element) => operation.writes.contains(element),
            Item::Variable(variable) => operation.defines.contains(variable),
        }
}

/// KILL: whether nothing that was known of the item outlasts the node.
pub(super) fn replaces(node: &Node, item: &Item) -> bool {
    node.operations.iter().any(|operation| overwrites(operation, item))
}

/// Whether an access of a node is known behind it: not the use of a variable that the node itself redefines.
fn leaves(node: &Node, access: &Access) -> bool {
    access.op != Op::Use || !replaces(node, &access.item)
}

/// Whether an access of a node may see what was before the node: not the use of a variable behind a definition.
fn enters(node: &Node, access: &Access) -> bool {
    let (Op::Use, Item::Variable(variable)) = (access.op, &access.item) else { return true };
    let until = node.operations.iter().position(|operation| overwrites(operation, &access.item));
    let before = until.map_or(node.operations.len(), |at| at + 1);
    node.operations[..before].iter().any(|operation| operation.uses().any(|used| used == variable))
}
