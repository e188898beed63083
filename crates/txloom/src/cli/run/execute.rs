//! One case on all targets: every schedule on every target, once or twice, compared with its expectations and across
//! targets.

use txloom_core::case::Case;
use txloom_core::case::check::{examine, shows_anomaly};
use txloom_core::case::record::record;
use txloom_core::conclusion::{Gap, GapCause};
use txloom_core::engine::EngineErrorKind;
use txloom_core::history::History;
use txloom_core::history::from_trace::{NotTraceable, history_of};
use txloom_core::oracle::{Mode, RunError, RunRequest, Runner};
use txloom_core::schedule::{Policy, Schedule};
use txloom_core::trace::{Trace, compare};

use super::super::cases::LoadedCase;
use super::super::failure::Failure;
use super::super::settings::RunSettings;
use crate::report::build::{
    case_report, divergence_report, engine_version, mismatch_report, policy_name, trace_report,
};
use crate::report::compare::first_difference;
use crate::report::model::{CaseReport, Observed, RunResult, ScheduledRun, TargetDifference, TargetRun};

/// A case that has run on all targets.
pub(crate) struct Execution {
    /// What is reported of it.
    pub(crate) report: CaseReport,
    /// The executions that did not take place, or came out differently the second time.
    pub(crate) gaps: Vec<Gap>,
    /// The case with what happened as its expectations; only if that was asked for, and nothing failed.
    pub(crate) recorded: Option<Case>,
    /// What happened as a history; only if that was asked for, and it happened. Of several runs it is the last one.
    pub(crate) history: Option<Result<History, NotTraceable>>,
}

/// One execution on one target.
struct Attempt {
    trace: Result<Trace, RunError>,
    /// Where the second execution differs from the first.
    divergence: Option<compare::Difference>,
}

/// Runs one case on all targets of the runner. `Err` means that there is no point in going on with other cases.
pub(crate) fn execute(
    settings: &RunSettings,
    loaded: &LoadedCase,
    runner: &mut dyn Runner,
) -> Result<Execution, Failure> {
    let mut case = loaded.case.clone();
    if let Some(level) = &settings.level {
        case.set_level(level.clone());
    }
    let explicit: Vec<Schedule> = case.schedules().into_iter().cloned().collect();
    let schedules = if explicit.is_empty() { vec![None] } else { explicit.into_iter().map(Some).collect() };
    let report = case_report(&loaded.file, &case);
    let mut done = Execution { report, gaps: Vec::new(), recorded: None, history: None };
    for schedule in schedules {
        let attempts = (0..runner.targets().len())
            .map(|target| attempt(settings, &case, target, schedule.as_ref(), runner))
            .collect::<Result<Vec<Attempt>, Failure>>()?;
        if settings.record {
            done.recorded = record_all(&loaded.case, &attempts);
        }
        if settings.save_history.is_some() {
            let trace = attempts.last().and_then(|attempt| attempt.trace.as_ref().ok());
            done.history = trace.map(|trace| history_of(&case, trace));
        }
        let expected = done.recorded.as_ref().unwrap_or(&case);
        // A rewritten file has other lines.
        let lines = if done.recorded.is_some() { Vec::new() } else { loaded.lines.clone() };
        let targets = runner.targets();
        let runs = attempts.iter().zip(&targets).map(|(attempt, engine)| {
            let place = format!("{} on {}", loaded.file, engine.target);
            done.gaps.extend(gap(attempt).map(|gap| gap.at(&place)));
            let result = result(expected, &lines, attempt);
            if let RunResult::Observed(seen) = &result {
                done.gaps.extend(seen.open.iter().map(|what| Gap::new(GapCause::NotJudged, what).at(&place)));
            }
            TargetRun { target: engine.target.clone(), version: engine_version(engine), result }
        });
        let run = side_by_side(schedule.as_ref(), &settings.policy, runs.collect());
        done.report.runs.push(run);
    }
    Ok(done)
}

fn attempt(
    settings: &RunSettings,
    case: &Case,
    target: usize,
    schedule: Option<&Schedule>,
    runner: &mut dyn Runner,
) -> Result<Attempt, Failure> {
    let mode = Mode::Scheduled(schedule.cloned());
    let request = RunRequest { case, target, policy: settings.policy.clone(), mode };
    let first = match fatal(runner.run(&request))? {
        Ok(trace) => trace,
        Err(error) => return Ok(Attempt { trace: Err(error), divergence: None }),
    };
    if !settings.twice {
        return Ok(Attempt { trace: Ok(first), divergence: None });
    }
    Ok(match fatal(runner.run(&request))? {
        Ok(second) => Attempt { divergence: compare::first_difference(&first, &second), trace: Ok(first) },
        Err(error) => Attempt { trace: Err(error), divergence: None },
    })
}

/// Errors that concern this case only are kept; those that concern every case end the command.
pub(super) fn fatal<T>(result: Result<T, RunError>) -> Result<Result<T, RunError>, Failure> {
    match result {
        Err(RunError::Engine(error))
            if matches!(error.kind, EngineErrorKind::Interrupted | EngineErrorKind::Unreachable(_)) =>
        {
            Err(error.into())
        }
        other => Ok(other),
    }
}

/// What happened, as expectations; `None` if it did not happen everywhere, or not the same way twice.
fn record_all(case: &Case, attempts: &[Attempt]) -> Option<Case> {
    let is_steady = |attempt: &Attempt| attempt.divergence.is_none();
    let traces: Vec<&Trace> = attempts.iter().map(|attempt| attempt.trace.as_ref().ok()).collect::<Option<_>>()?;
    attempts.iter().all(is_steady).then(|| record(case, &traces))
}

/// The gap that an execution leaves which failed or is not deterministic.
fn gap(attempt: &Attempt) -> Option<Gap> {
    match &attempt.trace {
        Err(error) => Some(Gap::new(error_cause(error), reason(error).lines().next().unwrap_or_default())),
        Ok(_) if attempt.divergence.is_some() => {
            Some(Gap::new(GapCause::Unstable, "came out differently the second time"))
        }
        Ok(_) => None,
    }
}

/// The cause of a gap that an error leaves which concerns one case.
pub(super) fn error_cause(error: &RunError) -> GapCause {
    match error {
        RunError::Engine(error) if !error.kind.is_users() => GapCause::Unreachable,
        _ => GapCause::BadInput,
    }
}

fn result(case: &Case, lines: &[usize], attempt: &Attempt) -> RunResult {
    let trace = match &attempt.trace {
        Ok(trace) => trace,
        Err(error) => return RunResult::Failed { failure: reason(error) },
    };
    let checked = examine(case, trace);
    RunResult::Observed(Box::new(Observed {
        trace: trace_report(case, trace),
        checked: checked.stated,
        mismatches: checked.mismatches.iter().map(|mismatch| mismatch_report(mismatch, lines)).collect(),
        open: checked.open,
        anomaly_happened: shows_anomaly(case, trace),
        same_as: None,
        divergence: attempt.divergence.as_ref().map(|difference| divergence_report(trace, difference)),
    }))
}

/// Why it failed, without the name of the target: whoever reads this knows where.
fn reason(error: &RunError) -> String {
    match error {
        RunError::Engine(error) => error.kind.to_string(),
        RunError::Setup { step, sql, error, .. } => format!("the setup failed at step {step}: {sql}\n  {error}"),
        other => other.to_string(),
    }
}

/// Finds out on which targets the same happened, and how the others differ from the first.
fn side_by_side(schedule: Option<&Schedule>, policy: &Policy, mut targets: Vec<TargetRun>) -> ScheduledRun {
    let mut differences = Vec::new();
    for at in 1..targets.len() {
        let (before, rest) = targets.split_at_mut(at);
        let TargetRun { target: name, result: RunResult::Observed(seen), .. } = &mut rest[0] else { continue };
        let mut first_observed = true;
        for other in before.iter() {
            let RunResult::Observed(other_seen) = &other.result else { continue };
            if other_seen.same_as.is_some() {
                continue;
            }
            let Some(difference) = first_difference(&other_seen.trace, &seen.trace) else {
                seen.same_as = Some(other.target.clone());
                break;
            };
            if std::mem::take(&mut first_observed) {
                let (first_target, other_target) = (other.target.clone(), name.clone());
                differences.push(TargetDifference { first_target, other_target, difference });
            }
        }
    }
    ScheduledRun { schedule: schedule.map(Schedule::to_string), policy: policy_name(policy), targets, differences }
}
