//! SQLite, as it is built in.

use super::super::Construct as C;
use super::{Line, line, meaning};

/// SQLite types values, not columns. DATE, TIME and TIMESTAMP are names for columns that take anything: they hold the
/// texts that they are given, which compare and sort as dates do as long as nobody calculates. So SQLite has these
/// types, in a sense that no other engine shares. DECIMAL is a floating-point number.
pub(in super::super) const SQLITE: &[Line] = &[
    line(C::SmallInt, "SMALLINT"),
    line(C::Int, "INT"),
    line(C::BigInt, "BIGINT"),
    meaning(C::Decimal, "DECIMAL", "a float"),
    line(C::Double, "DOUBLE PRECISION"),
    line(C::Varchar, "VARCHAR"),
    meaning(C::Char, "CHAR", "never padded"),
    line(C::Text, "TEXT"),
    meaning(C::Date, "DATE", "a text"),
    meaning(C::Time, "TIME", "a text"),
    meaning(C::Timestamp, "TIMESTAMP", "a text"),
    line(C::Blob, "BLOB"),
    line(C::BytesLiteral, "X'"),
    meaning(C::Boolean, "BOOLEAN", "a number"),
    line(C::AutoIncrement, "INTEGER PRIMARY KEY AUTOINCREMENT"),
    meaning(C::Bounds, "", "none"),
    line(C::Check, "CHECK"),
    line(C::ForeignKey, "FOREIGN KEY"),
    line(C::Keyless, ""),
    line(C::InsertIgnore, "INSERT OR IGNORE INTO"),
    line(C::OnConflictDoNothing, "ON CONFLICT DO NOTHING"),
    line(C::OnConflictDoUpdate, "ON CONFLICT"),
    meaning(C::Replace, "REPLACE INTO", "counts new rows"),
    line(C::NullSafeEqual, "IS NOT DISTINCT FROM"),
    line(C::IntegerDivision, "/"),
    line(C::Remainder, "%"),
    // PostgreSQL compares bytes, too, but its LIKE tells case apart.
    meaning(C::TextComparison, "=", "bytes, but not in LIKE"),
    line(C::ConcatOperator, "||"),
    meaning(C::Concat, "CONCAT", "NULL is empty"),
    line(C::Like, "LIKE"),
    line(C::CharLength, "LENGTH"),
    meaning(C::Upper, "UPPER", "bytes, but not in LIKE"),
    line(C::Lower, "LOWER"),
    line(C::Substring, "SUBSTR"),
    line(C::Trim, "TRIM"),
    line(C::Abs, "ABS"),
    meaning(C::Round, "ROUND", "halves away from 0, also of floats"),
    line(C::Sign, "SIGN"),
    line(C::Coalesce, "COALESCE"),
    line(C::NullIf, "NULLIF"),
    meaning(C::Greatest, "MAX", "NULL wins"),
    meaning(C::Least, "MIN", "NULL wins"),
    meaning(C::OrderOfNulls, "ORDER BY", "first"),
    meaning(C::TruthValue, "", "a number"),
    meaning(C::CastToInteger, "INTEGER", "cuts off"),
    meaning(C::CastToText, "TEXT", "as stored"),
    line(C::FullJoin, "FULL OUTER JOIN"),
    line(C::With, "WITH"),
    line(C::Window, "OVER"),
    line(C::Except, "EXCEPT"),
    line(C::Intersect, "INTERSECT"),
    line(C::SelfSubquery, ""),
];

/// What `model` adds.
pub(in super::super) const LOCKING: &[Line] = &[line(C::ForShare, "FOR SHARE"), line(C::ForUpdate, "FOR UPDATE")];
