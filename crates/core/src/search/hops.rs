//! What must hold of values for the dependencies of a cycle to be there.

use super::conflicts::{Column, Conflicts, Kind};
use super::cycles::{Cycle, Through};
use super::plan::Plan;
use super::run::{Effect, Run, apply, node_of};
use super::world::{Row, position, same};
use crate::program::access::Effect as Deed;
use crate::program::ir::BinaryOp;
use crate::program::paths::Way;
use crate::program::paths::symbol::{Shape, Symbol, Symbols};
use crate::solve::Bool;

/// The dependency of one move on another one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hop<'c> {
    /// The move that it comes from.
    pub(super) from: usize,
    /// The move that it leads to.
    pub(super) to: usize,
    pub(super) kind: Kind,
    pub(super) table: &'c str,
    pub(super) columns: &'c [Column],
}

/// The hops of a cycle, as moves of a plan; `None` if the plan lacks one of them.
pub(super) fn of_cycle<'c>(
    conflicts: &'c Conflicts,
    cycle: &Cycle,
    ways: &[&Way],
    plan: &Plan,
) -> Option<Vec<Hop<'c>>> {
    let number = |instance: usize, pass: usize| {
        let at = *ways[instance].passed.get(pass)?;
        plan.moves.iter().position(|one| one.instance == instance && one.at == at)
    };
    let count = cycle.visits.len();
    let hop = |at: usize| {
        let (visit, next) = (&cycle.visits[at], &cycle.visits[(at + 1) % count]);
        let leaves = usize::from(visit.through == Through::Forward);
        let enters = usize::from(next.through == Through::Backward);
        let conflict = &conflicts.edges[visit.hop as usize];
        Some(Hop {
            from: number(at, leaves)?,
            to: number((at + 1) % count, enters)?,
            kind: conflict.kind,
            table: &conflicts.tables[usize::from(conflict.table)],
            columns: &conflict.columns,
        })
    };
    (0..count).map(hop).collect()
}

impl Run<'_, '_> {
    /// For each hop, that it is there.
    pub(super) fn conditions(&mut self, plan: &Plan, hops: &[Hop<'_>]) -> Vec<Bool> {
        hops.iter().map(|hop| self.holds(plan, hop)).collect()
    }

    /// Demands that moves keep apart where they must.
    pub(super) fn demand_apart(&mut self, plan: &Plan, conflicts: &Conflicts) {
        for apart in &plan.apart {
            let Some(table) = self.world.table(&conflicts.tables[usize::from(apart.table)]) else { continue };
            let (first, second) = (self.touched(apart.first, table), self.touched(apart.second, table));
            for (first, second) in first.into_iter().zip(second) {
                let both = self.symbols.problem.and(first, second);
                let apart = self.symbols.problem.not(both);
                self.symbols.problem.demand(apart);
            }
        }
    }

    /// What was executed in a move.
    pub(super) fn executed_at(&self, number: usize) -> Option<usize> {
        self.executed.iter().rposition(|executed| executed.number == number)
    }

    /// Whether a dependency is there.
    pub(super) fn holds(&mut self, plan: &Plan, hop: &Hop<'_>) -> Bool {
        let never = self.symbols.never;
        let Some(table) = self.world.table(hop.table) else { return never };
        let (Some(from), Some(to)) = (self.executed_at(hop.from), self.executed_at(hop.to)) else { return never };
        match hop.kind {
            Kind::Ww => self.both_write(table, from, to),
            Kind::Rw if !self.executed[to].taken_back.is_empty() => self.is_taken_back(table, plan, hop, from, to),
            Kind::Rw => {
                let overtaken = self.is_overtaken(table, from, to, hop.columns);
                let Some(sees) = self.sights.get(&(hop.from, hop.to)) else { return overtaken };
                let unseen = self.symbols.problem.not(*sees);
                self.symbols.problem.and(unseen, overtaken)
            }
            Kind::Wr => self.is_read_from(table, plan, hop, from, to),
        }
    }

    /// Whether a dependency is there for certain.
    pub(super) fn is_certain(&mut self, plan: &Plan, hop: &Hop<'_>) -> bool {
        let holds = self.holds(plan, hop);
        self.symbols.problem.as_truth(holds) == Some(true)
    }

    /// The changes of a table by what was executed; for a ROLLBACK, those that it takes back.
    fn changes(&self, executed: usize, table: usize) -> Vec<Effect> {
        let executed = &self.executed[executed];
        executed.effects.iter().chain(&executed.taken_back).filter(|effect| effect.table == table).cloned().collect()
    }

    fn both_write(&mut self, table: usize, from: usize, to: usize) -> Bool {
        let (first, second) = (self.changes(from, table), self.changes(to, table));
        let mut any = self.symbols.never;
        for a in &first {
            for b in second.iter().filter(|b| b.slot == a.slot) {
                let both = self.symbols.problem.and(a.guard, b.guard);
                let differ = changes_differ(self.symbols, a, b);
                let both = self.symbols.problem.and(both, differ);
                any = self.symbols.problem.or(any, both);
            }
        }
        any
    }

    /// The first reads what the second writes later, or elsewhere.
    fn is_overtaken(&mut self, table: usize, from: usize, to: usize, columns: &[Column]) -> Bool {
        let mut any = self.symbols.never;
        for effect in self.changes(to, table) {
            let Some(before) = self.executed[from].view.get(&table).map(|rows| rows[effect.slot].clone()) else {
                continue;
            };
            let mut after = before.clone();
            apply(self.symbols, &mut after, &effect);
            let changed = self.is_change(table, from, effect.slot, &before, &after, columns);
            let one = self.symbols.problem.and(effect.guard, changed);
            any = self.symbols.problem.or(any, one);
        }
        any
    }

    /// The first reads what the second takes back later.
    fn is_taken_back(&mut self, table: usize, plan: &Plan, hop: &Hop<'_>, reader: usize, undo: usize) -> Bool {
        let number = self.executed[undo].number;
        let writers: Vec<usize> =
            (0..self.executed.len()).filter(|at| self.executed[*at].undone == Some(number)).collect();
        let mut any = self.symbols.never;
        for writer in writers {
            let read = Hop { from: self.executed[writer].number, to: hop.from, kind: Kind::Wr, ..*hop };
            let one = self.is_read_from(table, plan, &read, writer, reader);
            any = self.symbols.problem.or(any, one);
        }
        any
    }

    /// The second reads what the first wrote.
    fn is_read_from(&mut self, table: usize, plan: &Plan, hop: &Hop<'_>, from: usize, to: usize) -> Bool {
        let mut any = self.symbols.never;
        let without = self.rows_without(table, plan, hop.to, hop.from);
        for effect in self.changes(from, table) {
            let Some(after) = self.executed[to].view.get(&table).map(|rows| rows[effect.slot].clone()) else {
                continue;
            };
            let changed = self.is_change(table, to, effect.slot, &without[effect.slot], &after, hop.columns);
            let one = self.symbols.problem.and(effect.guard, changed);
            any = self.symbols.problem.or(any, one);
        }
        any
    }

    /// Whether a reader looks at a row before or after a change, and the change is one in these columns.
    fn is_change(
        &mut self,
        table: usize,
        reader: usize,
        slot: usize,
        before: &Row,
        after: &Row,
        columns: &[Column],
    ) -> Bool {
        let slots = &self.world.tables[table];
        let named = columns.iter().filter_map(|column| match column {
            Column::Named(name) => position(&slots.columns, name),
            Column::Existence => None,
        });
        let mut changed = unlike(self.symbols, before.present, after.present);
        for at in named {
            let differ = may_differ(self.symbols, &before.columns[at], &after.columns[at]);
            changed = self.symbols.problem.or(changed, differ);
        }
        let first = self.looks_at(reader, table, slot, before);
        let second = self.looks_at(reader, table, slot, after);
        let looks = self.symbols.problem.or(first, second);
        self.symbols.problem.and(looks, changed)
    }

    /// For each slot of a table, whether a move touches it: changes it, looks at it, or refers to it.
    fn touched(&mut self, number: usize, table: usize) -> Vec<Bool> {
        let slots = self.world.tables[table].rows.len();
        let mut touched = vec![self.symbols.never; slots];
        let Some(at) = self.executed_at(number) else { return touched };
        for effect in self.changes(at, table) {
            touched[effect.slot] = self.symbols.problem.or(touched[effect.slot], effect.guard);
        }
        if let Some(rows) = self.executed[at].view.get(&table).cloned() {
            for (slot, row) in rows.iter().enumerate() {
                let looks = self.looks_at(at, table, slot, row);
                touched[slot] = self.symbols.problem.or(touched[slot], looks);
            }
        } else {
            self.refer(at, table, &mut touched);
        }
        touched
    }

    /// Rows that a statement's new rows refer to.
    fn refer(&mut self, at: usize, table: usize, touched: &mut [Bool]) {
        let world = self.world;
        let Some(found) = node_of(self.ground, &self.executed[at]) else { return };
        let parent = &world.tables[table];
        for effect in self.executed[at].effects.clone() {
            let child = &world.tables[effect.table];
            let inserts = found.access.tables.iter().any(|access| access.effect == Deed::Insert);
            for key in child.definition.foreign_keys.iter().filter(|key| inserts && key.table == parent.definition.name)
            {
                let mut row = child.rows[effect.slot].clone();
                apply(self.symbols, &mut row, &effect);
                let own: Option<Vec<Symbol>> = key.columns.iter().map(|column| child.value(&row, column)).collect();
                let Some(own) = own else { continue };
                for (slot, known) in parent.rows.iter().enumerate() {
                    let theirs: Option<Vec<Symbol>> =
                        key.referred.iter().map(|column| parent.value(known, column)).collect();
                    let Some(theirs) = theirs else { continue };
                    let same = same(self.symbols, &own, &theirs);
                    let refers = self.symbols.problem.and(effect.guard, same);
                    touched[slot] = self.symbols.problem.or(touched[slot], refers);
                }
            }
        }
    }
}

/// Whether two changes of one row are not the same.
fn changes_differ(symbols: &mut Symbols, a: &Effect, b: &Effect) -> Bool {
    if a.alive != b.alive {
        return symbols.always;
    }
    let mut any = symbols.never;
    for (at, value) in &a.columns {
        for (_, other) in b.columns.iter().filter(|(column, _)| column == at) {
            let differ = may_differ(symbols, value, other);
            any = symbols.problem.or(any, differ);
        }
    }
    any
}

pub(super) fn unlike(symbols: &mut Symbols, a: Bool, b: Bool) -> Bool {
    let not_b = symbols.problem.not(b);
    symbols.problem.choose_truth(a, not_b, b)
}

/// Whether nothing is known of a value.
pub(super) fn is_opaque(symbol: &Symbol, symbols: &Symbols) -> bool {
    symbol.shape == Shape::Opaque && symbols.problem.as_truth(symbol.null) != Some(true)
}

/// Whether two values are not the same, as far as anybody knows: what is computed in a way that is not understood may be
/// anything.
fn may_differ(symbols: &mut Symbols, a: &Symbol, b: &Symbol) -> Bool {
    let is_vague = a != b && (is_opaque(a, symbols) || is_opaque(b, symbols));
    if is_vague { symbols.always } else { differ(symbols, a, b) }
}

/// Whether two values are certainly not the same; NULL is like NULL.
pub(super) fn differ(symbols: &mut Symbols, a: &Symbol, b: &Symbol) -> Bool {
    if a == b {
        return symbols.never;
    }
    if is_opaque(a, symbols) || is_opaque(b, symbols) {
        return symbols.never;
    }
    let nulls = unlike(symbols, a.null, b.null);
    let comparable = !matches!((a.shape, b.shape), (Shape::Opaque, _) | (_, Shape::Opaque))
        && matches!(a.shape, Shape::Code(_)) == matches!(b.shape, Shape::Code(_));
    if !comparable {
        return nulls;
    }
    let unequal = symbols.compare(BinaryOp::NotEqual, a, b).is_true;
    symbols.problem.or(nulls, unequal)
}
