//! A unique key, where a row is looked for before it is inserted.
//!
//! ```text
//!   SELECT COUNT(*) INTO :n FROM users WHERE name = :name;
//!   IF :n = 0 THEN INSERT INTO users (id, name) VALUES (:id, :name); END IF;
//! ```
//!
//! Two calls that look at the same time both insert. With a unique key over `name` one of them fails. It is proposed only
//! if the program inserts where it has found none, and so never violates the key by itself; a program that counts up to
//! three does not mean it.

use super::{Change, Edit, Ground, Home, Place, UNIQUE};
use crate::program::access::{Effect, Node, TableAccess};
use crate::program::code::OperationKind;
use crate::program::ir::{BinaryOp, Expr, ExprKind};
use crate::program::predicate::{Predicate, Term};
use crate::value::Value;

/// The unique key that a query hopes for.
pub(super) fn unique(ground: &Ground<'_>, place: Place) -> Option<Change> {
    let nodes = &ground.procedures.get(usize::from(place.0))?.access.nodes;
    let read = ground.node(place)?;
    let [looked] = read.access.tables.as_slice() else { return None };
    let mut terms = Vec::new();
    if looked.effect != Effect::Read || !equalities(&looked.predicate, &mut terms) || terms.is_empty() {
        return None;
    }
    let later = nodes.get(place.1 + 1..)?;
    let inserts = |node: &Node| node.access.tables.iter().any(|one| inserts(one, &looked.table, &terms));
    if !later.iter().any(inserts) || !later.iter().any(|node| asks_for_none(node, read)) {
        return None;
    }
    let table = ground.schema.table(&looked.table)?;
    let is_key = |key: &[String]| key.iter().all(|column| terms.iter().any(|(name, _)| name == column));
    if table.keys().any(is_key) {
        return None;
    }
    let columns: Vec<&str> = terms.iter().map(|(name, _)| name.as_str()).collect();
    let name = format!("{}_{}", table.name, columns.join("_"));
    let list = columns.join(", ");
    let says = format!("let {} have a unique key over {list}", table.name);
    let edits = vec![Edit::line_after_statement(
        Home::Table(table.name.clone()),
        table.span.end,
        &format!("CREATE UNIQUE INDEX {name} ON {} ({list});", table.name),
    )];
    Some(Change::new(&UNIQUE, says, edits, None))
}

/// The columns that a condition compares with values, if it does nothing else.
fn equalities(predicate: &Predicate, terms: &mut Vec<(String, Term)>) -> bool {
    match predicate {
        Predicate::And(all) => all.iter().all(|one| equalities(one, terms)),
        Predicate::Compare { op: BinaryOp::Equal, left, right } => match (left, right) {
            (Term::Column(column), value @ Term::Variable(_)) | (value @ Term::Variable(_), Term::Column(column)) => {
                terms.push((column.element.column.clone(), value.clone()));
                true
            }
            _ => false,
        },
        _ => false,
    }
}

fn inserts(access: &TableAccess, table: &str, terms: &[(String, Term)]) -> bool {
    let assigns = |(column, value): &(String, Term)| {
        access.assigned.iter().any(|one| one.column == *column && one.value == *value)
    };
    access.effect == Effect::Insert && access.table == table && terms.iter().all(assigns)
}

/// Whether a decision asks whether a query has found nothing: `n = 0`, `n < 1`, `x IS NULL`, `NOT FOUND()`.
fn asks_for_none(node: &Node, read: &Node) -> bool {
    let OperationKind::Unless(condition, _) = &node.operation.kind else { return false };
    let is_answer = |expr: &Expr| {
        let name = if let ExprKind::Variable(name) = &expr.kind { name } else { return false };
        read.defines.iter().any(|one| one.variable.name == *name)
    };
    let is_number = |expr: &Expr, number: i64| expr.kind == ExprKind::Literal(Value::int(number));
    match &condition.kind {
        ExprKind::Not(operand) => operand.kind == ExprKind::Found,
        ExprKind::IsNull { operand, negated: false } => is_answer(operand),
        ExprKind::Binary { op: BinaryOp::Equal, left, right } => is_answer(left) && is_number(right, 0),
        ExprKind::Binary { op: BinaryOp::Less, left, right } => is_answer(left) && is_number(right, 1),
        _ => false,
    }
}
