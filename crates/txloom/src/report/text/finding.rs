//! A finding: one sentence, the interleaving, why it is wrong, the case, the command that shows it again.

use super::super::model::{ExplanationReport, FindingReport};
use super::compared;
use super::line::{Line, Role};
use super::page::Page;
use super::trace::{write_assertions, write_final_state, write_interleaving};

/// The whole finding.
pub(crate) fn write(page: &mut Page, finding: &FindingReport) {
    page.paragraph(&Line::new(Role::Bad, "✗ ").with(Role::Strong, finding.sentence.as_str()), 0, 2);
    page.gap();
    page.pairs(&header(finding));
    match &finding.comparison {
        Some(comparison) => compared::write(page, finding, comparison),
        None => {
            write_interleaving(page, &finding.trace, &[]);
            write_final_state(page, &finding.trace);
            if finding.trace.checks.iter().any(|check| !check.holds) {
                write_assertions(page, &finding.trace);
            }
        }
    }
    // Two targets may differ, and both be right.
    write_explanation(page, &finding.explanation, finding.others.is_empty());
    for exhibit in &finding.exhibits {
        page.heading(&exhibit.title);
        exhibit.lines.iter().for_each(|line| page.line(Line::plain(format!("  {line}"))));
    }
    page.heading("The case");
    // Written as it is, not wrapped: it is there to be copied.
    finding.case.lines().for_each(|line| page.line(Line::plain(format!("  {line}"))));
    page.heading("To see it again");
    page.line(Line::plain(format!("  {}", finding.replay)));
}

fn header(finding: &FindingReport) -> Vec<(&'static str, Line)> {
    let first = (finding.target.as_str(), finding.version.as_str());
    let others = finding.others.iter().map(|other| (other.target.as_str(), other.version.as_str()));
    let targets: Vec<String> =
        [first].into_iter().chain(others).map(|(target, version)| format!("{target} {version}")).collect();
    let name = if targets.len() == 1 { "target" } else { "targets" };
    let mut pairs = vec![(name, Line::plain(targets.join(", ")))];
    if !finding.planted.is_empty() {
        let (bugs, target) = match (finding.planted.len(), targets.len()) {
            (1, 1) => ("this bug", "the target"),
            (1, _) => ("this bug", "one of them"),
            _ => ("these bugs", "the targets"),
        };
        let words = format!("{}: we put {bugs} into {target} to see whether it is found", finding.planted.join(", "));
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

/// Let … Then … However; and that this is a contradiction, where it is one.
pub(super) fn write_explanation(page: &mut Page, explanation: &ExplanationReport, is_contradiction: bool) {
    let parts = [("Let", &explanation.lets), ("Then", &explanation.thens), ("However", &explanation.however)];
    for (word, sentences) in parts {
        if !sentences.is_empty() {
            page.heading(word);
            sentences.iter().for_each(|sentence| page.paragraph(&Line::plain(sentence.as_str()), 2, 2));
        }
    }
    if !explanation.however.is_empty() && is_contradiction {
        page.gap();
        page.line(Line::plain("A contradiction."));
    }
}
