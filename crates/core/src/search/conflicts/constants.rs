//! What constants say: two statements that ask for different ones never meet.
//!
//! `WHERE id = 1` and `WHERE id = 2` are two rows for ever, if `id` is the key: that is what a row is known by. With
//! any other column it is so only as long as nobody updates it, and with inserted rows it is not sure either: on a
//! store, an INSERT may replace a row that somebody else has inserted under the same key.
//!
//! Whatever is not certain counts as *may meet*: texts that differ in case or accents may be equal under a collation.

use std::collections::BTreeMap;

use crate::program::BinaryOp;
use crate::program::access::{Effect, TableAccess};
use crate::program::predicate::{Predicate, Term};
use crate::value::Value;

/// A condition on a column that all rows meet which an access reaches.
#[derive(Debug, Clone, PartialEq)]
enum Fact {
    /// It is one of these.
    OneOf(Vec<Value>),
    /// It compares so.
    Compare(BinaryOp, Value),
}

/// What constants say of the rows that an access reaches, by column.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Known(BTreeMap<String, Vec<Fact>>);

impl Known {
    /// What is known of the rows of an access, the one at that position among those of its statement.
    pub(super) fn of(access: &TableAccess, at: usize) -> Known {
        let mut known = Known::default();
        for conjunct in access.predicate.conjuncts() {
            if let Some((column, fact)) = fact(conjunct, at) {
                known.add(column, fact);
            }
        }
        if matches!(access.effect, Effect::Insert | Effect::Upsert) {
            known.add_inserted(access);
        }
        if access.effect == Effect::Update {
            // A row that changes this column is there before and after.
            known.0.retain(|column, _| !access.writes.contains(column));
        }
        known
    }

    /// Of rows with these values.
    pub(super) fn of_values<'a>(values: impl IntoIterator<Item = (&'a String, &'a Term)>) -> Known {
        let mut known = Known::default();
        for (column, term) in values {
            if let Term::Constant(value) = term {
                known.add(column, Fact::OneOf(vec![value.clone()]));
            }
        }
        known
    }

    fn add(&mut self, column: &str, fact: Fact) {
        self.0.entry(column.to_string()).or_default().push(fact);
    }

    /// One after the other for several rows: a column must be one of its values.
    fn add_inserted(&mut self, access: &TableAccess) {
        let mut columns: BTreeMap<&str, Option<Vec<Value>>> = BTreeMap::new();
        for assigned in &access.assigned {
            let values = columns.entry(&assigned.column).or_insert_with(|| Some(Vec::new()));
            match &assigned.value {
                Term::Constant(value) => values.iter_mut().for_each(|values| values.push(value.clone())),
                _ => *values = None,
            }
        }
        for (column, values) in columns {
            if let Some(values) = values {
                self.add(column, Fact::OneOf(values));
            }
        }
    }

    /// Whether no row is reached by both, as far as the columns go that count.
    pub(super) fn contradicts(&self, other: &Known, counts: impl Fn(&str) -> bool) -> bool {
        let shared = self.0.iter().filter(|(column, _)| counts(column));
        shared.into_iter().any(|(column, facts)| {
            let others = other.0.get(column).map(Vec::as_slice).unwrap_or_default();
            !others.is_empty() && !possible(&facts.iter().chain(others).collect::<Vec<_>>())
        })
    }
}

/// What a condition says of one column of the access itself.
fn fact(condition: &Predicate, at: usize) -> Option<(&str, Fact)> {
    let own = |term: &'_ Term| -> bool { term.as_column().is_some_and(|column| column.access == at) };
    let name = |term| Term::as_column(term).map_or("", |column| column.element.column.as_str());
    match condition {
        Predicate::Compare { op, left, right: Term::Constant(value) } if own(left) => {
            Some((name(left), comparison(*op, value)))
        }
        Predicate::Compare { op, left: Term::Constant(value), right } if own(right) => {
            Some((name(right), comparison(mirrored(*op), value)))
        }
        Predicate::In { term, list } if own(term) => {
            let values: Option<Vec<Value>> = list.iter().map(constant).collect();
            Some((name(term), Fact::OneOf(values?)))
        }
        Predicate::Or(choices) => {
            let facts: Option<Vec<(&str, Fact)>> = choices.iter().map(|choice| fact(choice, at)).collect();
            let mut all = Vec::new();
            let mut column = None;
            for (name, fact) in facts? {
                let Fact::OneOf(values) = fact else { return None };
                all.extend(values);
                column = Some(column.unwrap_or(name)).filter(|column| *column == name);
                column?;
            }
            Some((column?, Fact::OneOf(all)))
        }
        _ => None,
    }
}

fn constant(term: &Term) -> Option<Value> {
    if let Term::Constant(value) = term { Some(value.clone()) } else { None }
}

fn comparison(op: BinaryOp, value: &Value) -> Fact {
    if op == BinaryOp::Equal { Fact::OneOf(vec![value.clone()]) } else { Fact::Compare(op, value.clone()) }
}

/// `1 < x` is `x > 1`.
fn mirrored(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessEqual => BinaryOp::GreaterEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterEqual => BinaryOp::LessEqual,
        same => same,
    }
}

/// Whether a value may meet all of these.
fn possible(facts: &[&Fact]) -> bool {
    let choices = facts.iter().find_map(|fact| if let Fact::OneOf(values) = fact { Some(values) } else { None });
    if let Some(choices) = choices {
        return choices.iter().any(|value| facts.iter().all(|fact| allows(fact, value)));
    }
    facts.iter().all(|lower| facts.iter().all(|upper| !passes_by(lower, upper)))
}

fn allows(fact: &Fact, value: &Value) -> bool {
    match fact {
        Fact::OneOf(values) => values.iter().any(|other| may_equal(value, other)),
        Fact::Compare(BinaryOp::NotEqual, other) => value != other,
        Fact::Compare(op, Value::Number(other)) => match (op, value) {
            (BinaryOp::Less, Value::Number(value)) => value < other,
            (BinaryOp::LessEqual, Value::Number(value)) => value <= other,
            (BinaryOp::Greater, Value::Number(value)) => value > other,
            (BinaryOp::GreaterEqual, Value::Number(value)) => value >= other,
            _ => true,
        },
        Fact::Compare(..) => true,
    }
}

/// Whether the one is a lower bound, and above the other, which is an upper one.
fn passes_by(lower: &Fact, upper: &Fact) -> bool {
    let (Fact::Compare(low, Value::Number(from)), Fact::Compare(high, Value::Number(to))) = (lower, upper) else {
        return false;
    };
    let is_lower = matches!(low, BinaryOp::Greater | BinaryOp::GreaterEqual);
    let is_upper = matches!(high, BinaryOp::Less | BinaryOp::LessEqual);
    let touching = *low == BinaryOp::GreaterEqual && *high == BinaryOp::LessEqual;
    is_lower && is_upper && (from > to || (from == to && !touching))
}

/// Whether two constants may be the same value to some engine.
fn may_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Null, _) | (_, Value::Null) => a == b,
        (Value::Number(a), Value::Number(b)) => a == b,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Text(a), Value::Text(b)) => {
            !a.is_ascii() || !b.is_ascii() || a.trim_end().eq_ignore_ascii_case(b.trim_end())
        }
        _ => true,
    }
}
