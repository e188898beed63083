//! The errors that are the model's own.

use txloom_core::outcome::{DbError, ErrorClass};

fn own(class: ErrorClass, code: &str, message: String) -> DbError {
    DbError { class, code: code.to_string(), native: None, message, detail: None }
}

/// Waiting would have closed a cycle.
pub(super) fn deadlock() -> DbError {
    let message = "deadlock: the transactions that hold the locks wait for this one; it has been rolled back";
    own(ErrorClass::Deadlock, "MODEL_DEADLOCK", message.to_string())
}

/// The isolation level could not be kept.
pub(super) fn serialization_failure(reason: &str) -> DbError {
    let message = format!("could not serialize access: {reason}");
    own(ErrorClass::SerializationFailure, "MODEL_SERIALIZATION_FAILURE", message)
}

/// The model does not have what the statement asks for.
pub(super) fn unsupported(what: &str) -> DbError {
    own(ErrorClass::Other, "MODEL_UNSUPPORTED", format!("the model does not support {what}"))
}

/// The statement is not in the model's language.
pub(super) fn syntax(message: &str) -> DbError {
    own(ErrorClass::Syntax, "MODEL_SYNTAX", message.to_string())
}

/// A foreign key that the changes of two transactions violate together.
pub(super) fn foreign_key(child: &str, parent: &str) -> DbError {
    DbError {
        native: Some(i64::from(rusqlite::ffi::SQLITE_CONSTRAINT_FOREIGNKEY)),
        detail: Some(format!("a row of {child} has no counterpart in {parent}")),
        ..own(ErrorClass::ForeignKey, "SQLITE_CONSTRAINT_FOREIGNKEY", "FOREIGN KEY constraint failed".to_string())
    }
}
