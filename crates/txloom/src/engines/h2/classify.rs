//! From H2's codes to the classes of errors that all engines share.

use txloom_core::outcome::ErrorClass;

/// What an error of this code means. Codes that PostgreSQL has as well mean the same, but for these.
pub(super) fn classify(code: &str, message: &str) -> Option<ErrorClass> {
    Some(match code {
        // One code for two things.
        "40001" if message.starts_with("Deadlock") => ErrorClass::Deadlock,
        // A row changed since the snapshot.
        "90131" => ErrorClass::SerializationFailure,
        "HYT00" => ErrorClass::LockTimeout,
        "23506" => ErrorClass::ForeignKey,
        "23513" => ErrorClass::Check,
        "42000" | "42001" => ErrorClass::Syntax,
        "42S02" | "42S22" | "42S32" | "90022" | "90079" => ErrorClass::UnknownObject,
        // The database, or its connection, is being closed.
        "90098" | "90121" | "90067" => ErrorClass::ConnectionLost,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_their_class() {
        assert_eq!(classify("40001", "Deadlock detected. The current transaction …"), Some(ErrorClass::Deadlock));
        assert_eq!(classify("90131", "Concurrent update in table \"T\""), Some(ErrorClass::SerializationFailure));
        assert_eq!(classify("HYT00", "Timeout trying to lock table \"T\""), Some(ErrorClass::LockTimeout));
        assert_eq!(classify("23505", "Unique index or primary key violation"), None);
    }
}
