//! Capture: which rows does a statement touch, and which of their columns does it assign?
//!
//! Triggers tell, as in the model. Those of replicas must know more: `UPDATE t SET v = v` writes `v` although nothing
//! changes, because the write will win over an earlier one elsewhere. SQLite fires `AFTER UPDATE OF v` exactly then, so
//! each column has a trigger of its own; a statement pays only for the columns that it assigns. A primary key that is
//! changed is one row deleted and another one inserted.
//!
//! The log says what happened to which key, and not what the row became: that is read from the table when the statement
//! has ended. The triggers and the log are temporary objects of the connection, and no part of the database.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

use super::effects::RowId;
use super::schema::{Schema, Table};
use crate::engines::embedded::cell::Cell;
use crate::engines::embedded::run::quoted;

/// What happened to a row during a statement.
#[derive(Debug, Default)]
pub(super) struct Traces {
    /// The values of the primary key.
    pub(super) key: Vec<Cell>,
    /// Whether it was inserted, or a row was given this key.
    pub(super) inserted: bool,
    /// The columns that were assigned, by position.
    pub(super) assigned: BTreeSet<usize>,
}

/// The rows that a statement touched; `Err` is the position of a table that got a row without a whole key.
pub(super) type Captured = Result<BTreeMap<RowId, Traces>, usize>;

/// Makes a connection write down what is touched from now on.
pub(super) fn install(connection: &Connection, schema: &Schema) -> rusqlite::Result<()> {
    let key_length = schema.tables.iter().map(|table| table.key.len()).max().unwrap_or(0);
    let key_columns: String = (0..key_length).map(|at| format!(", k{at}")).collect();
    let mut sql = format!("CREATE TEMP TABLE txloom_log (position, what, assigned, key{key_columns});");
    for (position, table) in schema.tables.iter().enumerate() {
        let entry = |what: &str, assigned: &str, side: &str| {
            let mut values = vec![position.to_string(), format!("'{what}'"), assigned.to_string(), table.key_sql(side)];
            values.extend(table.key.iter().map(|column| format!("{side}{}", quoted(&column.name))));
            values.resize(4 + key_length, "NULL".to_string());
            format!("({})", values.join(", "))
        };
        let mut trigger = |name: &str, event: &str, when: &str, entries: &[String]| {
            sql += &format!(
                "CREATE TEMP TRIGGER txloom_{position}_{name} AFTER {event} ON main.{} {when} \
                 BEGIN INSERT INTO txloom_log VALUES {}; END;",
                quoted(&table.name),
                entries.join(", ")
            );
        };
        trigger("insert", "INSERT", "", &[entry("insert", "NULL", "NEW.")]);
        trigger("delete", "DELETE", "", &[entry("delete", "NULL", "OLD.")]);
        for (at, column) in table.columns.iter().enumerate() {
            let event = format!("UPDATE OF {}", quoted(column));
            trigger(&format!("update_{at}"), &event, "", &[entry("update", &at.to_string(), "NEW.")]);
        }
        let moved = format!("WHEN {} IS NOT {}", table.key_sql("OLD."), table.key_sql("NEW."));
        let entries = [entry("delete", "NULL", "OLD."), entry("insert", "NULL", "NEW.")];
        trigger("move", "UPDATE", &moved, &entries);
    }
    // REPLACE fires triggers for what it deletes only so; but then the user's would call themselves.
    let recursive = if schema.has_triggers { "OFF" } else { "ON" };
    connection.execute_batch(&format!("{sql} PRAGMA recursive_triggers = {recursive}"))
}

/// Reads the log and empties it.
pub(super) fn take(connection: &Connection, schema: &Schema) -> rusqlite::Result<Captured> {
    let captured = read(connection, schema)?;
    clear(connection)?;
    Ok(captured)
}

fn read(connection: &Connection, schema: &Schema) -> rusqlite::Result<Captured> {
    let mut rows: BTreeMap<RowId, Traces> = BTreeMap::new();
    let mut statement = connection.prepare_cached("SELECT DISTINCT * FROM temp.txloom_log")?;
    let mut entries = statement.query([])?;
    while let Some(entry) = entries.next()? {
        let position: usize = entry.get::<_, u32>(0)? as usize;
        let table: &Table = &schema.tables[position];
        let Some(key) = entry.get_ref(3)?.as_bytes_or_null()? else { return Ok(Err(position)) };
        let row = RowId { table: position, key: String::from_utf8_lossy(key).into_owned() };
        let traces = rows.entry(row).or_default();
        if traces.key.is_empty() {
            let cell = |at: usize| Ok(Cell::from(entry.get_ref(4 + at)?));
            traces.key = (0..table.key.len()).map(cell).collect::<rusqlite::Result<_>>()?;
        }
        traces.inserted |= entry.get_ref(1)?.as_str()? == "insert";
        traces.assigned.extend(entry.get::<_, Option<u32>>(2)?.map(|column| column as usize));
    }
    Ok(Ok(rows))
}

/// Empties the log.
pub(super) fn clear(connection: &Connection) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM temp.txloom_log")?.execute([])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is captured of a statement: `key!` for an inserted row, `key[columns]` for an updated one, `key` otherwise.
    fn captured(statement: &str) -> String {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE t (id INTEGER PRIMARY KEY, v, w); INSERT INTO t VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3);
                 CREATE TABLE u (a TEXT COLLATE NOCASE, b INT, c, PRIMARY KEY (a, b)); INSERT INTO u VALUES ('X', 1, 0);",
            )
            .unwrap();
        let schema = Schema::read(&connection).unwrap().unwrap();
        install(&connection, &schema).unwrap();
        connection.execute_batch(statement).unwrap();
        let show = |(row, traces): (&RowId, &Traces)| {
            let assigned: Vec<String> = traces.assigned.iter().map(usize::to_string).collect();
            let mark = if traces.inserted { "!".to_string() } else { format!("[{}]", assigned.join(",")) };
            format!("{}{mark}", row.key)
        };
        match take(&connection, &schema).unwrap() {
            Ok(rows) => rows.iter().map(show).collect::<Vec<_>>().join(" "),
            Err(position) => format!("no key in {}", schema.tables[position].name),
        }
    }

    #[test]
    fn touched_rows_and_assigned_columns_are_told() {
        for (statement, expect) in [
            ("SELECT * FROM t", ""),
            ("INSERT INTO t VALUES (4, 0, 0)", "4!"),
            ("UPDATE t SET v = v WHERE id < 3", "1[1] 2[1]"),
            ("UPDATE t SET (w, v) = (1, 2) WHERE id = 3", "3[1,2]"),
            ("UPDATE t SET v = 0 WHERE id = 9", ""),
            ("DELETE FROM t", "1[] 2[] 3[]"),
            ("UPDATE t SET id = 7 WHERE id = 2", "2[] 7!"),
            ("UPDATE t SET rowid = 7 WHERE id = 2", "2[] 7!"),
            ("UPDATE t SET id = id, w = 0 WHERE id = 2", "2[0,2]"),
            ("REPLACE INTO t VALUES (2, 0, 0)", "2!"),
            ("INSERT INTO t VALUES (2, 0, 0), (4, 0, 0) ON CONFLICT DO UPDATE SET w = 9", "2[2] 4!"),
            ("INSERT OR IGNORE INTO t VALUES (2, 0, 0), (4, 0, 0)", "4!"),
            ("UPDATE u SET a = 'x'", "'x',1[0]"),
            ("UPDATE u SET a = 'y'", "'x',1[] 'y',1!"),
            ("INSERT INTO u VALUES (NULL, 1, 2)", "no key in u"),
        ] {
            assert_eq!(captured(statement), expect, "{statement}");
        }
    }
}
