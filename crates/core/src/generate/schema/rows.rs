//! The rows at the start: they keep every constraint of their table.

use std::collections::BTreeSet;

use super::{ForeignKey, Table};
use crate::generate::features;
use crate::generate::model::Model;
use crate::generate::random::Random;
use crate::generate::values;
use crate::value::Value;

/// How often a row is tried whose keys are taken. Domains are small: sometimes there is no further row.
const ATTEMPTS: usize = 16;

/// Gives a table so many rows, or fewer if there are no more; `earlier` are the tables that it may refer to.
pub(super) fn fill(table: &mut Table, count: usize, earlier: &[Table], model: &Model, random: &mut Random) {
    let keys: Vec<Vec<usize>> = table.unique_keys.iter().chain([&table.primary_key]).cloned().collect();
    let mut taken: Vec<BTreeSet<Vec<Value>>> = vec![BTreeSet::new(); keys.len()];
    for _ in 0..count {
        let found = (0..ATTEMPTS).find_map(|_| {
            let row = row(table, earlier, model, random)?;
            let is_free =
                keys.iter().zip(&taken).all(|(key, taken)| key_of(&row, key).is_none_or(|k| !taken.contains(&k)));
            is_free.then_some(row)
        });
        let Some(row) = found else { return };
        for (key, taken) in keys.iter().zip(&mut taken) {
            taken.extend(key_of(&row, key));
        }
        table.rows.push(row);
    }
}

/// A row that keeps everything but the unique keys; `None` if it must refer to something that does not exist.
fn row(table: &Table, earlier: &[Table], model: &Model, random: &mut Random) -> Option<Vec<Value>> {
    // The server hands out 1, 2, 3, …
    let next = Value::int(table.rows.len() as i64 + 1);
    let value = |column: &super::Column, random: &mut Random| {
        if column.auto_increment { next.clone() } else { values::fresh(column, model, random) }
    };
    let mut row: Vec<Value> = table.columns.iter().map(|column| value(column, random)).collect();
    // Keys that are used once count up, with gaps for statements to look for.
    if let (true, [key]) = (table.keys_once, &table.primary_key[..]) {
        row[*key] = Value::int(2 * table.rows.len() as i64 + random.between(1, 2));
    }
    for key in &table.foreign_keys {
        let parent = reference(table, key, earlier, model, random)?;
        for (column, value) in key.columns.iter().zip(parent) {
            row[*column] = value;
        }
    }
    Some(row)
}

/// The key of a row that is referred to, or NULLs.
fn reference(
    table: &Table,
    key: &ForeignKey,
    earlier: &[Table],
    model: &Model,
    random: &mut Random,
) -> Option<Vec<Value>> {
    let nullable = key.columns.iter().all(|column| !table.columns[*column].not_null);
    let target = &earlier[key.table];
    let nothing = nullable.then(|| vec![Value::Null; key.columns.len()]);
    if nullable && model.flag(&features::REFERENCE_NULL, random) {
        return nothing;
    }
    match random.pick(&target.rows) {
        Some(row) => Some(target.primary_key.iter().map(|column| row[*column].clone()).collect()),
        None => nothing,
    }
}

/// What a unique key compares; `None` if a part of it is NULL, or there is no key.
fn key_of(row: &[Value], key: &[usize]) -> Option<Vec<Value>> {
    let parts: Vec<Value> = key.iter().map(|column| values::folded(&row[*column])).collect();
    (!parts.is_empty() && !parts.contains(&Value::Null)).then_some(parts)
}
