//! One execution: the interleaving, and what is left at the end of it.

use super::super::model::trace::{CheckReport, DeathReport, TraceReport};
use super::answer::{error_line, tuple};
use super::line::{Line, Role};
use super::moments::{Moment, and, moments};
use super::page::Page;
use super::{columns, table, transcript};

/// The interleaving, in columns if they are wide enough. The steps with the given numbers are marked.
pub(crate) fn write_interleaving(page: &mut Page, trace: &TraceReport, marked: &[usize]) {
    write_moments(page, trace, &moments(trace, marked));
    write_left_open(page, trace);
    if let Some(death) = &trace.death {
        write_death(page, death);
    }
}

/// What happened in the sessions of a trace, in columns if there is room for them.
pub(crate) fn write_moments(page: &mut Page, trace: &TraceReport, moments: &[Moment]) {
    page.gap();
    let lines = columns::lay_out(trace, moments, page.width())
        .unwrap_or_else(|| transcript::lay_out(trace, moments, page.width()));
    lines.into_iter().for_each(|line| page.line(line));
}

/// Whose transactions were never ended.
pub(crate) fn write_left_open(page: &mut Page, trace: &TraceReport) {
    let open: Vec<String> = trace.sessions.iter().filter(|s| s.left_open).map(|s| s.name.clone()).collect();
    let words = match open.len() {
        0 => return,
        1 => format!("{} left its transaction open; it has been rolled back", open[0]),
        _ => format!("{} left their transactions open; they have been rolled back", and(&open)),
    };
    page.gap();
    page.paragraph(&Line::new(Role::Wait, words), 0, 2);
}

/// How the server died.
pub(crate) fn write_death(page: &mut Page, death: &DeathReport) {
    page.gap();
    page.paragraph(&Line::new(Role::Bad, format!("The server died ({})", death.how)), 0, 2);
    death.log.iter().for_each(|line| page.paragraph(&Line::new(Role::Faint, line.as_str()), 2, 2));
}

/// The committed contents of all tables.
pub(crate) fn write_final_state(page: &mut Page, trace: &TraceReport) {
    for contents in trace.final_state.iter().flatten() {
        page.heading(format!("Final state of {}", contents.table));
        table::write_contents(page, contents);
    }
}

/// One line per assertion that always held, and one per evaluation that did not hold.
pub(crate) fn write_assertions(page: &mut Page, trace: &TraceReport) {
    let checks = &trace.checks;
    if checks.is_empty() {
        return;
    }
    page.heading("Assertions");
    let mut names: Vec<&str> = Vec::new();
    for check in checks {
        if !names.contains(&check.name.as_str()) {
            names.push(&check.name);
        }
    }
    for name in names {
        let of_name: Vec<&CheckReport> = checks.iter().filter(|check| check.name == name).collect();
        let failed: Vec<&CheckReport> = of_name.iter().copied().filter(|check| !check.holds).collect();
        if failed.is_empty() {
            let times = if of_name.len() == 1 { String::new() } else { format!(" all {} times", of_name.len()) };
            page.paragraph(&Line::new(Role::Good, "✓ ").with(Role::Plain, format!("{name} holds{times}")), 2, 2);
        }
        failed.into_iter().for_each(|check| write_failed(page, trace, check));
    }
}

fn write_failed(page: &mut Page, trace: &TraceReport, check: &CheckReport) {
    let after = check.after.and_then(|number| trace.step(number));
    let moment = match (check.when.as_str(), after) {
        ("end", _) => "at the end".to_string(),
        (_, Some(step)) => format!("after step {}", step.name),
        (_, None) => "after the setup".to_string(),
    };
    let words = format!("{} does not hold {moment}", check.name);
    page.paragraph(&Line::new(Role::Bad, "✗ ").with(Role::Plain, words), 2, 2);
    match &check.error {
        Some(error) => page.paragraph(&error_line(error), 4, 2),
        None => {
            let rows: Vec<String> = check.rows.iter().map(|row| tuple(row)).collect();
            page.paragraph(&Line::new(Role::Answer, format!("→ {}", rows.join(" "))), 4, 2);
        }
    }
}
