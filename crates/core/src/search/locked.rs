//! Rows that are locked are there.
//!
//! `SELECT … FROM rooms WHERE id = :room FOR UPDATE` is how calls that book the same room take turns. If there were no
//! such room, it would lock nothing. But a room that nobody adds or removes is there from the start, or it would not be
//! locked; so no other rows are looked at. [Advisory locks](crate::program::schema::advisory) are such rows as well.

use super::run::{Run, Stuck, View};
use super::scene::Scene;
use crate::program::access::{Effect as Deed, Lock, Node, Reach, TableAccess};
use crate::program::paths::expression::Scope;
use crate::program::predicate::Term;
use crate::program::schema::advisory;

impl Run<'_, '_> {
    /// Whether the rows are there that a statement locks by their keys, and those of constant keys that it writes, if the
    /// calls neither add nor remove such rows.
    pub(super) fn finds_locked(&mut self, instance: usize, found: &Node, view: &View) -> bool {
        for (at, access) in found.access.tables.iter().enumerate() {
            let Some(table) = self.world.table(&access.table).filter(|_| self.is_sure(access)) else { continue };
            let place = self.place(instance, access.span);
            let mut any = self.symbols.never;
            for (slot, row) in view[&table].iter().enumerate() {
                let combination = vec![(at, table, slot)];
                let mut scene: Scene<'_, '_> = self.scene(instance, found, view);
                let matches = scene.at(&combination).predicate(&access.predicate, &place).is_true;
                let one = self.symbols.problem.and(row.present, matches);
                any = self.symbols.problem.or(any, one);
            }
            if !self.needs(any, instance, access.span, Stuck::Unclear) {
                return false;
            }
        }
        true
    }

    /// Whether an access is of one row that must be there: it locks it, or writes the row of a constant key, and no call
    /// adds or removes rows of the table. What else it asks of the row may be so or not.
    fn is_sure(&self, access: &TableAccess) -> bool {
        let Reach::Key(key) = &access.reach else { return false };
        let is_constant = |(_, values): &(String, Vec<Term>)| matches!(values.as_slice(), [Term::Constant(_)]);
        let is_meant = match (access.effect, access.lock) {
            (Deed::Read, Some(lock)) => lock != Lock::Release,
            (Deed::Update, _) => key.columns.iter().all(is_constant),
            _ => false,
        };
        let is_of_key = |column: &String| key.columns.iter().any(|(own, _)| own == column);
        let nodes = self.ground.calls.iter().flat_map(|called| &called.access.nodes);
        let mut others = nodes.flat_map(|node| &node.access.tables).filter(|other| other.table == access.table);
        let is_steady = |other: &TableAccess| matches!(other.effect, Deed::Read | Deed::Update);
        let is_free = self.ground.initial.is_none() || advisory::find(&access.table).is_some();
        is_meant && access.finds_one() && access.tests.iter().all(is_of_key) && is_free && others.all(is_steady)
    }
}
