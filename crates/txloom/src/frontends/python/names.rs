//! Names of a function: which are its own, and what its parameters are good for.

use std::collections::BTreeSet;

use super::super::host::tree::{Expr, ExprKind, Parameter, Stmt, StmtKind};
use super::super::host::visit;

/// Calls that only a connection understands.
const OF_CONNECTIONS: &[&str] = &[
    "cursor",
    "commit",
    "rollback",
    "transaction",
    "begin",
    "begin_nested",
    "connect",
    "execution_options",
    "__set_autocommit__",
    "__set_isolation_level__",
];

/// Calls that only a cursor understands.
const OF_CURSORS: &[&str] = &["fetchone", "fetchall", "fetchmany", "rowcount", "executemany"];

/// Says what parameters are whose types nobody has said: connections and cursors are known by what is done with them.
pub(super) fn type_parameters(parameters: &mut [Parameter], body: &[Stmt]) {
    for parameter in parameters.iter_mut().filter(|parameter| parameter.type_name.is_empty()) {
        let mut calls: BTreeSet<&str> = BTreeSet::new();
        visit::expressions(body, &mut |expr| {
            if let ExprKind::Call(call) = &expr.kind
                && let Some(receiver) = &call.receiver
                && is_name(receiver, &parameter.name)
            {
                calls.insert(call.name.as_str());
            }
        });
        let has = |words: &[&str]| words.iter().any(|word| calls.contains(word));
        let is_gone_through = calls.contains("execute") && is_gone_through(body, &parameter.name);
        parameter.type_name = if has(OF_CONNECTIONS) {
            "Connection"
        } else if has(OF_CURSORS) || is_gone_through {
            "Cursor"
        } else if calls.contains("execute") {
            "Connection"
        } else {
            ""
        }
        .to_string();
    }
}

/// `for row in cur`
fn is_gone_through(body: &[Stmt], name: &str) -> bool {
    let mut found = false;
    visit::statements(body, &mut |statement| {
        found |= matches!(&statement.kind, StmtKind::ForEach { over, .. } if is_name(over, name));
    });
    found
}

fn is_name(expr: &Expr, name: &str) -> bool {
    matches!(&expr.kind, ExprKind::Name(one) if one == name)
}

/// A declaration of each variable that belongs to the function: those that it assigns to.
pub(super) fn locals(body: &[Stmt], parameters: &[Parameter], outer: &[String]) -> Vec<Stmt> {
    let mut seen: BTreeSet<&str> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    seen.extend(outer.iter().map(String::as_str));
    let mut declared = Vec::new();
    let mut declare = |name: &'_ str, span| {
        let kind = StmtKind::Declare { name: name.to_string(), type_name: String::new(), value: None };
        declared.push(Stmt { kind, span });
    };
    visit::expressions(body, &mut |expr| {
        let ExprKind::Assign { target, .. } = &expr.kind else { return };
        let mut open = vec![&**target];
        while let Some(target) = open.pop() {
            match &target.kind {
                ExprKind::Name(name) if seen.insert(name) => declare(name, target.span),
                ExprKind::List(targets) => open.extend(targets.iter().rev()),
                _ => {}
            }
        }
    });
    declared
}
