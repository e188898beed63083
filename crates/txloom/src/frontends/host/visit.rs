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

/// Calls a function for every statement, outer ones first.
pub(crate) fn statements<'t>(all: &'t [Stmt], found: &mut dyn FnMut(&'t Stmt)) {
    for statement in all {
        found(statement);
        blocks(statement).into_iter().for_each(|block| statements(block, found));
    }
}

/// The blocks directly inside of a statement.
fn blocks(statement: &Stmt) -> Vec<&[Stmt]> {
    match &statement.kind {
        StmtKind::If { branches, otherwise } => {
            branches.iter().map(|(_, body)| body.as_slice()).chain([otherwise.as_slice()]).collect()
        }
        StmtKind::While { body, .. }
        | StmtKind::DoWhile { body, .. }
        | StmtKind::ForEach { body, .. }
        | StmtKind::Block { body, .. } => vec![body],
        StmtKind::For { start, body, .. } => vec![start, body],
        StmtKind::Switch { cases, .. } => cases.iter().map(|case| case.body.as_slice()).collect(),
        StmtKind::Try(guarded) => {
            let catches = guarded.catches.iter().map(|catch| catch.body.as_slice());
            [guarded.resources.as_slice(), &guarded.body]
                .into_iter()
                .chain(catches)
                .chain([&*guarded.finally])
                .collect()
        }
        StmtKind::Declare { .. }
        | StmtKind::Expr(_)
        | StmtKind::Return(_)
        | StmtKind::Throw(_)
        | StmtKind::Break(_)
        | StmtKind::Continue(_) => Vec::new(),
    }
}

/// The same without what functions without a name do, who knows when.
pub(crate) fn followed<'t>(statements: &'t [Stmt], found: &mut dyn FnMut(&'t Expr)) {
    let mut later: Vec<(usize, usize)> = Vec::new();
    expressions(statements, &mut |expr| {
        let (start, end) = (expr.span.start, expr.span.end);
        if matches!(expr.kind, ExprKind::Lambda(_)) {
            later.push((start, end));
        } else if !later.iter().any(|(first, last)| *first <= start && end <= *last) {
            found(expr);
        }
    });
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
