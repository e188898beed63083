//! Expressions on values, with SQL's three-valued logic.
//!
//! | | rule |
//! |---|---|
//! | NULL | arithmetic and comparisons with NULL are NULL; `IS NULL` is TRUE or FALSE; AND and OR follow Kleene |
//! | truth | TRUE and FALSE; as in engines without a truth type, a number is true unless it is 0, and TRUE counts as 1 |
//! | order | numbers by value, text by code points (no collation), bytes by byte, FALSE before TRUE |
//! | types | a number and a truth value compare as numbers; any other two types do not compare: an error |
//! | numbers | exact decimals of up to 38 digits; beyond that, and division by zero: an error |
//! | texts | joined by `||`, also with whole numbers; a fraction has no one text (`1.5`, `1.50`): an error |
//!
//! AND and OR do not look at their right side if the left one decides, so that `n <> 0 AND 10 / n > 1` is safe.
//! An error is an error of the call that evaluates, which then ends as an application's would.
//!
//! An expression is evaluated as a [`Formula`], in which variables are numbers: while it is evaluated, a server waits.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::program::decimal::{self, ArithmeticError};
use crate::program::frame::{Frame, Slot, Slots};
use crate::program::ir::{BinaryOp, Expr, ExprKind};
use crate::value::{Number, Value};

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvaluationError {
    /// Arithmetic with something that is no number.
    #[error("`{op}` needs numbers, found {found}")]
    NotANumber {
        /// The operator.
        op: &'static str,
        /// What it was given.
        found: Value,
    },
    /// A condition, or an operand of AND, OR, NOT, that is neither a truth value nor a number.
    #[error("{0} is neither true nor false")]
    NotATruthValue(Value),
    /// A comparison of two types that do not compare.
    #[error("{0} and {1} cannot be compared")]
    Incomparable(Value, Value),
    /// More digits than are computed with.
    #[error("the result of {0} has too many digits")]
    Overflow(String),
    /// A division by zero.
    #[error("division by zero in {0}")]
    DivisionByZero(String),
    /// A part of a text that has no one text.
    #[error("`||` needs texts and whole numbers, found {0}")]
    NotAText(Value),
    /// A text longer than any that is kept.
    #[error("the text of {0} is too long")]
    TooLong(String),
    /// A value that nobody knows.
    #[error("the value is not known to the program; it can be analysed, but not run")]
    Unknown,
}

/// How many bytes a text may have: one that doubles in each round of a loop must end somewhere.
const TEXT_MAX: usize = 1 << 20;

/// An expression whose variables are numbers.
#[derive(Debug)]
pub(super) enum Formula {
    Literal(Value),
    Variable(Slot),
    Found,
    RowCount,
    Any,
    /// With the expression as it was written, for whoever is told that it has no value.
    Negate(Box<Formula>, Box<Expr>),
    Not(Box<Formula>),
    IsNull {
        operand: Box<Formula>,
        negated: bool,
    },
    /// AND (decided by FALSE) or OR (decided by TRUE).
    Decide {
        decisive: bool,
        sides: Box<[Formula; 2]>,
    },
    Compare(BinaryOp, Box<[Formula; 2]>),
    /// With the expression as it was written.
    Compute(BinaryOp, Box<[Formula; 2]>, Box<Expr>),
}

impl Formula {
    pub(super) fn new(expr: &Expr, slots: &mut Slots) -> Formula {
        let mut boxed = |operand: &Expr| Box::new(Formula::new(operand, slots));
        match &expr.kind {
            ExprKind::Literal(value) => Formula::Literal(value.clone()),
            ExprKind::Variable(name) => Formula::Variable(slots.of(name)),
            ExprKind::Found => Formula::Found,
            ExprKind::RowCount => Formula::RowCount,
            ExprKind::Any => Formula::Any,
            ExprKind::Negate(operand) => Formula::Negate(boxed(operand), Box::new(expr.clone())),
            ExprKind::Not(operand) => Formula::Not(boxed(operand)),
            ExprKind::IsNull { operand, negated } => Formula::IsNull { operand: boxed(operand), negated: *negated },
            ExprKind::Binary { op, left, right } => {
                let sides = Box::new([left, right].map(|side| Formula::new(side, slots)));
                match op {
                    BinaryOp::And | BinaryOp::Or => Formula::Decide { decisive: *op == BinaryOp::Or, sides },
                    op if op.is_comparison() => Formula::Compare(*op, sides),
                    op => Formula::Compute(*op, sides, Box::new(expr.clone())),
                }
            }
        }
    }

    /// Its value.
    pub(super) fn value<'a>(&'a self, frame: &'a Frame) -> Result<Cow<'a, Value>, EvaluationError> {
        match self.whole(frame) {
            Some(whole) => Ok(Cow::Owned(Value::int(whole))),
            None => self.any_value(frame),
        }
    }

    /// Its truth; `None` is SQL's *unknown*.
    pub(super) fn is_true(&self, frame: &Frame) -> Result<Option<bool>, EvaluationError> {
        if let Formula::Compare(op, sides) = self
            && let (Some(left), Some(right)) = (sides[0].whole(frame), sides[1].whole(frame))
        {
            return Ok(Some(holds(*op, left.cmp(&right))));
        }
        self.any_truth(frame)
    }

    /// Its value if only small whole numbers are computed with, as most often: a short way, since a server waits.
    fn whole(&self, frame: &Frame) -> Option<i64> {
        match self {
            Formula::Literal(Value::Number(number)) => number.to_i64(),
            Formula::Variable(slot) => match frame.value(*slot) {
                Value::Number(number) => number.to_i64(),
                _ => None,
            },
            Formula::Compute(op, sides, _) => decimal::apply_whole(*op, sides[0].whole(frame)?, sides[1].whole(frame)?),
            _ => None,
        }
    }

    /// The value of anything.
    fn any_value<'a>(&'a self, frame: &'a Frame) -> Result<Cow<'a, Value>, EvaluationError> {
        let value = match self {
            Formula::Literal(value) => return Ok(Cow::Borrowed(value)),
            Formula::Variable(slot) => return Ok(Cow::Borrowed(frame.value(*slot))),
            Formula::Found => Value::Bool(frame.row_count() > 0),
            Formula::RowCount => Value::int(frame.row_count()),
            Formula::Any => return Err(EvaluationError::Unknown),
            Formula::Negate(operand, written) => match operand.any_value(frame)?.as_ref() {
                Value::Null => Value::Null,
                value => negated(value, written)?,
            },
            Formula::Not(operand) => truth_value(operand.any_truth(frame)?.map(|truth| !truth)),
            Formula::IsNull { operand, negated } => {
                Value::Bool((*operand.any_value(frame)? == Value::Null) != *negated)
            }
            Formula::Decide { decisive, sides } => decided_by(*decisive, sides, frame)?,
            Formula::Compare(op, sides) => match known(sides, frame)? {
                Some([left, right]) => Value::Bool(holds(*op, compare(&left, &right)?)),
                None => Value::Null,
            },
            Formula::Compute(op, sides, written) => match known(sides, frame)? {
                Some([left, right]) => computed(*op, &left, &right, written)?,
                None => Value::Null,
            },
        };
        Ok(Cow::Owned(value))
    }

    /// The truth of anything.
    fn any_truth(&self, frame: &Frame) -> Result<Option<bool>, EvaluationError> {
        match self.any_value(frame)?.as_ref() {
            Value::Null => Ok(None),
            Value::Bool(truth) => Ok(Some(*truth)),
            Value::Number(number) => Ok(Some(*number != Number::from(0))),
            other => Err(EvaluationError::NotATruthValue(other.clone())),
        }
    }
}

/// Both values; `None` if either is NULL.
fn known<'a>(sides: &'a [Formula; 2], frame: &'a Frame) -> Result<Option<[Cow<'a, Value>; 2]>, EvaluationError> {
    let values = [sides[0].any_value(frame)?, sides[1].any_value(frame)?];
    Ok(values.iter().all(|value| **value != Value::Null).then_some(values))
}

/// Either side that decides is the result; otherwise NULL if either side is; otherwise the other truth value.
fn decided_by(decisive: bool, [left, right]: &[Formula; 2], frame: &Frame) -> Result<Value, EvaluationError> {
    let left = left.any_truth(frame)?;
    if left == Some(decisive) {
        return Ok(Value::Bool(decisive));
    }
    Ok(match (left, right.any_truth(frame)?) {
        (_, Some(right)) if right == decisive => Value::Bool(decisive),
        (None, _) | (_, None) => Value::Null,
        _ => Value::Bool(!decisive),
    })
}

fn truth_value(truth: Option<bool>) -> Value {
    truth.map_or(Value::Null, Value::Bool)
}

fn negated(value: &Value, written: &Expr) -> Result<Value, EvaluationError> {
    let number = number(value, "-")?;
    decimal::negate(&number).map(Value::Number).map_err(|error| error.in_expression(written))
}

fn computed(op: BinaryOp, left: &Value, right: &Value, written: &Expr) -> Result<Value, EvaluationError> {
    if op == BinaryOp::Concat {
        let joined = text(left)?.into_owned() + &text(right)?;
        let is_kept = joined.len() <= TEXT_MAX;
        return if is_kept { Ok(Value::Text(joined)) } else { Err(EvaluationError::TooLong(written.to_string())) };
    }
    let (left, right) = (number(left, op.sign())?, number(right, op.sign())?);
    decimal::apply(op, &left, &right).map(Value::Number).map_err(|error| error.in_expression(written))
}

fn number<'a>(value: &'a Value, op: &'static str) -> Result<Cow<'a, Number>, EvaluationError> {
    match value {
        Value::Number(number) => Ok(Cow::Borrowed(number)),
        Value::Bool(truth) => Ok(Cow::Owned(Number::from(i64::from(*truth)))),
        found => Err(EvaluationError::NotANumber { op, found: found.clone() }),
    }
}

/// The text of a value that every engine and language writes alike.
fn text(value: &Value) -> Result<Cow<'_, str>, EvaluationError> {
    match value {
        Value::Text(text) => Ok(Cow::Borrowed(text)),
        Value::Number(number) if number.to_i64().is_some() => Ok(Cow::Owned(number.to_string())),
        other => Err(EvaluationError::NotAText(other.clone())),
    }
}

/// Two values that are not NULL.
fn compare(left: &Value, right: &Value) -> Result<Ordering, EvaluationError> {
    let as_number = |truth: bool| Number::from(i64::from(truth));
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => Ok(a.cmp(b)),
        (Value::Number(a), Value::Bool(b)) => Ok(a.cmp(&as_number(*b))),
        (Value::Bool(a), Value::Number(b)) => Ok(as_number(*a).cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Ok(a.cmp(b)),
        (Value::Text(a), Value::Text(b)) => Ok(a.cmp(b)),
        (Value::Bytes(a), Value::Bytes(b)) => Ok(a.cmp(b)),
        _ => Err(EvaluationError::Incomparable(left.clone(), right.clone())),
    }
}

/// Whether a comparison holds for values in this order.
fn holds(op: BinaryOp, order: Ordering) -> bool {
    match op {
        BinaryOp::Equal => order.is_eq(),
        BinaryOp::NotEqual => order.is_ne(),
        BinaryOp::Less => order.is_lt(),
        BinaryOp::LessEqual => order.is_le(),
        BinaryOp::Greater => order.is_gt(),
        BinaryOp::GreaterEqual => order.is_ge(),
        other => unreachable!("{other} is no comparison"),
    }
}

impl ArithmeticError {
    fn in_expression(self, expr: &Expr) -> EvaluationError {
        match self {
            ArithmeticError::Overflow => EvaluationError::Overflow(expr.to_string()),
            ArithmeticError::DivisionByZero => EvaluationError::DivisionByZero(expr.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Program, StatementKind};

    /// Evaluates an expression in which `n` is 7, `t` is 'x', `u` is NULL.
    fn value_of(expression: &str) -> Result<Value, EvaluationError> {
        let text = format!("CREATE PROCEDURE p(n INT, t TEXT, u INT) BEGIN RETURN {expression}; END;");
        let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let StatementKind::Return(outputs) = &program.procedures[0].body[0].kind else { panic!("a RETURN") };
        let mut slots = Slots::default();
        let given = [("n", Value::int(7)), ("t", Value::text("x")), ("u", Value::Null)];
        let given = given.map(|(name, value)| (slots.of(name), value));
        let formula = Formula::new(&outputs[0], &mut slots);
        let mut frame = Frame::new(&slots);
        given.into_iter().for_each(|(slot, value)| frame.set(slot, value));
        formula.value(&frame).map(Cow::into_owned)
    }

    fn check(expression: &str, expect: &str) {
        let found = match value_of(expression) {
            Ok(value) => value.to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expect, "{expression}");
    }

    #[test]
    fn operators_bind_as_in_sql() {
        check("1 + 2 * 3", "7");
        check("(1 + 2) * 3", "9");
        check("10 - 2 - 3", "5");
        check("-n + 1", "-6");
        check("- -n", "7");
        check("1 + 1 = 2 AND NOT 1 > 2", "TRUE");
        check("TRUE OR TRUE AND FALSE", "TRUE");
        check("NOT n = 7", "FALSE");
        check("n % 4 DIV 2", "1");
        check("n != 7 OR n <> 8", "TRUE");
    }

    #[test]
    fn unknown_spreads_unless_the_other_side_decides() {
        check("u + 1", "NULL");
        check("-u", "NULL");
        check("u = u", "NULL");
        check("NOT u > 1", "NULL");
        check("u > 1 AND FALSE", "FALSE");
        check("FALSE AND u > 1", "FALSE");
        check("u > 1 AND TRUE", "NULL");
        check("u > 1 OR TRUE", "TRUE");
        check("u > 1 OR FALSE", "NULL");
        check("FALSE OR FALSE", "FALSE");
        check("u IS NULL", "TRUE");
        check("n IS NULL", "FALSE");
        check("u = 1 IS NULL", "TRUE");
        check("n IS NOT NULL", "TRUE");
    }

    #[test]
    fn the_left_side_protects_the_right_one() {
        check("n <> 7 AND 1 / (n - 7) > 0", "FALSE");
        check("n = 7 OR t > 1", "TRUE");
    }

    #[test]
    fn values_compare_within_their_type() {
        check("10 > 9.5", "TRUE");
        check("'10' < '9'", "TRUE");
        check("X'00ff' = X'00FF'", "TRUE");
        check("TRUE = 1", "TRUE");
        check("FALSE < TRUE", "TRUE");
        check("'it''s' = t", "FALSE");
        check("t = 1", "'x' and 1 cannot be compared");
    }

    #[test]
    fn truth_values_count() {
        check("(n = 7) + (n > 1) + (n < 1)", "2");
        check("-(n = 7)", "-1");
        check("(u = 1) + 1", "NULL");
    }

    #[test]
    fn texts_are_joined() {
        check("t || '-' || n", "'x-7'");
        check("'a' || n + 1 || 'b'", "'a8b'");
        check("'' || 100", "'100'");
        check("n || n = '77'", "TRUE");
        check("t || u", "NULL");
        check("t || 1.5", "`||` needs texts and whole numbers, found 1.5");
        check("t || (n = 7)", "`||` needs texts and whole numbers, found TRUE");
        let long = format!("'{}'", "y".repeat(TEXT_MAX));
        assert_eq!(value_of(&format!("{long} || 'z'")), Err(EvaluationError::TooLong(format!("{long} || 'z'"))));
    }

    #[test]
    fn mistakes_are_errors_of_the_call() {
        check("t + 1", "`+` needs numbers, found 'x'");
        check("NOT t", "'x' is neither true nor false");
        check("n / (n - 7)", "division by zero in :n / (:n - 7)");
        let large = i128::MAX;
        check(&format!("n + {large}"), &format!("the result of :n + {large} has too many digits"));
    }
}
