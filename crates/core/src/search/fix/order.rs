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
    let mut nodes = called.access.nodes.iter();
    let (write, access) = nodes.find_map(|node| Some((node, written(node, &read.table)?)))?;
    let row = row(access, &called.procedure.parameters)?;
    let first = called.procedure.body.iter().find(|one| !comes_before(&one.kind))?;
    let own = lock(ground, query)?;
    let early = format!("{row} FOR UPDATE;");
    let says = format!(
        "{}, and let {} begin with a lock of what it writes to {} in line {}",
        own.says,
        ground.name(other),
        read.table,
        write.operation.span.line
    );
    let edits = [own.edits, vec![Edit::line_before(Home::Procedure(other), first.span.start, &early)]].concat();
    let change = Change::new(&ORDER, says, edits, Some([query.0, other].into()));
    Some(Change { begins_with_more: [other].into(), ..change })
}

/// What stands before the first statement that the server hears of.
fn comes_before(kind: &StatementKind) -> bool {
    matches!(kind, StatementKind::Declare { .. } | StatementKind::Begin | StatementKind::Isolation { .. })
}

/// What a statement changes or removes of a table.
fn written<'n>(node: &'n Node, table: &str) -> Option<&'n TableAccess> {
    let writes = |effect: Effect| matches!(effect, Effect::Update | Effect::Delete);
    node.access.tables.iter().find(|one| one.table == table && writes(one.effect))
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
