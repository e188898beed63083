//! Expressions on values, with SQL's three-valued logic.
//!
//! | | rule |
//! |---|---|
//! | NULL | arithmetic and comparisons with NULL are NULL; `IS NULL` is TRUE or FALSE; AND and OR follow Kleene |
//! | truth | TRUE and FALSE; as in engines without a truth type, a number is true unless it is 0, and TRUE counts as 1 |
//! | order | numbers by value, text by code points (no collation), bytes by byte, FALSE before TRUE |
//! | types | a number and a truth value compare as numbers; any other two types do not compare: an error |
//! | numbers | exact decimals of up to 38 digits; beyond that, and division by zero: an error |
//!
//! AND and OR do not look at their right side if the left one decides, so that `n <> 0 AND 10 / n > 1` is safe.
//! An error is an error of the call that evaluates, which then ends as an application's would.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::program::decimal::{self, ArithmeticError};
use crate::program::ir::{BinaryOp, Expr, ExprKind};
use crate::value::{Number, Value};

/// The variables of a call, by name. Every variable that an expression mentions must be there.
pub type Variables = BTreeMap<String, Value>;

/// Under this name, which no variable can have, stands the value of `FOUND()`.
pub(super) const FOUND: &str = "FOUND()";
/// The same for `ROW_COUNT()`.
pub(super) const ROW_COUNT: &str = "ROW_COUNT()";

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
    /// A value that nobody knows.
    #[error("the value is not known to the program; it can be analysed, but not run")]
    Unknown,
}

/// The value of an expression.
pub fn evaluate(expr: &Expr, variables: &Variables) -> Result<Value, EvaluationError> {
    match &expr.kind {
        ExprKind::Literal(value) => Ok(value.clone()),
        ExprKind::Variable(name) => Ok(variables.get(name).cloned().unwrap_or(Value::Null)),
        ExprKind::Found => Ok(variables.get(FOUND).cloned().unwrap_or(Value::Bool(false))),
        ExprKind::RowCount => Ok(variables.get(ROW_COUNT).cloned().unwrap_or(Value::int(0))),
        ExprKind::Any => Err(EvaluationError::Unknown),
        ExprKind::Negate(operand) => match evaluate(operand, variables)? {
            Value::Null => Ok(Value::Null),
            value => decimal::negate(&number(value, "-")?).map(Value::Number).map_err(|e| e.in_expression(expr)),
        },
        ExprKind::Not(operand) => Ok(truth_value(is_true(operand, variables)?.map(|truth| !truth))),
        ExprKind::IsNull { operand, negated } => {
            Ok(Value::Bool((evaluate(operand, variables)? == Value::Null) != *negated))
        }
        ExprKind::Binary { op: BinaryOp::And, left, right } => decided_by(false, left, right, variables),
        ExprKind::Binary { op: BinaryOp::Or, left, right } => decided_by(true, left, right, variables),
        ExprKind::Binary { op, left, right } => {
            let (left, right) = (evaluate(left, variables)?, evaluate(right, variables)?);
            if left == Value::Null || right == Value::Null {
                return Ok(Value::Null);
            }
            if op.is_comparison() {
                return Ok(Value::Bool(holds(*op, compare(left, right)?)));
            }
            let (left, right) = (number(left, op.sign())?, number(right, op.sign())?);
            decimal::apply(*op, &left, &right).map(Value::Number).map_err(|e| e.in_expression(expr))
        }
    }
}

/// The truth of a condition; `None` is SQL's *unknown*.
pub fn is_true(expr: &Expr, variables: &Variables) -> Result<Option<bool>, EvaluationError> {
    match evaluate(expr, variables)? {
        Value::Null => Ok(None),
        Value::Bool(truth) => Ok(Some(truth)),
        Value::Number(number) => Ok(Some(number != Number::from(0))),
        other => Err(EvaluationError::NotATruthValue(other)),
    }
}

/// AND (decided by FALSE) and OR (decided by TRUE): either side that decides is the result; otherwise NULL if either
/// side is; otherwise the other truth value.
fn decided_by(decisive: bool, left: &Expr, right: &Expr, variables: &Variables) -> Result<Value, EvaluationError> {
    let left = is_true(left, variables)?;
    if left == Some(decisive) {
        return Ok(Value::Bool(decisive));
    }
    Ok(match (left, is_true(right, variables)?) {
        (_, Some(right)) if right == decisive => Value::Bool(decisive),
        (None, _) | (_, None) => Value::Null,
        _ => Value::Bool(!decisive),
    })
}

fn truth_value(truth: Option<bool>) -> Value {
    truth.map_or(Value::Null, Value::Bool)
}

fn number(value: Value, op: &'static str) -> Result<Number, EvaluationError> {
    match value {
        Value::Number(number) => Ok(number),
        Value::Bool(truth) => Ok(Number::from(i64::from(truth))),
        found => Err(EvaluationError::NotANumber { op, found }),
    }
}

/// Two values that are not NULL.
fn compare(left: Value, right: Value) -> Result<Ordering, EvaluationError> {
    let as_number = |truth: bool| Number::from(i64::from(truth));
    match (&left, &right) {
        (Value::Number(a), Value::Number(b)) => Ok(a.cmp(b)),
        (Value::Number(a), Value::Bool(b)) => Ok(a.cmp(&as_number(*b))),
        (Value::Bool(a), Value::Number(b)) => Ok(as_number(*a).cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Ok(a.cmp(b)),
        (Value::Text(a), Value::Text(b)) => Ok(a.cmp(b)),
        (Value::Bytes(a), Value::Bytes(b)) => Ok(a.cmp(b)),
        _ => Err(EvaluationError::Incomparable(left, right)),
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
        let variables = [("n", Value::int(7)), ("t", Value::text("x")), ("u", Value::Null)];
        evaluate(&outputs[0], &variables.map(|(name, value)| (name.to_string(), value)).into())
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
    fn mistakes_are_errors_of_the_call() {
        check("t + 1", "`+` needs numbers, found 'x'");
        check("NOT t", "'x' is neither true nor false");
        check("n / (n - 7)", "division by zero in :n / (:n - 7)");
        let large = i128::MAX;
        check(&format!("n + {large}"), &format!("the result of :n + {large} has too many digits"));
    }
}
