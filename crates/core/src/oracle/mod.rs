//! Oracles: they judge a case by running it.
//!
//! An oracle knows no database. It is given a case and a [`Runner`], may have the case executed as often and in as many
//! ways as it likes, and answers with a [`Verdict`].
//!
//! * [`diff`]: several targets answer alike
//! * [`serial`]: results and state equal those of some serial order
//! * [`calls`]: what an application's calls did together, they could have done one after the other
//! * [`invariant`]: the case's assertions hold
//! * [`crash`]: the server and the connections survive
//! * [`graph`]: the same statements, sorted by their dependencies, answer the same without transactions
//!
//! [`NAMES`] and [`by_name`] are the registry: one oracle is one module and one line of each.

mod observe;
pub mod diff;
pub mod serial;
pub mod calls;
pub mod invariant;
pub mod crash;
pub mod graph;
#[cfg(test)]
pub(crate) mod toy;

use crate::case::Case;
use crate::engine::{EngineError, EngineInfo};
use crate::finding::Finding;
use crate::schedule::{Policy, Schedule, StepRef};
use crate::trace::{CancelReason, Trace};
use crate::{case::SessionName, program::interpret::ProgramError};

/// Judges cases.
pub trait Oracle {
    /// The name that the command line and reports use.
    fn name(&self) -> &'static str;

    /// Runs the case as needed and says whether it shows a violation. `Err` means that it could not be observed.
    fn judge(&self, case: &Case, runner: &mut dyn Runner) -> Result<Verdict, RunError>;

    /// True if a run that the oracle passes was compared as a whole, so that the case counts as decided. An oracle that
    /// looks at one aspect only (assertions, whether the server lives) leaves a case undecided.
    fn is_thorough(&self) -> bool {
        true
    }

    /// Finds out more about a finding of its own, by running variants of its case: what is worth knowing before somebody
    /// reads it, and too dear to find out before. An oracle that has nothing to add gives the finding back.
    fn explain(&self, finding: Finding, _runner: &mut dyn Runner) -> Result<Finding, RunError> {
        Ok(finding)
    }
}

/// The names of the oracles.
pub const NAMES: &[&str] = &[diff::NAME, serial::NAME, calls::NAME, graph::NAME, invariant::NAME, crash::NAME];

/// The oracle of that name, as somebody asks for it who wants to know, whatever the level promises.
pub fn by_name(name: &str) -> Option<Box<dyn Oracle>> {
    with_policy(name, &Policy::default())
}

/// As [`by_name`], for runs under another policy than the default one.
pub fn with_policy(name: &str, policy: &Policy) -> Option<Box<dyn Oracle>> {
    let policy = policy.clone();
    match name {
        diff::NAME => Some(Box::new(diff::Diff { policy, ..diff::Diff::default() })),
        serial::NAME => Some(Box::new(serial::Serial { policy, ..serial::Serial::default() })),
        calls::NAME => Some(Box::new(calls::Calls { policy })),
        invariant::NAME => Some(Box::new(invariant::Invariant { policy })),
        crash::NAME => Some(Box::new(crash::Crash { policy })),
        graph::NAME => Some(Box::new(graph::GraphOracle { policy, ..graph::GraphOracle::default() })),
        _ => None,
    }
}

/// So many serial orders are tried in a hunt: all orders of five transactions. One case with seven of them would take the
/// time of thousands of others.
const HUNT_ORDERS_MAX: usize = 120;

/// The oracle of that name, as a hunt uses it: silent where the level gives it nothing to hold the engine to.
pub fn in_hunt(name: &str) -> Option<Box<dyn Oracle>> {
    match name {
        serial::NAME => Some(Box::new(serial::Serial {
            only_where_promised: true,
            orders_max: HUNT_ORDERS_MAX,
            ..serial::Serial::default()
        })),
        graph::NAME => Some(Box::new(graph::GraphOracle { insists: false, ..graph::GraphOracle::default() })),
        _ => by_name(name),
    }
}

/// The oracles of a hunt on these targets: several are compared with each other; one has only itself to be held to.
pub fn usual(targets: &[EngineInfo]) -> Vec<Box<dyn Oracle>> {
    let names: &[&str] =
        if targets.len() > 1 { &[diff::NAME] } else { &[serial::NAME, graph::NAME, invariant::NAME, crash::NAME] };
    names.iter().filter_map(|name| in_hunt(name)).collect()
}

/// What an oracle says.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// Nothing is wrong, and this is why: e.g. the serial order that explains the run.
    Holds(String),
    /// There is nothing to judge, and this is why: e.g. nothing was committed.
    Vacuous(String),
    /// Something is wrong.
    Violated(Vec<Finding>),
    /// The oracle cannot tell, and this is why.
    Unknown(String),
    /// The same run had different outcomes, as described: nothing can be concluded from it.
    Unstable(String),
}

/// Executes cases on one or more targets.
pub trait Runner {
    /// The targets; [`RunRequest::target`] is a position here.
    fn targets(&self) -> Vec<EngineInfo>;

    /// Executes a case once.
    fn run(&mut self, request: &RunRequest<'_>) -> Result<Trace, RunError>;

    /// Executes several requests; those for different targets may run at the same time.
    fn run_all(&mut self, requests: &[RunRequest<'_>]) -> Vec<Result<Trace, RunError>> {
        requests.iter().map(|request| self.run(request)).collect()
    }
}

/// One execution that is asked for.
#[derive(Debug, Clone)]
pub struct RunRequest<'a> {
    /// What to run.
    pub case: &'a Case,
    /// On which of the runner's targets.
    pub target: usize,
    /// What to do when a session waits.
    pub policy: Policy,
    /// In which way.
    pub mode: Mode,
}

/// In which way a case is executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    /// Interleaved: by this schedule, or in line order.
    Scheduled(Option<Schedule>),
    /// One transaction at a time; each entry means "the next transaction of that session" (by the status that the
    /// server reports, not by what the text says). What is left when the order is over runs in session order.
    Serial(Vec<SessionName>),
    /// Statement by statement, without transactions: statements that control transactions are left out, and every
    /// other step is submitted in this order. Only for cases without calls.
    Autocommit(Vec<StepRef>),
}

/// Why a run could not be carried out or observed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The engine failed us.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A statement of the setup failed: the case is not for this engine.
    #[error("{target}: the setup failed at step {step}: {sql}\n  {error}")]
    Setup {
        /// The target.
        target: String,
        /// Which message of the setup, from 1.
        step: usize,
        /// Its text.
        sql: String,
        /// What the engine said.
        error: String,
    },
    /// A call does not fit the program.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The case asks for something that cannot be done, e.g. a schedule that names a session without steps.
    #[error("{0}")]
    Case(String),
}

/// The schedules of a case, each a run of its own; without any, the line order.
fn schedules(case: &Case) -> Vec<Option<&Schedule>> {
    match case.schedules() {
        schedules if schedules.is_empty() => vec![None],
        schedules => schedules.into_iter().map(Some).collect(),
    }
}

/// The case with only this one of its schedules: what a finding shows.
fn scheduled(case: &Case, schedule: Option<&Schedule>) -> Case {
    let mut case = case.clone();
    schedule.into_iter().for_each(|schedule| case.set_schedule(schedule.clone()));
    case
}

/// The verdict on several runs: one violation suffices to violate, and one undecided run to leave the case undecided.
fn together(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
    let (mut findings, mut undecided, mut witnesses) = (Vec::new(), None::<Verdict>, Vec::new());
    let mut vacuous = None;
    for verdict in verdicts {
        match verdict {
            Verdict::Holds(witness) => witnesses.push(witness),
            Verdict::Vacuous(_) => vacuous = vacuous.or(Some(verdict)),
            Verdict::Violated(found) => findings.extend(found),
            Verdict::Unknown(_) | Verdict::Unstable(_) => undecided = undecided.or(Some(verdict)),
        }
    }
    witnesses.dedup();
    match undecided {
        _ if !findings.is_empty() => Verdict::Violated(findings),
        Some(open) => open,
        None if witnesses.is_empty() && vacuous.is_some() => vacuous.expect("it has just been looked at"),
        None => Verdict::Holds(witnesses.join("; ")),
    }
}

/// Why nothing can be concluded from a run, if nothing can: a statement ended because *we* lost patience, or was never
/// answered although the server lives. (A dead server is an observation.)
fn unobserved(trace: &Trace) -> Option<String> {
    let timed_out = trace.steps.iter().find(|step| step.cancelled == Some(CancelReason::TimeLimit));
    if let Some(step) = timed_out {
        return Some(format!("a statement of {} exceeded its time limit", trace.name(step.session)));
    }
    if trace.death.is_some() {
        return None;
    }
    if trace.steps.iter().any(|step| step.outcome.is_none()) {
        return Some("a statement was not answered".to_string());
    }
    trace.final_state.is_none().then(|| "the final state is not known".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_an_oracle() {
        for name in NAMES {
            assert_eq!(by_name(name).map(|oracle| oracle.name()), Some(*name));
            assert_eq!(in_hunt(name).map(|oracle| oracle.name()), Some(*name));
        }
        assert!(by_name("delphi").is_none());
    }

    #[test]
    fn several_targets_are_compared_and_one_is_judged_by_itself() {
        let engine = crate::trace::sample::engine();
        let names = |targets: &[EngineInfo]| usual(targets).iter().map(|oracle| oracle.name()).collect::<Vec<_>>();
        assert_eq!(names(std::slice::from_ref(&engine)), ["serial", "graph", "invariant", "crash"]);
        assert_eq!(names(&[engine.clone(), engine]), ["diff"]);
    }
}
