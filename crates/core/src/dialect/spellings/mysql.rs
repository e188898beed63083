//! MySQL and MariaDB, with the settings that they come with.

use super::super::Construct as C;
use super::{Line, line, meaning};

/// Since when `sql_mode` is strict: values that do not fit are refused, and not clipped.
const STRICT_MYSQL: &[u32] = &[5, 7, 5];
const STRICT_MARIADB: &[u32] = &[10, 2, 4];

/// TIMESTAMP would be one with a time zone, and a date after 2038 does not fit: DATETIME is what others call TIMESTAMP.
/// `||` is OR. FOR SHARE is unknown to MariaDB, and both understand what it was called before.
pub(in super::super) const MYSQL: &[Line] = &[
    line(C::SmallInt, "SMALLINT"),
    line(C::Int, "INT"),
    line(C::BigInt, "BIGINT"),
    line(C::Decimal, "DECIMAL"),
    line(C::Double, "DOUBLE PRECISION"),
    line(C::Varchar, "VARCHAR"),
    meaning(C::Char, "CHAR", "stripped when read"),
    line(C::Text, "TEXT"),
    line(C::Date, "DATE"),
    line(C::Time, "TIME"),
    line(C::Timestamp, "DATETIME"),
    line(C::Blob, "BLOB"),
    line(C::BytesLiteral, "X'"),
    meaning(C::Boolean, "BOOLEAN", "a number"),
    line(C::AutoIncrement, "INT AUTO_INCREMENT PRIMARY KEY"),
    meaning(C::Bounds, "", "an error").since(STRICT_MYSQL, STRICT_MARIADB),
    meaning(C::Bounds, "", "clipped"),
    line(C::DefaultKeyword, "DEFAULT"),
    // Earlier versions read CHECK and forget it.
    line(C::Check, "CHECK").since(&[8, 0, 16], &[10, 2, 1]),
    line(C::ForeignKey, "FOREIGN KEY"),
    line(C::Keyless, ""),
    line(C::ForShare, "LOCK IN SHARE MODE"),
    line(C::ForUpdate, "FOR UPDATE"),
    line(C::InsertIgnore, "INSERT IGNORE INTO"),
    line(C::OnDuplicateKeyUpdate, "ON DUPLICATE KEY UPDATE"),
    meaning(C::Replace, "REPLACE INTO", "counts old rows, too"),
    line(C::NullSafeEqual, "<=>"),
    line(C::IntegerDivision, "DIV"),
    line(C::Remainder, "%"),
    meaning(C::TextComparison, "=", "uca1400_ai_ci").only_mariadb(&[11, 5]),
    meaning(C::TextComparison, "=", "0900_ai_ci").only_mysql(&[8]),
    meaning(C::TextComparison, "=", "general_ci"),
    meaning(C::Concat, "CONCAT", "NULL wins"),
    line(C::Like, "LIKE"),
    // Bytes, which are the characters of an ASCII text.
    line(C::CharLength, "LENGTH"),
    // The collations differ in blanks and accents, and agree on capitals.
    meaning(C::Upper, "UPPER", "case is ignored"),
    line(C::Lower, "LOWER"),
    line(C::Substring, "SUBSTR"),
    line(C::Trim, "TRIM"),
    line(C::Abs, "ABS"),
    meaning(C::Round, "ROUND", "halves of floats to the even number"),
    line(C::Sign, "SIGN"),
    line(C::Coalesce, "COALESCE"),
    line(C::NullIf, "NULLIF"),
    meaning(C::Greatest, "GREATEST", "NULL wins"),
    meaning(C::Least, "LEAST", "NULL wins"),
    meaning(C::OrderOfNulls, "ORDER BY", "first"),
    meaning(C::TruthValue, "", "a number"),
    line(C::CastToInteger, "SIGNED"),
    line(C::CastToText, "CHAR"),
    line(C::With, "WITH").since(&[8, 0, 1], &[10, 2, 1]),
    line(C::Window, "OVER").since(&[8, 0, 2], &[10, 2, 0]),
    line(C::Except, "EXCEPT").since(&[8, 0, 31], &[10, 3, 0]),
    line(C::Intersect, "INTERSECT").since(&[8, 0, 31], &[10, 3, 0]),
    // MySQL refuses to read a table that the statement writes (error 1093).
    line(C::SelfSubquery, "").only_mariadb(&[10, 3, 2]),
    line(C::LimitedWrite, "LIMIT"),
];
