//! Tables with simpler columns: fewer constraints and options, INT instead of any other type.

use sqlparser::ast::{CreateTableOptions, DataType, Statement};

use crate::reduce::sql::rewrite::{Choice, Rewrite};

pub(in crate::reduce) static TYPES: Rewrite = Rewrite {
    statements: &[table_options, constraints, column_options, integer],
    queries: &[],
    selects: &[],
    expressions: &[],
};

/// ENGINE, CHARSET, WITHOUT ROWID, …
fn table_options(statement: &mut Statement, nth: usize) -> bool {
    let mut choice = Choice::new(nth);
    let Statement::CreateTable(create) = statement else { return false };
    if choice.is(create.table_options != CreateTableOptions::None) {
        create.table_options = CreateTableOptions::None;
        return true;
    }
    if choice.is(create.without_rowid) {
        create.without_rowid = false;
        return true;
    }
    false
}

/// Constraints of the table, and their names.
fn constraints(statement: &mut Statement, nth: usize) -> bool {
    let Statement::CreateTable(create) = statement else { return false };
    Choice::new(nth).remove(&mut create.constraints, 0)
}

/// NOT NULL, DEFAULT, CHECK, UNIQUE, PRIMARY KEY, REFERENCES, AUTO_INCREMENT, …
fn column_options(statement: &mut Statement, nth: usize) -> bool {
    let mut choice = Choice::new(nth);
    let Statement::CreateTable(create) = statement else { return false };
    create.columns.iter_mut().any(|column| choice.remove(&mut column.options, 0))
}

/// INT.
fn integer(statement: &mut Statement, nth: usize) -> bool {
    let mut choice = Choice::new(nth);
    let Statement::CreateTable(create) = statement else { return false };
    let integer = DataType::Int(None);
    let column = create.columns.iter_mut().find(|column| choice.is(column.data_type != integer));
    column.map(|column| column.data_type = integer).is_some()
}
