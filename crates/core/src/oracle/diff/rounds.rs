//! A trace in rounds: what was done, and what came of it before anything else was done.
//!
//! ```text
//!   submitted a1   completed a1                          round 1
//!   submitted b1   waiting b1                            round 2
//!   submitted a2   completed a2   resumed b1 completed b1  round 3
//! ```
//!
//! What the executor does next depends on who waits, and on nothing else that engines could differ in. So as long as
//! rounds agree, the next ones begin alike, and a step has the same number on all targets.

use std::collections::BTreeSet;

use crate::trace::{StepId, Trace, TraceEvent};

/// What a round begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cause {
    /// A step was submitted.
    Submitted(StepId),
    /// A step that nobody would have released was cancelled by us.
    Cancelled(StepId),
    /// Anything else that was done, e.g. a positioned event; in words.
    Other(String),
}

/// What was done, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Round {
    pub(super) cause: Cause,
    /// The steps that completed, the submitted one first.
    pub(super) completed: Vec<StepId>,
    /// The steps that began to wait.
    pub(super) waiting: Vec<StepId>,
    /// Where its events end.
    pub(super) end: usize,
}

impl Round {
    fn new(cause: Cause) -> Round {
        Round { cause, completed: Vec::new(), waiting: Vec::new(), end: 0 }
    }

    /// The step that the round began with.
    pub(super) fn step(&self) -> Option<StepId> {
        match self.cause {
            Cause::Submitted(step) | Cause::Cancelled(step) => Some(step),
            Cause::Other(_) => None,
        }
    }
}

/// The rounds of a trace.
pub(super) fn rounds(trace: &Trace) -> Vec<Round> {
    let mut rounds: Vec<Round> = Vec::new();
    // A wait is told again when the holders change, which only some engines can tell.
    let mut told = BTreeSet::new();
    for (at, event) in trace.events.iter().enumerate() {
        match event {
            TraceEvent::Submitted(step) => rounds.push(Round::new(Cause::Submitted(*step))),
            TraceEvent::Cancelled(step, _) => rounds.push(Round::new(Cause::Cancelled(*step))),
            TraceEvent::Happened(event) => rounds.push(Round::new(Cause::Other(format!("@{event}")))),
            TraceEvent::Infeasible(constraint) => rounds.push(Round::new(Cause::Other(constraint.to_string()))),
            TraceEvent::Waiting { step, .. } if told.insert(*step) => {
                rounds.last_mut().into_iter().for_each(|round| round.waiting.push(*step));
            }
            TraceEvent::Completed(step) => {
                rounds.last_mut().into_iter().for_each(|round| round.completed.push(*step));
            }
            TraceEvent::Waiting { .. } | TraceEvent::Resumed(_) => {}
        }
        rounds.last_mut().into_iter().for_each(|round| round.end = at + 1);
    }
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::sample::sample;

    #[test]
    fn a_round_holds_what_came_of_one_submission() {
        let trace = sample("a BEGIN > open; b UPDATE t > waits open; a COMMIT > idle; b > completes");
        let steps = |steps: &[StepId]| steps.iter().map(|step| (step.0 + 1).to_string()).collect::<Vec<_>>().join(" ");
        let shown: Vec<String> = rounds(&trace)
            .iter()
            .map(|round| format!("{:?}: {}; waits {}", round.step(), steps(&round.completed), steps(&round.waiting)))
            .collect();
        assert_eq!(shown, ["Some(StepId(0)): 1; waits ", "Some(StepId(1)): ; waits 2", "Some(StepId(2)): 3 2; waits "]);
    }
}
