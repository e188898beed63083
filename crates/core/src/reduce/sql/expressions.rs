//! Expressions by parts of them, and by constants.

use std::ops::ControlFlow;

use sqlparser::ast::{BinaryOperator, Expr, Query, UnaryOperator, Value, Visit, Visitor};

use crate::reduce::sql::rewrite::{Choice, Rewrite};

pub(in crate::reduce) static EXPRESSIONS: Rewrite =
    Rewrite { statements: &[], queries: &[], selects: &[], expressions: &[operand, constant, shorter, equality] };

/// One of its operands, arguments or branches, if that is a condition where it is one, and a value where it is one.
fn operand(expression: &mut Expr, nth: usize) -> bool {
    let wanted = is_condition(expression);
    let mut fitting = operands(expression).into_iter().filter(|operand| is_condition(operand) == wanted);
    let Some(operand) = fitting.nth(nth) else { return false };
    *expression = operand;
    true
}

/// TRUE for a condition; 1 or NULL for a value that is more than a name or a literal.
fn constant(expression: &mut Expr, nth: usize) -> bool {
    let one = || Value::Number("1".to_string(), false);
    let constants = match &*expression {
        condition if is_condition(condition) => vec![Value::Boolean(true)],
        Expr::Identifier(_)
        | Expr::CompoundIdentifier(_)
        | Expr::Value(_)
        | Expr::TypedString(_)
        | Expr::Prefixed { .. }
        | Expr::Interval(_)
        | Expr::Wildcard(_)
        | Expr::QualifiedWildcard(..)
        | Expr::Tuple(_) => Vec::new(),
        _ => vec![one(), Value::Null],
    };
    let Some(constant) = constants.into_iter().nth(nth) else { return false };
    *expression = Expr::Value(constant.into());
    true
}

/// Fewer elements of IN, fewer branches of CASE, no NOT.
fn shorter(expression: &mut Expr, nth: usize) -> bool {
    let mut choice = Choice::new(nth);
    match expression {
        Expr::InList { list, negated, .. } => {
            let chosen = choice.is(*negated);
            *negated &= !chosen;
            chosen || choice.remove(list, 1)
        }
        Expr::InSubquery { negated, .. }
        | Expr::Between { negated, .. }
        | Expr::Like { negated, .. }
        | Expr::Exists { negated, .. } => {
            let chosen = choice.is(*negated);
            *negated &= !chosen;
            chosen
        }
        Expr::Case { conditions, else_result, .. } => choice.remove(conditions, 1) || choice.take(else_result),
        _ => false,
    }
}

/// A comparison of any kind as `=`.
fn equality(expression: &mut Expr, nth: usize) -> bool {
    use BinaryOperator::{Gt, GtEq, Lt, LtEq, NotEq, Spaceship};
    if nth > 0 {
        return false;
    }
    let (left, right) = match expression {
        Expr::BinaryOp { left, op: Gt | GtEq | Lt | LtEq | NotEq | Spaceship, right } => (left.clone(), right.clone()),
        Expr::Between { expr, low, .. } => (expr.clone(), low.clone()),
        Expr::Like { expr, pattern, .. } => (expr.clone(), pattern.clone()),
        Expr::InList { expr, list, .. } if list.len() == 1 => (expr.clone(), Box::new(list[0].clone())),
        _ => return false,
    };
    *expression = Expr::BinaryOp { left, op: BinaryOperator::Eq, right };
    true
}

/// Whether an expression is true or false, as far as its form tells.
fn is_condition(expression: &Expr) -> bool {
    use BinaryOperator::{And, Eq, Gt, GtEq, Lt, LtEq, NotEq, Or, Spaceship, Xor};
    match expression {
        Expr::Nested(inner) => is_condition(inner),
        Expr::BinaryOp { op, .. } => {
            matches!(op, And | Or | Xor | Eq | NotEq | Gt | GtEq | Lt | LtEq | Spaceship)
        }
        Expr::UnaryOp { op, .. } => *op == UnaryOperator::Not,
        Expr::Value(value) => matches!(value.value, Value::Boolean(_)),
        Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsUnknown(_)
        | Expr::IsNotUnknown(_)
        | Expr::IsDistinctFrom(..)
        | Expr::IsNotDistinctFrom(..)
        | Expr::InList { .. }
        | Expr::InSubquery { .. }
        | Expr::Between { .. }
        | Expr::Like { .. }
        | Expr::ILike { .. }
        | Expr::SimilarTo { .. }
        | Expr::RLike { .. }
        | Expr::AnyOp { .. }
        | Expr::AllOp { .. }
        | Expr::Exists { .. } => true,
        _ => false,
    }
}

/// The expressions directly below one, but none of a query in it: what they speak of is unknown outside.
fn operands(expression: &Expr) -> Vec<Expr> {
    let mut below = Below { depth: 0, queries: 0, found: Vec::new() };
    let _ = expression.visit(&mut below);
    below.found
}

struct Below {
    depth: usize,
    queries: usize,
    found: Vec<Expr>,
}

impl Visitor for Below {
    type Break = ();

    fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<()> {
        if self.depth == 1 && self.queries == 0 {
            self.found.push(expression.clone());
        }
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, _: &Expr) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.queries += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.queries -= 1;
        ControlFlow::Continue(())
    }
}
