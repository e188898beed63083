//! Walks over trees.

use super::tree::{Expr, ExprKind, Stmt, StmtKind};

/// Calls a function for every expression in statements, outer ones first.
pub(crate) fn expressions<'t>(statements: &'t [Stmt], found: &mut dyn FnMut(&'t Expr)) {
    for statement in statements {
        match &statement.kind {
            StmtKind::Declare { value, .. } => value.iter().for_each(|value| inside(value, found)),
            StmtKind::Expr(expr) => inside(expr, found),
            StmtKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    inside(condition, found);
                    expressions(body, found);
                }
                expressions(otherwise, found);
            }
            StmtKind::While { condition, body, .. } | StmtKind::DoWhile { condition, body, .. } => {
                inside(condition, found);
                expressions(body, found);
            }
            StmtKind::For { start, condition, step, body, .. } => {
                expressions(start, found);
                condition.iter().for_each(|condition| inside(condition, found));
                step.iter().for_each(|step| inside(step, found));
                expressions(body, found);
            }
            StmtKind::ForEach { over, body, .. } => {
                inside(over, found);
                expressions(body, found);
            }
            StmtKind::Switch { subject, cases, .. } => {
                inside(subject, found);
                for case in cases {
                    case.labels.iter().for_each(|label| inside(label, found));
                    expressions(&case.body, found);
                }
            }
            StmtKind::Return(value) | StmtKind::Throw(value) => value.iter().for_each(|value| inside(value, found)),
            StmtKind::Try(guarded) => {
                expressions(&guarded.resources, found);
                expressions(&guarded.body, found);
                guarded.catches.iter().for_each(|catch| expressions(&catch.body, found));
                expressions(&guarded.finally, found);
            }
            StmtKind::Block { body, .. } => expressions(body, found),
            StmtKind::Break(_) | StmtKind::Continue(_) => {}
        }
    }
}

/// Calls a function for an expression and every one inside of it, outer ones first.
pub(crate) fn inside<'t>(expr: &'t Expr, found: &mut dyn FnMut(&'t Expr)) {
    found(expr);
    for part in parts(expr) {
        inside(part, found);
    }
    if let ExprKind::Lambda(body) = &expr.kind {
        expressions(body, found);
    }
}

/// The expressions directly inside of one.
pub(crate) fn parts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Field(of, _) | ExprKind::Not(of) | ExprKind::Negate(of) | ExprKind::Cast(_, of) => vec![of],
        ExprKind::Step { target, .. } => vec![target],
        ExprKind::Call(call) => {
            let receiver = call.receiver.iter().map(|receiver| &**receiver);
            receiver.chain(&call.arguments).chain(call.named.iter().map(|(_, value)| value)).collect()
        }
        ExprKind::New { arguments: all, .. }
        | ExprKind::Chain(_, all)
        | ExprKind::List(all)
        | ExprKind::Pieces(all)
        | ExprKind::Other(all) => all.iter().collect(),
        ExprKind::Assign { target, value, .. } => vec![target, value],
        ExprKind::Index(of, at) => vec![of, at],
        ExprKind::Choice(condition, yes, no) => vec![condition, yes, no],
        ExprKind::Map(pairs) => pairs.iter().flat_map(|(key, value)| [key, value]).collect(),
        ExprKind::Name(_)
        | ExprKind::Text(_)
        | ExprKind::Number(_)
        | ExprKind::Bool(_)
        | ExprKind::Null
        | ExprKind::Lambda(_) => Vec::new(),
    }
}
