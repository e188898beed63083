//! Typed expression trees: what WHERE, SET, select lists and HAVING are made of.
//!
//! A generated statement should be refused only for reasons that have to do with transactions. So an expression is
//! valid by construction, on the strictest of all engines: each node knows its [`Kind`], only equal kinds are
//! compared or combined (strict typing), and [`Extent`] bounds what a value can be, so that nothing overflows, is
//! truncated or fails to convert at run time:
//!
//! ```text
//!            =                          Boolean
//!          /   \
//!         +     5                       Integer, both sides
//!        / \
//!   t0.c1   9                           c1 is within ±10000 (and what earlier statements added): + 9 cannot overflow
//! ```
//!
//! What is never made: functions whose result is not a function of the data (time, random numbers), division by
//! something that could be 0, texts read as numbers, order between byte strings or truth values.
//!
//! * [`extent`]: how large, long and precise a value can be
//! * [`mod@print`]: a tree as SQL, in the language that all targets share
//! * [`make`]: values; [`condition`]: truth values; [`query`]: subqueries

pub mod extent;
pub mod print;
pub(super) mod make;
pub(super) mod condition;
pub(super) mod query;

use crate::dialect::Construct;
use crate::value::Value;

use super::schema::Kind;
use extent::Extent;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// A column.
    Column(ColumnUse),
    /// A literal.
    Constant(Kind, Value),
    /// Two values of one kind, compared.
    Compare(Comparison, Box<[Expression; 2]>),
    /// `of [NOT] BETWEEN low AND high`.
    Between {
        /// What is compared.
        of: Box<Expression>,
        /// The lower and the upper bound, both included.
        range: Box<[Expression; 2]>,
        /// Whether it is negated.
        not: bool,
    },
    /// `of [NOT] IN (list)`.
    In {
        /// What is looked for.
        of: Box<Expression>,
        /// Where.
        list: Vec<Expression>,
        /// Whether it is negated.
        not: bool,
    },
    /// `of IS [NOT] NULL`.
    IsNull {
        /// What is asked about.
        of: Box<Expression>,
        /// Whether it is negated.
        not: bool,
    },
    /// `of [NOT] LIKE 'pattern'`.
    Like {
        /// The text.
        of: Box<Expression>,
        /// The pattern.
        pattern: String,
        /// Whether it is negated.
        not: bool,
    },
    /// All of them.
    And(Vec<Expression>),
    /// One of them.
    Or(Vec<Expression>),
    /// The opposite.
    Not(Box<Expression>),
    /// Two numbers of one kind, combined.
    Arithmetic(Operator, Box<[Expression; 2]>),
    /// `CASE WHEN condition THEN value … ELSE otherwise END`.
    Case {
        /// The conditions, one at least, and the values of the first that is true.
        branches: Vec<[Expression; 2]>,
        /// The value if none is.
        otherwise: Box<Expression>,
    },
    /// A function that engines spell in their own ways.
    Call(Construct, Vec<Expression>),
    /// `CAST(of AS type)`; the construct names the type.
    Cast(Construct, Box<Expression>),
    /// `[NOT] EXISTS (query)`.
    Exists(Box<Query>, bool),
    /// `of [NOT] IN (query)`.
    InQuery {
        /// What is looked for.
        of: Box<Expression>,
        /// Where.
        query: Box<Query>,
        /// Whether it is negated.
        not: bool,
    },
    /// A query that returns one row at most, and one value.
    Scalar(Box<Query>),
    /// An aggregate over the rows of a group; without an argument `COUNT(*)`.
    Aggregate(Aggregate, Option<Box<Expression>>),
    /// A function of the rows around a row.
    Window(Box<Window>),
}

/// `function(of) OVER (PARTITION BY … ORDER BY …)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// The function.
    pub function: WindowFunction,
    /// Its argument, if it has one.
    pub of: Option<Expression>,
    /// Rows with the same values of these are looked at together.
    pub partition: Vec<Expression>,
    /// Their order: a total one, unless the function is an aggregate of all of them.
    pub order: Vec<Expression>,
    /// Whether the order is reversed. (It has one expression then.)
    pub descending: bool,
}

/// A function of the rows around a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowFunction {
    /// Which row it is, from 1.
    RowNumber,
    /// How many are before it, and 1.
    Rank,
    /// An aggregate of the rows up to this one; of all, where there is no order.
    Aggregate(Aggregate),
    /// A value of the row before.
    Lag,
    /// A value of the row after.
    Lead,
}

/// A column, as a statement speaks of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnUse {
    /// What stands before the dot, where it is needed.
    pub qualifier: Option<String>,
    /// The column's name.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// What its values can be.
    pub extent: Extent,
    /// Whether a query computes it, so that its type is what the engine makes of it.
    pub computed: bool,
    /// Whether it is certainly not NULL here.
    pub not_null: bool,
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// Equal, or both NULL.
    NullSafeEqual,
}

/// How two numbers are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// Whole-number division; the right side is a constant that is not 0.
    Divide,
    /// The remainder; the right side is a constant that is not 0.
    Remainder,
}

/// A function of many rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// How many; of values that are not NULL, if it has an argument.
    Count,
    /// How many different ones.
    CountDistinct,
    /// The sum. Not of floating-point numbers: it would depend on the order of the rows.
    Sum,
    /// The smallest.
    Minimum,
    /// The largest.
    Maximum,
}

/// A query inside of a statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The queries in its WITH clause, as SQL: `name AS (…)`.
    pub with: Vec<String>,
    /// Whether rows that are equal are returned once.
    pub distinct: bool,
    /// What it returns: one value at least.
    pub list: Vec<Expression>,
    /// The tables, with their aliases where they need some, as SQL.
    pub from: String,
    /// Its condition.
    pub condition: Option<Expression>,
    /// What follows, as SQL: groups, an order, another query whose rows are added or taken away.
    pub tail: String,
}

impl Query {
    /// `SELECT value FROM from WHERE condition`.
    pub fn of(value: Expression, from: String, condition: Option<Expression>) -> Query {
        Query { with: Vec::new(), distinct: false, list: vec![value], from, condition, tail: String::new() }
    }

    /// The kind of the first value that it returns.
    pub fn kind(&self) -> Kind {
        self.list.first().map_or(Kind::Integer, Expression::kind)
    }
}

impl Window {
    fn kind(&self) -> Kind {
        match (self.function, &self.of) {
            (WindowFunction::RowNumber | WindowFunction::Rank, _) | (_, None) => Kind::Integer,
            (WindowFunction::Aggregate(Aggregate::Count | Aggregate::CountDistinct), _) => Kind::Integer,
            (_, Some(of)) => of.kind(),
        }
    }
}

impl Expression {
    /// A comparison.
    pub fn compare(comparison: Comparison, left: Expression, right: Expression) -> Expression {
        Expression::Compare(comparison, Box::new([left, right]))
    }

    /// Whether the value is certainly not NULL.
    pub fn is_not_null(&self) -> bool {
        match self {
            Expression::Column(column) => column.not_null,
            Expression::Constant(_, value) => *value != Value::Null,
            Expression::Arithmetic(_, sides) => sides.iter().all(Expression::is_not_null),
            Expression::Call(Construct::Coalesce, arguments) => arguments.iter().any(Expression::is_not_null),
            Expression::Call(Construct::NullIf, _) => false,
            Expression::Call(_, arguments) => arguments.iter().all(Expression::is_not_null),
            Expression::Case { branches, otherwise } => {
                otherwise.is_not_null() && branches.iter().all(|[_, value]| value.is_not_null())
            }
            Expression::Cast(_, of) => of.is_not_null(),
            Expression::Aggregate(aggregate, _) => matches!(aggregate, Aggregate::Count | Aggregate::CountDistinct),
            _ => false,
        }
    }

    /// What the expression's value is.
    pub fn kind(&self) -> Kind {
        match self {
            Expression::Column(column) => column.kind,
            Expression::Constant(kind, _) => *kind,
            Expression::Arithmetic(_, sides) => sides[0].kind(),
            Expression::Case { otherwise, .. } => otherwise.kind(),
            Expression::Call(Construct::CharLength, _) | Expression::Cast(Construct::CastToInteger, _) => Kind::Integer,
            Expression::Call(_, arguments) => arguments.first().map_or(Kind::Integer, Expression::kind),
            Expression::Cast(..) => Kind::Text,
            Expression::Scalar(query) => query.kind(),
            Expression::Aggregate(Aggregate::Count | Aggregate::CountDistinct, _) => Kind::Integer,
            Expression::Aggregate(_, of) => of.as_ref().map_or(Kind::Integer, |of| of.kind()),
            Expression::Window(window) => window.kind(),
            Expression::Compare(..)
            | Expression::Between { .. }
            | Expression::In { .. }
            | Expression::IsNull { .. }
            | Expression::Like { .. }
            | Expression::And(_)
            | Expression::Or(_)
            | Expression::Not(_)
            | Expression::Exists(..)
            | Expression::InQuery { .. } => Kind::Boolean,
        }
    }
}
