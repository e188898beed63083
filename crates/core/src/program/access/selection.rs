//! SELECT, UPDATE and DELETE of the parser → [`Selection`].

use std::ops::{ControlFlow, Range};

use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, LimitClause, OrderByExpr, OrderBySort, Query, Select, SelectItem, Visit, Visitor,
};

use super::query::{Condition, together};
use super::scope::{Kind, Relation};
use super::{Analyzer, terms};
use crate::program::located::plain;
use crate::program::predicate::{Predicate, Term};
use crate::program::selection::{OrderTerm, Selection};
use crate::value::Value;

impl Analyzer<'_> {
    /// How a SELECT is computed. Its FROM clause is the innermost scope.
    pub(super) fn select_rows(
        &mut self,
        select: &Select,
        query: &Query,
        order: &[OrderByExpr],
        condition: Predicate,
        is_inner: bool,
        before: usize,
    ) -> Selection {
        // A subquery outside of the conditions would be looked at twice, and those inside of it four times, and so on.
        let is_plain = !has_query(&select.projection)
            && !has_query(&select.group_by)
            && !has_query(&select.having)
            && !has_query(&query.order_by)
            && !has_query(&query.limit_clause);
        if !is_plain {
            return Selection::unknown(condition, before);
        }
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
        let from = self.from(before);
        let is_exact = is_inner
            && from.as_ref().is_some_and(|from| tables == from.end || condition.is_understood())
            && by.is_some()
            && select.qualify.is_none()
            && matches!(select.distinct, None | Some(Distinct::Distinct | Distinct::All))
            && query.fetch.is_none()
            && columns.is_some()
            && limit.as_ref().is_none_or(Option::is_some);
        let is_distinct = select.distinct == Some(Distinct::Distinct);
        let (columns, limit) = (columns.unwrap_or_default(), limit.flatten());
        let from = from.unwrap_or(before..before);
        let mut selection = Selection { from, condition, groups: None, having, columns, order, limit, is_exact };
        selection.group(by.unwrap_or_default(), is_distinct);
        selection
    }

    /// The accesses of the innermost scope, if it is made of tables, and nothing stands between them.
    fn from(&self, before: usize) -> Option<Range<usize>> {
        let relations = self.scopes.last().map(|scope| scope.relations.as_slice()).unwrap_or_default();
        let access =
            |relation: &Relation| if let Kind::Table { access, .. } = relation.kind { Some(access) } else { None };
        let is_in_line = relations.iter().map(access).eq((before..before + relations.len()).map(Some));
        is_in_line.then(|| before..before + relations.len())
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
        let from = self.from(before);
        let tables = &self.access.tables;
        let is_known = |from: &Range<usize>| {
            let mut assigned = tables[from.clone()].iter().flat_map(|access| &access.assigned);
            condition.is_understood() && assigned.all(|one| one.value.is_understood())
        };
        let is_whole = from.as_ref().is_some_and(|from| tables.len() == from.end || is_known(from));
        let is_exact = is_inner && !limited && is_whole;
        let from = from.unwrap_or(before..before);
        self.access.selection = Some(Selection { from, is_exact, ..Selection::unknown(condition, before) });
    }

    /// The columns of a SELECT list; `None` if one of them cannot be said.
    fn selected(&mut self, items: &[SelectItem]) -> Option<Vec<Term>> {
        let mut columns = Vec::new();
        for item in items {
            match item {
                SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
                    let term = self.term(expr);
                    if !term.is_understood() && terms::is_of_many_rows(expr) {
                        return None;
                    }
                    columns.push(term);
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

fn has_query(part: &impl Visit) -> bool {
    struct Finder;
    impl Visitor for Finder {
        type Break = ();
        fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
            ControlFlow::Break(())
        }
    }
    part.visit(&mut Finder).is_break()
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
