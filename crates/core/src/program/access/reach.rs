//! By key or by scan.

use super::{Access, KeyReach, Reach, TableAccess};
use crate::program::BinaryOp;
use crate::program::predicate::{Predicate, Term};
use crate::program::schema::Schema;

/// Says of each access which rows it looks at, now that its conditions are known.
pub(super) fn settle(access: &mut Access, schema: &Schema) {
    for at in 0..access.tables.len() {
        if access.tables[at].reach == Reach::Scan {
            access.tables[at].reach = reach(&access.tables[at], at, schema);
        }
    }
}

fn reach(access: &TableAccess, at: usize, schema: &Schema) -> Reach {
    let Some(table) = schema.table(&access.table) else { return Reach::Scan };
    let values = |column: &String| access.predicate.conjuncts().iter().find_map(|one| demanded(one, at, column));
    for key in table.keys() {
        let columns: Option<Vec<(String, Vec<Term>)>> =
            key.iter().map(|column| Some((column.clone(), values(column)?))).collect();
        if let Some(columns) = columns {
            return Reach::Key(KeyReach { primary: key == table.primary_key.as_slice(), columns });
        }
    }
    Reach::Scan
}

/// The values of which a condition demands that a column has one. They must not depend on the row itself.
fn demanded(condition: &Predicate, at: usize, column: &str) -> Option<Vec<Term>> {
    let is_own =
        |term: &Term| term.as_column().is_some_and(|found| found.access == at && found.element.column == column);
    let is_free = |term: &Term| term.columns().iter().all(|column| column.access != at);
    match condition {
        Predicate::Compare { op: BinaryOp::Equal, left, right } if is_own(left) && is_free(right) => {
            Some(vec![right.clone()])
        }
        Predicate::Compare { op: BinaryOp::Equal, left, right } if is_own(right) && is_free(left) => {
            Some(vec![left.clone()])
        }
        Predicate::In { term, list } if is_own(term) && list.iter().all(is_free) => Some(list.clone()),
        _ => None,
    }
}
