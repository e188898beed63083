//! What would answer differently when the same statement runs on the same versions again.
//!
//! Two executions are compared that store rows in different orders, at different times, on different connections. So a
//! statement must be a function of the versions that it refers to: no clocks and no dice, and nothing that depends on
//! the order in which rows happen to come.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    Distinct, Expr, Function, FunctionArgumentClause, FunctionArguments, Ident, LimitClause, Query, Select, SelectItem,
    SetExpr, Statement, Visit, Visitor, WindowFrameUnits, WindowType, With,
};

use super::Skip;
use super::rows::{LIST_AGGREGATES, has_bare_columns, holds_keys, is_ordered};
use super::schema::Schema;
use super::text::{last_plain, plain};
use crate::sql::chance::mentions_chance;

const CHANCE: Skip = Skip("a function whose value depends on more than the data");
pub(super) const NO_ORDER: Skip = Skip("LIMIT without a total order");
pub(super) const WILDCARD: Skip = Skip("a wildcard that a version does not fit into");
const ROW_ORDER: Skip = Skip("a function that depends on the order of rows");

/// What a row has besides its columns: where it is stored, who wrote it.
const SYSTEM_COLUMNS: &[&str] = &["ctid", "xmin", "xmax", "cmin", "cmax", "tableoid", "rowid", "_rowid_", "oid"];

/// Window functions that tell rows apart which their ORDER BY does not.
const ROW_FUNCTIONS: &[&str] = &["row_number", "ntile", "lag", "lead", "first_value", "last_value", "nth_value"];

/// Refuses functions of time and chance, anywhere.
pub(super) fn chance(statement: &Statement) -> Result<(), Skip> {
    if mentions_chance(statement) { Err(CHANCE) } else { Ok(()) }
}

fn broken(flow: ControlFlow<Skip>) -> Result<(), Skip> {
    match flow {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(skip) => Err(skip),
    }
}

/// Refuses what a statement of a session must not contain.
pub(super) fn check(statement: &Statement, schema: &Schema) -> Result<(), Skip> {
    chance(statement)?;
    let mut names = Names::default();
    broken(statement.visit(&mut names))?;
    let hidden = names.0.into_iter().collect();
    broken(statement.visit(&mut Check { schema, hidden, selects: Vec::new() }))?;
    broken(statement.visit(&mut Locks { is_query: matches!(statement, Statement::Query(_)), depth: 0 }))
}

/// Locks are for the outermost query, and for all of its tables.
struct Locks {
    /// Whether the outermost query is the statement.
    is_query: bool,
    depth: usize,
}

impl Visitor for Locks {
    type Break = Skip;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Skip> {
        let is_outermost = self.depth == 0 && self.is_query;
        self.depth += 1;
        if !query.locks.is_empty() && !is_outermost {
            return ControlFlow::Break(Skip("a locking subquery"));
        }
        if query.locks.iter().any(|lock| lock.of.is_some()) {
            return ControlFlow::Break(Skip("a query that locks some of its tables"));
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &Query) -> ControlFlow<Skip> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }
}

/// The names of all common table expressions.
#[derive(Default)]
struct Names(BTreeSet<String>);

impl Visitor for Names {
    type Break = Skip;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Skip> {
        let tables = query.with.iter().flat_map(|With { cte_tables, .. }| cte_tables);
        self.0.extend(tables.map(|cte| plain(&cte.alias.name)));
        ControlFlow::Continue(())
    }
}

struct Check<'a> {
    schema: &'a Schema,
    hidden: Vec<String>,
    selects: Vec<Select>,
}

impl Visitor for Check<'_> {
    type Break = Skip;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Skip> {
        match self.query(query) {
            Ok(()) => ControlFlow::Continue(()),
            Err(skip) => ControlFlow::Break(skip),
        }
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Skip> {
        if select.into.is_some() {
            return ControlFlow::Break(Skip("SELECT INTO"));
        }
        if matches!(select.distinct, Some(Distinct::On(_))) {
            return ControlFlow::Break(Skip("DISTINCT ON"));
        }
        if has_bare_columns(select, self.schema, &self.hidden) {
            return ControlFlow::Break(Skip("a column beside aggregates that is not grouped by"));
        }
        self.selects.push(select.clone());
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _select: &Select) -> ControlFlow<Skip> {
        self.selects.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<Skip> {
        if let Expr::InSubquery { subquery, .. } | Expr::Subquery(subquery) = expression
            && let Err(skip) = self.refuse_wildcards(&subquery.body)
        {
            return ControlFlow::Break(skip);
        }
        match expression {
            Expr::Function(function) if self.depends_on_rows(function) => ControlFlow::Break(ROW_ORDER),
            Expr::Identifier(name) if self.is_system(name) => ControlFlow::Break(Skip("a system column")),
            Expr::CompoundIdentifier(names) if names.last().is_some_and(|name| self.is_system(name)) => {
                ControlFlow::Break(Skip("a system column"))
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

impl Check<'_> {
    fn query(&self, query: &Query) -> Result<(), Skip> {
        if matches!(query.body.as_ref(), SetExpr::Table(_)) || !query.pipe_operators.is_empty() {
            return Err(Skip("an unusual query"));
        }
        let is_write = |body: &SetExpr| {
            matches!(body, SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_))
        };
        let tables = query.with.iter().flat_map(|with| &with.cte_tables);
        if tables.into_iter().any(|cte| is_write(&cte.query.body)) {
            return Err(Skip("a write inside WITH"));
        }
        if query.locks.iter().any(|lock| lock.nonblock.is_some()) {
            return Err(Skip("SKIP LOCKED or NOWAIT"));
        }
        if matches!(query.body.as_ref(), SetExpr::SetOperation { .. }) {
            self.refuse_wildcards(&query.body)?;
        }
        let is_cut = query.fetch.is_some() || query.limit_clause.as_ref().is_some_and(is_limit);
        if is_cut && !is_ordered(query, self.schema, &self.hidden) { Err(NO_ORDER) } else { Ok(()) }
    }

    /// A column that we add makes `*` one longer: where the number of columns matters, this would be an error.
    fn refuse_wildcards(&self, body: &SetExpr) -> Result<(), Skip> {
        match body {
            SetExpr::Select(select) => {
                let is_wildcard =
                    |item: &SelectItem| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..));
                let grows = self.schema.tables.values().any(|table| table.is_added);
                let is_refused = grows && select.projection.iter().any(is_wildcard);
                if is_refused { Err(WILDCARD) } else { Ok(()) }
            }
            SetExpr::Query(query) => self.refuse_wildcards(&query.body),
            SetExpr::SetOperation { left, right, .. } => {
                self.refuse_wildcards(left)?;
                self.refuse_wildcards(right)
            }
            _ => Ok(()),
        }
    }

    fn is_system(&self, name: &Ident) -> bool {
        let name = plain(name);
        SYSTEM_COLUMNS.contains(&name.as_str()) && !self.schema.tables.values().any(|table| table.has_column(&name))
    }

    fn depends_on_rows(&self, function: &Function) -> bool {
        let name = last_plain(&function.name);
        if LIST_AGGREGATES.contains(&name.as_str()) {
            return function.over.is_some() || !has_order(function);
        }
        match &function.over {
            Some(WindowType::WindowSpec(window)) => {
                let by_rows =
                    window.window_frame.as_ref().is_some_and(|frame| matches!(frame.units, WindowFrameUnits::Rows));
                let terms: Vec<&Expr> =
                    window.partition_by.iter().chain(window.order_by.iter().map(|order| &order.expr)).collect();
                let is_total =
                    || self.selects.last().is_some_and(|select| holds_keys(&terms, select, self.schema, &self.hidden));
                (by_rows || ROW_FUNCTIONS.contains(&name.as_str()) || window.window_name.is_some()) && !is_total()
            }
            Some(WindowType::NamedWindow(_)) => true,
            None => false,
        }
    }
}

fn is_limit(limit: &LimitClause) -> bool {
    match limit {
        LimitClause::LimitOffset { limit, offset, .. } => limit.is_some() || offset.is_some(),
        LimitClause::OffsetCommaLimit { .. } => true,
    }
}

fn has_order(function: &Function) -> bool {
    let is_order = |clause: &FunctionArgumentClause| matches!(clause, FunctionArgumentClause::OrderBy(_));
    let in_arguments = matches!(&function.args, FunctionArguments::List(list) if list.clauses.iter().any(is_order));
    in_arguments || !function.within_group.is_empty()
}
