//! Variables of ours that repeat others.
//!
//! `SET p = :x; … :p …` is `… :x …`, as long as neither has changed in between. Only variables that do not stand in the
//! source are replaced: what people have named keeps its name.

use std::collections::{BTreeMap, BTreeSet};

use txloom_core::program::{Expr, ExprKind, SqlPart, Statement, StatementKind};

use super::walk;

/// The maximum number of parts of an expression that takes the place of a variable: expressions must not grow without end.
const COPIED_MAX: usize = 100;

/// What each variable is known to repeat. What is learnt inside of a branch is undone behind it.
#[derive(Default)]
struct Known {
    values: BTreeMap<String, Expr>,
    /// The variables that are known to repeat something with this variable in it.
    users: BTreeMap<String, BTreeSet<String>>,
    /// Those that depend on the last statement that was sent.
    volatile: BTreeSet<String>,
    /// What was there before each change.
    log: Vec<(String, Option<Expr>)>,
}

impl Known {
    fn get(&self, name: &str) -> Option<&Expr> {
        self.values.get(name)
    }

    fn set(&mut self, name: &str, value: Option<Expr>) {
        let old = self.replace(name, value);
        self.log.push((name.to_string(), old));
    }

    fn replace(&mut self, name: &str, value: Option<Expr>) -> Option<Expr> {
        let old = self.values.remove(name);
        for used in old.iter().flat_map(Expr::uses) {
            if let Some(users) = self.users.get_mut(&used.name) {
                users.remove(name);
            }
        }
        self.volatile.remove(name);
        if let Some(value) = value {
            for used in value.uses() {
                self.users.entry(used.name).or_default().insert(name.to_string());
            }
            if walk::is_volatile(&value) {
                self.volatile.insert(name.to_string());
            }
            self.values.insert(name.to_string(), value);
        }
        old
    }

    /// Forgets what a variable repeats, and what repeats it.
    fn forget(&mut self, name: &str) {
        if self.values.contains_key(name) {
            self.set(name, None);
        }
        let users = self.users.get(name).cloned().unwrap_or_default();
        users.iter().for_each(|user| self.set(user, None));
    }

    fn forget_volatile(&mut self) {
        let names = self.volatile.clone();
        names.iter().for_each(|name| self.set(name, None));
    }

    /// Undoes what was learnt and forgotten since.
    fn back_to(&mut self, mark: usize) {
        while self.log.len() > mark {
            let Some((name, old)) = self.log.pop() else { return };
            self.replace(&name, old);
        }
    }
}

struct Copies<'m> {
    made_up: &'m BTreeSet<String>,
    uses: BTreeMap<String, usize>,
    definitions: BTreeMap<String, usize>,
}

/// Replaces variables by what they repeat.
pub(super) fn tidy(body: &mut [Statement], made_up: &BTreeSet<String>) {
    let copies = Copies { made_up, uses: walk::uses(body), definitions: walk::definitions(body) };
    copies.block(body, &mut Known::default());
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
            known.forget_volatile();
        }
        for body in statement.bodies_mut() {
            let mark = known.log.len();
            self.block(body, known);
            known.back_to(mark);
        }
        forget_inside(statement, known);
        for variable in walk::defined(statement) {
            known.forget(&variable.name);
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
            _ => count(&self.uses) == 1 && count(&self.definitions) == 1 && !value.exceeds(COPIED_MAX),
        };
        if is_simple && !value.uses().iter().any(|used| used.name == variable.name) {
            known.set(&variable.name, Some(value.clone()));
        }
    }
}

/// What is changed inside of a statement is not known around it.
fn forget_inside(statement: &Statement, known: &mut Known) {
    for body in statement.bodies() {
        walk::each(body, &mut |inner| {
            if walk::clobbers(inner) {
                known.forget_volatile();
            }
            for variable in walk::defined(inner) {
                known.forget(&variable.name);
            }
        });
    }
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
