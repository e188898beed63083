//! Does an anomaly show when its test is run?

use txloom_core::case::Case;
use txloom_core::engine::{Capabilities, EngineErrorKind};
use txloom_core::finding::Finding;
use txloom_core::level::LevelName;
use txloom_core::oracle::calls::Calls;
use txloom_core::oracle::{Mode, Oracle, RunError, RunRequest, Runner, Verdict};
use txloom_core::program::interpret::CallEnd;
use txloom_core::schedule::Policy;
use txloom_core::search::find::Test;
use txloom_core::search::placement::{Cluster, Unplaceable};
use txloom_core::trace::{Trace, TraceEvent};

use super::super::Project;
use super::case::case;
use crate::execute::EngineRunner;

/// What became of a test.
#[derive(Debug)]
pub enum Shown {
    /// The run left what no order of the calls leaves.
    Manifest(Box<Finding>),
    /// It did not.
    Not {
        /// What happened instead: who waited, who was refused, or which order explains the run.
        instead: String,
        /// The case.
        case: Box<Case>,
    },
    /// It cannot be told.
    Undecided(String),
}

/// Why a test cannot be run.
pub type TrialError = RunError;

/// Runs tests of one program on one target.
pub struct Trials<'a> {
    project: &'a Project,
    runner: &'a mut EngineRunner,
    level: Option<LevelName>,
    /// Whether the rows are those of the project's files.
    given: bool,
    /// The target's nodes, if it has several.
    cluster: Option<Cluster>,
}

/// The nodes of an engine, if it has several.
pub(super) fn cluster(capabilities: &Capabilities) -> Option<Cluster> {
    let Capabilities { nodes, is_ring, .. } = *capabilities;
    (nodes > 0).then_some(Cluster { nodes, is_ring })
}

impl<'a> Trials<'a> {
    /// Prepares to run tests on the runner's first target.
    pub fn new(
        project: &'a Project,
        runner: &'a mut EngineRunner,
        level: Option<LevelName>,
        given: bool,
    ) -> Trials<'a> {
        let cluster = cluster(&runner.engines_mut()[0].info().capabilities);
        Trials { project, runner, level, given, cluster }
    }

    /// The case of a test, if it can be placed on the target.
    pub fn case(&mut self, test: &Test) -> Result<Case, Unplaceable> {
        let info = self.runner.engines_mut()[0].info();
        case(self.project, test, self.level.as_ref(), info.dialect, self.cluster, self.given)
    }

    /// Runs a test; what shows is run again before it is told.
    pub fn run(&mut self, test: &Test) -> Result<Shown, TrialError> {
        let case = match self.case(test) {
            Ok(case) => case,
            Err(why) => return Ok(Shown::Undecided(why.to_string())),
        };
        let oracle = Calls::default();
        let verdict = match oracle.judge(&case, self.runner) {
            Err(RunError::Setup { step, sql, error, .. }) if step > self.project.definitions.len() => {
                return Ok(Shown::Undecided(format!("its rows cannot be inserted: {}: {error}", shortened(&sql))));
            }
            // Servers that depend on each other fail in more ways; the next test begins with a new ring.
            Err(RunError::Engine(error))
                if self.cluster.is_some_and(|cluster| cluster.is_ring)
                    && !matches!(error.kind, EngineErrorKind::Interrupted) =>
            {
                return Ok(Shown::Undecided(error.to_string()));
            }
            verdict => verdict?,
        };
        let found = match verdict {
            Verdict::Violated(findings) => findings.into_iter().next(),
            Verdict::Holds(witness) | Verdict::Vacuous(witness) => {
                let instead = format!("{}; it comes to the same as {witness}", self.instead(&case)?);
                return Ok(Shown::Not { instead, case: Box::new(case) });
            }
            Verdict::Unknown(reason) | Verdict::Unstable(reason) => return Ok(Shown::Undecided(reason)),
        };
        let again = match oracle.judge(&case, self.runner)? {
            Verdict::Violated(findings) => findings.into_iter().next(),
            _ => None,
        };
        Ok(match (found, again) {
            (Some(finding), Some(again)) if finding.fingerprint == again.fingerprint => {
                Shown::Manifest(Box::new(finding))
            }
            _ => Shown::Undecided("it showed once, and not the second time".to_string()),
        })
    }

    /// What the engine did instead.
    fn instead(&mut self, case: &Case) -> Result<String, TrialError> {
        let schedule = case.schedules().first().map(|schedule| (*schedule).clone());
        let mode = Mode::Scheduled(schedule);
        let trace = self.runner.run(&RunRequest { case, target: 0, policy: Policy::default(), mode })?;
        Ok(told(&trace))
    }
}

/// Who waited and who failed.
fn told(trace: &Trace) -> String {
    let mut parts = Vec::new();
    for event in &trace.events {
        if let TraceEvent::Waiting { step, .. } = event {
            let waiter = trace.step(*step);
            parts.push(format!("{} waited at `{}`", trace.name(waiter.session), shortened(&waiter.sql)));
        }
    }
    for run in &trace.calls {
        if let CallEnd::Failed(failure) = &run.call.end {
            parts.push(format!("{} failed: {failure}", trace.name(run.session)));
        }
    }
    if parts.is_empty() { "nobody waited and nobody failed".to_string() } else { parts.join(", ") }
}

fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= 60 { line } else { line.chars().take(57).collect::<String>() + "…" }
}
