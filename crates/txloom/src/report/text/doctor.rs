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
    let losses = report.unconfined.iter().map(|loss| ("private servers", Line::plain(loss.as_str())));
    write_pairs(page, "Not prevented on this machine", &losses.collect::<Vec<_>>());
    let planted = report.planted.iter().map(|bug| (bug.target.as_str(), Line::plain(bug.what.as_str())));
    write_pairs(page, "With a planted bug, to see it found", &planted.collect::<Vec<_>>());
    let running = report.running.iter().map(|form| (form.target.as_str(), Line::plain(form.what.as_str())));
    write_pairs(page, "Servers that are already running", &running.collect::<Vec<_>>());
    let advice = report.logs.iter().flat_map(|log| {
        let names = std::iter::once(log.server.as_str()).chain(std::iter::repeat(""));
        names.zip(log.settings.iter().map(|setting| Line::plain(setting.as_str())))
    });
    let heading = "To have an application's transactions read from its server's log (txloom analyze server.log)";
    write_pairs(page, heading, &advice.collect::<Vec<_>>());
}

fn write_pairs(page: &mut Page, heading: &str, pairs: &[(&str, Line)]) {
    if !pairs.is_empty() {
        page.heading(heading);
        page.pairs(pairs);
    }
}
