//! The errors that are the replicas' own.

use rusqlite::ffi;
use txloom_core::outcome::{DbError, ErrorClass};

/// The replicas do not have what the statement asks for.
pub(super) fn unsupported(what: &str) -> DbError {
    DbError {
        class: ErrorClass::Other,
        code: "REPLICAS_UNSUPPORTED".to_string(),
        native: None,
        message: format!("replicas do not support {what}"),
        detail: None,
    }
}

/// A table whose rows cannot be recognised on another node.
pub(super) fn no_primary_key(table: &str) -> DbError {
    let message = format!(
        "{table} has no primary key and cannot be given one: all names of SQLite's rowid are names of its columns"
    );
    DbError { message, code: "REPLICAS_NO_PRIMARY_KEY".to_string(), ..unsupported("") }
}

/// A primary key with a NULL, which SQLite would let pass.
pub(super) fn null_in_key(table: &str) -> DbError {
    DbError {
        class: ErrorClass::NotNull,
        code: "SQLITE_CONSTRAINT_NOTNULL".to_string(),
        native: Some(i64::from(ffi::SQLITE_CONSTRAINT_NOTNULL)),
        message: format!("a replicated row needs a primary key without NULL: {table}"),
        detail: None,
    }
}

/// Another row of the node has the same key, in SQLite's words.
pub(super) fn not_unique(table: &str, columns: &[&str]) -> DbError {
    let columns: Vec<String> = columns.iter().map(|column| format!("{table}.{column}")).collect();
    DbError {
        class: ErrorClass::Unique,
        code: "SQLITE_CONSTRAINT_UNIQUE".to_string(),
        native: Some(i64::from(ffi::SQLITE_CONSTRAINT_UNIQUE)),
        message: format!("UNIQUE constraint failed: {}", columns.join(", ")),
        detail: None,
    }
}
