//! `FOR UPDATE`.

use super::{Change, Cycle, Edit, Ground, Home, LOCK, LOCKS, Place};
use crate::program::access::{Access, Effect};
use crate::program::code::OperationKind;
use crate::program::ir::{Span, SqlPart, SqlStatement};

/// Engines that lock the rows of a query that returns a sum of them.
const LOCKS_AGGREGATES: &[&str] = &["mariadb", "mysql", "model"];
/// Engines that lock the rows of all tables of a join.
const LOCKS_JOINS: &[&str] = &["mariadb", "mysql", "postgres"];

/// The queries of a cycle that can lock what they read.
pub(super) fn queries(ground: &Ground<'_>, cycle: &Cycle, engine: &str) -> Vec<Place> {
    let tables = ground.tables(cycle);
    let is_of_cycle = |access: &Access| access.tables.iter().any(|one| tables.contains(one.table.as_str()));
    let places = ground.places(cycle).into_iter();
    let places = places.filter(|place| {
        ground.node(*place).is_some_and(|node| is_of_cycle(&node.access) && can_lock(&node.access, engine))
    });
    places.collect()
}

/// All locks as one change.
pub(super) fn together(locks: &[Change]) -> Option<Change> {
    let says: Vec<&str> = locks.iter().map(|change| change.says.as_str()).collect();
    let edits = locks.iter().flat_map(|change| change.edits.clone()).collect();
    let procedures = locks.iter().map(|change| change.procedures.clone()).collect::<Option<Vec<_>>>().map(union);
    let change = Change::new(&LOCKS, says.join(", and "), edits, procedures);
    (locks.len() > 1).then(|| Change { cost: LOCKS.cost + locks.len() - 2, ..change })
}

fn union<T: Ord>(sets: Vec<std::collections::BTreeSet<T>>) -> std::collections::BTreeSet<T> {
    sets.into_iter().flatten().collect()
}

fn can_lock(access: &Access, engine: &str) -> bool {
    let is_read = |one: &crate::program::access::TableAccess| one.effect == Effect::Read && one.lock.is_none();
    let Some(selection) = access.selection.as_ref().filter(|selection| selection.is_exact) else { return false };
    access.tables.iter().all(is_read)
        && (selection.groups.is_none() || LOCKS_AGGREGATES.contains(&engine))
        && (access.tables.len() == 1 || LOCKS_JOINS.contains(&engine))
        && engine != "sqlite"
}

/// A lock for a query.
pub(super) fn lock(ground: &Ground<'_>, place: Place) -> Option<Change> {
    let node = ground.node(place)?;
    let (OperationKind::Send(sql) | OperationKind::Open(_, sql)) = &node.operation.kind else { return None };
    let at = end(sql, node.operation.span)?;
    let (name, line) = (ground.name(place.0), node.operation.span.line);
    let says = format!("lock what the query of {name} in line {line} reads, with FOR UPDATE");
    let edits = vec![Edit::replace(Home::Procedure(place.0), at..at, " FOR UPDATE")];
    Some(Change::new(&LOCK, says, edits, Some([place.0].into())))
}

/// The byte behind the last one of a statement. Variables that its answer goes to count if they stand in it; in host
/// languages they stand elsewhere.
fn end(sql: &SqlStatement, whole: Span) -> Option<usize> {
    let is_in_it = |part: &&SqlPart| match part {
        SqlPart::Into(_) => end_of(part).is_some_and(|end| (whole.start..=whole.end).contains(&end)),
        _ => true,
    };
    sql.parts.iter().filter(is_in_it).filter_map(end_of).max()
}

fn end_of(part: &SqlPart) -> Option<usize> {
    match part {
        SqlPart::Text(text) => {
            let written = text.text.trim_end();
            (!written.is_empty()).then(|| text.span.end - (text.text.len() - written.len()))
        }
        SqlPart::Use(variable) => Some(variable.span.end),
        SqlPart::Into(into) => into.variables.last().map(|variable| variable.span.end),
    }
}
