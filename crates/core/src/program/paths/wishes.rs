//! Values that people like to read: small, distinct where they may be, not NULL.

use std::collections::{BTreeMap, BTreeSet};

use super::machine::{Chance, Machine};
use super::symbol::{FREE_CODE, Shape, Symbol, unknowns_of};
use super::{Found, Way};
use crate::program::BinaryOp;
use crate::program::predicate::Element;
use crate::program::schema::ColumnType;
use crate::solve::{Bool, Model};

/// Numbers to try, the best first.
const SMALL: &[i128] = &[1, 2, 3, 4, 5, 10, 20, 50, 100, 0];
/// A parameter or a column, at the start.
struct Start {
    symbol: Symbol,
    column_type: ColumnType,
}

impl Machine<'_> {
    /// Says what is preferred, the most important first.
    pub(super) fn wish(&mut self) {
        self.links.iter().for_each(|link| self.symbols.problem.prefer([*link]));
        let meetings: Vec<Bool> = self.wanted_meetings();
        meetings.into_iter().for_each(|meets| self.symbols.problem.prefer([meets]));
        let present: Vec<Bool> = self.rows.initial.values().map(|row| row.present).collect();
        present.into_iter().for_each(|present| self.symbols.problem.prefer([present]));
        let parameters: Vec<Symbol> = self.parameters().into_values().map(|start| start.symbol).collect();
        let columns = self.columns_that_matter().into_values().map(|start| start.symbol);
        let all: Vec<Symbol> = parameters.iter().copied().chain(columns).collect();
        for symbol in &all {
            let is_there = self.symbols.problem.not(symbol.null);
            self.symbols.problem.prefer([is_there]);
        }
        for (at, one) in parameters.iter().enumerate() {
            for other in parameters[..at].iter().filter(|other| is_alike(one, other)) {
                let differ = self.symbols.compare(BinaryOp::NotEqual, one, other).is_true;
                self.symbols.problem.prefer([differ]);
            }
        }
        all.iter().for_each(|symbol| self.wish_small(symbol));
    }

    /// Calls that have to meet on a table meet there already; others should, with the first key that they use.
    fn wanted_meetings(&self) -> Vec<Bool> {
        let place = |chance: &Chance| (chance.instance, chance.table.clone());
        let demanded = self.chances.iter().filter(|chance| chance.demanded);
        let mut seen: BTreeSet<(usize, String)> = demanded.map(place).collect();
        self.chances.iter().filter(|chance| seen.insert(place(chance))).map(|chance| chance.meets).collect()
    }

    fn wish_small(&mut self, symbol: &Symbol) {
        let problem = &mut self.symbols.problem;
        match symbol.shape {
            Shape::Number { digits, scale } => {
                let unit = 10_i128.pow(scale);
                let mut options = Vec::new();
                for value in SMALL {
                    let value = problem.constant(value * unit);
                    options.push(problem.equal(digits, value));
                }
                let zero = problem.constant(0);
                options.push(problem.at_most(zero, digits));
                problem.prefer(options);
                problem.prefer_small(digits);
            }
            Shape::Code(code) => {
                let free = problem.constant(FREE_CODE);
                let is_free = problem.at_most(free, code);
                problem.prefer([is_free]);
                problem.prefer_small(code);
            }
            Shape::Truth(_) | Shape::Opaque => {}
        }
    }

    /// The parameters that a caller gives.
    fn parameters(&self) -> BTreeMap<(usize, String), Start> {
        let mut starts = BTreeMap::new();
        for (at, (parameters, local)) in self.arguments.iter().zip(&self.locals).enumerate() {
            for (name, symbol) in parameters {
                let start = Start { symbol: *symbol, column_type: local.types[name].clone() };
                starts.insert((at, name.clone()), start);
            }
        }
        starts
    }

    /// The columns of focus rows whose values the calls depend on.
    fn columns_that_matter(&self) -> BTreeMap<Element, Start> {
        let needed = self.unknowns_that_matter();
        let mut starts = BTreeMap::new();
        for (table, row) in &self.rows.initial {
            for (column, symbol) in &row.columns {
                let element = Element { table: table.clone(), column: column.clone() };
                let Some(column_type) = self.question.schema.type_of(&element).cloned() else { continue };
                if unknowns_of(self.problem(), symbol).iter().any(|unknown| needed.contains(unknown)) {
                    starts.insert(element, Start { symbol: *symbol, column_type });
                }
            }
        }
        starts
    }

    /// The unknowns that the calls depend on, and those that references and checks tie to them. That a row keeps its
    /// checks is no reason to care for its columns.
    fn unknowns_that_matter(&self) -> BTreeSet<usize> {
        let problem = self.problem();
        let demands = problem.demands().iter().enumerate();
        let (ties, own): (Vec<_>, Vec<_>) = demands.partition(|(number, _)| self.given.contains(number));
        let mut needed = problem.unknowns_in(own.into_iter().map(|(_, demand)| *demand));
        let arguments = self.arguments.iter().flat_map(BTreeMap::values);
        needed.extend(arguments.flat_map(|symbol| unknowns_of(problem, symbol)));
        let ties = ties.into_iter().map(|(_, demand)| demand).chain(&self.links);
        let mut ties: Vec<BTreeSet<usize>> = ties.map(|tie| problem.unknowns_in([*tie])).collect();
        while let Some(at) = ties.iter().position(|tie| !tie.is_disjoint(&needed)) {
            needed.extend(ties.swap_remove(at));
        }
        needed
    }

    /// What a model says.
    pub(super) fn found(&self, model: &Model, ways: &[&Way]) -> Found {
        let values = self.problem().evaluate(model);
        let mut arguments = vec![BTreeMap::new(); self.locals.len()];
        for ((instance, name), start) in self.parameters() {
            if let Some(value) = self.symbols.value(&start.symbol, &start.column_type, &values) {
                arguments[instance].insert(name, value);
            }
        }
        let columns = self.columns_that_matter().into_iter();
        let columns = columns
            .filter_map(|(element, start)| {
                Some((element, self.symbols.value(&start.symbol, &start.column_type, &values)?))
            })
            .collect();
        let is_absent = |present: Bool| values.truth(present) == Some(false);
        let absent = self.rows.initial.iter().filter(|(_, row)| is_absent(row.present));
        let needed = self.problem().unknowns_in(self.problem().demands().iter().copied());
        let stand_ins = self.symbols.stand_ins.iter().filter(|(unknown, _)| needed.contains(unknown));
        Found {
            arguments,
            columns,
            absent: absent.map(|(table, _)| table.clone()).collect(),
            ways: ways.iter().map(|way| (*way).clone()).collect(),
            exact: stand_ins.into_iter().all(|(_, used)| values.truth(*used) == Some(false)),
        }
    }
}

/// Whether two values could be taken for one another.
fn is_alike(one: &Symbol, other: &Symbol) -> bool {
    use Shape::{Code, Number};
    matches!((one.shape, other.shape), (Number { .. }, Number { .. }) | (Code(_), Code(_)))
}
