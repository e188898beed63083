//! The conclusion of a storm: whether what was recorded keeps what the engine promises.

use txloom_core::conclusion::{Conclusion, Gap, GapCause};

use super::environment::{EnvironmentDoubt, SHARE_MAX};
use super::{Ended, Summary};
use crate::report::model::check::VerdictReport;
use crate::report::model::storm::JudgementReport;

/// The conclusion. `is_checked`: whether a check of the history was asked for.
pub fn conclusion(summary: &Summary, judgement: Option<&JudgementReport>, is_checked: bool) -> Conclusion {
    let transactions = summary.tally.transactions();
    let violations = violations(summary, judgement);
    Conclusion::new(claim(summary, judgement, is_checked))
        .violated(violations.len(), violations.join("; "))
        .covering("transactions", transactions, summary.plan.budget.transactions)
        .with_gaps(gaps(summary, judgement, is_checked))
        .interrupted(matches!(summary.ended, Ended::Interrupted))
        .unchecked(summary.plan.generate_only || (!is_checked && summary.invariants == 0))
}

fn claim(summary: &Summary, judgement: Option<&JudgementReport>, is_checked: bool) -> String {
    let (level, target) = (&summary.plan.level, &summary.plan.engine.target);
    let ran = format!("{} transactions on {target} at {level}", summary.tally.transactions());
    let invariants = match summary.invariants {
        0 => String::new(),
        asked => format!("; {asked} queries for invariants returned nothing wrong"),
    };
    match judgement.and_then(|judgement| Some((judgement, judgement.promised.as_deref()?))) {
        _ if summary.plan.generate_only => format!("{ran} were generated; nothing was sent or checked"),
        _ if !is_checked => format!("{ran} ran; the history was not recorded or checked{invariants}"),
        Some((judgement, _)) if judgement.promises_nothing => {
            format!("{level} promises nothing that a history could break: {ran} ran{invariants}")
        }
        Some((judgement, promised)) => format!(
            "{promised} holds for this history: {ran}, {} operations recorded and checked{invariants}",
            judgement.operations
        ),
        None => format!("{ran} ran{invariants}"),
    }
}

/// What was found, most important first.
fn violations(summary: &Summary, judgement: Option<&JudgementReport>) -> Vec<String> {
    let level = &summary.plan.level;
    let mut found = Vec::new();
    match &summary.ended {
        Ended::Died(death) => found.push(format!("the server died: {death}")),
        Ended::NotRecovered(error) => found.push(format!("the server did not recover: {error}")),
        Ended::Damaged | Ended::Budget | Ended::ByWatcher | Ended::Interrupted | Ended::Failed(_) => {}
    }
    let losses: usize = summary.damage.iter().map(|damage| damage.losses.len()).sum();
    match losses {
        0 => {}
        1 => found.push("the audit found 1 acknowledged change lost or damaged".to_string()),
        losses => found.push(format!("the audit found {losses} acknowledged changes lost or damaged")),
    }
    let broken = summary.breaches.iter().filter(|breach| !breach.is_allowed());
    found.extend(broken.map(|breach| format!("the invariant {} is broken", breach.invariant.name)));
    if let Some(JudgementReport { promised, verdict: VerdictReport::Violated { violation }, .. }) = judgement {
        let promised = promised.clone().unwrap_or_else(|| level.to_string());
        found.push(format!("{promised} is violated: {}", violation.title()));
    }
    if found.is_empty() && matches!(summary.ended, Ended::Damaged) {
        found.push("acknowledged data was lost or damaged".to_string());
    }
    found
}

fn gaps(summary: &Summary, judgement: Option<&JudgementReport>, is_checked: bool) -> Vec<Gap> {
    let mut gaps = Vec::new();
    if let Ended::Failed(error) = &summary.ended {
        gaps.push(Gap::new(GapCause::Unreachable, format!("the storm could not go on: {error}")));
    }
    if let Some(doubt) = summary.tally.environment_doubt() {
        let EnvironmentDoubt { failures, transactions, class } = doubt;
        let (share, max) = (100.0 * doubt.share(), 100.0 * SHARE_MAX);
        let what = format!(
            "{failures} of {transactions} transactions ({share:.1} %, at most {max:.0} % may) failed by their \
             environment, most of them with {class}"
        );
        gaps.push(Gap::new(GapCause::Environment, what).times(failures));
    }
    match judgement.map(|judgement| &judgement.verdict) {
        Some(VerdictReport::Undecided { why }) => {
            let advice = "allow the check more time with --limit, or save the history and check it alone";
            gaps.push(Gap::new(GapCause::OutOfBudget, format!("the check is undecided: {why}")).advise(advice));
        }
        None if is_checked && !summary.plan.generate_only => {
            gaps.push(Gap::new(GapCause::NotJudged, "no history was recorded, so nothing was checked"));
        }
        Some(VerdictReport::Holds | VerdictReport::Violated { .. }) | None => {}
    }
    gaps
}
