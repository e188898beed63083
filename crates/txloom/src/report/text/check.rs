//! Which levels a history satisfies, and a picture of what stands in the way.
//!
//! ```text
//!   ┌─→ T1   append x 1, read y []
//!   │    │ rw y
//!   │    ↓
//!   │   T2   append y 1, read x []
//!   │    │ rw x
//!   └────┘
//! ```

use super::super::model::check::{
    AnswerReport, CheckReport, HistoryReport, StandingOrder, StandingReport, StandingVerdict, SurveyReport,
    TimingReport, VerdictReport, ViolationReport,
};
use super::finding::write_explanation;
use super::line::{Line, Role};
use super::page::Page;
use super::table::Table;

/// The whole report.
pub(crate) fn write(page: &mut Page, report: &CheckReport) {
    for history in &report.histories {
        page.gap();
        write_history(page, history);
    }
}

fn write_history(page: &mut Page, history: &HistoryReport) {
    for answer in &history.answers {
        write_answer(page, &history.file, answer);
    }
    if let Some(survey) = &history.survey {
        write_survey(page, &history.file, survey);
    }
    if history.survey.is_some() || history.answers.iter().any(|answer| answer.verdict != VerdictReport::Holds) {
        page.gap();
    }
    page.paragraph(&Line::new(Role::Faint, counts(history)), 2, 2);
}

/// `4 transactions, 9 operations (Elle/Jepsen EDN); read in 0.1 s, checked in 0.3 s: 25 % of the time for reading`
fn counts(history: &HistoryReport) -> String {
    let TimingReport { read_ms, check_ms } = history.timing;
    let seconds = |ms: u64| format!("{}.{:03} s", ms / 1_000, ms % 1_000);
    let share =
        (100 * read_ms).checked_div(read_ms + check_ms).map(|share| format!(": {share} % of the time for reading"));
    format!(
        "{} transactions, {} operations ({}); read in {}, checked in {}{}",
        history.transactions,
        history.operations,
        history.format,
        seconds(read_ms),
        seconds(check_ms),
        share.unwrap_or_default()
    )
}

fn write_answer(page: &mut Page, file: &str, answer: &AnswerReport) {
    let mut line = match &answer.verdict {
        VerdictReport::Holds => Line::new(Role::Good, "✓ "),
        VerdictReport::Violated { .. } => Line::new(Role::Bad, "✗ "),
        VerdictReport::Undecided { .. } => Line::new(Role::Wait, "? "),
    };
    line.push(Role::Plain, format!("{file}: "));
    line.push(Role::Strong, answer.level.as_str());
    match &answer.verdict {
        VerdictReport::Holds => line.push(Role::Plain, " holds"),
        VerdictReport::Violated { violation } => {
            line.push(Role::Plain, format!(" is violated: {}", violation.title()));
        }
        VerdictReport::Undecided { why } => line.push(Role::Plain, format!(" is undecided: {why}")),
    }
    page.paragraph(&line, 0, 2);
    if let Some(remark) = &answer.remark {
        page.paragraph(&Line::new(Role::Faint, remark.as_str()), 2, 2);
    }
    for other in &answer.elsewhere {
        page.paragraph(&Line::plain(format!("{}: {}", title(other), words(other))), 2, 2);
    }
    if let VerdictReport::Violated { violation } = &answer.verdict {
        write_violation(page, violation);
    }
    if let Some(smallest) = &answer.smallest {
        page.heading("The smallest part that is still wrong in this way");
        smallest.lines().for_each(|line| page.line(Line::plain(format!("  {line}"))));
    }
}

/// `read committed`, with its order if it has one.
pub(super) fn title(standing: &StandingReport) -> String {
    match standing.order {
        StandingOrder::Session => format!("strong session {}", standing.level),
        StandingOrder::RealTime => format!("strong {}", standing.level),
        StandingOrder::Free => standing.level.clone(),
    }
}

fn words(standing: &StandingReport) -> String {
    match &standing.anomaly {
        Some(anomaly) => format!("{} ({anomaly})", standing.verdict.name()),
        None => standing.verdict.name().to_string(),
    }
}

/// The picture and the words.
pub(super) fn write_violation(page: &mut Page, violation: &ViolationReport) {
    write_cycle(page, violation);
    write_explanation(page, &violation.explanation, true);
}

/// The cycle, going down and back up.
fn write_cycle(page: &mut Page, violation: &ViolationReport) {
    if violation.cycle.is_empty() {
        return;
    }
    page.gap();
    let what = |name: &str| violation.transactions.iter().find(|other| other.name == name).map_or("", |t| &t.what);
    let widest = violation.cycle.iter().map(|edge| edge.from.chars().count()).max().unwrap_or(0);
    for (at, edge) in violation.cycle.iter().enumerate() {
        let rail = if at == 0 { "  ┌─→ " } else { "  │   " };
        let mut line = Line::new(Role::Faint, rail).with(Role::Strong, edge.from.as_str());
        line.push(Role::Plain, " ".repeat(widest - edge.from.chars().count() + 2));
        line.push(Role::Plain, shortened(what(&edge.from), page.width().saturating_sub(widest + 10)));
        page.line(line);
        let label = edge.key.as_ref().map_or(edge.kind.clone(), |key| format!("{} {key}", edge.kind));
        page.line(Line::new(Role::Faint, "  │    │ ").with(Role::Answer, label));
        let is_last = at + 1 == violation.cycle.len();
        page.line(Line::new(Role::Faint, if is_last { "  └────┘" } else { "  │    ↓" }));
    }
}

/// At most so many characters.
fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_string();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

fn write_survey(page: &mut Page, file: &str, survey: &SurveyReport) {
    let strongest = match survey.strongest.as_slice() {
        [] => Line::new(Role::Bad, "no level holds"),
        names => Line::plain("satisfies ").with(Role::Good, names.join("; ")),
    };
    let mut line = Line::new(Role::Strong, format!("{file}: "));
    line.extend(&strongest);
    page.paragraph(&line, 0, 2);
    page.gap();
    write_standings(page, &survey.standings);
    page.gap();
    for remark in &survey.remarks {
        page.paragraph(&Line::new(Role::Faint, remark.as_str()), 2, 2);
    }
    for violation in &survey.anomalies {
        let times = match violation.count {
            1 => String::new(),
            count => format!(" (found {count} times)"),
        };
        page.heading(format!("{}: {}{times}", violation.anomaly, violation.what));
        write_violation(page, violation);
    }
}

/// Levels down, orders across.
fn write_standings(page: &mut Page, standings: &[StandingReport]) {
    let columns = [
        (StandingOrder::Free, "plain"),
        (StandingOrder::Session, "strong session"),
        (StandingOrder::RealTime, "strong"),
    ];
    let is_there = |order: StandingOrder| standings.iter().any(|standing| standing.order == order);
    let columns: Vec<(StandingOrder, &str)> = columns.into_iter().filter(|(order, _)| is_there(*order)).collect();
    let header: Vec<&str> = std::iter::once("level").chain(columns.iter().map(|(_, name)| *name)).collect();
    let mut table = Table::new(&header);
    for rows in standings.chunk_by(|a, b| a.level == b.level) {
        let mut cells = vec![Line::plain(rows[0].level.as_str())];
        for (order, _) in &columns {
            let cell = rows.iter().find(|standing| standing.order == *order).map_or_else(Line::default, mark);
            cells.push(cell);
        }
        table.rows.push(cells);
    }
    table.write(page, 2);
}

fn mark(standing: &StandingReport) -> Line {
    match (standing.verdict, &standing.anomaly) {
        (StandingVerdict::Holds, _) => Line::new(Role::Good, "✓"),
        (StandingVerdict::Violated, Some(anomaly)) => Line::new(Role::Bad, format!("✗ {anomaly}")),
        (StandingVerdict::Violated, None) => Line::new(Role::Bad, "✗"),
        (StandingVerdict::Undecided, _) => Line::new(Role::Wait, "?"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::check::{EdgeReport, TransactionReport};
    use crate::report::model::{Body, ExplanationReport, Report};
    use crate::report::{golden, json, text};

    fn violation() -> ViolationReport {
        let edge = |from: &str, to: &str, kind: &str, key: Option<&str>| EdgeReport {
            from: from.to_string(),
            to: to.to_string(),
            kind: kind.to_string(),
            key: key.map(str::to_string),
        };
        let transaction =
            |name: &str, what: &str, line| TransactionReport { name: name.to_string(), what: what.to_string(), line };
        ViolationReport {
            anomaly: "G-single-process".to_string(),
            name: "read skew".to_string(),
            what: "a cycle with exactly one rw".to_string(),
            citation: "A. Adya".to_string(),
            count: 3,
            explanation: ExplanationReport {
                lets: vec!["T1 (process 0, line 2): append x 1".to_string()],
                thens: vec!["T1 comes before T12 in process 0: T1 is before T12 (so)".to_string()],
                however: vec!["then T1 is before itself: T1 → T12 → T1".to_string()],
            },
            transactions: vec![transaction("T1", "append x 1", 2), transaction("T12", "read x []", 4)],
            cycle: vec![edge("T1", "T12", "so", None), edge("T12", "T1", "rw", Some("x"))],
        }
    }

    fn report() -> CheckReport {
        let standing = |level: &str, order: StandingOrder, anomaly: Option<&str>| StandingReport {
            level: level.to_string(),
            order,
            verdict: if anomaly.is_some() { StandingVerdict::Violated } else { StandingVerdict::Holds },
            anomaly: anomaly.map(str::to_string),
        };
        let answer = |verdict, smallest: Option<&str>| AnswerReport {
            asked: "rc".to_string(),
            level: "strong session monotonic atomic view".to_string(),
            verdict,
            elsewhere: vec![standing("read committed", StandingOrder::Free, None)],
            remark: Some("`rc` as in AWDIT".to_string()),
            smallest: smallest.map(str::to_string),
        };
        let violated = || VerdictReport::Violated { violation: Box::new(violation()) };
        let undecided = VerdictReport::Undecided { why: "the time is over".to_string() };
        let base = HistoryReport {
            file: "a.txt".to_string(),
            format: "AWDIT text".to_string(),
            transactions: 2,
            committed: 2,
            operations: 2,
            timing: TimingReport { read_ms: 1, check_ms: 3 },
            ..HistoryReport::default()
        };
        let answers =
            vec![answer(VerdictReport::Holds, None), answer(violated(), Some("w 0 1\n")), answer(undecided, None)];
        let survey = SurveyReport {
            strongest: vec!["serializable".to_string(), "strong session causal".to_string()],
            standings: vec![
                standing("serializable", StandingOrder::Free, None),
                standing("serializable", StandingOrder::Session, Some("G-single-process")),
                standing("causal", StandingOrder::Free, None),
                standing("causal", StandingOrder::Session, None),
            ],
            anomalies: vec![violation()],
            remarks: vec!["a remark".to_string()],
        };
        CheckReport {
            histories: vec![HistoryReport { answers, ..base.clone() }, HistoryReport { survey: Some(survey), ..base }],
        }
    }

    #[test]
    fn answers_and_surveys_are_shown() {
        let whole = Report::new(Body::Check(report()));
        golden::check("check.txt", &text::print(&whole, &text::TextOptions::default()));
        assert_eq!(json::parse(&json::print(&whole)).unwrap(), whole);
    }
}
