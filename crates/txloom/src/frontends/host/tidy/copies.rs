//! Variables of ours that repeat others.
//!
//! `SET p = :x; … :p …` is `… :x …`, as long as neither has changed in between. Only variables that do not stand in the
//! source are replaced: what people have named keeps its name.

use std::collections::{BTreeMap, BTreeSet};

use txloom_core::program::{Expr, ExprKind, SqlPart, Statement, StatementKind};

use super::walk;

/// What each variable is known to repeat.
type Known = BTreeMap<String, Expr>;

struct Copies<'m> {
    made_up: &'m BTreeSet<String>,
    uses: BTreeMap<String, usize>,
    definitions: BTreeMap<String, usize>,
}

/// Replaces variables by what they repeat.
pub(super) fn tidy(body: &mut [Statement], made_up: &BTreeSet<String>) {
    let copies = Copies { made_up, uses: walk::uses(body), definitions: walk::definitions(body) };
    copies.block(body, &mut Known::new());
}

impl Copies<'_> {
    fn block(&self, body: &mut [Statement], known: &mut Known) {
        for statement in body {
            self.statement(statement, known);
        }
    }

    fn statement(&self, statement: &mut Statement, known: &mut Known) {
        let is_loop = matches!(
            statement.kind,
            StatementKind::While { .. } | StatementKind::Loop { .. } | StatementKind::ForEach { .. }
        );
        if is_loop {
            forget_inside(statement, known);
        }
        for expr in walk::expressions_mut(statement) {
            replace(expr, known);
        }
        if let Some(sql) = walk::sql_mut(statement) {
            for part in &mut sql.parts {
                if let SqlPart::Use(variable) = part
                    && let Some(Expr { kind: ExprKind::Variable(name), .. }) = known.get(&variable.name)
                {
                    variable.name = name.clone();
                }
            }
        }
        if walk::clobbers(statement) {
            known.retain(|_, value| !walk::is_volatile(value));
        }
        for body in walk::bodies_mut(statement) {
            self.block(body, &mut known.clone());
        }
        forget_inside(statement, known);
        for variable in walk::defined(statement) {
            forget(&variable.name, known);
        }
        self.learn(statement, known);
    }

    fn learn(&self, statement: &Statement, known: &mut Known) {
        let (variable, value) = match &statement.kind {
            StatementKind::Assign { variable, value } => (variable, value),
            StatementKind::Declare { variable, default: Some(value), .. } => (variable, value),
            _ => return,
        };
        if !self.made_up.contains(&variable.name) {
            return;
        }
        let count = |counts: &BTreeMap<String, usize>| counts.get(&variable.name).copied().unwrap_or(0);
        let is_simple = match &value.kind {
            ExprKind::Variable(name) => *name != variable.name,
            ExprKind::Literal(_) | ExprKind::Found | ExprKind::RowCount => true,
            _ => count(&self.uses) == 1 && count(&self.definitions) == 1,
        };
        if is_simple && !value.uses().iter().any(|used| used.name == variable.name) {
            known.insert(variable.name.clone(), value.clone());
        }
    }
}

/// What is changed inside of a statement is not known around it.
fn forget_inside(statement: &Statement, known: &mut Known) {
    for body in walk::bodies(statement) {
        walk::each(body, &mut |inner| {
            if walk::clobbers(inner) {
                known.retain(|_, value| !walk::is_volatile(value));
            }
            for variable in walk::defined(inner) {
                forget(&variable.name, known);
            }
        });
    }
}

fn forget(name: &str, known: &mut Known) {
    known.remove(name);
    known.retain(|_, value| !value.uses().iter().any(|used| used.name == name));
}

fn replace(expr: &mut Expr, known: &Known) {
    match &mut expr.kind {
        ExprKind::Variable(name) => {
            if let Some(value) = known.get(name) {
                let span = expr.span;
                *expr = value.clone();
                expr.span = span;
            }
        }
        ExprKind::Not(operand) | ExprKind::Negate(operand) | ExprKind::IsNull { operand, .. } => {
            replace(operand, known)
        }
        ExprKind::Binary { left, right, .. } => {
            replace(left, known);
            replace(right, known);
        }
        _ => {}
    }
}
