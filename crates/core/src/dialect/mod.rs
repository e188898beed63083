//! Dialects: the language that an engine's statements are written in, and the meaning of the bytes that it returns.
//!
//! A dialect answers questions ("how is this value written?", "what value are these bytes?"); code that needs an answer
//! asks the dialect, and never which dialect it is. A dialect of somebody else's engine is one more implementation.

mod normalize;
mod mysql;
mod construct;
mod spellings;

use std::fmt;

pub use construct::{Construct, Spelling};
pub use mysql::MySql;

use crate::engine::Version;
use crate::outcome::{Row, StatementResult};
use crate::sql::StatementKind;
use crate::value::Value;

/// The language of an engine.
pub trait Dialect: Sync + fmt::Debug {
    /// The dialect's name.
    fn name(&self) -> &'static str;

    /// Appends the value as a literal of this dialect.
    fn push_literal(&self, value: &Value, sql: &mut String);

    /// The value as a literal of this dialect.
    fn literal(&self, value: &Value) -> String {
        let mut sql = String::new();
        self.push_literal(value, &mut sql);
        sql
    }

    /// What a cell means: the engine's type name and the bytes that came over the wire. A pure function, applied only
    /// when outcomes are compared or shown. A type that is not known is text.
    fn normalize(&self, type_name: &str, bytes: &[u8]) -> Value;

    /// How a version of the engine writes a part of the language; `None` if it lacks it. What is generated for an engine
    /// whose dialect does not say so uses only what every engine has.
    fn spelling(&self, _construct: Construct, _version: &Version) -> Option<Spelling> {
        None
    }

    /// The statement that opens a transaction.
    fn begin(&self) -> &'static str {
        "BEGIN"
    }

    /// Where `SET TRANSACTION ISOLATION LEVEL` stands.
    fn level_place(&self) -> LevelPlace {
        LevelPlace::Before
    }

    /// True if an UPDATE reports the rows whose values it has changed, not those that it has found.
    fn counts_changed_rows(&self) -> bool {
        false
    }

    /// What a statement does to its transaction.
    fn kind(&self, sql: &str) -> StatementKind {
        StatementKind::of(sql)
    }

    /// A result's rows as values, in the order in which they came.
    fn values(&self, result: &StatementResult) -> Vec<Vec<Value>> {
        let row =
            |row: &Row| row.iter().enumerate().map(|(at, cell)| self.value(result, at, cell.as_deref())).collect();
        result.rows.iter().map(row).collect()
    }

    /// A cell of that column of a result as a value.
    fn value(&self, result: &StatementResult, column: usize, cell: Option<&[u8]>) -> Value {
        match cell {
            None => Value::Null,
            Some(bytes) => self.normalize(result.columns.get(column).map_or("", |column| &column.type_name), bytes),
        }
    }
}

/// Where a dialect wants to hear the isolation level of one transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelPlace {
    /// Before the statement that begins it, as the SQL standard has it.
    Before,
    /// After it, before the first query.
    Inside,
    /// There is no such statement.
    Nowhere,
}

/// SQLite's language. Cells carry the storage class of each value in their first byte (`i`, `r`, `t`, `b`).
#[derive(Debug)]
pub struct Sqlite;

/// SQLite's language with `FOR UPDATE` and `FOR SHARE`: that of `model`.
#[derive(Debug)]
pub struct LockingSqlite;

/// SQLite's language as that of `replicas`: foreign keys are not enforced, nothing is locked, and a table needs a primary
/// key. Queries may say `FOR UPDATE` all the same.
#[derive(Debug)]
pub struct ReplicatedSqlite;

/// PostgreSQL's language; cells are in text format.
#[derive(Debug)]
pub struct Postgres;

/// H2's language; cells come as PostgreSQL's, since that is whose protocol it speaks.
#[derive(Debug)]
pub struct H2;

impl Dialect for Sqlite {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn push_literal(&self, value: &Value, sql: &mut String) {
        match value {
            // SQLite has no U& strings; a line break stands for itself in a string.
            Value::Text(text) => push_quoted(text, b"'", sql),
            other => other.push_to(sql),
        }
    }

    fn normalize(&self, type_name: &str, bytes: &[u8]) -> Value {
        normalize::sqlite(type_name, bytes)
    }

    fn level_place(&self) -> LevelPlace {
        LevelPlace::Nowhere
    }

    fn spelling(&self, construct: Construct, version: &Version) -> Option<Spelling> {
        spellings::find(spellings::SQLITE, construct, version)
    }
}

impl Dialect for LockingSqlite {
    fn name(&self) -> &'static str {
        Sqlite.name()
    }

    fn push_literal(&self, value: &Value, sql: &mut String) {
        Sqlite.push_literal(value, sql);
    }

    fn normalize(&self, type_name: &str, bytes: &[u8]) -> Value {
        Sqlite.normalize(type_name, bytes)
    }

    fn level_place(&self) -> LevelPlace {
        Sqlite.level_place()
    }

    fn spelling(&self, construct: Construct, version: &Version) -> Option<Spelling> {
        spellings::find(spellings::LOCKING, construct, version).or_else(|| Sqlite.spelling(construct, version))
    }
}

impl Dialect for ReplicatedSqlite {
    fn name(&self) -> &'static str {
        Sqlite.name()
    }

    fn push_literal(&self, value: &Value, sql: &mut String) {
        Sqlite.push_literal(value, sql);
    }

    fn normalize(&self, type_name: &str, bytes: &[u8]) -> Value {
        Sqlite.normalize(type_name, bytes)
    }

    fn level_place(&self) -> LevelPlace {
        Sqlite.level_place()
    }

    fn spelling(&self, construct: Construct, version: &Version) -> Option<Spelling> {
        if construct == Construct::ForeignKey { None } else { Sqlite.spelling(construct, version) }
    }
}

impl Dialect for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn push_literal(&self, value: &Value, sql: &mut String) {
        match value {
            Value::Text(text) => push_quoted(text, b"'", sql),
            // X'…' is a bit string to PostgreSQL.
            Value::Bytes(bytes) => {
                let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                sql.push_str(&format!("'\\x{hex}'::bytea"));
            }
            other => other.push_to(sql),
        }
    }

    fn normalize(&self, type_name: &str, bytes: &[u8]) -> Value {
        normalize::postgres(type_name, bytes)
    }

    fn level_place(&self) -> LevelPlace {
        LevelPlace::Inside
    }

    fn spelling(&self, construct: Construct, version: &Version) -> Option<Spelling> {
        spellings::find(spellings::POSTGRES, construct, version)
    }
}

impl Dialect for H2 {
    fn name(&self) -> &'static str {
        "h2"
    }

    fn push_literal(&self, value: &Value, sql: &mut String) {
        match value {
            Value::Text(text) => push_quoted(text, b"'", sql),
            other => other.push_to(sql),
        }
    }

    fn normalize(&self, type_name: &str, bytes: &[u8]) -> Value {
        normalize::postgres(type_name, bytes)
    }

    fn spelling(&self, construct: Construct, version: &Version) -> Option<Spelling> {
        spellings::find(spellings::H2, construct, version)
    }
}

/// Appends text in quotes; each of the bytes `doubled`, which are ASCII, is written twice.
fn push_quoted(text: &str, doubled: &[u8], sql: &mut String) {
    sql.push('\'');
    let mut copied = 0;
    for (at, _) in text.bytes().enumerate().filter(|(_, byte)| doubled.contains(byte)) {
        sql.push_str(&text[copied..=at]);
        copied = at;
    }
    sql.push_str(&text[copied..]);
    sql.push('\'');
}
