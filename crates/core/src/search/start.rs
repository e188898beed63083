//! Rows to begin with: those that matter, with values for the columns that do not, and with the rows that they refer to.

use std::collections::{BTreeMap, BTreeSet};

use super::ground::Rows;
use crate::program::schema::{Column, ColumnType, ForeignKey, Schema, Table, TypeKind};
use crate::program::state::{State, TableState};
use crate::value::{Number, Value};

/// A row by column.
type Named = BTreeMap<String, Value>;

/// All rows, tables behind those that they refer to.
pub fn complete(schema: &Schema, rows: &Rows) -> State {
    let mut rows = rows.clone();
    for (table, rows) in &mut rows {
        if let Some(definition) = schema.table(table) {
            rows.iter_mut().enumerate().for_each(|(at, row)| fill(definition, row, at));
        }
    }
    add_parents(schema, &mut rows);
    let tables = in_order(schema).into_iter().filter_map(|table| {
        let rows = rows.get(&table.name).filter(|rows| !rows.is_empty())?;
        let all = || table.columns.iter().filter(|column| !column.generated);
        let said = all().filter(|column| is_said(column, rows));
        let mut columns: Vec<String> = said.map(|column| column.name.clone()).collect();
        if columns.is_empty() {
            columns = all().map(|column| column.name.clone()).collect();
        }
        let values = |row: &Named| columns.iter().map(|name| row.get(name).cloned().unwrap_or(Value::Null)).collect();
        let rows = rows.iter().map(values).collect();
        Some(TableState { name: table.name.clone(), columns, rows })
    });
    State { tables: tables.collect(), shortfalls: Vec::new() }
}

/// Whether a column must be named to get its values: one that is NULL in all rows is so by itself. Real tables have
/// dozens of them.
fn is_said(column: &Column, rows: &[Named]) -> bool {
    let has_value = |row: &Named| row.get(&column.name).is_some_and(|value| *value != Value::Null);
    column.default.is_some() || rows.iter().any(has_value)
}

/// Adds the rows that others refer to, and those that these refer to.
fn add_parents(schema: &Schema, rows: &mut Rows) {
    loop {
        let missing = schema.tables.values().find_map(|table| {
            let own = rows.get(&table.name)?;
            own.iter().find_map(|row| table.foreign_keys.iter().find_map(|key| missing_parent(key, row, rows)))
        });
        let Some((table, mut parent)) = missing else { return };
        let Some(definition) = schema.table(&table) else { return };
        let count = rows.get(&definition.name).map_or(0, Vec::len);
        fill(definition, &mut parent, count);
        rows.entry(definition.name.clone()).or_default().push(parent);
    }
}

/// The row that a key refers to, if it is not there.
fn missing_parent(key: &ForeignKey, row: &Named, rows: &Rows) -> Option<(String, Named)> {
    let values: Option<Vec<&Value>> = key.columns.iter().map(|column| row.get(column)).collect();
    let values = values.filter(|values| !values.contains(&&Value::Null))?;
    let wanted: Named = key.referred.iter().cloned().zip(values.into_iter().cloned()).collect();
    let table = key.table.to_lowercase();
    let is_it = |row: &Named| wanted.iter().all(|(column, value)| row.get(column) == Some(value));
    let is_there = rows.get(&table).is_some_and(|rows| rows.iter().any(is_it));
    (!is_there).then_some((table, wanted))
}

/// Gives values to the columns that have none.
fn fill(table: &Table, row: &mut Named, number: usize) {
    for column in table.columns.iter().filter(|column| !column.generated) {
        let is_key = table.keys().any(|key| key.contains(&column.name));
        let value = row.get(&column.name);
        if value.is_none() || (value == Some(&Value::Null) && !column.nullable) {
            row.insert(column.name.clone(), any_value(column, is_key.then_some(number)));
        }
    }
}

/// A value for a column; one of its own for each row, if it must be.
fn any_value(column: &Column, distinct: Option<usize>) -> Value {
    let default = column.default.as_ref().and_then(|default| default.value.clone());
    match (distinct, default) {
        (None, Some(default)) => return default,
        (None, None) if column.nullable => return Value::Null,
        _ => {}
    }
    let number = distinct.map_or(1, |number| number + 1);
    if let Some(value) = column.column_type.formed(number) {
        return value;
    }
    let length = column.column_type.length.map_or(usize::MAX, |length| length as usize);
    match column.column_type.kind {
        TypeKind::Decimal => decimal(number, &column.column_type),
        TypeKind::Integer | TypeKind::Float => Value::int(i64::try_from(number).unwrap_or(i64::MAX)),
        TypeKind::Boolean => Value::Bool(false),
        TypeKind::Enumeration => Value::text(column.column_type.values.first().cloned().unwrap_or_default()),
        TypeKind::Date => Value::text("2024-01-01"),
        TypeKind::Time => Value::text("00:00:00"),
        TypeKind::Timestamp => Value::text("2024-01-01 00:00:00"),
        // Every system takes a string for bytes, but not the same notation of others.
        TypeKind::Text | TypeKind::Bytes | TypeKind::Other => {
            let text = distinct.map_or("x".to_string(), |number| format!("x{number}"));
            let skipped = text.len().saturating_sub(length);
            Value::text(text[skipped..].to_string())
        }
    }
}

/// A number that has as many digits before its point as the type has, or else one that is less than 1.
fn decimal(number: usize, column_type: &ColumnType) -> Value {
    let scale = column_type.scale.unwrap_or(0);
    let whole_digits = column_type.length.map(|digits| digits.saturating_sub(scale));
    let fits = whole_digits.is_none_or(|digits| number.to_string().len() <= digits as usize);
    let text = if fits { number.to_string() } else { format!("{number}e-{scale}") };
    Number::parse(&text).map_or(Value::Null, Value::Number)
}

/// Tables behind those that they refer to, as far as that is possible.
fn in_order(schema: &Schema) -> Vec<&Table> {
    let mut ordered: Vec<&Table> = Vec::new();
    let mut open: Vec<&Table> = schema.tables.values().collect();
    while !open.is_empty() {
        let done: BTreeSet<&str> = ordered.iter().map(|table| table.name.as_str()).collect();
        let is_free = |table: &&Table| {
            let mut targets = table.foreign_keys.iter().map(|key| key.table.to_lowercase());
            targets
                .all(|target| target == table.name || done.contains(target.as_str()) || schema.table(&target).is_none())
        };
        let next = open.iter().position(is_free).unwrap_or(0);
        ordered.push(open.remove(next));
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Language;

    #[test]
    fn rows_get_what_they_lack() {
        let text =
            "CREATE TABLE orders (id INT PRIMARY KEY, customer INT NOT NULL REFERENCES customers (id), note TEXT);
                    CREATE TABLE customers (id INT PRIMARY KEY, name VARCHAR(2) NOT NULL, login VARCHAR(9) UNIQUE,
                    tax DECIMAL(4,4) NOT NULL);";
        let (schema, _) = Schema::read(text, Language::Any);
        let order = |id, customer| {
            Named::from([("id".to_string(), Value::int(id)), ("customer".to_string(), Value::int(customer))])
        };
        let rows = Rows::from([("orders".to_string(), vec![order(1, 7), order(2, 8), order(3, 7)])]);
        let inserts = complete(&schema, &rows).inserts(&schema);
        assert_eq!(
            inserts,
            [
                "INSERT INTO customers (id, name, login, tax) VALUES (7, 'x', 'x0', 0.0001)",
                "INSERT INTO customers (id, name, login, tax) VALUES (8, 'x', 'x1', 0.0001)",
                "INSERT INTO orders (id, customer) VALUES (1, 7)",
                "INSERT INTO orders (id, customer) VALUES (2, 8)",
                "INSERT INTO orders (id, customer) VALUES (3, 7)",
            ]
        );
    }
}
