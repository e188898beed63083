//! What constraints refuse, at the moment when an engine looks.
//!
//! A snapshot does not protect from keys: an engine looks them up in what is there now, committed or not.
//!
//! ```text
//!   a: INSERT seat 7        COMMIT
//!   b:               INSERT seat 7       waits for a, and is refused when a commits, whatever b sees
//! ```
//!
//! So a plan in which a row is written that such a lookup finds has no values: the call would wait, or be refused. A
//! deferred constraint is looked at when the transaction commits. Stores look up what the node knows.
//!
//! # Limits
//!
//! Exclusion constraints, keys over expressions and `ON UPDATE` are not looked at; neither is a unique key that an UPDATE
//! of several rows breaks only on the way.

use std::collections::BTreeSet;

use super::run::{Effect, Run, View};
use super::world::{Row, same};
use crate::program::ir::Span;
use crate::program::paths::symbol::Symbol;
use crate::program::schema::{Action, ForeignKey};
use crate::solve::Bool;

impl Run<'_, '_> {
    /// The rows of a table that constraints look at, in each state in which they must hold: an index holds every version
    /// that somebody has written or replaced and not committed, so these are all states since others began.
    pub(super) fn states_checked(&mut self, instance: usize, table: usize, view: &View) -> Vec<Vec<Row>> {
        match view.get(&table) {
            _ if self.ground.references => {
                let open = self.unsettled(instance, table);
                (0..=open.len()).map(|seen| self.rows_but(table, &open[seen..])).collect()
            }
            Some(rows) => vec![rows.clone()],
            None => vec![self.rows_seen(instance, table)],
        }
    }

    /// Whether another row than that of a slot has the same unique key.
    pub(super) fn is_key_taken(
        &mut self,
        instance: usize,
        (table, slot): (usize, Option<usize>),
        key: &[String],
        row: &Row,
        view: &View,
    ) -> Bool {
        let world = self.world;
        let mut taken = self.symbols.never;
        for state in self.states_checked(instance, table, view) {
            let others = state.into_iter().enumerate().filter(|(at, _)| Some(*at) != slot);
            let others: Vec<Row> = others.map(|(_, row)| row).collect();
            let one = world.tables[table].is_taken(key, row, &others, self.symbols);
            taken = self.symbols.problem.or(taken, one);
        }
        taken
    }

    /// Whether the row that a new or changed row refers to is missing.
    pub(super) fn is_lost(&mut self, instance: usize, table: usize, key: &ForeignKey, row: &Row, view: &View) -> Bool {
        let world = self.world;
        let Some(parent) = world.table(&key.table) else { return self.symbols.never };
        let mut lost = self.symbols.never;
        for mut parents in self.states_checked(instance, parent, view) {
            // A row may refer to itself.
            parents.extend((parent == table).then(|| row.clone()));
            let refers = world.refers(&world.tables[table], row, key, &parents, self.symbols);
            let one = self.symbols.problem.not(refers);
            lost = self.symbols.problem.or(lost, one);
        }
        lost
    }

    /// True where a constraint that may be deferred is deferred: inside a transaction.
    pub(super) fn defers(&self, instance: usize, is_deferred: bool) -> bool {
        is_deferred && self.ground.references && self.is_open(instance)
    }

    /// What removing a row does to the rows that refer to it; `None` if they refuse it and the call has failed.
    pub(super) fn referring(
        &mut self,
        instance: usize,
        node: usize,
        span: Span,
        removed: &Effect,
    ) -> Option<Vec<Effect>> {
        let mut effects = Vec::new();
        let mut open = vec![removed.clone()];
        while let Some(removed) = open.pop().filter(|_| self.ground.references) {
            for (child, key) in self.references_to(removed.table) {
                let states = self.states_checked(instance, child, &View::new());
                for slot in (0..states[0].len()).filter(|slot| (child, *slot) != removed.at()) {
                    let mut refers = self.symbols.never;
                    for state in &states {
                        let one = self.refers_to(child, &state[slot], &key, &removed);
                        refers = self.symbols.problem.or(refers, one);
                    }
                    if self.symbols.problem.as_truth(refers) == Some(false) {
                        continue;
                    }
                    match key.on_delete {
                        Action::Restrict if self.fails_if(refers, instance, node, span) => return None,
                        Action::Restrict => {}
                        Action::Cascade => {
                            let effect = Effect { guard: refers, table: child, slot, ..removed.clone() };
                            open.extend((effects.len() < EFFECTS_MAX).then(|| effect.clone()));
                            effects.push(effect);
                        }
                        Action::SetNull | Action::SetDefault => {
                            self.is_exact &= key.on_delete == Action::SetNull;
                            let columns = self.nulled(child, &key);
                            effects.push(Effect { table: child, slot, guard: refers, alive: None, columns });
                        }
                    }
                }
            }
        }
        Some(effects)
    }

    /// The foreign keys of the tables that are known here which refer to a table.
    fn references_to(&self, table: usize) -> Vec<(usize, ForeignKey)> {
        let name = &self.world.tables[table].definition.name;
        let all = self.world.tables.iter().enumerate();
        let keys = all.flat_map(|(at, slots)| slots.definition.foreign_keys.iter().map(move |key| (at, key)));
        keys.filter(|(_, key)| key.table == *name).map(|(at, key)| (at, key.clone())).collect()
    }

    /// Whether a row is there and refers to one that is being removed.
    fn refers_to(&mut self, child: usize, row: &Row, key: &ForeignKey, removed: &Effect) -> Bool {
        let (own, parent) = (&self.world.tables[child], &self.world.tables[removed.table]);
        let gone = self.rows_now(removed.table)[removed.slot].clone();
        let values: Option<Vec<Symbol>> = key.columns.iter().map(|column| own.value(row, column)).collect();
        let referred: Option<Vec<Symbol>> = key.referred.iter().map(|column| parent.value(&gone, column)).collect();
        let (Some(values), Some(referred)) = (values, referred) else { return self.symbols.never };
        let same = same(self.symbols, &values, &referred);
        let there = self.symbols.problem.and(row.present, same);
        self.symbols.problem.and(removed.guard, there)
    }

    fn nulled(&self, child: usize, key: &ForeignKey) -> Vec<(usize, Symbol)> {
        let slots = &self.world.tables[child];
        let at = |column: &String| super::world::position(&slots.columns, column);
        key.columns.iter().filter_map(at).map(|at| (at, self.symbols.null())).collect()
    }

    /// Whether the deferred constraints of what a transaction has written hold; if not, the call has failed.
    pub(super) fn keeps_deferred(&mut self, instance: usize, node: usize) -> bool {
        if !self.ground.references {
            return true;
        }
        let written: BTreeSet<(usize, usize)> = self.written(instance).iter().map(Effect::at).collect();
        for (table, slot) in written {
            let world = self.world;
            let slots = &world.tables[table];
            let definition = slots.definition;
            let mut refused = self.symbols.never;
            for key in definition.unique_keys.iter().filter(|key| key.is_deferred) {
                let mut others = self.rows_now(table);
                let row = others.remove(slot);
                let taken = slots.is_taken(&key.columns, &row, &others, self.symbols);
                let taken = self.symbols.problem.and(row.present, taken);
                refused = self.symbols.problem.or(refused, taken);
            }
            for key in definition.foreign_keys.iter().filter(|key| key.is_deferred) {
                let Some(parent) = world.table(&key.table) else { continue };
                let (row, parents) = (self.rows_now(table)[slot].clone(), self.rows_now(parent));
                let refers = world.refers(slots, &row, key, &parents, self.symbols);
                let lost = self.symbols.problem.not(refers);
                let lost = self.symbols.problem.and(row.present, lost);
                refused = self.symbols.problem.or(refused, lost);
            }
            if self.fails_if(refused, instance, node, definition.span) {
                return false;
            }
        }
        true
    }
}

/// Chains of ON DELETE CASCADE are followed so far.
const EFFECTS_MAX: usize = 64;

impl Effect {
    /// The row that it changes: the table and the slot.
    fn at(&self) -> (usize, usize) {
        (self.table, self.slot)
    }
}
