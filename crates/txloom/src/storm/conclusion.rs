//! The conclusion of a storm: whether what was recorded keeps what the engine promises.

use std::collections::BTreeSet;

use txloom_core::conclusion::{Conclusion, Gap, GapCause};

use super::environment::{EnvironmentDoubt, SHARE_MAX};
use super::recovery::LossKind;
use super::{Ended, Summary};
use crate::report::model::check::VerdictReport;
use crate::report::model::storm::JudgementReport;

/// The conclusion. `is_checked`: whether a check of the history was asked for.
pub fn conclusion(summary: &Summary, judgement: Option<&JudgementReport>, is_checked: bool) -> Conclusion {
    let transactions = summary.tally.transactions();
    let violations = violations(summary, judgement);
    let has_no_claim = !is_checked || judgement.is_some_and(|judgement| judgement.promises_nothing);
    Conclusion::new(claim(summary, judgement, is_checked))
        .violated(violations.len(), violations.join("; "))
        .covering("transactions", transactions, summary.plan.budget.transactions)
        .with_gaps(gaps(summary, judgement, is_checked))
        .interrupted(matches!(summary.ended, Ended::Interrupted))
        .unchecked(summary.plan.generate_only || (has_no_claim && summary.invariants == 0))
}

fn claim(summary: &Summary, judgement: Option<&JudgementReport>, is_checked: bool) -> String {
    let (level, target) = (&summary.plan.level, &summary.plan.engine.target);
    let ran = format!("{} transactions on {target} at {level}", summary.tally.transactions());
    let invariants = format!("{}{}", invariants(summary), faults(summary));
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

/// `; 4 invariants hold`, `; 2 of 4 invariants are broken, which read committed allows`.
fn invariants(summary: &Summary) -> String {
    let broken: BTreeSet<&str> = summary.breaches.iter().map(|breach| breach.invariant.name).collect();
    match (summary.invariants, broken.len()) {
        (0, _) => String::new(),
        (asked, 0) => format!("; {asked} queries for invariants returned nothing wrong"),
        (_, broken) => format!("; {broken} invariants are broken, which {} allows", summary.plan.level),
    }
}

/// `; everything acknowledged was there at the end, and after 2 of 3 faults`.
fn faults(summary: &Summary) -> String {
    let faults: u64 = summary.faults.iter().map(|(_, count)| count).sum();
    match (faults, summary.audited) {
        (0, _) => String::new(),
        (faults, 0) if summary.is_audited_at_end => {
            format!("; everything acknowledged was there at the end, after {faults} faults")
        }
        (faults, audited) if summary.is_audited_at_end => {
            format!("; everything acknowledged was there at the end, and after {audited} of {faults} faults")
        }
        (faults, 0) => format!("; nothing was audited after {faults} faults"),
        (faults, audited) => format!("; everything acknowledged was there after {audited} of {faults} faults"),
    }
}

/// `the audit found 1 acknowledged change lost, 2 rolled-back changes left behind`.
fn audit(summary: &Summary) -> Option<String> {
    let losses = || summary.damage.iter().flat_map(|damage| &damage.losses);
    let left = losses().filter(|loss| matches!(loss.kind, LossKind::RolledBack(_))).count();
    let lost = losses().count() - left;
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let parts = [
        (lost, format!("{lost} acknowledged change{} lost or damaged", plural(lost))),
        (left, format!("{left} rolled-back change{} left behind", plural(left))),
    ];
    let told: Vec<String> = parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words).collect();
    (!told.is_empty()).then(|| format!("the audit found {}", told.join(", ")))
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
    found.extend(audit(summary));
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

/// Faults after which nobody looked at what was there.
fn unaudited(summary: &Summary, judgement: Option<&JudgementReport>) -> Option<Gap> {
    let faults: u64 = summary.faults.iter().map(|(_, count)| count).sum();
    let is_claimed = judgement.is_some_and(|judgement| !judgement.promises_nothing);
    let is_open = is_claimed && !summary.is_audited_at_end && summary.audited < faults;
    let what = || format!("nothing was audited after {} of {faults} faults", faults - summary.audited);
    is_open.then(|| Gap::new(GapCause::NotJudged, what()))
}

fn gaps(summary: &Summary, judgement: Option<&JudgementReport>, is_checked: bool) -> Vec<Gap> {
    let mut gaps = Vec::new();
    if let Ended::Failed(error) = &summary.ended {
        gaps.push(Gap::new(GapCause::Unreachable, format!("the storm could not go on: {error}")));
    }
    let is_over = matches!(summary.ended, Ended::Budget) && !summary.plan.generate_only;
    for fault in summary.plan.faults.iter().filter(|fault| is_over && summary.faults.of(fault.kind) == 0) {
        let what = format!("the storm ended before the first {}", fault.kind.name());
        gaps.push(Gap::new(GapCause::NotJudged, what).advise("let it run longer with --for"));
    }
    gaps.extend(unaudited(summary, judgement));
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
