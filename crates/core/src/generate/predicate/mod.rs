//! Predicates: which rows a statement is about.
//!
//! The shape decides what a server does: equality of a whole key locks one row, a range locks the gaps in it
//! (InnoDB), a condition on other columns reads the whole table and may lock all of it. So the shape is a feature of
//! its own (`predicate.shape`), and within it rows are chosen by their rank ([`maker`](super::maker)): the sessions
//! of a case meet on the same rows.
//!
//! Predicates that [contradict themselves](contradiction) or are always true are drawn again.

pub mod contradiction;

use crate::generate::expression::{Comparison, Expression};
use crate::generate::features;
use crate::generate::maker::{Maker, Scope, Source, can_order};
use crate::value::Value;

use contradiction::Verdict;

/// How often a predicate is drawn again.
const DRAWS_MAX: usize = 8;

impl Maker<'_> {
    /// The predicate of a statement; `None` for all rows. The first source is what it is about.
    pub(super) fn predicate(&mut self, scope: &Scope) -> Option<Expression> {
        let source = scope.sources[0].clone();
        let has_key = !self.relation(source.table).primary_key.is_empty();
        let allowed = |shape: &str| has_key || !shape.starts_with("key");
        let shape = self.model.word(&features::PREDICATE_SHAPE, &mut self.random, allowed)?;
        self.tally.predicates += 1;
        match shape {
            "key" => self.key_equality(&source),
            "key_in" => self.key_in(&source),
            "none" => None,
            shape => self.drawn(shape, scope, &source),
        }
    }

    /// Draws until the predicate neither contradicts itself nor says nothing.
    fn drawn(&mut self, shape: &str, scope: &Scope, source: &Source) -> Option<Expression> {
        for _ in 0..DRAWS_MAX {
            let drawn = match shape {
                "key_range" => self.key_range(source),
                "compare" => Some(self.atom(scope)),
                _ => {
                    let depth = self.model.count(&features::PREDICATE_DEPTH, &mut self.random);
                    Some(self.condition(scope, depth))
                }
            };
            match drawn.as_ref().map(contradiction::check) {
                Some(Verdict::Open) => return drawn,
                _ => self.tally.redrawn += 1,
            }
        }
        self.tally.given_up += 1;
        self.key_equality(source)
    }

    /// The key of an existing row, or (less often) one that is contested.
    fn key(&mut self, table: usize) -> Option<Vec<Value>> {
        let contested = match self.model.flag(&features::KEY_CONTESTED, &mut self.random) {
            true => self.contested_key(table),
            false => None,
        };
        let relation = self.relation(table);
        let existing = |row: Vec<Value>| relation.primary_key.iter().map(|at| row[*at].clone()).collect();
        contested.or_else(|| self.row(table).map(existing)).or_else(|| self.contested_key(table))
    }

    /// The whole key equals that of a row.
    pub(super) fn key_equality(&mut self, source: &Source) -> Option<Expression> {
        let key = self.key(source.table)?;
        let mut parts: Vec<Expression> = Vec::new();
        for (column, value) in self.relation(source.table).primary_key.iter().zip(key) {
            let column = self.column_use(source, *column);
            let value = Expression::Constant(column.kind, value);
            parts.push(Expression::compare(Comparison::Equal, Expression::Column(column), value));
        }
        match parts.len() {
            0 => None,
            1 => parts.pop(),
            _ => Some(Expression::And(parts)),
        }
    }

    /// The key is one of several.
    fn key_in(&mut self, source: &Source) -> Option<Expression> {
        let count = self.random.between(2, 3);
        if let [column] = self.relation(source.table).primary_key[..] {
            let of = self.column_use(source, column);
            let mut list = Vec::new();
            for _ in 0..count {
                let item = Expression::Constant(of.kind, self.key(source.table)?.pop()?);
                if !list.contains(&item) {
                    list.push(item);
                }
            }
            return Some(Expression::In { of: Box::new(Expression::Column(of)), list, not: false });
        }
        let mut parts: Vec<Expression> = Vec::new();
        for _ in 0..count {
            let part = self.key_equality(source)?;
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        if parts.len() > 1 { Some(Expression::Or(parts)) } else { parts.pop() }
    }

    /// The first column of the key lies in a range.
    pub(super) fn key_range(&mut self, source: &Source) -> Option<Expression> {
        let at = *self.relation(source.table).primary_key.first()?;
        let column = self.column_use(source, at);
        let kind = column.kind;
        if !can_order(kind) {
            return self.key_equality(source);
        }
        let constant = |value: Value| Expression::Constant(kind, value);
        let mut ends = [self.key(source.table)?.swap_remove(0), self.key(source.table)?.swap_remove(0)];
        ends.sort();
        let [low, high] = ends;
        let key = Expression::Column(column);
        Some(match self.random.below(4) {
            0 => Expression::compare(Comparison::GreaterOrEqual, key, constant(low)),
            1 => Expression::compare(Comparison::Less, key, constant(high)),
            2 => {
                Expression::Between { of: Box::new(key), range: Box::new([constant(low), constant(high)]), not: false }
            }
            _ => Expression::And(vec![
                Expression::compare(Comparison::Greater, key.clone(), constant(low)),
                Expression::compare(Comparison::LessOrEqual, key, constant(high)),
            ]),
        })
    }
}
