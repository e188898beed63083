//! In which order tables are filled: what is referred to comes first.

use super::StateError;
use super::schema::{Operand, Schema, Table};
use crate::suggest;

/// A table to fill, and which of its foreign keys cannot be followed yet and are left NULL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan<'s> {
    pub(super) table: &'s Table,
    pub(super) without: Vec<usize>,
}

/// All tables in an order in which they can be filled. Tables that refer to one another in a circle are begun where
/// a foreign key may be NULL.
pub(super) fn plan(schema: &Schema) -> Result<Vec<Plan<'_>>, StateError> {
    validate(schema)?;
    let mut plan: Vec<Plan<'_>> = Vec::new();
    let mut open: Vec<&Table> = schema.tables.iter().collect();
    while !open.is_empty() {
        let missing: Vec<Vec<usize>> = open.iter().map(|table| missing(table, &plan)).collect();
        let free = missing.iter().position(Vec::is_empty);
        let circle = || (0..open.len()).find(|at| missing[*at].iter().all(|key| may_be_null(open[*at], *key)));
        let Some(next) = free.or_else(circle) else {
            return Err(StateError::Circle(open.iter().map(|table| table.name.clone()).collect()));
        };
        plan.push(Plan { table: open.remove(next), without: missing[next].clone() });
    }
    Ok(plan)
}

/// The foreign keys of a table whose targets are not filled yet.
fn missing(table: &Table, plan: &[Plan<'_>]) -> Vec<usize> {
    let is_there = |name: &str| name == table.name || plan.iter().any(|it| it.table.name == name);
    (0..table.foreign_keys.len()).filter(|at| !is_there(&table.foreign_keys[*at].table)).collect()
}

fn may_be_null(table: &Table, key: usize) -> bool {
    let columns = &table.foreign_keys[key].columns;
    columns.iter().all(|name| table.position(name).is_some_and(|at| table.columns[at].nullable))
}

/// Every name that a constraint mentions must exist.
fn validate(schema: &Schema) -> Result<(), StateError> {
    for table in &schema.tables {
        let compared = table.checks.iter().flat_map(|check| {
            let right = match &check.with {
                Operand::Column(name) => Some(name),
                Operand::Constant(_) => None,
            };
            std::iter::once(&check.column).chain(right)
        });
        let own = table.foreign_keys.iter().flat_map(|key| &key.columns);
        for name in table.keys.iter().flatten().chain(own).chain(compared) {
            column(table, table, name)?;
        }
        for key in &table.foreign_keys {
            let Some(other) = schema.table(&key.table) else {
                let hint = suggest::hint(&key.table, schema.tables.iter().map(|table| table.name.as_str()));
                let problem = format!("it refers to {}, which is not there{hint}", key.table);
                return Err(StateError::Schema { table: table.name.clone(), problem });
            };
            key.referred.iter().try_for_each(|name| column(table, other, name))?;
            if key.columns.len() != key.referred.len() {
                let (own, others) = (key.columns.len(), key.referred.len());
                let problem = format!("a foreign key of {own} columns refers to {others} of {}", key.table);
                return Err(StateError::Schema { table: table.name.clone(), problem });
            }
        }
    }
    Ok(())
}

fn column(table: &Table, of: &Table, name: &str) -> Result<(), StateError> {
    if of.position(name).is_some() {
        return Ok(());
    }
    let hint = suggest::hint(name, of.columns.iter().map(|column| column.name.as_str()));
    let problem = format!("there is no column {}.{name}{hint}", of.name);
    Err(StateError::Schema { table: table.name.clone(), problem })
}
