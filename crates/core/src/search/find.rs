//! From procedures to anomalies: every candidate cycle is shown to happen, shown not to, or left open and told.
//!
//! Cycles over the same procedures are examined together, as a [`Group`]. One run of some calls has many cycles in it, so
//! once values for one cycle are found, the run is looked through for all others of its group: these need no solver. That
//! is our form of the paper's grouping by structure (§6.1).
//!
//! Groups do not depend on one another: whoever has several processors gives each a group. They are made as they are
//! asked for ([`Candidates`]), since there may be millions.

use std::collections::BTreeMap;

use super::class::{Class, classify};
use super::conflicts::{self, Conflicts};
use super::cycles::{Bounds, Cycle, CyclesOver, Structure};
use super::feasible::{Asked, Feasible, SecondOpinion, Values, feasible, is_walkable};
use super::ground::{Called, Ground, Rows};
use super::groups::ProcedureGroups;
use super::level::Target;
use super::plan::prefix::Earlier;
use super::plan::{self, Plan, plans};
use super::prefixes::prefixes;
use super::stage::Stages;
use super::witness::Witness;
use crate::budget::WorkBudget;
use crate::flow::program::Given;
use crate::program::paths::{Limits, Pass, PathCut, Way, ways};
use crate::program::schema::Schema;

/// How many plans of one cycle are asked about, and how many of them for the same ways: if the first few do not work,
/// others hardly do. All of six ways have their turn: two branches of two calls are four already.
const PLANS_MAX: usize = 6 * PLANS_EACH;
/// See [`PLANS_MAX`].
const PLANS_EACH: usize = 4;
/// How many ways of a procedure are tried on their own; most of those through loops contradict themselves.
const WAYS_TRIED: usize = 60;
/// How many cycles over the same procedures are examined together; there may be a few more.
const TOGETHER: usize = 20_000;

/// What is searched, and how far.
#[derive(Debug, Clone)]
pub struct Options<'a> {
    /// The rules that each procedure runs under.
    pub levels: Vec<Target>,
    /// How long cycles may be.
    pub bounds: Bounds,
    /// Whether reads count that decide nothing.
    pub external: bool,
    /// The rows at the start, if they are given.
    pub initial: Option<&'a Rows>,
    /// How many calls may come before, one after the other, where a cycle is not possible without them.
    pub prefix: usize,
    /// How many ways through procedures are looked at.
    pub limits: Limits,
    /// Whether a run that is found is looked through for other cycles.
    pub grouping: bool,
    /// Who hears every question of the solver, too.
    pub second: Option<&'a dyn SecondOpinion>,
    /// When to stop.
    pub budget: WorkBudget,
}

/// A search over the procedures of an application.
#[derive(Debug)]
pub struct Search<'a> {
    schema: &'a Schema,
    procedures: &'a [Called<'a>],
    given: Vec<Given<'a>>,
    options: Options<'a>,
    /// The conflicts between statements.
    pub conflicts: Conflicts,
}

/// Candidate cycles over some procedures.
#[derive(Debug, Clone)]
pub struct Group {
    /// The procedures, ascending; one that is called twice is here twice.
    pub procedures: Vec<u16>,
    /// The cycles.
    pub cycles: Vec<Cycle>,
}

/// What became of the cycles of a group.
#[derive(Debug, Clone, Default)]
pub struct Examined {
    /// Runs that show anomalies.
    pub tests: Vec<Test>,
    /// The cycles that happen.
    pub anomalies: Vec<Anomaly>,
    /// How many cycles cannot happen, or do not show.
    pub impossible: usize,
    /// Cycles of which nothing is known: the solver gave up.
    pub unknown: Vec<Cycle>,
    /// How many cycles were not looked at.
    pub left: usize,
    /// How often the solver was asked.
    pub asked: usize,
}

/// A run: calls with their arguments, rows, and who does what when.
#[derive(Debug, Clone)]
pub struct Test {
    /// The procedure of each call: those of the cycle, and then those that came before it.
    pub procedures: Vec<u16>,
    /// How many calls came before, one after the other: the last ones of them.
    pub before: usize,
    /// The way that each call is to take.
    pub ways: Vec<Way>,
    /// Who runs when, and who sees what.
    pub plan: Plan,
    /// Arguments and rows.
    pub values: Values,
}

/// A cycle that happens.
#[derive(Debug, Clone)]
pub struct Anomaly {
    /// The cycle.
    pub cycle: Cycle,
    /// What it is grouped by.
    pub structure: Structure,
    /// What people call it.
    pub class: &'static Class,
    /// The run that shows it: a position in [`Examined::tests`].
    pub test: usize,
    /// For each visit of the cycle, which call of the test it is.
    pub calls: Vec<usize>,
    /// Whether the test has a cycle through fewer calls in it, too.
    pub contains_smaller: bool,
}

impl Test {
    /// How many calls the cycle is of; the others came before.
    pub fn concurrent(&self) -> usize {
        self.procedures.len() - self.before
    }
}

impl<'a> Search<'a> {
    /// Prepares a search: conflicts and candidate cycles.
    pub fn new(schema: &'a Schema, procedures: &'a [Called<'a>], options: Options<'a>) -> Search<'a> {
        let given: Vec<Given<'a>> = procedures
            .iter()
            .map(|called| Given { access: called.access, autocommit: called.procedure.autocommit })
            .collect();
        let is_engine = options.levels.iter().any(|level| matches!(level, Target::Engine(_)));
        let what = conflicts::Options { external: options.external, references: is_engine, rollbacks: true };
        let conflicts = Conflicts::within(&given, schema, what, &options.budget);
        Search { schema, procedures, given, options, conflicts }
    }

    /// The number of procedures, the last ones, whose conflicts are not known: there were too many, or the budget was
    /// spent.
    pub fn unconnected(&self) -> usize {
        self.procedures.len() - self.conflicts.connected
    }

    /// The candidate cycles, those of fewer calls first.
    pub fn candidates(&self) -> Candidates<'_> {
        let groups = ProcedureGroups::new(&self.conflicts, self.options.bounds.instances);
        Candidates { search: self, groups, current: None, is_cut: false }
    }

    /// The candidate cycles over these procedures, ascending.
    pub fn group(&self, procedures: &[u16]) -> Group {
        let cycles = self.cycles_over(procedures).at_least(usize::MAX);
        Group { procedures: procedures.to_vec(), cycles }
    }

    fn cycles_over(&self, procedures: &[u16]) -> CyclesOver<'_> {
        CyclesOver::new(&self.conflicts, self.options.bounds, procedures, self.options.budget.clone())
    }

    /// Looks at the cycles of a group, as long as the budget lasts.
    pub fn examine(&self, group: &Group) -> Examined {
        let mut examined = Examined::default();
        let mut known = Known::default();
        let mut done = vec![false; group.cycles.len()];
        for at in 0..group.cycles.len() {
            if done[at] {
                continue;
            }
            if self.is_over() {
                examined.left += done[at..].iter().filter(|done| !**done).count();
                break;
            }
            done[at] = true;
            let cycle = &group.cycles[at];
            match self.look(cycle, &mut known, &mut examined.asked) {
                Look::Happens(test) => {
                    examined.tests.push(*test);
                    self.take_all(group, at, &mut done, &mut examined);
                }
                Look::Unknown if self.options.budget.is_spent() => examined.left += 1,
                Look::Impossible => examined.impossible += 1,
                Look::Unknown => examined.unknown.push(cycle.clone()),
            }
        }
        examined
    }

    /// True if nothing more is to be looked at.
    fn is_over(&self) -> bool {
        self.options.budget.is_spent() || self.options.second.is_some_and(SecondOpinion::is_troubled)
    }

    /// Takes note of the cycles that the last test shows: the one at `first`, and others.
    fn take_all(&self, group: &Group, first: usize, done: &mut [bool], examined: &mut Examined) {
        let number = examined.tests.len() - 1;
        let own: Vec<usize> = (0..group.cycles[first].visits.len()).collect();
        let ground = self.ground(&examined.tests[number].procedures);
        let witness = Witness::new(&ground, &self.conflicts, &examined.tests[number]);
        let contains_smaller = self.contains_smaller(group, &witness);
        let note = |cycle: &Cycle, calls: Vec<usize>| {
            let (structure, class) = (cycle.structure(&self.conflicts), classify(cycle, &self.conflicts, &self.given));
            Anomaly { cycle: cycle.clone(), structure, class, test: number, calls, contains_smaller }
        };
        examined.anomalies.push(note(&group.cycles[first], own));
        if !self.options.grouping {
            return;
        }
        for (cycle, done) in group.cycles.iter().zip(done).skip(first + 1).filter(|(_, done)| !**done) {
            if let Some(calls) = witness.shows(cycle) {
                *done = true;
                examined.anomalies.push(note(cycle, calls));
            }
        }
    }

    /// Whether a run has a cycle through fewer calls than its group has.
    fn contains_smaller(&self, group: &Group, witness: &Witness<'_>) -> bool {
        parts(&group.procedures).iter().any(|part| {
            let mut cycles = self.cycles_over(part);
            std::iter::from_fn(|| Some(cycles.at_least(1)).filter(|some| !some.is_empty()))
                .any(|some| some.iter().any(|cycle| witness.shows(cycle).is_some()))
        })
    }

    /// The ground for calls of some procedures.
    fn ground(&self, procedures: &[u16]) -> Ground<'a> {
        Ground {
            schema: self.schema,
            calls: procedures.iter().map(|at| self.procedures[usize::from(*at)]).collect(),
            initial: self.options.initial,
            references: self.options.levels.iter().any(|level| matches!(level, Target::Engine(_))),
        }
    }

    /// Asks about one cycle: by itself, and then behind other calls.
    fn look(&self, cycle: &Cycle, known: &mut Known<'a>, asked: &mut usize) -> Look {
        let procedures = procedures_of(cycle, &self.conflicts);
        let mut is_known = true;
        for before in prefixes(&self.given, self.options.prefix, &procedures) {
            match self.look_behind(&before, cycle, known, asked) {
                Look::Impossible => {}
                Look::Unknown => is_known = false,
                happens => return happens,
            }
        }
        if is_known { Look::Impossible } else { Look::Unknown }
    }

    /// Asks about a cycle behind calls of these procedures.
    fn look_behind(&self, before: &[u16], cycle: &Cycle, known: &mut Known<'a>, asked: &mut usize) -> Look {
        let own = cycle.visits.len();
        let procedures = [procedures_of(cycle, &self.conflicts), before.to_vec()].concat();
        let levels: Vec<Target> = procedures.iter().map(|at| self.options.levels[usize::from(*at)]).collect();
        let ground = self.ground(&procedures);
        let passes = |at: usize| if at < own { cycle.passes(&self.conflicts, at) } else { Vec::new() };
        let each: Vec<Vec<Way>> =
            (0..procedures.len()).map(|at| self.ways(procedures[at], passes(at), &mut known.ways)).collect();
        // A plan that leaves open what is seen is worth many.
        let plans_each = if levels.iter().all(Target::is_open) { 1 } else { PLANS_EACH };
        // A path that a bound left out may be the one on which the cycle happens.
        let is_cut = (0..procedures.len()).any(|at| self.is_cut(procedures[at], passes(at)));
        let (mut is_known, mut left) = (!is_cut, PLANS_MAX);
        for ways in combinations(&each, self.options.limits.ways) {
            let question = plan::Question {
                procedures: &self.given,
                conflicts: &self.conflicts,
                cycle,
                ways: &ways[..own],
                levels: &levels[..own],
            };
            let earlier: Vec<Earlier<'_>> = (own..procedures.len())
                .map(|at| (usize::from(procedures[at]), ways[at], levels[at]))
                .map(|(number, way, level)| Earlier { procedure: self.given[number], number, way, level })
                .collect();
            let plans = plans(question).map(|plan| plan.behind(&earlier, own, &self.conflicts));
            for plan in plans.take(left.min(plans_each)) {
                left -= 1;
                *asked += 1;
                if self.options.budget.is_spent() {
                    return Look::Unknown;
                }
                let budget = self.options.limits.budget;
                let conflicts = &self.conflicts;
                let ask = Asked {
                    ground: &ground,
                    conflicts,
                    cycle,
                    ways: &ways,
                    plan: &plan,
                    budget,
                    second: self.options.second,
                    work: &self.options.budget,
                };
                match feasible(&ask, &mut known.stages) {
                    Feasible::Yes(values, plan) => {
                        let ways = ways.iter().map(|way| (*way).clone()).collect();
                        let before = before.len();
                        return Look::Happens(Box::new(Test { procedures, before, ways, plan, values: *values }));
                    }
                    Feasible::No => {}
                    Feasible::Unknown => is_known = false,
                }
            }
        }
        if is_known { Look::Impossible } else { Look::Unknown }
    }

    /// True if a bound left out ways that pass these nodes: a loop may go round more often, or there are too many. Rows
    /// beyond those that a table has here are left out anyway.
    fn is_cut(&self, procedure: u16, passes: Vec<Pass>) -> bool {
        let access = self.procedures[usize::from(procedure)].access;
        let limits = Limits { ways: WAYS_TRIED, ..self.options.limits };
        ways(access, &passes, &limits).cuts.iter().any(|cut| !matches!(cut, PathCut::Rows(_)))
    }

    /// The ways of a procedure that pass these nodes, but for those that contradict themselves.
    fn ways(&self, procedure: u16, passes: Vec<Pass>, known: &mut KnownWays) -> Vec<Way> {
        let nodes: Vec<usize> = passes.iter().map(|pass| pass.node).collect();
        let look = || {
            let access = self.procedures[usize::from(procedure)].access;
            let given = self.ground(&[procedure]);
            let ground = Ground { initial: None, ..given.clone() };
            let limits = Limits { ways: WAYS_TRIED, ..self.options.limits };
            let walkable = ways(access, &passes, &limits).ways.into_iter().filter(|way| is_walkable(&ground, way));
            let count = self.options.limits.ways;
            if given.initial.is_none() {
                return walkable.take(count).collect();
            }
            // With the rows that are given, some ways need what other calls write: they come last.
            let (alone, others): (Vec<Way>, Vec<Way>) = walkable.partition(|way| is_walkable(&given, way));
            alone.into_iter().chain(others).take(count).collect()
        };
        known.entry((procedure, nodes)).or_insert_with(look).clone()
    }
}

/// The candidate cycles of a search, some at a time.
#[derive(Debug)]
pub struct Candidates<'a> {
    search: &'a Search<'a>,
    groups: ProcedureGroups,
    /// The procedures of the last group, with the cycles over them that have not been made.
    current: Option<(Vec<u16>, CyclesOver<'a>)>,
    is_cut: bool,
}

impl Candidates<'_> {
    /// True if there are cycles that were not made: too many over the same procedures, or the budget was spent.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }
}

impl Iterator for Candidates<'_> {
    type Item = Group;

    fn next(&mut self) -> Option<Group> {
        loop {
            if self.search.is_over() {
                self.is_cut = true;
                return None;
            }
            if let Some((procedures, cycles)) = &mut self.current {
                let some = cycles.at_least(TOGETHER);
                if !some.is_empty() {
                    return Some(Group { procedures: procedures.clone(), cycles: some });
                }
                self.is_cut |= cycles.is_cut;
            }
            let procedures = self.groups.next()?;
            let cycles = self.search.cycles_over(&procedures);
            self.current = Some((procedures, cycles));
        }
    }
}

/// All that remains of some procedures if one or more are left out, but two or more are not.
fn parts(procedures: &[u16]) -> Vec<Vec<u16>> {
    let kept = |bits: &usize| (2..procedures.len()).contains(&(bits.count_ones() as usize));
    let chosen =
        |bits: usize| (0..procedures.len()).filter(|at| bits >> at & 1 == 1).map(|at| procedures[at]).collect();
    let mut parts: Vec<Vec<u16>> = (0..1_usize << procedures.len()).filter(kept).map(chosen).collect();
    parts.sort();
    parts.dedup();
    parts
}

/// What is known of the procedures of a group.
#[derive(Default)]
struct Known<'a> {
    ways: KnownWays,
    stages: Stages<'a>,
}

/// Ways by procedure and the nodes that they pass.
type KnownWays = BTreeMap<(u16, Vec<usize>), Vec<Way>>;

/// What is known of a cycle.
enum Look {
    Happens(Box<Test>),
    Impossible,
    Unknown,
}

/// The procedure of each visit.
pub(super) fn procedures_of(cycle: &Cycle, conflicts: &Conflicts) -> Vec<u16> {
    cycle.visits.iter().map(|visit| conflicts.sites[usize::from(visit.enter)].procedure).collect()
}

/// A way for each call. Those come first that are among the first of each call, so that each call's ways have their turn.
fn combinations(each: &[Vec<Way>], count_max: usize) -> Vec<Vec<&Way>> {
    let mut combinations: Vec<Vec<&Way>> = vec![Vec::new()];
    for ways in each {
        let longer = combinations
            .iter()
            .flat_map(|chosen| ways.iter().map(move |way| chosen.iter().copied().chain([way]).collect::<Vec<_>>()));
        combinations = longer.collect();
    }
    combinations.sort_by_key(|chosen| {
        let rank = |(ways, way): (&Vec<Way>, &&Way)| ways.iter().position(|one| one == *way).unwrap_or(0);
        (each.iter().zip(chosen).map(rank).sum::<usize>(), chosen.iter().map(|way| way.nodes.len()).sum::<usize>())
    });
    combinations.truncate(count_max);
    combinations
}

#[cfg(test)]
mod tests;
