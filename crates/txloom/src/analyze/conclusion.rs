//! The conclusion of an analysis: what can go wrong in the application, inside of the printed scope.

use txloom_core::conclusion::{Conclusion, Gap, GapCause};

use crate::report::model::analysis::{
    AnalysisReport, AnomaliesReport, FateReport, RemarkReport, RemarkSeverity, TrialVerdict,
};

/// The conclusion. `is_listing`: only tables or a summary were asked for, so nothing is accused.
pub fn conclusion(told: &AnalysisReport, is_listing: bool) -> Conclusion {
    let read = &told.summary;
    let of = format!("{} procedures, {} transactions", read.procedures, read.transactions);
    let concluded = match &told.anomalies {
        _ if is_listing => Conclusion::new(format!("read {of}; nothing was checked")).unchecked(true),
        Some(anomalies) => of_search(anomalies, &of),
        None => of_schedules(told, &of),
    };
    let unread = told.remarks.iter().filter(|remark| remark.severity == RemarkSeverity::Error).map(not_read);
    concluded.covering("procedures", read.procedures as u64, None).with_gaps(unread)
}

/// A part of the sources that was not read or resolved.
fn not_read(remark: &RemarkReport) -> Gap {
    let gap = Gap::new(GapCause::NotRead, &remark.title);
    match remark.marks.first() {
        Some(mark) => gap.at(format!("{}:{}", mark.file, mark.line)),
        None => gap,
    }
}

fn of_search(anomalies: &AnomaliesReport, of: &str) -> Conclusion {
    let AnomaliesReport { level, length, instances, candidates, .. } = anomalies;
    let scope = format!("cycles of up to {length} statements in {instances} calls of {of}, at {level}");
    let found = anomalies.shown.map_or(anomalies.found, |(_, shown)| shown);
    let verb = if anomalies.shown.is_some() { "shown by running" } else { "predicted" };
    let open = [
        (anomalies.unknown, GapCause::NotSearched, "candidate cycles could not be decided"),
        (anomalies.left, GapCause::OutOfBudget, "candidate cycles were not looked at, because the time was up"),
        (not_run(anomalies), GapCause::NotJudged, "predicted structures whose test could not be decided by running"),
    ];
    let gaps = open.into_iter().filter(|(count, ..)| *count > 0).map(|(count, cause, what)| {
        let gap = Gap::new(cause, format!("{count} {what}")).times(count as u64);
        if cause == GapCause::OutOfBudget { gap.advise("allow more time with --for") } else { gap }
    });
    Conclusion::new(format!("no anomaly among {candidates} {scope}"))
        .violated(found, format!("{found} of {candidates} {scope}, {verb}"))
        .with_gaps(gaps)
}

/// The number of predicted structures that were run without a result.
fn not_run(anomalies: &AnomaliesReport) -> usize {
    let fates = anomalies.structures.iter().filter_map(|structure| structure.fate.as_ref());
    fates.filter(|fate| fate.verdict.is_open()).count()
}

fn of_schedules(told: &AnalysisReport, of: &str) -> Conclusion {
    let fates: Vec<&FateReport> = told.schedules.iter().filter_map(|one| one.fate.as_ref()).collect();
    let lost: Vec<&FateReport> = told.commit_points.iter().filter_map(|one| one.fate.as_ref()).collect();
    let (schedules, points) = (told.schedules.len(), told.commit_points.len());
    let looked = format!("{schedules} schedules and {points} commit points of {of}");
    if told.run.is_none() {
        return Conclusion::new(format!("no schedule of whole transactions and no commit point is suspicious in {of}"))
            .violated(schedules + points, format!("{looked} may go wrong; --run tells which do"));
    }
    let all = || fates.iter().chain(&lost);
    let found = all().filter(|fate| fate.verdict == TrialVerdict::Manifest).count();
    let gaps = all().filter(|fate| fate.verdict.is_open()).map(|fate| Gap::new(GapCause::NotJudged, &fate.says));
    Conclusion::new(format!("none of {looked} goes wrong"))
        .violated(found, format!("{found} of {looked} go wrong"))
        .covering("schedules", all().count() as u64, Some((schedules + points) as u64))
        .with_gaps(gaps)
}
