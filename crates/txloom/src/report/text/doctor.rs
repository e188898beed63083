//! Which targets can be started here.

use super::super::model::DoctorReport;
use super::super::model::doctor::TargetState;
use super::line::{Line, Role};
use super::page::Page;
use super::table::Table;

/// The whole report.
pub(crate) fn write(page: &mut Page, report: &DoctorReport) {
    let mut table = Table::new(&["target", "state", "version", "where, or what to do"]);
    for target in &report.targets {
        let (state, place) = match target.state {
            TargetState::Ready => (Line::new(Role::Good, "ready"), target.place.clone()),
            TargetState::Missing => (Line::new(Role::Wait, "missing"), target.problem.clone()),
            TargetState::Failing => (Line::new(Role::Bad, "failing"), target.problem.clone()),
        };
        table.rows.push(vec![
            Line::new(Role::Strong, target.target.as_str()),
            state,
            Line::plain(target.version.as_deref().unwrap_or("")),
            Line::plain(place.unwrap_or_default()),
        ]);
    }
    table.write(page, 2);
    if !report.planted.is_empty() {
        page.heading("With a planted bug, to see whether it is found");
        let pairs: Vec<(&str, Line)> =
            report.planted.iter().map(|bug| (bug.target.as_str(), Line::plain(bug.what.as_str()))).collect();
        page.pairs(&pairs);
    }
    if !report.running.is_empty() {
        page.heading("A server that is already running");
        report.running.iter().for_each(|form| page.paragraph(&Line::plain(form.as_str()), 2, 2));
    }
}
