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
//! Grouping, outer joins, DISTINCT, OFFSET (but for 0), derived tables and set operations are not said here: such a
//! statement has no selection, or one that is not [exact](Selection::is_exact).

use std::ops::Range;

use sqlparser::ast::{
    DuplicateTreatment, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, LimitClause, OrderByExpr,
    OrderBySort, Query, Select, SelectItem,
};

use super::query::{Condition, together};
use super::scope::Kind;
use super::{Analyzer, terms};
use crate::program::located::last_plain;
use crate::program::predicate::{Predicate, Term};
use crate::value::Value;

/// Which rows a statement chooses, and what it makes of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// The accesses whose rows are combined.
    pub from: Range<usize>,
    /// What must be true of a combination.
    pub condition: Predicate,
    /// The columns of the answer; empty for a write.
    pub columns: Vec<Selected>,
    /// What the rows are ordered by.
    pub order: Vec<OrderTerm>,
    /// How many rows there are at most.
    pub limit: Option<Term>,
    /// Whether this is all that there is to say.
    pub is_exact: bool,
}

/// A column of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Selected {
    /// A value of each row.
    Value(Term),
    /// A value of all rows together.
    Aggregate {
        /// Which.
        function: Aggregate,
        /// What it is computed over; `None` for `COUNT(*)`.
        over: Option<Term>,
        /// Whether equal values count once.
        distinct: bool,
    },
}

/// A function of all rows together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// How many there are, but for NULL.
    Count,
    /// Their sum; NULL without any.
    Sum,
    /// The least.
    Min,
    /// The greatest.
    Max,
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
    /// Whether all rows become one.
    pub fn aggregates(&self) -> bool {
        self.columns.iter().any(|column| matches!(column, Selected::Aggregate { .. }))
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
        let order: Vec<OrderTerm> = order
            .iter()
            .map(|one| OrderTerm {
                term: self.term(&one.expr),
                descending: one.options.sort == Some(OrderBySort::Desc),
            })
            .collect();
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
            && matches!(&select.group_by, GroupByExpr::Expressions(groups, _) if groups.is_empty())
            && select.having.is_none()
            && select.distinct.is_none()
            && query.fetch.is_none()
            && columns.is_some()
            && limit.as_ref().is_none_or(Option::is_some);
        let columns = columns.unwrap_or_default();
        let limit = limit.flatten();
        self.access.selection =
            Some(Selection { from: before..before + from, condition, columns, order, limit, is_exact });
    }

    /// Takes note of how the rows of an UPDATE or DELETE are chosen.
    pub(super) fn write_rows(&mut self, conditions: &[Condition], before: usize, limited: bool) {
        let (condition, is_inner) = together(conditions);
        let from = self.scopes.last().map_or(0, |scope| scope.relations.len());
        let is_exact = is_inner && !limited && self.access.tables.len() == before + from;
        self.access.selection = Some(Selection {
            from: before..before + from,
            condition,
            columns: Vec::new(),
            order: Vec::new(),
            limit: None,
            is_exact,
        });
    }

    /// The columns of a SELECT list; `None` if one of them cannot be said.
    fn selected(&mut self, items: &[SelectItem]) -> Option<Vec<Selected>> {
        let mut columns = Vec::new();
        for item in items {
            match item {
                SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
                    columns.push(self.selected_one(expr));
                }
                SelectItem::Wildcard(_) if items.len() == 1 => {
                    columns.extend(self.wildcard(None).into_iter().map(|output| Selected::Value(output.term)));
                }
                _ => return None,
            }
        }
        Some(columns)
    }

    fn selected_one(&mut self, expr: &Expr) -> Selected {
        let Expr::Function(function) = expr else { return Selected::Value(self.term(expr)) };
        let aggregate = match last_plain(&function.name).as_str() {
            "count" => Aggregate::Count,
            "sum" => Aggregate::Sum,
            "min" => Aggregate::Min,
            "max" => Aggregate::Max,
            _ => return Selected::Value(self.term(expr)),
        };
        let FunctionArguments::List(list) = &function.args else { return Selected::Value(self.term(expr)) };
        let over = match list.args.as_slice() {
            [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)] => None,
            [FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))] => Some(self.term(argument)),
            _ => return Selected::Value(self.term(expr)),
        };
        let distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
        Selected::Aggregate { function: aggregate, over, distinct }
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
