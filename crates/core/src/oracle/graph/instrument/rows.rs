//! What tells rows apart: total orders, groups, aggregates.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, Function, FunctionArguments, GroupByExpr, OrderByExpr, OrderByKind, Query, Select, SelectItem, SetExpr,
    TableFactor, Value, Visit, Visitor,
};

use super::Skip;
use super::references::{base_tables, flatten};
use super::schema::Schema;
use super::text::{last_plain, plain};

/// Aggregates that put rows one after the other.
#[rustfmt::skip]
pub(super) const LIST_AGGREGATES: &[&str] = &[
    "group_concat", "string_agg", "array_agg", "listagg", "json_agg", "jsonb_agg", "json_object_agg",
    "jsonb_object_agg", "json_arrayagg", "json_objectagg", "json_group_array", "json_group_object", "xmlagg",
];

/// The other aggregates.
#[rustfmt::skip]
const AGGREGATES: &[&str] = &[
    "count", "sum", "min", "max", "avg", "total", "bool_and", "bool_or", "every", "bit_and", "bit_or", "bit_xor", "std",
    "stddev", "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp", "any_value", "corr", "covar_pop",
    "covar_samp", "regr_count", "percentile_cont", "percentile_disc", "mode",
];

/// Whether this is an aggregate, and not one over a window.
pub(super) fn is_aggregate(function: &Function) -> bool {
    let name = last_plain(&function.name);
    // SQLite's MIN and MAX of several arguments are what others call LEAST and GREATEST.
    let is_scalar = ["min", "max"].contains(&name.as_str())
        && matches!(&function.args, FunctionArguments::List(list) if list.args.len() > 1);
    let is_known = AGGREGATES.contains(&name.as_str()) || LIST_AGGREGATES.contains(&name.as_str());
    function.over.is_none() && is_known && !is_scalar
}

/// Whether the rows of a query come in one order only, so that it does not matter where it is cut.
pub(super) fn is_ordered(query: &Query, schema: &Schema, hidden: &[String]) -> bool {
    let SetExpr::Select(select) = query.body.as_ref() else { return false };
    let order: &[OrderByExpr] = match query.order_by.as_ref().map(|order| &order.kind) {
        Some(OrderByKind::Expressions(expressions)) => expressions,
        _ => &[],
    };
    let terms: Vec<&Expr> = order.iter().filter_map(|order| resolved(&order.expr, select)).collect();
    let has = |wanted: &Expr| terms.iter().any(|term| term.to_string() == wanted.to_string());
    if let GroupByExpr::Expressions(groups, _) = &select.group_by
        && !groups.is_empty()
    {
        return groups.iter().all(has);
    }
    if is_aggregated(select) {
        return true;
    }
    if select.distinct.is_some() {
        return select.projection.iter().all(|item| expression_of(item).is_some_and(has));
    }
    holds_keys(&terms, select, schema, hidden)
}

/// What a term of ORDER BY stands for: `2` is the second column.
fn resolved<'a>(term: &'a Expr, select: &'a Select) -> Option<&'a Expr> {
    let Expr::Value(value) = term else { return Some(term) };
    let Value::Number(position, _) = &value.value else { return None };
    let position = position.parse::<usize>().ok()?.checked_sub(1)?;
    let before = select.projection.get(..=position)?;
    before.iter().map(expression_of).collect::<Option<Vec<&Expr>>>()?.pop()
}

fn expression_of(item: &SelectItem) -> Option<&Expr> {
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    }
}

/// Whether the primary keys of all tables of a FROM clause are among the terms: then these tell all rows apart.
pub(super) fn holds_keys(terms: &[&Expr], select: &Select, schema: &Schema, hidden: &[String]) -> bool {
    let Some(tables) = base_tables(select, schema, hidden).filter(|tables| !tables.is_empty()) else { return false };
    let is_alone = tables.len() == 1;
    tables.iter().all(|(_, table, alias)| {
        table.key.iter().all(|key| {
            terms.iter().any(|term| match term {
                Expr::Identifier(name) => is_alone && plain(name) == plain(key),
                Expr::CompoundIdentifier(names) => match names.as_slice() {
                    [qualifier, name] => plain(qualifier) == plain(alias) && plain(name) == plain(key),
                    _ => false,
                },
                _ => false,
            })
        })
    })
}

/// Whether a select without GROUP BY makes one row of all.
pub(super) fn is_aggregated(select: &Select) -> bool {
    has_aggregates(&select.projection) || select.having.is_some()
}

/// Whether there are aggregates in this part of a query, outside subqueries.
pub(super) fn has_aggregates(parts: &impl Visit) -> bool {
    let mut search = Bare::default();
    let _ = parts.visit(&mut search);
    search.aggregate_count > 0
}

/// Whether the values of a grouped select may be those of any row of the group. (Some dialects allow it.)
pub(super) fn has_bare_columns(select: &Select, schema: &Schema, hidden: &[String]) -> bool {
    let GroupByExpr::Expressions(groups, _) = &select.group_by else { return true };
    if groups.is_empty() && !is_aggregated(select) {
        return false;
    }
    let resolved: Vec<&Expr> = groups.iter().filter_map(|group| resolved(group, select)).collect();
    if holds_keys(&resolved, select, schema, hidden) {
        return false;
    }
    if select.projection.iter().any(|item| expression_of(item).is_none()) {
        return true;
    }
    let groups = resolved.iter().map(|group| group.to_string()).collect();
    let mut search = Bare { groups, aliases: aliases(select), ..Bare::default() };
    let _ = select.projection.visit(&mut search);
    let _ = select.having.visit(&mut search);
    search.bare_count > 0
}

/// The names by which columns of a select's own tables are qualified.
fn aliases(select: &Select) -> BTreeSet<String> {
    let mut factors = Vec::new();
    select.from.iter().for_each(|from| flatten(from, &mut factors));
    let alias = |factor: &TableFactor| match factor {
        TableFactor::Table { alias: Some(alias), .. }
        | TableFactor::Derived { alias: Some(alias), .. }
        | TableFactor::Function { alias: Some(alias), .. } => Some(plain(&alias.name)),
        TableFactor::Table { name, .. } => Some(last_plain(name)),
        _ => None,
    };
    factors.into_iter().filter_map(alias).collect()
}

/// Looks for aggregates, and for columns outside aggregates, subqueries and what is grouped by.
#[derive(Default)]
struct Bare {
    groups: BTreeSet<String>,
    aliases: BTreeSet<String>,
    /// How many of these the visit is within.
    inside: usize,
    aggregate_count: usize,
    bare_count: usize,
}

impl Bare {
    fn is_boundary(&self, expression: &Expr) -> bool {
        matches!(expression, Expr::Function(function) if is_aggregate(function))
            || self.groups.contains(&expression.to_string())
    }
}

impl Visitor for Bare {
    type Break = Skip;

    fn pre_visit_query(&mut self, _query: &Query) -> ControlFlow<Skip> {
        self.inside += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &Query) -> ControlFlow<Skip> {
        self.inside -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<Skip> {
        if self.inside == 0 {
            self.aggregate_count +=
                usize::from(matches!(expression, Expr::Function(function) if is_aggregate(function)));
            let is_column = match expression {
                Expr::Identifier(_) => true,
                // A column of a query around this one is a constant here.
                Expr::CompoundIdentifier(names) => {
                    names.iter().rev().nth(1).is_none_or(|qualifier| self.aliases.contains(&plain(qualifier)))
                }
                _ => false,
            };
            self.bare_count += usize::from(is_column && !self.is_boundary(expression));
        }
        self.inside += usize::from(self.is_boundary(expression));
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expression: &Expr) -> ControlFlow<Skip> {
        self.inside -= usize::from(self.is_boundary(expression));
        ControlFlow::Continue(())
    }
}
