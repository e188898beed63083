//! What was observed: the ordered events of one execution, with outcomes, and the final state.

pub mod compare;
pub mod race;
pub mod transactions;
pub mod flatten;
pub mod statistics;
pub mod contention;
#[cfg(test)]
pub(crate) mod sample;

use crate::case::Event;
use crate::case::{AssertWhen, SessionName};
use crate::engine::{Death, EngineInfo, Holder, SessionId, State};
use crate::level::LevelName;
use crate::outcome::Outcome;
use crate::schedule::{Constraint, Schedule, ScheduleEntry, StepRef};
use crate::script::EndedCall;

/// The position of a step in [`Trace::steps`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepId(pub usize);

/// One execution of a case.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The engine that it ran on.
    pub engine: EngineInfo,
    /// The sessions; a [`SessionId`] is a position here.
    pub sessions: Vec<SessionRun>,
    /// The outcomes of the setup, one per message.
    pub setup: Vec<Outcome>,
    /// Every step that was submitted, in order of submission.
    pub steps: Vec<StepRun>,
    /// What happened, in order. Completions that arrive in one quiet period are put in order of submission, so that a
    /// trace does not depend on which of two threads was faster to tell.
    pub events: Vec<TraceEvent>,
    /// The assertions that were checked, in order.
    pub checks: Vec<Check>,
    /// The committed state after the last step, when open transactions have been rolled back; `None` if the server
    /// died.
    pub final_state: Option<State>,
    /// How the server died, if it did.
    pub death: Option<Death>,
    /// What the server complained of in its log; each a text of a few lines.
    pub alarms: Vec<String>,
    /// The calls that have ended, in the order of their ends.
    pub calls: Vec<CallRun>,
}

/// A session during a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRun {
    /// Its name in the case.
    pub name: SessionName,
    /// The level that it ran at.
    pub level: LevelName,
    /// True if its last transaction was still open when its steps were over; it has been rolled back.
    pub left_open: bool,
}

/// A step that was submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepRun {
    /// Whose step.
    pub session: SessionId,
    /// Its position among the steps of that session, from 0.
    pub index: usize,
    /// The item of the session that it belongs to, from 0.
    pub item: usize,
    /// What was sent.
    pub sql: String,
    /// What came back. `None` only if the server died first.
    pub outcome: Option<Outcome>,
    /// Whether it was ever seen waiting.
    pub waited: bool,
    /// Why we cancelled it, if we did.
    pub cancelled: Option<CancelReason>,
}

/// Why a statement was cancelled by us, or by the time limit that we gave the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelReason {
    /// Nobody was left who could have released what it waited for.
    StillBlocked,
    /// It ran longer than the time limit allows.
    TimeLimit,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceEvent {
    /// The step was sent.
    Submitted(StepId),
    /// The step was seen waiting, for these holders; told again when the holders change.
    Waiting {
        /// The step that waits.
        step: StepId,
        /// Whom it waits for; empty if the engine cannot tell.
        holders: Vec<Holder>,
        /// Where this is known from.
        source: &'static str,
    },
    /// A step that had been waiting goes on; its completion follows.
    Resumed(StepId),
    /// The step's outcome arrived.
    Completed(StepId),
    /// We cancelled the step; its completion follows.
    Cancelled(StepId, CancelReason),
    /// A positioned event of the case was carried out.
    Happened(Event),
    /// A constraint of the `Partial` policy could not be kept: nothing else could have been submitted.
    Infeasible(Constraint),
}

/// A call that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRun {
    /// Whose call.
    pub session: SessionId,
    /// The step with which it ended.
    pub after: StepId,
    /// How it ended.
    pub call: EndedCall,
}

/// One evaluation of an assertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The assertion's name.
    pub name: String,
    /// At which of its moments.
    pub when: AssertWhen,
    /// After which step; `None` before the first one.
    pub after: Option<StepId>,
    /// What the query returned: it holds iff there are no rows and no error.
    pub outcome: Outcome,
}

impl Check {
    /// Whether the assertion held.
    pub fn holds(&self) -> bool {
        self.outcome.error.is_none() && self.outcome.rows().is_none_or(|result| result.rows.is_empty())
    }
}

impl Trace {
    /// The step with that id.
    pub fn step(&self, id: StepId) -> &StepRun {
        &self.steps[id.0]
    }

    /// The name of a step, as every report writes it: `b2` is the second step of b.
    pub fn step_name(&self, id: StepId) -> StepRef {
        let step = self.step(id);
        StepRef { session: self.name(step.session).clone(), index: step.index }
    }

    /// The name of a session.
    pub fn name(&self, id: SessionId) -> &SessionName {
        &self.sessions[id.0].name
    }

    /// The order in which steps were really submitted and events happened: running it again as a schedule gives the
    /// same trace.
    pub fn schedule(&self) -> Schedule {
        let entry = |event: &TraceEvent| match event {
            TraceEvent::Submitted(id) => Some(ScheduleEntry::Step(self.name(self.step(*id).session).clone())),
            TraceEvent::Happened(event) => Some(ScheduleEntry::Event(event.clone())),
            _ => None,
        };
        self.events.iter().filter_map(entry).collect()
    }

    /// The sessions that were resumed by the completion of a step, in order: those whose `Resumed` event comes before
    /// the next submission. Whom we cancelled was resumed by nobody.
    pub fn resumed_by(&self, id: StepId) -> Vec<SessionId> {
        let from = self.events.iter().position(|event| *event == TraceEvent::Submitted(id)).map_or(0, |at| at + 1);
        self.events[from..]
            .iter()
            .take_while(|event| !matches!(event, TraceEvent::Submitted(_)))
            .filter_map(|event| match event {
                TraceEvent::Resumed(step) if *step != id && self.step(*step).cancelled.is_none() => {
                    Some(self.step(*step).session)
                }
                _ => None,
            })
            .collect()
    }
}
