//! Statements and host code as operations of the analysis.

use std::collections::{BTreeMap, BTreeSet};

use super::super::input::{Element, Operation, Source, Verb};
use crate::program::access::{Access, EVERY, Effect, Node, Place, ProcedureAccess, TableAccess};
use crate::program::code::OperationKind;
use crate::program::predicate;
use crate::program::schema::Schema;

/// The columns of every table: those of the schema, or else those that anybody mentions.
pub(super) struct Columns<'a> {
    schema: &'a Schema,
    mentioned: BTreeMap<String, BTreeSet<String>>,
}

impl<'a> Columns<'a> {
    pub(super) fn of<'p>(procedures: impl Iterator<Item = &'p ProcedureAccess>, schema: &'a Schema) -> Columns<'a> {
        let mut mentioned: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for table in procedures.flat_map(|procedure| &procedure.nodes).flat_map(|node| &node.access.tables) {
            let columns = mentioned.entry(table.table.clone()).or_default();
            let named = [&table.reads, &table.tests, &table.writes].into_iter().flatten();
            columns.extend(named.filter(|column| *column != EVERY).cloned());
        }
        Columns { schema, mentioned }
    }

    /// The elements that columns stand for; `*` is every column that there is.
    fn elements(&self, table: &str, columns: &BTreeSet<String>) -> Vec<Element> {
        let expand = |column: &String| -> Vec<Element> {
            if column != EVERY {
                return vec![Element::column(table, column)];
            }
            let known = self.mentioned.get(table).into_iter().flatten();
            known.map(|column| Element::column(table, column)).collect()
        };
        columns.iter().flat_map(expand).collect()
    }
}

/// The operations of one position.
pub(super) fn of(node: &Node, columns: &Columns<'_>) -> Vec<Operation> {
    let line = node.operation.span.line;
    let mut operations = match &node.operation.kind {
        OperationKind::Send(_) => statement(node, columns),
        OperationKind::Open(cursor, _) => opening(node, cursor, columns),
        OperationKind::Fetch(cursor, variables) => {
            let take = |(at, variable): (usize, &crate::program::Variable)| Operation {
                values: vec![Source::Variable(kept(cursor, at))],
                defines: vec![variable.name.clone()],
                ..Operation::new(Verb::Assign)
            };
            variables.iter().enumerate().map(take).collect()
        }
        OperationKind::Assign(variable, _) => vec![Operation {
            values: used(node, |_| true),
            defines: vec![variable.name.clone()],
            ..Operation::new(Verb::Assign)
        }],
        OperationKind::Unless(..) => {
            vec![Operation { choice: used(node, |_| true), ..Operation::new(Verb::Decide) }]
        }
        _ => Vec::new(),
    };
    operations.iter_mut().for_each(|operation| operation.line = line);
    operations
}

/// What the host keeps of a column of a cursor's rows.
fn kept(cursor: &str, column: usize) -> String {
    format!("{cursor}#{column}")
}

/// A query that fills variables is one operation for each, those that it uses last.
fn statement(node: &Node, columns: &Columns<'_>) -> Vec<Operation> {
    let base = base(&node.access, columns);
    if node.defines.is_empty() {
        return vec![base];
    }
    let is_used = |name: &str| node.uses.iter().any(|it| it.variable.name == name);
    let mut definitions: Vec<_> = node.defines.iter().collect();
    definitions.sort_by_key(|definition| is_used(&definition.variable.name));
    let operation = |definition: &&crate::program::access::nodes::Definition| Operation {
        values: origins(&definition.origins, columns).into_iter().chain(values(&base)).collect(),
        defines: vec![definition.variable.name.clone()],
        ..base.clone()
    };
    let mut operations: Vec<Operation> = definitions.iter().map(operation).collect();
    // What it writes is written once.
    operations.iter_mut().skip(1).for_each(|operation| operation.writes.clear());
    operations
}

/// What every variable of a query depends on beside its own columns: host variables, or all that a writing statement
/// reads.
fn values(base: &Operation) -> Vec<Source> {
    let is_query = base.verb == Verb::Select;
    let kept = base.values.iter().filter(|source| !is_query || matches!(source, Source::Variable(_)));
    kept.cloned().collect()
}

fn opening(node: &Node, cursor: &str, columns: &Columns<'_>) -> Vec<Operation> {
    let base = base(&node.access, columns);
    let outputs = node.access.outputs.iter().enumerate();
    let operations: Vec<Operation> = outputs
        .map(|(at, output)| Operation {
            values: origins(&output.origins, columns).into_iter().chain(values(&base)).collect(),
            defines: vec![kept(cursor, at)],
            ..base.clone()
        })
        .collect();
    if operations.is_empty() { vec![base] } else { operations }
}

fn origins(elements: &BTreeSet<predicate::Element>, columns: &Columns<'_>) -> Vec<Source> {
    let each = |element: &predicate::Element| columns.elements(&element.table, &[element.column.clone()].into());
    elements.iter().flat_map(each).map(Source::Element).collect()
}

/// A statement as one operation: whatever it writes depends on all that it reads.
fn base(access: &Access, columns: &Columns<'_>) -> Operation {
    let mut operation = Operation::new(verb(access));
    for table in &access.tables {
        let sources = |named: &BTreeSet<String>| {
            columns.elements(&table.table, named).into_iter().map(Source::Element).collect::<Vec<_>>()
        };
        operation.values.extend(sources(&table.reads));
        operation.choice.extend(sources(&table.tests));
        if table.is_scan() {
            operation.choice.push(Source::Element(Element::rows(&table.table)));
        }
        operation.writes.extend(writes(table, columns));
    }
    for used in &access.uses {
        let source = Source::Variable(used.variable.name.clone());
        match used.place {
            Place::Test(_) => operation.choice.push(source),
            Place::Value(_) | Place::Other => operation.values.push(source),
        }
    }
    for list in [&mut operation.values, &mut operation.choice] {
        let mut seen = BTreeSet::new();
        list.retain(|source| seen.insert(source.clone()));
    }
    operation
}

fn writes(table: &TableAccess, columns: &Columns<'_>) -> Vec<Element> {
    let mut writes = columns.elements(&table.table, &table.writes);
    if table.writes_existence(columns.schema) {
        writes.push(Element::rows(&table.table));
    }
    writes
}

/// What a statement is: what it does to the rows that it changes.
fn verb(access: &Access) -> Verb {
    let effect = access.tables.iter().map(|table| table.effect).find(|effect| *effect != Effect::Read);
    match effect {
        None | Some(Effect::Read) => Verb::Select,
        Some(Effect::Update) => Verb::Update,
        Some(Effect::Insert | Effect::Upsert) => Verb::Insert,
        Some(Effect::Delete) => Verb::Delete,
    }
}

fn used(node: &Node, wanted: impl Fn(&Place) -> bool) -> Vec<Source> {
    let uses = node.uses.iter().filter(|used| wanted(&used.place));
    uses.map(|used| Source::Variable(used.variable.name.clone())).collect()
}
