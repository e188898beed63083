//! Loops that go round once: `while (!done) { try { …; done = true; } catch … { retry } }`.
//!
//! An error of the database ends the call here, so that nothing is left that would make them go round again.

use txloom_core::program::{Expr, ExprKind, Statement, StatementKind};
use txloom_core::value::Value;

use super::walk;

/// Replaces such loops by their bodies.
pub(super) fn tidy(body: &mut Vec<Statement>) {
    walk::each_list(body, &mut |list| {
        let mut at = 0;
        while at < list.len() {
            match unrolled(&list[..at], &list[at]) {
                Some(body) => drop(list.splice(at..=at, body)),
                None => at += 1,
            }
        }
    });
}

/// The body of a loop that goes round exactly once, after these statements.
fn unrolled(before: &[Statement], statement: &Statement) -> Option<Vec<Statement>> {
    match &statement.kind {
        StatementKind::Loop { body, label } => {
            let (last, rest) = body.split_last()?;
            let leaves = matches!(&last.kind, StatementKind::Leave(name) if name.is_none() || name == label);
            (leaves && !jumps(rest)).then(|| rest.to_vec())
        }
        StatementKind::While { condition, body, .. } => {
            let (flag, wanted) = asked(condition)?;
            let first = before.iter().rev().find(|one| walk::mentioned(std::slice::from_ref(*one)).contains(flag))?;
            let (last, rest) = body.split_last()?;
            let is_set = |statement: &Statement, value: bool| assigned(statement, flag) == Some(value);
            let changes = |one: &Statement| walk::defined(one).iter().any(|variable| variable.name == flag);
            let mut is_changed = false;
            walk::each(rest, &mut |one| is_changed |= changes(one));
            let is_once = is_set(first, wanted) && is_set(last, !wanted) && !is_changed && !jumps(rest);
            is_once.then(|| body.clone())
        }
        _ => None,
    }
}

/// The variable that a condition asks for, and what it must be.
fn asked(condition: &Expr) -> Option<(&str, bool)> {
    match &condition.kind {
        ExprKind::Variable(name) => Some((name, true)),
        ExprKind::Not(operand) => asked(operand).map(|(name, wanted)| (name, !wanted)),
        _ => None,
    }
}

/// The truth value that a statement assigns to a variable.
fn assigned(statement: &Statement, flag: &str) -> Option<bool> {
    let (variable, value) = match &statement.kind {
        StatementKind::Assign { variable, value } => (variable, value),
        StatementKind::Declare { variable, default: Some(value), .. } => (variable, value),
        _ => return None,
    };
    match &value.kind {
        ExprKind::Literal(Value::Bool(value)) if variable.name == flag => Some(*value),
        _ => None,
    }
}

/// Whether something in a body may go on somewhere else than behind it.
fn jumps(body: &[Statement]) -> bool {
    let mut found = false;
    walk::each(body, &mut |statement| {
        found |= matches!(statement.kind, StatementKind::Leave(_) | StatementKind::Iterate(_));
    });
    found
}
