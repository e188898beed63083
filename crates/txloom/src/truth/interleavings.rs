//! Every interleaving of some calls, executed on a real server.
//!
//! A database cannot be put back to a point in the middle of a run, so each interleaving is a run of its own. The first
//! run follows the order of the sessions; wherever in a run another session could have gone on, there is another
//! interleaving, whose schedule begins like that run:
//!
//! ```text
//!   a a a b b b          ──→ b …, a b …, a a b …
//!   a b | b waits | a a b ──→ a a …: no choice while b waits
//! ```
//!
//! No interleaving is run twice. A message that touches no data (`BEGIN`) is not worth a choice: with whatever it
//! changes places, the result is the same.
//!
//! # Judgement
//!
//! A run is explained by a serial order of calls if each call that succeeded gave back the same, and the tables hold the
//! same rows. Every call that succeeded is in the order. One that failed may be left out, as a call that was not made;
//! or it is in the order and fails there, too, which explains a call that failed and left a part of its work.

use std::collections::{BTreeMap, BTreeSet};

use txloom_core::case::{Case, Line, SessionName};
use txloom_core::oracle::{Mode, RunError, RunRequest, Runner};
use txloom_core::program::interpret::CallEnd;
use txloom_core::schedule::{Policy, Schedule};
use txloom_core::sql::StatementKind;
use txloom_core::trace::{StepId, Trace, TraceEvent};
use txloom_core::value::Value;

/// What every interleaving together came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tried {
    /// An interleaving that no serial order explains.
    Broken {
        /// Its schedule.
        schedule: Schedule,
        /// The number of interleavings up to it.
        runs: usize,
    },
    /// All of them are explained.
    Safe {
        /// Their number.
        runs: usize,
    },
    /// Not all of them could be run or judged.
    Unknown(String),
}

/// The interleavings of the calls of a case, one call in each session.
pub struct Interleavings<'a> {
    runner: &'a mut dyn Runner,
    case: &'a Case,
    sessions: Vec<SessionName>,
    /// The maximum number of runs.
    runs_max: usize,
    /// What serial orders of calls come to, by the sessions in their order.
    serial: BTreeMap<Vec<SessionName>, CallsOutcome>,
}

/// What calls came to.
#[derive(Debug, Clone, PartialEq)]
struct CallsOutcome {
    /// What each call gave back; `None` if it failed.
    answers: BTreeMap<SessionName, Option<Vec<Value>>>,
    /// The rows of each table, sorted.
    tables: BTreeMap<String, Vec<Vec<Value>>>,
}

impl<'a> Interleavings<'a> {
    /// The interleavings on the runner's first target; there are at most `runs_max`, or the answer is *unknown*.
    pub fn new(runner: &'a mut dyn Runner, case: &'a Case, runs_max: usize) -> Interleavings<'a> {
        let sessions = case.sessions().into_iter().map(|session| session.name).collect();
        Interleavings { runner, case, sessions, runs_max, serial: BTreeMap::new() }
    }

    /// Runs all of them, until one is not explained.
    pub fn run(&mut self) -> Result<Tried, RunError> {
        let mut open: Vec<Vec<SessionName>> = vec![Vec::new()];
        let mut runs = 0;
        while let Some(prefix) = open.pop() {
            if runs == self.runs_max {
                return Ok(Tried::Unknown(format!("there are more than {runs} interleavings")));
            }
            runs += 1;
            let schedule: Schedule = prefix.iter().cloned().collect();
            let trace = self.execute(self.case, Some(schedule))?;
            if let Some(death) = &trace.death {
                return Ok(Tried::Unknown(format!("the server died: {}", death.how)));
            }
            let outcome = outcome(&trace);
            if !self.is_explained(&outcome)? {
                return Ok(Tried::Broken { schedule: trace.schedule(), runs });
            }
            open.extend(others(&trace, prefix.len()));
        }
        Ok(Tried::Safe { runs })
    }

    fn execute(&mut self, case: &Case, schedule: Option<Schedule>) -> Result<Trace, RunError> {
        self.runner.run(&RunRequest { case, target: 0, policy: Policy::Skip, mode: Mode::Scheduled(schedule) })
    }

    /// Whether some serial order comes to the same.
    fn is_explained(&mut self, run: &CallsOutcome) -> Result<bool, RunError> {
        for order in orders(&self.sessions) {
            let succeeded = |session: &SessionName| run.answers.get(session).is_some_and(Option::is_some);
            if self.sessions.iter().any(|session| succeeded(session) && !order.contains(session)) {
                continue;
            }
            let serial = self.serial(&order)?;
            let same_answer = |session: &SessionName| run.answers.get(session) == serial.answers.get(session);
            if order.iter().all(same_answer) && run.tables == serial.tables {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What these calls come to, one after the other.
    fn serial(&mut self, order: &[SessionName]) -> Result<CallsOutcome, RunError> {
        if let Some(known) = self.serial.get(order) {
            return Ok(known.clone());
        }
        let mut case = self.case.clone();
        let (steps, others): (Vec<_>, Vec<_>) =
            case.entries.into_iter().partition(|entry| matches!(entry.line, Line::Step(..)));
        case.entries = others;
        for session in order {
            let is_it = |line: &Line| matches!(line, Line::Step(name, ..) if name == session);
            case.entries.extend(steps.iter().filter(|entry| is_it(&entry.line)).cloned());
        }
        let trace = self.execute(&case, None)?;
        let outcome = outcome(&trace);
        self.serial.insert(order.to_vec(), outcome.clone());
        Ok(outcome)
    }
}

/// Every order of every subset.
fn orders(sessions: &[SessionName]) -> Vec<Vec<SessionName>> {
    let mut all = vec![Vec::new()];
    let mut at = 0;
    while at < all.len() {
        let order: Vec<SessionName> = all[at].clone();
        let longer = sessions.iter().filter(|session| !order.contains(session));
        all.extend(longer.map(|session| order.iter().chain([session]).cloned().collect()));
        at += 1;
    }
    all
}

/// The beginnings of the interleavings that part from a run after its first `known` steps.
fn others(trace: &Trace, known: usize) -> Vec<Vec<SessionName>> {
    let mut beginnings = Vec::new();
    let mut in_flight: BTreeSet<usize> = BTreeSet::new();
    let mut submitted: Vec<SessionName> = Vec::new();
    for event in &trace.events {
        match event {
            TraceEvent::Submitted(StepId(at)) => {
                let step = &trace.steps[*at];
                if submitted.len() >= known && !is_local(&step.sql) {
                    let later: BTreeSet<usize> = trace.steps[*at..].iter().map(|step| step.session.0).collect();
                    let ready = later.into_iter().filter(|session| *session != step.session.0);
                    for session in ready.filter(|session| !in_flight.contains(session)) {
                        let name = trace.sessions[session].name.clone();
                        beginnings.push(submitted.iter().cloned().chain([name]).collect());
                    }
                }
                in_flight.insert(step.session.0);
                submitted.push(trace.name(step.session).clone());
            }
            TraceEvent::Completed(StepId(at)) => {
                in_flight.remove(&trace.steps[*at].session.0);
            }
            _ => {}
        }
    }
    beginnings
}

/// Whether a message touches neither data nor locks.
fn is_local(sql: &str) -> bool {
    StatementKind::of(sql) == StatementKind::Begin && !sql.to_uppercase().contains("SNAPSHOT")
}

fn outcome(trace: &Trace) -> CallsOutcome {
    let answer = |end: &CallEnd, outputs: &[Value]| (*end == CallEnd::Returned).then(|| outputs.to_vec());
    let answers =
        trace.calls.iter().map(|run| (trace.name(run.session).clone(), answer(&run.call.end, &run.call.outputs)));
    let dialect = trace.engine.dialect;
    let rows = |result| {
        let mut rows: Vec<Vec<Value>> = dialect.values(result);
        rows.sort();
        rows
    };
    let tables = trace.final_state.iter().flat_map(|state| &state.tables);
    CallsOutcome {
        answers: answers.collect(),
        tables: tables.map(|(name, result)| (name.clone(), rows(result))).collect(),
    }
}
