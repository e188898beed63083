//! A finding: one sentence, the interleaving, why it is wrong, the case, the command that shows it again.

use super::super::model::{ExplanationReport, FindingReport};
use super::line::{Line, Role};
use super::page::Page;
use super::trace::{write_final_state, write_interleaving};

/// The whole finding.
pub(crate) fn write(page: &mut Page, finding: &FindingReport) {
    page.paragraph(&Line::new(Role::Bad, "✗ ").with(Role::Strong, finding.sentence.as_str()), 0, 2);
    page.gap();
    page.pairs(&header(finding));
    write_interleaving(page, &finding.trace, &[]);
    write_final_state(page, &finding.trace);
    write_explanation(page, &finding.explanation);
    page.heading("The case, reduced");
    // Written as it is, not wrapped: it is there to be copied.
    finding.case.lines().for_each(|line| page.line(Line::plain(format!("  {line}"))));
    page.heading("To see it again");
    page.line(Line::plain(format!("  {}", finding.replay)));
}

fn header(finding: &FindingReport) -> Vec<(&'static str, Line)> {
    let mut pairs = vec![("target", Line::plain(format!("{} {}", finding.target, finding.version)))];
    if !finding.planted.is_empty() {
        let words =
            format!("{}: we put this bug into the target to see whether it is found", finding.planted.join(", "));
        pairs.push(("planted", Line::new(Role::Wait, words)));
    }
    let levels: Vec<&str> = finding.trace.sessions.iter().map(|session| session.level.as_str()).collect();
    if let Some(first) = levels.first().filter(|first| levels.iter().all(|level| level == *first)) {
        pairs.push(("level", Line::plain(*first)));
    }
    pairs.push(("schedule", Line::plain(finding.trace.schedule.as_str())));
    pairs.push(("oracle", Line::plain(finding.oracle.as_str())));
    pairs.push(("fingerprint", Line::plain(finding.fingerprint.as_str())));
    pairs
}

/// Let … Then … However … a contradiction.
pub(super) fn write_explanation(page: &mut Page, explanation: &ExplanationReport) {
    let parts = [("Let", &explanation.lets), ("Then", &explanation.thens), ("However", &explanation.however)];
    for (word, sentences) in parts {
        if !sentences.is_empty() {
            page.heading(word);
            sentences.iter().for_each(|sentence| page.paragraph(&Line::plain(sentence.as_str()), 2, 2));
        }
    }
    if !explanation.however.is_empty() {
        page.gap();
        page.line(Line::plain("A contradiction."));
    }
}
