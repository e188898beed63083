//! What SQL does in the small database: what a statement sees, and what becomes of its answer.

use super::answer::{self, Line};
use super::run::{Cursor, Effect, Run, View};
use crate::program::access::{Effect as Deed, Node};
use crate::program::code::OperationKind;
use crate::program::ir::{IntoClause, IntoRule, Variable};
use crate::program::paths::symbol::Symbol;
use crate::solve::Int;

/// A row of each table of a statement: the position of the access, the table, the slot.
pub(super) type Combination = Vec<(usize, usize, usize)>;

/// What a statement did.
pub(super) struct Done {
    /// How many rows it answers with, or has changed.
    pub(super) count: Int,
    pub(super) lines: Vec<Line>,
    pub(super) effects: Vec<Effect>,
}

impl Run<'_, '_> {
    /// Executes a statement or opens a cursor.
    pub(super) fn statement(&mut self, instance: usize, node: usize, found: &Node) {
        self.begin(instance);
        let view = self.view(instance, found);
        if !self.finds_locked(instance, found, &view) {
            return;
        }
        let Some(done) = self.carry_out(instance, node, found, &view) else { return };
        self.note(instance, node, view, done.effects);
        self.counted(instance, done.count);
        match &found.operation.kind {
            OperationKind::Open(cursor, _) => {
                let mut lines = done.lines;
                if found.access.selection.as_ref().is_none_or(|selection| selection.ordering().is_empty()) {
                    answer::sort(self.symbols, &mut lines, &[]);
                }
                self.locals[instance].cursors.insert(cursor.clone(), Cursor { lines, ..Cursor::default() });
            }
            OperationKind::Send(sql) => match sql.into_clause() {
                Some(into) => self.assign(instance, node, found, into, done.count, &done.lines),
                // A write has no rows to show.
                None if done.lines.is_empty() => {}
                None => self.locals[instance].shown.push(done.lines),
            },
            _ => {}
        }
    }

    /// The rows of the tables that a statement touches.
    fn view(&mut self, instance: usize, found: &Node) -> View {
        let mut view = View::new();
        for access in &found.access.tables {
            if let Some(table) = self.world.table(&access.table)
                && !view.contains_key(&table)
            {
                let rows = self.rows_seen(instance, table);
                view.insert(table, rows);
            }
        }
        view
    }

    /// `None` if the call has failed.
    fn carry_out(&mut self, instance: usize, node: usize, found: &Node, view: &View) -> Option<Done> {
        let target = found.access.tables.iter().position(|access| access.effect != Deed::Read);
        match target {
            None => Some(self.query(instance, found, view)),
            Some(at) => match found.access.tables[at].effect {
                Deed::Insert | Deed::Upsert => self.insert(instance, node, found, at, view),
                _ => self.change(instance, node, found, at, view),
            },
        }
    }

    fn counted(&mut self, instance: usize, count: Int) {
        let zero = self.symbols.problem.constant(0);
        self.locals[instance].count = count;
        self.locals[instance].found = self.symbols.problem.less(zero, count);
    }

    fn assign(&mut self, instance: usize, node: usize, found: &Node, into: &IntoClause, count: Int, lines: &[Line]) {
        let span = found.operation.span;
        let (zero, one) = (self.symbols.problem.constant(0), self.symbols.problem.constant(1));
        let none = self.symbols.problem.at_most(count, zero);
        let several = self.symbols.problem.less(one, count);
        if into.rule == IntoRule::Strict && self.fails_if(none, instance, node, span) {
            return;
        }
        if into.rule != IntoRule::First && self.fails_if(several, instance, node, span) {
            return;
        }
        let row = answer::first(self.symbols, lines);
        for (at, variable) in into.variables.iter().enumerate() {
            let value = row.get(at).copied().unwrap_or_else(|| self.symbols.opaque());
            let without = match into.rule {
                IntoRule::Keep => self.variable(instance, variable),
                _ => self.symbols.null(),
            };
            let value = self.symbols.choose(none, &without, &value);
            self.locals[instance].variables.insert(variable.name.clone(), value);
        }
    }

    fn variable(&self, instance: usize, variable: &Variable) -> Symbol {
        self.locals[instance].variables.get(&variable.name).copied().unwrap_or_else(|| self.symbols.null())
    }

    /// The next row of a cursor.
    pub(super) fn fetch(&mut self, instance: usize, cursor: &str, variables: &[Variable]) {
        let Some(mut open) = self.locals[instance].cursors.remove(cursor) else { return };
        let line = open.lines.get(open.next).cloned();
        let there = line.as_ref().map_or(self.symbols.never, |line| line.there);
        for (at, variable) in variables.iter().enumerate() {
            let old = self.variable(instance, variable);
            let value = line.as_ref().and_then(|line| line.values.get(at)).copied();
            let value = value.map_or(old, |value| self.symbols.choose(there, &value, &old));
            self.locals[instance].variables.insert(variable.name.clone(), value);
        }
        open.next += 1;
        open.fetched.push(there);
        let count = answer::count(self.symbols, [there]);
        self.counted(instance, count);
        self.locals[instance].cursors.insert(cursor.to_string(), open);
    }

    /// Behind a loop over rows, `FOUND()` is whether there was one.
    pub(super) fn close(&mut self, instance: usize, cursor: &str, ends_loop: bool) {
        let closed = self.locals[instance].cursors.remove(cursor);
        if let Some(closed) = closed.filter(|_| ends_loop) {
            let count = answer::count(self.symbols, closed.fetched);
            self.counted(instance, count);
        }
    }
}
