//! Columns of text, dates or decimals as columns of integers, with all their constants.
//!
//! A column alone rarely becomes INT, since what is inserted into it does not fit. So its values are numbered, and every
//! one of them is replaced in the whole case at once: equal values stay equal.
//!
//! ```text
//!   CREATE TABLE t (name VARCHAR(20))        CREATE TABLE t (name INT)
//!   INSERT INTO t VALUES ('ann'), ('bob')  → INSERT INTO t VALUES (1), (2)
//!   SELECT * FROM t WHERE name = 'bob'       SELECT * FROM t WHERE name = 2
//! ```

use std::collections::BTreeSet;

use sqlparser::ast::{DataType, SetExpr, Statement, TableObject};

use crate::case::Case;
use crate::reduce::edit::{map_statements, statements};
use crate::reduce::sql::literals::{literals, replace};
use crate::reduce::sql::schema::{Table, mentions, name_of, tables};
use crate::reduce::{Pass, Tests};
use crate::sql::parse::parse;

pub(in crate::reduce) struct Retype;

impl Pass for Retype {
    fn reduce(&self, case: &Case, tests: &mut Tests<'_>) -> Case {
        let mut case = case.clone();
        for table in tables(&case) {
            for position in 0..table.columns.len() {
                let retyped = retyped(&case, &table, position);
                case = retyped.filter(|candidate| tests.reproduces(candidate)).unwrap_or(case);
            }
        }
        case
    }
}

/// The case with a column of integers; `None` if it is one already.
fn retyped(case: &Case, table: &Table, position: usize) -> Option<Case> {
    let name = &table.columns[position];
    let mut values: Vec<String> = statements(case).flat_map(|text| inserted(text, table, position)).collect();
    let compared = statements(case).filter(|text| mentions(text, name) && !mentions(text, "create"));
    values.extend(compared.flat_map(literals).map(|literal| literal.text.to_string()));
    let mut seen = BTreeSet::new();
    values.retain(|value| value.parse::<i64>().is_err() && seen.insert(value.clone()));
    // Numbers begin with 1, in order of appearance.
    let number = |text: &str| values.iter().position(|value| value == text);
    let mut is_changed = false;
    let changed = map_statements(case, |text| {
        let with_type = integer_column(text, table, name);
        is_changed |= with_type.is_some();
        let text = with_type.as_deref().unwrap_or(text);
        Some(replace(text, |literal| number(literal).map(|number| (number + 1).to_string())))
    });
    changed.filter(|_| is_changed)
}

/// The literals that a statement inserts into a column.
fn inserted(text: &str, table: &Table, position: usize) -> Vec<String> {
    let Some(Statement::Insert(insert)) = parse(text) else { return Vec::new() };
    if !matches!(&insert.table, TableObject::TableName(name) if name_of(name) == table.name) {
        return Vec::new();
    }
    let named = insert.columns.iter().position(|name| name_of(name) == table.columns[position]);
    let position = if insert.columns.is_empty() { Some(position) } else { named };
    let rows = match insert.source.as_ref().map(|source| source.body.as_ref()) {
        Some(SetExpr::Values(values)) => values.rows.iter().map(|row| &row.content),
        _ => return Vec::new(),
    };
    let cells = rows.filter_map(|row| row.get(position?)).map(ToString::to_string);
    cells.flat_map(|cell| literals(&cell).iter().map(|literal| literal.text.to_string()).collect::<Vec<_>>()).collect()
}

/// The CREATE TABLE with that column as INT; `None` if it is another statement, or it is so already.
fn integer_column(text: &str, table: &Table, name: &str) -> Option<String> {
    let Some(Statement::CreateTable(mut create)) = parse(text) else { return None };
    if name_of(&create.name) != table.name {
        return None;
    }
    let column = create.columns.iter_mut().find(|column| column.name.value.to_lowercase() == name)?;
    let integer = DataType::Int(None);
    if column.data_type == integer {
        return None;
    }
    column.data_type = integer;
    Some(Statement::CreateTable(create).to_string())
}
