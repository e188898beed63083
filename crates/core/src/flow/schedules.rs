//! Interesting and legal schedules: ⟨Ti_A, Tj_B, Tk_A⟩ (§4.2, Figure 5).
//!
//! First, all [`Candidate`]s: two transactions on one way of a procedure that access the same element, or that are
//! connected by host variables to an element that the first one read. Then every transaction of any procedure is
//! tried in between, and the patterns of Tables 4 and 5 decide.

use std::collections::{BTreeMap, BTreeSet};

use super::input::{Application, Element, Node, Procedure, TransactionId};
use super::patterns::{Pattern, Phenomenon};
use super::reach::{Item, Op, Pair, Reach, replaces};
use super::values::{Carrier, Chain, Hop, OperationId, Values};
use super::ways::{reached, way};
use crate::budget::WorkBudget;

/// Three transactions, in this order, of two instances: A runs the first and the last, B the one in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// A's first transaction, Ti.
    pub first: TransactionId,
    /// B's transaction, Tj.
    pub between: TransactionId,
    /// A's last transaction, Tk: of the same procedure; the same as the first one only in a loop.
    pub last: TransactionId,
    /// Why it may go wrong; at least one reason.
    pub reasons: Vec<Reason>,
}

/// Why a schedule may go wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// What A, B and A do.
    pub pattern: &'static Pattern,
    /// What may be seen.
    pub phenomenon: Phenomenon,
    /// What B accesses.
    pub element: Element,
    /// What A's two transactions have to do with one another.
    pub link: Link,
    /// The nodes from the beginning of A's procedure to Ti, with both.
    pub approach: Vec<usize>,
    /// The nodes from Ti to Tk, with both: a way on which nothing replaces what the reason rests on.
    pub path: Vec<usize>,
}

/// What connects two transactions of an instance.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Link {
    /// Both access the element.
    Element,
    /// A host variable that was defined from the element.
    Variable {
        /// The variable in Tk; `None` if Tk only depends on a decision.
        name: Option<String>,
        /// How its value got from the database to where the reason needs it: to Tk; or, if Tk defines the variable
        /// anew, to Ti.
        chain: Chain,
    },
}

/// Two transactions on one way of a procedure that are connected, before it is known what others do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) first: usize,
    pub(super) last: usize,
    ops: (Op, Op),
    pub(super) element: Element,
    link: Link,
    approach: Vec<usize>,
    path: Vec<usize>,
    /// Only a decision connects them, and the first one itself writes what it decided upon: see [`is_settled`].
    is_settled: bool,
}

/// How many candidates of one procedure are looked at: nobody reads more.
pub(super) const CANDIDATES_MAX: usize = 20_000;

/// The candidates of a procedure, in a fixed order: all of them, if the budget lasts.
pub(super) fn candidates(procedure: &Procedure, budget: &WorkBudget) -> Vec<Candidate> {
    let reach = Reach::within(procedure, budget);
    let values = Values::within(procedure, budget);
    let pairs = reach.pairs(procedure, budget);
    let mut found: Vec<Candidate> = Vec::new();
    for pair in &pairs {
        if found.len() >= CANDIDATES_MAX || budget.is_spent() {
            return found;
        }
        match &pair.item {
            Item::Element(element) => found.extend(by_element(procedure, pair, element)),
            Item::Variable(name) => found.extend(by_variable(procedure, &values, pair, name)),
        }
    }
    let known: BTreeSet<_> = found.iter().map(key).collect();
    for (last, _) in procedure.nodes.iter().enumerate().filter(|(_, node)| node.is_transaction) {
        if found.len() >= CANDIDATES_MAX || budget.is_spent() {
            return found;
        }
        let chains = values.chains_into(last).into_iter();
        let derived = chains.flat_map(|chain| by_chain(procedure, last, &chain)).collect::<Vec<_>>();
        found.extend(derived.into_iter().filter(|candidate| !known.contains(&key(candidate))));
    }
    found
}

/// What makes two candidates the same question about B.
fn key(candidate: &Candidate) -> (usize, usize, (Op, Op), Element) {
    (candidate.first, candidate.last, candidate.ops, candidate.element.clone())
}

fn by_element(procedure: &Procedure, pair: &Pair, element: &Element) -> Option<Candidate> {
    let blocked = |node: usize| replaces(&procedure.nodes[node], &pair.item);
    Some(Candidate {
        first: pair.first,
        last: pair.last,
        ops: (pair.first_op, pair.last_op),
        element: element.clone(),
        link: Link::Element,
        approach: approach(procedure, pair.first),
        path: way(procedure, pair.first, pair.last, blocked)?,
        is_settled: false,
    })
}

/// A pair of accesses to a host variable: one candidate for each element that the variable's value in Ti comes from.
fn by_variable(procedure: &Procedure, values: &Values, pair: &Pair, name: &str) -> Vec<Candidate> {
    let mut found = Vec::new();
    let operations = procedure.nodes[pair.first].operations.iter().enumerate();
    for (at, operation) in operations {
        let id = OperationId { node: pair.first, at };
        let origins = match pair.first_op {
            Op::Define if operation.defines.iter().any(|it| it == name) => values.origins(id, None),
            Op::Use if operation.uses().any(|it| it == name) => values.origins(id, Some(name)),
            _ => continue,
        };
        for chain in origins {
            found.extend(of_origin(procedure, pair, name, &chain));
        }
    }
    found
}

fn of_origin(procedure: &Procedure, pair: &Pair, name: &str, origin: &Chain) -> Vec<Candidate> {
    let blocked = |node: usize| replaces(&procedure.nodes[node], &pair.item);
    let Some(path) = way(procedure, pair.first, pair.last, blocked) else { return Vec::new() };
    let mut chain = origin.clone();
    if pair.last_op == Op::Use {
        let uses = |at: &usize| procedure.nodes[pair.last].operations[*at].uses().any(|used| used == name);
        let at = (0..procedure.nodes[pair.last].operations.len()).find(uses).unwrap_or(0);
        let to = OperationId { node: pair.last, at };
        chain.hops.push(Hop { carrier: Carrier::Variable(name.to_string()), to, is_local: false });
    }
    let mut approach = approach(procedure, origin.start.node);
    approach.extend(origin.way(procedure).into_iter().skip(1));
    let candidate = |element: &Element| Candidate {
        first: pair.first,
        last: pair.last,
        ops: (pair.first_op, pair.last_op),
        element: element.clone(),
        link: Link::Variable { name: Some(name.to_string()), chain: chain.clone() },
        approach: approach.clone(),
        path: path.clone(),
        is_settled: is_settled(procedure, origin, element),
    };
    elements(procedure, origin.start).iter().map(candidate).collect()
}

/// A chain from Ti to Tk: through other variables, or through a decision.
fn by_chain(procedure: &Procedure, last: usize, chain: &Chain) -> Vec<Candidate> {
    let candidate = |element: &Element| Candidate {
        first: chain.start.node,
        last,
        ops: (Op::Define, Op::Use),
        element: element.clone(),
        link: Link::Variable { name: chain.variable().map(str::to_string), chain: chain.clone() },
        approach: approach(procedure, chain.start.node),
        path: chain.way(procedure),
        is_settled: is_settled(procedure, chain, element),
    };
    elements(procedure, chain.start).iter().map(candidate).collect()
}

fn elements(procedure: &Procedure, id: OperationId) -> BTreeSet<Element> {
    procedure.nodes[id.node].operations[id.at].reads().cloned().collect()
}

fn approach(procedure: &Procedure, to: usize) -> Vec<usize> {
    if to == 0 { vec![0] } else { way(procedure, 0, to, |_| false).unwrap_or_default() }
}

/// Whether a decision was made known to everybody: the transaction that read the element to decide upon wrote it
/// afterwards. Whoever comes later builds upon that, and takes nothing from the decision.
///
/// The paper knows no decisions; without this rule, a transfer that debits one account and then, in another
/// transaction, credits the other would depend on the balance that it itself has changed.
fn is_settled(procedure: &Procedure, chain: &Chain, element: &Element) -> bool {
    let behind = &procedure.nodes[chain.start.node].operations[chain.start.at + 1..];
    chain.is_guarded() && behind.iter().any(|operation| operation.certain && operation.writes.contains(element))
}

/// Who accesses what: each element with every transaction that reads or writes it, and whether, by doing so, it adds or
/// removes rows.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    by_element: BTreeMap<Element, BTreeSet<(TransactionId, Op, bool)>>,
}

impl Index {
    pub(super) fn of(application: &Application) -> Index {
        let mut index = Index::default();
        for id in transactions(application) {
            for operation in &application.node(id).operations {
                for element in operation.reads() {
                    index.by_element.entry(element.clone()).or_default().insert((id, Op::Read, false));
                }
                for element in &operation.writes {
                    let changes_rows = operation.verb.changes_rows();
                    index.by_element.entry(element.clone()).or_default().insert((id, Op::Write, changes_rows));
                }
            }
        }
        index
    }

    /// The accesses of an element.
    pub(super) fn of_element(&self, element: &Element) -> impl Iterator<Item = &(TransactionId, Op, bool)> {
        self.by_element.get(element).into_iter().flatten()
    }
}

/// All transactions that can be reached.
pub(super) fn transactions(application: &Application) -> Vec<TransactionId> {
    let mut found = Vec::new();
    for (procedure, it) in application.procedures.iter().enumerate() {
        let reached = reached(it);
        let nodes = (0..it.nodes.len()).filter(|node| reached[*node] && it.nodes[*node].is_transaction);
        found.extend(nodes.map(|node| TransactionId { procedure, node }));
    }
    found
}

/// All interesting and legal schedules that match a conflict pattern, in the order of their transactions.
pub fn schedules(application: &Application) -> Vec<Schedule> {
    schedules_up_to(application, usize::MAX, &WorkBudget::unlimited()).0
}

/// The same, but not many more than so many; and whether these are all. A procedure of hundreds of transactions on one
/// table has millions of schedules, which all say the same.
pub fn schedules_up_to(application: &Application, count_max: usize, budget: &WorkBudget) -> (Vec<Schedule>, bool) {
    let index = Index::of(application);
    let mut found: BTreeMap<(TransactionId, TransactionId, TransactionId), Vec<Reason>> = BTreeMap::new();
    let mut is_complete = true;
    'all: for (procedure, it) in application.procedures.iter().enumerate() {
        if budget.is_spent() {
            is_complete = false;
            break;
        }
        let own = candidates(it, budget);
        is_complete &= own.len() < CANDIDATES_MAX;
        for candidate in own.iter().filter(|candidate| !candidate.is_settled) {
            if found.len() >= count_max || budget.is_spent() {
                is_complete = false;
                break 'all;
            }
            let id = |node| TransactionId { procedure, node };
            for (between, op, changes_rows) in index.of_element(&candidate.element) {
                if let Some(reason) = reason(candidate, *op, *changes_rows, &it.nodes[candidate.last]) {
                    let reasons = found.entry((id(candidate.first), *between, id(candidate.last))).or_default();
                    add(reasons, reason);
                }
            }
        }
    }
    let schedule = |((first, between, last), reasons)| Schedule { first, between, last, reasons };
    (found.into_iter().map(schedule).collect(), is_complete)
}

fn reason(candidate: &Candidate, between: Op, changes_rows: bool, last: &Node) -> Option<Reason> {
    let pattern = Pattern::find(candidate.ops.0, between, candidate.ops.1)?;
    Some(Reason {
        pattern,
        phenomenon: pattern.phenomenon(changes_rows, last.writes()),
        element: candidate.element.clone(),
        link: candidate.link.clone(),
        approach: candidate.approach.clone(),
        path: candidate.path.clone(),
    })
}

/// Adds a reason, unless there is one that says the same with a chain that is not longer.
fn add(reasons: &mut Vec<Reason>, reason: Reason) {
    let same = |it: &&mut Reason| {
        let name = |link: &Link| match link {
            Link::Element => None,
            Link::Variable { name, .. } => Some(name.clone()),
        };
        (it.pattern, it.phenomenon, &it.element) == (reason.pattern, reason.phenomenon, &reason.element)
            && name(&it.link) == name(&reason.link)
    };
    match reasons.iter_mut().find(same) {
        Some(known) if length(&reason.link) < length(&known.link) => *known = reason,
        Some(_) => {}
        None => reasons.push(reason),
    }
}

fn length(link: &Link) -> usize {
    match link {
        Link::Element => 0,
        Link::Variable { chain, .. } => chain.hops.len(),
    }
}
