//! One database: that of a node, or the ledger.
//!
//! A statement of a session is executed on it, and what it did is told as effects. What comes from elsewhere is not
//! executed but shown: rows are put, as the log says they are. Neither the user's triggers nor any constraint takes part
//! in that; what they had to say, they said where the statement was executed.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension, params_from_iter};
use txloom_core::outcome::DbError;

use super::capture::{self, Traces};
use super::effects::{Cells, Effect, RowId, Stamp};
use super::errors::{not_unique, null_in_key};
use super::log::Touched;
use super::schema::{Schema, Table};
use crate::engines::embedded::cell::Cell;
use crate::engines::embedded::copy::copy_contents;
use crate::engines::embedded::keys::KeyColumn;
use crate::engines::embedded::run::{Answer, ask, quoted};
use crate::engines::embedded::turns::Interrupt;

/// How many statements a connection remembers: a few for each table.
const CACHED_STATEMENTS: usize = 256;

/// The bits of a row's number that tell the rows of one statement apart; the bits before them are the statement's stamp.
const NUMBERS_BITS: u32 = 20;

/// A database in memory.
pub(super) struct Node {
    pub(super) connection: Connection,
    schema: Arc<Schema>,
}

/// What came of a statement that writes.
pub(super) struct Written {
    pub(super) answer: Answer,
    /// The rows that it touched, if it succeeded.
    pub(super) touched: Vec<Touched>,
    /// What `last_insert_rowid()` is now.
    pub(super) last_insert_rowid: i64,
    /// It failed, and asked for the whole transaction to be rolled back (`OR ROLLBACK`).
    pub(super) ends_transaction: bool,
}

/// A row as a node is to show it.
pub(super) struct Shown<'a> {
    pub(super) table: usize,
    pub(super) key: &'a [Cell],
    pub(super) row: Option<Cells>,
}

impl Node {
    /// A node with these contents. Foreign keys are not enforced anywhere.
    pub(super) fn new(connection: Connection, schema: Arc<Schema>) -> rusqlite::Result<Node> {
        connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
        capture::install(&connection, &schema)?;
        Ok(Node { connection, schema })
    }

    /// Becomes what another database is.
    pub(super) fn copy_from(&mut self, other: &Connection) -> rusqlite::Result<()> {
        copy_contents(other, &mut self.connection)
    }

    /// Executes a statement that writes; `stamp` is its place in the arbitration. One that fails leaves nothing behind.
    pub(super) fn write(&self, sql: &str, stamp: Stamp, interrupt: &Interrupt) -> rusqlite::Result<Written> {
        let connection = &self.connection;
        connection.execute_batch("SAVEPOINT txloom_statement")?;
        let answer = interrupt.listening(|| ask(connection, sql))?;
        let last_insert_rowid = connection.last_insert_rowid();
        let ends_transaction = connection.is_autocommit();
        let captured = capture::take(connection, &self.schema)?;
        let touched = match (&answer, captured) {
            (Err(error), _) => Err(error.clone()),
            (Ok(_), Err(table)) => Err(null_in_key(&self.schema.tables[table].name)),
            (Ok(_), Ok(rows)) => self.touched(self.number(rows, stamp)?)?,
        };
        if !ends_transaction {
            let undo = if touched.is_err() { "ROLLBACK TO txloom_statement; " } else { "" };
            connection.execute_batch(&format!("{undo}RELEASE txloom_statement"))?;
        }
        let (answer, touched) = match touched {
            Ok(touched) => (answer, touched),
            Err(error) => (Err(error), Vec::new()),
        };
        Ok(Written { answer, touched, last_insert_rowid, ends_transaction })
    }

    /// Gives new rows of tables without a primary key numbers that no other statement gives.
    fn number(&self, rows: BTreeMap<RowId, Traces>, stamp: Stamp) -> rusqlite::Result<BTreeMap<RowId, Traces>> {
        let is_new = |(row, traces): (&RowId, &Traces)| traces.inserted && self.schema.tables[row.table].has_hidden_key;
        if !rows.iter().any(is_new) {
            return Ok(rows);
        }
        self.enforce(false)?;
        let first = i64::try_from(stamp).unwrap_or(i64::MAX >> NUMBERS_BITS) << NUMBERS_BITS;
        let mut numbered = BTreeMap::new();
        for (number, (row, traces)) in (first..).zip(rows) {
            let table = &self.schema.tables[row.table];
            if !is_new((&row, &traces)) {
                numbered.insert(row, traces);
                continue;
            }
            let (name, rowid) = (quoted(&table.name), quoted(&table.key[0].name));
            let sql = format!("UPDATE main.{name} SET {rowid} = ?1 WHERE {rowid} = ?2");
            self.connection.prepare_cached(&sql)?.execute((number, &traces.key[0]))?;
            let row = RowId { table: row.table, key: number.to_string() };
            numbered.insert(row, Traces { key: vec![Cell::Integer(number)], ..traces });
        }
        self.enforce(true)?;
        // The triggers of `capture` wrote this down, too.
        capture::clear(&self.connection)?;
        Ok(numbered)
    }

    /// What became of the rows that a statement touched; or the unique key that one of them violates here.
    fn touched(
        &self,
        rows: impl IntoIterator<Item = (RowId, Traces)>,
    ) -> rusqlite::Result<Result<Vec<Touched>, DbError>> {
        let mut touched = Vec::new();
        for (row, Traces { key, inserted, assigned }) in rows {
            let table = &self.schema.tables[row.table];
            let effect = match self.row(row.table, &key)? {
                None => Effect::Delete,
                Some(cells) if inserted => Effect::Insert(cells),
                Some(cells) => Effect::Update(assigned.iter().map(|at| (*at, cells[*at].clone())).collect()),
            };
            if effect != Effect::Delete
                && let Some(twice) = self.duplicate(table, &key)?
            {
                let columns: Vec<&str> = twice.iter().map(|column| column.name.as_str()).collect();
                return Ok(Err(not_unique(&table.name, &columns)));
            }
            touched.push(Touched { row, key, effect });
        }
        Ok(Ok(touched))
    }

    /// The unique key that a row shares with another one, if there is one.
    fn duplicate<'a>(&self, table: &'a Table, key: &[Cell]) -> rusqlite::Result<Option<&'a [KeyColumn]>> {
        for unique in &table.unique {
            let same = |column: &KeyColumn| {
                let name = quoted(&column.name);
                format!("own.{name} = other.{name} COLLATE {}", column.collation)
            };
            let sql = format!(
                "SELECT EXISTS (SELECT 1 FROM main.{table} AS own JOIN main.{table} AS other ON {same} \
                 WHERE {own} AND NOT ({other}))",
                table = quoted(&table.name),
                same = unique.iter().map(same).collect::<Vec<_>>().join(" AND "),
                own = table.condition_sql("own.", 1),
                other = table.condition_sql("other.", 1),
            );
            if self.connection.prepare_cached(&sql)?.query_row(params_from_iter(key), |row| row.get(0))? {
                return Ok(Some(unique));
            }
        }
        Ok(None)
    }

    /// The row with this key, if there is one.
    pub(super) fn row(&self, table: usize, key: &[Cell]) -> rusqlite::Result<Option<Cells>> {
        let table = &self.schema.tables[table];
        let (columns, name) = (table.columns_sql(), quoted(&table.name));
        let sql = format!("SELECT {columns} FROM main.{name} WHERE {}", table.condition_sql("", 1));
        let cells =
            |row: &rusqlite::Row<'_>| (0..table.columns.len()).map(|at| Ok(Cell::from(row.get_ref(at)?))).collect();
        self.connection.prepare_cached(&sql)?.query_row(params_from_iter(key), cells).optional()
    }

    /// Shows rows as they are said to be, all of them at once.
    pub(super) fn show<'a>(&self, rows: impl IntoIterator<Item = Shown<'a>>) -> rusqlite::Result<()> {
        self.enforce(false)?;
        let transaction = self.connection.unchecked_transaction()?;
        for Shown { table, key, row } in rows {
            let table = &self.schema.tables[table];
            match row {
                Some(cells) => put(&transaction, table, key, &cells)?,
                None => delete(&transaction, table, key)?,
            }
        }
        transaction.commit()?;
        self.enforce(true)?;
        // Temporary triggers cannot be switched off: they wrote this down, too.
        capture::clear(&self.connection)
    }

    /// Switches triggers and checks on or off. That makes SQLite forget what it has prepared, so it is done only where
    /// there are any.
    fn enforce(&self, on: bool) -> rusqlite::Result<()> {
        if self.schema.has_triggers {
            self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, on)?;
        }
        if self.schema.has_checks {
            let ignore = if on { "OFF" } else { "ON" };
            self.connection.execute_batch(&format!("PRAGMA ignore_check_constraints = {ignore}"))?;
        }
        Ok(())
    }
}

/// Updates or inserts a row. (REPLACE would give it a new place in the order of rows.)
fn put(connection: &Connection, table: &Table, key: &[Cell], cells: &Cells) -> rusqlite::Result<()> {
    let name = quoted(&table.name);
    let assign = |(at, column): (usize, &String)| format!("{} = ?{}", quoted(column), at + 1);
    let assignments: Vec<String> = table.columns.iter().enumerate().map(assign).collect();
    let condition = table.condition_sql("", cells.len() + 1);
    let update = format!("UPDATE OR ABORT main.{name} SET {} WHERE {condition}", assignments.join(", "));
    if connection.prepare_cached(&update)?.execute(params_from_iter(cells.iter().chain(key)))? == 0 {
        let places = vec!["?"; cells.len()].join(", ");
        let insert = format!("INSERT OR ABORT INTO main.{name} ({}) VALUES ({places})", table.columns_sql());
        connection.prepare_cached(&insert)?.execute(params_from_iter(cells))?;
    }
    Ok(())
}

fn delete(connection: &Connection, table: &Table, key: &[Cell]) -> rusqlite::Result<()> {
    let sql = format!("DELETE FROM main.{} WHERE {}", quoted(&table.name), table.condition_sql("", 1));
    connection.prepare_cached(&sql)?.execute(params_from_iter(key))?;
    Ok(())
}
