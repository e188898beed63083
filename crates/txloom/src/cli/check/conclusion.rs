//! The conclusion of `check`: all levels that were asked about hold, for all histories.

use txloom_core::conclusion::{Conclusion, Gap, GapCause};

use super::super::failure::Failure;
use crate::exit::Exit;
use crate::report::model::check::{AnswerReport, HistoryReport, StandingVerdict, SurveyReport, VerdictReport};

/// The conclusion about these histories; files that could not be read are gaps.
pub(super) fn conclusion(histories: &[HistoryReport], failures: &[Failure]) -> Conclusion {
    let violations: Vec<String> = histories.iter().flat_map(violations).collect();
    let planned = (histories.len() + failures.len()) as u64;
    Conclusion::new(histories.iter().map(claim).collect::<Vec<_>>().join("; "))
        .violated(violations.len(), violations.join("; "))
        .covering("histories", histories.len() as u64, Some(planned))
        .unchecked(histories.iter().any(is_vacuous))
        .with_gaps(histories.iter().flat_map(gaps))
        .with_gaps(failures.iter().map(unread))
}

/// True if there is nothing to be proud of: no transaction committed, or no level at all holds.
fn is_vacuous(history: &HistoryReport) -> bool {
    let holds_nothing = history.survey.as_ref().is_some_and(|survey| survey.strongest.is_empty());
    history.committed == 0 || holds_nothing
}

fn unread(failure: &Failure) -> Gap {
    let cause = match failure.exit {
        Exit::Unreachable => GapCause::Unreachable,
        Exit::FileFailed => GapCause::FileFailed,
        _ => GapCause::BadInput,
    };
    Gap::new(cause, failure.message.trim_start_matches("txloom: "))
}

/// `history.edn: serializable holds (4 transactions)`.
fn claim(history: &HistoryReport) -> String {
    let levels: Vec<&str> = history.answers.iter().map(|answer| answer.level.as_str()).collect();
    let what = match (&history.survey, levels.as_slice()) {
        (Some(survey), _) if survey.strongest.is_empty() => "no level holds".to_string(),
        (Some(survey), _) => format!("the strongest levels that hold: {}", survey.strongest.join("; ")),
        (None, [level]) => format!("{level} holds"),
        (None, levels) => format!("{} hold", levels.join(", ")),
    };
    format!("{}: {what} ({} transactions, {} operations)", history.file, history.transactions, history.operations)
}

fn violations(history: &HistoryReport) -> Vec<String> {
    let told = |answer: &AnswerReport| match &answer.verdict {
        VerdictReport::Violated { violation } => {
            Some(format!("{}: {} is violated: {}", history.file, answer.level, violation.title()))
        }
        VerdictReport::Holds | VerdictReport::Undecided { .. } => None,
    };
    history.answers.iter().filter_map(told).collect()
}

fn gaps(history: &HistoryReport) -> Vec<Gap> {
    const ADVICE: &str = "allow more time with --limit";
    let undecided = |answer: &AnswerReport| match &answer.verdict {
        VerdictReport::Undecided { why } => {
            let what = format!("{} is undecided: {why}", answer.level);
            Some(Gap::new(GapCause::OutOfBudget, what).at(&history.file).advise(ADVICE))
        }
        VerdictReport::Holds | VerdictReport::Violated { .. } => None,
    };
    let open = |survey: &SurveyReport| {
        let is_open = survey.standings.iter().filter(|standing| standing.verdict == StandingVerdict::Undecided);
        let levels: Vec<&str> = is_open.map(|standing| standing.level.as_str()).collect();
        let what = || format!("undecided: {}", levels.join(", "));
        let gap = || Gap::new(GapCause::OutOfBudget, what()).at(&history.file).advise(ADVICE);
        (!levels.is_empty()).then(gap)
    };
    history.answers.iter().filter_map(undecided).chain(history.survey.iter().filter_map(open)).collect()
}
