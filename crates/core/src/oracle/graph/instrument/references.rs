//! Which tables a part of a statement refers to.
//!
//! The names of common table expressions hide tables, but not everywhere: in `WITH t AS (SELECT … FROM t)` the inner
//! `t` is the table, unless it says RECURSIVE.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use sqlparser::ast::{Expr, Ident, Query, Select, SetExpr, TableFactor, TableWithJoins, Visit, Visitor, With};

use super::Skip;
use super::schema::{Definition, Schema};
use super::text::{last_plain, plain};

/// The names that hide tables.
pub(super) type Hidden = Vec<String>;

/// The tables that these parts of a statement refer to, subqueries included.
pub(super) fn tables(parts: &impl Visit, schema: &Schema, hidden: &Hidden) -> Result<BTreeSet<Arc<str>>, Skip> {
    Found::new(schema, hidden.clone()).visit(parts)
}

/// The tables that only subqueries of a locking query refer to. The lock is for those of its FROM clause: a table in
/// both places would be read in two ways.
pub(super) fn beside_locks(query: &Query, schema: &Schema) -> Result<BTreeSet<Arc<str>>, Skip> {
    let mut found = Found::new(schema, Hidden::new());
    if let ControlFlow::Break(skip) = query.visit(&mut found) {
        return Err(skip);
    }
    let hidden = names(query.with.as_ref());
    let locked = match query.body.as_ref() {
        SetExpr::Select(select) => base_tables(select, schema, &hidden),
        _ => None,
    };
    let locked = locked.ok_or(Skip("a locking query of something else than tables"))?;
    if locked.iter().any(|(table, ..)| found.in_subqueries.contains(*table)) {
        return Err(Skip("a table that is read with and without a lock"));
    }
    Ok(found.in_subqueries)
}

/// The tables that the WITH clause before a write refers to.
pub(super) fn tables_of_with(with: &With, schema: &Schema) -> Result<BTreeSet<Arc<str>>, Skip> {
    let mut found = Found::new(schema, Hidden::new());
    found.enter(with, &Hidden::new());
    found.visit(with)
}

/// The names that a WITH clause introduces.
pub(super) fn names(with: Option<&With>) -> Hidden {
    with.iter().flat_map(|with| &with.cte_tables).map(|cte| plain(&cte.alias.name)).collect()
}

struct Found<'a> {
    schema: &'a Schema,
    /// What is hidden in the queries around, innermost last.
    scopes: Vec<Hidden>,
    /// What is hidden in bodies of common table expressions, by where they are in memory: nothing moves during a visit.
    own_scopes: BTreeMap<usize, Hidden>,
    tables: BTreeSet<Arc<str>>,
    /// Those of them that are referred to by queries within the outermost one.
    in_subqueries: BTreeSet<Arc<str>>,
}

impl<'a> Found<'a> {
    fn new(schema: &'a Schema, hidden: Hidden) -> Found<'a> {
        Found {
            schema,
            scopes: vec![hidden],
            own_scopes: BTreeMap::new(),
            tables: BTreeSet::new(),
            in_subqueries: BTreeSet::new(),
        }
    }

    fn visit(mut self, parts: &impl Visit) -> Result<BTreeSet<Arc<str>>, Skip> {
        match parts.visit(&mut self) {
            ControlFlow::Continue(()) => Ok(self.tables),
            ControlFlow::Break(skip) => Err(skip),
        }
    }

    /// Enters a query with a WITH clause: notes what is hidden in its parts, returns what is hidden in the query.
    fn enter(&mut self, with: &With, outside: &Hidden) -> Hidden {
        let all: Hidden = outside.iter().cloned().chain(names(Some(with))).collect();
        let mut earlier = outside.clone();
        for cte in &with.cte_tables {
            let inside = if with.recursive { all.clone() } else { earlier.clone() };
            self.own_scopes.insert(address(&cte.query), inside);
            earlier.push(plain(&cte.alias.name));
        }
        all
    }
}

fn address(query: &Query) -> usize {
    std::ptr::from_ref(query).addr()
}

impl Visitor for Found<'_> {
    type Break = Skip;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Skip> {
        let around = self.scopes.last().cloned().unwrap_or_default();
        let outside = self.own_scopes.remove(&address(query)).unwrap_or(around);
        let inside = match &query.with {
            Some(with) => self.enter(with, &outside),
            None => outside,
        };
        self.scopes.push(inside);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &Query) -> ControlFlow<Skip> {
        self.scopes.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Skip> {
        match factor {
            TableFactor::Table { name, args: None, .. } => {
                let is_hidden =
                    name.0.len() == 1 && self.scopes.last().is_some_and(|hidden| hidden.contains(&last_plain(name)));
                match self.schema.find(name) {
                    _ if is_hidden => {}
                    Some((table, _)) => {
                        self.tables.insert(table.clone());
                        // Around the outermost query, there is one scope; within it, two.
                        if self.scopes.len() > 2 {
                            self.in_subqueries.insert(table.clone());
                        }
                    }
                    None => return ControlFlow::Break(Skip("a table that the setup does not create")),
                }
                ControlFlow::Continue(())
            }
            TableFactor::Table { .. }
            | TableFactor::Derived { .. }
            | TableFactor::Function { .. }
            | TableFactor::NestedJoin { .. } => ControlFlow::Continue(()),
            _ => ControlFlow::Break(Skip("an unusual FROM clause")),
        }
    }
}

/// The tables of a FROM clause with the names that they go by; `None` if there is something else in it.
pub(super) fn base_tables<'a>(
    select: &Select,
    schema: &'a Schema,
    hidden: &[String],
) -> Option<Vec<(&'a Arc<str>, &'a Definition, Ident)>> {
    let mut factors = Vec::new();
    select.from.iter().for_each(|from| flatten(from, &mut factors));
    let table = |factor: &TableFactor| {
        let TableFactor::Table { name, alias, args: None, .. } = factor else { return None };
        let last = name.0.last().and_then(|part| part.as_ident())?;
        if hidden.contains(&plain(last)) || alias.as_ref().is_some_and(|alias| !alias.columns.is_empty()) {
            return None;
        }
        let (table, definition) = schema.find(name)?;
        Some((table, definition, alias.as_ref().map_or_else(|| last.clone(), |alias| alias.name.clone())))
    };
    factors.into_iter().map(table).collect()
}

/// All elements of a FROM clause.
pub(super) fn flatten<'a>(from: &'a TableWithJoins, factors: &mut Vec<&'a TableFactor>) {
    for factor in [&from.relation].into_iter().chain(from.joins.iter().map(|join| &join.relation)) {
        match factor {
            TableFactor::NestedJoin { table_with_joins, alias: None } => flatten(table_with_joins, factors),
            _ => factors.push(factor),
        }
    }
}

/// Whether expressions may speak of columns of a table that goes by this name: all that might be are taken for them.
pub(super) fn mentions_columns(parts: &impl Visit, table: &Definition, alias: &str) -> bool {
    struct Mentions<'a>(&'a Definition, &'a str);
    impl Visitor for Mentions<'_> {
        type Break = ();
        fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<()> {
            let (qualifier, column) = match expression {
                Expr::Identifier(column) => (None, column),
                Expr::CompoundIdentifier(names) => match names.as_slice() {
                    [.., qualifier, column] => (Some(qualifier), column),
                    _ => return ControlFlow::Continue(()),
                },
                _ => return ControlFlow::Continue(()),
            };
            let is_own = qualifier.is_none_or(|qualifier| plain(qualifier) == self.1);
            if is_own && self.0.has_column(&plain(column)) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }
    parts.visit(&mut Mentions(table, alias)).is_break()
}
