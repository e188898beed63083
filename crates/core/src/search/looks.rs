//! Which rows a statement looks at, as they are or as they might be.

use super::run::{Run, View, node_of};
use super::world::{Row, same};
use super::write::rows_of;
use crate::program::access::{Effect as Deed, Node, TableAccess};
use crate::program::paths::expression::Scope;
use crate::solve::Bool;

impl Run<'_, '_> {
    /// Whether a statement looks at a row, if it is as given: of a table, in a slot.
    pub(super) fn looks_at(&mut self, number: usize, table: usize, slot: usize, row: &Row) -> Bool {
        let executed = &self.executed[number];
        let Some(found) = node_of(self.ground, executed) else { return self.symbols.never };
        let (instance, mut view) = (executed.instance, executed.view.clone());
        let variables = executed.variables.clone();
        let now = std::mem::replace(&mut self.locals[instance].variables, variables);
        if let Some(rows) = view.get_mut(&table) {
            rows[slot] = row.clone();
        }
        let mut looks = self.symbols.never;
        for (at, access) in found.access.tables.iter().enumerate() {
            if self.world.table(&access.table) != Some(table) {
                continue;
            }
            let one = self.looks_through(instance, found, at, access, (table, slot), &view);
            looks = self.symbols.problem.or(looks, one);
        }
        self.locals[instance].variables = now;
        looks
    }

    fn looks_through(
        &mut self,
        instance: usize,
        found: &Node,
        at: usize,
        access: &TableAccess,
        (table, slot): (usize, usize),
        view: &View,
    ) -> Bool {
        let row = &view[&table][slot];
        if access.effect == Deed::Insert {
            // It looks whether its key is taken.
            let slots = &self.world.tables[table];
            let keys = rows_of(access)
                .iter()
                .map(|values| self.new_row(instance, found, table, values, view))
                .collect::<Vec<_>>();
            let mut looks = self.symbols.never;
            for new in keys.iter().filter(|_| !slots.key.is_empty()) {
                let same = same(self.symbols, &slots.key_of(new), &slots.key_of(row));
                looks = self.symbols.problem.or(looks, same);
            }
            return looks;
        }
        let selection = found.access.selection.as_ref().filter(|selection| selection.from.contains(&at));
        let combinations = selection.and_then(|selection| self.combinations(found, selection, view));
        let (Some(selection), Some(combinations)) = (selection, combinations) else {
            let place = self.place(instance, access.span);
            let combination = vec![(at, table, slot)];
            let mut scene = self.scene(instance, found, view);
            let matches = scene.at(&combination).predicate(&access.predicate, &place).is_true;
            return self.symbols.problem.and(row.present, matches);
        };
        let mut looks = self.symbols.never;
        for combination in combinations.iter().filter(|one| one.contains(&(at, table, slot))) {
            let chosen = self.is_chosen(instance, found, selection, combination, view);
            looks = self.symbols.problem.or(looks, chosen);
        }
        looks
    }
}
