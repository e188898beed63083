//! Queries in the small database: every combination of rows is looked at.

use super::answer::{self, Line};
use super::group::Here;
use super::run::{Run, View};
use super::scene::Scene;
use super::statement::{Combination, Done};
use super::world::Row;
use crate::program::access::{Node, Selection};
use crate::program::paths::expression::Scope;
use crate::program::paths::symbol::Symbol;
use crate::program::predicate::Term;
use crate::solve::Bool;
use crate::value::Value;

impl Run<'_, '_> {
    pub(super) fn query(&mut self, instance: usize, found: &Node, view: &View) -> Done {
        let lines = match &found.access.selection {
            Some(selection) if selection.is_exact => self.select(instance, found, selection, view),
            _ => None,
        };
        let lines = lines.unwrap_or_else(|| self.unknown_lines(found));
        let count = answer::count(self.symbols, lines.iter().map(|line| line.there));
        Done { count, lines, effects: Vec::new() }
    }

    /// A query that cannot be computed has a row or none, of which nothing is known.
    fn unknown_lines(&mut self, found: &Node) -> Vec<Line> {
        if found.access.outputs.is_empty() && found.access.tables.is_empty() {
            return Vec::new();
        }
        self.is_exact = false;
        let there = self.symbols.opaque_truth().is_true;
        let values = found.access.outputs.iter().map(|_| self.symbols.opaque()).collect();
        vec![Line { there, values, order: Vec::new() }]
    }

    /// The answer of a query that can be computed; `None` if it cannot, after all.
    pub(super) fn select(
        &mut self,
        instance: usize,
        found: &Node,
        selection: &Selection,
        view: &View,
    ) -> Option<Vec<Line>> {
        let mut chosen = Vec::new();
        for combination in self.combinations(found, selection, view)? {
            chosen.push((self.is_chosen(instance, found, selection, &combination, view), combination));
        }
        let here = Here { instance, found, view };
        let mut lines: Vec<Line> =
            self.groups(&here, selection, chosen).iter().map(|group| self.line(&here, selection, group)).collect();
        let order = selection.ordering();
        if !order.is_empty() || selection.limit.is_some() {
            answer::sort(self.symbols, &mut lines, &order);
        }
        match selection.limit.as_ref().map(limit_of) {
            Some(Some(limit)) => lines.truncate(limit),
            Some(None) => self.is_exact = false,
            None => {}
        }
        Some(lines)
    }

    /// All combinations of rows of a statement's tables; `None` if one of them is not known.
    pub(super) fn combinations(&self, found: &Node, selection: &Selection, view: &View) -> Option<Vec<Combination>> {
        let mut combinations = vec![Combination::new()];
        for access in selection.from.clone() {
            let table = self.world.table(&found.access.tables.get(access)?.table)?;
            let slots = 0..view.get(&table)?.len();
            let longer = combinations.iter().flat_map(|combination| {
                let with = move |slot: usize| combination.iter().copied().chain([(access, table, slot)]).collect();
                slots.clone().map(with)
            });
            combinations = longer.collect();
        }
        Some(combinations)
    }

    /// Whether rows are all there and meet the condition.
    pub(super) fn is_chosen(
        &mut self,
        instance: usize,
        found: &Node,
        selection: &Selection,
        combination: &Combination,
        view: &View,
    ) -> Bool {
        let there = combination.iter().map(|(_, table, slot)| view[table][*slot].present);
        let there = self.symbols.problem.all_of(there);
        if self.symbols.problem.as_truth(there) == Some(false) {
            return there;
        }
        let place = self.place(instance, found.operation.span);
        let rows: Vec<(usize, usize, &Row)> =
            combination.iter().map(|(access, table, slot)| (*access, *table, &view[table][*slot])).collect();
        let mut scene = Scene::of_rows(self.symbols, &self.locals[instance].variables, self.world, &rows);
        let matches = scene.predicate(&selection.condition, &place).is_true;
        self.symbols.problem.and(there, matches)
    }

    pub(super) fn term(
        &mut self,
        instance: usize,
        found: &Node,
        combination: &Combination,
        view: &View,
        term: &Term,
    ) -> Symbol {
        let place = self.place(instance, found.operation.span);
        let rows: Vec<(usize, usize, &Row)> =
            combination.iter().map(|(access, table, slot)| (*access, *table, &view[table][*slot])).collect();
        Scene::of_rows(self.symbols, &self.locals[instance].variables, self.world, &rows).term(term, &place)
    }
}

fn limit_of(term: &Term) -> Option<usize> {
    match term {
        Term::Constant(Value::Number(number)) => number.to_i64().and_then(|number| usize::try_from(number).ok()),
        _ => None,
    }
}
