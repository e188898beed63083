//! H2, from version 2 on: what storms need. Its meanings have not been compared with those of others.

use super::super::Construct as C;
use super::{Line, line, meaning};

pub(in super::super) const H2: &[Line] = &[
    line(C::SmallInt, "SMALLINT"),
    line(C::Int, "INT"),
    line(C::BigInt, "BIGINT"),
    line(C::Decimal, "DECIMAL"),
    line(C::Double, "DOUBLE PRECISION"),
    line(C::Varchar, "VARCHAR"),
    // TEXT would be a large object, which comes over the wire as something else.
    line(C::Text, "VARCHAR"),
    line(C::Date, "DATE"),
    line(C::Time, "TIME"),
    line(C::Timestamp, "TIMESTAMP"),
    meaning(C::Boolean, "BOOLEAN", "a type"),
    line(C::DefaultKeyword, "DEFAULT"),
    line(C::Check, "CHECK"),
    line(C::ForeignKey, "FOREIGN KEY"),
    line(C::Keyless, ""),
    line(C::ForUpdate, "FOR UPDATE"),
    line(C::ConcatOperator, "||"),
];
