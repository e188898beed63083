//! How executions ended, in a few words: the last line of a case, the one line of `--quiet`, the totals.

use super::super::model::{CaseReport, CaseStanding, Observed, RunResult, TargetRun, Totals};
use super::line::{Line, Role};
use super::moments::and;
use super::page::Page;

/// `postgres 15.18`.
pub(crate) fn full_name(target: &TargetRun) -> String {
    format!("{} {}", target.target, target.version).trim_end().to_string()
}

/// `✓ postgres 15.18: as expected`.
pub(crate) fn summary(case: &CaseReport, target: &TargetRun) -> Line {
    let mut line = mark(target.standing()).with(Role::Plain, format!("{}: ", full_name(target)));
    line.extend(&verdict(case, target));
    line
}

/// A tick only where something was compared.
fn mark(standing: CaseStanding) -> Line {
    match standing {
        CaseStanding::AsExpected => Line::new(Role::Good, "✓ "),
        CaseStanding::Provoked(_) => Line::plain("· "),
        CaseStanding::NothingChecked => Line::new(Role::Wait, "– "),
        CaseStanding::Open => Line::new(Role::Wait, "? "),
        CaseStanding::Unmet | CaseStanding::Diverged | CaseStanding::Failed => Line::new(Role::Bad, "✗ "),
    }
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
        Some(words) if matches!(target.standing(), CaseStanding::Provoked(_)) => Line::plain(words),
        Some(words) => ending(target).with(Role::Plain, format!("; {words}")),
        None => ending(target),
    }
}

/// `2 expectations are not met`.
fn ending(target: &TargetRun) -> Line {
    match &target.result {
        RunResult::Observed(seen) => observed_ending(seen),
        RunResult::Failed { failure } => {
            let words = failure.split_whitespace().collect::<Vec<_>>().join(" ");
            Line::new(Role::Bad, "failed").with(Role::Plain, format!(": {words}"))
        }
    }
}

fn observed_ending(seen: &Observed) -> Line {
    let misunderstood = seen.mismatches.iter().filter_map(|mismatch| mismatch.misunderstood.as_ref());
    match (misunderstood.count(), seen.mismatches.len()) {
        _ if seen.divergence.is_some() => Line::new(Role::Bad, "came out differently the second time"),
        _ if seen.trace.death.is_some() => Line::new(Role::Bad, "the server died"),
        (0, 0) if !seen.open.is_empty() => Line::plain(format!("undecided: {}", seen.open.join("; "))),
        (0, 0) if seen.checked == 0 => Line::plain("ran, nothing was checked"),
        (0, 0) => Line::new(Role::Good, "as expected"),
        (0, unmet) => unmet_words(unmet),
        (count, all) if count == all => misunderstood_words(count),
        (count, all) => {
            let mut line = unmet_words(all - count).with(Role::Plain, "; ");
            line.extend(&misunderstood_words(count));
            line
        }
    }
}

fn unmet_words(count: usize) -> Line {
    match count {
        1 => Line::new(Role::Bad, "1 expectation is not met"),
        count => Line::new(Role::Bad, format!("{count} expectations are not met")),
    }
}

fn misunderstood_words(count: usize) -> Line {
    match count {
        1 => Line::new(Role::Bad, "1 statement was not understood"),
        count => Line::new(Role::Bad, format!("{count} statements were not understood")),
    }
}

/// The mark of a case on all its targets: the worst of theirs.
fn worst(targets: &[&TargetRun]) -> CaseStanding {
    let rank = |standing: &CaseStanding| match standing {
        CaseStanding::AsExpected => 0,
        CaseStanding::Provoked(_) => 1,
        CaseStanding::NothingChecked => 2,
        CaseStanding::Open => 3,
        CaseStanding::Unmet | CaseStanding::Diverged | CaseStanding::Failed => 4,
    };
    targets.iter().map(|target| target.standing()).max_by_key(rank).unwrap_or(CaseStanding::NothingChecked)
}

/// One line for a case: its file, what it provoked, and what is wrong with it.
pub(crate) fn write_case_line(page: &mut Page, case: &CaseReport) {
    let targets: Vec<&TargetRun> = case.runs.iter().flat_map(|run| &run.targets).collect();
    let is_quiet =
        |target: &&&TargetRun| matches!(target.standing(), CaseStanding::AsExpected | CaseStanding::Provoked(_));
    let wrong = targets.iter().filter(|target| !is_quiet(target)).map(|target| {
        let mut line = Line::plain(format!("{}: ", target.target));
        line.extend(&ending(target));
        line
    });
    let mut line = mark(worst(&targets)).with(Role::Plain, case.file.as_str());
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
    page.paragraph(&Line::plain(totals.to_string()), 0, 2);
}
