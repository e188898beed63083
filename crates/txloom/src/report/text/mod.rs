//! The text form of a report: made to be read.
//!
//! ```text
//!  Report ──→ moments ──┬─→ columns      one per session, time runs down
//!                       └─→ transcript   `a> …`, when columns would be too narrow
//! ```
//!
//! The heart is the interleaving. Position means something in it: a column is a session, a line further down is later,
//! and the number at the left is the step, in order of submission. A step that waits appears twice, where it starts to
//! wait and where it goes on, so that the eye sees what happened in between:
//!
//! ```text
//!       a                                │ b
//!  ──────────────────────────────────────┼────────────────────────────────────
//!   1   UPDATE t SET v = 1 WHERE id = 1  │
//!         → 1 row changed                │
//!   2                                    │ UPDATE t SET v = 2 WHERE id = 1
//!                                        │   … waits for a
//!   3   COMMIT                           │
//!   2                                    │   … goes on
//!                                        │   → 1 row changed
//! ```
//!
//! Everything here is a pure function of the model and of [`TextOptions`]; finding out about the terminal is the
//! command line's business.

mod line;
mod page;
mod table;
mod answer;
mod moments;
mod columns;
mod transcript;
mod trace;
mod verdict;
mod conclusion;
mod run;
mod compared;
mod finding;
mod judged;
mod reduced;
mod doctor;
mod levels;
mod check;
mod hunt;
mod invariants;
mod storm;
mod sources;
mod analysis;
mod anomalies;

#[cfg(test)]
mod tests;

use txloom_core::conclusion::Conclusion;

use super::model::hunt::{CountsReport, HuntFinding, HuntReport, PlanReport, RecordedFinding};
use super::model::levels::LevelsReport;
use super::model::storm::{StormPlan, StormReport};
use super::model::{Body, CaseReport, FindingReport, JudgedCase, ReducedCase, Report, Totals};
pub use analysis::{print_analysis, print_analysis_summary, print_analysis_tables};
pub use anomalies::print_anomalies;
use line::Line;
use page::Page;
pub use storm::StormProgress;

/// What the text form needs to know of the place where it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextOptions {
    /// How many columns a line may take.
    pub width: usize,
    /// Whether escape codes for colours may be used.
    pub color: bool,
    /// True if what the level allows is drawn and explained, too.
    pub verbose: bool,
}

impl TextOptions {
    /// The width where there is no terminal to ask.
    pub const DEFAULT_WIDTH: usize = 100;
}

impl Default for TextOptions {
    fn default() -> TextOptions {
        TextOptions { width: TextOptions::DEFAULT_WIDTH, color: false, verbose: false }
    }
}

/// The whole report.
pub fn print(report: &Report, options: &TextOptions) -> String {
    match &report.body {
        Body::Run(run) => {
            let cases = run.cases.iter().map(|case| print_case(case, options) + "\n");
            cases.chain([print_totals(&run.totals(), options)]).collect()
        }
        Body::Findings(found) => {
            found.findings.iter().map(|found| print_finding(found, options)).collect::<Vec<_>>().join("\n")
        }
        Body::Judged(judged) => judged.cases.iter().map(|case| print_judged(&judged.oracle, case, options)).collect(),
        Body::Reduced(reduced) => reduced.cases.iter().map(|case| print_reduced(case, options)).collect(),
        Body::Doctor(found) => paint(options, |page| doctor::write(page, found)),
        Body::Levels(found) => paint(options, |page| levels::write(page, found)),
        Body::Check(found) => paint(options, |page| check::write(page, found)),
        Body::Hunt(found) => paint(options, |page| hunt::write_summary(page, found)),
        Body::Storm(found) => print_storm_summary(found, options),
        Body::Analysis(found) => print_analysis(found, &[], options),
    }
}

/// A text in lines of at most so many columns.
pub(super) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let painted = |line: &Line| {
        let mut out = String::new();
        line.paint(false, &mut out);
        out
    };
    let hanging = text.find(|letter: char| !" *".contains(letter)).unwrap_or_default();
    Line::plain(text).wrap(columns, hanging).iter().map(painted).collect()
}

/// One case on all its targets, in full.
pub fn print_case(case: &CaseReport, options: &TextOptions) -> String {
    paint(options, |page| run::write_case(page, case))
}

/// One case on all its targets, in one line.
pub fn print_case_line(case: &CaseReport, options: &TextOptions) -> String {
    paint(options, |page| verdict::write_case_line(page, case))
}

/// `12 cases on 2 targets: 23 as expected, 1 not`.
pub fn print_totals(totals: &Totals, options: &TextOptions) -> String {
    paint(options, |page| verdict::write_totals(page, totals))
}

/// One finding: a sentence, the interleaving, the explanation, the case, the command that shows it again.
pub fn print_finding(found: &FindingReport, options: &TextOptions) -> String {
    paint(options, |page| finding::write(page, found))
}

/// What a hunt will do.
pub fn print_hunt_plan(plan: &PlanReport, options: &TextOptions) -> String {
    paint(options, |page| hunt::write_plan(page, plan))
}

/// How far a hunt is, without a line break; with a width, as much as fits into it.
pub fn print_hunt_progress(counts: &CountsReport, seconds: f64, color: bool, width: Option<usize>) -> String {
    let mut text = String::new();
    hunt::progress(counts, seconds, width).paint(color, &mut text);
    text
}

/// One finding of a hunt in full: the finding, and the command that generates its case again.
pub fn print_whole_hunt_finding(found: &HuntFinding, options: &TextOptions) -> String {
    paint(options, |page| hunt::write_finding(page, found))
}

/// One finding of a hunt in one line.
pub fn print_hunt_finding(found: &HuntFinding, options: &TextOptions) -> String {
    paint(options, |page| hunt::write_finding_line(page, found))
}

/// A finding of a storm in a hunt: the first of its kind in full, the others in one line.
pub fn print_recorded_finding(found: &RecordedFinding, is_whole: bool, options: &TextOptions) -> String {
    paint(options, |page| {
        hunt::write_recorded_line(page, found);
        if is_whole {
            storm::write_summary(page, &found.storm, options.verbose);
        }
        if let Some(replay) = found.replay.as_ref().filter(|_| is_whole) {
            page.heading("To check it again");
            page.line(line::Line::plain(format!("  {replay}")));
        }
    })
}

/// What a hunt came to.
pub fn print_hunt_summary(report: &HuntReport, options: &TextOptions) -> String {
    paint(options, |page| hunt::write_summary(page, report))
}

/// What was not covered, and the conclusion: the last lines of every command that concludes something.
pub fn print_conclusion(concluded: &Conclusion, options: &TextOptions) -> String {
    paint(options, |page| conclusion::write(page, concluded))
}

/// What a storm will do.
pub fn print_storm_plan(plan: &StormPlan, options: &TextOptions) -> String {
    paint(options, |page| storm::write_plan(page, plan))
}

/// How far a storm is, without a line break; with a width, as much as fits into it.
pub fn print_storm_progress(progress: &StormProgress, color: bool, width: Option<usize>) -> String {
    let mut text = String::new();
    storm::progress(progress, width).paint(color, &mut text);
    text
}

/// What a storm came to.
pub fn print_storm_summary(report: &StormReport, options: &TextOptions) -> String {
    paint(options, |page| storm::write_summary(page, report, options.verbose))
}

/// What an oracle says of a case: its findings in full, or a line.
pub fn print_judged(oracle: &str, case: &JudgedCase, options: &TextOptions) -> String {
    paint(options, |page| judged::write(page, oracle, case))
}

/// What an oracle says of a case, in one line.
pub fn print_judged_line(oracle: &str, case: &JudgedCase, options: &TextOptions) -> String {
    paint(options, |page| judged::write_line(page, oracle, case))
}

/// A case that was made smaller: its finding in full, and what was taken away.
pub fn print_reduced(case: &ReducedCase, options: &TextOptions) -> String {
    paint(options, |page| reduced::write(page, case))
}

/// Matrices of anomalies and levels, as Markdown tables.
pub fn markdown_levels(report: &LevelsReport) -> String {
    levels::markdown(report)
}

/// Words of a command's own, wrapped.
pub fn paragraph(words: &str, options: &TextOptions) -> String {
    paint(options, |page| page.paragraph(&line::Line::plain(words), 0, 0))
}

/// A heading of a command's own.
pub fn heading(words: &str, options: &TextOptions) -> String {
    paint(options, |page| page.heading(words))
}

fn paint(options: &TextOptions, write: impl FnOnce(&mut Page)) -> String {
    let mut page = Page::new(options.width);
    write(&mut page);
    page.paint(options.color)
}
