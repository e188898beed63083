//! Queries in the small database: every combination of rows is looked at.

use super::answer::{self, Line};
use super::run::{Run, View};
use super::scene::{Around, Scene};
use super::statement::{Combination, Done};
use crate::program::access::{Node, Selection};
use crate::program::ir::BinaryOp;
use crate::program::paths::expression::Scope;
use crate::program::paths::symbol::{Place, Symbol};
use crate::program::predicate::Term;
use crate::solve::Bool;
use crate::value::Value;

impl<'a> Run<'_, 'a> {
    pub(super) fn query(&mut self, instance: usize, found: &Node, view: &View) -> Done {
        let lines = self.answer(instance, found, view).unwrap_or_else(|| self.unknown_lines(found));
        let count = answer::count(self.symbols, lines.iter().map(|line| line.there));
        Done { count, lines, effects: Vec::new() }
    }

    /// The answer of a query that can be computed.
    pub(super) fn answer(&mut self, instance: usize, found: &Node, view: &View) -> Option<Vec<Line>> {
        let selection = found.access.selection.as_ref().filter(|selection| selection.is_exact)?;
        let place = self.place(instance, found.operation.span);
        self.scene(instance, found, view).select(selection, &place)
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

    /// What names mean in a statement.
    pub(super) fn scene<'t>(&'t mut self, instance: usize, found: &'t Node, view: &'t View) -> Scene<'t, 'a> {
        let around = Around { world: self.world, view, access: &found.access };
        Scene::of_statement(self.symbols, &self.locals[instance].variables, around)
    }

    /// All combinations of rows of a statement's tables; `None` if one of them is not known.
    pub(super) fn combinations(&self, found: &Node, selection: &Selection, view: &View) -> Option<Vec<Combination>> {
        Around { world: self.world, view, access: &found.access }.combinations(selection)
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
        let place = self.place(instance, found.operation.span);
        self.scene(instance, found, view).is_chosen(selection, combination, &place)
    }

    /// The value of a term, looking at rows.
    pub(super) fn term(
        &mut self,
        instance: usize,
        found: &Node,
        combination: &Combination,
        view: &View,
        term: &Term,
    ) -> Symbol {
        let place = self.place(instance, found.operation.span);
        self.scene(instance, found, view).at(combination).term(term, &place)
    }
}

impl Around<'_, '_> {
    /// All combinations of rows of some of the statement's tables; `None` if one of them is not known.
    fn combinations(&self, selection: &Selection) -> Option<Vec<Combination>> {
        let mut combinations = vec![Combination::new()];
        for access in selection.from.clone() {
            let table = self.world.table(&self.access.tables.get(access)?.table)?;
            let slots = 0..self.view.get(&table)?.len();
            let longer = combinations.iter().flat_map(|combination| {
                let with = move |slot: usize| combination.iter().copied().chain([(access, table, slot)]).collect();
                slots.clone().map(with)
            });
            combinations = longer.collect();
        }
        Some(combinations)
    }
}

impl Scene<'_, '_> {
    /// What a query answers with; `None` if it cannot be computed.
    pub(super) fn select(&mut self, selection: &Selection, place: &Place) -> Option<Vec<Line>> {
        let mut chosen = Vec::new();
        for combination in self.around?.combinations(selection)? {
            chosen.push((self.is_chosen(selection, &combination, place), combination));
        }
        let groups = self.groups(selection, chosen, place);
        let mut lines: Vec<Line> = groups.iter().map(|group| self.line(selection, group, place)).collect();
        let order = selection.ordering();
        if !order.is_empty() || selection.limit.is_some() {
            answer::sort(self.symbols, &mut lines, &order);
        }
        if let Some(limit) = &selection.limit {
            self.limit(limit, &mut lines, place);
        }
        Some(lines)
    }

    /// Leaves the first lines. Those that are there stand before those that are not.
    fn limit(&mut self, limit: &Term, lines: &mut Vec<Line>, place: &Place) {
        if let Term::Constant(Value::Number(number)) = limit
            && let Some(limit) = number.to_i64().and_then(|number| usize::try_from(number).ok())
        {
            return lines.truncate(limit);
        }
        let limit = self.term(limit, place);
        for (at, line) in lines.iter_mut().enumerate() {
            let at = self.symbols.constant(&Value::int(at as i64));
            let is_over = self.symbols.compare(BinaryOp::LessEqual, &limit, &at).is_true;
            let is_within = self.symbols.problem.not(is_over);
            line.there = self.symbols.problem.and(line.there, is_within);
        }
    }

    /// Whether rows are all there and meet the condition.
    pub(super) fn is_chosen(&mut self, selection: &Selection, combination: &Combination, place: &Place) -> Bool {
        let Some(around) = self.around else { return self.symbols.never };
        let there = combination.iter().map(|(_, table, slot)| around.view[table][*slot].present);
        let there = self.symbols.problem.all_of(there);
        if self.symbols.problem.as_truth(there) == Some(false) {
            return there;
        }
        let matches = self.at(combination).predicate(&selection.condition, place).is_true;
        self.symbols.problem.and(there, matches)
    }
}
