//! How executions ended, in a few words: the last line of a case, the one line of `--quiet`, the totals.

use super::super::model::{CaseReport, Observed, RunResult, TargetRun, Totals};
use super::line::{Line, Role};
use super::moments::and;
use super::page::Page;

/// `postgres 15.18`.
pub(crate) fn full_name(target: &TargetRun) -> String {
    format!("{} {}", target.target, target.version).trim_end().to_string()
}

/// `✓ postgres 15.18: as expected`.
pub(crate) fn summary(case: &CaseReport, target: &TargetRun) -> Line {
    let mut line = mark(target.is_good()).with(Role::Plain, format!("{}: ", full_name(target)));
    line.extend(&verdict(case, target));
    line
}

fn mark(good: bool) -> Line {
    if good { Line::new(Role::Good, "✓ ") } else { Line::new(Role::Bad, "✗ ") }
}

/// `as expected; P4 did not happen`.
pub(crate) fn verdict(case: &CaseReport, target: &TargetRun) -> Line {
    let happened = target.observed().and_then(|seen| seen.anomaly_happened);
    let anomaly = case.anomaly.as_ref().zip(happened).map(|(id, happened)| {
        let words = if happened { "happened" } else { "did not happen" };
        format!("{id} {words}")
    });
    match anomaly {
        // A case that only provokes expects nothing: whether it succeeded is all there is to say.
        Some(words) if target.is_good() && case.expectations == 0 => Line::plain(words),
        Some(words) => ending(case, target).with(Role::Plain, format!("; {words}")),
        None => ending(case, target),
    }
}

/// `2 expectations are not met`.
fn ending(case: &CaseReport, target: &TargetRun) -> Line {
    match &target.result {
        RunResult::Observed(seen) => observed_ending(case, seen),
        RunResult::Failed { failure } => {
            let words = failure.split_whitespace().collect::<Vec<_>>().join(" ");
            Line::new(Role::Bad, "failed").with(Role::Plain, format!(": {words}"))
        }
    }
}

fn observed_ending(case: &CaseReport, seen: &Observed) -> Line {
    match seen.mismatches.len() {
        _ if seen.divergence.is_some() => Line::new(Role::Bad, "came out differently the second time"),
        _ if seen.trace.death.is_some() => Line::new(Role::Bad, "the server died"),
        0 if case.expectations == 0 => Line::plain("ran; the case states no expectations"),
        0 => Line::new(Role::Good, "as expected"),
        1 => Line::new(Role::Bad, "1 expectation is not met"),
        count => Line::new(Role::Bad, format!("{count} expectations are not met")),
    }
}

/// One line for a case: its file, what it provoked, and what is wrong with it.
pub(crate) fn write_case_line(page: &mut Page, case: &CaseReport) {
    let targets = || case.runs.iter().flat_map(|run| &run.targets);
    let wrong = targets().filter(|target| !target.is_good()).map(|target| {
        let mut line = Line::plain(format!("{}: ", target.target));
        line.extend(&ending(case, target));
        line
    });
    let mut line = mark(targets().all(TargetRun::is_good)).with(Role::Plain, case.file.as_str());
    let remarks = anomaly_words(case).into_iter().map(Line::plain).chain(wrong);
    for (at, remark) in remarks.enumerate() {
        line.push(Role::Plain, if at == 0 { ": " } else { "; " });
        line.extend(&remark);
    }
    page.paragraph(&line, 0, 4);
}

/// `P4 happened on model`, for a case that provokes an anomaly.
fn anomaly_words(case: &CaseReport) -> Option<String> {
    let id = case.anomaly.as_ref()?;
    let seen = |target: &TargetRun| target.observed().and_then(|seen| seen.anomaly_happened);
    let told: Vec<(&TargetRun, bool)> =
        case.runs.iter().flat_map(|run| &run.targets).filter_map(|target| Some((target, seen(target)?))).collect();
    let on: Vec<String> = told.iter().filter(|(_, happened)| *happened).map(|(run, _)| run.target.clone()).collect();
    match (on.len(), told.len()) {
        (_, 0) => None,
        (0, _) => Some(format!("{id} did not happen")),
        (some, all) if some == all => Some(format!("{id} happened")),
        _ => Some(format!("{id} happened on {}", and(&on))),
    }
}

/// `12 cases on 2 targets: 23 as expected, 1 not as expected`.
pub(crate) fn write_totals(page: &mut Page, totals: &Totals) {
    let plural = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let mut line = Line::plain(format!("{} on {}", plural(totals.cases, "case"), plural(totals.targets, "target")));
    let parts = [
        (totals.as_expected, Role::Good, "as expected"),
        (totals.unmet, Role::Bad, "not as expected"),
        (totals.diverged, Role::Bad, "different the second time"),
        (totals.failed, Role::Bad, "failed"),
    ];
    // "0 as expected" is worth saying, "0 failed" is not.
    let told = parts.into_iter().filter(|(count, role, _)| *count > 0 || *role == Role::Good);
    for (at, (count, role, words)) in told.enumerate() {
        line.push(Role::Plain, if at == 0 { ": " } else { ", " });
        line.push(role, format!("{count} {words}"));
    }
    page.paragraph(&line, 0, 2);
}
