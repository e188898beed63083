//! Cases that were run: which file, on what, what happened, what differs from the expectations.

use txloom_core::anomaly;
use txloom_core::sql::one_line;

use super::super::model::trace::TraceReport;
use super::super::model::{
    CaseReport, Difference, MismatchPlace, MismatchReport, Observed, RunResult, ScheduledRun, TargetRun, Totals,
};
use super::line::{Line, Role};
use super::moments::and;
use super::page::Page;
use super::table::Table;
use super::trace::{write_assertions, write_final_state, write_interleaving};

/// A case with all its runs.
pub(crate) fn write_case(page: &mut Page, case: &CaseReport) {
    let title = if case.file == "-" { "standard input" } else { &case.file };
    page.paragraph(&Line::new(Role::Strong, title), 0, 2);
    if let Some(claim) = &case.claim {
        page.paragraph(&Line::plain(claim.as_str()), 0, 0);
    }
    for (at, run) in case.runs.iter().enumerate() {
        page.gap();
        let position = (case.runs.len() > 1).then(|| format!(" ({} of {})", at + 1, case.runs.len()));
        write_run(page, case, run, &position.unwrap_or_default());
    }
}

fn write_run(page: &mut Page, case: &CaseReport, run: &ScheduledRun, position: &str) {
    if run.targets.len() > 1 {
        write_targets(page, case, run);
        write_differences(page, run);
        page.gap();
    }
    for group in groups(run) {
        write_group(page, case, run, &group, position);
    }
    page.gap();
    run.targets.iter().for_each(|target| page.paragraph(&summary(case, target), 0, 2));
}

/// The summary table of several targets.
fn write_targets(page: &mut Page, case: &CaseReport, run: &ScheduledRun) {
    let mut table = Table::new(&["target", "version", "level", "result"]);
    for target in &run.targets {
        let level = observed(target).map(|seen| levels(&seen.trace)).unwrap_or_default();
        table.rows.push(vec![
            Line::plain(target.target.as_str()),
            Line::plain(target.version.as_str()),
            Line::plain(level),
            verdict(case, target),
        ]);
    }
    table.write(page, 2);
}

fn write_differences(page: &mut Page, run: &ScheduledRun) {
    let seen = run.targets.iter().filter_map(observed).count();
    if run.differences.is_empty() {
        if seen > 1 {
            page.gap();
            page.paragraph(&Line::plain("The same happened on all of them."), 0, 2);
        }
        return;
    }
    for found in &run.differences {
        page.heading(format!(
            "{} and {} differ first at {}",
            found.first_target, found.other_target, found.difference.at
        ));
        page.pairs(&[
            (&found.first_target, Line::plain(found.difference.first.as_str())),
            (&found.other_target, Line::plain(found.difference.other.as_str())),
        ]);
    }
}

/// The targets on which the same happened, by the first of them. Failed ones are no group.
fn groups(run: &ScheduledRun) -> Vec<Vec<&TargetRun>> {
    let mut groups: Vec<Vec<&TargetRun>> = Vec::new();
    for target in &run.targets {
        let Some(seen) = observed(target) else { continue };
        let like = |group: &&mut Vec<&TargetRun>| seen.same_as.as_ref().is_some_and(|name| group[0].target == *name);
        match groups.iter_mut().find(like) {
            Some(group) => group.push(target),
            None => groups.push(vec![target]),
        }
    }
    groups
}

/// One interleaving, for all targets on which it happened, and each target's expectations.
fn write_group(page: &mut Page, case: &CaseReport, run: &ScheduledRun, group: &[&TargetRun], position: &str) {
    let Some(first) = group.first().and_then(|target| observed(target)) else { return };
    let names: Vec<String> = group.iter().map(|target| full_name(target)).collect();
    let alone = run.targets.len() == 1;
    if !alone {
        page.heading(format!("On {}", and(&names)));
    }
    let mut pairs: Vec<(&str, Line)> = Vec::new();
    pairs.extend(alone.then(|| ("target", Line::plain(and(&names)))));
    pairs.extend(settings(case, run, group, &first.trace, position));
    page.pairs(&pairs);
    write_interleaving(page, &first.trace, &unmet_steps(group));
    write_final_state(page, &first.trace);
    write_assertions(page, &first.trace.checks);
    for target in group {
        let Some(seen) = observed(target) else { continue };
        let on = if alone { String::new() } else { format!(" on {}", target.target) };
        write_mismatches(page, seen, &on);
        if let Some(divergence) = &seen.divergence {
            write_divergence(page, divergence, &on);
        }
    }
}

/// The steps that are not as expected on some target of the group.
fn unmet_steps(group: &[&TargetRun]) -> Vec<usize> {
    let mismatches = group.iter().filter_map(|target| observed(target)).flat_map(|seen| &seen.mismatches);
    let step = |mismatch: &MismatchReport| match mismatch.at {
        MismatchPlace::Step(number) => Some(number),
        _ => None,
    };
    mismatches.filter_map(step).collect()
}

fn settings(
    case: &CaseReport,
    run: &ScheduledRun,
    group: &[&TargetRun],
    trace: &TraceReport,
    position: &str,
) -> Vec<(&'static str, Line)> {
    let asked = run.schedule.as_ref().unwrap_or(&trace.schedule);
    let mut pairs = vec![("level", Line::plain(group_levels(group)))];
    pairs.extend(case.anomaly.as_ref().map(|id| ("anomaly", Line::plain(anomaly_name(id)))));
    pairs.push(("schedule", Line::plain(asked.as_str()).with(Role::Faint, position)));
    if *asked != trace.schedule {
        pairs.push(("submitted", Line::plain(trace.schedule.as_str())));
    }
    pairs
}

/// `P4 (lost update)`.
fn anomaly_name(id: &str) -> String {
    let known = anomaly::ALL.iter().find(|anomaly| anomaly.id == id);
    known.map_or(id.to_string(), |anomaly| format!("{} ({})", anomaly.id, anomaly.name))
}

fn group_levels(group: &[&TargetRun]) -> String {
    let levels: Vec<(&str, String)> =
        group.iter().filter_map(|t| observed(t).map(|seen| (t.target.as_str(), levels(&seen.trace)))).collect();
    match levels.first() {
        Some((_, first)) if levels.iter().all(|(_, level)| level == first) => first.clone(),
        _ => levels.iter().map(|(target, level)| format!("{level} on {target}")).collect::<Vec<_>>().join("; "),
    }
}

/// `serializable`, or `a: serializable, b: read committed`.
fn levels(trace: &TraceReport) -> String {
    match trace.sessions.first() {
        None => String::new(),
        Some(first) if trace.sessions.iter().all(|session| session.level == first.level) => first.level.clone(),
        Some(_) => {
            let each = trace.sessions.iter().map(|session| format!("{}: {}", session.name, session.level));
            each.collect::<Vec<_>>().join(", ")
        }
    }
}

fn write_mismatches(page: &mut Page, seen: &Observed, on: &str) {
    if seen.mismatches.is_empty() {
        return;
    }
    page.heading(format!("Not as expected{on}"));
    let mut last = None;
    for mismatch in &seen.mismatches {
        if last.replace(&mismatch.at) != Some(&mismatch.at) {
            page.paragraph(&Line::new(Role::Bad, "✗ ").with(Role::Plain, mismatch_place(&seen.trace, mismatch)), 2, 2);
        }
        for (name, text) in [("expected", &mismatch.expected), ("found", &mismatch.found)] {
            let line = Line::new(Role::Faint, format!("{name:8}  ")).with(Role::Plain, text.as_str());
            page.paragraph(&line, 4, 10);
        }
    }
}

fn mismatch_place(trace: &TraceReport, mismatch: &MismatchReport) -> String {
    match &mismatch.at {
        MismatchPlace::Setup(number) => format!("step {number} of the setup"),
        MismatchPlace::Missing { session, item } => format!("item {item} of {session}"),
        MismatchPlace::Step(number) => match trace.step(*number) {
            Some(step) => format!("step {number}, {}: {}", step.session, one_line(&step.sql)),
            None => format!("step {number}"),
        },
        MismatchPlace::Final(table) => format!("final state of {table}"),
        MismatchPlace::Assert(name) => format!("assertion {name}"),
    }
}

fn write_divergence(page: &mut Page, divergence: &Difference, on: &str) {
    page.heading(format!("The second execution{on} differs first at {}", divergence.at));
    page.pairs(&[
        ("first", Line::plain(divergence.first.as_str())),
        ("second", Line::plain(divergence.other.as_str())),
    ]);
}

fn observed(target: &TargetRun) -> Option<&Observed> {
    match &target.result {
        RunResult::Observed(seen) => Some(seen),
        RunResult::Failed { .. } => None,
    }
}

/// `postgres 15.18`.
fn full_name(target: &TargetRun) -> String {
    format!("{} {}", target.target, target.version).trim_end().to_string()
}

/// `✓ postgres 15.18: as expected`.
fn summary(case: &CaseReport, target: &TargetRun) -> Line {
    let good = observed(target).is_some_and(|seen| seen.divergence.is_none() && seen.is_as_expected());
    let mut line = mark(good).with(Role::Plain, format!("{}: ", full_name(target)));
    line.extend(&verdict(case, target));
    line
}

fn mark(good: bool) -> Line {
    if good { Line::new(Role::Good, "✓ ") } else { Line::new(Role::Bad, "✗ ") }
}

/// How an execution ended, in a few words.
fn verdict(case: &CaseReport, target: &TargetRun) -> Line {
    let seen = match &target.result {
        RunResult::Observed(seen) => seen,
        RunResult::Failed { failure } => {
            let words = failure.split_whitespace().collect::<Vec<_>>().join(" ");
            return Line::new(Role::Bad, "failed").with(Role::Plain, format!(": {words}"));
        }
    };
    let anomaly = case.anomaly.as_ref().zip(seen.anomaly_happened).map(|(id, happened)| {
        let words = if happened { "happened" } else { "did not happen" };
        format!("{id} {words}")
    });
    let mut line = match seen.mismatches.len() {
        _ if seen.divergence.is_some() => Line::new(Role::Bad, "came out differently the second time"),
        _ if seen.trace.death.is_some() => Line::new(Role::Bad, "the server died"),
        0 if case.expectations == 0 => match anomaly {
            Some(words) => return Line::plain(words),
            None => Line::plain("ran; the case states no expectations"),
        },
        0 => Line::new(Role::Good, "as expected"),
        1 => Line::new(Role::Bad, "1 expectation is not met"),
        count => Line::new(Role::Bad, format!("{count} expectations are not met")),
    };
    if let Some(words) = anomaly {
        line.push(Role::Plain, format!("; {words}"));
    }
    line
}

/// One line for a case: its file, and what is wrong with it.
pub(crate) fn write_case_line(page: &mut Page, case: &CaseReport) {
    let mut wrong: Vec<Line> = Vec::new();
    for target in case.runs.iter().flat_map(|run| &run.targets) {
        let good = observed(target).is_some_and(|seen| seen.divergence.is_none() && seen.is_as_expected());
        if !good {
            let mut line = Line::plain(format!("{}: ", target.target));
            line.extend(&verdict(case, target));
            wrong.push(line);
        }
    }
    let mut line = mark(wrong.is_empty()).with(Role::Plain, case.file.as_str());
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
    let targets: Vec<&TargetRun> = case.runs.iter().flat_map(|run| &run.targets).collect();
    let seen = |target: &&TargetRun| observed(target).and_then(|seen| seen.anomaly_happened);
    let happened: Vec<String> = targets.iter().filter(|t| seen(t) == Some(true)).map(|t| t.target.clone()).collect();
    if targets.iter().all(|target| seen(target).is_none()) {
        return None;
    }
    Some(match happened.len() {
        0 => format!("{id} did not happen"),
        count if count == targets.len() => format!("{id} happened"),
        _ => format!("{id} happened on {}", and(&happened)),
    })
}

/// `12 cases on 2 targets: 23 as expected, 1 not`.
pub(crate) fn write_totals(page: &mut Page, totals: &Totals) {
    let plural = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let mut line = Line::plain(format!("{} on {}: ", plural(totals.cases, "case"), plural(totals.targets, "target")));
    let parts = [
        (totals.as_expected, Role::Good, "as expected"),
        (totals.unmet, Role::Bad, "not as expected"),
        (totals.diverged, Role::Bad, "different the second time"),
        (totals.failed, Role::Bad, "failed"),
    ];
    let mut first = true;
    for (count, role, words) in parts {
        // "0 as expected" is worth saying, "0 failed" is not.
        if count > 0 || words == "as expected" {
            line.push(Role::Plain, if first { "" } else { ", " });
            line.push(role, format!("{count} {words}"));
            first = false;
        }
    }
    page.paragraph(&line, 0, 2);
}
