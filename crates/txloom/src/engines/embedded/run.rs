//! One statement on one connection, as an outcome's result; and the contents of a whole database.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Statement};
use txloom_core::engine::State;
use txloom_core::outcome::{Column, DbError, Outcome, Row, StatementResult, TxStatus};
use txloom_core::sql::StatementKind;

use super::errors::db_error;
use super::split::statements;

/// The maximum size of a statement: its parser cannot be interrupted.
const STATEMENT_MAX: usize = 16 << 20;

/// The maximum size of an answer: a recursive query may never end.
const ANSWER_MAX: usize = 256 << 20;

/// The memory that a row takes.
fn row_size(row: &Row) -> usize {
    row.iter().map(|cell| size_of_val(cell) + cell.as_ref().map_or(0, Vec::len)).sum()
}

/// What SQLite says of things that are too large.
fn too_big(message: String) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_TOOBIG), Some(message))
}

/// Executes one statement to its end.
///
/// A column's type is the declared one; SQLite knows none for an expression, so there the storage class of the first
/// value that is not NULL stands for it. Parameters are NULL, as in SQLite's own shell.
pub(crate) fn run(connection: &Connection, sql: &str) -> rusqlite::Result<StatementResult> {
    if sql.len() > STATEMENT_MAX {
        return Err(too_big(format!("the statement has more than {} MB", STATEMENT_MAX >> 20)));
    }
    let mut statement = connection.prepare(sql)?;
    let mut rows = Vec::new();
    let mut size = 0;
    let mut classes: Vec<Option<&'static str>> = Vec::new();
    let mut cursor = statement.raw_query();
    while let Some(row) = cursor.next()? {
        // Counted here and not before: a schema change elsewhere makes SQLite prepare the statement again.
        let width = row.as_ref().column_count();
        classes.resize(width, None);
        let mut cells: Row = Vec::with_capacity(width);
        for (index, class) in classes.iter_mut().enumerate() {
            let value = row.get_ref(index)?;
            *class = class.or(storage_class(value));
            cells.push(cell(value));
        }
        size += row_size(&cells);
        if size > ANSWER_MAX {
            return Err(too_big(format!("the answer has more than {} MB", ANSWER_MAX >> 20)));
        }
        rows.push(cells);
    }
    drop(cursor);
    let changes = StatementKind::of(sql) == StatementKind::Write && !statement.readonly();
    Ok(StatementResult {
        columns: columns(&statement, &classes),
        rows,
        affected: changes.then(|| connection.changes()),
        tag: None,
    })
}

/// What SQLite says to one statement: a result or an error, both data.
pub(crate) type Answer = Result<StatementResult, DbError>;

/// Executes one statement; an error of SQLite's is an answer, too.
pub(crate) fn ask(connection: &Connection, sql: &str) -> rusqlite::Result<Answer> {
    match run(connection, sql) {
        Ok(result) => Ok(Ok(result)),
        Err(error) => Ok(Err(db_error(&error).ok_or(error)?)),
    }
}

fn columns(statement: &Statement<'_>, classes: &[Option<&'static str>]) -> Vec<Column> {
    let declared = statement.columns().enumerate().map(|(index, column)| {
        let class = || classes.get(index).copied().flatten().unwrap_or_default();
        Column { name: column.name().to_string(), type_name: column.decl_type().unwrap_or_else(class).to_string() }
    });
    declared.collect()
}

/// A cell as the dialect reads it: one byte for the storage class, then the value.
fn cell(value: ValueRef<'_>) -> Option<Vec<u8>> {
    let tagged = |tag: u8, bytes: &[u8]| Some([&[tag], bytes].concat());
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => tagged(b'i', number.to_string().as_bytes()),
        // Debug prints the shortest text that reads back as the same number.
        ValueRef::Real(number) => tagged(b'r', format!("{number:?}").as_bytes()),
        ValueRef::Text(text) => tagged(b't', text),
        ValueRef::Blob(bytes) => tagged(b'b', bytes),
    }
}

fn storage_class(value: ValueRef<'_>) -> Option<&'static str> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(_) => Some("integer"),
        ValueRef::Real(_) => Some("real"),
        ValueRef::Text(_) => Some("text"),
        ValueRef::Blob(_) => Some("blob"),
    }
}

/// Executes a message on a connection that nobody else uses. Each statement is executed only if `admit` lets it pass.
pub(crate) fn execute_alone(
    connection: &Connection,
    message: &str,
    admit: impl Fn(&str) -> Result<(), DbError>,
) -> rusqlite::Result<Outcome> {
    let mut outcome = Outcome::empty(TxStatus::Idle);
    for sql in statements(message) {
        match admit(sql).map_or_else(|refusal| Ok(Err(refusal)), |()| ask(connection, sql))? {
            Ok(result) => outcome.results.push(result),
            Err(error) => {
                outcome.error = Some(error);
                break;
            }
        }
    }
    outcome.status = status(connection);
    Ok(outcome)
}

/// Executes a setup, up to the first message that fails.
pub(crate) fn set_up(
    connection: &Connection,
    setup: &[String],
    admit: impl Fn(&str) -> Result<(), DbError>,
) -> rusqlite::Result<Vec<Outcome>> {
    let mut outcomes = Vec::new();
    for message in setup {
        outcomes.push(execute_alone(connection, message, &admit)?);
        if outcomes.last().is_some_and(|outcome| outcome.error.is_some()) {
            break;
        }
    }
    if !connection.is_autocommit() {
        // A setup that forgets its COMMIT is a connection that was closed within a transaction.
        connection.execute_batch("ROLLBACK")?;
    }
    Ok(outcomes)
}

/// The transaction status of a connection.
pub(crate) fn status(connection: &Connection) -> TxStatus {
    if connection.is_autocommit() { TxStatus::Idle } else { TxStatus::Open }
}

/// The contents of all tables of the user's that this connection sees now.
pub(crate) fn state(connection: &Connection) -> rusqlite::Result<State> {
    // One transaction, so that all tables are seen at the same moment; it changes nothing and ends here.
    let transaction = connection.unchecked_transaction()?;
    let mut state = State::default();
    for table in tables(&transaction)? {
        let contents = run(&transaction, &format!("SELECT * FROM {}", quoted(&table)))?;
        state.tables.insert(table, contents);
    }
    transaction.commit()?;
    Ok(state)
}

fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT name FROM pragma_table_list \
               WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
               ORDER BY name";
    connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}

/// An identifier, quoted.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use txloom_core::dialect::{Dialect, Sqlite};
    use txloom_core::value::Value;

    #[test]
    fn every_storage_class_survives() {
        let connection = Connection::open_in_memory().unwrap();
        run(&connection, "CREATE TABLE t (a INT, b REAL, c VARCHAR(9), d BLOB, e)").unwrap();
        let insert = "INSERT INTO t VALUES (-9223372036854775808, 0.1, 'it''s', X'00ff', NULL), \
                                           (7, 1e300, char(10, 233), X'', 'text')";
        assert_eq!(run(&connection, insert).unwrap().affected, Some(2));
        let result = run(&connection, "SELECT *, a + 1, NULL FROM t").unwrap();
        let types: Vec<&str> = result.columns.iter().map(|column| column.type_name.as_str()).collect();
        assert_eq!(types, ["INT", "REAL", "VARCHAR(9)", "BLOB", "text", "integer", ""]);
        assert_eq!(result.affected, None);
        let values = Sqlite.values(&result);
        assert_eq!(values[0][0], Value::int(i64::MIN));
        assert_eq!(values[0][1].to_string(), "0.1");
        assert_eq!(
            values[0][2..6],
            [Value::text("it's"), Value::Bytes(vec![0, 255]), Value::Null, Value::int(i64::MIN + 1)]
        );
        assert_eq!(values[1][1].to_string(), format!("1{}", "0".repeat(300)));
        assert_eq!(values[1][2..5], [Value::text("\né"), Value::Bytes(vec![]), Value::text("text")]);
    }

    #[test]
    fn a_state_holds_the_tables_of_the_user() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE \"a b\" (id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO \"a b\" VALUES (3);
                 CREATE VIEW v AS SELECT 1; CREATE TABLE sqlitex (x);",
            )
            .unwrap();
        let state = state(&connection).unwrap();
        assert_eq!(state.tables.keys().collect::<Vec<_>>(), ["a b", "sqlitex"]);
        assert_eq!(state.tables["a b"].rows, [[Some(b"i3".to_vec())]]);
        assert!(connection.is_autocommit());
    }
}
