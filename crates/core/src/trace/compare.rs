//! Comparing what was observed.
//!
//! Outcomes are compared as values, normalised by the dialect of the engine that gave them. The *text* of an error is
//! not compared, nor its detail: they name process ids and row positions. Its class and code are.

use std::collections::BTreeSet;

use crate::dialect::Dialect;
use crate::engine::{EngineInfo, State};
use crate::outcome::{Outcome, StatementResult};
use crate::trace::{StepId, Trace, TraceEvent};
use crate::value::Value;

/// The first thing in which two traces differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The step at which they differ (in both traces); `None` for the final state.
    pub step: Option<StepId>,
    /// What differs: `order`, `waiting`, `answer`, `status`, `final state`.
    pub what: &'static str,
    /// What the first trace has.
    pub left: String,
    /// What the second trace has.
    pub right: String,
}

/// Compares two traces of one case event by event; rows must come in the same order. This is what "runs the same way
/// every time" means; comparing two *engines* is another thing.
pub fn first_difference(left: &Trace, right: &Trace) -> Option<Difference> {
    let length = left.events.len().max(right.events.len());
    (0..length)
        .find_map(|at| event_difference(left, right, left.events.get(at), right.events.get(at)))
        .or_else(|| state_difference(left, right))
}

fn event_difference(
    left: &Trace,
    right: &Trace,
    left_event: Option<&TraceEvent>,
    right_event: Option<&TraceEvent>,
) -> Option<Difference> {
    let step = left_event.or(right_event).and_then(TraceEvent::step);
    if left_event.map(TraceEvent::shape) != right_event.map(TraceEvent::shape) {
        let show =
            |trace: &Trace, event: Option<&TraceEvent>| event.map_or("nothing".into(), |e| describe_event(trace, e));
        let (left, right) = (show(left, left_event), show(right, right_event));
        return Some(Difference { step, what: "order", left, right });
    }
    match left_event? {
        TraceEvent::Submitted(id) if left.step(*id).sql != right.step(*id).sql => Some(Difference {
            step,
            what: "statement",
            left: left.step(*id).sql.clone(),
            right: right.step(*id).sql.clone(),
        }),
        TraceEvent::Completed(id) => {
            let show = |trace: &Trace| exact(&trace.engine, trace.step(*id).outcome.as_ref());
            let (left, right) = (show(left), show(right));
            (left != right).then_some(Difference { step, what: "answer", left, right })
        }
        _ => None,
    }
}

fn state_difference(left: &Trace, right: &Trace) -> Option<Difference> {
    let show = |trace: &Trace| {
        trace.final_state.as_ref().map_or("unknown".to_string(), |state| describe_state(trace.engine.dialect, state))
    };
    let (left, right) = (show(left), show(right));
    (left != right).then_some(Difference { step: None, what: "final state", left, right })
}

impl TraceEvent {
    /// The step that the event is about.
    pub fn step(&self) -> Option<StepId> {
        match self {
            TraceEvent::Submitted(step)
            | TraceEvent::Waiting { step, .. }
            | TraceEvent::Resumed(step)
            | TraceEvent::Completed(step)
            | TraceEvent::Cancelled(step, _) => Some(*step),
            TraceEvent::Happened(_) | TraceEvent::Infeasible(_) => None,
        }
    }

    /// The event without what may differ from run to run: holders outside of the case are not told apart.
    fn shape(&self) -> TraceEvent {
        match self {
            TraceEvent::Waiting { step, holders, source } => {
                let inside = |holder: &&_| matches!(holder, crate::engine::Holder::Session(_));
                TraceEvent::Waiting { step: *step, holders: holders.iter().filter(inside).cloned().collect(), source }
            }
            other => other.clone(),
        }
    }
}

/// Everything that [`first_difference`] looks at, as text: two traces agree iff their transcripts are equal.
pub fn transcript(trace: &Trace) -> String {
    let mut lines: Vec<String> = Vec::new();
    for event in &trace.events {
        let detail = match event {
            TraceEvent::Submitted(id) => format!(": {}", trace.step(*id).sql),
            TraceEvent::Completed(id) => format!(": {}", exact(&trace.engine, trace.step(*id).outcome.as_ref())),
            _ => String::new(),
        };
        lines.push(format!("{}{detail}", describe_event(trace, &event.shape())));
    }
    let state = trace.final_state.as_ref().map_or("unknown".to_string(), |s| describe_state(trace.engine.dialect, s));
    lines.push(format!("final state: {state}"));
    lines.join("\n") + "\n"
}

fn describe_event(trace: &Trace, event: &TraceEvent) -> String {
    let step = |id: &StepId| format!("step {}", trace.step_name(*id));
    match event {
        TraceEvent::Submitted(id) => format!("{} is submitted", step(id)),
        TraceEvent::Waiting { step: id, holders, .. } => {
            let names: Vec<String> = holders.iter().map(|holder| describe_holder(trace, holder)).collect();
            format!("{} waits for {}", step(id), if names.is_empty() { "somebody".into() } else { names.join(", ") })
        }
        TraceEvent::Resumed(id) => format!("{} goes on", step(id)),
        TraceEvent::Completed(id) => format!("{} completes", step(id)),
        TraceEvent::Cancelled(id, _) => format!("{} is cancelled", step(id)),
        TraceEvent::Happened(event) => format!("@{event}"),
        TraceEvent::Infeasible(constraint) => format!("{constraint} is infeasible"),
    }
}

/// The name of a holder.
pub fn describe_holder(trace: &Trace, holder: &crate::engine::Holder) -> String {
    match holder {
        crate::engine::Holder::Session(id) => trace.name(*id).to_string(),
        crate::engine::Holder::Outside(who) => who.clone(),
    }
}

/// Everything about an outcome that must be the same in two runs on one engine.
fn exact(engine: &EngineInfo, outcome: Option<&Outcome>) -> String {
    let Some(outcome) = outcome else { return "nothing".to_string() };
    let mut parts: Vec<String> = outcome.results.iter().map(|result| describe_result(engine.dialect, result)).collect();
    parts.extend(outcome.notices.iter().map(|notice| format!("{} {}", notice.severity, notice.code)));
    parts.extend(outcome.error.iter().map(|error| format!("error {} ({})", error.class, error.code)));
    format!("{}, then {:?}", parts.join("; "), outcome.status)
}

/// One line that says what a step answered: its last rows, its count, its error.
pub fn describe(dialect: &dyn Dialect, outcome: &Outcome) -> String {
    if let Some(error) = &outcome.error {
        return format!("error {}: {}", error.class, error.message);
    }
    outcome.results.last().map_or("ok".to_string(), |result| describe_result(dialect, result))
}

fn describe_result(dialect: &dyn Dialect, result: &StatementResult) -> String {
    if result.is_query() {
        return format!("rows {}", crate::case::expect::print_rows(&dialect.values(result)));
    }
    match (&result.affected, &result.tag) {
        (Some(count), _) => format!("affected {count}"),
        (None, Some(tag)) => format!("tag {tag}"),
        (None, None) => "ok".to_string(),
    }
}

fn describe_state(dialect: &dyn Dialect, state: &State) -> String {
    let table = |(name, result): (&String, &StatementResult)| {
        format!("{name} {}", crate::case::expect::print_rows(&sorted(dialect.values(result))))
    };
    state.tables.iter().map(table).collect::<Vec<_>>().join("; ")
}

/// Rows in an order that does not depend on how they came.
pub fn sorted(mut rows: Vec<Vec<Value>>) -> Vec<Vec<Value>> {
    rows.sort();
    rows
}

/// The tables in which two states differ; row order means nothing.
pub fn differing_tables(left: (&EngineInfo, &State), right: (&EngineInfo, &State)) -> Vec<String> {
    let names: BTreeSet<&String> = left.1.tables.keys().chain(right.1.tables.keys()).collect();
    let rows = |(engine, state): (&EngineInfo, &State), name: &String| {
        state.tables.get(name).map(|result| sorted(engine.dialect.values(result)))
    };
    names.into_iter().filter(|name| rows(left, name) != rows(right, name)).cloned().collect()
}
