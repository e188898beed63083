//! What an application computes in a way that is not followed is an argument.
//!
//! ```text
//!   seat = seats[random.nextInt(9)]       DECLARE seat INT DEFAULT ANY();    →   newreservation(…, any_seat INT)
//!                                                                               DECLARE seat INT DEFAULT :any_seat;
//! ```
//!
//! *Any value* can be analysed, but not run. As an argument, it is chosen like the others, and said: who reads the test
//! sees what must come out there. What is computed again and again in a loop is the same each time then. A loop that goes
//! on while nobody knows what holds would go on for ever with an argument: one that only computes is gone through once or
//! not at all, and one that sends something stays as it is.

use std::collections::{BTreeMap, BTreeSet};

use txloom_core::program::schema::Schema;
use txloom_core::program::{
    BinaryOp, Branch, Expr, ExprKind, Language, Mode, Parameter, Procedure, Span, Statement, StatementKind,
};

use crate::frontends::host::tidy::walk;
use crate::frontends::host::types;

/// The type of what stands alone in a condition.
const TRUTH: &str = "BOOLEAN";
/// The type of what nothing is known of.
const UNSAID: &str = "VARCHAR";

/// Makes parameters of all values that nobody knows.
pub(super) fn become_parameters(procedure: &mut Procedure, schema: &Schema, language: Language) {
    let mut found = Unknowns::of(procedure);
    walk::each_list(&mut procedure.body, &mut |list| list.iter_mut().for_each(|statement| found.replace_in(statement)));
    if found.made.is_empty() {
        return;
    }
    let own = procedure.parameters.len();
    procedure.parameters.append(&mut found.made);
    // What a value is compared with, or written to, says more than the variable that passes it on.
    let mut typed = procedure.clone();
    types::infer(&mut typed, schema, language);
    procedure.parameters.splice(own.., typed.parameters.drain(own..));
}

struct Unknowns {
    /// The types of variables.
    types: BTreeMap<String, String>,
    /// Names that are taken.
    names: BTreeSet<String>,
    made: Vec<Parameter>,
}

impl Unknowns {
    fn of(procedure: &Procedure) -> Unknowns {
        let parameters = procedure.parameters.iter();
        let mut types: BTreeMap<String, String> =
            parameters.map(|parameter| (parameter.name.clone(), parameter.type_name.clone())).collect();
        walk::each(&procedure.body, &mut |statement| {
            if let StatementKind::Declare { variable, type_name, .. } = &statement.kind {
                types.insert(variable.name.clone(), type_name.clone());
            }
        });
        let names = types.keys().cloned().chain(walk::mentioned(&procedure.body)).collect();
        Unknowns { types, names, made: Vec::new() }
    }

    fn replace_in(&mut self, statement: &mut Statement) {
        once_at_most(statement);
        let (kind, name) = match &statement.kind {
            StatementKind::While { .. } => return,
            StatementKind::Declare { variable, .. } | StatementKind::Assign { variable, .. } => {
                (self.types.get(&variable.name).cloned(), Some(variable.name.clone()))
            }
            StatementKind::If { .. } => (Some(TRUTH.to_string()), None),
            _ => (None, None),
        };
        for expr in walk::expressions_mut(statement) {
            self.replace(expr, kind.as_deref(), name.as_deref());
        }
    }

    /// Replaces what is unknown in an expression of a type, which goes to a variable.
    fn replace(&mut self, expr: &mut Expr, kind: Option<&str>, name: Option<&str>) {
        match &mut expr.kind {
            ExprKind::Any => expr.kind = ExprKind::Variable(self.parameter(expr.span, kind, name)),
            ExprKind::Not(operand) => self.replace(operand, Some(TRUTH), name),
            ExprKind::Negate(operand) => self.replace(operand, kind.filter(|kind| *kind != TRUTH), name),
            ExprKind::IsNull { operand, .. } => self.replace(operand, None, name),
            ExprKind::Binary { op: BinaryOp::And | BinaryOp::Or, left, right } => {
                self.replace(left, Some(TRUTH), name);
                self.replace(right, Some(TRUTH), name);
            }
            ExprKind::Binary { left, right, .. } => {
                let target = || name.and_then(|name| self.types.get(name)).filter(|kind| *kind != TRUTH).cloned();
                let kind = self.type_of(left).or_else(|| self.type_of(right)).or_else(target);
                self.replace(left, kind.as_deref(), name);
                self.replace(right, kind.as_deref(), name);
            }
            ExprKind::Literal(_) | ExprKind::Variable(_) | ExprKind::Found | ExprKind::RowCount => {}
        }
    }

    /// The type of a variable in an expression.
    fn type_of(&self, expr: &Expr) -> Option<String> {
        expr.uses().iter().find_map(|variable| self.types.get(&variable.name).cloned())
    }

    fn parameter(&mut self, span: Span, kind: Option<&str>, name: Option<&str>) -> String {
        let wanted = format!("any_{}", name.unwrap_or("value"));
        let numbered = (2..).map(|number| format!("{wanted}_{number}"));
        let name = std::iter::once(wanted.clone()).chain(numbered).find(|name| self.names.insert(name.clone()));
        let name = name.unwrap_or(wanted);
        let type_name = kind.unwrap_or(UNSAID).to_string();
        self.made.push(Parameter { name: name.clone(), mode: Mode::In, type_name, span });
        name
    }
}

/// A loop of which nobody knows when it ends, and that sends nothing, becomes a branch.
fn once_at_most(statement: &mut Statement) {
    let StatementKind::While { condition, body, .. } = &mut statement.kind else { return };
    let mut only_computes = is_unknown(condition);
    walk::each(body, &mut |inner| {
        let computes = matches!(
            inner.kind,
            StatementKind::Declare { .. } | StatementKind::Assign { .. } | StatementKind::If { .. }
        );
        only_computes &= computes;
    });
    if only_computes {
        let branch = Branch { condition: condition.clone(), body: std::mem::take(body) };
        statement.kind = StatementKind::If { branches: vec![branch], otherwise: Vec::new() };
    }
}

/// Whether something in an expression is not known.
fn is_unknown(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Any => true,
        ExprKind::Not(operand) | ExprKind::Negate(operand) | ExprKind::IsNull { operand, .. } => is_unknown(operand),
        ExprKind::Binary { left, right, .. } => is_unknown(left) || is_unknown(right),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use txloom_core::program::front;
    use txloom_core::program::schema::Schema;

    use super::*;

    /// The parameters that a procedure has afterwards, and the value of its first declaration.
    fn asked(body: &str) -> String {
        let text = format!("CREATE TABLE t (k INT, v TEXT); CREATE PROCEDURE p(x INT) BEGIN {body} END;");
        let reading = front::read(&text, &Schema::default());
        let mut procedure = reading.program.procedures[0].clone();
        become_parameters(&mut procedure, &reading.schema, Language::Any);
        let parameters = procedure.parameters.iter().skip(1);
        parameters.map(|parameter| format!("{} {}", parameter.name, parameter.type_name)).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn each_unknown_value_is_asked_for() {
        for (body, parameters) in [
            ("DECLARE seat VARCHAR(3) DEFAULT ANY();", "any_seat VARCHAR(3)"),
            ("DECLARE n BIGINT; SET n = ANY(); SET n = :n + ANY();", "any_n BIGINT, any_n_2 BIGINT"),
            ("IF ANY() THEN ROLLBACK; END IF;", "any_value BOOLEAN"),
            ("IF :x > ANY() AND NOT ANY() THEN ROLLBACK; END IF;", "any_value INT, any_value_2 BOOLEAN"),
            ("DECLARE s VARCHAR DEFAULT ANY(); UPDATE t SET v = '' WHERE k = :s;", "any_s INT"),
            ("WHILE :x < ANY() DO SET x = :x + 1; END WHILE;", "any_value INT"),
            ("WHILE ANY() DO UPDATE t SET v = ''; END WHILE;", ""),
            ("SET x = 1;", ""),
        ] {
            assert_eq!(asked(body), parameters, "{body}");
        }
    }
}
