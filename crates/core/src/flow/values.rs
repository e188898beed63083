//! Where values go: chains of definitions and uses from a read in one transaction to a use in another.
//!
//! The vertices are operations. One leads to another if it defines a variable that the other uses, with no certain
//! definition of it in between; and a decision leads to everything that runs or does not run because of it:
//!
//! ```text
//!   T1: use account.balance -> x          T1 ──x──→ H1 ──y──→ T2     T2 writes what T1 read
//!   H1: set y <- x                                   └─(decides)─→ T3   T3 runs because of what T1 read
//! ```
//!
//! Chains are exact for the graph: each link stands for a way between two operations, and ways can be put together.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::input::{Operation, Procedure, Verb};
use super::reach::{Item, overwrites, replaces};
use super::ways::{decided_by, solve, way};
use crate::budget::WorkBudget;

/// An operation of a procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct OperationId {
    /// The position of its node.
    pub node: usize,
    /// Its position in the node.
    pub at: usize,
}

/// What carries a value from one operation to another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Carrier {
    /// A host variable.
    Variable(String),
    /// A decision: the value is not used, but whether the operation runs depends on it.
    Decision,
}

/// One step of a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hop {
    /// What carries it.
    pub carrier: Carrier,
    /// Where it gets to.
    pub to: OperationId,
    /// Whether it stays within one execution of a node.
    pub is_local: bool,
}

/// How a value that one operation read gets to another one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chain {
    /// The operation that read it.
    pub start: OperationId,
    /// The steps; none if it stays where it is.
    pub hops: Vec<Hop>,
}

impl Chain {
    /// Where it ends.
    pub fn end(&self) -> OperationId {
        self.hops.last().map_or(self.start, |hop| hop.to)
    }

    /// Whether the value is lost on the way, and only a decision that was made with it goes on.
    pub fn is_guarded(&self) -> bool {
        self.hops.iter().any(|hop| hop.carrier == Carrier::Decision)
    }

    /// What makes a chain better than another: that the value itself arrives, and that it is short.
    pub(super) fn rank(&self) -> (bool, usize) {
        (self.is_guarded(), self.hops.len())
    }

    /// The variable that is used at the end; `None` if a decision leads there.
    pub fn variable(&self) -> Option<&str> {
        match self.hops.last().map(|hop| &hop.carrier) {
            Some(Carrier::Variable(variable)) => Some(variable),
            _ => None,
        }
    }

    /// The nodes from its start to its end, on a way along which the value survives.
    pub(super) fn way(&self, procedure: &Procedure) -> Vec<usize> {
        let mut nodes = vec![self.start.node];
        for hop in self.hops.iter().filter(|hop| !hop.is_local) {
            let blocked = |node: usize| match &hop.carrier {
                Carrier::Variable(name) => replaces(&procedure.nodes[node], &Item::Variable(name.clone())),
                Carrier::Decision => false,
            };
            let from = nodes[nodes.len() - 1];
            let way = way(procedure, from, hop.to.node, blocked).unwrap_or_default();
            nodes.extend(way.into_iter().skip(1));
        }
        nodes
    }
}

/// A place that a value can get to: where, whether it has left the execution of the node that read it, and whether only
/// a decision is left of it.
type Place = (OperationId, bool, bool);

/// Where the values that one operation read can get to: each place with the place and the step before it.
#[derive(Debug, Clone)]
struct Tree {
    start: OperationId,
    found: BTreeMap<Place, Option<(Place, Hop)>>,
}

/// All chains of a procedure.
#[derive(Debug, Clone)]
pub(super) struct Values {
    hops: BTreeMap<OperationId, BTreeSet<Hop>>,
    /// The same, by where they lead.
    into: BTreeMap<OperationId, BTreeSet<(OperationId, Hop)>>,
    /// By the operations that read something and pass it on.
    trees: Vec<Tree>,
}

impl Values {
    /// The chains, as far as the budget goes: then some are missing.
    pub(super) fn within(procedure: &Procedure, budget: &WorkBudget) -> Values {
        let mut values = Values { hops: BTreeMap::new(), into: BTreeMap::new(), trees: Vec::new() };
        values.add_definitions(procedure, budget);
        values.add_decisions(procedure, budget);
        for (id, operation) in operations(procedure) {
            if budget.is_spent() {
                break;
            }
            let passes_on = !operation.defines.is_empty() || operation.verb == Verb::Decide;
            if passes_on && operation.reads().next().is_some() && procedure.nodes[id.node].is_transaction {
                values.trees.push(values.tree(id));
            }
        }
        values
    }

    fn add(&mut self, from: OperationId, hop: Hop) {
        self.into.entry(hop.to).or_default().insert((from, hop.clone()));
        self.hops.entry(from).or_default().insert(hop);
    }

    /// Reaching definitions, then each use within its node.
    fn add_definitions(&mut self, procedure: &Procedure, budget: &WorkBudget) {
        let definitions: Vec<(OperationId, &str)> = operations(procedure)
            .flat_map(|(id, operation)| operation.defines.iter().map(move |name| (id, name.as_str())))
            .collect();
        let items: Vec<Item> = definitions.iter().map(|(_, name)| Item::Variable((*name).to_string())).collect();
        let generated: Vec<BTreeSet<usize>> = (0..procedure.nodes.len())
            .map(|node| (0..definitions.len()).filter(|at| is_last(procedure, node, definitions[*at])).collect())
            .collect();
        let flow = solve(procedure, &generated, |node, fact| replaces(&procedure.nodes[node], &items[fact]), budget);
        for (node, into) in flow.into.iter().enumerate() {
            if budget.is_spent() {
                return;
            }
            let mut known: BTreeSet<(usize, bool)> = into.iter().map(|fact| (*fact, false)).collect();
            for (at, operation) in procedure.nodes[node].operations.iter().enumerate() {
                let to = OperationId { node, at };
                for (fact, is_local) in &known {
                    let (from, name) = definitions[*fact];
                    if operation.uses().any(|used| used == name) {
                        let carrier = Carrier::Variable(name.to_string());
                        self.add(from, Hop { carrier, to, is_local: *is_local });
                    }
                }
                known.retain(|(fact, _)| !overwrites(operation, &items[*fact]));
                known.extend((0..definitions.len()).filter(|fact| definitions[*fact].0 == to).map(|fact| (fact, true)));
            }
        }
    }

    /// Each decision with everything that depends on it: in other nodes, by control dependence; in its own, whatever
    /// comes after it and does not always happen.
    fn add_decisions(&mut self, procedure: &Procedure, budget: &WorkBudget) {
        let decided_by = decided_by(procedure, budget);
        let decisions: Vec<OperationId> =
            operations(procedure).filter(|(_, operation)| operation.verb == Verb::Decide).map(|(id, _)| id).collect();
        for from in decisions {
            if budget.is_spent() {
                return;
            }
            for (to, operation) in operations(procedure) {
                let carrier = Carrier::Decision;
                if decided_by[to.node].contains(&from.node) {
                    self.add(from, Hop { carrier: carrier.clone(), to, is_local: false });
                }
                if to.node == from.node && to.at > from.at && !operation.certain {
                    self.add(from, Hop { carrier, to, is_local: true });
                }
            }
        }
    }

    fn tree(&self, start: OperationId) -> Tree {
        let mut found = BTreeMap::from([((start, false, false), None)]);
        let mut open = VecDeque::from([(start, false, false)]);
        while let Some(place) = open.pop_front() {
            let (at, left, guarded) = place;
            for hop in self.hops.get(&at).into_iter().flatten() {
                let next = (hop.to, left || !hop.is_local, guarded || hop.carrier == Carrier::Decision);
                if let Entry::Vacant(entry) = found.entry(next) {
                    entry.insert(Some((place, hop.clone())));
                    open.push_back(next);
                }
            }
        }
        Tree { start, found }
    }

    /// The chains that leave the node that read a value and end in `node`: of each reading operation the best to
    /// each operation of the node. A chain of values is better than one through a decision, a short one better than
    /// a long one.
    pub(super) fn chains_into(&self, node: usize) -> Vec<Chain> {
        let mut chains = Vec::new();
        for tree in &self.trees {
            let all =
                (OperationId { node, at: 0 }, false, false)..(OperationId { node: node + 1, at: 0 }, false, false);
            let left = tree.found.range(all).filter(|((_, left, _), _)| *left);
            let ends: BTreeSet<OperationId> = left.map(|((at, ..), _)| *at).collect();
            let best = |end| [false, true].into_iter().find_map(|guarded| tree.chain((end, true, guarded)));
            chains.extend(ends.into_iter().filter_map(best));
        }
        chains
    }

    /// For each operation that reads something, the best chain to an operation (through `variable`, if one is named).
    pub(super) fn origins(&self, end: OperationId, variable: Option<&str>) -> Vec<Chain> {
        self.trees.iter().filter_map(|tree| self.origin(tree, end, variable)).collect()
    }

    fn origin(&self, tree: &Tree, end: OperationId, variable: Option<&str>) -> Option<Chain> {
        let Some(variable) = variable else { return tree.best(end) };
        // The tree itself remembers only one step into each place.
        let carrier = Carrier::Variable(variable.to_string());
        let last = self.into.get(&end).into_iter().flatten().filter(|(_, hop)| hop.carrier == carrier);
        let chains = last.filter_map(|(from, hop)| {
            let mut chain = tree.best(*from)?;
            chain.hops.push(hop.clone());
            Some(chain)
        });
        chains.min_by_key(Chain::rank)
    }
}

impl Tree {
    /// The best chain to an operation, whether or not it leaves the node.
    fn best(&self, end: OperationId) -> Option<Chain> {
        let places = [(false, false), (true, false), (false, true), (true, true)];
        let chains = places.iter().filter_map(|(left, guarded)| self.chain((end, *left, *guarded)));
        chains.min_by_key(Chain::rank)
    }

    /// The chain to a place, if the value gets there.
    fn chain(&self, place: Place) -> Option<Chain> {
        let mut hops = Vec::new();
        let mut at = place;
        while let Some((before, hop)) = self.found.get(&at)? {
            hops.push(hop.clone());
            at = *before;
        }
        hops.reverse();
        Some(Chain { start: self.start, hops })
    }
}

fn operations(procedure: &Procedure) -> impl Iterator<Item = (OperationId, &Operation)> {
    procedure.nodes.iter().enumerate().flat_map(|(node, it)| {
        it.operations.iter().enumerate().map(move |(at, operation)| (OperationId { node, at }, operation))
    })
}

/// Whether a definition of that node is known behind it.
fn is_last(procedure: &Procedure, node: usize, (id, name): (OperationId, &str)) -> bool {
    let behind = |operations: &[Operation]| {
        !operations[id.at + 1..].iter().any(|operation| overwrites(operation, &Item::Variable(name.to_string())))
    };
    id.node == node && behind(&procedure.nodes[node].operations)
}
