//! From SQLSTATE to the classes of errors that all engines share.

use txloom_core::outcome::ErrorClass;

/// What an error of this SQLSTATE means.
pub(super) fn classify(sqlstate: &str) -> ErrorClass {
    match sqlstate {
        "40P01" => ErrorClass::Deadlock,
        "40001" => ErrorClass::SerializationFailure,
        "55P03" => ErrorClass::LockTimeout,
        "23505" => ErrorClass::Unique,
        "23503" | "23001" => ErrorClass::ForeignKey,
        "23514" | "23P01" => ErrorClass::Check,
        "23502" => ErrorClass::NotNull,
        // Numeric value or interval out of range; string too long for its type.
        "22003" | "22015" | "22001" => ErrorClass::OutOfRange,
        // Invalid text, binary, datetime, character or JSON representation; types that do not match or convert.
        "22P02" | "22P03" | "22007" | "22008" | "22018" | "22021" | "22P05" | "22032" | "42804" | "42846" => {
            ErrorClass::Conversion
        }
        "22012" => ErrorClass::DivisionByZero,
        "42601" => ErrorClass::Syntax,
        // Table, column, function, parameter, object, schema, database, cursor, prepared statement, savepoint.
        "42P01" | "42703" | "42883" | "42P02" | "42704" | "3F000" | "3D000" | "34000" | "26000" | "3B001" => {
            ErrorClass::UnknownObject
        }
        "25P02" => ErrorClass::TransactionAborted,
        "53100" => ErrorClass::DiskFull,
        "57014" => ErrorClass::Cancelled,
        "57P01" | "57P02" | "57P03" | "57P04" | "57P05" | "25P03" | "25P04" => ErrorClass::ConnectionLost,
        other if other.starts_with("08") => ErrorClass::ConnectionLost,
        _ => ErrorClass::Other,
    }
}
