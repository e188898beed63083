//! Leaves out a column: from its table, from what is inserted, and from every statement that can do without it.
//!
//! ```text
//!   CREATE TABLE t (a INT, b INT)            CREATE TABLE t (a INT)
//!   INSERT INTO t VALUES (1, 2), (3, 4)  →   INSERT INTO t VALUES (1), (3)
//!   UPDATE t SET a = 5, b = 6                UPDATE t SET a = 5
//!   SELECT a, b FROM t ORDER BY b            SELECT a FROM t
//! ```
//!
//! A statement that cannot do without it (`… WHERE b = 1`) makes the attempt invalid; once other passes have simplified
//! it, the column goes in the next round.

use std::ops::ControlFlow;

use sqlparser::ast::{
    AssignmentTarget, CreateTable, Expr, GroupByExpr, Insert, ObjectName, OrderByKind, Query, Select, SelectItem,
    SetExpr, Statement, TableFactor, TableObject, VisitMut, VisitorMut, WildcardAdditionalOptions,
};

use crate::case::Case;
use crate::reduce::edit::map_statements;
use crate::reduce::sql::schema::{Table, mentions, name_of, tables};
use crate::reduce::{Pass, Tests};
use crate::sql::parse::parse;

pub(in crate::reduce) struct Columns;

/// A column: its table, its name.
type Column = (String, String);

impl Pass for Columns {
    fn reduce(&self, case: &Case, tests: &mut Tests<'_>) -> Case {
        let tables = tables(case);
        let column = |table: &Table, name: &String| (table.name.clone(), name.clone());
        let columns: Vec<Column> =
            tables.iter().flat_map(|table| table.columns.iter().map(|name| column(table, name))).collect();
        tests.minimize(case, &columns, |kept: &[Column]| {
            let mut gone = columns.iter().filter(|column| !kept.contains(column));
            // Positions in rows are counted in the table as it is, so columns go one after the other.
            gone.try_fold(case.clone(), |case, (table, column)| without(&case, table, column))
        })
    }
}

/// The case without a column; `None` if a statement needs it.
pub(super) fn without(case: &Case, table: &str, column: &str) -> Option<Case> {
    let tables = tables(case);
    let owner = tables.iter().find(|other| other.name == table)?;
    let position = owner.columns.iter().position(|name| name == column)?;
    let same_name = |other: &&Table| other.name != table && other.columns.iter().any(|name| name == column);
    let namesakes: Vec<&str> = tables.iter().filter(same_name).map(|other| other.name.as_str()).collect();
    let gone = Gone { table, column, position };
    map_statements(case, |text| {
        if !mentions(text, table) {
            return Some(text.to_string());
        }
        let belongs_elsewhere = namesakes.iter().any(|namesake| mentions(text, namesake));
        let fits = |text: &str| belongs_elsewhere || !mentions(text, column);
        let Some(statement) = parse(text) else { return fits(text).then(|| text.to_string()) };
        let mut changed = statement.clone();
        gone.leave(&mut changed)?;
        let text = if changed == statement { text.to_string() } else { changed.to_string() };
        fits(&text).then_some(text)
    })
}

/// A column that goes.
struct Gone<'a> {
    table: &'a str,
    column: &'a str,
    /// Its position in the table.
    position: usize,
}

impl Gone<'_> {
    /// Takes the column out of a statement, as far as it can be; `None` if nothing would be left.
    fn leave(&self, statement: &mut Statement) -> Option<()> {
        match statement {
            Statement::CreateTable(create) if name_of(&create.name) == self.table => self.leave_table(create)?,
            Statement::CreateIndex(index) if name_of(&index.table_name) == self.table => {
                index.columns.retain(|column| !self.is_expression(&column.column.expr));
                (!index.columns.is_empty()).then_some(())?;
            }
            Statement::Insert(insert) if self.is_target(insert) => self.leave_insert(insert)?,
            Statement::Update(update) => {
                let is_own = matches!(&update.table.relation,
                    TableFactor::Table { name, .. } if name_of(name) == self.table);
                let is_gone = |target: &AssignmentTarget| {
                    is_own && matches!(target, AssignmentTarget::ColumnName(name) if name_of(name) == self.column)
                };
                update.assignments.retain(|assignment| !is_gone(&assignment.target));
                (!update.assignments.is_empty()).then_some(())?;
            }
            _ => {}
        }
        let _ = statement.visit(&mut Lists(self));
        Some(())
    }

    fn leave_table(&self, create: &mut CreateTable) -> Option<()> {
        create.columns.retain(|column| column.name.value.to_lowercase() != self.column);
        create.constraints.retain(|constraint| !mentions(&constraint.to_string(), self.column));
        for column in &mut create.columns {
            column.options.retain(|option| !mentions(&option.to_string(), self.column));
        }
        (!create.columns.is_empty()).then_some(())
    }

    fn is_target(&self, insert: &Insert) -> bool {
        matches!(&insert.table, TableObject::TableName(name) if name_of(name) == self.table)
    }

    fn leave_insert(&self, insert: &mut Insert) -> Option<()> {
        let is_gone = |name: &ObjectName| name_of(name) == self.column;
        let position = if insert.columns.is_empty() {
            self.position
        } else {
            let Some(position) = insert.columns.iter().position(is_gone) else { return Some(()) };
            insert.columns.remove(position);
            position
        };
        match insert.source.as_mut()?.body.as_mut() {
            SetExpr::Values(values) => {
                for row in &mut values.rows {
                    (row.content.len() > position.max(1)).then_some(())?;
                    row.content.remove(position);
                }
                Some(())
            }
            SetExpr::Select(select) => {
                let is_plain =
                    |item: &SelectItem| matches!(item, SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. });
                let possible = select.projection.len() > position.max(1) && select.projection.iter().all(is_plain);
                possible.then(|| select.projection.remove(position)).map(drop)
            }
            _ => None,
        }
    }

    fn is_expression(&self, expression: &Expr) -> bool {
        match expression {
            Expr::Identifier(name) => name.value.to_lowercase() == self.column,
            Expr::CompoundIdentifier(names) => {
                let is_own = |name: &sqlparser::ast::Ident| name.value.to_lowercase() == self.table;
                names.last().is_some_and(|name| name.value.to_lowercase() == self.column)
                    && names.iter().rev().nth(1).is_some_and(is_own)
            }
            _ => false,
        }
    }
}

/// Takes the column out of select lists, GROUP BY and ORDER BY.
struct Lists<'a>(&'a Gone<'a>);

impl VisitorMut for Lists<'_> {
    type Break = ();

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        let is_gone = |item: &SelectItem| match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => self.0.is_expression(expr),
            _ => false,
        };
        select.projection.retain(|item| !is_gone(item));
        if select.projection.is_empty() {
            select.projection.push(SelectItem::Wildcard(WildcardAdditionalOptions::default()));
        }
        if let GroupByExpr::Expressions(expressions, _) = &mut select.group_by {
            expressions.retain(|expression| !self.0.is_expression(expression));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        if let Some(OrderByKind::Expressions(expressions)) = query.order_by.as_mut().map(|order| &mut order.kind) {
            expressions.retain(|order| !self.0.is_expression(&order.expr));
            if expressions.is_empty() {
                query.order_by = None;
            }
        }
        ControlFlow::Continue(())
    }
}
