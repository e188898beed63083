//! All cycles that one run shows.
//!
//! With the values that were found, the run is made again in a database without unknowns, and every conflict between two
//! of its moves is looked at: is the dependency there? Which cycles it has is then a question about a small graph.

use std::collections::BTreeSet;

use super::conflicts::Conflicts;
use super::cycles::{Cycle, Through};
use super::find::Test;
use super::ground::Ground;
use super::hops::Hop;
use super::run::{Guide, Run};
use super::world::World;
use crate::program::paths::Way;
use crate::program::paths::symbol::Symbols;

/// The dependencies of a run.
#[derive(Debug)]
pub(super) struct Witness<'a> {
    conflicts: &'a Conflicts,
    test: &'a Test,
    /// The conflict, the move that it comes from, the move that it leads to.
    edges: BTreeSet<(u32, usize, usize)>,
}

impl<'a> Witness<'a> {
    pub(super) fn new(ground: &Ground<'_>, conflicts: &'a Conflicts, test: &'a Test) -> Witness<'a> {
        let mut symbols = Symbols::new();
        let rows = test.values.rows.clone();
        let given = Ground { initial: Some(&rows), ..ground.clone() };
        let ways: Vec<&Way> = test.ways.iter().collect();
        let world = World::settled(&given, &test.values, &mut symbols);
        let arguments = test
            .values
            .arguments
            .iter()
            .map(|named| named.iter().map(|(name, value)| (name.clone(), symbols.constant(value))).collect());
        let arguments: Vec<_> = arguments.collect();
        let mut run = Run::new(&given, &world, &mut symbols, &arguments, Guide::Ways);
        run.follow(&test.plan, &ways);
        let edges = edges(&mut run, conflicts, test);
        Witness { conflicts, test, edges }
    }

    /// Which call is which visit of a cycle, if the run has the cycle in it.
    pub(super) fn shows(&self, cycle: &Cycle) -> Option<Vec<usize>> {
        let mut calls = Vec::new();
        self.place(cycle, &mut calls, None, None).then_some(calls)
    }

    /// Finds a call for the next visit, given the move where the cycle enters it (unless it is the first).
    fn place(&self, cycle: &Cycle, calls: &mut Vec<usize>, start: Option<usize>, enter: Option<usize>) -> bool {
        let at = calls.len();
        let (count, visit) = (cycle.visits.len(), &cycle.visits[at]);
        let next = &cycle.visits[(at + 1) % count];
        let candidates = (0..self.test.procedures.len()).filter(|call| !calls.contains(call)).collect::<Vec<_>>();
        for call in candidates {
            let enters = enter.map_or_else(|| self.moves_at(call, visit.enter), |enter| vec![enter]);
            for enter in enters.into_iter().filter(|enter| self.test.plan.moves[*enter].instance == call) {
                for leave in self.leaves(call, enter, visit.leave, visit.through) {
                    calls.push(call);
                    let targets: Vec<usize> = match at + 1 == count {
                        true => vec![start.unwrap_or(enter)],
                        false => self.moves_to(visit.hop, leave),
                    };
                    for to in targets {
                        let holds = self.edges.contains(&(visit.hop, leave, to));
                        let is_right = self.is_site(to, next.enter);
                        if holds
                            && is_right
                            && (at + 1 == count || self.place(cycle, calls, start.or(Some(enter)), Some(to)))
                        {
                            return true;
                        }
                    }
                    calls.truncate(at);
                }
            }
        }
        false
    }

    fn leaves(&self, call: usize, enter: usize, site: u16, through: Through) -> Vec<usize> {
        let moves = self.moves_at(call, site).into_iter();
        match through {
            Through::One => vec![enter],
            Through::Forward => moves.filter(|leave| *leave > enter).collect(),
            Through::Backward => moves.filter(|leave| *leave < enter).collect(),
        }
    }

    fn moves_to(&self, hop: u32, from: usize) -> Vec<usize> {
        self.edges.range((hop, from, 0)..=(hop, from, usize::MAX)).map(|(_, _, to)| *to).collect()
    }

    fn moves_at(&self, call: usize, site: u16) -> Vec<usize> {
        let moves = self.test.plan.moves.iter().enumerate();
        let at = moves.filter(|(number, one)| one.instance == call && self.is_site(*number, site));
        at.map(|(number, _)| number).collect()
    }

    fn is_site(&self, number: usize, site: u16) -> bool {
        let one = &self.test.plan.moves[number];
        let site = &self.conflicts.sites[usize::from(site)];
        self.test.procedures[one.instance] == site.procedure
            && self.test.ways[one.instance].nodes[one.at] == usize::from(site.node)
    }
}

/// The conflicts that are dependencies in a run.
fn edges(run: &mut Run<'_, '_>, conflicts: &Conflicts, test: &Test) -> BTreeSet<(u32, usize, usize)> {
    let site = |number: usize| {
        let one = &test.plan.moves[number];
        (test.procedures[one.instance], test.ways[one.instance].nodes[one.at])
    };
    let mut edges = BTreeSet::new();
    for (at, conflict) in conflicts.edges.iter().enumerate() {
        let is_at = |number: &usize, wanted: u16| {
            let wanted = &conflicts.sites[usize::from(wanted)];
            site(*number) == (wanted.procedure, usize::from(wanted.node))
        };
        let numbers = || 0..test.plan.moves.len();
        for from in numbers().filter(|number| is_at(number, conflict.from)) {
            for to in numbers().filter(|number| is_at(number, conflict.to)) {
                let differ = test.plan.moves[from].instance != test.plan.moves[to].instance;
                let hop = Hop {
                    from,
                    to,
                    kind: conflict.kind,
                    table: &conflicts.tables[usize::from(conflict.table)],
                    columns: &conflict.columns,
                };
                if differ && agrees(&hop, test) && run.is_certain(&test.plan, &hop) {
                    edges.insert((at as u32, from, to));
                }
            }
        }
    }
    edges
}

/// Whether the plan allows a dependency: who reads sees the writer, or does not.
fn agrees(hop: &Hop<'_>, test: &Test) -> bool {
    use super::conflicts::Kind;
    match hop.kind {
        Kind::Wr => test.plan.sees[hop.to].contains(&hop.from),
        Kind::Rw => !test.plan.sees[hop.from].contains(&hop.to),
        Kind::Ww => hop.from < hop.to,
    }
}
