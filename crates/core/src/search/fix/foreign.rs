//! A foreign key, where a row is looked for before one is inserted that names it.
//!
//! ```text
//!   SELECT COUNT(*) INTO :n FROM customers WHERE id = :customer;
//!   IF :n > 0 THEN INSERT INTO orders (id, customer) VALUES (:id, :customer); END IF;
//! ```
//!
//! Whoever removes the customer in between leaves an order of nobody. With a foreign key one of both fails.

use super::{Change, Edit, FOREIGN, Ground, Home, Place};
use crate::program::access::{Effect, Reach, TableAccess};
use crate::program::predicate::Term;

/// The foreign key that a query hopes for.
pub(super) fn foreign(ground: &Ground<'_>, place: Place) -> Option<Change> {
    let nodes = &ground.procedures.get(usize::from(place.0))?.access.nodes;
    let read = ground.node(place)?;
    let [looked] = read.access.tables.as_slice() else { return None };
    let (key, value) = looked_up(looked)?;
    let parent = ground.schema.table(&looked.table)?;
    let later = nodes.get(place.1 + 1..)?.iter().flat_map(|node| &node.access.tables);
    let named = |access: &TableAccess| {
        let assigned = access.assigned.iter().find(|one| one.value == *value)?;
        (access.effect == Effect::Insert && access.table != looked.table).then(|| assigned.column.clone())
    };
    let (child, column) = later.into_iter().find_map(|access| Some((access.table.clone(), named(access)?)))?;
    let child = ground.schema.table(&child)?;
    if child.foreign_keys.iter().any(|key| key.columns.contains(&column)) || child.column(&column).is_none() {
        return None;
    }
    // It can be added when both tables are there.
    let last = if parent.span.start > child.span.start { parent } else { child };
    let line = format!("ALTER TABLE {} ADD FOREIGN KEY ({column}) REFERENCES {} ({key});", child.name, parent.name);
    let says = format!("let {}.{column} have a foreign key that refers to {}", child.name, parent.name);
    let edits = vec![Edit::line_after_statement(Home::Table(last.name.clone()), last.span.end, &line)];
    Some(Change::new(&FOREIGN, says, edits, None))
}

/// The one column of the primary key that a query looks a row up by, and the variable that it is compared with.
fn looked_up(access: &TableAccess) -> Option<(&str, &Term)> {
    let Reach::Key(key) = &access.reach else { return None };
    match key.columns.as_slice() {
        [(column, values)] if key.primary && access.effect == Effect::Read => match values.as_slice() {
            [value @ Term::Variable(_)] => Some((column, value)),
            _ => None,
        },
        _ => None,
    }
}
