//! What nobody asks for.

use std::collections::{BTreeMap, BTreeSet};

use txloom_core::program::{Branch, Expr, ExprKind, Statement, StatementKind};

use super::walk;

/// Removes assignments to variables that are never used, declarations of such, and branches that do nothing.
pub(super) fn tidy(body: &mut Vec<Statement>) {
    loop {
        let before = walk::count(body);
        let uses = live(body);
        walk::each_list(body, &mut |list| {
            list.retain(|statement| match &statement.kind {
                StatementKind::Assign { variable, .. } => uses.contains(&variable.name),
                _ => true,
            });
            list.iter_mut().for_each(simplify);
            list.retain(|statement| !is_nothing(statement));
        });
        idle_loops(body);
        let defined = walk::definitions(body);
        walk::each_list(body, &mut |list| {
            list.retain(|statement| match &statement.kind {
                StatementKind::Declare { variable, default, .. } => {
                    let is_defined = defined.get(&variable.name).copied().unwrap_or(0) > usize::from(default.is_some());
                    uses.contains(&variable.name) || is_defined
                }
                _ => true,
            });
        });
        if walk::count(body) == before {
            return;
        }
    }
}

/// The variables that something depends on: a statement, a branch, an output, or another such variable.
fn live(body: &[Statement]) -> BTreeSet<String> {
    let mut live: BTreeSet<String> = BTreeSet::new();
    let mut behind: BTreeMap<String, Vec<String>> = BTreeMap::new();
    walk::each(body, &mut |statement| match &statement.kind {
        StatementKind::Assign { variable, .. } | StatementKind::Declare { variable, .. } => {
            behind.entry(variable.name.clone()).or_default().extend(walk::used(statement));
        }
        _ => live.extend(walk::used(statement)),
    });
    let mut open: Vec<String> = live.iter().cloned().collect();
    while let Some(name) = open.pop() {
        for used in behind.remove(&name).into_iter().flatten() {
            if live.insert(used.clone()) {
                open.push(used);
            }
        }
    }
    live
}

/// Branches at the end that do nothing are none; a branch that does nothing before an ELSE is its opposite.
fn simplify(statement: &mut Statement) {
    let StatementKind::If { branches, otherwise } = &mut statement.kind else { return };
    while otherwise.is_empty() && branches.last().is_some_and(|branch| branch.body.is_empty()) {
        branches.pop();
    }
    if let [only] = branches.as_mut_slice()
        && only.body.is_empty()
        && !otherwise.is_empty()
    {
        let body = std::mem::take(otherwise);
        let condition =
            opposite(std::mem::replace(&mut only.condition, Expr { kind: ExprKind::Any, span: statement.span }));
        *branches = vec![Branch { condition, body }];
    }
}

fn opposite(expr: Expr) -> Expr {
    let span = expr.span;
    match expr.kind {
        ExprKind::Not(operand) => *operand,
        ExprKind::Any => expr,
        ExprKind::IsNull { operand, negated } => Expr { kind: ExprKind::IsNull { operand, negated: !negated }, span },
        _ => Expr { kind: ExprKind::Not(Box::new(expr)), span },
    }
}

fn is_nothing(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::If { branches, otherwise } => branches.is_empty() && otherwise.is_empty(),
        StatementKind::While { body, .. } | StatementKind::Block { body, .. } => body.is_empty(),
        StatementKind::Loop { body, .. } => {
            matches!(body.as_slice(), [] | [Statement { kind: StatementKind::Leave(_), .. }])
        }
        _ => false,
    }
}

/// Loops that send nothing and compute nothing that is used behind them.
fn idle_loops(body: &mut Vec<Statement>) {
    let everywhere = walk::uses(body);
    walk::each_list(body, &mut |list| {
        list.retain(|statement| {
            let is_loop = matches!(statement.kind, StatementKind::While { .. } | StatementKind::Loop { .. });
            !is_loop || !is_idle(statement, &everywhere)
        });
    });
}

fn is_idle(statement: &Statement, everywhere: &BTreeMap<String, usize>) -> bool {
    let this = std::slice::from_ref(statement);
    let inside = walk::uses(this);
    let mut labels: BTreeSet<String> = BTreeSet::new();
    let mut is_idle = true;
    walk::each(this, &mut |inner| match &inner.kind {
        StatementKind::While { label, .. } | StatementKind::Loop { label, .. } => labels.extend(label.clone()),
        StatementKind::Block { label, .. } => drop(labels.insert(label.clone())),
        StatementKind::Leave(Some(label)) | StatementKind::Iterate(Some(label)) => is_idle &= labels.contains(label),
        StatementKind::Assign { variable, .. } | StatementKind::Declare { variable, .. } => {
            is_idle &= inside.get(&variable.name) == everywhere.get(&variable.name);
        }
        StatementKind::If { .. } | StatementKind::Leave(None) | StatementKind::Iterate(None) => {}
        _ => is_idle = false,
    });
    is_idle
}

/// `DECLARE x; … SET x = 1` is `… DECLARE x DEFAULT 1`, if that is the first mention.
pub(super) fn declare_late(body: &mut Vec<Statement>) {
    let mut waiting: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut gone: BTreeSet<usize> = BTreeSet::new();
    for (at, statement) in body.iter_mut().enumerate() {
        if let StatementKind::Declare { variable, type_name, default: None } = &statement.kind {
            waiting.insert(variable.name.clone(), (at, type_name.clone()));
            continue;
        }
        let mentioned = walk::mentioned(std::slice::from_ref(statement));
        let late = match &statement.kind {
            StatementKind::Assign { variable, value } => {
                let used = value.uses().iter().any(|used| used.name == variable.name);
                waiting.get(&variable.name).filter(|_| !used).cloned()
            }
            _ => None,
        };
        if let Some((declared, type_name)) = late
            && let StatementKind::Assign { variable, value } = statement.kind.clone()
        {
            gone.insert(declared);
            statement.kind = StatementKind::Declare { variable, type_name, default: Some(value) };
        }
        mentioned.iter().for_each(|name| drop(waiting.remove(name)));
    }
    let mut position = 0;
    body.retain(|_| {
        position += 1;
        !gone.contains(&(position - 1))
    });
}
