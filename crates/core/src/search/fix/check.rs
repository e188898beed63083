//! A check, where a value is looked at before it is changed.
//!
//! ```text
//!   SELECT balance INTO :b FROM accounts WHERE id = :id;
//!   IF :b >= :amount THEN UPDATE accounts SET balance = balance - :amount WHERE id = :id; END IF;
//! ```
//!
//! What was asked about the old value is a question about the new one: `b - amount >= 0`, and that is `balance >= 0`.
//! With a check that says so, the UPDATE fails where somebody else took the money in between. Questions that come to
//! something about the new value alone are those that differ from it by a constant, as sums:
//!
//! ```text
//!   new = old - amount        asked: old - amount     >= 0      asked - new = 0       new >= 0
//!   new = sold + n            asked: 100 - sold - n   >= 0      asked + new = 100     new <= 100
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::{CHECK, Change, Edit, Ground, Home, Place};
use crate::program::access::{Effect, Node, TableAccess};
use crate::program::code::OperationKind;
use crate::program::ir::{BinaryOp, Expr, ExprKind};
use crate::program::predicate::{Aggregate, Term};
use crate::value::Value;

/// The check that the question before a write hopes for.
pub(super) fn check(ground: &Ground<'_>, place: Place) -> Option<Change> {
    let nodes = ground.procedures.get(usize::from(place.0))?.access.nodes.as_slice();
    let [written] = nodes.get(place.1)?.access.tables.as_slice() else { return None };
    if written.effect != Effect::Update || written.is_scan() {
        return None;
    }
    let table = ground.schema.table(&written.table)?;
    let condition =
        written.assigned.iter().find_map(|one| condition(nodes, place.1, written, &one.column, &one.value))?;
    let line = format!("ALTER TABLE {} ADD CHECK ({condition});", table.name);
    let says = format!("let {} have a check that {condition}", table.name);
    let edits = vec![Edit::line_after_statement(Home::Table(table.name.clone()), table.span.end, &line)];
    Some(Change::new(&CHECK, says, edits, None))
}

/// What is known of a column's new value.
fn condition(nodes: &[Node], at: usize, written: &TableAccess, column: &str, value: &Term) -> Option<String> {
    let defined = |name: &str, from: usize| {
        nodes.iter().skip(from).any(|node| node.defines.iter().any(|one| one.variable.name == name))
    };
    let reads =
        nodes[..at].iter().enumerate().filter_map(|(read, node)| Some((read, old_value(node, written, column)?)));
    let olds: Vec<&str> = reads.filter(|(read, name)| !defined(name, read + 1)).map(|(_, name)| name).collect();
    let new = Sum::of_term(value, column)?.with_old(&olds);
    let is_steady = |sum: &Sum| sum.variables().all(|name| !defined(name, 0));
    let asked = nodes[..at].iter().enumerate().filter_map(|(guard, node)| Some((node, holds_at(nodes, guard, at)?)));
    let mut known = asked.flat_map(|(node, is_true)| questions(node, is_true));
    known.find_map(|(asked, is_strict)| {
        let asked = asked.with_old(&olds);
        let (greater, less) = if is_strict { (">", "<") } else { (">=", "<=") };
        if !is_steady(&asked) || !is_steady(&new) {
            return None;
        }
        let least = asked.clone().plus(new.times(-1)).constant().map(|rest| format!("{column} {greater} {}", -rest));
        least.or_else(|| Some(format!("{column} {less} {}", asked.plus(new.clone()).constant()?)))
    })
}

/// The variable that a query gives the old value of a column to, of the row that is written.
fn old_value<'n>(node: &'n Node, written: &TableAccess, column: &str) -> Option<&'n str> {
    let ([read], [definition]) = (node.access.tables.as_slice(), node.defines.as_slice()) else { return None };
    let is_row = read.effect == Effect::Read && read.table == written.table && read.predicate == written.predicate;
    let mut origins = definition.origins.iter();
    let is_column = origins.next().is_some_and(|one| one.column == column) && origins.next().is_none();
    let is_value = definition.is_copy || is_of_one_row(node);
    (is_row && is_column && is_value).then_some(definition.variable.name.as_str())
}

/// The sum of one row is its value.
fn is_of_one_row(node: &Node) -> bool {
    let selection = node.access.selection.as_ref().filter(|one| one.is_exact && one.is_one_row());
    let Some([Term::Aggregate(one)]) = selection.map(|one| one.columns.as_slice()) else { return false };
    one.function != Aggregate::Count && matches!(one.over, Some(Term::Column(_)))
}

/// Whether a decision was true, or false, whenever a node is reached; `None` if it may have been either, or not made.
fn holds_at(nodes: &[Node], guard: usize, at: usize) -> Option<bool> {
    let OperationKind::Unless(_, otherwise) = &nodes[guard].operation.kind else { return None };
    let is_made = !reaches(nodes, 0, at, guard);
    match (reaches(nodes, guard + 1, at, guard), reaches(nodes, *otherwise, at, guard)) {
        (true, false) if is_made => Some(true),
        (false, true) if is_made => Some(false),
        _ => None,
    }
}

/// Whether there is a way from one node to another that avoids a third one.
fn reaches(nodes: &[Node], from: usize, to: usize, avoided: usize) -> bool {
    let mut seen = BTreeSet::from([avoided]);
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        if next == to {
            return true;
        }
        if seen.insert(next) {
            open.extend(nodes.get(next).into_iter().flat_map(|node| node.successors.iter().copied()));
        }
    }
    false
}

/// The comparisons of a decision that hold: sums that are at least zero, or more if that is said.
fn questions(node: &Node, is_true: bool) -> Vec<(Sum, bool)> {
    let OperationKind::Unless(condition, _) = &node.operation.kind else { return Vec::new() };
    let mut all = Vec::new();
    comparisons(condition, is_true, &mut all);
    all
}

fn comparisons(expr: &Expr, is_true: bool, all: &mut Vec<(Sum, bool)>) {
    let (op, left, right) = match &expr.kind {
        ExprKind::Not(inner) => return comparisons(inner, !is_true, all),
        ExprKind::Binary { op, left, right } => (*op, left, right),
        _ => return,
    };
    let both = if is_true { BinaryOp::And } else { BinaryOp::Or };
    if op == both {
        comparisons(left, is_true, all);
        comparisons(right, is_true, all);
        return;
    }
    let (Some(left), Some(right)) = (Sum::of_expr(left), Sum::of_expr(right)) else { return };
    all.extend(match (op, is_true) {
        (BinaryOp::GreaterEqual, true) | (BinaryOp::Less, false) => Some((left.plus(right.times(-1)), false)),
        (BinaryOp::Greater, true) | (BinaryOp::LessEqual, false) => Some((left.plus(right.times(-1)), true)),
        (BinaryOp::LessEqual, true) | (BinaryOp::Greater, false) => Some((right.plus(left.times(-1)), false)),
        (BinaryOp::Less, true) | (BinaryOp::GreaterEqual, false) => Some((right.plus(left.times(-1)), true)),
        _ => None,
    });
}

/// What a sum is of: the old value, or a variable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Old,
    Variable(String),
}

/// A sum of parts, each so many times, and of a constant.
#[derive(Debug, Clone, Default)]
struct Sum {
    parts: BTreeMap<Part, i64>,
    rest: i64,
}

impl Sum {
    fn number(value: &Value) -> Option<Sum> {
        let Value::Number(number) = value else { return None };
        Some(Sum { rest: number.to_i64()?, ..Sum::default() })
    }

    fn part(part: Part) -> Sum {
        Sum { parts: [(part, 1)].into(), rest: 0 }
    }

    fn of_term(term: &Term, column: &str) -> Option<Sum> {
        match term {
            Term::Column(one) => (one.element.column == column).then(|| Sum::part(Part::Old)),
            Term::Constant(value) => Sum::number(value),
            Term::Variable(variable) => Some(Sum::part(Part::Variable(variable.name.clone()))),
            Term::Negate(inner) => Some(Sum::of_term(inner, column)?.times(-1)),
            Term::Arithmetic { op, left, right } => {
                Sum::of_two(*op, Sum::of_term(left, column)?, Sum::of_term(right, column)?)
            }
            Term::Choice { .. } | Term::Aggregate(_) | Term::Query(_) | Term::Any(_) => None,
        }
    }

    fn of_expr(expr: &Expr) -> Option<Sum> {
        match &expr.kind {
            ExprKind::Literal(value) => Sum::number(value),
            ExprKind::Variable(name) => Some(Sum::part(Part::Variable(name.clone()))),
            ExprKind::Negate(inner) => Some(Sum::of_expr(inner)?.times(-1)),
            ExprKind::Binary { op, left, right } => Sum::of_two(*op, Sum::of_expr(left)?, Sum::of_expr(right)?),
            _ => None,
        }
    }

    fn of_two(op: BinaryOp, left: Sum, right: Sum) -> Option<Sum> {
        match op {
            BinaryOp::Add => Some(left.plus(right)),
            BinaryOp::Subtract => Some(left.plus(right.times(-1))),
            _ => None,
        }
    }

    fn plus(mut self, other: Sum) -> Sum {
        for (part, times) in other.parts {
            *self.parts.entry(part).or_default() += times;
        }
        self.parts.retain(|_, times| *times != 0);
        Sum { rest: self.rest.saturating_add(other.rest), ..self }
    }

    fn times(&self, factor: i64) -> Sum {
        let parts = self.parts.iter().map(|(part, times)| (part.clone(), times * factor)).collect();
        Sum { parts, rest: self.rest.saturating_mul(factor) }
    }

    /// With these variables said to be the old value.
    fn with_old(self, names: &[&str]) -> Sum {
        let rest = Sum { rest: self.rest, ..Sum::default() };
        self.parts.into_iter().fold(rest, |sum, (part, times)| {
            let is_old = matches!(&part, Part::Variable(name) if names.contains(&name.as_str()));
            sum.plus(Sum::part(if is_old { Part::Old } else { part }).times(times))
        })
    }

    fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts.keys().filter_map(|part| if let Part::Variable(name) = part { Some(name.as_str()) } else { None })
    }

    /// The constant that it is, if it is one.
    fn constant(&self) -> Option<i64> {
        self.parts.is_empty().then_some(self.rest)
    }
}
