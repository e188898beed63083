//! Parts of the SQL language that engines have or lack, and spell in their own ways.

/// A part of the language that not every engine has, or that engines spell or mean differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Construct {
    /// The type of small whole numbers.
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
    /// The type of truth values.
    Boolean,
    /// What makes the server hand out a column's values.
    AutoIncrement,
    /// CHECK constraints that are enforced.
    Check,
    /// Foreign keys that are enforced.
    ForeignKey,
    /// A query that locks what it reads, for others to read but not to write.
    ForShare,
    /// A query that locks what it reads.
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
    /// Division whose result is a whole number where both sides are.
    IntegerDivision,
    /// The remainder of a division.
    Remainder,
    /// Comparison of texts that tells case apart.
    TextComparison,
    /// Texts put together by an operator.
    ConcatOperator,
    /// Texts put together by a function.
    Concat,
    /// `LIKE` that tells case apart.
    Like,
    /// The number of characters of a text.
    CharLength,
    /// A text in capitals.
    Upper,
    /// A text in small letters.
    Lower,
    /// A part of a text: `f(text, from, length)`.
    Substring,
    /// A text without blanks around it.
    Trim,
    /// The distance of a number from 0.
    Abs,
    /// The nearest whole number.
    Round,
    /// The sign of a number.
    Sign,
    /// The first of its arguments that is not NULL.
    Coalesce,
    /// NULL if both arguments are equal.
    NullIf,
    /// The largest of its arguments, NULL if one is NULL.
    Greatest,
    /// The smallest of its arguments, NULL if one is NULL.
    Least,
    /// A truth value where a value is asked for: `SELECT a = b`, and what it looks like.
    TruthValue,
    /// A CAST to a whole number; the spelling of the type.
    CastToInteger,
    /// A CAST to a text; the spelling of the type.
    CastToText,
    /// `FULL OUTER JOIN`.
    FullJoin,
    /// Common table expressions.
    With,
    /// Window functions.
    Window,
    /// `UPDATE t … WHERE … IN (SELECT … FROM t)`: the written table in a subquery of the statement.
    SelfSubquery,
}

impl Construct {
    /// All of them.
    #[rustfmt::skip]
    pub const ALL: &[Construct] = &[
        Construct::SmallInt, Construct::Int, Construct::BigInt, Construct::Decimal, Construct::Double,
        Construct::Varchar, Construct::Char, Construct::Text, Construct::Date, Construct::Time, Construct::Timestamp,
        Construct::Blob, Construct::Boolean, Construct::AutoIncrement, Construct::Check, Construct::ForeignKey,
        Construct::ForShare, Construct::ForUpdate, Construct::InsertIgnore, Construct::OnConflictDoNothing,
        Construct::OnConflictDoUpdate, Construct::OnDuplicateKeyUpdate, Construct::Replace, Construct::NullSafeEqual,
        Construct::IntegerDivision, Construct::Remainder, Construct::TextComparison, Construct::ConcatOperator,
        Construct::Concat, Construct::Like, Construct::CharLength, Construct::Upper, Construct::Lower,
        Construct::Substring, Construct::Trim, Construct::Abs, Construct::Round, Construct::Sign, Construct::Coalesce,
        Construct::NullIf, Construct::Greatest, Construct::Least, Construct::TruthValue, Construct::CastToInteger,
        Construct::CastToText, Construct::FullJoin, Construct::With, Construct::Window, Construct::SelfSubquery,
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
