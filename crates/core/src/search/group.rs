//! Rows that become one: aggregates, GROUP BY, DISTINCT.
//!
//! Each combination of rows may be the first of its group. If an earlier one is in the same group, the line of the later
//! one is not there:
//!
//! ```text
//!   SELECT owner, SUM(amount) … GROUP BY owner       line 1  there if row 1 is
//!                                                    line 2  there if row 2 is, and row 1 is not, or has another owner
//! ```

use super::answer::{self, Line};
use super::hops::{differ, is_opaque};
use super::scene::Scene;
use super::statement::Combination;
use crate::program::access::Selection;
use crate::program::paths::expression::Scope;
use crate::program::paths::symbol::{Place, Symbol, Symbols};
use crate::program::predicate::{Aggregation, Term};
use crate::solve::Bool;

/// Combinations of rows that become one line.
pub(super) struct Group {
    /// Whether the line is there.
    there: Bool,
    /// Where single values come from; empty if that is not said.
    first: Combination,
    /// All of them, each with whether it belongs.
    members: Vec<(Bool, Combination)>,
}

impl Scene<'_, '_> {
    /// The groups of the combinations that are chosen.
    pub(super) fn groups(
        &mut self,
        selection: &Selection,
        chosen: Vec<(Bool, Combination)>,
        place: &Place,
    ) -> Vec<Group> {
        let alone = |(there, first): (Bool, Combination)| Group { there, first, members: Vec::new() };
        match selection.groups.as_deref() {
            None => chosen.into_iter().map(alone).collect(),
            Some([]) => vec![Group { there: self.symbols.always, first: Combination::new(), members: chosen }],
            Some(by) => self.grouped(by, &chosen, place),
        }
    }

    fn grouped(&mut self, by: &[Term], chosen: &[(Bool, Combination)], place: &Place) -> Vec<Group> {
        let mut keys: Vec<Vec<Symbol>> = Vec::new();
        for (_, combination) in chosen {
            let mut scene = self.at(combination);
            keys.push(by.iter().map(|term| scene.term(term, place)).collect());
        }
        let mut groups = Vec::new();
        for (at, (there, first)) in chosen.iter().enumerate() {
            let (mut is_first, mut members) = (*there, Vec::new());
            for (other, (other_there, combination)) in chosen.iter().enumerate() {
                let same = if other == at { self.symbols.always } else { alike(self.symbols, &keys[at], &keys[other]) };
                let belongs = self.symbols.problem.and(*other_there, same);
                members.push((belongs, combination.clone()));
                if other < at {
                    let is_new = self.symbols.problem.not(belongs);
                    is_first = self.symbols.problem.and(is_first, is_new);
                }
            }
            groups.push(Group { there: is_first, first: first.clone(), members });
        }
        groups
    }

    /// What becomes of a group.
    pub(super) fn line(&mut self, selection: &Selection, group: &Group, place: &Place) -> Line {
        let mut together = Vec::new();
        for aggregation in selection.aggregations() {
            together.push((aggregation, self.aggregated(aggregation, group, place)));
        }
        let mut scene = self.at(&group.first).with(&together);
        let values = selection.columns.iter().map(|term| scene.term(term, place)).collect();
        let order = selection.ordering().iter().map(|one| scene.term(&one.term, place)).collect();
        let is_had = scene.predicate(&selection.having, place).is_true;
        Line { there: self.symbols.problem.and(group.there, is_had), values, order }
    }

    fn aggregated(&mut self, aggregation: &Aggregation, group: &Group, place: &Place) -> Symbol {
        let mut each = Vec::new();
        for (there, combination) in &group.members {
            let over = aggregation.over.as_ref();
            each.push((*there, over.map(|over| self.at(combination).term(over, place))));
        }
        answer::aggregate(self.symbols, aggregation, &each)
    }
}

/// Whether all values are the same; NULL is like NULL.
fn alike(symbols: &mut Symbols, a: &[Symbol], b: &[Symbol]) -> Bool {
    a.iter().zip(b).fold(symbols.always, |all, (a, b)| {
        let one = if a != b && (is_opaque(a, symbols) || is_opaque(b, symbols)) {
            symbols.opaque_truth().is_true
        } else {
            let differ = differ(symbols, a, b);
            symbols.problem.not(differ)
        };
        symbols.problem.and(all, one)
    })
}
