//! Rounds: until every statement that is left ran undisturbed, succeeded, and lies on no cycle.

use std::collections::BTreeSet;

use crate::case::Case;
use crate::graph::Graph;
use crate::graph::Odd;
use crate::graph::infer::infer;
use crate::level::guarantees;
use crate::oracle::graph::instrumented::{Instrumented, items};
use crate::oracle::graph::round::{Mismatch, Round, Trouble, Twice};
use crate::oracle::graph::{Followed, Trial};
use crate::oracle::{Mode, RunError, RunRequest, unobserved};
use crate::schedule::{Schedule, StepRef};
use crate::trace::Trace;

/// How the rounds of a case ended.
pub(super) struct Refined {
    /// The steps of the last round, in order of submission.
    pub(super) order: Vec<StepRef>,
    /// The last round.
    pub(super) instrumented: Instrumented,
    pub(super) trace: Trace,
    pub(super) end: End,
}

/// What the last round showed.
pub(super) enum End {
    /// Every statement can be compared; the graph has no cycle.
    Acyclic,
    /// The server died, or complained in its log.
    Died,
    /// The versions are impossible.
    Odd(Odd),
    /// A statement wrote other rows than it selected.
    Mismatch(Mismatch),
    /// The graph, cyclic or not, shows something that the level forbids.
    Forbidden(crate::graph::IsolationViolation),
}

impl Trial<'_> {
    /// Runs the case until it can be judged; the error says why it cannot.
    pub(super) fn refine(
        &mut self,
        schedule: Option<&Schedule>,
        followed: &mut Followed,
    ) -> Result<Result<Refined, String>, RunError> {
        let mut order = submitted(&self.prepared.case, self.original, schedule);
        order.retain(|step| !self.prepared.refused.contains_key(step));
        let mut moved = BTreeSet::new();
        followed.statements = self.prepared.targets.len() + self.prepared.refused.len();
        while followed.rounds < self.oracle.rounds_max {
            followed.rounds += 1;
            followed.graph = Graph::default();
            let instrumented = match Instrumented::new(self.prepared, &order, &self.views) {
                Ok(instrumented) => instrumented,
                Err(reason) => return Ok(Err(reason)),
            };
            let trace = self.run(&instrumented.case)?;
            let next = match self.round(&instrumented, &trace, &mut moved, followed) {
                Ok(next) => next,
                Err(reason) => return Ok(Err(reason)),
            };
            match next {
                Next::Again(next) => order = next,
                Next::Over(end) => return Ok(Ok(Refined { order, instrumented, trace, end })),
            }
        }
        Ok(Err(format!("the case did not settle in {} rounds", self.oracle.rounds_max)))
    }

    fn run(&mut self, case: &Case) -> Result<Trace, RunError> {
        let (target, policy) = (self.target, self.oracle.policy.clone());
        self.runner.run(&RunRequest { case, target, policy, mode: Mode::Scheduled(None) })
    }

    /// Looks at one round: what to submit in the next one, or how it ends.
    fn round(
        &mut self,
        instrumented: &Instrumented,
        trace: &Trace,
        moved: &mut BTreeSet<StepRef>,
        followed: &mut Followed,
    ) -> Result<Next, String> {
        if trace.death.is_some() || !trace.alarms.is_empty() {
            return Ok(Next::Over(End::Died));
        }
        if let Some(reason) = unobserved(trace) {
            return Err(reason);
        }
        let round = Round::new(self.prepared, instrumented, trace);
        if let Some(reason) = round.unknown() {
            return Err(reason);
        }
        let Trouble { failed, disturbed } = round.trouble();
        if !failed.is_empty() || !disturbed.is_empty() {
            // What is disturbed a second time, wherever it is put, is left out.
            let again: BTreeSet<StepRef> = disturbed.into_iter().filter(|step| !moved.insert(step.clone())).collect();
            return Ok(Next::Again(without(round.recorded(), |step| failed.contains(step) || again.contains(step))));
        }
        let (statements, strangers) = round.observed()?;
        match round.twice(&statements)? {
            None => {}
            Some(Twice { step, is_reborn: true, .. }) => {
                return Ok(Next::Again(without(round.recorded(), |other| *other == step)));
            }
            Some(Twice { step, row, .. }) => return Ok(Next::Over(End::Odd(Odd::Twice { reader: step, row }))),
        }
        if let Some(mismatch) = round.mismatch(&statements)? {
            return Ok(Next::Over(End::Mismatch(mismatch)));
        }
        let graph = match infer(statements, &strangers) {
            Ok(graph) => graph,
            // Whether a statement that did not find the row ran before it or between its lives cannot be told.
            Err(Odd::Reused { again, .. }) => {
                return Ok(Next::Again(without(round.recorded(), |step| *step == again)));
            }
            Err(odd) => return Ok(Next::Over(End::Odd(odd))),
        };
        if let Some(violation) = self.forbidden(&graph, trace) {
            followed.graph = graph;
            return Ok(Next::Over(End::Forbidden(violation)));
        }
        let removed: BTreeSet<StepRef> =
            graph.to_remove(&mut self.random).into_iter().map(|at| graph.statements[at].step.clone()).collect();
        followed.graph = graph;
        Ok(match removed.is_empty() {
            true => Next::Over(End::Acyclic),
            false => Next::Again(without(round.recorded(), |step| removed.contains(step))),
        })
    }

    /// What the weakest level of the sessions forbids, if the transactions did it.
    fn forbidden(&self, graph: &Graph, trace: &Trace) -> Option<crate::graph::IsolationViolation> {
        let promised = |session: &crate::trace::SessionRun| {
            guarantees::of(&trace.engine, &session.level).and_then(guarantees::Guarantee::formal)
        };
        let levels: Option<Vec<_>> = trace.sessions.iter().map(promised).collect();
        let levels = levels?;
        let weakest = levels.iter().find(|level| levels.iter().all(|other| other.implies(**level)))?;
        graph.isolation(*weakest)
    }
}

/// What follows a round.
enum Next {
    /// Another one, with these steps in this order.
    Again(Vec<StepRef>),
    Over(End),
}

fn without(order: Vec<StepRef>, is_removed: impl Fn(&StepRef) -> bool) -> Vec<StepRef> {
    order.into_iter().filter(|step| !is_removed(step)).collect()
}

/// The order of submission that the case asks for; what a schedule does not mention comes last.
fn submitted(prepared: &Case, original: &Case, schedule: Option<&Schedule>) -> Vec<StepRef> {
    let mut left = items(prepared);
    let mut counts = std::collections::BTreeMap::new();
    let mut order = Vec::new();
    for turn in original.turns(schedule) {
        let (crate::schedule::Turn::Step(session) | crate::schedule::Turn::Item(session)) = turn else { continue };
        let index = counts.entry(session.clone()).or_insert(0);
        let step = StepRef { session, index: *index };
        *index += 1;
        if left.remove(&step).is_some() {
            order.push(step);
        }
    }
    order.extend(left.into_keys());
    order
}
