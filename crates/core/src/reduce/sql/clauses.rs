//! Statements without some of their clauses.

use sqlparser::ast::{
    Assignment, Delete, FromTable, GroupByExpr, Insert, JoinConstraint, JoinOperator, OnConflictAction, OnInsert,
    OrderByKind, Query, Select, SelectItem, SetExpr, Statement, TableFactor, TableWithJoins, Update,
    UpdateTableFromKind, WildcardAdditionalOptions,
};

use crate::reduce::sql::rewrite::{Choice, Rewrite};

pub(in crate::reduce) static CLAUSES: Rewrite = Rewrite {
    statements: &[selection, optional, joins, assignments, conflict, index],
    queries: &[nested, set_operation, with, ordering, limits],
    selects: &[filters, grouping, everything, sources, select_joins, items, aliases, table_aliases],
    expressions: &[],
};

/// WHERE.
fn selection(statement: &mut Statement, nth: usize) -> bool {
    let mut choice = Choice::new(nth);
    match statement {
        Statement::Update(Update { selection, .. }) | Statement::Delete(Delete { selection, .. }) => {
            choice.take(selection)
        }
        _ => false,
    }
}

/// RETURNING, ORDER BY, LIMIT, IGNORE, column lists.
fn optional(statement: &mut Statement, nth: usize) -> bool {
    let mut choice = Choice::new(nth);
    match statement {
        Statement::Update(update) => {
            choice.take(&mut update.returning)
                || choice.take(&mut update.limit)
                || choice.empty(&mut update.order_by)
                || choice.take(&mut update.or)
        }
        Statement::Delete(delete) => {
            choice.take(&mut delete.returning) || choice.take(&mut delete.limit) || choice.empty(&mut delete.order_by)
        }
        Statement::Insert(insert) => {
            let flag = |chosen: bool, flag: &mut bool| {
                *flag &= !chosen;
                chosen
            };
            choice.take(&mut insert.returning)
                || flag(choice.is(insert.ignore), &mut insert.ignore)
                || choice.take(&mut insert.or)
                || flag(choice.is(insert.replace_into), &mut insert.replace_into)
                || choice.empty(&mut insert.columns)
        }
        Statement::CreateTable(create) if choice.is(create.if_not_exists) => {
            create.if_not_exists = false;
            true
        }
        _ => false,
    }
}

/// USING, FROM and the joins of UPDATE and DELETE.
fn joins(statement: &mut Statement, nth: usize) -> bool {
    let mut choice = Choice::new(nth);
    match statement {
        Statement::Update(Update { table, from, .. }) => {
            let tables = match from {
                Some(UpdateTableFromKind::BeforeSet(tables) | UpdateTableFromKind::AfterSet(tables)) => tables,
                None => &mut Vec::new(),
            };
            if choice.remove(tables, 1) || choice.remove(&mut table.joins, 0) {
                return true;
            }
            choice.take(from)
        }
        Statement::Delete(Delete { using, from, .. }) => {
            let (FromTable::WithFromKeyword(tables) | FromTable::WithoutKeyword(tables)) = from;
            choice.take(using) || tables.iter_mut().any(|table| choice.remove(&mut table.joins, 0))
        }
        _ => false,
    }
}

/// Assignments of SET.
fn assignments(statement: &mut Statement, nth: usize) -> bool {
    let mut choice = Choice::new(nth);
    match statement {
        Statement::Update(update) => choice.remove(&mut update.assignments, 1),
        Statement::Insert(insert) => match upsert(insert) {
            Some(assignments) => choice.remove(assignments, 1),
            None => false,
        },
        _ => false,
    }
}

/// What an INSERT does to a row that is already there.
fn upsert(insert: &mut Insert) -> Option<&mut Vec<Assignment>> {
    match insert.on.as_mut()? {
        OnInsert::DuplicateKeyUpdate(assignments) => Some(assignments),
        OnInsert::OnConflict(conflict) => match &mut conflict.action {
            OnConflictAction::DoUpdate(update) => Some(&mut update.assignments),
            OnConflictAction::DoNothing => None,
        },
        _ => None,
    }
}

/// ON CONFLICT and ON DUPLICATE KEY, and what they say.
fn conflict(statement: &mut Statement, nth: usize) -> bool {
    let mut choice = Choice::new(nth);
    let Statement::Insert(insert) = statement else { return false };
    if choice.take(&mut insert.on) {
        return true;
    }
    let Some(OnInsert::OnConflict(conflict)) = &mut insert.on else { return false };
    if choice.is(conflict.action != OnConflictAction::DoNothing) {
        conflict.action = OnConflictAction::DoNothing;
        return true;
    }
    match &mut conflict.action {
        OnConflictAction::DoUpdate(update) => choice.take(&mut update.selection),
        OnConflictAction::DoNothing => choice.take(&mut conflict.conflict_target),
    }
}

/// UNIQUE, the predicate and the columns of an index.
fn index(statement: &mut Statement, nth: usize) -> bool {
    let mut choice = Choice::new(nth);
    let Statement::CreateIndex(index) = statement else { return false };
    if choice.is(index.unique) {
        index.unique = false;
        return true;
    }
    choice.take(&mut index.predicate) || choice.remove(&mut index.columns, 1)
}

/// A query by one that it contains: of WITH, of FROM, or in parentheses.
fn nested(query: &mut Query, nth: usize) -> bool {
    let mut inner = Vec::new();
    inner.extend(query.with.iter().flat_map(|with| &with.cte_tables).map(|table| table.query.clone()));
    match query.body.as_ref() {
        SetExpr::Query(parenthesised) => inner.push(parenthesised.clone()),
        SetExpr::Select(select) => {
            let factors = select
                .from
                .iter()
                .flat_map(|table| [&table.relation].into_iter().chain(table.joins.iter().map(|join| &join.relation)));
            inner.extend(factors.filter_map(|factor| match factor {
                TableFactor::Derived { subquery, .. } => Some(subquery.clone()),
                _ => None,
            }));
        }
        _ => {}
    }
    let Some(inner) = inner.into_iter().nth(nth) else { return false };
    *query = *inner;
    true
}

/// UNION and its like by one of their sides.
fn set_operation(query: &mut Query, nth: usize) -> bool {
    let SetExpr::SetOperation { left, right, .. } = query.body.as_ref() else { return false };
    let side = match nth {
        0 => left.clone(),
        1 => right.clone(),
        _ => return false,
    };
    query.body = side;
    true
}

/// WITH.
fn with(query: &mut Query, nth: usize) -> bool {
    let mut choice = Choice::new(nth);
    choice.take(&mut query.with) || query.with.as_mut().is_some_and(|with| choice.remove(&mut with.cte_tables, 1))
}

/// ORDER BY.
fn ordering(query: &mut Query, nth: usize) -> bool {
    let mut choice = Choice::new(nth);
    if choice.take(&mut query.order_by) {
        return true;
    }
    match query.order_by.as_mut().map(|order| &mut order.kind) {
        Some(OrderByKind::Expressions(expressions)) => choice.remove(expressions, 1),
        _ => false,
    }
}

/// LIMIT, FETCH, FOR UPDATE and its like.
fn limits(query: &mut Query, nth: usize) -> bool {
    let mut choice = Choice::new(nth);
    if choice.take(&mut query.limit_clause) || choice.take(&mut query.fetch) || choice.remove(&mut query.locks, 0) {
        return true;
    }
    query.locks.iter_mut().any(|lock| choice.take(&mut lock.nonblock) || choice.take(&mut lock.of))
}

/// WHERE, HAVING, DISTINCT and what else can simply be left out.
fn filters(select: &mut Select, nth: usize) -> bool {
    let mut choice = Choice::new(nth);
    choice.take(&mut select.selection)
        || choice.take(&mut select.having)
        || choice.take(&mut select.distinct)
        || choice.take(&mut select.select_modifiers)
        || choice.empty(&mut select.optimizer_hints)
        || choice.empty(&mut select.named_window)
}

/// GROUP BY.
fn grouping(select: &mut Select, nth: usize) -> bool {
    let mut choice = Choice::new(nth);
    let GroupByExpr::Expressions(expressions, modifiers) = &mut select.group_by else { return false };
    choice.empty(expressions) || choice.empty(modifiers) || choice.remove(expressions, 1)
}

/// `*` instead of a list: what the list spoke of can then go, too.
fn everything(select: &mut Select, nth: usize) -> bool {
    let all = SelectItem::Wildcard(WildcardAdditionalOptions::default());
    if nth > 0 || select.projection == [all.clone()] {
        return false;
    }
    select.projection = vec![all];
    true
}

/// Tables of FROM.
fn sources(select: &mut Select, nth: usize) -> bool {
    Choice::new(nth).remove(&mut select.from, 0)
}

/// Joins: without the table that is joined, without the one that it is joined to, or as a plain join.
fn select_joins(select: &mut Select, nth: usize) -> bool {
    let mut choice = Choice::new(nth);
    select.from.iter_mut().any(|table| {
        choice.remove(&mut table.joins, 0) || first_gone(table, &mut choice) || plain_join(table, &mut choice)
    })
}

fn first_gone(table: &mut TableWithJoins, choice: &mut Choice) -> bool {
    let chosen = choice.is(!table.joins.is_empty());
    if chosen {
        table.relation = table.joins.remove(0).relation;
    }
    chosen
}

fn plain_join(table: &mut TableWithJoins, choice: &mut Choice) -> bool {
    table.joins.iter_mut().any(|join| {
        let constraint: &JoinConstraint = match &join.join_operator {
            JoinOperator::Inner(constraint)
            | JoinOperator::Left(constraint)
            | JoinOperator::LeftOuter(constraint)
            | JoinOperator::Right(constraint)
            | JoinOperator::RightOuter(constraint)
            | JoinOperator::FullOuter(constraint) => constraint,
            _ => return false,
        };
        let plain = JoinOperator::Join(constraint.clone());
        let chosen = choice.is(true);
        if chosen {
            join.join_operator = plain;
        }
        chosen
    })
}

/// Items of the list.
fn items(select: &mut Select, nth: usize) -> bool {
    Choice::new(nth).remove(&mut select.projection, 1)
}

/// Names of items.
fn aliases(select: &mut Select, nth: usize) -> bool {
    let mut choice = Choice::new(nth);
    select.projection.iter_mut().any(|item| {
        let SelectItem::ExprWithAlias { expr, .. } = item else { return false };
        let plain = SelectItem::UnnamedExpr(expr.clone());
        let chosen = choice.is(true);
        if chosen {
            *item = plain;
        }
        chosen
    })
}

/// Names of tables.
fn table_aliases(select: &mut Select, nth: usize) -> bool {
    let mut choice = Choice::new(nth);
    select.from.iter_mut().any(|table| {
        let joined = table.joins.iter_mut().map(|join| &mut join.relation);
        let mut factors = [&mut table.relation].into_iter().chain(joined);
        factors.any(|factor| match factor {
            TableFactor::Table { alias, .. } => choice.take(alias),
            _ => false,
        })
    })
}
