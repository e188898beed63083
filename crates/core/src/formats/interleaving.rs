//! The steps of a case in the order in which they are submitted, with what exporters must know of each: does it wait,
//! whom does it resume, does it fail?
//!
//! A trace knows. Without one, the case's own expectations are believed (those without a guard), and a step of a session
//! that is expected to wait is put off until the session goes on, as the executor does.

use crate::case::{Case, Expect, Expectation, Item, Line, SessionName};
use crate::outcome::ErrorClass;
use crate::schedule::{Schedule, Turn};
use crate::trace::compare::describe;
use crate::trace::{CancelReason, StepId, Trace, TraceEvent};

/// A step, as it was executed or is expected to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportStep {
    /// Whose step.
    pub session: SessionName,
    /// What is sent.
    pub sql: String,
    /// The remarks above it in the case.
    pub prose: Vec<String>,
    /// Whether it waits for another session.
    pub waits: bool,
    /// The steps, by position, that were waiting and complete when this one does.
    pub resumes: Vec<usize>,
    /// How it fails, if it does.
    pub error: Option<ExportError>,
    /// What it was answered, in the words of a case file.
    pub said: Vec<String>,
}

/// An error that a step is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportError {
    /// What kind of error.
    pub class: ErrorClass,
    /// The number that the engine gave, if it ran on one that numbers its errors.
    pub native: Option<i64>,
}

/// Why a case cannot be written in another format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CannotExport {
    /// A procedure's statements are known only when it runs.
    #[error("`{0}` is a call of a procedure; run the case first, and export what was executed")]
    Call(String),
    /// Partitions and the like have no counterpart.
    #[error("`@{0}` has no counterpart in this format")]
    Event(String),
    /// The format has no way to write the step.
    #[error("{0}")]
    Step(String),
}

/// The steps in order: those of the trace, if there is one, else those of the case under one of its schedules (`None` is
/// the line order).
pub fn interleaving(
    case: &Case,
    schedule: Option<&Schedule>,
    trace: Option<&Trace>,
) -> Result<Vec<ExportStep>, CannotExport> {
    match trace {
        Some(trace) => Ok(observed(case, trace)),
        None => expected(case, schedule),
    }
}

/// Fails if something happened in the run that is no step of a session.
pub fn refuse_events(trace: Option<&Trace>) -> Result<(), CannotExport> {
    let happened = trace.into_iter().flat_map(|trace| &trace.events).find_map(|event| match event {
        TraceEvent::Happened(event) => Some(event.to_string()),
        _ => None,
    });
    happened.map_or(Ok(()), |event| Err(CannotExport::Event(event)))
}

fn observed(case: &Case, trace: &Trace) -> Vec<ExportStep> {
    let sessions = case.sessions();
    let step = |id: StepId| {
        let step = trace.step(id);
        let name = trace.name(step.session).clone();
        let items = sessions.iter().find(|session| session.name == name);
        // A call has many steps; its remarks belong to the first.
        let is_first = !trace.steps[..id.0].iter().any(|s| s.session == step.session && s.item == step.item);
        let entry = items.and_then(|items| items.entries.get(step.item)).filter(|_| is_first);
        let error = step.outcome.as_ref().and_then(|outcome| outcome.error.as_ref());
        ExportStep {
            session: name,
            sql: step.sql.clone(),
            prose: entry.map_or(Vec::new(), |entry| case.entries[*entry].prose.clone()),
            waits: step.waited,
            resumes: resumed_steps(trace, id),
            error: error.map(|error| ExportError { class: error.class, native: error.native }),
            said: what_was_said(trace, id),
        }
    };
    (0..trace.steps.len()).map(StepId).map(step).collect()
}

/// The steps that went on when this one completed.
fn resumed_steps(trace: &Trace, id: StepId) -> Vec<usize> {
    let sessions = trace.resumed_by(id);
    let waiting = |session| (0..id.0).rev().find(|at| trace.steps[*at].session == session);
    sessions.into_iter().filter_map(waiting).collect()
}

fn what_was_said(trace: &Trace, id: StepId) -> Vec<String> {
    let step = trace.step(id);
    let mut said = Vec::new();
    if step.waited {
        said.push("blocked".to_string());
    }
    let resumed: Vec<String> = trace.resumed_by(id).into_iter().map(|s| trace.name(s).to_string()).collect();
    if !resumed.is_empty() {
        said.push(format!("resumes {}", resumed.join(", ")));
    }
    match (&step.cancelled, &step.outcome) {
        (Some(CancelReason::StillBlocked), _) => said.push("still blocked at the end".to_string()),
        (Some(CancelReason::TimeLimit), _) => said.push("cancelled after the time limit".to_string()),
        (None, Some(outcome)) => said.push(describe(trace.engine.dialect, outcome)),
        (None, None) => said.push("no answer: the server died".to_string()),
    }
    said
}

/// A step that the simulation has not yet submitted.
struct Planned<'a> {
    session: SessionName,
    item: &'a Item,
    expectations: &'a [Expectation],
    prose: &'a [String],
}

fn expected(case: &Case, schedule: Option<&Schedule>) -> Result<Vec<ExportStep>, CannotExport> {
    let mut pending = planned(case, schedule)?;
    let mut steps: Vec<ExportStep> = Vec::new();
    // Sessions that wait, with the step that does.
    let mut waiting: Vec<(SessionName, usize)> = Vec::new();
    while !pending.is_empty() {
        let can_go_on = |planned: &Planned<'_>| !waiting.iter().any(|(session, _)| *session == planned.session);
        // If nobody can go on, the expectations are not complete: the order of the schedule is all that is left.
        let at = pending.iter().position(can_go_on).unwrap_or(0);
        let planned = pending.remove(at);
        let unguarded = || planned.expectations.iter().filter(|e| e.guard.is_none()).map(|e| &e.expect);
        let mut resumes = Vec::new();
        for name in unguarded().filter_map(resumed_names).flatten() {
            let found = waiting.iter().position(|(session, _)| session == name);
            resumes.extend(found.map(|found| waiting.remove(found).1));
        }
        let waits = unguarded().any(|expect| *expect == Expect::Blocked);
        if waits {
            waiting.push((planned.session.clone(), steps.len()));
        }
        let Item::Sql(sql) = planned.item else { return Err(CannotExport::Call(planned.item.to_string())) };
        let error = unguarded().find_map(|expect| match expect {
            Expect::Error(class) => Some(ExportError { class: *class, native: None }),
            _ => None,
        });
        steps.push(ExportStep {
            session: planned.session.clone(),
            sql: sql.as_str().to_string(),
            prose: planned.prose.to_vec(),
            waits,
            resumes,
            error,
            said: planned.expectations.iter().map(ToString::to_string).collect(),
        });
    }
    Ok(steps)
}

fn resumed_names(expect: &Expect) -> Option<&Vec<SessionName>> {
    match expect {
        Expect::Resumes(names) => Some(names),
        _ => None,
    }
}

/// The items in the order of a schedule; what it does not ask for comes last, session by session.
fn planned<'a>(case: &'a Case, schedule: Option<&Schedule>) -> Result<Vec<Planned<'a>>, CannotExport> {
    let sessions = case.sessions();
    let mut taken = vec![0; sessions.len()];
    let mut order: Vec<usize> = Vec::new();
    let mut take = |at: usize| {
        order.extend(sessions[at].entries.get(taken[at]));
        taken[at] += 1;
    };
    for turn in case.turns(schedule) {
        match turn {
            Turn::Event(event) => return Err(CannotExport::Event(event.to_string())),
            Turn::Step(name) | Turn::Item(name) => {
                sessions.iter().position(|session| session.name == name).into_iter().for_each(&mut take);
            }
        }
    }
    for (at, session) in sessions.iter().enumerate() {
        session.entries.iter().for_each(|_| take(at));
    }
    let planned = |entry: usize| match &case.entries[entry].line {
        Line::Step(session, item, expectations) => {
            Some(Planned { session: session.clone(), item, expectations, prose: &case.entries[entry].prose })
        }
        _ => None,
    };
    Ok(order.into_iter().filter_map(planned).collect())
}
