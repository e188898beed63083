//! How the answer of a plain statement is made of rows: conditions, columns, aggregates, order.
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

use sqlparser::ast::{Distinct, Expr, GroupByExpr, LimitClause, OrderByExpr, OrderBySort, Query, Select, SelectItem};

use super::query::{Condition, together};
use super::scope::Kind;
use super::{Analyzer, terms};
use crate::program::located::plain;
use crate::program::predicate::{Aggregation, Predicate, Term};
use crate::value::Value;

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
}

impl Analyzer<'_> {
    /// Takes note of how the outermost SELECT is computed. Its FROM clause is the innermost scope.
    pub(super) fn select_rows(
        &mut self,
        select: &Select,
        query: &Query,
        order: &[OrderByExpr],
        condition: Predicate,
        is_inner: bool,
        before: usize,
    ) {
        let complaints = self.diagnostics.len();
        let tables = self.access.tables.len();
        let columns = self.selected(&select.projection);
        let names = Names { items: &select.projection, columns: columns.as_deref().unwrap_or_default() };
        let order: Vec<OrderTerm> = order
            .iter()
            .map(|one| OrderTerm {
                term: names.find(&one.expr).unwrap_or_else(|| self.term(&one.expr)),
                descending: one.options.sort == Some(OrderBySort::Desc),
            })
            .collect();
        let having = select.having.as_ref().map_or(Predicate::True, |having| self.predicate(having));
        let by = self.grouped_by(&select.group_by, &names);
        let limit = query.limit_clause.as_ref().map(|limit| self.limit_term(limit));
        self.diagnostics.truncate(complaints);
        // A subquery would be accounted for twice.
        let is_plain = self.access.tables.len() == tables;
        self.access.tables.truncate(tables);
        let scope = self.scopes.last().map(|scope| scope.relations.as_slice()).unwrap_or_default();
        let from = scope.len();
        let is_exact = is_plain
            && is_inner
            && tables == before + from
            && scope.iter().all(|relation| matches!(relation.kind, Kind::Table { .. }))
            && by.is_some()
            && select.qualify.is_none()
            && matches!(select.distinct, None | Some(Distinct::Distinct | Distinct::All))
            && query.fetch.is_none()
            && columns.is_some()
            && limit.as_ref().is_none_or(Option::is_some);
        let is_distinct = select.distinct == Some(Distinct::Distinct);
        let (columns, limit) = (columns.unwrap_or_default(), limit.flatten());
        let from = before..before + from;
        let mut selection = Selection { from, condition, groups: None, having, columns, order, limit, is_exact };
        selection.group(by.unwrap_or_default(), is_distinct);
        self.access.selection = Some(selection);
    }

    /// The terms of GROUP BY; `None` if they are more than terms.
    fn grouped_by(&mut self, groups: &GroupByExpr, names: &Names<'_>) -> Option<Vec<Term>> {
        let GroupByExpr::Expressions(groups, modifiers) = groups else { return None };
        // A name is that of a column, or else one that the SELECT list gives.
        let mut term = |group: &Expr| match self.term(group) {
            Term::Any(_) | Term::Constant(_) => names.find(group),
            term => Some(term),
        };
        groups.iter().map(&mut term).collect::<Option<Vec<_>>>().filter(|_| modifiers.is_empty())
    }

    /// Takes note of how the rows of an UPDATE or DELETE are chosen.
    pub(super) fn write_rows(&mut self, conditions: &[Condition], before: usize, limited: bool) {
        let (condition, is_inner) = together(conditions);
        let from = self.scopes.last().map_or(0, |scope| scope.relations.len());
        let is_exact = is_inner && !limited && self.access.tables.len() == before + from;
        self.access.selection = Some(Selection {
            from: before..before + from,
            condition,
            groups: None,
            having: Predicate::True,
            columns: Vec::new(),
            order: Vec::new(),
            limit: None,
            is_exact,
        });
    }

    /// The columns of a SELECT list; `None` if one of them cannot be said.
    fn selected(&mut self, items: &[SelectItem]) -> Option<Vec<Term>> {
        let mut columns = Vec::new();
        for item in items {
            match item {
                SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
                    columns.push(self.term(expr));
                }
                SelectItem::Wildcard(_) if items.len() == 1 => {
                    columns.extend(self.wildcard(None).into_iter().map(|output| output.term));
                }
                _ => return None,
            }
        }
        Some(columns)
    }

    /// The term of a LIMIT that leaves no row out at the beginning.
    fn limit_term(&mut self, limit: &LimitClause) -> Option<Term> {
        let (limit, offset) = match limit {
            LimitClause::LimitOffset { limit: Some(limit), offset, limit_by } if limit_by.is_empty() => {
                (limit, offset.as_ref().map(|offset| &offset.value))
            }
            LimitClause::OffsetCommaLimit { offset, limit } => (limit, Some(offset)),
            LimitClause::LimitOffset { .. } => return None,
        };
        let is_nothing = |offset: &Expr| terms::constant(offset) == Some(Value::int(0));
        let term = terms::constant(limit).map_or_else(|| self.term(limit), Term::Constant);
        offset.is_none_or(is_nothing).then_some(term)
    }
}

impl Selection {
    /// Rows become one by what GROUP BY says, by aggregates, or by DISTINCT.
    fn group(&mut self, by: Vec<Term>, is_distinct: bool) {
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

/// What the columns of a SELECT list are called.
struct Names<'s> {
    items: &'s [SelectItem],
    columns: &'s [Term],
}

impl Names<'_> {
    /// The column that is meant in ORDER BY or GROUP BY: by its name, or by its number.
    fn find(&self, expr: &Expr) -> Option<Term> {
        let at = match expr {
            Expr::Identifier(name) => self.items.iter().position(|item| match item {
                SelectItem::ExprWithAlias { alias, .. } => plain(alias) == plain(name),
                _ => false,
            })?,
            Expr::Value(_) => match terms::constant(expr)? {
                Value::Number(number) => usize::try_from(number.to_i64()?).ok()?.checked_sub(1)?,
                _ => return None,
            },
            _ => return None,
        };
        // With `*`, items and columns are not the same.
        (self.items.len() == self.columns.len()).then(|| self.columns.get(at).cloned())?
    }
}
