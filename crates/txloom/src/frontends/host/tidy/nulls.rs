//! `IF :v IS NULL THEN SET x = NULL; ELSE SET x = :v; END IF` is `SET x = :v`.
//!
//! Languages whose numbers cannot be NULL ask for it: `int n = rs.getInt(1); return rs.wasNull() ? null : n;`

use txloom_core::program::{Expr, ExprKind, Statement, StatementKind, Variable};
use txloom_core::value::Value;

use super::walk;

/// Replaces such branches.
pub(super) fn tidy(body: &mut Vec<Statement>) {
    walk::each_list(body, &mut |list| {
        for at in 0..list.len() {
            let repeats = at.checked_sub(1).and_then(|before| copy(&list[before]));
            if let Some(kind) = replaced(&list[at], repeats) {
                list[at].kind = kind;
            }
        }
    });
}

/// A statement that makes one variable repeat another: both.
fn copy(statement: &Statement) -> Option<(String, String)> {
    let (variable, value) = match &statement.kind {
        StatementKind::Assign { variable, value } => (variable, value),
        StatementKind::Declare { variable, default: Some(value), .. } => (variable, value),
        _ => return None,
    };
    match &value.kind {
        ExprKind::Variable(name) => Some((variable.name.clone(), name.clone())),
        _ => None,
    }
}

fn replaced(statement: &Statement, repeats: Option<(String, String)>) -> Option<StatementKind> {
    let StatementKind::If { branches, otherwise } = &statement.kind else { return None };
    let [branch] = branches.as_slice() else { return None };
    let ExprKind::IsNull { operand, negated } = &branch.condition.kind else { return None };
    let ExprKind::Variable(asked) = &operand.kind else { return None };
    let (there, missing) = if *negated { (&branch.body, otherwise) } else { (otherwise, &branch.body) };
    let (variable, value) = only_assignment(there)?;
    let (cleared, null) = only_assignment(missing)?;
    let ExprKind::Variable(given) = &value.kind else { return None };
    let is_same = given == asked
        || repeats.is_some_and(|(left, right)| (&left, &right) == (given, asked) || (&left, &right) == (asked, given));
    let is_null = null.kind == ExprKind::Literal(Value::Null) && cleared.name == variable.name;
    (is_same && is_null).then(|| StatementKind::Assign { variable: variable.clone(), value: value.clone() })
}

fn only_assignment(body: &[Statement]) -> Option<(&Variable, &Expr)> {
    match body {
        [Statement { kind: StatementKind::Assign { variable, value }, .. }] => Some((variable, value)),
        _ => None,
    }
}
