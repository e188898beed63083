//! The conclusion of an analysis: what can go wrong in the application, inside of the printed scope.

use txloom_core::budget::SpentCause;
use txloom_core::conclusion::{Conclusion, Gap, GapCause};

use crate::report::model::analysis::{
    AnalysisReport, AnomaliesReport, FateReport, RemarkReport, RemarkSeverity, StoppedReport, TrialVerdict,
};

/// The conclusion. `is_listing`: only tables or a summary were asked for, so nothing is accused.
pub fn conclusion(told: &AnalysisReport, is_listing: bool) -> Conclusion {
    let read = &told.summary;
    let of = format!("{} procedures, {} transactions", read.procedures, read.transactions);
    let concluded = match &told.anomalies {
        _ if is_listing => Conclusion::new(format!("read {of}; nothing was checked")).unchecked(true),
        Some(anomalies) if anomalies.patterns => {
            both(of_search(anomalies, told.stopped.as_ref(), &of), of_schedules(told, &of))
        }
        Some(anomalies) => of_search(anomalies, told.stopped.as_ref(), &of),
        None => of_schedules(told, &of),
    };
    let stopped = told.stopped.as_ref().and_then(|stopped| not_finished(stopped, told));
    let unread = told.remarks.iter().filter(|remark| remark.severity == RemarkSeverity::Error).map(not_read);
    concluded.covering("procedures", read.procedures as u64, None).with_gaps(unread).with_gaps(stopped)
}

/// The stage that was not finished. That cycles are left says more, and that the user stopped it is no gap.
fn not_finished(stopped: &StoppedReport, told: &AnalysisReport) -> Option<Gap> {
    let cause = SpentCause::from(stopped.cause);
    let is_said = cause == SpentCause::Interrupt || told.anomalies.as_ref().is_some_and(|found| found.left > 0);
    let what = format!("{} was not finished, because {cause}", stopped.stage);
    (!is_said).then(|| Gap::new(GapCause::OutOfBudget, what).advise(cause.advice()))
}

/// A part of the sources that was not read or resolved.
fn not_read(remark: &RemarkReport) -> Gap {
    let gap = Gap::new(GapCause::NotRead, &remark.title).advise(remark.help.as_deref().unwrap_or_default());
    match remark.marks.first() {
        Some(mark) => gap.at(format!("{}:{}", mark.file, mark.line)),
        None => gap,
    }
}

fn of_search(anomalies: &AnomaliesReport, stopped: Option<&StoppedReport>, of: &str) -> Conclusion {
    let AnomaliesReport { level, length, instances, candidates, .. } = anomalies;
    let scope = format!("cycles of up to {length} statements in {instances} calls of {of}, at {level}");
    let found = anomalies.shown.map_or(anomalies.found, |(_, shown)| shown);
    let verb = if anomalies.shown.is_some() { "shown by running" } else { "predicted" };
    let spent = stopped.map_or(SpentCause::Time, |stopped| stopped.cause.into());
    let not_looked_at = format!("candidate cycles were not looked at, because {spent}");
    // If there was no time, that is the reason.
    let unconnected = if stopped.is_some() { 0 } else { anomalies.unconnected };
    let open = [
        (anomalies.unknown, GapCause::NotSearched, "candidate cycles could not be decided"),
        (anomalies.left, GapCause::OutOfBudget, not_looked_at.as_str()),
        (not_run(anomalies), GapCause::NotJudged, "predicted structures whose test could not be decided by running"),
        (unconnected, GapCause::NotSearched, "procedures were left out, because there are too many dependencies"),
    ];
    let gaps = open.into_iter().filter(|(count, ..)| *count > 0).map(|(count, cause, what)| {
        let gap = Gap::new(cause, format!("{count} {what}")).times(count as u64);
        if cause == GapCause::OutOfBudget { gap.advise(spent.advice()) } else { gap }
    });
    let cut = (anomalies.is_cut && stopped.is_none()).then(|| {
        let what = "there are more candidate cycles over the same procedures than are looked at";
        Gap::new(GapCause::NotSearched, what).advise("look at shorter cycles with --length, or at fewer files")
    });
    Conclusion::new(format!("no anomaly among {candidates} {scope}"))
        .violated(found, format!("{found} of {candidates} {scope}, {verb}"))
        .with_gaps(gaps)
        .with_gaps(cut)
}

/// The conclusion of a search and of patterns of whole transactions.
fn both(search: Conclusion, patterns: Conclusion) -> Conclusion {
    let counterclaims = [&search, &patterns].into_iter().filter(|one| one.violations > 0);
    let counterclaims: Vec<&str> = counterclaims.map(|one| one.counterclaim.as_str()).collect();
    let violations = (search.violations + patterns.violations) as usize;
    Conclusion::new(format!("{}; {}", search.claim, patterns.claim))
        .violated(violations, counterclaims.join("; "))
        .with_gaps(search.gaps.into_iter().chain(patterns.gaps))
}

/// The number of predicted structures that were run without a result.
fn not_run(anomalies: &AnomaliesReport) -> usize {
    let fates = anomalies.structures.iter().filter_map(|structure| structure.fate.as_ref());
    let open = fates.filter(|fate| fate.verdict.is_open()).count();
    let left = anomalies.structures.iter().filter(|structure| structure.fate.is_none()).count();
    if anomalies.shown.is_some() { open + left } else { open }
}

fn of_schedules(told: &AnalysisReport, of: &str) -> Conclusion {
    let fates: Vec<&FateReport> = told.schedules.iter().filter_map(|one| one.fate.as_ref()).collect();
    let lost: Vec<&FateReport> = told.commit_points.iter().filter_map(|one| one.fate.as_ref()).collect();
    let (schedules, points) = (told.schedules.len(), told.commit_points.len());
    let looked = format!("{schedules} schedules and {points} commit points of {of}");
    if told.run.is_none() {
        return Conclusion::new(format!("no schedule of whole transactions and no commit point is suspicious in {of}"))
            .violated(schedules + points, format!("{looked} may go wrong; --run tells which do"))
            .with_gaps(not_listed(told));
    }
    let all = || fates.iter().chain(&lost);
    let found = all().filter(|fate| fate.verdict == TrialVerdict::Manifest).count();
    let gaps = all().filter(|fate| fate.verdict.is_open()).map(|fate| Gap::new(GapCause::NotJudged, &fate.says));
    let left = schedules + points - all().count();
    let not_tried = (left > 0).then(|| Gap::new(GapCause::NotJudged, format!("{left} of them were not tried")));
    Conclusion::new(format!("none of {looked} goes wrong"))
        .violated(found, format!("{found} of {looked} go wrong"))
        .covering("schedules", all().count() as u64, Some((schedules + points) as u64))
        .with_gaps(gaps)
        .with_gaps(not_tried.into_iter().chain(not_listed(told)))
}

/// That there are more schedules than the report lists.
fn not_listed(told: &AnalysisReport) -> Option<Gap> {
    let is_cut = !told.summary.complete && told.stopped.is_none();
    is_cut.then(|| Gap::new(GapCause::NotSearched, "there are more schedules and commit points than are looked at"))
}
