//! Does an anomaly still show after a change?

use std::sync::Arc;

use txloom_core::case::{Case, Line, SessionName};
use txloom_core::level::LevelName;
use txloom_core::oracle::calls::Calls;
use txloom_core::oracle::{Mode, Oracle, RunError, RunRequest, Runner, Verdict};
use txloom_core::program::interpret::CallEnd;
use txloom_core::schedule::{Policy, ScheduleEntry};
use txloom_core::search::find::Test;
use txloom_core::search::fix::Change;
use txloom_core::search::level::Target;
use txloom_core::search::placement::{Cluster, Unplaceable};
use txloom_core::search::script;

use super::super::super::Project;
use super::super::case::case;
use super::super::run::cluster;
use super::Edited;
use crate::execute::EngineRunner;

/// What became of tests after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Again {
    /// They show nothing any more, with the reason for the first of them.
    Gone(String),
    /// One of them shows still.
    Shows,
    /// A call fails by itself that did not before.
    Broken,
}

/// Runs tests of a program on a changed one.
pub struct Runs<'a> {
    project: &'a Project,
    runner: &'a mut EngineRunner,
    level: Option<LevelName>,
    given: bool,
    cluster: Option<Cluster>,
}

impl<'a> Runs<'a> {
    /// Prepares to run tests on the runner's first target; see [`Trials`](super::super::Trials).
    pub fn new(project: &'a Project, runner: &'a mut EngineRunner, level: Option<LevelName>, given: bool) -> Runs<'a> {
        let cluster = cluster(&runner.engines_mut()[0].info().capabilities);
        Runs { project, runner, level, given, cluster }
    }

    /// Runs tests on a changed program: the same calls and rows, and messages in the same order.
    pub(super) fn again(&mut self, tests: &[&Test], edited: &Edited, change: &Change) -> Result<Again, RunError> {
        if matches!(change.level, Some(Target::Store(_))) {
            return Ok(Again::Gone("not run: the target cannot be told to be stronger".to_string()));
        }
        let oracle = Calls::default();
        let mut says = None;
        for test in tests {
            let placed = self.case(test, edited, change).and_then(|case| Ok((case, self.original(test)?)));
            let (case, original) = match placed {
                Ok(placed) => placed,
                Err(why) => {
                    says = says.or(Some(format!("not run again: {why}")));
                    continue;
                }
            };
            if self.serial(&case)? != self.serial(&original)? {
                return Ok(Again::Broken);
            }
            let verdict = match oracle.judge(&case, self.runner) {
                Err(RunError::Setup { .. }) => return Ok(Again::Broken),
                verdict => verdict?,
            };
            says = says.or(match verdict {
                Verdict::Violated(_) => return Ok(Again::Shows),
                Verdict::Holds(witness) | Verdict::Vacuous(witness) => {
                    Some(format!("run again, it comes to the same as {witness}"))
                }
                Verdict::Unknown(reason) | Verdict::Unstable(reason) => {
                    Some(format!("run again, it is undecided: {reason}"))
                }
            });
        }
        Ok(Again::Gone(says.unwrap_or_default()))
    }

    fn original(&mut self, test: &Test) -> Result<Case, Unplaceable> {
        let dialect = self.runner.engines_mut()[0].info().dialect;
        case(self.project, test, self.level.as_ref(), dialect, self.cluster, self.given)
    }

    /// The case of a test, for the changed program. The schedule is the original's, with one message more for each call
    /// that sends one.
    fn case(&mut self, test: &Test, edited: &Edited, change: &Change) -> Result<Case, Unplaceable> {
        let dialect = self.runner.engines_mut()[0].info().dialect;
        let level = match change.level {
            Some(Target::Engine(rules)) => Some(LevelName::custom(rules.level)),
            _ => self.level.clone(),
        };
        let remade = self.project.is_remade.then(|| edited.project.remade(dialect));
        let edited = remade.as_ref().unwrap_or(&edited.project);
        let setup = Project { definitions: edited.definitions.clone(), ..self.project.clone() };
        let mut case = case(&setup, test, level.as_ref(), dialect, self.cluster, self.given)?;
        case.program = Some(Arc::clone(&edited.program));
        let names = script::names(test.procedures.len());
        let sends_more = |(_, procedure): &(_, &u16)| change.begins_with_more.contains(procedure);
        let sessions = names.iter().zip(&test.procedures).filter(sends_more);
        sessions.for_each(|(name, _)| send_one_more(&mut case, name));
        Ok(case)
    }

    /// Which calls fail, one after the other, in both directions.
    fn serial(&mut self, case: &Case) -> Result<Vec<bool>, RunError> {
        let mut failed = Vec::new();
        let mut backwards = script::names(case.sessions().len());
        backwards.reverse();
        for order in [Vec::new(), backwards] {
            let request = RunRequest { case, target: 0, policy: Policy::default(), mode: Mode::Serial(order) };
            let trace = match self.runner.run(&request) {
                Err(RunError::Setup { .. }) => return Ok(Vec::new()),
                trace => trace?,
            };
            let mut calls: Vec<_> = trace.calls.iter().collect();
            calls.sort_by_key(|run| run.session);
            failed.extend(calls.iter().map(|run| matches!(run.call.end, CallEnd::Failed(_))));
        }
        Ok(failed)
    }
}

/// One more message of a session, where it sends its first one.
fn send_one_more(case: &mut Case, name: &SessionName) {
    for entry in &mut case.entries {
        if let Line::Schedule(schedule) = &mut entry.line
            && let Some(at) = schedule.0.iter().position(|one| one.session() == Some(name))
        {
            schedule.0.insert(at, ScheduleEntry::Step(name.clone()));
        }
    }
}
