//! Cases that were run: which file, on what, what happened, what differs from the expectations.

use txloom_core::anomaly;
use txloom_core::sql::one_line;

use super::super::model::trace::TraceReport;
use super::super::model::{CaseReport, Difference, MismatchPlace, MismatchReport, Observed, ScheduledRun, TargetRun};
use super::line::{Line, Role};
use super::moments::and;
use super::page::Page;
use super::table::Table;
use super::trace::{write_assertions, write_final_state, write_interleaving};
use super::verdict::{full_name, summary, verdict};

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
        let level = target.observed().map(|seen| levels(&seen.trace)).unwrap_or_default();
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
    let seen = run.targets.iter().filter_map(TargetRun::observed).count();
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
        let Some(seen) = target.observed() else { continue };
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
    let Some(first) = group.first().and_then(|target| target.observed()) else { return };
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
    write_assertions(page, &first.trace);
    for target in group {
        let Some(seen) = target.observed() else { continue };
        let on = if alone { String::new() } else { format!(" on {}", target.target) };
        write_mismatches(page, seen, &on);
        if let Some(divergence) = &seen.divergence {
            write_divergence(page, divergence, &on);
        }
    }
}

/// The steps that are not as expected on some target of the group.
fn unmet_steps(group: &[&TargetRun]) -> Vec<usize> {
    let mismatches = group.iter().filter_map(|target| target.observed()).flat_map(|seen| &seen.mismatches);
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
    if run.policy != "skip" {
        pairs.push(("policy", Line::plain(run.policy.as_str())));
    }
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
        group.iter().filter_map(|t| t.observed().map(|seen| (t.target.as_str(), levels(&seen.trace)))).collect();
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
    let place = match &mismatch.at {
        MismatchPlace::Setup(number) => format!("step {number} of the setup"),
        MismatchPlace::Missing { session, item } => format!("item {item} of {session}"),
        MismatchPlace::Step(number) => match trace.step(*number) {
            Some(step) => format!("step {} ({})", step.name, one_line(&step.sql)),
            None => format!("submission {number}"),
        },
        MismatchPlace::Final(table) => format!("final state of {table}"),
        MismatchPlace::Assert(name) => format!("assertion {name}"),
    };
    match mismatch.line {
        Some(line) => format!("line {line}, {place}"),
        None => place,
    }
}

fn write_divergence(page: &mut Page, divergence: &Difference, on: &str) {
    page.heading(format!("The second execution{on} differs first at {}", divergence.at));
    page.pairs(&[
        ("first", Line::plain(divergence.first.as_str())),
        ("second", Line::plain(divergence.other.as_str())),
    ]);
}
