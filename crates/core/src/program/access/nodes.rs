//! The accesses of a whole procedure: the nodes of its control-flow graph, with what each does to rows and variables.
//!
//! ```text
//!   0  SELECT avail INTO :avail …   defines avail from flights.avail, uses flight; then 1
//!   1  COMMIT                       then 2
//!   2  unless :avail > 0, to 5      uses avail; then 3 or 5
//!   3  UPDATE … avail = :avail - 1  uses avail for flights.avail, flight; then 4
//!   4  COMMIT                       then 5
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::{Access, EVERY, OutputColumn, Place, Use, of_statement};
use crate::program::code::{Operation, OperationKind, operations};
use crate::program::diagnostic::Diagnostic;
use crate::program::ir::{Procedure, Variable};
use crate::program::located::Language;
use crate::program::predicate::Element;
use crate::program::schema::Schema;

/// A procedure as a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcedureAccess {
    /// Its name.
    pub name: String,
    /// Its nodes; the positions are those of [`operations`]. One behind the last is the end.
    pub nodes: Vec<Node>,
}

/// A node of the control-flow graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What it does.
    pub operation: Operation,
    /// What may come next.
    pub successors: Vec<usize>,
    /// The rows that it touches.
    pub access: Access,
    /// The variables that it gives values to.
    pub defines: Vec<Definition>,
    /// The variables whose values it needs.
    pub uses: Vec<Use>,
}

/// A variable that gets a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The variable, where it is mentioned.
    pub variable: Variable,
    /// The columns that the value comes from. Empty for an assignment, whose value comes from other variables.
    pub origins: BTreeSet<Element>,
    /// Whether it is the value of a column as it is.
    pub is_copy: bool,
}

/// The graph of a procedure, and what could not be resolved.
pub fn of_procedure(procedure: &Procedure, schema: &Schema, language: Language) -> (ProcedureAccess, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let mut cursors = Cursors::default();
    let mut nodes = Vec::new();
    for (position, operation) in operations(procedure).into_iter().enumerate() {
        let statement = match &operation.kind {
            OperationKind::Send(sql) | OperationKind::Open(_, sql) => Some(sql),
            _ => None,
        };
        let (access, complaints) =
            statement.map(|statement| of_statement(statement, operation.span, schema, language)).unwrap_or_default();
        let is_read = complaints.is_empty() || !access.outputs.is_empty();
        diagnostics.extend(complaints);
        let (sources, rows) = match &operation.kind {
            OperationKind::Open(cursor, _) => {
                cursors.open(cursor, &access.outputs);
                (Vec::new(), None)
            }
            OperationKind::Fetch(cursor, variables) => (cursors.outputs(cursor), Some(variables)),
            OperationKind::Send(sql) => (access.outputs.clone(), sql.into_clause().map(|into| &into.variables)),
            _ => (Vec::new(), None),
        };
        if let Some(variables) = rows.filter(|variables| is_read && variables.len() != sources.len()) {
            diagnostics.extend(wrong_count(variables, &sources, &operation));
        }
        let defines = definitions(&operation, &sources);
        let uses = uses(&operation, &access);
        nodes.push(Node { successors: operation.successors(position), operation, access, defines, uses });
    }
    (ProcedureAccess { name: procedure.name.clone(), nodes }, diagnostics)
}

/// The queries of the cursors that have been opened so far.
#[derive(Default)]
struct Cursors(BTreeMap<String, Vec<OutputColumn>>);

impl Cursors {
    /// One that is opened at several places has rows of any of them.
    fn open(&mut self, cursor: &str, outputs: &[OutputColumn]) {
        match self.0.get_mut(cursor) {
            Some(known) if known.len() == outputs.len() => known.iter_mut().zip(outputs).for_each(|(known, output)| {
                known.origins.extend(output.origins.iter().cloned());
                known.is_copy &= output.is_copy;
            }),
            _ => drop(self.0.insert(cursor.to_string(), outputs.to_vec())),
        }
    }

    fn outputs(&self, cursor: &str) -> Vec<OutputColumn> {
        self.0.get(cursor).cloned().unwrap_or_default()
    }
}

/// A `*` of an unknown table may be any number of columns.
fn wrong_count(variables: &[Variable], sources: &[OutputColumn], operation: &Operation) -> Option<Diagnostic> {
    let is_open = sources.is_empty() || sources.iter().any(|source| source.name.as_deref() == Some(EVERY));
    let (columns, count) = (sources.len(), variables.len());
    let span = variables.first().map_or(operation.span, |first| first.span);
    let message = format!("{count} variables are to take {columns} columns");
    (!is_open).then(|| Diagnostic::error(span, message).with_hint("name one variable per column"))
}

fn definitions(operation: &Operation, sources: &[OutputColumn]) -> Vec<Definition> {
    let everything = || sources.iter().flat_map(|source| source.origins.iter().cloned()).collect();
    let definition = |(at, variable): (usize, &Variable)| match sources.get(at) {
        Some(source) if source.name.as_deref() != Some(EVERY) => {
            Definition { variable: variable.clone(), origins: source.origins.clone(), is_copy: source.is_copy }
        }
        _ => Definition { variable: variable.clone(), origins: everything(), is_copy: false },
    };
    operation.defines().iter().enumerate().map(definition).collect()
}

/// Uses in SQL have a place; those in expressions have none.
fn uses(operation: &Operation, access: &Access) -> Vec<Use> {
    match &operation.kind {
        OperationKind::Send(_) | OperationKind::Open(..) => access.uses.clone(),
        _ => operation.uses().into_iter().map(|variable| Use { variable, place: Place::Other }).collect(),
    }
}
