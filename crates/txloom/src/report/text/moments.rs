//! From events to moments: what is said where, before anybody knows how wide the columns are.
//!
//! Consecutive events of one step are one moment: its text, its answer, that it starts to wait. When something else
//! happened in between, the step gets another moment, with its name repeated.

use std::collections::BTreeMap;

use txloom_core::sql::one_line;

use super::super::model::trace::{CancelCause, EventReport, StepReport, TraceReport};
use super::answer::answer;
use super::line::{Line, Role};

/// What is said at one point in time, in one session's column or (without a session) across all.
pub(crate) struct Moment {
    /// The position of the step in the order of submission.
    pub(crate) step: Option<usize>,
    /// The name of the step; empty if there is none.
    pub(crate) name: String,
    /// The position of the session among the trace's sessions.
    pub(crate) session: Option<usize>,
    /// Whether the step is not as expected.
    pub(crate) marked: bool,
    /// What is said.
    pub(crate) said: Vec<Said>,
}

/// A line of a moment with its place in the column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    /// The text.
    pub(crate) line: Line,
    /// How far it is indented.
    pub(crate) indent: usize,
    /// How much further its continuation lines are indented.
    pub(crate) hanging: usize,
}

impl Said {
    /// The text of a step: at the edge of the column.
    fn text(line: Line) -> Said {
        Said { line, indent: 0, hanging: 4 }
    }

    /// What comes below the text of a step.
    fn below(line: Line) -> Said {
        Said { line, indent: 2, hanging: 2 }
    }

    /// How wide it is when it is not wrapped.
    pub(crate) fn width(&self) -> usize {
        self.indent + self.line.width()
    }
}

/// The moments of a trace, in order; the steps with the given numbers are marked.
pub(crate) fn moments(trace: &TraceReport, marked: &[usize]) -> Vec<Moment> {
    let mut teller = Teller::new(trace, marked);
    trace.events.iter().for_each(|event| teller.tell(event));
    teller.moments
}

/// Makes moments of events, one after the other.
pub(crate) struct Teller<'a> {
    /// The trace that the events are taken from.
    pub(crate) trace: &'a TraceReport,
    /// Whose events these are, where that has to be said: stands before what is told.
    pub(crate) label: Option<String>,
    /// What is told of the answers to some steps instead of what the trace says.
    pub(crate) answers: BTreeMap<usize, Vec<Said>>,
    marked: &'a [usize],
    /// The steps that have been told to wait.
    waiting: Vec<usize>,
    /// The steps that have been told to be cancelled.
    cancelled: Vec<usize>,
    /// What has been told.
    pub(crate) moments: Vec<Moment>,
}

impl<'a> Teller<'a> {
    /// Nothing has been told; the steps with the given numbers will be marked.
    pub(crate) fn new(trace: &'a TraceReport, marked: &'a [usize]) -> Teller<'a> {
        Teller {
            trace,
            label: None,
            answers: BTreeMap::new(),
            marked,
            waiting: Vec::new(),
            cancelled: Vec::new(),
            moments: Vec::new(),
        }
    }

    /// From now on, tells of the events of another trace, whose sessions are the same.
    pub(crate) fn turn_to(&mut self, trace: &'a TraceReport, label: &str) {
        self.trace = trace;
        self.label = Some(label.to_string());
        self.answers.clear();
        // Of this trace nothing has been told, and what waits in another does not wait again here.
        self.waiting.clear();
    }

    /// Tells of one event.
    pub(crate) fn tell(&mut self, event: &EventReport) {
        match event {
            EventReport::Submitted { step } => self.submitted(*step),
            EventReport::Waiting { step, holders, .. } => self.waiting(*step, holders),
            // A step that was cancelled goes on, too, but only to its end.
            EventReport::Resumed { step } if self.cancelled.contains(step) => {}
            EventReport::Resumed { step } => self.say(*step, [Line::new(Role::Wait, "… goes on")]),
            EventReport::Cancelled { step, cause } => {
                self.cancelled.push(*step);
                self.say(*step, [cancelled(*cause)]);
            }
            EventReport::Completed { step } => match self.answers.get(step).cloned() {
                Some(said) => self.add(*step, said),
                None => {
                    let lines = self.trace.step(*step).map(answer).unwrap_or_default();
                    self.say(*step, lines);
                }
            },
            EventReport::Happened { what } => self.everywhere(Line::new(Role::Strong, format!("@{what}"))),
            EventReport::Infeasible { constraint } => {
                self.everywhere(Line::new(Role::Wait, format!("{constraint}: this order could not be kept")));
            }
        }
    }

    fn submitted(&mut self, number: usize) {
        let Some(step) = self.trace.step(number) else { return };
        let call = step.call.as_ref().map(|call| Said::text(Line::new(Role::Faint, format!("call {call}"))));
        let text = Said::text(Line::plain(one_line(&step.sql)));
        let said = call.into_iter().chain([text]).collect();
        self.begin(step, said);
    }

    fn waiting(&mut self, number: usize, holders: &[String]) {
        let words = |again: bool| match (again, holders.is_empty()) {
            (false, true) => "… waits".to_string(),
            (false, false) => format!("… waits for {}", and(holders)),
            (true, true) => "… still waits".to_string(),
            (true, false) => format!("… now waits for {}", and(holders)),
        };
        let again = self.waiting.contains(&number);
        self.waiting.push(number);
        self.say(number, [Line::new(Role::Wait, words(again))]);
    }

    /// Adds lines to the moment of a step; begins a new one if something else happened since.
    fn say(&mut self, number: usize, lines: impl IntoIterator<Item = Line>) {
        let lines: Vec<Line> = lines.into_iter().collect();
        let said = match &self.label {
            Some(label) => labelled(label, lines),
            None => lines.into_iter().map(Said::below).collect(),
        };
        self.add(number, said);
    }

    fn add(&mut self, number: usize, said: Vec<Said>) {
        if said.is_empty() {
            return;
        }
        let Some(step) = self.trace.step(number) else { return };
        if self.moments.last().is_none_or(|last| last.step != Some(number)) {
            self.begin(step, Vec::new());
        }
        if let Some(last) = self.moments.last_mut() {
            last.said.extend(said);
        }
    }

    fn begin(&mut self, step: &StepReport, said: Vec<Said>) {
        let session = self.trace.sessions.iter().position(|session| session.name == step.session);
        let marked = self.marked.contains(&step.step);
        self.moments.push(Moment { step: Some(step.step), name: step.name.clone(), session, marked, said });
    }

    fn everywhere(&mut self, line: Line) {
        let said = vec![Said::text(line)];
        self.moments.push(Moment { step: None, name: String::new(), session: None, marked: false, said });
    }
}

/// What somebody says, with their name before it; whoever says nothing is content.
pub(crate) fn labelled(label: &str, lines: Vec<Line>) -> Vec<Said> {
    let name = Line::new(Role::Strong, label);
    match lines.as_slice() {
        [] => vec![Said::below(name.with(Role::Answer, " → ok"))],
        [only] => {
            let mut line = name.with(Role::Plain, " ");
            line.extend(only);
            vec![Said::below(line)]
        }
        _ => {
            let further = |line| Said { indent: 4, ..Said::below(line) };
            [Said::below(name)].into_iter().chain(lines.into_iter().map(further)).collect()
        }
    }
}

fn cancelled(cause: CancelCause) -> Line {
    let why = match cause {
        CancelCause::StillBlocked => "nobody was left to let it go on",
        CancelCause::TimeLimit => "it ran longer than the time limit",
    };
    Line::new(Role::Bad, "… cancelled").with(Role::Plain, format!(": {why}"))
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn and(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}
