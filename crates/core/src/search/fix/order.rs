//! The same lock first, in both.
//!
//! ```text
//!   P  SELECT … FROM a WHERE id = :x  FOR UPDATE      Q  SELECT id FROM a WHERE id = :y FOR UPDATE     (new)
//!      UPDATE b …                                        SELECT … FROM b …
//!                                                        UPDATE a … WHERE id = :y
//! ```
//!
//! If both lock what they read, P locks `a` and then `b`, and Q locks `b` and then `a`: that ends in a deadlock, and one of
//! them is rolled back. If Q begins with what it writes in the end, it waits instead, before it has read anything.

use super::lock::lock;
use super::{Change, Cycle, Edit, Ground, Home, ORDER, Place};
use crate::program::access::{Effect, Node, Reach, TableAccess};
use crate::program::ir::{Parameter, StatementKind};
use crate::program::predicate::Term;

/// For each query that can lock, and each other procedure of a cycle that writes such a row: both locks.
pub(super) fn orders(ground: &Ground<'_>, cycle: &Cycle, queries: &[Place]) -> Vec<Change> {
    let procedures = ground.procedures(cycle);
    let pairs = queries.iter().flat_map(|query| procedures.iter().map(move |other| (*query, *other)));
    pairs.filter(|(query, other)| query.0 != *other).filter_map(|(query, other)| order(ground, query, other)).collect()
}

fn order(ground: &Ground<'_>, query: Place, other: u16) -> Option<Change> {
    let [read] = ground.node(query)?.access.tables.as_slice() else { return None };
    let called = ground.procedures.get(usize::from(other))?;
    let writes = |node: &&Node| node.access.tables.iter().any(|one| writes(one, &read.table));
    let write = called.access.nodes.iter().find(writes)?;
    let row = write.access.tables.iter().find_map(|one| row(one, &called.procedure.parameters))?;
    let first = called.procedure.body.iter().find(|one| !comes_before(&one.kind))?;
    let own = lock(ground, query)?;
    let early = format!("{row} FOR UPDATE;");
    Some(Change {
        kind: &ORDER,
        cost: ORDER.cost,
        says: format!(
            "{}, and let {} begin with a lock of what it writes to {} in line {}",
            own.says,
            ground.name(other),
            read.table,
            write.operation.span.line
        ),
        edits: [own.edits, vec![Edit::line_before(Home::Procedure(other), first.span.start, &early)]].concat(),
        procedures: Some([query.0, other].into()),
        begins_with_more: [other].into(),
        sets_level: None,
        level: None,
    })
}

/// What stands before the first statement that the server hears of.
fn comes_before(kind: &StatementKind) -> bool {
    matches!(kind, StatementKind::Declare { .. } | StatementKind::Begin | StatementKind::Isolation { .. })
}

fn writes(access: &TableAccess, table: &str) -> bool {
    access.table == table && matches!(access.effect, Effect::Update | Effect::Delete)
}

/// A query for the row of a write, if a call knows from the start which one that is.
fn row(access: &TableAccess, parameters: &[Parameter]) -> Option<String> {
    let Reach::Key(key) = &access.reach else { return None };
    let known = |term: &Term| match term {
        Term::Variable(variable) if parameters.iter().any(|one| one.name == variable.name) => {
            Some(format!(":{}", variable.name))
        }
        Term::Constant(value) => value.to_string().parse::<i64>().ok().map(|number| number.to_string()),
        _ => None,
    };
    let compared = key.columns.iter().map(|(column, terms)| match terms.as_slice() {
        [term] => Some(format!("{column} = {}", known(term)?)),
        _ => None,
    });
    let compared = compared.collect::<Option<Vec<_>>>()?.join(" AND ");
    Some(format!("SELECT {} FROM {} WHERE {compared}", key.columns.first()?.0, access.table))
}
