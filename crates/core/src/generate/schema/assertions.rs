//! What the constraints of a schema promise of every committed state, as questions whose answer must be empty.
//!
//! They are asked in the engine's own terms (two texts are equal if its collation says so), and in constructs that
//! every engine has.

use super::print::names;
use super::{ForeignKey, Schema, Table};
use crate::case::{Assert, AssertWhen};

/// One assertion per key, reference and CHECK, and one per table for what must not be NULL; to be checked after each
/// transaction.
pub fn assertions(schema: &Schema) -> Vec<Assert> {
    let mut all = Vec::new();
    for table in &schema.tables {
        let mut assert =
            |name: String, sql: String| all.push(Assert { when: AssertWhen::Each, procedure: None, name, sql });
        if !table.primary_key.is_empty() {
            assert(format!("{} primary key", table.name), duplicates(table, &table.primary_key));
        }
        for key in &table.unique_keys {
            assert(format!("{} unique {}", table.name, names(table, key)), duplicates(table, key));
        }
        let required: Vec<String> =
            table.columns.iter().filter(|c| c.not_null).map(|c| format!("{} IS NULL", c.name)).collect();
        if !required.is_empty() {
            let sql = format!("SELECT * FROM {} WHERE {}", table.name, required.join(" OR "));
            assert(format!("{} not null", table.name), sql);
        }
        for column in &table.columns {
            if let Some(check) = &column.check {
                let sql = format!("SELECT * FROM {} WHERE NOT ({})", table.name, check.sql);
                assert(format!("{} check {}", table.name, column.name), sql);
            }
        }
        for key in &table.foreign_keys {
            let sql = orphans(table, key, &schema.tables[key.table]);
            assert(format!("{} foreign key {}", table.name, names(table, &key.columns)), sql);
        }
    }
    all
}

/// Keys that more than one row has. A key with a NULL is no key.
fn duplicates(table: &Table, key: &[usize]) -> String {
    let columns = names(table, key);
    let given = not_null(table, key);
    format!("SELECT {columns} FROM {} WHERE {given} GROUP BY {columns} HAVING COUNT(*) > 1", table.name)
}

/// Rows that refer to what does not exist. A reference with a NULL refers to nothing.
fn orphans(table: &Table, key: &ForeignKey, target: &Table) -> String {
    let pairs = key.columns.iter().zip(&target.primary_key);
    let equal: Vec<String> = pairs
        .map(|(child, parent)| {
            let (child, parent) = (&table.columns[*child].name, &target.columns[*parent].name);
            format!("{}.{parent} = {}.{child}", target.name, table.name)
        })
        .collect();
    let given = not_null(table, &key.columns);
    let parent = format!("SELECT 1 FROM {} WHERE {}", target.name, equal.join(" AND "));
    format!("SELECT * FROM {} WHERE {given} AND NOT EXISTS ({parent})", table.name)
}

fn not_null(table: &Table, columns: &[usize]) -> String {
    let conditions = columns.iter().map(|at| format!("{} IS NOT NULL", table.columns[*at].name));
    conditions.collect::<Vec<_>>().join(" AND ")
}
