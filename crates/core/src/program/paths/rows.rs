//! The focus rows: their columns as symbols, and the constraints that they keep.

use std::collections::BTreeMap;

use super::ReasonKind;
use super::machine::Machine;
use super::symbol::{Place, Shape, Symbol, number_type};
use crate::program::BinaryOp;
use crate::program::schema::{Column, ColumnType, Table, TypeKind};
use crate::solve::Bool;

/// A row of a table.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// Whether it is there.
    pub(super) present: Bool,
    /// By column.
    pub(super) columns: BTreeMap<String, Symbol>,
}

/// The focus rows of all tables that have been touched.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// As they are at the start.
    pub(super) initial: BTreeMap<String, Row>,
    /// Those that have changed since.
    pub(super) current: BTreeMap<String, Row>,
}

impl Machine<'_> {
    /// Makes sure that a table has a focus row, and so have those that it refers to.
    pub(super) fn touch(&mut self, table: &str, place: &Place) {
        if self.rows.initial.contains_key(table) {
            return;
        }
        let present =
            if self.question.may_be_absent { self.symbols.problem.boolean(table) } else { self.symbols.always };
        let mut row = Row { present, columns: BTreeMap::new() };
        let schema = self.question.schema;
        let Some(definition) = schema.table(table) else {
            self.rows.initial.insert(table.to_string(), row);
            return;
        };
        for column in &definition.columns {
            let is_key = definition.primary_key.contains(&column.name);
            let name = format!("{table}.{}", column.name);
            let symbol = match column.generated {
                true => self.symbols.opaque(),
                false => self.symbols.unknown(&name, &column.column_type, column.nullable && !is_key),
            };
            row.columns.insert(column.name.clone(), symbol);
        }
        self.rows.initial.insert(table.to_string(), row.clone());
        let before = self.problem().demands().len();
        self.demand_checks(definition, &row, place);
        self.given.extend(before..self.problem().demands().len());
        self.refer(definition, &row, place);
    }

    /// Focus rows refer to focus rows, if they can.
    pub(super) fn refer(&mut self, definition: &Table, row: &Row, place: &Place) {
        for key in definition.foreign_keys.iter().filter(|key| self.question.schema.table(&key.table).is_some()) {
            self.touch(&key.table, place);
            let parent = self.rows.initial[&key.table].clone();
            let pairs = key.columns.iter().zip(&key.referred);
            for (column, referred) in pairs {
                let (Some(own), Some(other)) = (row.columns.get(column), parent.columns.get(referred)) else {
                    continue;
                };
                let same = self.symbols.compare(BinaryOp::Equal, own, other).is_true;
                self.links.push(same);
            }
        }
    }

    /// A focus row as it is now.
    pub(super) fn row(&self, table: &str) -> &Row {
        self.rows.current.get(table).unwrap_or_else(|| &self.rows.initial[table])
    }

    /// A column of a focus row as it is now; nothing is known of columns that the schema does not have.
    pub(super) fn column(&mut self, table: &str, column: &str) -> Symbol {
        let known = self.rows.initial.contains_key(table).then(|| self.row(table).columns.get(column).copied());
        known.flatten().unwrap_or_else(|| self.symbols.opaque())
    }

    /// No check of a row is false.
    pub(super) fn demand_checks(&mut self, definition: &Table, row: &Row, place: &Place) {
        for check in &definition.checks {
            let truth = self.predicate(&check.predicate, Some((&definition.name, row)), place);
            let holds = self.symbols.problem.not(truth.is_false);
            self.symbols.demand(holds, place, ReasonKind::Keeps(definition.name.clone()));
        }
    }

    /// What a column holds after a value has been stored. The value must fit.
    pub(super) fn stored(&mut self, table: &str, column: &Column, value: &Symbol, place: &Place) -> Symbol {
        let keeps = || ReasonKind::Keeps(table.to_string());
        if !column.nullable {
            let is_there = self.symbols.problem.not(value.null);
            self.symbols.demand(is_there, place, keeps());
        }
        if value.null == self.symbols.always {
            return *value;
        }
        match self.fitted(&column.column_type, value) {
            Some((shape, fits)) => {
                let fits = self.symbols.problem.or(value.null, fits);
                self.symbols.demand(fits, place, keeps());
                Symbol { null: value.null, shape }
            }
            // It is rounded, or converted in a way that only the engine knows.
            None => self.symbols.stand_in(&column.name, &column.column_type, place.guard),
        }
    }

    /// A value as one of a type, and whether it fits.
    fn fitted(&mut self, column_type: &ColumnType, value: &Symbol) -> Option<(Shape, Bool)> {
        match column_type.kind {
            TypeKind::Integer | TypeKind::Decimal | TypeKind::Float => {
                let (digits, scale) = self.symbols.as_number(value)?;
                let (bounds, wanted, is_narrow) = number_type(column_type);
                if is_narrow {
                    return Some((Shape::Number { digits, scale }, self.symbols.always));
                }
                if scale > wanted {
                    return None;
                }
                let digits = self.symbols.scaled(digits, scale, wanted);
                let fits = self.symbols.problem.within(digits, &bounds);
                Some((Shape::Number { digits, scale: wanted }, fits))
            }
            TypeKind::Boolean => {
                let truth = match value.shape {
                    Shape::Truth(truth) => truth,
                    Shape::Number { .. } => self.symbols.truth(value).is_true,
                    Shape::Code(_) | Shape::Opaque => return None,
                };
                Some((Shape::Truth(truth), self.symbols.always))
            }
            _ => match value.shape {
                Shape::Code(_) => Some((value.shape, self.symbols.always)),
                _ => None,
            },
        }
    }
}
