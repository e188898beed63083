//! What replicas must know of the user's tables: their primary keys, by which a row is the same row on every node.
//!
//! A table without a primary key has a hidden one: SQLite's rowid. Nodes give new rows numbers that no other node gives
//! ([`super::node`]), as Cassandra gives them UUIDs.

use rusqlite::Connection;
use txloom_core::outcome::DbError;
use txloom_core::sql::tokens;

use super::errors::{no_primary_key, unsupported};
use crate::engines::embedded::admit::replaces_on_conflict;
use crate::engines::embedded::keys::{ColumnInfo, KeyColumn, UniqueKey, columns, key_sql, table_names, unique_indexes};
use crate::engines::embedded::run::quoted;

/// The tables.
#[derive(Debug, Default)]
pub(super) struct Schema {
    /// In order of their names; everybody speaks of tables by position.
    pub(super) tables: Vec<Table>,
    /// Whether the user has triggers.
    pub(super) has_triggers: bool,
    /// Whether some table has a CHECK.
    pub(super) has_checks: bool,
}

/// A table.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: String,
    /// The columns that can be inserted, that is all but the generated ones; a hidden key is the last one.
    pub(super) columns: Vec<String>,
    /// The primary key.
    pub(super) key: Vec<KeyColumn>,
    /// Whether that is the rowid, because the table declares none.
    pub(super) has_hidden_key: bool,
    /// The other unique keys.
    pub(super) unique: Vec<Vec<KeyColumn>>,
}

impl Schema {
    /// Reads the schema of a database, or says why it cannot be replicated.
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Result<Schema, DbError>> {
        let mut schema = Schema::default();
        for (name, _) in table_names(connection)? {
            match Table::read(connection, &name)? {
                Ok(table) => schema.tables.push(table),
                Err(problem) => return Ok(Err(problem)),
            }
        }
        let exists = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, bool>(0));
        schema.has_triggers = exists("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger')")?;
        schema.has_checks = has_checks(connection)?;
        if exists("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name LIKE 'txloom\\_%' ESCAPE '\\')")? {
            return Ok(Err(unsupported("names that begin with txloom_")));
        }
        if schema.has_triggers && replaces_on_conflict(connection)? {
            return Ok(Err(unsupported("REPLACE in a schema with triggers")));
        }
        Ok(Ok(schema))
    }
}

fn has_checks(connection: &Connection) -> rusqlite::Result<bool> {
    let mut definitions = connection.prepare("SELECT sql FROM sqlite_schema WHERE type = 'table'")?;
    for definition in definitions.query_map([], |row| row.get::<_, String>(0))? {
        if tokens(&definition?).iter().any(|token| token.is_word("CHECK")) {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Table {
    fn read(connection: &Connection, name: &str) -> rusqlite::Result<Result<Table, DbError>> {
        let columns = columns(connection, name)?;
        let (mut key, mut unique) = (Vec::new(), Vec::new());
        for index in unique_indexes(connection, name)? {
            match index.key {
                UniqueKey::Columns(columns) if index.is_primary_key => key = columns,
                UniqueKey::Columns(columns) => unique.push(columns),
                UniqueKey::Opaque => return Ok(Err(unsupported("unique indexes of expressions"))),
            }
        }
        if has_partial_key(connection, name)? {
            return Ok(Err(unsupported("unique indexes of some rows only")));
        }
        if key.is_empty() {
            // A primary key without an index of its own is the rowid under another name.
            let own = columns.iter().filter(|column| column.in_primary_key);
            key = own.map(|column| KeyColumn { name: column.name.clone(), collation: "BINARY".into() }).collect();
        }
        let hidden = match key.is_empty() {
            true => Some(hidden_key(&columns)),
            false => None,
        };
        let insertable = columns.into_iter().filter(|column| !column.generated).map(|column| column.name);
        let mut table = Table {
            name: name.to_string(),
            columns: insertable.collect(),
            key,
            has_hidden_key: hidden.is_some(),
            unique,
        };
        match hidden {
            Some(None) => return Ok(Err(no_primary_key(name))),
            Some(Some(rowid)) => {
                table.columns.push(rowid.to_string());
                table.key.push(KeyColumn { name: rowid.to_string(), collation: "BINARY".into() });
            }
            None => {}
        }
        Ok(Ok(table))
    }

    /// The SQL expression that gives the primary key as literals; `prefix` is `NEW.` or `OLD.`.
    pub(super) fn key_sql(&self, prefix: &str) -> String {
        key_sql(&self.key, prefix)
    }

    /// The columns, quoted and separated by commas.
    pub(super) fn columns_sql(&self) -> String {
        self.columns.iter().map(|column| quoted(column)).collect::<Vec<_>>().join(", ")
    }

    /// The condition that holds for the row whose key is bound to the parameters from `first` on; `prefix` is the name of
    /// the table with a dot, or nothing.
    pub(super) fn condition_sql(&self, prefix: &str, first: usize) -> String {
        let part = |(at, column): (usize, &KeyColumn)| format!("{prefix}{} = ?{}", quoted(&column.name), first + at);
        self.key.iter().enumerate().map(part).collect::<Vec<_>>().join(" AND ")
    }
}

/// A name of the rowid that no column has.
fn hidden_key(columns: &[ColumnInfo]) -> Option<&'static str> {
    let is_free = |name: &&&str| !columns.iter().any(|column| column.name.eq_ignore_ascii_case(name));
    ["rowid", "_rowid_", "oid"].iter().find(is_free).copied()
}

fn has_partial_key(connection: &Connection, table: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM pragma_index_list(?1) WHERE \"unique\" AND partial)";
    connection.query_row(sql, [table], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(definition: &str) -> Result<Schema, DbError> {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(definition).unwrap();
        Schema::read(&connection).unwrap()
    }

    #[test]
    fn rows_are_recognised_by_their_primary_keys() {
        let key = |definition: &str| {
            let schema = read(definition).unwrap();
            let names: Vec<&str> = schema.tables[0].key.iter().map(|column| column.name.as_str()).collect();
            names.join(" ")
        };
        assert_eq!(key("CREATE TABLE t (a INTEGER PRIMARY KEY, b)"), "a");
        assert_eq!(key("CREATE TABLE t (a INT, b PRIMARY KEY)"), "b");
        assert_eq!(key("CREATE TABLE t (a, b, c UNIQUE, PRIMARY KEY (b, a)) WITHOUT ROWID"), "b a");
        assert_eq!(key("CREATE TABLE t (a INT, b)"), "rowid");
        assert_eq!(key("CREATE TABLE t (RowId INT, b)"), "_rowid_");
        let schema = read("CREATE TABLE t (a INT PRIMARY KEY, b UNIQUE, c AS (b), CHECK (a > 0))").unwrap();
        assert_eq!(schema.tables[0].columns, ["a", "b"]);
        assert_eq!(schema.tables[0].unique.len(), 1);
        assert!(schema.has_checks && !schema.has_triggers);
    }

    #[test]
    fn what_cannot_be_replicated_is_refused() {
        for (definition, expect) in [
            ("CREATE TABLE t (oid, rowid, _rowid_)", "all names of SQLite's rowid are names of its columns"),
            ("CREATE TABLE t (a PRIMARY KEY, b); CREATE UNIQUE INDEX i ON t (b + 1)", "of expressions"),
            ("CREATE TABLE t (a PRIMARY KEY, b); CREATE UNIQUE INDEX i ON t (b) WHERE b > 1", "of some rows"),
            ("CREATE TABLE txloom_t (a PRIMARY KEY)", "begin with txloom_"),
        ] {
            let message = read(definition).unwrap_err().message;
            assert!(message.contains(expect), "{message}");
        }
    }
}
