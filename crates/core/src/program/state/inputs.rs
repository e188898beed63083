//! Inputs that make transactions meet.
//!
//! Two calls show nothing unless they touch the same rows. So one row of each table is chosen, the *focus*, such
//! that rows of the focus refer to one another where foreign keys say so; and every parameter that is compared with
//! a column gets the value that the focus has there. Two calls with the same focus meet.

use std::collections::BTreeMap;

use super::domain::nth;
use super::order::plan;
use super::schema::{Kind, Schema};
use super::{State, StateError};
use crate::generate::random::Random;
use crate::value::Value;

/// A parameter of a procedure, as far as choosing a value for it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// What values it has.
    pub kind: Kind,
    /// The table and the column that it is compared with to choose rows, if there is one.
    pub chooses: Option<(String, String)>,
}

/// One row of each table that has rows, by its position.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Focus {
    /// By table.
    pub rows: BTreeMap<String, usize>,
}

impl Focus {
    /// Chooses a focus. Who refers is chosen before what is referred to, so that references lead where they should.
    pub fn choose(schema: &Schema, state: &State, seed: u64) -> Result<Focus, StateError> {
        let mut random = Random::new(seed, &[u64::MAX]);
        let mut focus = Focus::default();
        for plan in plan(schema)?.iter().rev() {
            let name = &plan.table.name;
            let count = state.rows_of(name).len();
            if count == 0 {
                continue;
            }
            let mut rows: Vec<usize> = (0..count).collect();
            random.shuffle(&mut rows);
            let misfits = |row: &usize| focus.misfits(schema, state, name, *row);
            let best = rows.iter().copied().min_by_key(misfits).unwrap_or(0);
            focus.rows.insert(name.clone(), best);
        }
        Ok(focus)
    }

    /// The value that the focus has in a column.
    pub fn value<'s>(&self, state: &'s State, table: &str, column: &str) -> Option<&'s Value> {
        let found = state.table(table)?;
        let at = found.columns.iter().position(|name| name == column)?;
        found.rows.get(*self.rows.get(table)?)?.get(at)
    }

    /// How many foreign keys between a row and the focus so far lead elsewhere.
    fn misfits(&self, schema: &Schema, state: &State, table: &str, row: usize) -> usize {
        let mut misfits = 0;
        for other in schema.tables.iter().filter(|other| self.rows.contains_key(&other.name)) {
            for key in other.foreign_keys.iter().filter(|key| key.table == table) {
                let refers = self.values(state, &other.name, &key.columns);
                misfits += usize::from(refers != values(state, table, row, &key.referred));
            }
            let own = schema.table(table).into_iter().flat_map(|it| &it.foreign_keys);
            for key in own.filter(|key| key.table == other.name) {
                let refers = values(state, table, row, &key.columns);
                misfits += usize::from(refers != self.values(state, &other.name, &key.referred));
            }
        }
        misfits
    }

    fn values(&self, state: &State, table: &str, columns: &[String]) -> Vec<Value> {
        self.rows.get(table).map(|row| values(state, table, *row, columns)).unwrap_or_default()
    }
}

fn values(state: &State, table: &str, row: usize, columns: &[String]) -> Vec<Value> {
    let rows = state.table(table).map(|table| table.values_of(columns)).unwrap_or_default();
    rows.get(row).cloned().unwrap_or_default()
}

/// Values for parameters: those that choose rows choose the focus, the others are ordinary values of their kind.
pub fn inputs(state: &State, focus: &Focus, parameters: &[Parameter], seed: u64) -> Vec<Value> {
    /// From how many ordinary values one is chosen.
    const ORDINARY: usize = 10;
    let mut random = Random::new(seed, &[u64::MAX - 1]);
    let mut value = |parameter: &Parameter| {
        // Every parameter takes its random number, whether it needs one or not: values do not depend on other
        // parameters.
        let at = random.below(ORDINARY);
        let chosen = parameter.chooses.as_ref().and_then(|(table, column)| focus.value(state, table, column));
        let ordinary = || nth(&parameter.kind, at).or_else(|| nth(&parameter.kind, 0)).unwrap_or(Value::Null);
        chosen.cloned().unwrap_or_else(ordinary)
    };
    parameters.iter().map(&mut value).collect()
}
