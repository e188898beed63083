//! How large, long and precise a value can be: why generated expressions do not overflow.
//!
//! The value of a column is not known when a statement is generated: other transactions change it. But all that is
//! ever written to a column is generated, too, and that bounds it. A numeric column is *tame* if its rows are small
//! compared with what its type can hold. Constants for it stay small as well, and other expressions may be assigned
//! to it only if they are at most [`STEP`] further away from 0 than some tame column was. So with `n` statements
//! every tame column stays within its bound plus `n · STEP`, and `n` is far below [`STATEMENTS_MAX`]:
//!
//! ```text
//!   UPDATE t SET c = c + 9          |c| ≤ bound + 9
//!   UPDATE t SET d = c - 2          |d| ≤ bound + 11          one column at a time: its drift is passed on, not doubled
//!   SELECT c * d FROM t             fits, if (bound + drift)² does
//! ```
//!
//! A column that is not tame holds anything that its type allows: it is compared and copied, but not calculated with.
//!
//! Engines calculate in types of different widths; the narrowest rules are applied: the sum of two 16-bit columns
//! must fit into 16 bits (PostgreSQL), any other into 32.

use crate::dialect::Construct;
use crate::generate::schema::{Column, Kind, Table};
use crate::value::Value;

use super::{Aggregate, Expression, Operator, WindowFunction};

/// Tame columns start within this distance from 0.
pub const TAME: i64 = 10_000;
/// How much further from 0 one statement may move a value.
pub const STEP: i64 = 9;
/// No case has as many statements that move a value.
pub const STATEMENTS_MAX: i64 = 500;
/// How far all statements of a case together can move a value.
pub const DRIFT: i64 = STEP * STATEMENTS_MAX;
/// What a text without a limit is taken to hold.
const LONG: usize = 60_000;
/// Aggregates add up at most so many rows.
const ROWS_MAX: i64 = 100_000;

/// Bounds of a value. Which of them mean something depends on its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// A number is at most this far away from 0, apart from drift.
    pub magnitude: i64,
    /// How many tame columns take part, each with its drift; of texts, how many columns.
    pub drifts: i64,
    /// Whether only 16-bit columns take part, so that some engine calculates with 16 bits.
    pub small: bool,
    /// How many decimals a number has.
    pub scale: u32,
    /// How many characters a text has.
    pub length: usize,
}

impl Extent {
    const NOTHING: Extent = Extent { magnitude: 0, drifts: 0, small: false, scale: 0, length: 0 };

    /// A number that is at most this far away from 0, whatever statements do.
    pub fn bounded(magnitude: i64) -> Extent {
        Extent { magnitude, ..Extent::NOTHING }
    }

    /// What the values of a column can be.
    pub fn of_column(table: &Table, at: usize) -> Extent {
        let column = &table.columns[at];
        let numbers = numbers_in_parentheses(&column.type_text);
        let (capacity, scale) = match column.kind {
            Kind::Integer => (integer_capacity(&column.type_text), 0),
            Kind::Decimal => decimal_capacity(&numbers),
            Kind::Float => (i64::MAX, 0),
            Kind::Text => {
                let length = numbers.first().and_then(|n| usize::try_from(*n).ok()).unwrap_or(LONG);
                return Extent { length, drifts: 1, ..Extent::NOTHING };
            }
            _ => return Extent::NOTHING,
        };
        let bound = TAME.min(capacity.saturating_sub(DRIFT));
        let tame = table.rows.iter().all(|row| Extent::of_value(&row[at]).magnitude <= bound);
        let (magnitude, drifts) = if tame { (bound, 1) } else { (capacity, 0) };
        let small = column.kind == Kind::Integer && capacity <= i64::from(i16::MAX);
        Extent { magnitude, drifts, small, scale, length: 0 }
    }

    /// What a literal is.
    pub fn of_value(value: &Value) -> Extent {
        match value {
            Value::Number(number) => {
                let text = number.to_text();
                let digits = text.trim_start_matches('-');
                let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
                let above = i64::from(!fraction.is_empty());
                let magnitude = whole.parse::<i64>().unwrap_or(i64::MAX).saturating_add(above);
                Extent { magnitude, scale: fraction.len() as u32, ..Extent::NOTHING }
            }
            Value::Text(text) => Extent { length: text.chars().count(), ..Extent::NOTHING },
            _ => Extent::NOTHING,
        }
    }

    /// What the value of an expression can be.
    pub fn of(expression: &Expression) -> Extent {
        match expression {
            Expression::Column(column) => column.extent,
            Expression::Constant(_, value) => Extent::of_value(value),
            Expression::Arithmetic(operator, sides) => {
                combined(*operator, Extent::of(&sides[0]), Extent::of(&sides[1]))
            }
            Expression::Case { branches, otherwise } => {
                branches.iter().fold(Extent::of(otherwise), |whole, [_, value]| whole.or(Extent::of(value)))
            }
            Expression::Call(function, arguments) => of_call(*function, arguments),
            Expression::Cast(Construct::CastToText, _) => Extent { length: 24, drifts: 1, ..Extent::NOTHING },
            Expression::Cast(_, of) => Extent { scale: 0, ..Extent::of(of) },
            Expression::Scalar(query) => query.list.first().map_or(Extent::NOTHING, Extent::of),
            Expression::Aggregate(aggregate, of) => of_aggregate(*aggregate, of.as_deref()),
            Expression::Window(window) => match (window.function, &window.of) {
                (WindowFunction::Lag | WindowFunction::Lead, Some(of)) => Extent::of(of),
                (WindowFunction::Aggregate(aggregate), of) => of_aggregate(aggregate, of.as_ref()),
                _ => Extent { magnitude: ROWS_MAX, ..Extent::NOTHING },
            },
            _ => Extent::NOTHING,
        }
    }

    /// The larger of both in every respect.
    fn or(self, other: Extent) -> Extent {
        Extent {
            magnitude: self.magnitude.max(other.magnitude),
            drifts: self.drifts.max(other.drifts),
            small: self.small && other.small,
            scale: self.scale.max(other.scale),
            length: self.length.max(other.length),
        }
    }

    /// How far from 0 a number can be, after all statements of a case.
    pub fn reach(&self) -> i64 {
        self.magnitude.saturating_add(self.drifts.saturating_mul(DRIFT))
    }

    /// Whether an engine can calculate with it, whatever widths it uses.
    pub fn is_safe(&self) -> bool {
        let limit = if self.small { i64::from(i16::MAX) } else { i64::from(i32::MAX) };
        self.reach() <= limit && self.scale <= 6
    }

    /// Whether a value may be assigned to a column: it fits, and the column stays tame.
    pub fn fits(&self, kind: Kind, column: &Extent) -> bool {
        match kind {
            Kind::Text if column.length >= LONG => self.drifts <= 1,
            Kind::Text => self.length <= column.length,
            Kind::Integer | Kind::Decimal | Kind::Float => {
                let precise = self.scale <= column.scale || kind == Kind::Float;
                let near = match column.drifts {
                    0 => self.reach() <= column.magnitude,
                    _ => self.drifts <= 1 && self.magnitude <= column.magnitude.saturating_add(STEP),
                };
                precise && near
            }
            _ => true,
        }
    }
}

fn combined(operator: Operator, left: Extent, right: Extent) -> Extent {
    let small = left.small && right.small;
    match operator {
        Operator::Add | Operator::Subtract => Extent {
            magnitude: left.magnitude.saturating_add(right.magnitude),
            drifts: left.drifts + right.drifts,
            small,
            scale: left.scale.max(right.scale),
            length: 0,
        },
        Operator::Multiply => {
            let scale = left.scale + right.scale;
            // With a constant factor the drift is multiplied, too; otherwise it is already in the reach.
            let magnitude = left.reach().saturating_mul(right.reach());
            Extent { magnitude, drifts: 2 * (left.drifts + right.drifts), small, scale, length: 0 }
        }
        Operator::Divide => Extent { small, ..left },
        Operator::Remainder => Extent { magnitude: right.magnitude, drifts: 0, small, scale: 0, length: 0 },
    }
}

fn of_aggregate(aggregate: Aggregate, of: Option<&Expression>) -> Extent {
    match (aggregate, of.map(Extent::of)) {
        (Aggregate::Minimum | Aggregate::Maximum, Some(of)) => of,
        (Aggregate::Sum, Some(of)) => {
            Extent { magnitude: of.reach().saturating_mul(ROWS_MAX), drifts: 2, small: false, ..of }
        }
        _ => Extent { magnitude: ROWS_MAX, ..Extent::NOTHING },
    }
}

fn of_call(function: Construct, arguments: &[Expression]) -> Extent {
    let mut all = arguments.iter().map(Extent::of);
    let first = all.next().unwrap_or(Extent::NOTHING);
    match function {
        Construct::CharLength => Extent { magnitude: LONG as i64, ..Extent::NOTHING },
        Construct::Sign => Extent { magnitude: 1, ..Extent::NOTHING },
        Construct::Coalesce | Construct::Greatest | Construct::Least => all.fold(first, Extent::or),
        Construct::Concat | Construct::ConcatOperator => all.fold(first, |sum, part| Extent {
            length: sum.length.saturating_add(part.length),
            drifts: sum.drifts + part.drifts,
            ..sum
        }),
        _ => first,
    }
}

/// The largest whole number of a type.
pub(in crate::generate) fn integer_capacity(type_text: &str) -> i64 {
    let upper = type_text.to_ascii_uppercase();
    match upper.as_str() {
        text if text.contains("TINY") => i64::from(i8::MAX),
        text if text.contains("SMALL") => i64::from(i16::MAX),
        text if text.contains("BIG") => i64::MAX,
        _ => i64::from(i32::MAX),
    }
}

/// The largest whole part, and the decimals.
fn decimal_capacity(numbers: &[i64]) -> (i64, u32) {
    let precision = numbers.first().copied().unwrap_or(10);
    let scale = numbers.get(1).copied().unwrap_or(0);
    let whole = u32::try_from(precision - scale).unwrap_or(0);
    (10_i64.checked_pow(whole).map_or(i64::MAX, |limit| limit - 1), u32::try_from(scale).unwrap_or(0))
}

/// `[10, 2]` of `DECIMAL(10, 2)`.
fn numbers_in_parentheses(type_text: &str) -> Vec<i64> {
    let inner = type_text.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(inner, _)| inner);
    inner.split(',').filter_map(|number| number.trim().parse().ok()).collect()
}

/// Whether a column's texts are padded with blanks, which some functions see and others do not.
pub fn is_padded(column: &Column) -> bool {
    column.type_text.to_ascii_uppercase().starts_with("CHAR")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::expression::ColumnUse;

    fn table(kind: Kind, type_text: &str, rows: &[Value]) -> Table {
        let column = Column {
            name: "c".to_string(),
            kind,
            type_text: type_text.to_string(),
            not_null: false,
            default: None,
            auto_increment: false,
            check: None,
            extremes: Vec::new(),
        };
        Table {
            name: "t".to_string(),
            columns: vec![column],
            primary_key: Vec::new(),
            unique_keys: Vec::new(),
            foreign_keys: Vec::new(),
            indexes: Vec::new(),
            rows: rows.iter().map(|value| vec![value.clone()]).collect(),
            versioned: false,
            keys_once: false,
        }
    }

    fn column(kind: Kind, type_text: &str, rows: &[Value]) -> Expression {
        let extent = Extent::of_column(&table(kind, type_text, rows), 0);
        Expression::Column(ColumnUse {
            qualifier: None,
            name: "c".to_string(),
            kind,
            extent,
            computed: false,
            not_null: false,
        })
    }

    fn combine(operator: Operator, left: &Expression, right: &Expression) -> Expression {
        Expression::Arithmetic(operator, Box::new([left.clone(), right.clone()]))
    }

    fn number(value: i64) -> Expression {
        Expression::Constant(Kind::Integer, Value::int(value))
    }

    fn fits(value: &Expression, target: &Expression) -> bool {
        Extent::of(value).fits(target.kind(), &Extent::of(target))
    }

    #[test]
    fn a_step_may_be_added_to_a_tame_column_but_no_more() {
        let tame = column(Kind::Integer, "INT", &[Value::int(3), Value::Null]);
        assert!(fits(&combine(Operator::Add, &tame, &number(STEP)), &tame));
        assert!(!fits(&combine(Operator::Add, &tame, &number(STEP + 1)), &tame));
        // Twice the drift: after many statements it would be anywhere.
        assert!(!fits(&combine(Operator::Add, &tame, &tame), &tame));
        assert!(!fits(&combine(Operator::Multiply, &tame, &number(2)), &tame));
        assert!(Extent::of(&combine(Operator::Multiply, &tame, &number(2))).is_safe(), "but it may be compared");
    }

    #[test]
    fn a_column_with_an_extreme_value_is_not_calculated_with() {
        let wild = column(Kind::Integer, "INT", &[Value::int(i64::from(i32::MAX))]);
        assert!(!Extent::of(&combine(Operator::Add, &wild, &number(1))).is_safe());
        let tame = column(Kind::Integer, "INT", &[]);
        assert!(fits(&wild, &wild) && fits(&tame, &wild) && !fits(&wild, &tame));
        let wider = column(Kind::Integer, "BIGINT", &[Value::int(i64::MAX)]);
        assert!(fits(&wild, &wider) && !fits(&wider, &wild));
    }

    #[test]
    fn small_columns_are_added_within_16_bits() {
        let small = column(Kind::Integer, "SMALLINT", &[Value::int(1)]);
        let int = column(Kind::Integer, "INT", &[Value::int(1)]);
        assert!(Extent::of(&combine(Operator::Add, &small, &number(1))).is_safe());
        assert!(Extent::of(&combine(Operator::Multiply, &small, &int)).is_safe());
        assert!(!Extent::of(&combine(Operator::Multiply, &small, &small)).is_safe());
    }

    #[test]
    fn decimals_keep_their_places_and_texts_their_length() {
        let decimal = column(Kind::Decimal, "DECIMAL(10, 2)", &[]);
        let text = |value: &str| Value::Number(crate::value::Number::parse(value).unwrap());
        assert!(fits(&Expression::Constant(Kind::Decimal, text("0.25")), &decimal));
        assert!(!fits(&Expression::Constant(Kind::Decimal, text("0.125")), &decimal));
        let (short, long) = (column(Kind::Text, "VARCHAR(5)", &[]), column(Kind::Text, "TEXT", &[]));
        let twice = Expression::Call(Construct::Concat, vec![short.clone(), short.clone()]);
        assert!(fits(&short, &short) && !fits(&twice, &short) && !fits(&long, &short));
        // Appended to itself again and again, any text becomes too long.
        assert!(fits(&short, &long) && !fits(&twice, &long));
    }
}
