//! What a reduction came to: the finding of the smaller case, and how much smaller it is.

use super::super::model::{ReducedCase, SizeReport};
use super::finding;
use super::line::Line;
use super::page::Page;

/// The finding, and below it what was taken away.
pub(crate) fn write(page: &mut Page, case: &ReducedCase) {
    finding::write(page, &case.finding);
    page.heading("The reduction");
    let file = if case.file == "-" { "standard input" } else { &case.file };
    page.pairs(&[
        ("before", Line::plain(format!("{} ({file})", size(&case.before)))),
        ("after", Line::plain(size(&case.after))),
        ("tests", Line::plain(tests(case))),
    ]);
}

fn tests(case: &ReducedCase) -> String {
    let rest = if case.complete { "nothing more can be taken away" } else { "ended before everything was tried" };
    format!("{}; {rest}", case.tests)
}

fn size(size: &SizeReport) -> String {
    let count = |number: usize, one: &str, many: &str| format!("{number} {}", if number == 1 { one } else { many });
    let parts = [
        count(size.sessions, "session", "sessions"),
        count(size.items, "step", "steps"),
        count(size.setup, "setup statement", "setup statements"),
        count(size.rows, "row", "rows"),
        count(size.switches, "switch", "switches"),
        count(size.characters, "character", "characters"),
    ];
    parts.join(", ")
}
