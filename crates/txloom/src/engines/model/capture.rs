//! Capture: which rows and keys does a statement touch?
//!
//! SQLite tells it best: triggers. Each table of a copy has three, for INSERT, UPDATE and DELETE, which write down the
//! identity and the unique keys of the row before and after. They fire for whatever changes a row: the statement
//! itself, a cascading foreign key, a trigger of the user's, an upsert. An UPDATE that sets a value to itself is seen,
//! too, as a server would lock its rows.
//!
//! The triggers and their log are temporary objects of the connection. So they are no part of the database: copies do
//! not contain them, and the user's schema does not show them.
//!
//! The log is a *set* of touched rows, not a history: the order in which SQLite fires a user's trigger and ours is not
//! defined, so nothing here depends on it. What a row became is read from the copy itself.
//!
//! Two peculiarities of SQLite matter:
//! * A row that REPLACE deletes fires triggers only under `recursive_triggers`. With that pragma, however, the user's
//!   own triggers would call themselves, as they normally do not. So it is on only where the user has none; elsewhere
//!   REPLACE is refused ([`super::request`]).
//! * `DELETE FROM t` without a condition removes all rows at once, except from a table with triggers.

use std::collections::BTreeSet;

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::locks::LockKey;
use super::schema::{Identity, Schema, Table};
use crate::engines::embedded::keys::{UniqueKey, key_sql};
use crate::engines::embedded::run::quoted;

/// What statements have touched.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// Rows before they were changed.
    pub(super) old_rows: BTreeSet<(String, Identity)>,
    /// Rows after they were changed.
    pub(super) new_rows: BTreeSet<(String, Identity)>,
    /// The unique keys of rows before they were changed.
    pub(super) old_keys: BTreeSet<LockKey>,
    /// The unique keys of rows after they were changed.
    pub(super) new_keys: BTreeSet<LockKey>,
}

/// Makes a connection write down what is touched from now on.
pub(super) fn install(connection: &Connection, schema: &Schema) -> rusqlite::Result<()> {
    let mut sql = "CREATE TEMP TABLE txloom_log (position, key, side, value);".to_string();
    for (position, table) in schema.tables.iter().enumerate() {
        for (event, sides) in [("INSERT", &["NEW"][..]), ("UPDATE", &["OLD", "NEW"]), ("DELETE", &["OLD"])] {
            let entries: Vec<String> = sides.iter().flat_map(|side| entries(position, table, side)).collect();
            sql += &format!(
                "CREATE TEMP TRIGGER txloom_{position}_{event} AFTER {event} ON main.{} \
                 BEGIN INSERT INTO txloom_log VALUES {}; END;",
                quoted(&table.name),
                entries.join(", ")
            );
        }
    }
    let recursive = if schema.has_triggers { "OFF" } else { "ON" };
    connection.execute_batch(&format!("{sql} PRAGMA recursive_triggers = {recursive}"))
}

/// The log's entries for one side of a changed row. Key 0 is the identity.
fn entries(position: usize, table: &Table, side: &str) -> Vec<String> {
    let prefix = format!("{side}.");
    let mut values = vec![table.identity_sql(&prefix)];
    values.extend(table.unique.iter().map(|key| match key {
        UniqueKey::Columns(columns) => key_sql(columns, &prefix),
        UniqueKey::Opaque => "'*'".to_string(),
    }));
    let entry = |(key, value): (usize, &String)| format!("({position}, {key}, '{side}', {value})");
    values.iter().enumerate().map(entry).collect()
}

/// Reads the log and empties it.
pub(super) fn take(connection: &Connection, schema: &Schema) -> rusqlite::Result<Log> {
    let mut log = Log::default();
    let mut statement = connection.prepare_cached("SELECT DISTINCT position, key, side, value FROM temp.txloom_log")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (position, key): (u32, u32) = (row.get(0)?, row.get(1)?);
        let table = schema.tables[position as usize].name.clone();
        let old = row.get_ref(2)?.as_str()? == "OLD";
        match (key, row.get_ref(3)?) {
            (0, value) => {
                let identity = identity(value);
                if old { &mut log.old_rows } else { &mut log.new_rows }.insert((table, identity));
            }
            (_, ValueRef::Null) => {}
            (key, value) => {
                let keys = if old { &mut log.old_keys } else { &mut log.new_keys };
                keys.insert(LockKey::Key { table, key, value: text(value) });
            }
        }
    }
    drop(rows);
    drop(statement);
    clear(connection)?;
    Ok(log)
}

/// Empties the log.
pub(super) fn clear(connection: &Connection) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM temp.txloom_log")?.execute([])?;
    Ok(())
}

/// An identity as [`Table::identity_sql`] gives it.
pub(super) fn identity(value: ValueRef<'_>) -> Identity {
    match value {
        ValueRef::Integer(rowid) => Identity::Rowid(rowid),
        other => Identity::Key(text(other)),
    }
}

/// Literals as SQLite's `quote` writes them. Bytes that are not UTF-8 make keys alike that are not: they lock too much.
pub(super) fn text(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        other => format!("{other:?}"),
    }
}
