//! Several runs of one case: who agrees with whom, and where the others differ first.

use std::collections::BTreeSet;

use crate::dialect::Dialect;
use crate::engine::SessionId;
use crate::oracle::diff::answers::{self, Answer, comparable, sorted};
use crate::oracle::diff::rounds::{Round, rounds};
use crate::outcome::{ErrorClass, StatementResult};
use crate::trace::{StepId, Trace};

/// In what targets may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A server died.
    Death,
    /// A program sent other statements, because of an answer that is not compared.
    Steps,
    /// A deadlock was reported, or not; or somebody else was its victim.
    Deadlock,
    /// A step waited, or not; or went on at another point.
    Waiting,
    /// A step failed, or not; or failed with another fate.
    Error,
    /// A warning was given, or not.
    Warning,
    /// A query returned other rows.
    Rows,
    /// A statement changed another number of rows.
    Count,
    /// Everything went the same way, but left other data.
    State,
}

impl Kind {
    /// Every kind.
    pub const ALL: &'static [Kind] = &[
        Kind::Death,
        Kind::Steps,
        Kind::Deadlock,
        Kind::Waiting,
        Kind::Error,
        Kind::Warning,
        Kind::Rows,
        Kind::Count,
        Kind::State,
    ];

    /// What fingerprints begin with.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Death => "diff-death",
            Kind::Steps => "diff-steps",
            Kind::Deadlock => "diff-deadlock",
            Kind::Waiting => "diff-waiting",
            Kind::Error => "diff-error",
            Kind::Warning => "diff-warning",
            Kind::Rows => "diff-rows",
            Kind::Count => "diff-count",
            Kind::State => "diff-state",
        }
    }
}

/// The first thing, before the final state, in which runs differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Discrepancy {
    /// In what they differ.
    pub kind: Kind,
    /// The step whose fate it is; `None` if no step is involved.
    pub step: Option<StepId>,
    /// The step that was submitted (or cancelled) when it happened: `step` itself, or one that let it go on.
    pub cause: Option<StepId>,
    /// How many rounds went the same way before: a round goes from one submission to the next.
    pub round: usize,
}

/// How several runs of one case compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// The positions of runs that agree in everything. The norm comes first: the largest group, or that of the first run.
    pub groups: Vec<Vec<usize>>,
    /// Where the others differ first from the norm.
    pub first: Option<Discrepancy>,
    /// The tables that do not hold the same at the end, in order of their names.
    pub tables: Vec<String>,
}

impl Comparison {
    /// Compares runs of one case.
    pub fn of(traces: &[&Trace]) -> Comparison {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (position, trace) in traces.iter().enumerate() {
            let agrees = |group: &&mut Vec<usize>| pair(traces[group[0]], trace) == (None, Vec::new());
            match groups.iter_mut().find(agrees) {
                Some(group) => group.push(position),
                None => groups.push(vec![position]),
            }
        }
        // A stable sort: among groups of one size, the one with the earlier target comes first.
        groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
        let mut comparison = Comparison { groups, first: None, tables: Vec::new() };
        let Some((norm, others)) = comparison.groups.split_first() else { return comparison };
        let mut tables = BTreeSet::new();
        for other in others {
            let (first, differing) = pair(traces[norm[0]], traces[other[0]]);
            let place = |discrepancy: &Discrepancy| (discrepancy.kind != Kind::Death, discrepancy.round);
            comparison.first = comparison.first.into_iter().chain(first).min_by_key(place);
            tables.extend(differing);
        }
        // All servers died: they agree, but nobody would call that well.
        if let Some(step) = all_died(traces) {
            comparison.first =
                Some(Discrepancy { kind: Kind::Death, step, cause: step, round: rounds(traces[0]).len() });
        }
        comparison.tables = tables.into_iter().collect();
        comparison
    }

    /// Whether there is nothing to object to.
    pub fn agrees(&self) -> bool {
        self.first.is_none() && self.tables.is_empty()
    }

    /// In what the runs differ first.
    pub fn kind(&self) -> Kind {
        self.first.map_or(Kind::State, |first| first.kind)
    }
}

/// How far runs went the same way, step for step, whatever was answered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shared {
    /// For each run, how many of its events belong to that part.
    pub events: Vec<usize>,
    /// The steps in that part that were not answered alike by all.
    pub unlike: Vec<StepId>,
}

impl Shared {
    /// Finds out; nothing is shared by no runs.
    pub fn of(traces: &[&Trace]) -> Shared {
        let of_runs: Vec<Vec<Round>> = traces.iter().map(|trace| rounds(trace)).collect();
        let Some((first, others)) = of_runs.split_first() else { return Shared::default() };
        let same_way = |at: &usize| {
            let (round, trace) = (&first[*at], traces[0]);
            others.iter().zip(&traces[1..]).all(|(rounds, other)| {
                rounds.get(*at).is_some_and(|other_round| course_difference(trace, other, round, other_round).is_none())
            })
        };
        let count = (0..first.len()).take_while(same_way).count();
        let end = |rounds: &Vec<Round>| count.checked_sub(1).map_or(0, |last| rounds[last].end);
        let completed = first[..count].iter().flat_map(|round| &round.completed);
        let unlike = |id: &&StepId| traces[1..].iter().any(|other| answer_difference(traces[0], other, **id).is_some());
        Shared { events: of_runs.iter().map(end).collect(), unlike: completed.filter(unlike).copied().collect() }
    }
}

/// The last step before all servers died.
fn all_died(traces: &[&Trace]) -> Option<Option<StepId>> {
    let all = !traces.is_empty() && traces.iter().all(|trace| trace.death.is_some());
    all.then(|| last_step(traces[0]))
}

fn last_step(trace: &Trace) -> Option<StepId> {
    trace.steps.len().checked_sub(1).map(StepId)
}

/// The first discrepancy of two runs, and the tables that differ at the end.
fn pair(left: &Trace, right: &Trace) -> (Option<Discrepancy>, Vec<String>) {
    (first_discrepancy(left, right), differing_tables(left, right))
}

fn first_discrepancy(left: &Trace, right: &Trace) -> Option<Discrepancy> {
    let (left_rounds, right_rounds) = (rounds(left), rounds(right));
    if left.death.is_some() != right.death.is_some() {
        let dead = if left.death.is_some() { left } else { right };
        let step = last_step(dead);
        return Some(Discrepancy { kind: Kind::Death, step, cause: step, round: rounds(dead).len() });
    }
    for (at, (left_round, right_round)) in left_rounds.iter().zip(&right_rounds).enumerate() {
        let cause = left_round.step();
        if let Some((kind, step)) = round_difference(left, right, left_round, right_round) {
            return Some(Discrepancy { kind, step, cause, round: at });
        }
    }
    let round = left_rounds.len().min(right_rounds.len());
    let next = left_rounds.get(round).or(right_rounds.get(round))?;
    Some(Discrepancy { kind: Kind::Steps, step: next.step(), cause: next.step(), round })
}

fn round_difference(
    left: &Trace,
    right: &Trace,
    left_round: &Round,
    right_round: &Round,
) -> Option<(Kind, Option<StepId>)> {
    // A deadlock explains who waits and who fails, so it comes first; but only if the round began alike.
    let course = course_difference(left, right, left_round, right_round);
    match course {
        Some((Kind::Steps, _)) => course,
        _ if victims(left, left_round) != victims(right, right_round) => Some((Kind::Deadlock, left_round.step())),
        Some(_) => course,
        None => left_round.completed.iter().find_map(|id| Some((answer_difference(left, right, *id)?, Some(*id)))),
    }
}

/// Whether something else was sent, or other steps waited or went on.
fn course_difference(
    left: &Trace,
    right: &Trace,
    left_round: &Round,
    right_round: &Round,
) -> Option<(Kind, Option<StepId>)> {
    let sent = |trace: &Trace, round: &Round| round.step().map(|id| trace.step(id).sql.clone());
    if left_round.cause != right_round.cause || sent(left, left_round) != sent(right, right_round) {
        return Some((Kind::Steps, left_round.step().or(right_round.step())));
    }
    let set = |steps: &[StepId]| steps.iter().copied().collect::<BTreeSet<StepId>>();
    let completed = (set(&left_round.completed), set(&right_round.completed));
    let waiting = (set(&left_round.waiting), set(&right_round.waiting));
    let unlike = completed.0.symmetric_difference(&completed.1).chain(waiting.0.symmetric_difference(&waiting.1));
    unlike.min().map(|step| (Kind::Waiting, Some(*step)))
}

fn answer_difference(left: &Trace, right: &Trace, id: StepId) -> Option<Kind> {
    answers::difference(&answer(left, id)?, &answer(right, id)?)
}

fn answer(trace: &Trace, id: StepId) -> Option<Answer<'_>> {
    let step = trace.step(id);
    Some(Answer { sql: &step.sql, outcome: step.outcome.as_ref()?, dialect: trace.engine.dialect })
}

/// The sessions that were told of a deadlock.
pub(super) fn victims(trace: &Trace, round: &Round) -> Vec<SessionId> {
    let is_victim = |id: &&StepId| {
        let outcome = trace.step(**id).outcome.as_ref();
        outcome.is_some_and(|outcome| outcome.error_class() == Some(ErrorClass::Deadlock))
    };
    round.completed.iter().filter(is_victim).map(|id| trace.step(*id).session).collect()
}

/// The tables that do not hold the same rows. Where a server died, nothing is known of its tables.
fn differing_tables(left: &Trace, right: &Trace) -> Vec<String> {
    let (Some(left_state), Some(right_state)) = (&left.final_state, &right.final_state) else { return Vec::new() };
    let (left_dialect, right_dialect) = (left.engine.dialect, right.engine.dialect);
    let contents = |dialect: &dyn Dialect, other: &dyn Dialect, table: Option<&StatementResult>| {
        table.map(|table| sorted(&comparable(dialect, other, table)))
    };
    let names: BTreeSet<&String> = left_state.tables.keys().chain(right_state.tables.keys()).collect();
    let differs = |name: &&&String| {
        contents(left_dialect, right_dialect, left_state.tables.get(**name))
            != contents(right_dialect, left_dialect, right_state.tables.get(**name))
    };
    names.iter().filter(differs).map(|name| (*name).clone()).collect()
}
