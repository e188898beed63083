//! A schema as statements.

use super::{Column, Schema, Table, VERSION};
use crate::dialect::Construct;
use crate::generate::language::Language;
use crate::generate::values::literal;
use crate::value::Value;

/// The statements that create a schema and its rows: for each table CREATE TABLE, its CREATE INDEXes and one INSERT.
pub fn setup(schema: &Schema, language: &Language) -> Vec<String> {
    let mut statements = Vec::new();
    for table in &schema.tables {
        statements.push(create(table, &schema.tables, language));
        for (number, columns) in table.indexes.iter().enumerate() {
            statements.push(format!("CREATE INDEX {0}_i{number} ON {0} ({1})", table.name, names(table, columns)));
        }
        statements.extend(insert(table, language));
    }
    statements
}

fn create(table: &Table, tables: &[Table], language: &Language) -> String {
    let mut parts: Vec<String> =
        table.columns.iter().enumerate().map(|(at, column)| definition(table, at, column, language)).collect();
    if table.versioned {
        parts.push(VERSION.to_string());
    }
    if table.primary_key.len() > 1 {
        parts.push(format!("PRIMARY KEY ({})", names(table, &table.primary_key)));
    }
    let compound = table.unique_keys.iter().filter(|key| key.len() > 1);
    parts.extend(compound.map(|key| format!("UNIQUE ({})", names(table, key))));
    parts.extend(table.foreign_keys.iter().map(|key| {
        let target = &tables[key.table];
        let keyword = language.spelling(Construct::ForeignKey).unwrap_or("FOREIGN KEY");
        let columns = names(table, &key.columns);
        format!("{keyword} ({columns}) REFERENCES {} ({})", target.name, names(target, &target.primary_key))
    }));
    format!("CREATE TABLE {} ({})", table.name, parts.join(", "))
}

fn definition(table: &Table, at: usize, column: &Column, language: &Language) -> String {
    if let Some(spelling) = language.spelling(Construct::AutoIncrement).filter(|_| column.auto_increment) {
        return format!("{} {spelling}", column.name);
    }
    let mut text = format!("{} {}", column.name, column.type_text);
    // SQLite allows NULL in primary keys unless told otherwise.
    if column.not_null {
        text.push_str(" NOT NULL");
    }
    if let Some(default) = &column.default {
        text.push_str(&format!(" DEFAULT {}", literal(column.kind, default, language)));
    }
    if table.primary_key == [at] {
        text.push_str(" PRIMARY KEY");
    }
    if table.unique_keys.iter().any(|key| *key == [at]) {
        text.push_str(" UNIQUE");
    }
    if let Some(check) = &column.check {
        text.push_str(&format!(" CHECK ({})", check.sql));
    }
    text
}

/// The rows, without those columns whose values the server hands out: it would not know that they are taken.
fn insert(table: &Table, language: &Language) -> Option<String> {
    let given: Vec<usize> = (0..table.columns.len()).filter(|at| !table.columns[*at].auto_increment).collect();
    let tuple = |row: &Vec<Value>| {
        let values = given.iter().map(|at| literal(table.columns[*at].kind, &row[*at], language));
        format!("({})", values.collect::<Vec<_>>().join(", "))
    };
    let rows: Vec<String> = table.rows.iter().map(tuple).collect();
    let columns = names(table, &given);
    (!rows.is_empty()).then(|| format!("INSERT INTO {} ({columns}) VALUES {}", table.name, rows.join(", ")))
}

/// Names of columns, separated by commas.
pub(super) fn names(table: &Table, columns: &[usize]) -> String {
    columns.iter().map(|at| table.columns[*at].name.as_str()).collect::<Vec<_>>().join(", ")
}
