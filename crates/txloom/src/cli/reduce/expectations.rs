//! An oracle for cases that say themselves what should happen: an expectation is not met.
//!
//! What a case expects was written for the case as it is. Take a row away, and `rows (1)` is not met by any database; a
//! reducer that looks no further would soon arrive at an empty case. So an unmet expectation counts only together with
//! a *reference*, which shows that the case may still expect it:
//!
//! ```text
//!   on this target                     rows (1), but expected is rows (empty)
//!   on another target                  rows (empty): the reference
//!   or here, a before b, b before a    rows (empty): the reference
//! ```
//!
//! # Limits
//!
//! What no serial order shows (`blocked`, or an error that defends the isolation level) needs another target.

use txloom_core::case::check::{Mismatch, MismatchAt, MismatchCause, check};
use txloom_core::case::{Case, Line, SessionName};
use txloom_core::engine::EngineInfo;
use txloom_core::finding::{Explanation, Finding, Fingerprint, Violation, shape};
use txloom_core::oracle::{Mode, Oracle, RunError, RunRequest, Runner, Verdict};
use txloom_core::schedule::{Policy, Schedule};
use txloom_core::sql::one_line;
use txloom_core::trace::Trace;

/// The oracle's name.
pub(super) const NAME: &str = "expectations";

/// How many sessions are put in order: 4! = 24 runs.
const SESSIONS_MAX: usize = 4;

/// Judges a case by what it expects.
pub(super) struct Expectations;

impl Oracle for Expectations {
    fn name(&self) -> &'static str {
        NAME
    }

    fn judge(&self, case: &Case, runner: &mut dyn Runner) -> Result<Verdict, RunError> {
        if !expects_something(case) {
            return Ok(Verdict::Unknown("the case states none".to_string()));
        }
        let schedules: Vec<Option<Schedule>> = match case.schedules().as_slice() {
            [] => vec![None],
            some => some.iter().map(|schedule| Some((*schedule).clone())).collect(),
        };
        let mut unfounded = None;
        for schedule in schedules {
            let mut traces = Vec::new();
            for target in 0..runner.targets().len() {
                let mode = Mode::Scheduled(schedule.clone());
                traces.push(runner.run(&RunRequest { case, target, policy: Policy::Skip, mode })?);
            }
            for (target, trace) in traces.iter().enumerate() {
                for mismatch in check(case, trace).iter().filter(is_expectation) {
                    let unmet = Unmet { case, trace, target, mismatch };
                    match unmet.reference(&traces, runner)? {
                        Some(reference) => return Ok(Verdict::Violated(vec![unmet.finding(&reference, schedule)])),
                        None => unfounded = unfounded.or(Some(unmet.unfounded())),
                    }
                }
            }
        }
        Ok(unfounded.map_or(Verdict::Holds("all are met".to_string()), Verdict::Unknown))
    }
}

fn expects_something(case: &Case) -> bool {
    case.entries.iter().any(|entry| match &entry.line {
        Line::Init(_, expectations) | Line::Step(_, _, expectations) => !expectations.is_empty(),
        Line::Final(_) => true,
        _ => false,
    })
}

/// An expectation that is not met in a run.
struct Unmet<'a> {
    case: &'a Case,
    trace: &'a Trace,
    target: usize,
    mismatch: &'a Mismatch,
}

/// What an expectation is about, whatever the order of a run.
#[derive(PartialEq, Eq)]
enum Place {
    Setup(usize),
    Item(SessionName, usize),
    Table(String),
    Assert(String),
}

/// Assertions have an oracle of their own; a statement with a typo is mended, not made smaller.
fn is_expectation(mismatch: &&Mismatch) -> bool {
    mismatch.cause == MismatchCause::Unmet && !matches!(mismatch.at, MismatchAt::Assert(_))
}

fn place(trace: &Trace, mismatch: &Mismatch) -> Place {
    match &mismatch.at {
        MismatchAt::Setup(index) => Place::Setup(*index),
        MismatchAt::Step(id) => {
            let step = trace.step(*id);
            Place::Item(trace.name(step.session).clone(), step.item)
        }
        MismatchAt::Missing(session, item) => Place::Item(session.clone(), *item),
        MismatchAt::Final(table) => Place::Table(table.clone()),
        MismatchAt::Assert(name) => Place::Assert(name.clone()),
    }
}

impl Unmet<'_> {
    /// Where the expectation is met, in words: on another target, or in a serial order.
    fn reference(&self, traces: &[Trace], runner: &mut dyn Runner) -> Result<Option<String>, RunError> {
        let others = traces.iter().enumerate().filter(|(target, _)| *target != self.target);
        if let Some((_, other)) = others.into_iter().find(|(_, other)| self.is_met_in(other)) {
            return Ok(Some(format!("on {}", other.engine.target)));
        }
        for order in orders(self.case) {
            let (target, policy, mode) = (self.target, Policy::Skip, Mode::Serial(repeated(self.case, &order)));
            let serial = runner.run(&RunRequest { case: self.case, target, policy, mode })?;
            if self.is_met_in(&serial) {
                let names: Vec<&str> = order.iter().map(SessionName::as_str).collect();
                return Ok(Some(format!("when the sessions run one after the other ({})", names.join(", then "))));
            }
        }
        Ok(None)
    }

    fn is_met_in(&self, other: &Trace) -> bool {
        // Guards ask where the expectation was not met, values are read as the other engine writes them.
        let (here, there) = (&self.trace.engine, other.engine.clone());
        let engine = EngineInfo { family: here.family, version: here.version.clone(), ..there };
        let guarded = Trace { engine, ..other.clone() };
        let wanted = place(self.trace, self.mismatch);
        let same = |one: &Mismatch| place(&guarded, one) == wanted && one.expected == self.mismatch.expected;
        !check(self.case, &guarded).iter().any(same)
    }

    fn finding(&self, reference: &str, schedule: Option<Schedule>) -> Finding {
        let Mismatch { expected, found, .. } = self.mismatch;
        let (what, sql) = self.subject();
        let violation = Violation {
            sentence: format!("{what} is not as the case expects: {expected} {reference}, but here it is {found}"),
            explanation: Explanation {
                lets: Vec::new(),
                thens: vec![format!("{what} should be {expected}, and so it is {reference}")],
                however: vec![format!("here it is {found}")],
            },
            fingerprint: Fingerprint::new(&self.kind(), &[shape(sql.as_deref())]),
        };
        let mut case = self.case.clone();
        schedule.into_iter().for_each(|schedule| case.set_schedule(schedule));
        Finding::new(NAME, violation, case, self.trace.clone())
    }

    /// What must stay the same: what kind of thing was expected, and what kind of thing was found.
    fn kind(&self) -> String {
        let first = |text: &str| text.split([' ', ':']).next().unwrap_or_default().to_string();
        match &self.mismatch.at {
            MismatchAt::Final(_) => format!("{NAME}-final"),
            _ => {
                let found = match self.mismatch.found.strip_prefix("error ") {
                    Some(class) => format!("error-{}", first(class)),
                    None => first(&self.mismatch.found),
                };
                format!("{NAME}-{}-{found}", first(&self.mismatch.expected))
            }
        }
    }

    /// What the expectation is about, and its statement.
    fn subject(&self) -> (String, Option<String>) {
        match &self.mismatch.at {
            MismatchAt::Setup(index) => (format!("statement {} of the setup", index + 1), None),
            MismatchAt::Step(id) => {
                let sql = one_line(&self.trace.step(*id).sql);
                (format!("step {} ({sql})", self.trace.step_name(*id)), Some(sql))
            }
            MismatchAt::Missing(session, item) => (format!("item {} of {session}", item + 1), None),
            MismatchAt::Final(table) => (format!("the table {table} at the end"), None),
            MismatchAt::Assert(name) => (format!("the assertion {name}"), None),
        }
    }

    fn unfounded(&self) -> String {
        let Mismatch { expected, found, .. } = self.mismatch;
        let (what, _) = self.subject();
        format!(
            "{what} should be {expected} and is {found}; but no serial order shows what is expected either: name another \
             target on which it is"
        )
    }
}

/// The orders of the sessions.
fn orders(case: &Case) -> Vec<Vec<SessionName>> {
    let mut orders: Vec<Vec<SessionName>> = vec![Vec::new()];
    let sessions = case.sessions();
    if sessions.len() > SESSIONS_MAX {
        return Vec::new();
    }
    for session in sessions {
        let with = |order: &Vec<SessionName>, at: usize| {
            let mut order = order.clone();
            order.insert(at, session.name.clone());
            order
        };
        orders = orders.iter().flat_map(|order| (0..=order.len()).rev().map(move |at| with(order, at))).collect();
    }
    orders
}

/// The order of transactions in which each session comes to its end before the next: an entry is one transaction, and a
/// session has no more of them than items.
fn repeated(case: &Case, order: &[SessionName]) -> Vec<SessionName> {
    let sessions = case.sessions();
    let count = |name: &SessionName| sessions.iter().find(|session| session.name == *name).map_or(0, |s| s.items.len());
    order.iter().flat_map(|name| std::iter::repeat_n(name.clone(), count(name))).collect()
}
