//! What differs from run to run by chance: times at which rows were made, random numbers.
//!
//! Applications write `NOW()` into their rows. Two runs of the same calls in the same order then leave different rows,
//! and neither is wrong: such columns and outputs are not compared. They are known in two ways:
//!
//! * by the statements: a column that is written by an expression with a clock in it, or by a default that has one. A
//!   clock that counts seconds may show the same twice, so looking at two runs is not enough;
//! * by looking at two runs of one order all the same: a value may pass through the application.

use std::collections::BTreeSet;

use sqlparser::ast::{AssignmentTarget, ColumnOption, Expr, ObjectName, SetExpr, Statement, TableFactor, TableObject};

use super::Outcome;
use crate::case::Case;
use crate::sql::chance::mentions_chance;
use crate::sql::parse::parse;
use crate::sql::plain_name;
use crate::trace::Trace;
use crate::value::Value;

/// What is not compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Chance {
    /// Tables and their columns.
    columns: BTreeSet<(String, String)>,
    /// Procedures and the positions of their outputs.
    outputs: BTreeSet<(String, usize)>,
}

impl Chance {
    /// What the statements of a run write by chance.
    pub(super) fn of(case: &Case, trace: &Trace) -> Chance {
        let mut chance = Chance::default();
        let statements = case.setup().into_iter().chain(trace.steps.iter().map(|step| step.sql.clone()));
        for statement in statements.collect::<BTreeSet<String>>().iter().filter_map(|sql| parse(sql)) {
            chance.add(&statement, trace);
        }
        chance
    }

    fn add(&mut self, statement: &Statement, trace: &Trace) {
        match statement {
            Statement::CreateTable(table) => {
                for column in &table.columns {
                    let is_by_chance = |option: &ColumnOption| match option {
                        ColumnOption::Default(value) | ColumnOption::OnUpdate(value) => mentions_chance(value),
                        _ => false,
                    };
                    if column.options.iter().any(|option| is_by_chance(&option.option)) {
                        self.columns.insert((plain(&table.name), column.name.value.to_lowercase()));
                    }
                }
            }
            Statement::Insert(insert) => {
                let TableObject::TableName(table) = &insert.table else { return };
                let named: Vec<String> = insert.columns.iter().map(plain).collect();
                let columns = if named.is_empty() { columns_of(trace, &plain(table)) } else { named };
                let body = insert.source.as_ref().map(|query| query.body.as_ref());
                let Some(SetExpr::Values(values)) = body else { return };
                for row in &values.rows {
                    self.add_all(&plain(table), columns.iter().zip(row.iter()));
                }
            }
            Statement::Update(update) => {
                let TableFactor::Table { name, .. } = &update.table.relation else { return };
                let assigned = update.assignments.iter().filter_map(|one| match &one.target {
                    AssignmentTarget::ColumnName(column) => Some((plain(column), &one.value)),
                    AssignmentTarget::Tuple(_) => None,
                });
                let assigned: Vec<(String, &Expr)> = assigned.collect();
                self.add_all(&plain(name), assigned.iter().map(|(column, value)| (column, *value)));
            }
            _ => {}
        }
    }

    fn add_all<'a>(&mut self, table: &str, assigned: impl Iterator<Item = (&'a String, &'a Expr)>) {
        let by_chance = assigned.filter(|(_, value)| mentions_chance(*value));
        self.columns.extend(by_chance.map(|(column, _)| (table.to_string(), column.clone())));
    }

    /// Adds what two runs of the same calls in the same order do not agree in. Whether there was something.
    pub(super) fn add_differences(&mut self, one: &Trace, other: &Trace) -> bool {
        let before = self.clone();
        for (name, result) in one.final_state.iter().flat_map(|state| &state.tables) {
            let again = other.final_state.iter().flat_map(|state| &state.tables).find(|(table, _)| *table == name);
            let Some((_, again)) = again else { continue };
            let (rows, others) = (one.engine.dialect.values(result), other.engine.dialect.values(again));
            for (at, column) in result.columns.iter().enumerate() {
                let values = |rows: &[Vec<Value>]| {
                    let mut values: Vec<Value> = rows.iter().filter_map(|row| row.get(at).cloned()).collect();
                    values.sort();
                    values
                };
                if rows.len() == others.len() && values(&rows) != values(&others) {
                    self.columns.insert((last_part(name), column.name.to_lowercase()));
                }
            }
        }
        for (one, other) in Outcome::of(one, &[], &before).ended.iter().zip(&Outcome::of(other, &[], &before).ended) {
            if let (Ok(values), Ok(others)) = (&one.result, &other.result) {
                let differ = values.iter().zip(others).enumerate().filter(|(_, (value, other))| value != other);
                self.outputs.extend(differ.map(|(at, _)| (one.procedure.clone(), at)));
            }
        }
        *self != before
    }

    /// Whether a column of a table is written by chance.
    pub(super) fn has_column(&self, table: &str, column: &str) -> bool {
        self.columns.contains(&(last_part(table), column.to_lowercase()))
    }

    /// Whether an output of a procedure comes by chance.
    pub(super) fn has_output(&self, procedure: &str, at: usize) -> bool {
        self.outputs.contains(&(procedure.to_string(), at))
    }
}

/// The columns of a table, as the run left it.
fn columns_of(trace: &Trace, table: &str) -> Vec<String> {
    let tables = trace.final_state.iter().flat_map(|state| &state.tables);
    let found = tables.into_iter().find(|(name, _)| last_part(name) == table);
    found
        .map(|(_, result)| result.columns.iter().map(|column| column.name.to_lowercase()).collect())
        .unwrap_or_default()
}

fn plain(name: &ObjectName) -> String {
    let last = name.0.last().and_then(|part| part.as_ident());
    last.map_or_else(|| name.to_string().to_lowercase(), |ident| ident.value.to_lowercase())
}

/// A table's name without its schema.
fn last_part(name: &str) -> String {
    plain_name(name.rsplit('.').next().unwrap_or(name))
}
