//! Loading rows: one prepared INSERT, executed for each of them, in one transaction.

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Error, params_from_iter};
use txloom_core::bulk::{Bulk, Cell, Cells};
use txloom_core::outcome::DbError;

use super::errors::db_error;

/// Loads all rows, or none. Returns how many there were, or what SQLite says to one of them.
pub(crate) fn load(connection: &Connection, bulk: &dyn Bulk) -> rusqlite::Result<Result<u64, DbError>> {
    match load_all(connection, bulk) {
        Ok(rows) => Ok(Ok(rows)),
        Err(error) => Ok(Err(db_error(&error).ok_or(error)?)),
    }
}

fn load_all(connection: &Connection, bulk: &dyn Bulk) -> Result<u64, Error> {
    let places = vec!["?"; bulk.columns().len()].join(", ");
    let sql = format!("INSERT INTO {} ({}) VALUES ({places})", bulk.table(), bulk.columns().join(", "));
    let transaction = connection.unchecked_transaction()?;
    let (mut cells, mut rows) = (Cells::default(), 0);
    {
        let mut insert = transaction.prepare(&sql)?;
        for position in 0..bulk.positions() {
            cells.clear();
            if bulk.row(position, &mut cells) {
                insert.execute(params_from_iter(cells.iter().map(bound)))?;
                rows += 1;
            }
        }
    }
    transaction.commit()?;
    Ok(rows)
}

/// A cell as SQLite would read its literal.
fn bound(cell: Cell<'_>) -> ToSqlOutput<'_> {
    let borrowed = ToSqlOutput::Borrowed;
    match cell {
        Cell::Null => borrowed(ValueRef::Null),
        Cell::Boolean(truth) => borrowed(ValueRef::Integer(i64::from(truth))),
        Cell::Text(text) => borrowed(ValueRef::Text(text.as_bytes())),
        Cell::Bytes(bytes) => borrowed(ValueRef::Blob(bytes)),
        Cell::Number(digits) => ToSqlOutput::Owned(match (digits.parse(), digits.parse()) {
            (Ok(whole), _) => Value::Integer(whole),
            (_, Ok(real)) => Value::Real(real),
            // No number: SQLite stores anything anywhere.
            _ => Value::Text(digits.to_string()),
        }),
    }
}
