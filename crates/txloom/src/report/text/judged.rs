//! What an oracle says of a case.

use super::super::model::{JudgedCase, VerdictReport};
use super::finding;
use super::line::{Line, Role};
use super::page::Page;

/// The findings in full; everything else is said in a line.
pub(crate) fn write(page: &mut Page, oracle: &str, case: &JudgedCase) {
    match &case.verdict {
        VerdictReport::Violated { findings } => {
            for (at, found) in findings.iter().enumerate() {
                if at > 0 {
                    page.gap();
                }
                finding::write(page, found);
            }
        }
        _ => write_line(page, oracle, case),
    }
}

/// `✓ lost-update.sql: diff holds: …`
pub(crate) fn write_line(page: &mut Page, oracle: &str, case: &JudgedCase) {
    let file = if case.file == "-" { "standard input" } else { &case.file };
    let line = |role: Role, mark: &str, words: String| {
        Line::new(role, format!("{mark} ")).with(Role::Plain, format!("{file}: {words}"))
    };
    match &case.verdict {
        VerdictReport::Holds { witness } => {
            page.paragraph(&line(Role::Good, "✓", format!("{oracle} holds: {witness}")), 0, 2);
        }
        VerdictReport::Violated { findings } => {
            findings.iter().for_each(|found| page.paragraph(&line(Role::Bad, "✗", found.sentence.clone()), 0, 2));
        }
        VerdictReport::Vacuous { reason } => {
            page.paragraph(&line(Role::Wait, "–", format!("{oracle} has nothing to judge: {reason}")), 0, 2);
        }
        VerdictReport::Unknown { reason } => {
            page.paragraph(&line(Role::Wait, "?", format!("{oracle} cannot tell: {reason}")), 0, 2);
        }
        VerdictReport::Unstable { first, second } => {
            let words = format!("{oracle} said something else the second time: first {first}, then {second}");
            page.paragraph(&line(Role::Bad, "✗", words), 0, 2);
        }
        VerdictReport::Failed { failure } => {
            let words = failure.split_whitespace().collect::<Vec<_>>().join(" ");
            page.paragraph(&line(Role::Bad, "✗", format!("it could not be run: {words}")), 0, 2);
        }
    }
}
