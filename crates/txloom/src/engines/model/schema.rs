//! What the model must know of the user's tables: how a row is recognised, and which keys are unique.

use rusqlite::Connection;

use super::locks::LockKey;
use crate::engines::embedded::admit::replaces_on_conflict;
use crate::engines::embedded::keys::{ColumnInfo, KeyColumn, UniqueKey, columns, key_sql, table_names, unique_indexes};
use crate::engines::embedded::run::quoted;

/// The tables of one state of the schema.
#[derive(Debug, Default)]
pub(super) struct Schema {
    /// In order of their names; triggers speak of tables by position.
    pub(super) tables: Vec<Table>,
    /// Whether any table refers to another one.
    pub(super) has_foreign_keys: bool,
    /// Whether a table has `AUTOINCREMENT`.
    pub(super) has_sequences: bool,
    /// Whether the user has triggers.
    pub(super) has_triggers: bool,
}

/// A table.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) row: RowKind,
    /// The columns that can be inserted, that is all but the generated ones.
    pub(super) columns: Vec<String>,
    /// The unique keys, apart from the one that recognises the row.
    pub(super) unique: Vec<UniqueKey>,
}

/// How a row of a table is recognised.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RowKind {
    /// By a rowid that SQLite chose, under the name for it that no column takes. Two transactions may give the same one
    /// to different new rows.
    Hidden(&'static str),
    /// By the column that is an `INTEGER PRIMARY KEY`.
    Integer(String),
    /// By the primary key, in a table `WITHOUT ROWID`.
    Key(Vec<KeyColumn>),
}

/// What recognises one row of a table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Identity {
    /// The rowid.
    Rowid(i64),
    /// The primary key as SQL literals, separated by commas.
    Key(String),
}

/// A schema that the model cannot serve, and why.
#[derive(Debug)]
pub(super) struct Unsupported(pub(super) String);

impl Schema {
    /// Reads the schema of a database.
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Result<Schema, Unsupported>> {
        let mut schema = Schema::default();
        for (name, without_rowid) in table_names(connection)? {
            let Some(table) = Table::read(connection, &name, without_rowid)? else {
                return unsupported(format!("table {name}, whose columns take all names of the rowid"));
            };
            schema.tables.push(table);
        }
        let exists = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, bool>(0));
        schema.has_triggers = exists("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger')")?;
        schema.has_sequences = exists("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence')")?;
        schema.has_foreign_keys = exists(
            "SELECT EXISTS (SELECT 1 FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) WHERE t.type = 'table')",
        )?;
        if exists("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name LIKE 'txloom\\_%' ESCAPE '\\')")? {
            return unsupported("names that begin with txloom_".to_string());
        }
        if schema.has_triggers && replaces_on_conflict(connection)? {
            return unsupported("REPLACE in a schema with triggers".to_string());
        }
        Ok(Ok(schema))
    }

    /// The table of that name.
    pub(super) fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name.eq_ignore_ascii_case(name))
    }
}

fn unsupported(reason: String) -> rusqlite::Result<Result<Schema, Unsupported>> {
    Ok(Err(Unsupported(reason)))
}

impl Table {
    /// `None` if the rowid cannot be named.
    fn read(connection: &Connection, name: &str, without_rowid: bool) -> rusqlite::Result<Option<Table>> {
        let columns = columns(connection, name)?;
        let mut indexes = unique_indexes(connection, name)?;
        let key_index = indexes.iter().position(|index| index.is_primary_key);
        let key_column = columns.iter().find(|column| column.in_primary_key);
        let row = match (key_index, key_column) {
            (Some(at), _) if without_rowid => match indexes.remove(at).key {
                UniqueKey::Columns(columns) => RowKind::Key(columns),
                UniqueKey::Opaque => return Ok(None),
            },
            // A primary key without an index of its own is the rowid under another name.
            (None, Some(column)) => RowKind::Integer(column.name.clone()),
            _ => match rowid_name(&columns) {
                Some(name) => RowKind::Hidden(name),
                None => return Ok(None),
            },
        };
        let insertable = columns.into_iter().filter(|column| !column.generated).map(|column| column.name);
        let unique = indexes.into_iter().map(|index| index.key);
        Ok(Some(Table { name: name.to_string(), row, columns: insertable.collect(), unique: unique.collect() }))
    }

    /// The SQL expression that gives the identity of a row; `prefix` is `NEW.`, `OLD.` or nothing.
    pub(super) fn identity_sql(&self, prefix: &str) -> String {
        match &self.row {
            RowKind::Hidden(name) => format!("{prefix}{name}"),
            RowKind::Integer(column) => format!("{prefix}{}", quoted(column)),
            RowKind::Key(columns) => key_sql(columns, prefix),
        }
    }

    /// What is locked of the row with this identity.
    pub(super) fn row_key(&self, identity: &Identity) -> LockKey {
        let value = match identity {
            Identity::Rowid(rowid) => rowid.to_string(),
            Identity::Key(literals) => literals.clone(),
        };
        LockKey::Key { table: self.name.clone(), key: 0, value }
    }

    /// The SQL condition that holds for the row with this identity.
    pub(super) fn condition_sql(&self, identity: &Identity) -> String {
        match (&self.row, identity) {
            (RowKind::Key(columns), Identity::Key(literals)) => {
                let names: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
                format!("({}) IS ({literals})", names.join(", "))
            }
            (_, Identity::Rowid(rowid)) => format!("{} = {rowid}", self.identity_sql("")),
            // A literal of another kind of table: no row has it.
            (_, Identity::Key(_)) => "FALSE".to_string(),
        }
    }
}

/// A name of the rowid that no column takes.
fn rowid_name(columns: &[ColumnInfo]) -> Option<&'static str> {
    let taken = |name: &str| columns.iter().any(|column| column.name.eq_ignore_ascii_case(name));
    ["rowid", "_rowid_", "oid"].into_iter().find(|name| !taken(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(definition: &str) -> Table {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(definition).unwrap();
        Schema::read(&connection).unwrap().unwrap().tables.remove(0)
    }

    fn key(columns: &[(&str, &str)]) -> Vec<KeyColumn> {
        let column =
            |(name, collation): &(&str, &str)| KeyColumn { name: (*name).into(), collation: (*collation).into() };
        columns.iter().map(column).collect()
    }

    #[test]
    fn rows_are_recognised_by_what_they_have() {
        assert_eq!(table("CREATE TABLE t (a INTEGER PRIMARY KEY)").row, RowKind::Integer("a".into()));
        assert_eq!(table("CREATE TABLE t (a INT PRIMARY KEY)").row, RowKind::Hidden("rowid"));
        assert_eq!(table("CREATE TABLE t (rowid, _rowid_)").row, RowKind::Hidden("oid"));
        let keyed = table("CREATE TABLE t (a, b COLLATE NOCASE, c, PRIMARY KEY (b, a)) WITHOUT ROWID");
        assert_eq!(keyed.row, RowKind::Key(key(&[("b", "NOCASE"), ("a", "BINARY")])));
        assert!(keyed.unique.is_empty());
    }

    #[test]
    fn unique_keys_are_found() {
        let table = table(
            "CREATE TABLE t (a INT PRIMARY KEY, b UNIQUE, c, d AS (c + 1)); CREATE INDEX i ON t (c);
             CREATE UNIQUE INDEX x ON t (lower(c)); CREATE UNIQUE INDEX y ON t (c COLLATE RTRIM, b) WHERE c > 1",
        );
        assert_eq!(
            table.unique,
            [
                UniqueKey::Columns(key(&[("a", "BINARY")])),
                UniqueKey::Columns(key(&[("b", "BINARY")])),
                UniqueKey::Opaque,
                UniqueKey::Columns(key(&[("c", "RTRIM"), ("b", "BINARY")])),
            ]
        );
        assert_eq!(table.columns, ["a", "b", "c"]);
    }

    #[test]
    fn what_cannot_be_served_is_refused() {
        let check = |definition: &str, expect: &str| {
            let connection = Connection::open_in_memory().unwrap();
            connection.execute_batch(definition).unwrap();
            let Unsupported(reason) = Schema::read(&connection).unwrap().unwrap_err();
            assert!(reason.contains(expect), "{reason}");
        };
        check("CREATE TABLE t (rowid, oid, _rowid_)", "all names of the rowid");
        check("CREATE TABLE Txloom_t (a)", "begin with txloom_");
        let trigger = |body: &str| format!("CREATE TRIGGER x AFTER INSERT ON t BEGIN {body}; END");
        check(&format!("CREATE TABLE t (a UNIQUE ON CONFLICT REPLACE); {}", trigger("SELECT 1")), "REPLACE");
        check(&format!("CREATE TABLE t (a UNIQUE); {}", trigger("REPLACE INTO t VALUES (1)")), "REPLACE");
    }
}
