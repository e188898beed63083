//! The conclusion of a hunt. A hunt proves nothing; it says how many cases were judged, and what was found in them.

use txloom_core::conclusion::{Conclusion, Gap, GapCause};

use super::counts::Counts;
use super::{Ended, HuntError, Summary};

/// The share of cases that may stay undecided in a hunt that passes.
pub const UNDECIDED_SHARE_MAX: f64 = 0.6;

/// The conclusion: known behaviours are no violations.
pub fn conclusion(summary: &Summary) -> Conclusion {
    let counts = &summary.counts;
    let (cases, undecided) = (counts.cases_met(), counts.cases_undecided());
    let tail = match undecided {
        0 => format!("in {}", count(cases, "case")),
        _ => format!("in {}, {undecided} undecided", count(cases, "case")),
    };
    let found = summary.found.len() + summary.recorded.len();
    let known = match counts.known_count() {
        0 => String::new(),
        known => format!("; {} met", count(known, "known behaviour")),
    };
    Conclusion::new(format!("no finding {tail}{known}"))
        .violated(found, format!("{} {tail}{known}", count(found as u64, "finding")))
        .covering("cases", cases, summary.plan.budget.cases)
        .with_gaps(gaps(summary))
        .interrupted(matches!(summary.ended, Ended::Interrupted))
}

fn gaps(summary: &Summary) -> Vec<Gap> {
    let counts = &summary.counts;
    let (cases, undecided) = (counts.cases_met(), counts.cases_undecided());
    let mut gaps = Vec::new();
    match &summary.ended {
        Ended::Failed(HuntError::Engine(error)) => {
            gaps.push(Gap::new(GapCause::Unreachable, format!("the hunt could not go on: {error}")));
        }
        Ended::Failed(error) => {
            gaps.push(Gap::new(GapCause::BadInput, format!("the hunt could not go on: {error}")));
        }
        Ended::Budget | Ended::FirstFound | Ended::ByWatcher | Ended::Interrupted => {}
    }
    if matches!(summary.ended, Ended::ByWatcher) {
        return gaps;
    }
    if cases == 0 && counts.storms == 0 {
        let what = "no case was judged before the budget was spent";
        gaps.push(Gap::new(GapCause::OutOfBudget, what).advise("allow more with --for or --cases"));
    } else if undecided as f64 > UNDECIDED_SHARE_MAX * cases as f64 {
        let why = reasons(counts);
        let (share, max) = (100.0 * undecided as f64 / cases as f64, 100.0 * UNDECIDED_SHARE_MAX);
        let what = format!(
            "{undecided} of {} ({share:.0} %, at most {max:.0} % may be) are undecided; the most frequent reasons: {why}",
            count(cases, "case")
        );
        let advice = "another --oracle, --profile or --level may suit this target better";
        gaps.push(Gap::new(GapCause::NotJudged, what).advise(advice).times(undecided));
    }
    gaps
}

/// The two most frequent reasons why an oracle could not judge a case: a case is undecided if no oracle judges it.
fn reasons(counts: &Counts) -> String {
    let mut reasons: Vec<(&String, &u64)> = counts.undecided.iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let named: Vec<String> = reasons.iter().take(2).map(|(reason, count)| format!("{reason} ({count})")).collect();
    match (named.is_empty(), counts.troubles.first()) {
        (false, _) => named.join(", "),
        (true, Some(trouble)) => trouble.clone(),
        (true, None) => "none is known".to_string(),
    }
}

/// `1 case`, `2 cases`.
fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
