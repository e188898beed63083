//! One case on all targets: every schedule on every target, once or twice, compared with its expectations and across
//! targets.

use txloom_core::case::Case;
use txloom_core::case::check::{check, shows_anomaly};
use txloom_core::case::record::record;
use txloom_core::engine::EngineErrorKind;
use txloom_core::history::History;
use txloom_core::history::from_trace::{NotTraceable, history_of};
use txloom_core::oracle::{Mode, RunError, RunRequest, Runner};
use txloom_core::schedule::{Policy, Schedule};
use txloom_core::trace::{Trace, compare};

use super::super::cases::LoadedCase;
use super::super::failure::Failure;
use super::super::settings::RunSettings;
use crate::exit::Exit;
use crate::report::build::{
    case_report, divergence_report, engine_version, mismatch_report, policy_name, trace_report,
};
use crate::report::compare::first_difference;
use crate::report::model::{CaseReport, Observed, RunResult, ScheduledRun, TargetDifference, TargetRun};

/// A case that has run on all targets.
pub(crate) struct Execution {
    /// What is reported of it.
    pub(crate) report: CaseReport,
    /// What it says of the outcome of the command.
    pub(crate) exit: Exit,
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
    let mut done = Execution { report, exit: Exit::Clean, recorded: None, history: None };
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
        let targets = runner.targets();
        let runs = attempts.iter().zip(&targets).map(|(attempt, engine)| {
            done.exit = done.exit.or(attempt_exit(attempt));
            TargetRun {
                target: engine.target.clone(),
                version: engine_version(engine),
                result: result(expected, attempt),
            }
        });
        let run = side_by_side(schedule.as_ref(), &settings.policy, runs.collect());
        done.exit = done.exit.or(run_exit(&run));
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

fn attempt_exit(attempt: &Attempt) -> Exit {
    attempt.trace.as_ref().map_or_else(error_exit, |_| Exit::Clean)
}

/// Who has to act on an error that concerns one case.
pub(super) fn error_exit(error: &RunError) -> Exit {
    match error {
        RunError::Engine(error) => match error.kind {
            EngineErrorKind::Unsupported(_) => Exit::BadInput,
            _ => Exit::Unreachable,
        },
        _ => Exit::BadInput,
    }
}

fn result(case: &Case, attempt: &Attempt) -> RunResult {
    let trace = match &attempt.trace {
        Ok(trace) => trace,
        Err(error) => return RunResult::Failed { failure: reason(error) },
    };
    RunResult::Observed(Box::new(Observed {
        trace: trace_report(case, trace),
        mismatches: check(case, trace).iter().map(mismatch_report).collect(),
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

fn run_exit(run: &ScheduledRun) -> Exit {
    let exit = |target: &TargetRun| match &target.result {
        RunResult::Observed(seen) if seen.divergence.is_some() => Exit::NonDeterministic,
        RunResult::Observed(seen) if !seen.is_as_expected() => Exit::Found,
        _ => Exit::Clean,
    };
    run.targets.iter().fold(Exit::Clean, |worst, target| worst.or(exit(target)))
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
