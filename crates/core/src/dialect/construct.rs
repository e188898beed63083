//! Parts of the SQL language that engines have or lack, and spell in their own ways.

/// A part of the language that not every engine has, or that engines spell or mean differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Construct {
    /// The type of whole numbers of 16 bits.
    SmallInt,
    /// The type of whole numbers.
    Int,
    /// The type of large whole numbers.
    BigInt,
    /// The type of numbers with a fixed number of decimals; its spelling ends before the parentheses.
    Decimal,
    /// The type of floating-point numbers.
    Double,
    /// The type of short texts; its spelling ends before the parentheses.
    Varchar,
    /// The type of padded texts; its spelling ends before the parentheses.
    Char,
    /// The type of long texts.
    Text,
    /// The type of days.
    Date,
    /// The type of times of the day.
    Time,
    /// The type of days with a time.
    Timestamp,
    /// The type of byte strings.
    Blob,
    /// A literal of bytes: what stands before the hexadecimal digits; a quote stands after them.
    BytesLiteral,
    /// The type of truth values.
    Boolean,
    /// The definition of a primary key whose values the server hands out: all that follows the column's name.
    AutoIncrement,
    /// What happens to a value beyond the bounds of its type: texts that are too long, numbers that are too large.
    Bounds,
    /// `DEFAULT` in the place of a value.
    DefaultKeyword,
    /// CHECK constraints that are enforced.
    Check,
    /// Foreign keys that are enforced.
    ForeignKey,
    /// Tables without a primary key; not written at all.
    Keyless,
    /// The end of a query that locks what it reads, for others to read but not to write. The query has one table, and
    /// neither DISTINCT nor groups nor set operations.
    ForShare,
    /// The end of a query that locks what it reads; the same kind of query.
    ForUpdate,
    /// The beginning of an INSERT that leaves out rows that violate a key.
    InsertIgnore,
    /// The end of an INSERT that leaves out rows that violate a key.
    OnConflictDoNothing,
    /// `ON CONFLICT (…) DO UPDATE SET …`: the spelling of what stands before the columns of the key.
    OnConflictDoUpdate,
    /// `ON DUPLICATE KEY UPDATE …`.
    OnDuplicateKeyUpdate,
    /// The beginning of an INSERT that replaces rows with the same key.
    Replace,
    /// Comparison in which NULL equals NULL.
    NullSafeEqual,
    /// The operator for the division of a whole number by one that is not 0; the result is cut off.
    IntegerDivision,
    /// The operator for the remainder of such a division.
    Remainder,
    /// What comparisons of texts make of case, and of blanks at the end. Texts of small letters and digits compare the
    /// same everywhere: that needs no permission. Where this is not shared, no others are generated.
    TextComparison,
    /// Texts put together by an operator.
    ConcatOperator,
    /// Texts put together by a function.
    Concat,
    /// `LIKE`, for texts and patterns that compare the same everywhere (see [`Construct::TextComparison`]).
    Like,
    /// The length of an ASCII text.
    CharLength,
    /// A text in capitals, which is what [`Construct::TextComparison`] is about.
    Upper,
    /// A text in small letters.
    Lower,
    /// A part of a text: `f(text, from, length)`, from at least 1, length at least 0.
    Substring,
    /// A text without blanks around it.
    Trim,
    /// The distance of a number from 0.
    Abs,
    /// The nearest whole number; `f(number)`.
    Round,
    /// The sign of a number.
    Sign,
    /// The first of its arguments that is not NULL.
    Coalesce,
    /// NULL if both arguments are equal.
    NullIf,
    /// The largest of its arguments.
    Greatest,
    /// The smallest of its arguments.
    Least,
    /// The place of NULL among other values in an ascending order.
    OrderOfNulls,
    /// A truth value where a value is asked for: `SELECT a = b`, and what it looks like.
    TruthValue,
    /// A CAST to a whole number; the spelling of the type.
    CastToInteger,
    /// A CAST to a text; the spelling of the type.
    CastToText,
    /// `FULL OUTER JOIN`, for conditions that are an equality of columns.
    FullJoin,
    /// Common table expressions.
    With,
    /// Window functions.
    Window,
    /// The rows of one query that are not rows of another, each once. The others, UNION and UNION ALL, are known to all.
    Except,
    /// The rows that two queries have in common, each once.
    Intersect,
    /// `UPDATE t … WHERE … IN (SELECT … FROM t)`: the written table in a subquery of an UPDATE or a DELETE.
    SelfSubquery,
    /// `LIMIT` in an UPDATE or a DELETE, after an `ORDER BY`.
    LimitedWrite,
}

impl Construct {
    /// All of them.
    #[rustfmt::skip]
    pub const ALL: &[Construct] = &[
        Construct::SmallInt, Construct::Int, Construct::BigInt, Construct::Decimal, Construct::Double,
        Construct::Varchar, Construct::Char, Construct::Text, Construct::Date, Construct::Time, Construct::Timestamp,
        Construct::Blob, Construct::BytesLiteral, Construct::Boolean, Construct::AutoIncrement, Construct::Bounds,
        Construct::DefaultKeyword, Construct::Check, Construct::ForeignKey, Construct::Keyless, Construct::ForShare,
        Construct::ForUpdate, Construct::InsertIgnore, Construct::OnConflictDoNothing, Construct::OnConflictDoUpdate,
        Construct::OnDuplicateKeyUpdate, Construct::Replace, Construct::NullSafeEqual, Construct::IntegerDivision,
        Construct::Remainder, Construct::TextComparison, Construct::ConcatOperator, Construct::Concat,
        Construct::Like, Construct::CharLength, Construct::Upper, Construct::Lower, Construct::Substring,
        Construct::Trim, Construct::Abs, Construct::Round, Construct::Sign, Construct::Coalesce, Construct::NullIf,
        Construct::Greatest, Construct::Least, Construct::OrderOfNulls, Construct::TruthValue,
        Construct::CastToInteger, Construct::CastToText, Construct::FullJoin, Construct::With, Construct::Window,
        Construct::Except, Construct::Intersect, Construct::SelfSubquery, Construct::LimitedWrite,
    ];
}

/// How an engine writes a construct, and what it means by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spelling {
    /// The text.
    pub text: &'static str,
    /// What tells this meaning apart from that of other engines that write the same; empty where there is no doubt.
    pub sense: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_listed_once_in_their_order() {
        assert!(Construct::ALL.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(Construct::ALL.last(), Some(&Construct::LimitedWrite), "the last one of the enumeration");
        assert_eq!(Construct::ALL.len(), Construct::LimitedWrite as usize + 1);
    }
}
