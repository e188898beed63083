//! A hunt as a report: runtime types → disk types.

use txloom_core::case::{Case, Item, Line};
use txloom_core::sql::StatementKind;

use super::{Counts, Ended, Found, Plan, StormFound, Summary};
use crate::report::build::engine_version;
use crate::report::model::hunt::{
    CountsReport, HuntEnd, HuntFinding, HuntReport, KnownReport, PlanReport, RecordedFinding, RejectionReport,
    StormsReport, TargetVersion, UndecidedReport,
};
use crate::report::model::{FindingReport, StormReport};

/// What will be done.
pub fn plan_report(plan: &Plan) -> PlanReport {
    let target = |engine: &txloom_core::engine::EngineInfo| TargetVersion {
        target: engine.target.clone(),
        version: engine_version(engine),
    };
    PlanReport {
        targets: plan.targets.iter().map(target).collect(),
        levels: plan.levels.iter().map(ToString::to_string).collect(),
        oracles: plan.oracles.iter().map(ToString::to_string).collect(),
        profile: plan.profile.clone(),
        seed: plan.seed,
        group: plan.group,
        workers: plan.workers,
        seconds_max: plan.budget.time.map(|time| time.as_secs_f64()),
        cases_max: plan.budget.cases,
        storms: plan
            .storms
            .map(|storms| StormsReport { every_groups: storms.every, seconds: storms.time.as_secs_f64() }),
    }
}

/// What was done.
pub fn counts_report(counts: &Counts) -> CountsReport {
    let statistics = &counts.statistics;
    CountsReport {
        cases: statistics.cases,
        runs: statistics.runs,
        statements: statistics.statements,
        accepted: statistics.accepted,
        with_wait: statistics.with_wait,
        with_deadlock: statistics.with_deadlock,
        with_serialization_failure: statistics.with_serialization_failure,
        examined: statistics.examined,
        contended: statistics.contended,
        undecided: counts.undecided_count(),
        undecided_cases: counts.undecided_cases,
        refused: counts.refused,
        unobserved: counts.unobserved,
        storms: counts.storms,
        storm_transactions: counts.storm_transactions,
        new: counts.new,
        repeated: counts.repeated,
        known: counts.known_count(),
        unreproducible: counts.unreproducible,
    }
}

/// Why judgements were not possible, most frequent first.
fn undecided_reports(counts: &Counts) -> Vec<UndecidedReport> {
    let report = |(reason, count): (&String, &u64)| UndecidedReport {
        reason: reason.clone(),
        count: *count,
        group: counts.undecided_in.get(reason).copied(),
    };
    let mut reports: Vec<UndecidedReport> = counts.undecided.iter().map(report).collect();
    reports.sort_by_key(|report| std::cmp::Reverse(report.count));
    reports
}

/// A finding, with what is told of it and the file that it was written to.
pub fn hunt_finding(found: &Found, plan: &Plan, finding: FindingReport, file: Option<String>) -> HuntFinding {
    HuntFinding {
        number: found.number,
        group: found.origin.group,
        generate: plan.group_command(found.origin.group),
        case_index: found.origin.case,
        repeats: found.repeats,
        steps: step_count(&found.finding.case),
        file,
        finding,
    }
}

/// What a hunt came to; `findings` and `recorded` are those of the summary, in its order.
pub fn hunt_report(summary: &Summary, mut findings: Vec<HuntFinding>, recorded: Vec<RecordedFinding>) -> HuntReport {
    for (told, found) in findings.iter_mut().zip(&summary.found) {
        told.repeats = found.repeats;
    }
    let statistics = &summary.counts.statistics;
    let known = |(id, count): (&String, &u64)| KnownReport { id: id.clone(), count: *count };
    let rejections = statistics.rejections().into_iter().map(|(message, rejection)| RejectionReport {
        message: message.to_string(),
        count: rejection.count,
        example: rejection.example.clone(),
    });
    let (ended, failure) = match &summary.ended {
        Ended::Budget => (HuntEnd::Budget, None),
        Ended::FirstFound => (HuntEnd::FirstFound, None),
        Ended::ByWatcher => (HuntEnd::Stopped, None),
        Ended::Interrupted => (HuntEnd::Interrupted, None),
        Ended::Failed(error) => (HuntEnd::Failed, Some(error.to_string())),
    };
    HuntReport {
        plan: plan_report(&summary.plan),
        ended,
        failure,
        seconds: summary.elapsed.as_secs_f64(),
        counts: counts_report(&summary.counts),
        known: summary.counts.known.iter().map(known).collect(),
        rejections: rejections.collect(),
        troubles: summary.counts.troubles.clone(),
        undecided: undecided_reports(&summary.counts),
        findings,
        recorded,
    }
}

/// A finding of a storm, with the file that its history was written to.
pub fn recorded_finding(number: usize, found: &StormFound, file: Option<String>) -> RecordedFinding {
    RecordedFinding {
        number,
        kind: found.kind.clone(),
        sentence: found.sentence.clone(),
        replay: file.as_deref().and_then(|file| found.replay_command(file)),
        storm: Box::new(StormReport { history: file.clone(), ..found.report.clone() }),
        file,
    }
}

/// How many steps a case has inside its transactions: what begins and ends them is not counted.
pub fn step_count(case: &Case) -> usize {
    let is_work = |item: &Item| match item {
        Item::Sql(sql) => !matches!(
            StatementKind::of(sql.as_str()),
            StatementKind::Begin | StatementKind::Commit | StatementKind::Rollback
        ),
        Item::Call(_) => true,
    };
    case.entries.iter().filter(|entry| matches!(&entry.line, Line::Step(_, item, _) if is_work(item))).count()
}
