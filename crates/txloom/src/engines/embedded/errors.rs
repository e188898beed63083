//! What SQLite's errors mean.
//!
//! SQLite's extended result codes name most causes. Its generic code 1 covers the rest, from syntax errors to integer
//! overflow; these are told apart by the message, which SQLite has kept stable for decades.

use rusqlite::{Error, ffi};
use txloom_core::outcome::{DbError, ErrorClass};

/// The names of the extended codes that a statement can meet; others go by the name of their primary code.
const NAMES: &[(i32, &str)] = &[
    (ffi::SQLITE_CONSTRAINT_CHECK, "SQLITE_CONSTRAINT_CHECK"),
    (ffi::SQLITE_CONSTRAINT_DATATYPE, "SQLITE_CONSTRAINT_DATATYPE"),
    (ffi::SQLITE_CONSTRAINT_FOREIGNKEY, "SQLITE_CONSTRAINT_FOREIGNKEY"),
    (ffi::SQLITE_CONSTRAINT_NOTNULL, "SQLITE_CONSTRAINT_NOTNULL"),
    (ffi::SQLITE_CONSTRAINT_PRIMARYKEY, "SQLITE_CONSTRAINT_PRIMARYKEY"),
    (ffi::SQLITE_CONSTRAINT_ROWID, "SQLITE_CONSTRAINT_ROWID"),
    (ffi::SQLITE_CONSTRAINT_TRIGGER, "SQLITE_CONSTRAINT_TRIGGER"),
    (ffi::SQLITE_CONSTRAINT_UNIQUE, "SQLITE_CONSTRAINT_UNIQUE"),
    (ffi::SQLITE_BUSY_SNAPSHOT, "SQLITE_BUSY_SNAPSHOT"),
    (ffi::SQLITE_BUSY_RECOVERY, "SQLITE_BUSY_RECOVERY"),
    (ffi::SQLITE_ERROR, "SQLITE_ERROR"),
    (ffi::SQLITE_INTERNAL, "SQLITE_INTERNAL"),
    (ffi::SQLITE_PERM, "SQLITE_PERM"),
    (ffi::SQLITE_ABORT, "SQLITE_ABORT"),
    (ffi::SQLITE_BUSY, "SQLITE_BUSY"),
    (ffi::SQLITE_LOCKED, "SQLITE_LOCKED"),
    (ffi::SQLITE_NOMEM, "SQLITE_NOMEM"),
    (ffi::SQLITE_READONLY, "SQLITE_READONLY"),
    (ffi::SQLITE_INTERRUPT, "SQLITE_INTERRUPT"),
    (ffi::SQLITE_IOERR, "SQLITE_IOERR"),
    (ffi::SQLITE_CORRUPT, "SQLITE_CORRUPT"),
    (ffi::SQLITE_FULL, "SQLITE_FULL"),
    (ffi::SQLITE_CANTOPEN, "SQLITE_CANTOPEN"),
    (ffi::SQLITE_SCHEMA, "SQLITE_SCHEMA"),
    (ffi::SQLITE_TOOBIG, "SQLITE_TOOBIG"),
    (ffi::SQLITE_CONSTRAINT, "SQLITE_CONSTRAINT"),
    (ffi::SQLITE_MISMATCH, "SQLITE_MISMATCH"),
    (ffi::SQLITE_MISUSE, "SQLITE_MISUSE"),
    (ffi::SQLITE_AUTH, "SQLITE_AUTH"),
    (ffi::SQLITE_RANGE, "SQLITE_RANGE"),
    (ffi::SQLITE_NOTADB, "SQLITE_NOTADB"),
];

/// Beginnings of messages that say that something does not exist.
const UNKNOWN_OBJECT: &[&str] = &["no such ", "unknown database", "unknown function"];

/// Parts of messages that say that a statement is not well formed: what PostgreSQL calls a syntax error, too.
const SYNTAX: &[&str] = &[
    "syntax error",
    "incomplete input",
    "unrecognized token",
    " values were supplied",
    " values for ",
    " columns assigned ",
];

/// What SQLite said, as data. `None` if the error is not SQLite's but ours.
pub(crate) fn db_error(error: &Error) -> Option<DbError> {
    let (code, message) = match error {
        Error::SqliteFailure(failure, message) => {
            (failure.extended_code, message.clone().unwrap_or_else(|| failure.to_string()))
        }
        Error::SqlInputError { error, msg, .. } => (error.extended_code, msg.clone()),
        // A zero byte in the text: for SQLite, too, such a text is no statement.
        Error::NulError(_) => (ffi::SQLITE_ERROR, "unrecognized token: a zero byte".to_string()),
        _ => return None,
    };
    let name = |code: i32| NAMES.iter().find(|(known, _)| *known == code).map(|(_, name)| *name);
    Some(DbError {
        class: class(code, &message),
        code: name(code).or_else(|| name(code & 0xff)).unwrap_or("SQLITE_ERROR").to_string(),
        native: Some(i64::from(code)),
        message,
        detail: None,
    })
}

/// Whether a lock that somebody else holds is in the way. (A snapshot that is too old is another matter.)
pub(crate) fn is_busy(error: &DbError) -> bool {
    error.native.is_some_and(|code| code & 0xff == i64::from(ffi::SQLITE_BUSY))
        && error.class != ErrorClass::SerializationFailure
}

/// The answer to a statement that was cancelled while it waited, or before it began.
pub(crate) fn cancelled() -> DbError {
    DbError {
        class: ErrorClass::Cancelled,
        code: "SQLITE_INTERRUPT".to_string(),
        native: Some(i64::from(ffi::SQLITE_INTERRUPT)),
        message: "interrupted".to_string(),
        detail: None,
    }
}

/// What SQLite says to a statement that does not fit the transaction's state.
pub(crate) fn out_of_place(message: &str) -> DbError {
    let (code, message) = ("SQLITE_ERROR".to_string(), message.to_string());
    DbError { class: ErrorClass::Other, code, native: Some(1), message, detail: None }
}

/// What SQLite says to the name of a savepoint that does not exist.
pub(crate) fn no_such_savepoint(name: &str) -> DbError {
    DbError { class: ErrorClass::UnknownObject, ..out_of_place(&format!("no such savepoint: {name}")) }
}

fn class(code: i32, message: &str) -> ErrorClass {
    match code {
        ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_ROWID => {
            ErrorClass::Unique
        }
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => ErrorClass::ForeignKey,
        // The action RESTRICT is a trigger inside SQLite, and its error comes with a trigger's code.
        ffi::SQLITE_CONSTRAINT_TRIGGER if message == "FOREIGN KEY constraint failed" => ErrorClass::ForeignKey,
        ffi::SQLITE_CONSTRAINT_CHECK => ErrorClass::Check,
        ffi::SQLITE_CONSTRAINT_NOTNULL => ErrorClass::NotNull,
        ffi::SQLITE_CONSTRAINT_DATATYPE | ffi::SQLITE_MISMATCH => ErrorClass::Conversion,
        ffi::SQLITE_BUSY_SNAPSHOT => ErrorClass::SerializationFailure,
        ffi::SQLITE_TOOBIG => ErrorClass::OutOfRange,
        ffi::SQLITE_INTERRUPT => ErrorClass::Cancelled,
        ffi::SQLITE_FULL => ErrorClass::DiskFull,
        ffi::SQLITE_ERROR => class_of_message(message),
        _ if matches!(code & 0xff, ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED) => ErrorClass::LockTimeout,
        _ => ErrorClass::Other,
    }
}

fn class_of_message(message: &str) -> ErrorClass {
    let has = |part: &str| message.contains(part);
    if UNKNOWN_OBJECT.iter().any(|start| message.starts_with(start)) || has(" has no column named ") {
        ErrorClass::UnknownObject
    } else if SYNTAX.iter().any(|part| has(part)) {
        ErrorClass::Syntax
    } else if has("integer overflow") {
        ErrorClass::OutOfRange
    } else if has("malformed JSON") {
        ErrorClass::Conversion
    } else {
        ErrorClass::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::embedded::run::run;
    use rusqlite::Connection;

    #[test]
    fn errors_are_classified() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE p (id INTEGER PRIMARY KEY);
                 CREATE TABLE t (id INT PRIMARY KEY, u INT UNIQUE, c INT CHECK (c > 0), n INT NOT NULL DEFAULT 0,
                                 f INT REFERENCES p, r INT REFERENCES p ON DELETE RESTRICT);
                 CREATE TABLE s (a INT) STRICT;
                 INSERT INTO p VALUES (1), (2); INSERT INTO t (id, u, f, r) VALUES (1, 1, 1, 2);",
            )
            .unwrap();
        let check = |sql: &str, class: ErrorClass, code: &str| {
            let error = db_error(&run(&connection, sql).unwrap_err()).unwrap();
            assert_eq!((error.class, error.code.as_str()), (class, code), "{sql}: {}", error.message);
        };
        check("INSERT INTO t (id) VALUES (1)", ErrorClass::Unique, "SQLITE_CONSTRAINT_PRIMARYKEY");
        check("INSERT INTO t (id, u) VALUES (2, 1)", ErrorClass::Unique, "SQLITE_CONSTRAINT_UNIQUE");
        check("INSERT INTO p VALUES (1)", ErrorClass::Unique, "SQLITE_CONSTRAINT_PRIMARYKEY");
        check("INSERT INTO t (id, c) VALUES (2, 0)", ErrorClass::Check, "SQLITE_CONSTRAINT_CHECK");
        check("INSERT INTO t (id, n) VALUES (2, NULL)", ErrorClass::NotNull, "SQLITE_CONSTRAINT_NOTNULL");
        check("INSERT INTO t (id, f) VALUES (2, 9)", ErrorClass::ForeignKey, "SQLITE_CONSTRAINT_FOREIGNKEY");
        check("DELETE FROM p WHERE id = 2", ErrorClass::ForeignKey, "SQLITE_CONSTRAINT_TRIGGER");
        check("INSERT INTO s VALUES ('x')", ErrorClass::Conversion, "SQLITE_CONSTRAINT_DATATYPE");
        check("INSERT INTO p VALUES ('x')", ErrorClass::Conversion, "SQLITE_MISMATCH");
        check("SELECT json('{')", ErrorClass::Conversion, "SQLITE_ERROR");
        check(
            "SELECT sum(x) FROM (SELECT 9223372036854775807 x UNION ALL SELECT 1)",
            ErrorClass::OutOfRange,
            "SQLITE_ERROR",
        );
        check("SELECT zeroblob(2000000000)", ErrorClass::OutOfRange, "SQLITE_TOOBIG");
        check("SELEKT", ErrorClass::Syntax, "SQLITE_ERROR");
        check("SELECT", ErrorClass::Syntax, "SQLITE_ERROR");
        check("SELECT 'x", ErrorClass::Syntax, "SQLITE_ERROR");
        check("SELECT \0", ErrorClass::Syntax, "SQLITE_ERROR");
        check("SELECT * FROM missing", ErrorClass::UnknownObject, "SQLITE_ERROR");
        check("SELECT missing FROM t", ErrorClass::UnknownObject, "SQLITE_ERROR");
        check("SELECT missing()", ErrorClass::UnknownObject, "SQLITE_ERROR");
        check("INSERT INTO t (missing) VALUES (1)", ErrorClass::UnknownObject, "SQLITE_ERROR");
        check("DROP TABLE missing", ErrorClass::UnknownObject, "SQLITE_ERROR");
        check("COMMIT", ErrorClass::Other, "SQLITE_ERROR");
    }
}
