//! What is read, changed by the program and written back, as one UPDATE.
//!
//! ```text
//!   SELECT balance INTO :b FROM accounts WHERE id = :id;            (gone)
//!   UPDATE accounts SET balance = :b + :amount WHERE id = :id;      UPDATE accounts SET balance = balance + :amount …
//! ```
//!
//! That comes to the same, as long as nobody else writes the row in between, if `:b` is used for nothing else, both
//! statements choose the same single row, and the procedure itself does not write it in between.

use super::{Change, Edit, FOLD, Ground, Home, Place as At};
use crate::program::access::{Effect, Node, Place, Use};
use crate::program::code::{Operation, OperationKind};
use crate::program::ir::{BinaryOp, Expr, ExprKind, IntoRule};
use crate::program::predicate::{Element, Term};

/// The change that does without a query, if there is one.
pub(super) fn fold(ground: &Ground<'_>, place: At) -> Option<Change> {
    let called = ground.procedures.get(usize::from(place.0))?;
    let nodes = called.access.nodes.as_slice();
    let (variable, element) = copied(ground.node(place)?)?;
    let (at, mention) = only_use(nodes, place.1, &variable)?;
    if !is_straight(nodes) || !writes_back(&nodes[place.1], &nodes[at], mention, &element) {
        return None;
    }
    if !is_undisturbed(&nodes[place.1], &nodes[place.1 + 1..at], &element.table) {
        return None;
    }
    // In most languages, a variable hides a column of its name.
    let is_hidden = called.procedure.parameters.iter().any(|parameter| parameter.name == element.column)
        || nodes.iter().any(|node| node.defines.iter().any(|one| one.variable.name == element.column));
    let column = if is_hidden { element.to_string() } else { element.column.clone() };
    let (home, span) = (Home::Procedure(place.0), mention.variable.span);
    let (name, read, written) = (ground.name(place.0), nodes[place.1].operation.span, nodes[at].operation.span.line);
    let says = format!("let the UPDATE of {name} in line {written} compute {element} itself, without the query before");
    let edits = vec![
        Edit::remove_statement(home.clone(), read.start..read.end),
        Edit::replace(home, span.start..span.end, &column),
    ];
    Some(Change::new(&FOLD, says, edits, Some([place.0].into())))
}

/// The variable that a query gives the value of a column of one row to, and nothing else.
fn copied(node: &Node) -> Option<(String, Element)> {
    let OperationKind::Send(sql) = &node.operation.kind else { return None };
    let ([table], [definition]) = (node.access.tables.as_slice(), node.defines.as_slice()) else { return None };
    let is_plain = table.effect == Effect::Read && table.lock.is_none() && !table.is_scan();
    let is_lenient = sql.into_clause().is_some_and(|into| into.rule != IntoRule::Strict);
    let mut origins = definition.origins.iter();
    let (Some(origin), None) = (origins.next(), origins.next()) else { return None };
    (is_plain && is_lenient && definition.is_copy).then(|| (definition.variable.name.clone(), origin.clone()))
}

/// The only use of a variable, which is only defined up to there.
fn only_use<'n>(nodes: &'n [Node], read: usize, variable: &str) -> Option<(usize, &'n Use)> {
    let of_node = |(at, node): (usize, &'n Node)| node.uses.iter().map(move |one| (at, one));
    let mut uses = nodes.iter().enumerate().flat_map(of_node).filter(|(_, one)| one.variable.name == variable);
    let (Some((at, one)), None) = (uses.next(), uses.next()) else { return None };
    let is_redefined =
        nodes.iter().skip(read + 1).any(|node| node.defines.iter().any(|one| one.variable.name == variable));
    (at > read && !is_redefined).then_some((at, one))
}

/// Without loops, and without questions about how the last statement went.
fn is_straight(nodes: &[Node]) -> bool {
    let goes_on = |(at, node): (usize, &Node)| node.successors.iter().all(|next| *next > at);
    nodes.iter().enumerate().all(goes_on) && !nodes.iter().any(|node| asks(&node.operation))
}

fn asks(operation: &Operation) -> bool {
    match &operation.kind {
        OperationKind::Assign(_, value) | OperationKind::Unless(value, _) | OperationKind::Raise(value) => {
            has_question(value)
        }
        OperationKind::Return(outputs) => outputs.iter().any(has_question),
        _ => false,
    }
}

fn has_question(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Found | ExprKind::RowCount => true,
        ExprKind::Negate(operand) | ExprKind::Not(operand) | ExprKind::IsNull { operand, .. } => has_question(operand),
        ExprKind::Binary { left, right, .. } => has_question(left) || has_question(right),
        ExprKind::Literal(_) | ExprKind::Variable(_) | ExprKind::Any => false,
    }
}

/// Whether a write adds something to what was read, in the same row.
fn writes_back(read: &Node, write: &Node, mention: &Use, element: &Element) -> bool {
    let ([from], [to]) = (read.access.tables.as_slice(), write.access.tables.as_slice()) else { return false };
    let is_value = matches!(&mention.place, Place::Value(target) if target == element);
    let mut assigned = to.assigned.iter().filter(|one| one.column == element.column);
    let is_sum = assigned.next().is_some_and(|one| is_sum(&one.value, &mention.variable.name));
    let is_same_row = to.effect == Effect::Update && from.table == to.table && from.predicate == to.predicate;
    is_value && is_sum && is_same_row
}

/// `v`, `v + e`, `v - e`, `e + v`, and sums of these
fn is_sum(term: &Term, variable: &str) -> bool {
    match term {
        Term::Variable(one) => one.name == variable,
        Term::Arithmetic { op: BinaryOp::Add, left, right } => is_sum(left, variable) || is_sum(right, variable),
        Term::Arithmetic { op: BinaryOp::Subtract, left, .. } => is_sum(left, variable),
        _ => false,
    }
}

/// Whether nothing in between changes the table, or what the row is chosen by.
fn is_undisturbed(read: &Node, between: &[Node], table: &str) -> bool {
    let chosen_by = |name: &str| read.uses.iter().any(|one| one.variable.name == name);
    let disturbs = |node: &Node| {
        node.defines.iter().any(|one| chosen_by(&one.variable.name))
            || node.access.tables.iter().any(|one| one.table == table && one.effect != Effect::Read)
    };
    !between.iter().any(disturbs)
}
