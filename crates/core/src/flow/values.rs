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

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::input::{Operation, Procedure, Verb};
use super::reach::{Item, overwrites, replaces};
use super::ways::{decided_by, solve, way};

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

/// How a value that one operation read gets to another one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chain {
    /// The operation that read it.
    pub start: OperationId,
    /// What carries it on, and to where.
    pub links: Vec<(Carrier, OperationId)>,
}

impl Chain {
    /// Where it ends.
    pub fn end(&self) -> OperationId {
        self.links.last().map_or(self.start, |(_, end)| *end)
    }

    /// Whether the value is lost on the way, and only a decision that was made with it goes on.
    pub fn is_guarded(&self) -> bool {
        self.links.iter().any(|(carrier, _)| *carrier == Carrier::Decision)
    }

    /// The variable that is used at the end; `None` if a decision leads there.
    pub fn variable(&self) -> Option<&str> {
        match self.links.last() {
            Some((Carrier::Variable(variable), _)) => Some(variable),
            _ => None,
        }
    }

    /// The nodes from its start to its end, on a way along which the value survives.
    pub(super) fn way(&self, procedure: &Procedure) -> Vec<usize> {
        let mut nodes = vec![self.start.node];
        let mut from = self.start;
        for (carrier, to) in &self.links {
            if !is_within(procedure, from, carrier, *to) {
                let blocked = |node: usize| match carrier {
                    Carrier::Variable(variable) => replaces(&procedure.nodes[node], &Item::Variable(variable.clone())),
                    Carrier::Decision => false,
                };
                let way = way(procedure, from.node, to.node, blocked).unwrap_or_default();
                nodes.extend(way.into_iter().skip(1));
            }
            from = *to;
        }
        nodes
    }
}

/// Whether a value gets from one operation to another without leaving the node.
fn is_within(procedure: &Procedure, from: OperationId, carrier: &Carrier, to: OperationId) -> bool {
    if from.node != to.node || from.at >= to.at {
        return false;
    }
    let between = &procedure.nodes[from.node].operations[from.at + 1..to.at];
    match carrier {
        Carrier::Variable(name) => !between.iter().any(|it| overwrites(it, &Item::Variable(name.clone()))),
        Carrier::Decision => true,
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Link {
    carrier: Carrier,
    to: OperationId,
    /// Whether it stays within one execution of a node.
    is_local: bool,
}

/// A place that a value can get to: where, whether it has left the execution of the node that read it, and whether only
/// a decision is left of it.
type Place = (OperationId, bool, bool);

/// Where the values that one operation read can get to: each place with the place and the carrier before it.
#[derive(Debug, Clone)]
struct Tree {
    start: OperationId,
    found: BTreeMap<Place, Option<(Place, Carrier)>>,
}

/// All chains of a procedure.
#[derive(Debug, Clone)]
pub(super) struct Values {
    links: BTreeMap<OperationId, Vec<Link>>,
    /// By the operations that read something and pass it on.
    trees: Vec<Tree>,
}

impl Values {
    pub(super) fn of(procedure: &Procedure) -> Values {
        let mut values = Values { links: BTreeMap::new(), trees: Vec::new() };
        values.add_definitions(procedure);
        values.add_decisions(procedure);
        values.links.values_mut().for_each(|links| links.sort());
        for (id, operation) in operations(procedure) {
            let passes_on = !operation.defines.is_empty() || operation.verb == Verb::Decide;
            if passes_on && operation.reads().next().is_some() && procedure.nodes[id.node].is_transaction {
                values.trees.push(values.tree(id));
            }
        }
        values
    }

    fn add(&mut self, from: OperationId, link: Link) {
        let links = self.links.entry(from).or_default();
        if !links.contains(&link) {
            links.push(link);
        }
    }

    /// Reaching definitions, then each use within its node.
    fn add_definitions(&mut self, procedure: &Procedure) {
        let definitions: Vec<(OperationId, &str)> = operations(procedure)
            .flat_map(|(id, operation)| operation.defines.iter().map(move |name| (id, name.as_str())))
            .collect();
        let item = |fact: usize| Item::Variable(definitions[fact].1.to_string());
        let generated: Vec<BTreeSet<usize>> = (0..procedure.nodes.len())
            .map(|node| (0..definitions.len()).filter(|at| is_last(procedure, node, definitions[*at])).collect())
            .collect();
        let flow = solve(procedure, &generated, |node, fact| replaces(&procedure.nodes[node], &item(fact)));
        for (node, into) in flow.into.iter().enumerate() {
            let mut known: BTreeSet<(usize, bool)> = into.iter().map(|fact| (*fact, false)).collect();
            for (at, operation) in procedure.nodes[node].operations.iter().enumerate() {
                let to = OperationId { node, at };
                for (fact, is_local) in &known {
                    let (from, name) = definitions[*fact];
                    if operation.uses().any(|used| used == name) {
                        let carrier = Carrier::Variable(name.to_string());
                        self.add(from, Link { carrier, to, is_local: *is_local });
                    }
                }
                known.retain(|(fact, _)| !overwrites(operation, &item(*fact)));
                known.extend((0..definitions.len()).filter(|fact| definitions[*fact].0 == to).map(|fact| (fact, true)));
            }
        }
    }

    /// Each decision with everything that depends on it: in other nodes, by control dependence; in its own, whatever
    /// comes after it and does not always happen.
    fn add_decisions(&mut self, procedure: &Procedure) {
        let decided_by = decided_by(procedure);
        let decisions: Vec<OperationId> =
            operations(procedure).filter(|(_, operation)| operation.verb == Verb::Decide).map(|(id, _)| id).collect();
        for from in decisions {
            for (to, operation) in operations(procedure) {
                let carrier = Carrier::Decision;
                if decided_by[to.node].contains(&from.node) {
                    self.add(from, Link { carrier: carrier.clone(), to, is_local: false });
                }
                if to.node == from.node && to.at > from.at && !operation.certain {
                    self.add(from, Link { carrier, to, is_local: true });
                }
            }
        }
    }

    fn tree(&self, start: OperationId) -> Tree {
        let mut found = BTreeMap::from([((start, false, false), None)]);
        let mut open = VecDeque::from([(start, false, false)]);
        while let Some(place) = open.pop_front() {
            let (at, left, guarded) = place;
            for link in self.links.get(&at).into_iter().flatten() {
                let next = (link.to, left || !link.is_local, guarded || link.carrier == Carrier::Decision);
                if let std::collections::btree_map::Entry::Vacant(entry) = found.entry(next) {
                    entry.insert(Some((place, link.carrier.clone())));
                    open.push_back(next);
                }
            }
        }
        Tree { start, found }
    }

    /// The chains that leave the node that read a value and end in `node`: of each reading operation the best to each
    /// operation of the node. A chain of values is better than one through a decision, a short one better than a long one.
    pub(super) fn chains_into(&self, node: usize) -> Vec<Chain> {
        let mut chains = Vec::new();
        for tree in &self.trees {
            let ends: BTreeSet<OperationId> =
                tree.found.keys().filter(|(at, left, _)| at.node == node && *left).map(|(at, ..)| *at).collect();
            let best = |end| [false, true].into_iter().find_map(|guarded| tree.chain((end, true, guarded)));
            chains.extend(ends.into_iter().filter_map(best));
        }
        chains
    }

    /// For each operation that reads something, the best chain to an operation (through `variable`, if one is named).
    pub(super) fn origins(&self, end: OperationId, variable: Option<&str>) -> Vec<Chain> {
        let fits = |chain: &Chain| variable.is_none() || chain.variable() == variable;
        let places = [(false, false), (true, false), (false, true), (true, true)];
        let best = |tree: &Tree| {
            let chains = places.iter().filter_map(|(left, guarded)| match variable {
                None => tree.chain((end, *left, *guarded)),
                Some(variable) => self.through(tree, end, *left, *guarded, variable),
            });
            chains.filter(fits).min_by_key(|chain| (chain.is_guarded(), chain.links.len()))
        };
        self.trees.iter().filter_map(best).collect()
    }

    /// The shortest chain of a tree whose last link is a variable. (The tree itself remembers one link into each place.)
    fn through(&self, tree: &Tree, end: OperationId, left: bool, guarded: bool, variable: &str) -> Option<Chain> {
        let carrier = Carrier::Variable(variable.to_string());
        let leads = |place: &&Place| {
            let (at, was_left, was_guarded) = **place;
            was_guarded == guarded
                && self
                    .links
                    .get(&at)
                    .into_iter()
                    .flatten()
                    .any(|link| link.to == end && link.carrier == carrier && left == (was_left || !link.is_local))
        };
        let before = tree.found.keys().filter(leads).filter_map(|place| tree.chain(*place));
        let mut chain = before.min_by_key(|chain| chain.links.len())?;
        chain.links.push((carrier, end));
        Some(chain)
    }
}

impl Tree {
    /// The chain to a place, if the value gets there.
    fn chain(&self, place: Place) -> Option<Chain> {
        let mut links = Vec::new();
        let mut at = place;
        while let Some((before, carrier)) = self.found.get(&at)? {
            links.push((carrier.clone(), at.0));
            at = *before;
        }
        links.reverse();
        Some(Chain { start: self.start, links })
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
