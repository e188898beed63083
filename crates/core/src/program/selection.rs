//! How the answer of a query, and the choice of rows of a write, is made of rows: conditions, groups, columns, order.
//!
//! Which columns a statement touches is not enough to *compute* what it does. For the statements that most applications
//! are made of, this is:
//!
//! ```text
//!   SELECT MIN(no_o_id) INTO :o FROM new_order WHERE no_d_id = :d
//!
//!   condition  new_order.no_d_id = :d        columns  min(new_order.no_o_id)
//! ```
//!
//! Outer joins, OFFSET (but for 0), derived tables and set operations are not said here: such a statement has no
//! selection, or one that is not [exact](Selection::is_exact).

use std::ops::Range;

use super::predicate::{Aggregation, Predicate, Term, Unknown};

/// Which rows a statement chooses, and what it makes of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// The accesses whose rows are combined.
    pub from: Range<usize>,
    /// What must be true of a combination.
    pub condition: Predicate,
    /// What is the same for combinations that become one row: nothing for `SELECT SUM(x)`, the columns of the answer for
    /// DISTINCT; `None` if each is a row of its own.
    pub groups: Option<Vec<Term>>,
    /// What must be true of a group.
    pub having: Predicate,
    /// The columns of the answer; empty for a write.
    pub columns: Vec<Term>,
    /// What the rows are ordered by.
    pub order: Vec<OrderTerm>,
    /// How many rows there are at most.
    pub limit: Option<Term>,
    /// Whether this is all that there is to say.
    pub is_exact: bool,
}

/// What rows are ordered by.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderTerm {
    /// The value.
    pub term: Term,
    /// Whether the greatest comes first.
    pub descending: bool,
}

impl Selection {
    /// Rows of which no more is known than a condition.
    pub(super) fn unknown(condition: Predicate, before: usize) -> Selection {
        Selection {
            from: before..before,
            condition,
            groups: None,
            having: Predicate::True,
            columns: Vec::new(),
            order: Vec::new(),
            limit: None,
            is_exact: false,
        }
    }

    /// Whether all rows become one, be there any or not.
    pub fn is_one_row(&self) -> bool {
        self.groups.as_ref().is_some_and(Vec::is_empty) && self.having == Predicate::True
    }

    /// What the rows are ordered by, so that the same groups give the same answer: those that are not told apart by ORDER
    /// BY, by what they have in common.
    pub fn ordering(&self) -> Vec<OrderTerm> {
        let ascending = |term: &Term| OrderTerm { term: term.clone(), descending: false };
        self.order.iter().cloned().chain(self.groups.iter().flatten().map(ascending)).collect()
    }

    /// Whether nothing in it can be anything.
    pub fn is_understood(&self) -> bool {
        let terms = self.columns.iter().chain(self.order.iter().map(|one| &one.term)).chain(&self.limit);
        let is_known = terms.chain(self.groups.iter().flatten()).all(Term::is_understood);
        self.is_exact && is_known && self.condition.is_understood() && self.having.is_understood()
    }

    /// What it takes of rows together, each once.
    pub fn aggregations(&self) -> Vec<&Aggregation> {
        let terms = self.columns.iter().chain(self.order.iter().map(|one| &one.term));
        let mut all: Vec<&Aggregation> = Vec::new();
        for one in terms.flat_map(Term::aggregations).chain(self.having.aggregations()) {
            if !all.contains(&one) {
                all.push(one);
            }
        }
        all
    }

    /// Rows become one by what GROUP BY says, by aggregates, or by DISTINCT.
    pub(super) fn group(&mut self, by: Vec<Term>, is_distinct: bool) {
        let is_together = !by.is_empty() || !self.aggregations().is_empty();
        // Without groups, HAVING is something else on each system; with them, DISTINCT groups once more.
        self.is_exact &= is_together || self.having == Predicate::True;
        self.is_exact &= self.having.is_understood();
        self.is_exact &= by.is_empty() || !is_distinct;
        self.groups = match is_together {
            true => Some(by),
            false => is_distinct.then(|| self.columns.clone()),
        };
    }
}

/// A query inside an expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Subquery {
    /// How it is answered; exactly, and with nothing in it that can be anything.
    pub selection: Selection,
    /// What it looks like from outside: the columns that come in. (It accounts for reading them itself.)
    pub outside: Unknown,
}
