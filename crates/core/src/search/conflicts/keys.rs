//! Which statements of one call are about the same row.
//!
//! `WHERE id = :account` twice in one call is the same row twice, if `:account` is the same: a parameter that nobody
//! assigns, or a variable that gets a value at one place only, which is in no loop. (That NULL stands in it before does
//! not matter: no row has NULL for a key.) What is known without a solver rules out many plans early.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::access::{Effect, ProcedureAccess, Reach, TableAccess};
use crate::program::code::OperationKind;
use crate::program::ir::ExprKind;
use crate::program::predicate::Term;
use crate::program::schema::Schema;
use crate::value::Value;

/// A part of a key, the same throughout a call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Constant(Value),
    Variable(String),
}

/// The primary key of a row, in the order of the key's columns.
pub(super) type Key = Vec<Part>;

/// A row of one call, by number: touches of one call with the same number are of the same row. If all parts of the key
/// are constants, those of other calls are, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Row {
    /// Its number, unique among procedures and tables.
    pub number: u32,
    /// Whether it is the same row in all calls.
    pub is_constant: bool,
}

/// Gives numbers to keys.
#[derive(Debug, Default)]
pub(super) struct Rows(BTreeMap<(Option<usize>, String, Key), u32>);

impl Rows {
    /// The row with that key, in the calls of that procedure.
    pub(super) fn row(&mut self, procedure: usize, table: &str, key: Key) -> Row {
        let is_constant = key.iter().all(|part| matches!(part, Part::Constant(_)));
        let owner = (!is_constant).then_some(procedure);
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        let number = *self.0.entry((owner, table.to_string(), key)).or_insert(next);
        Row { number, is_constant }
    }
}

/// What is known of the places where a variable gets values.
#[derive(Default)]
struct Places {
    /// Where it gets a value that is not NULL.
    defined: Vec<usize>,
    /// Whether the first mention of it makes it NULL, as a declaration does. (A parameter has a value from the start.)
    is_declared: bool,
    is_mentioned: bool,
}

/// The variables of a procedure that have one value at most, beside NULL.
pub(super) fn stable(access: &ProcedureAccess) -> BTreeSet<&str> {
    let mut variables: BTreeMap<&str, Places> = BTreeMap::new();
    for (at, node) in access.nodes.iter().enumerate() {
        for used in &node.uses {
            variables.entry(&used.variable.name).or_default().is_mentioned = true;
        }
        let is_null = match &node.operation.kind {
            OperationKind::Assign(_, value) => value.kind == ExprKind::Literal(Value::Null),
            _ => false,
        };
        for definition in &node.defines {
            let places = variables.entry(&definition.variable.name).or_default();
            if is_null {
                places.is_declared |= !places.is_mentioned;
            } else {
                places.defined.push(at);
            }
            places.is_mentioned = true;
        }
    }
    let is_stable = |places: &Places| match places.defined.as_slice() {
        [] => true,
        [only] => places.is_declared && !reaches(access, *only, *only),
        _ => false,
    };
    variables.into_iter().filter(|(_, places)| is_stable(places)).map(|(name, _)| name).collect()
}

/// Whether a way leads from behind one node to another.
fn reaches(access: &ProcedureAccess, from: usize, to: usize) -> bool {
    reachable(access, from).get(to).copied().unwrap_or(false)
}

/// For each node of a procedure, whether a way leads there from behind one of them.
pub(super) fn reachable(access: &ProcedureAccess, from: usize) -> Vec<bool> {
    let mut seen = vec![false; access.nodes.len()];
    let mut open: Vec<usize> = access.nodes[from].successors.clone();
    while let Some(node) = open.pop() {
        if node < seen.len() && !std::mem::replace(&mut seen[node], true) {
            open.extend(&access.nodes[node].successors);
        }
    }
    seen
}

/// The primary key of the one row that an access reaches, if it is the same throughout the call.
pub(super) fn key(access: &TableAccess, schema: &Schema, stable: &BTreeSet<&str>) -> Option<Key> {
    let primary = &schema.table(&access.table)?.primary_key;
    let terms: Vec<&Term> = match (&access.reach, access.effect) {
        (Reach::Key(reach), Effect::Read | Effect::Delete) if reach.primary => {
            reach.columns.iter().map(|(_, terms)| only(terms)).collect::<Option<_>>()?
        }
        (Reach::Key(reach), Effect::Update) if reach.primary && !writes_any(access, primary) => {
            reach.columns.iter().map(|(_, terms)| only(terms)).collect::<Option<_>>()?
        }
        (_, Effect::Insert) => primary.iter().map(|column| inserted(access, column)).collect::<Option<_>>()?,
        _ => return None,
    };
    let parts: Option<Key> = terms.into_iter().map(|term| part(term, stable)).collect();
    parts.filter(|parts| !parts.is_empty())
}

/// A term as a part of a key.
pub(super) fn part(term: &Term, stable: &BTreeSet<&str>) -> Option<Part> {
    match term {
        Term::Constant(value) if *value != Value::Null => Some(Part::Constant(value.clone())),
        Term::Variable(variable) if stable.contains(variable.name.as_str()) => {
            Some(Part::Variable(variable.name.clone()))
        }
        _ => None,
    }
}

fn writes_any(access: &TableAccess, columns: &[String]) -> bool {
    columns.iter().any(|column| access.writes.contains(column))
}

fn only(terms: &[Term]) -> Option<&Term> {
    if let [term] = terms { Some(term) } else { None }
}

/// What is inserted into a column, if it is one row.
pub(super) fn inserted<'a>(access: &'a TableAccess, column: &str) -> Option<&'a Term> {
    let mut values = access.assigned.iter().filter(|assigned| assigned.column == column);
    let first = values.next()?;
    values.next().is_none().then_some(&first.value)
}
