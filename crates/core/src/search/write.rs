//! Writes in the small database: which slots change, if they do.

use super::answer;
use super::run::{Effect, Run, Stuck, View};
use super::statement::{Combination, Done};
use super::world::{Row, implies, position, same};
use crate::program::access::{Effect as Deed, Node, Selection, TableAccess};
use crate::program::paths::symbol::Symbol;
use crate::program::predicate::Term;
use crate::solve::Bool;

impl Run<'_, '_> {
    /// UPDATE and DELETE.
    pub(super) fn change(
        &mut self,
        instance: usize,
        node: usize,
        found: &Node,
        at: usize,
        view: &View,
    ) -> Option<Done> {
        let access = &found.access.tables[at];
        let nothing =
            |run: &mut Self| Done { count: run.symbols.problem.constant(0), lines: Vec::new(), effects: Vec::new() };
        let (Some(table), Some(selection)) = (self.world.table(&access.table), &found.access.selection) else {
            self.is_exact = false;
            return Some(nothing(self));
        };
        self.is_exact &= selection.is_exact;
        let Some(combinations) = self.combinations(found, selection, view) else {
            self.is_exact = false;
            return Some(nothing(self));
        };
        let (mut effects, mut others) = (Vec::new(), Vec::new());
        for slot in 0..view[&table].len() {
            let own: Vec<Combination> =
                combinations.iter().filter(|one| one.contains(&(at, table, slot))).cloned().collect();
            let effect = match access.effect {
                Deed::Delete => self.delete(instance, found, selection, &own, view, (table, slot)),
                _ => self.update(instance, node, found, access, &own, view, (table, slot))?,
            };
            if self.symbols.problem.as_truth(effect.guard) == Some(false) {
                continue;
            }
            if access.effect == Deed::Delete {
                others.extend(self.referring(instance, node, access.span, &effect)?);
            }
            effects.push(effect);
        }
        let count = answer::count(self.symbols, effects.iter().map(|effect| effect.guard));
        effects.extend(others);
        Some(Done { count, lines: Vec::new(), effects })
    }

    fn delete(
        &mut self,
        instance: usize,
        found: &Node,
        selection: &Selection,
        own: &[Combination],
        view: &View,
        (table, slot): (usize, usize),
    ) -> Effect {
        let mut guard = self.symbols.never;
        for combination in own {
            let chosen = self.is_chosen(instance, found, selection, combination, view);
            guard = self.symbols.problem.or(guard, chosen);
        }
        Effect { table, slot, guard, alive: Some(false), columns: Vec::new() }
    }

    #[allow(clippy::too_many_arguments)]
    fn update(
        &mut self,
        instance: usize,
        node: usize,
        found: &Node,
        access: &TableAccess,
        own: &[Combination],
        view: &View,
        (table, slot): (usize, usize),
    ) -> Option<Effect> {
        let selection = found.access.selection.as_ref()?;
        let world = self.world;
        let slots = &world.tables[table];
        let old = &view[&table][slot];
        let mut row = old.clone();
        let mut guard = self.symbols.never;
        for combination in own {
            let chosen = self.is_chosen(instance, found, selection, combination, view);
            if self.symbols.problem.as_truth(chosen) == Some(false) {
                continue;
            }
            guard = self.symbols.problem.or(guard, chosen);
            for assigned in &access.assigned {
                let Some(column) = position(&slots.columns, &assigned.column) else { continue };
                let value = self.term(instance, found, combination, view, &assigned.value);
                row.columns[column] = self.symbols.choose(chosen, &value, &row.columns[column]);
            }
        }
        let written: Vec<usize> = (0..slots.columns.len())
            .filter(|at| access.assigned.iter().any(|assigned| assigned.column == slots.columns[*at]))
            .collect();
        if written.iter().any(|at| slots.key.contains(at)) {
            // Rows keep their slots: a change of a key is not looked at.
            self.is_exact = false;
            let stays = self.symbols.problem.not(guard);
            self.needs(stays, instance, access.span, Stuck::Unclear);
        }
        let refused = self.refused(instance, access, table, &row, Some(slot), guard, view);
        if self.fails_if(refused, instance, node, access.span) {
            return None;
        }
        let columns = written.into_iter().map(|at| (at, row.columns[at])).collect();
        Some(Effect { table, slot, guard, alive: None, columns })
    }

    /// Whether a constraint refuses a row; `slot` is where it stands already.
    #[allow(clippy::too_many_arguments)]
    fn refused(
        &mut self,
        instance: usize,
        access: &TableAccess,
        table: usize,
        row: &Row,
        slot: Option<usize>,
        guard: Bool,
        view: &View,
    ) -> Bool {
        let world = self.world;
        let slots = &world.tables[table];
        let writes = |column: &str| access.assigned.iter().any(|assigned| assigned.column == column);
        let mut refused = self.symbols.never;
        for (column, value) in slots.columns.iter().zip(&row.columns) {
            let known = slots.definition.column(column);
            if known.is_some_and(|known| !known.nullable && !known.numbered) && writes(column) {
                refused = self.symbols.problem.or(refused, value.null);
            }
        }
        let place = self.place(instance, access.span);
        // Of a row that is there already, other checks hold.
        let broken = slots.breaks_checks(row, self.symbols, &place, |column| slot.is_none() || writes(column));
        refused = self.symbols.problem.or(refused, broken);
        for key in slots.definition.unique_keys.iter().filter(|key| key.columns.iter().any(|column| writes(column))) {
            if self.defers(instance, key.is_deferred) {
                continue;
            }
            let taken = self.is_key_taken(instance, (table, slot), &key.columns, row, view);
            refused = self.symbols.problem.or(refused, taken);
        }
        if self.ground.references {
            for key in
                slots.definition.foreign_keys.iter().filter(|key| key.columns.iter().any(|column| writes(column)))
            {
                if self.defers(instance, key.is_deferred) {
                    continue;
                }
                let lost = self.is_lost(instance, table, key, row, view);
                refused = self.symbols.problem.or(refused, lost);
            }
        }
        self.symbols.problem.and(guard, refused)
    }

    pub(super) fn insert(
        &mut self,
        instance: usize,
        node: usize,
        found: &Node,
        at: usize,
        view: &View,
    ) -> Option<Done> {
        let access = &found.access.tables[at];
        let Some(table) = self.world.table(&access.table) else {
            self.is_exact = false;
            let count = self.symbols.problem.constant(1);
            return Some(Done { count, lines: Vec::new(), effects: Vec::new() });
        };
        let mut effects = Vec::new();
        let mut guards = Vec::new();
        for (guard, row) in self.new_rows(instance, found, at, table, view) {
            let refused = self.refused(instance, access, table, &row, None, guard, view);
            if self.fails_if(refused, instance, node, access.span) {
                return None;
            }
            let placed = self.placed(instance, node, access, table, &row, guard, view)?;
            effects.extend(placed);
            guards.push(guard);
        }
        let count = answer::count(self.symbols, guards);
        Some(Done { count, lines: Vec::new(), effects })
    }

    /// The rows that an INSERT adds, each if a condition is true.
    fn new_rows(&mut self, instance: usize, found: &Node, at: usize, table: usize, view: &View) -> Vec<(Bool, Row)> {
        let access = &found.access.tables[at];
        if found.access.selection.is_none() {
            let rows = rows_of(access);
            return rows
                .iter()
                .map(|row| (self.symbols.always, self.new_row(instance, found, table, row, view)))
                .collect();
        }
        let Some(lines) = self.answer(instance, found, view) else {
            self.is_exact = false;
            return Vec::new();
        };
        let mut rows = Vec::new();
        for line in lines {
            let mut row = self.new_row(instance, found, table, &[], view);
            for (assigned, value) in access.assigned.iter().zip(line.values) {
                let Some(at) = position(&self.world.tables[table].columns, &assigned.column) else { continue };
                row.columns[at] = value;
            }
            rows.push((line.there, row));
        }
        rows
    }

    pub(super) fn new_row(
        &mut self,
        instance: usize,
        found: &Node,
        table: usize,
        values: &[(&String, &Term)],
        view: &View,
    ) -> Row {
        let world = self.world;
        let slots = &world.tables[table];
        let mut columns = Vec::new();
        for column in &slots.columns {
            let assigned = values.iter().find(|(name, _)| name == column);
            let known = slots.definition.column(column);
            let default = known.and_then(|known| known.default.as_ref()).map(|default| default.value.clone());
            columns.push(match (assigned, default) {
                (Some((_, term)), _) => self.term(instance, found, &Combination::new(), view, term),
                (None, Some(Some(constant))) => self.symbols.constant(&constant),
                (None, None) if known.is_some_and(|known| known.nullable) => self.symbols.null(),
                (None, _) => self.symbols.opaque(),
            });
        }
        Row { present: self.symbols.always, columns }
    }

    /// Puts a new row into the slot with its key. `None` if the key is taken, and the call has failed.
    #[allow(clippy::too_many_arguments)]
    fn placed(
        &mut self,
        instance: usize,
        node: usize,
        access: &TableAccess,
        table: usize,
        row: &Row,
        guard: Bool,
        view: &View,
    ) -> Option<Vec<Effect>> {
        let world = self.world;
        let slots = &world.tables[table];
        let all: Vec<(usize, Symbol)> = row.columns.iter().copied().enumerate().collect();
        if slots.key.is_empty() {
            let ordinal = self.locals[instance].inserted.entry(table).or_insert(0);
            let owner = slots.owners.iter().position(|owner| *owner == (instance, *ordinal));
            *ordinal += 1;
            let Some(slot) = owner.map(|at| slots.owned + at) else {
                self.needs(self.symbols.never, instance, access.span, Stuck::Unclear);
                return None;
            };
            return Some(vec![Effect { table, slot, guard, alive: Some(true), columns: all }]);
        }
        let key = slots.key_of(row);
        let states = self.states_checked(instance, table, view);
        let (mut any, mut taken) = (self.symbols.never, self.symbols.never);
        let mut effects = Vec::new();
        for (slot, known) in slots.rows.iter().enumerate() {
            let same = same(self.symbols, &key, &slots.key_of(known));
            any = self.symbols.problem.or(any, same);
            for state in &states {
                let both = self.symbols.problem.and(same, state[slot].present);
                taken = self.symbols.problem.or(taken, both);
            }
            let guard = self.symbols.problem.and(guard, same);
            if self.symbols.problem.as_truth(guard) != Some(false) {
                let columns = all.iter().filter(|(at, _)| !slots.key.contains(at)).copied().collect();
                effects.push(Effect { table, slot, guard, alive: Some(true), columns });
            }
        }
        let fits = implies(self.symbols, guard, any);
        if !self.needs(fits, instance, access.span, Stuck::Outside) {
            return None;
        }
        match access.effect {
            Deed::Upsert => self.upserted(table, taken, &mut effects),
            _ => {
                let taken = self.symbols.problem.and(guard, taken);
                if self.fails_if(taken, instance, node, access.span) {
                    return None;
                }
            }
        }
        Some(effects)
    }

    /// A row that is there may have changed in any way.
    fn upserted(&mut self, table: usize, taken: Bool, effects: &mut [Effect]) {
        self.is_exact = false;
        let world = self.world;
        for effect in effects {
            for (at, value) in &mut effect.columns {
                let column = world.tables[table].definition.column(world.tables[table].columns[*at]);
                if let Some(column) = column {
                    let changed = self.symbols.stand_in(&column.name, &column.column_type, taken);
                    *value = self.symbols.choose(taken, &changed, value);
                }
            }
        }
    }
}

/// The rows of an INSERT, each as columns with values.
pub(super) fn rows_of(access: &TableAccess) -> Vec<Vec<(&String, &Term)>> {
    let mut rows: Vec<Vec<_>> = Vec::new();
    for assigned in &access.assigned {
        match rows.last_mut() {
            Some(row) if row.iter().all(|(name, _)| *name != &assigned.column) => {
                row.push((&assigned.column, &assigned.value));
            }
            _ => rows.push(vec![(&assigned.column, &assigned.value)]),
        }
    }
    rows
}
