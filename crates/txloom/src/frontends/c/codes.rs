//! Questions about how a statement went: `sqlca.sqlcode`, `SQLCODE`, `SQLSTATE`, `sqlca.sqlerrd[2]`.
//!
//! An error ends the call, so that only two answers are left: there was a row (0, `00000`) or there was none (100,
//! `02000`). One variable holds which.

use txloom_core::program::Span;

use super::super::host::tree::{Call, Expr, ExprKind, Operator, Stmt, StmtKind};
use super::embedded::{Action, Cut};

/// The variable that says whether the last statement had a row.
const FOUND: &str = "sql_found";

/// Names for the code of "no row".
const NOT_FOUND: &[&str] =
    &["100", "1403", "+100", "ECPG_NOT_FOUND", "SQL_NOT_FOUND", "NOT_FOUND", "NOTFOUND", "SQLNOTFOUND", "SQL_NO_DATA"];

/// What a code is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    Fine,
    NotFound,
    Error,
}

/// Whether a file asks how statements went.
pub(super) fn asks(cut: &Cut) -> bool {
    let lower = cut.text.to_lowercase();
    let is_asked = lower.contains("sqlcode") || lower.contains("sqlstate");
    is_asked || cut.statements.values().any(|one| one.not_found != Action::Continue)
}

/// The variable with the answer belongs to each function.
pub(super) fn declaration(span: Span) -> Stmt {
    let (name, type_name) = (FOUND.to_string(), "bool".to_string());
    Stmt { kind: StmtKind::Declare { name, type_name, value: None }, span }
}

/// Whether the last statement had a row.
pub(super) fn found(span: Span) -> Expr {
    Expr { kind: ExprKind::Name(FOUND.to_string()), span }
}

/// Whether it had none.
pub(super) fn not_found(span: Span) -> Expr {
    Expr { kind: ExprKind::Not(Box::new(found(span))), span }
}

/// Notes how a statement went.
pub(super) fn note(value: Expr) -> Stmt {
    let span = value.span;
    let assign = ExprKind::Assign { target: Box::new(found(span)), operator: None, value: Box::new(value) };
    Stmt { kind: StmtKind::Expr(Expr { kind: assign, span }), span }
}

/// A call of the vocabulary without arguments.
pub(super) fn asked(name: &str, span: Span) -> Expr {
    let call = Call { receiver: None, name: name.to_string(), arguments: Vec::new(), named: Vec::new() };
    Expr { kind: ExprKind::Call(call), span }
}

/// Whether an expression is the code of the last statement.
pub(super) fn is_code(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(name) => ["SQLCODE", "SQLSTATE", "sqlcode", "sqlstate"].contains(&name.as_str()),
        ExprKind::Field(of, name) => {
            ["sqlcode", "sqlstate"].contains(&name.as_str()) && matches!(&of.kind, ExprKind::Name(_))
        }
        _ => false,
    }
}

/// `sqlca.sqlerrd[2]`: how many rows the last statement changed.
pub(super) fn is_count(of: &Expr, at: &Expr) -> bool {
    let is_field = matches!(&of.kind, ExprKind::Field(_, name) if name == "sqlerrd");
    is_field && matches!(&at.kind, ExprKind::Number(at) if at == "2")
}

fn code_of(expr: &Expr) -> Option<Code> {
    match &expr.kind {
        ExprKind::Number(text) if text == "0" => Some(Code::Fine),
        ExprKind::Number(text) | ExprKind::Name(text) if NOT_FOUND.contains(&text.as_str()) => Some(Code::NotFound),
        ExprKind::Number(_) | ExprKind::Negate(_) => Some(Code::Error),
        ExprKind::Text(text) if text.starts_with("00") => Some(Code::Fine),
        ExprKind::Text(text) if text.starts_with("02") => Some(Code::NotFound),
        ExprKind::Text(_) => Some(Code::Error),
        _ => None,
    }
}

/// A comparison with a code, as a question whether there was a row.
pub(super) fn comparison(operator: Operator, left: &Expr, right: &Expr, span: Span) -> Option<ExprKind> {
    let (operator, code) = match (is_code(left), is_code(right)) {
        (true, _) => (operator, code_of(right)?),
        (_, true) => (turned(operator), code_of(left)?),
        _ => return None,
    };
    // What the code can be, and whether the comparison holds then.
    let holds = |actual: i32| {
        let wanted = match code {
            Code::Fine => 0,
            Code::NotFound => 100,
            Code::Error => -1,
        };
        match operator {
            Operator::Equal => actual == wanted,
            Operator::NotEqual => actual != wanted,
            Operator::Less => actual < wanted,
            Operator::LessEqual => actual <= wanted,
            Operator::Greater => actual > wanted,
            _ => actual >= wanted,
        }
    };
    Some(match (holds(0), holds(100)) {
        (true, false) => found(span).kind,
        (false, true) => not_found(span).kind,
        (both, _) => ExprKind::Bool(both),
    })
}

fn turned(operator: Operator) -> Operator {
    match operator {
        Operator::Less => Operator::Greater,
        Operator::LessEqual => Operator::GreaterEqual,
        Operator::Greater => Operator::Less,
        Operator::GreaterEqual => Operator::LessEqual,
        other => other,
    }
}

/// The code itself.
pub(super) fn value(span: Span) -> ExprKind {
    let number = |text: &str| Box::new(Expr { kind: ExprKind::Number(text.to_string()), span });
    ExprKind::Choice(Box::new(found(span)), number("0"), number("100"))
}
