//! The symbolic run of some calls, made once for all cycles that are looked for in it.
//!
//! Cycles over the same procedures are often asked about with the same ways and in the same order. What the calls do
//! then is the same; only the dependencies that are wanted differ. So the run is made once, its circuit is built once,
//! and the dependencies of a cycle are assumed for one question: almost all cycles that cannot happen are refused here,
//! in a fraction of the time that a question of its own would take.

use std::collections::HashMap;

use super::feasible::{Asked, window};
use super::ground::Ground;
use super::hops::Hop;
use super::outcome::Outcome;
use super::plan::Plan;
use super::run::{Guide, Record, Run, Sights, unknown_arguments};
use super::scene::Variables;
use super::world::World;
use crate::program::paths::symbol::Symbols;
use crate::solve::{Answer, Bool, Session};

/// So many runs are kept; a group of procedures rarely needs more.
const STAGES_MAX: usize = 200;

/// The runs that were made so far.
#[derive(Debug, Default)]
pub struct Stages<'a> {
    known: HashMap<Key, Stage<'a>>,
}

/// What a run depends on: the procedures by their names, the nodes of their ways, and the plan.
type Key = (Vec<String>, Vec<Vec<usize>>, Plan);

/// A run along ways, with terms for values.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    pub(super) world: World<'a>,
    pub(super) symbols: Symbols,
    pub(super) arguments: Vec<Variables>,
    record: Record,
    session: Session,
    /// Whether constants alone show that the calls cannot go these ways.
    is_hopeless: bool,
}

impl<'a> Stages<'a> {
    /// The run of what is asked about.
    pub(super) fn of(&mut self, asked: &Asked<'_, 'a>) -> &mut Stage<'a> {
        let names = asked.ground.calls.iter().map(|called| called.procedure.name.clone()).collect();
        let key = (names, asked.ways.iter().map(|way| way.nodes.clone()).collect(), asked.plan.clone());
        if self.known.len() >= STAGES_MAX && !self.known.contains_key(&key) {
            self.known.clear();
        }
        self.known.entry(key).or_insert_with(|| Stage::new(asked))
    }
}

impl<'a> Stage<'a> {
    fn new(asked: &Asked<'_, 'a>) -> Stage<'a> {
        let mut symbols = Symbols::new();
        symbols.window = Some(window(asked.ground));
        let world = World::new(asked.ground, asked.ways, &mut symbols);
        let arguments = unknown_arguments(asked.ground, &mut symbols);
        let mut run = Run::new(asked.ground, &world, &mut symbols, &arguments, Guide::Ways);
        run.follow(asked.plan, asked.ways);
        let is_hopeless = run.is_hopeless();
        if !is_hopeless {
            run.demand_apart(asked.plan, asked.conflicts);
        }
        let record = run.record();
        let session = Session::within(&symbols.problem, asked.work);
        Stage { world, symbols, arguments, record, session, is_hopeless }
    }

    /// What must hold for these dependencies to be there; `None` if they certainly are not.
    pub(super) fn conditions(&mut self, asked: &Asked<'_, 'a>, hops: &[Hop<'_>]) -> Option<Vec<Bool>> {
        if self.is_hopeless {
            return None;
        }
        let before = self.symbols.problem.demands().len();
        let record = std::mem::take(&mut self.record);
        let mut run = Run::resumed(asked.ground, &self.world, &mut self.symbols, record);
        let mut conditions = run.conditions(asked.plan, hops);
        self.record = run.record();
        // What looking at rows demands is for this question only.
        conditions.extend(self.symbols.problem.withdraw(before));
        let is_false = |condition: &Bool| self.symbols.problem.as_truth(*condition) == Some(false);
        (!conditions.iter().any(is_false)).then_some(conditions)
    }

    /// Whether the run is possible under these conditions.
    pub(super) fn ask(&mut self, conditions: &[Bool], budget: u64) -> Answer {
        self.session.ask(&self.symbols.problem, conditions, budget)
    }

    /// What the run leaves behind.
    pub(super) fn outcome(&mut self, ground: &Ground<'a>, symbols: &mut Symbols) -> Outcome {
        let record = std::mem::take(&mut self.record);
        let mut run = Run::resumed(ground, &self.world, symbols, record);
        let outcome = run.outcome();
        self.record = run.record();
        outcome
    }

    /// Whether all that happens could be computed.
    pub(super) fn is_exact(&self) -> bool {
        self.record.is_exact
    }

    /// Who sees whom, where that is left to the solver.
    pub(super) fn sights(&self) -> &Sights {
        &self.record.sights
    }
}
