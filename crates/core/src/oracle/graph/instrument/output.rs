//! Queries that say which rows they return: the keys and versions of all tables of the FROM clause, at the end.
//!
//! ```text
//!   SELECT a, x.b FROM t JOIN u AS x ON …   →   SELECT a, x.b, t.k, t.ver, x.k1, x.k2, x.ver FROM t JOIN u AS x ON …
//! ```
//!
//! Where a row of the answer is not a combination of rows (aggregates, DISTINCT, set operations), or comes out of a
//! derived table, there is nothing to add.

use sqlparser::ast::{Expr, GroupByExpr, Ident, OrderByKind, Query, Select, SelectItem, SetExpr};

use super::Output;
use super::references::{base_tables, names};
use super::rows::{has_aggregates, is_aggregated};
use super::schema::Schema;

/// Appends keys and versions to the select list, and says where they are; `None` if the query cannot have them.
pub(super) fn append(query: &mut Query, schema: &Schema) -> Option<Vec<Output>> {
    let hidden = names(query.with.as_ref());
    let aggregates_in_order = match query.order_by.as_ref().map(|order| &order.kind) {
        Some(OrderByKind::Expressions(terms)) => has_aggregates(terms),
        Some(OrderByKind::All(_)) => true,
        None => false,
    };
    let SetExpr::Select(select) = query.body.as_mut() else { return None };
    if aggregates_in_order || !is_row_by_row(select) {
        return None;
    }
    let tables = base_tables(select, schema, &hidden).filter(|tables| !tables.is_empty())?;
    let mut outputs = Vec::new();
    let mut position = 0;
    for (table, definition, alias) in tables {
        let item =
            |column: &Ident| SelectItem::UnnamedExpr(Expr::CompoundIdentifier(vec![alias.clone(), column.clone()]));
        select.projection.extend(definition.key.iter().chain([&definition.version]).map(item));
        let key: Vec<usize> = (position..position + definition.key.len()).collect();
        let version = position + definition.key.len();
        position = version + 1;
        outputs.push(Output { table: table.clone(), key, version });
    }
    Some(outputs)
}

fn is_row_by_row(select: &Select) -> bool {
    let is_ungrouped = matches!(&select.group_by, GroupByExpr::Expressions(groups, _) if groups.is_empty());
    is_ungrouped && select.distinct.is_none() && !is_aggregated(select)
}
