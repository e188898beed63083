//! What an error number means.

use txloom_core::outcome::ErrorClass;

/// The class of an error, by its number. The numbers are the same in MySQL and MariaDB, except for newer errors.
pub(super) fn classify(errno: u16) -> ErrorClass {
    match errno {
        // In InnoDB; in an XA transaction; among locks of GET_LOCK.
        1213 | 1614 | 3058 => ErrorClass::Deadlock,
        // "Record has changed since last read": the write of a row that changed after the snapshot. TiDB's write conflict.
        1020 | 9007 => ErrorClass::SerializationFailure,
        // 3572 is MySQL's NOWAIT; MariaDB's is 1205.
        1205 | 1613 | 3572 => ErrorClass::LockTimeout,
        1022 | 1062 | 1169 | 1586 | 1761 | 1762 | 1859 => ErrorClass::Unique,
        1216 | 1217 | 1451 | 1452 | 1701 => ErrorClass::ForeignKey,
        3819 | 4025 => ErrorClass::Check,
        1048 | 1263 | 1364 => ErrorClass::NotNull,
        1264 | 1406 | 1441 | 1690 => ErrorClass::OutOfRange,
        1265 | 1292 | 1366 | 1367 | 1411 | 1416 | 1525 | 1918 | 3140 | 3156 => ErrorClass::Conversion,
        1365 => ErrorClass::DivisionByZero,
        1064 | 1065 | 1136 | 1149 | 1222 | 1241 => ErrorClass::Syntax,
        1046 | 1049 | 1051 | 1054 | 1072 | 1091 | 1109 | 1115 | 1128 | 1146 | 1176 | 1193 => ErrorClass::UnknownObject,
        1273 | 1286 | 1305 | 1327 | 1360 | 1477 | 1539 | 1630 | 4091 => ErrorClass::UnknownObject,
        // "Disk full"; "the table is full", which InnoDB says of a file that cannot grow.
        1021 | 1114 => ErrorClass::DiskFull,
        1028 | 1317 | 1969 | 3024 => ErrorClass::Cancelled,
        1053 | 1077 | 1079 | 1152 | 1158..=1161 | 1184 | 1927 | 2006 | 2013 | 3169 | 4031 => ErrorClass::ConnectionLost,
        _ => ErrorClass::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_their_class() {
        for (errno, class) in [
            (1213, ErrorClass::Deadlock),
            (1020, ErrorClass::SerializationFailure),
            (1205, ErrorClass::LockTimeout),
            (1062, ErrorClass::Unique),
            (1452, ErrorClass::ForeignKey),
            (4025, ErrorClass::Check),
            (3819, ErrorClass::Check),
            (1048, ErrorClass::NotNull),
            (1264, ErrorClass::OutOfRange),
            (1366, ErrorClass::Conversion),
            (1365, ErrorClass::DivisionByZero),
            (1064, ErrorClass::Syntax),
            (1146, ErrorClass::UnknownObject),
            (1114, ErrorClass::DiskFull),
            (1317, ErrorClass::Cancelled),
            (1927, ErrorClass::ConnectionLost),
            (1040, ErrorClass::Other),
        ] {
            assert_eq!(classify(errno), class, "{errno}");
        }
    }
}
