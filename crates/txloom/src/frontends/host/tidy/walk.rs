//! Walks over statements of the IR.

use std::collections::{BTreeMap, BTreeSet};

use txloom_core::program::{Expr, ExprKind, SqlPart, SqlStatement, Statement, StatementKind, Variable};

/// Calls a function for every statement, outer ones first.
pub(crate) fn each<'s>(statements: &'s [Statement], found: &mut dyn FnMut(&'s Statement)) {
    for statement in statements {
        found(statement);
        for body in statement.bodies() {
            each(body, found);
        }
    }
}

/// Calls a function for every list of statements, inner ones first.
pub(crate) fn each_list(statements: &mut Vec<Statement>, change: &mut dyn FnMut(&mut Vec<Statement>)) {
    for statement in statements.iter_mut() {
        for body in statement.bodies_mut() {
            each_list(body, change);
        }
    }
    change(statements);
}

/// How many statements there are.
pub(crate) fn count(statements: &[Statement]) -> usize {
    let mut count = 0;
    each(statements, &mut |_| count += 1);
    count
}

/// The expressions of a statement itself, not of those inside.
pub(crate) fn expressions(statement: &Statement) -> Vec<&Expr> {
    match &statement.kind {
        StatementKind::Declare { default, .. } => default.iter().collect(),
        StatementKind::Assign { value, .. } | StatementKind::Raise(value) => vec![value],
        StatementKind::If { branches, .. } => branches.iter().map(|branch| &branch.condition).collect(),
        StatementKind::While { condition, .. } => vec![condition],
        StatementKind::Return(outputs) => outputs.iter().collect(),
        _ => Vec::new(),
    }
}

/// The expressions of a statement itself, to be changed.
pub(crate) fn expressions_mut(statement: &mut Statement) -> Vec<&mut Expr> {
    match &mut statement.kind {
        StatementKind::Declare { default, .. } => default.iter_mut().collect(),
        StatementKind::Assign { value, .. } | StatementKind::Raise(value) => vec![value],
        StatementKind::If { branches, .. } => branches.iter_mut().map(|branch| &mut branch.condition).collect(),
        StatementKind::While { condition, .. } => vec![condition],
        StatementKind::Return(outputs) => outputs.iter_mut().collect(),
        _ => Vec::new(),
    }
}

/// The SQL of a statement itself.
pub(crate) fn sql(statement: &Statement) -> Option<&SqlStatement> {
    match &statement.kind {
        StatementKind::Sql(sql)
        | StatementKind::Open { query: sql, .. }
        | StatementKind::ForEach { query: sql, .. } => Some(sql),
        _ => None,
    }
}

/// The SQL of a statement itself, to be changed.
pub(crate) fn sql_mut(statement: &mut Statement) -> Option<&mut SqlStatement> {
    match &mut statement.kind {
        StatementKind::Sql(sql)
        | StatementKind::Open { query: sql, .. }
        | StatementKind::ForEach { query: sql, .. } => Some(sql),
        _ => None,
    }
}

/// The variables that a statement itself gives values to; a declaration gives NULL.
pub(crate) fn defined(statement: &Statement) -> Vec<&Variable> {
    match &statement.kind {
        StatementKind::Declare { variable, .. } | StatementKind::Assign { variable, .. } => vec![variable],
        StatementKind::Fetch { variables, .. } | StatementKind::ForEach { variables, .. } => variables.iter().collect(),
        StatementKind::Sql(sql) => sql.defines().iter().collect(),
        _ => Vec::new(),
    }
}

/// The variables that a statement itself gives values to, to be renamed.
pub(crate) fn defined_mut(statement: &mut Statement) -> Vec<&mut Variable> {
    match &mut statement.kind {
        StatementKind::Declare { variable, .. } | StatementKind::Assign { variable, .. } => vec![variable],
        StatementKind::Fetch { variables, .. } | StatementKind::ForEach { variables, .. } => {
            variables.iter_mut().collect()
        }
        StatementKind::Sql(sql) => sql
            .parts
            .iter_mut()
            .filter_map(|part| match part {
                SqlPart::Into(into) => Some(into.variables.iter_mut()),
                _ => None,
            })
            .flatten()
            .collect(),
        _ => Vec::new(),
    }
}

/// The variables that a statement itself uses.
pub(crate) fn used(statement: &Statement) -> Vec<String> {
    let mut names: Vec<String> =
        expressions(statement).into_iter().flat_map(Expr::uses).map(|variable| variable.name).collect();
    names.extend(sql(statement).into_iter().flat_map(SqlStatement::uses).map(|variable| variable.name.clone()));
    names
}

/// How often each variable is used.
pub(crate) fn uses(statements: &[Statement]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    each(statements, &mut |statement| {
        for name in used(statement) {
            *counts.entry(name).or_insert(0) += 1;
        }
    });
    counts
}

/// How often each variable is given a value, declarations without one not counted.
pub(crate) fn definitions(statements: &[Statement]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    each(statements, &mut |statement| {
        if matches!(statement.kind, StatementKind::Declare { default: None, .. }) {
            return;
        }
        for variable in defined(statement) {
            *counts.entry(variable.name.clone()).or_insert(0) += 1;
        }
    });
    counts
}

/// Every variable that is mentioned.
pub(crate) fn mentioned(statements: &[Statement]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    each(statements, &mut |statement| {
        names.extend(used(statement));
        names.extend(defined(statement).into_iter().map(|variable| variable.name.clone()));
    });
    names
}

/// Whether an expression depends on the last statement that was sent.
pub(crate) fn is_volatile(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Found | ExprKind::RowCount => true,
        ExprKind::Not(operand) | ExprKind::Negate(operand) | ExprKind::IsNull { operand, .. } => is_volatile(operand),
        ExprKind::Binary { left, right, .. } => is_volatile(left) || is_volatile(right),
        _ => false,
    }
}

/// Whether a statement itself changes what `FOUND()` and `ROW_COUNT()` say.
pub(crate) fn clobbers(statement: &Statement) -> bool {
    matches!(
        statement.kind,
        StatementKind::Sql(_)
            | StatementKind::Open { .. }
            | StatementKind::Fetch { .. }
            | StatementKind::ForEach { .. }
            | StatementKind::Begin
            | StatementKind::Commit
            | StatementKind::Rollback
            | StatementKind::Isolation(_)
    )
}
