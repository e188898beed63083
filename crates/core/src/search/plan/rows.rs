//! Rows that are the same without asking a solver.
//!
//! A hop says that two statements touch the same row. If each finds it by its key, all statements of the two calls with
//! that key touch it, too; and if two of these must not, there is no plan:
//!
//! ```text
//!   A: SELECT … WHERE id = :account ──rw──→ B: UPDATE … WHERE id = :account      one row
//!   A: UPDATE … WHERE id = :account                                              the same one: A and B both write it
//! ```
//!
//! That holds only as long as the row is there, so tables to which rows are added, or from which they are removed, by
//! one of the procedures are left out. A statement with a further condition (`AND balance > 0`) may touch no row at all.

use std::collections::BTreeMap;

use super::scene::{Hop, Scene};
use super::{Apart, Question};
use crate::search::conflicts::{Conflicts, Grip, Row, Touch};

/// A row as a call knows it; the same row in all calls has no call.
type Known = (Option<usize>, u32);

/// Which rows are the same, as hops tell.
#[derive(Debug, Default)]
pub(super) struct SameRows {
    /// For each row that a hop is about, which class of equal rows it belongs to.
    classes: BTreeMap<Known, usize>,
}

impl SameRows {
    pub(super) fn of(question: &Question<'_>, hops: &[Hop]) -> SameRows {
        let mut same = SameRows::default();
        for hop in hops.iter().filter(|hop| !hop.to_undo && is_steady(question, hop.table)) {
            let visits = &question.cycle.visits;
            let row = |(call, number): (usize, usize)| {
                let site = visits[call].sites()[number];
                row_of(question.conflicts, site, hop.table).map(|row| known(call, row))
            };
            if let (Some(from), Some(to)) = (row(hop.from), row(hop.to)) {
                same.unite(from, to);
            }
        }
        same
    }

    fn unite(&mut self, a: Known, b: Known) {
        let fresh = self.classes.len();
        let first = *self.classes.entry(a).or_insert(fresh);
        let second = *self.classes.entry(b).or_insert(first);
        self.classes.values_mut().filter(|class| **class == second).for_each(|class| *class = first);
    }

    /// Whether two moves touch the same row for certain.
    pub(super) fn is_same(&self, scene: &Scene<'_>, pair: &Apart) -> bool {
        if self.classes.is_empty() {
            return false;
        }
        let class = |place: usize| {
            let (conflicts, site) = (scene.question.conflicts, scene.step(place).site?);
            if !touches_of(conflicts, site, pair.table).all(Touch::is_by_key_alone) {
                return None;
            }
            let row = row_of(conflicts, site, pair.table)?;
            self.classes.get(&known(scene.items[place].0, row)).copied()
        };
        class(pair.first).is_some_and(|first| class(pair.second) == Some(first))
    }
}

fn known(call: usize, row: Row) -> Known {
    ((!row.is_constant).then_some(call), row.number)
}

/// The one row of a table that a site touches.
fn row_of(conflicts: &Conflicts, site: u16, table: u16) -> Option<Row> {
    let mut touches = touches_of(conflicts, site, table);
    let first = touches.next()?;
    first.row.filter(|_| touches.next().is_none())
}

fn touches_of(conflicts: &Conflicts, site: u16, table: u16) -> impl Iterator<Item = &Touch> {
    let name = conflicts.tables[usize::from(table)].as_str();
    conflicts.touches(site).iter().filter(move |touch| touch.table == name)
}

/// Whether no procedure of the cycle adds or removes rows of a table.
fn is_steady(question: &Question<'_>, table: u16) -> bool {
    let conflicts = question.conflicts;
    let name = &conflicts.tables[usize::from(table)];
    let procedures: Vec<usize> =
        (0..question.cycle.visits.len()).map(|instance| question.cycle.procedure(conflicts, instance)).collect();
    let sites = (0..=u16::MAX).zip(&conflicts.sites);
    let mut own = sites.filter(|(_, site)| procedures.contains(&site.procedure.into()));
    !own.any(|(at, _)| conflicts.touches(at).iter().any(|touch| touch.table == *name && touch.grip == Grip::Exist))
}
