//! Versions: every statement that writes puts a number of its own into the version column.
//!
//! ```text
//!   UPDATE t SET a = a + 1, ver = 3 WHERE k = 1     →   UPDATE t SET a = a + 1, ver = 7 WHERE k = 1
//!   INSERT INTO t (k, a) VALUES (1, 2), (3, 4)      →   INSERT INTO t (k, a, ver) VALUES (1, 2, 7), (3, 4, 7)
//!   INSERT INTO t SELECT * FROM u                   →   INSERT INTO t SELECT k, a, 7 FROM u
//!   INSERT … ON CONFLICT (k) DO UPDATE SET a = 1    →   … DO UPDATE SET a = 1, ver = 7
//! ```

use sqlparser::ast::{
    Assignment, AssignmentTarget, Expr, Ident, Insert, ObjectName, ObjectNamePart, OnConflictAction, OnInsert, Parens,
    Query, Select, SelectItem, SetExpr, TableFactor, UnaryOperator, Value, Values,
};

use super::Skip;
use super::refuse::WILDCARD;
use super::schema::{Definition, Schema};
use super::text::{last_plain, plain};

const SERVER_KEY: Skip = Skip("a key that the server chooses");

/// A number, as an expression.
pub(super) fn number(version: i64) -> Expr {
    Expr::Value(Value::Number(version.to_string(), false).with_empty_span())
}

/// The number that an expression is.
pub(super) fn integer(expression: &Expr) -> Option<i64> {
    match expression {
        Expr::Value(value) => match &value.value {
            Value::Number(text, _) => text.parse().ok(),
            _ => None,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => integer(expr).map(|positive| -positive),
        _ => None,
    }
}

fn name(column: &Ident) -> ObjectName {
    ObjectName(vec![ObjectNamePart::Identifier(column.clone())])
}

/// Makes assignments of an UPDATE or upsert set the version and refuses those to the key.
pub(super) fn assign(assignments: &mut Vec<Assignment>, table: &Definition, version: i64) -> Result<(), Skip> {
    for assignment in assignments.iter() {
        let columns = match &assignment.target {
            AssignmentTarget::ColumnName(column) => std::slice::from_ref(column),
            AssignmentTarget::Tuple(columns) => columns,
        };
        if columns.iter().any(|column| table.is_key(&last_plain(column))) {
            return Err(Skip("an update of a primary key"));
        }
        if columns.len() > 1 && columns.iter().any(|column| last_plain(column) == plain(&table.version)) {
            return Err(Skip("a version that is assigned together with other columns"));
        }
    }
    set(assignments, table, version);
    Ok(())
}

fn set(assignments: &mut Vec<Assignment>, table: &Definition, version: i64) {
    assignments.retain(|assignment| assigned_column(assignment) != Some(plain(&table.version)));
    let target = AssignmentTarget::ColumnName(name(&table.version));
    assignments.push(Assignment { target, value: number(version) });
}

/// Makes an INSERT of a session write the version: into new rows, and into those that an upsert finds.
pub(super) fn insert(insert: &mut Insert, schema: &Schema, table: &Definition, version: i64) -> Result<(), Skip> {
    refuse_server_keys(insert, table)?;
    rows(insert, schema, table, version)?;
    match &mut insert.on {
        Some(OnInsert::DuplicateKeyUpdate(assignments)) => assign(assignments, table, version),
        Some(OnInsert::OnConflict(conflict)) => match &mut conflict.action {
            OnConflictAction::DoUpdate(update) => assign(&mut update.assignments, table, version),
            OnConflictAction::DoNothing => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Makes new rows carry the version, whatever the statement puts there.
pub(super) fn rows(insert: &mut Insert, schema: &Schema, table: &Definition, version: i64) -> Result<(), Skip> {
    if !insert.assignments.is_empty() {
        set(&mut insert.assignments, table, version);
        return Ok(());
    }
    let Some(source) = &mut insert.source else { return Err(SERVER_KEY) };
    let shadowed = source.with.is_some();
    expand(&mut source.body, schema, shadowed)?;
    let width = width(&source.body).ok_or(Skip("an insert from an unusual source"))?;
    // Some engines take missing values for defaults; others refuse the statement, and must go on to do so.
    if insert.columns.is_empty() && width < table.version_position() {
        return Err(Skip("an insert of fewer values than there are columns"));
    }
    let is_version = |column: &ObjectName| last_plain(column) == plain(&table.version);
    let position = if insert.columns.is_empty() {
        table.version_position()
    } else {
        insert.columns.iter().position(is_version).unwrap_or_else(|| {
            insert.columns.push(name(&table.version));
            insert.columns.len() - 1
        })
    };
    put(&mut source.body, position, version);
    Ok(())
}

/// Spells out the columns of `SELECT *` from a single table.
fn expand(body: &mut SetExpr, schema: &Schema, is_shadowed: bool) -> Result<(), Skip> {
    match body {
        SetExpr::Select(select) => {
            let is_plain =
                |item: &SelectItem| matches!(item, SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. });
            if select.projection.iter().all(is_plain) {
                return Ok(());
            }
            let columns = columns_of_wildcard(select, schema).filter(|_| !is_shadowed);
            select.projection = columns.ok_or(WILDCARD)?;
            Ok(())
        }
        SetExpr::Query(query) => expand(&mut query.body, schema, is_shadowed || query.with.is_some()),
        SetExpr::SetOperation { left, right, .. } => {
            expand(left, schema, is_shadowed)?;
            expand(right, schema, is_shadowed)
        }
        _ => Ok(()),
    }
}

fn columns_of_wildcard(select: &Select, schema: &Schema) -> Option<Vec<SelectItem>> {
    let ([SelectItem::Wildcard(_)], [from]) = (select.projection.as_slice(), select.from.as_slice()) else {
        return None;
    };
    let TableFactor::Table { name, args: None, .. } = &from.relation else { return None };
    let (_, table) = schema.find(name).filter(|_| from.joins.is_empty())?;
    let item = |column: &Ident| SelectItem::UnnamedExpr(Expr::Identifier(column.clone()));
    Some(table.columns.iter().map(item).collect())
}

/// How many columns a source has.
fn width(body: &SetExpr) -> Option<usize> {
    match body {
        SetExpr::Values(values) => values.rows.first().map(|row| row.content.len()),
        SetExpr::Select(select) => Some(select.projection.len()),
        SetExpr::Query(query) => width(&query.body),
        SetExpr::SetOperation { left, right, .. } => width(left).filter(|left| width(right) == Some(*left)),
        _ => None,
    }
}

/// Puts the version at a position of every row, at its end if the row is not longer.
fn put(body: &mut SetExpr, position: usize, version: i64) {
    match body {
        SetExpr::Values(values) => {
            for row in &mut values.rows {
                replace(&mut row.content, position, number(version));
            }
        }
        SetExpr::Select(select) => {
            replace(&mut select.projection, position, SelectItem::UnnamedExpr(number(version)));
        }
        SetExpr::Query(query) => put(&mut query.body, position, version),
        SetExpr::SetOperation { left, right, .. } => {
            put(left, position, version);
            put(right, position, version);
        }
        _ => {}
    }
}

fn replace<T>(row: &mut Vec<T>, position: usize, value: T) {
    match row.get_mut(position) {
        Some(old) => *old = value,
        None => row.push(value),
    }
}

/// A key that is left out, or NULL, is a number of the server's choice in SQLite, and a constant elsewhere.
fn refuse_server_keys(insert: &Insert, table: &Definition) -> Result<(), Skip> {
    let assigned: Vec<String> = insert.assignments.iter().filter_map(assigned_column).collect();
    let columns: Vec<String> = match (insert.columns.is_empty(), assigned.is_empty()) {
        (true, true) => table.columns.iter().map(plain).collect(),
        (true, false) => assigned,
        (false, _) => insert.columns.iter().map(last_plain).collect(),
    };
    for key in &table.key {
        let position = columns.iter().position(|column| *column == plain(key)).ok_or(SERVER_KEY)?;
        let values = insert.assignments.get(position).map(|assignment| &assignment.value);
        let mut values = values.into_iter().chain(insert.source.iter().flat_map(|query| at(query, position)));
        if values.any(is_left_to_server) {
            return Err(SERVER_KEY);
        }
    }
    Ok(())
}

/// The column that is assigned to, unless there are several.
pub(super) fn assigned_column(assignment: &Assignment) -> Option<String> {
    match &assignment.target {
        AssignmentTarget::ColumnName(column) => Some(last_plain(column)),
        AssignmentTarget::Tuple(_) => None,
    }
}

/// The values that VALUES has at a position.
pub(super) fn at(query: &Query, position: usize) -> Vec<&Expr> {
    match query.body.as_ref() {
        SetExpr::Values(Values { rows, .. }) => {
            rows.iter().filter_map(|row: &Parens<Vec<Expr>>| row.content.get(position)).collect()
        }
        _ => Vec::new(),
    }
}

fn is_left_to_server(value: &Expr) -> bool {
    match value {
        Expr::Value(value) => matches!(value.value, Value::Null),
        Expr::Identifier(name) => plain(name) == "default",
        _ => false,
    }
}
