//! The net changes of a transaction, as data: independent of the copy that they were made on.
//!
//! A transaction's changes are moved three times: onto a newer version (read committed, before each statement), back to
//! an earlier state (ROLLBACK TO), and into the database (COMMIT). All three are the same operation: take a copy of a
//! version, delete the rows that the transaction deleted or changed, insert what they became. Deleting comes first, so
//! that two rows can swap a unique value.
//!
//! Rows that existed before are found by their identity, and nobody else can have changed them: the transaction holds
//! their locks. New rows keep their identity if it is a key of the user's, again protected by locks. A *hidden* rowid,
//! however, is only a number that SQLite chose, and another transaction may have been given the same one meanwhile:
//!
//! ```text
//!   committed: rowids 1 2      a inserts: 3 (private)      b inserts: 3 (private), commits: 3
//!                              a commits: 3 is taken, so the row becomes 4
//! ```

use std::collections::BTreeSet;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension, params_from_iter};

use super::capture;
use super::schema::{Identity, RowKind, Schema, Table};
use super::store::Database;
use crate::engines::embedded::cell::Cell;
use crate::engines::embedded::run::quoted;

/// Rows that a transaction has changed, inserted or deleted, by table and identity.
pub(super) type Touched = BTreeSet<(String, Identity)>;

/// The net changes of a transaction, relative to the version that it is based on.
#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    /// Rows that existed and no longer do, or not as they were.
    deleted: Vec<(String, Identity)>,
    /// Rows as they are now.
    inserted: Vec<NewRow>,
}

#[derive(Debug, Clone)]
struct NewRow {
    table: String,
    identity: Identity,
    cells: Vec<Cell>,
}

impl Changes {
    /// What became of the touched rows between `base` and the transaction's own copy.
    pub(super) fn between(base: &Database, own: &Database, touched: &Touched) -> rusqlite::Result<Changes> {
        let mut changes = Changes::default();
        for (name, identity) in touched {
            let table = known(&base.schema, name)?;
            if exists(&base.connection, table, identity)? {
                changes.deleted.push((name.clone(), identity.clone()));
            }
            if let Some(cells) = cells(&own.connection, table, identity)? {
                changes.inserted.push(NewRow { table: name.clone(), identity: identity.clone(), cells });
            }
        }
        Ok(changes)
    }

    /// Whether anything became of the touched rows.
    pub(super) fn any_between(base: &Database, own: &Database, touched: &Touched) -> rusqlite::Result<bool> {
        for (name, identity) in touched {
            let table = known(&base.schema, name)?;
            if exists(&base.connection, table, identity)? || exists(&own.connection, table, identity)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What became of all rows between two versions with one schema: what was done to rows of the earlier one, and rows
    /// that are new. Rows that are as they were count as changed.
    pub(super) fn between_versions(earlier: &Database, later: &Database) -> rusqlite::Result<(Changes, Changes)> {
        let mut touched = Touched::new();
        for table in &earlier.schema.tables {
            for version in [earlier, later] {
                let sql = format!("SELECT {} FROM main.{}", table.identity_sql(""), quoted(&table.name));
                let mut statement = version.connection.prepare(&sql)?;
                let identities = statement.query_map([], |row| Ok(capture::identity(row.get_ref(0)?)))?;
                for identity in identities {
                    touched.insert((table.name.clone(), identity?));
                }
            }
        }
        let Changes { deleted, inserted } = Changes::between(earlier, later, &touched)?;
        let known: Touched = deleted.iter().cloned().collect();
        let (changed, new) = inserted.into_iter().partition(|row| known.contains(&row.key()));
        Ok((Changes { deleted, inserted: changed }, Changes { deleted: Vec::new(), inserted: new }))
    }

    /// The first of the rows that were inserted or changed, alone.
    pub(super) fn first_row(&self) -> Option<Changes> {
        let row = self.inserted.first()?;
        let deleted = self.deleted.iter().filter(|key| **key == row.key()).cloned().collect();
        Some(Changes { deleted, inserted: vec![row.clone()] })
    }

    /// All changes but those of the last row; `None` if it is the only one.
    pub(super) fn without_last_row(&self) -> Option<Changes> {
        let mut rows: Touched = self.deleted.iter().cloned().chain(self.inserted.iter().map(NewRow::key)).collect();
        let last = rows.pop_last()?;
        let mut rest = self.clone();
        rest.deleted.retain(|key| *key != last);
        rest.inserted.retain(|row| row.key() != last);
        (!rows.is_empty()).then_some(rest)
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.deleted.is_empty() && self.inserted.is_empty()
    }

    /// Makes the changes to another copy, all or none, and says which rows of it they touch.
    ///
    /// Neither triggers nor foreign keys take part: what they had to do, they did when the changes were first made.
    pub(super) fn apply(&self, database: &Database) -> rusqlite::Result<Touched> {
        database.will_differ();
        let connection = &database.connection;
        let enforce = |on: bool| -> rusqlite::Result<()> {
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, on)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, on)?;
            Ok(())
        };
        enforce(false)?;
        let transaction = connection.unchecked_transaction()?;
        let touched = self.apply_within(&transaction, &database.schema);
        if touched.is_ok() {
            transaction.commit()?;
        } else {
            transaction.rollback()?;
        }
        enforce(true)?;
        // Temporary triggers are the exception: they cannot be switched off.
        capture::clear(connection)?;
        touched
    }

    fn apply_within(&self, connection: &Connection, schema: &Schema) -> rusqlite::Result<Touched> {
        let mut touched: Touched = self.deleted.iter().cloned().collect();
        for (name, identity) in &self.deleted {
            let table = known(schema, name)?;
            let sql = format!("DELETE FROM main.{} WHERE {}", quoted(name), table.condition_sql(identity));
            connection.execute(&sql, [])?;
        }
        for row in &self.inserted {
            let table = known(schema, &row.table)?;
            touched.insert((row.table.clone(), row.insert(connection, table)?));
        }
        Ok(touched)
    }
}

impl NewRow {
    fn key(&self) -> (String, Identity) {
        (self.table.clone(), self.identity.clone())
    }

    /// Inserts the row, under a new rowid if it must be, and returns its identity.
    fn insert(&self, connection: &Connection, table: &Table) -> rusqlite::Result<Identity> {
        let mut columns: Vec<String> = table.columns.iter().map(|column| quoted(column)).collect();
        let mut rowid = Vec::new();
        if let (RowKind::Hidden(name), Identity::Rowid(number)) = (&table.row, &self.identity) {
            columns.insert(0, (*name).to_string());
            let taken = exists(connection, table, &self.identity)?;
            rowid.push(if taken { Cell::Null } else { Cell::Integer(*number) });
        }
        let places = vec!["?"; columns.len()].join(", ");
        // ABORT overrides what a constraint of the table may say (IGNORE, REPLACE): a conflict here is an error.
        let sql =
            format!("INSERT OR ABORT INTO main.{} ({}) VALUES ({places})", quoted(&table.name), columns.join(", "));
        connection.execute(&sql, params_from_iter(rowid.iter().chain(&self.cells)))?;
        match table.row {
            RowKind::Hidden(_) => Ok(Identity::Rowid(connection.last_insert_rowid())),
            _ => Ok(self.identity.clone()),
        }
    }
}

/// Whether the table has a row with this identity.
pub(super) fn exists(connection: &Connection, table: &Table, identity: &Identity) -> rusqlite::Result<bool> {
    let sql = format!("SELECT 1 FROM main.{} WHERE {}", quoted(&table.name), table.condition_sql(identity));
    connection.prepare(&sql)?.exists([])
}

/// The insertable columns of the row with this identity, if there is one.
fn cells(connection: &Connection, table: &Table, identity: &Identity) -> rusqlite::Result<Option<Vec<Cell>>> {
    let columns: Vec<String> = table.columns.iter().map(|column| quoted(column)).collect();
    let sql = format!(
        "SELECT {} FROM main.{} WHERE {}",
        columns.join(", "),
        quoted(&table.name),
        table.condition_sql(identity)
    );
    let row = |row: &rusqlite::Row<'_>| (0..columns.len()).map(|index| Ok(Cell::from(row.get_ref(index)?))).collect();
    connection.query_row(&sql, [], row).optional()
}

/// A table that changes speak of. Only a planted bug lets a transaction outlive the tables that it changed.
fn known<'a>(schema: &'a Schema, name: &str) -> rusqlite::Result<&'a Table> {
    schema.table(name).ok_or_else(|| {
        let failure = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ERROR);
        rusqlite::Error::SqliteFailure(failure, Some(format!("no such table: {name}")))
    })
}
