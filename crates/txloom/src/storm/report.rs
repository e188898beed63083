//! A storm as a report: runtime types → disk types.

use std::cmp::Reverse;
use std::time::Duration;

use txloom_core::finding::shell_word;
use txloom_core::history::History;
use txloom_core::history::anomaly::Named;
use txloom_core::history::check::{Checker, Verdict};
use txloom_core::history::survey::{Standing, Survey};
use txloom_core::level::formal::{Level, Order};
use txloom_core::outcome::ErrorClass;
use txloom_core::shadow::measure::{Accessibility, OperationKind};

use super::contention::Contention;
use super::fresh::{SHOWN_BY, StaleRead, excerpt};
use super::invariant::Breach;
use super::judge::{Judgement, Promise, promise};
use super::latency::Latency;
use super::validity::Figures;
use super::{Ended, FaultCounts, FaultKind, Plan, Progress, Recurring, Summary, Tally, Workload};
use crate::report::build::engine_version;
use crate::report::history::{standing, violation};
use crate::report::model::check::{VerdictReport, ViolationReport};
use crate::report::model::hunt::TargetVersion;
use crate::report::model::storm::{
    AccessesReport, AttributeReport, BreachReport, ClassCount, ContentionReport, DamageReport, FaultCount, FaultPlan,
    InvariantsReport, JudgementReport, LatencyReport, OperationsReport, PredicatesReport, StormCounts, StormEnd,
    StormPlan, StormReport, ValidityReport,
};
use crate::report::text::StormProgress;

/// What a session is called in explanations.
const SESSION: &str = "session";

/// What will be done.
pub fn plan_report(plan: &Plan) -> StormPlan {
    StormPlan {
        target: TargetVersion { target: plan.engine.target.clone(), version: engine_version(&plan.engine) },
        level: plan.level.to_string(),
        profile: plan.profile.clone(),
        sessions: plan.scale.sessions,
        keys: plan.scale.keys,
        seed: plan.seed,
        transactions_max: plan.budget.transactions,
        seconds_max: plan.budget.time.map(|time| time.as_secs_f64()),
        generate_only: plan.generate_only,
        rate: plan.rate,
        faults: plan.faults.iter().map(fault_plan).collect(),
    }
}

/// How far it is.
pub fn progress_report(progress: &Progress) -> StormProgress {
    let Progress { committed, rolled_back, ref faults, elapsed } = *progress;
    StormProgress { committed, rolled_back, faults: fault_counts(faults), seconds: elapsed.as_secs_f64() }
}

/// What a storm came to; its workload names the items.
pub fn storm_report(summary: &Summary, judgement: Option<JudgementReport>, workload: &dyn Workload) -> StormReport {
    let (ended, failure) = ended(&summary.ended);
    let damage = summary.damage.iter().map(|damage| DamageReport {
        after: damage.after.map(nth_fault),
        losses: damage.losses.iter().map(|loss| loss.sentence(&|item| workload.item_name(item))).collect(),
    });
    let contention = summary.contention.map(|Contention { operations, contended, dependencies }| ContentionReport {
        operations,
        contended,
        dependencies,
    });
    StormReport {
        plan: plan_report(&summary.plan),
        ended,
        failure,
        seconds: summary.elapsed.as_secs_f64(),
        counts: counts(&summary.tally),
        latency: latency(&summary.tally.latency),
        contention,
        validity: summary.figures.as_ref().map(validity_report),
        faults: fault_counts(&summary.faults),
        audited: summary.audited,
        is_audited_at_end: summary.is_audited_at_end,
        damage: damage.collect(),
        invariants: invariants(summary),
        judgement,
        history: None,
        replay: None,
        troubles: summary.troubles.clone(),
    }
}

/// How valid it was.
pub fn validity_report(figures: &Figures) -> ValidityReport {
    let kinds = OperationKind::ALL.into_iter().map(|kind| (kind, figures.alphas.of(kind)));
    let used = kinds.filter(|(_, counts)| **counts != Accessibility::default());
    let operations = used.map(|(kind, counts)| OperationsReport {
        kind: kind.name().to_string(),
        valid: counts.valid,
        invalid: counts.invalid,
        refused: counts.refused,
        skipped: counts.skipped,
        alpha: counts.alpha(),
        alpha_of_all: counts.alpha_of_all(),
    });
    // Of a single class of keys nothing can be said.
    let judged = figures.goodness.iter().filter(|(_, _, goodness)| goodness.degrees > 0);
    let accesses = judged.map(|(table, kind, goodness)| AccessesReport {
        table: table.clone(),
        kind: kind.name().to_string(),
        accesses: goodness.accesses,
        degrees: goodness.degrees,
        beta: goodness.beta(),
        log10_of_one_minus_beta: Some(goodness.miss_log10()).filter(|log| log.is_finite()),
    });
    let attributes = figures.stability.iter().map(|stability| AttributeReport {
        table: stability.table.clone(),
        attribute: stability.attribute.clone(),
        delta: stability.deviation,
        bound: stability.bound,
    });
    let predicates = &figures.predicates;
    ValidityReport {
        operations: operations.collect(),
        accesses: accesses.collect(),
        attributes: attributes.collect(),
        predicates: (predicates.count > 0).then(|| PredicatesReport {
            count: predicates.count,
            conjunctive: predicates.conjunctive,
            median_share: predicates.median_share(),
            attempts_each: predicates.attempts as f64 / predicates.count as f64,
        }),
    }
}

fn invariants(summary: &Summary) -> Option<InvariantsReport> {
    let broken: Vec<BreachReport> = summary.breaches.iter().map(breach).collect();
    let was_asked = summary.invariants > 0 || !broken.is_empty();
    let promised = || promise(&summary.plan.engine, &summary.plan.level).map(|level| level.to_string());
    was_asked.then(|| InvariantsReport {
        evidence: "recorded".to_string(),
        promised: promised(),
        asked: summary.invariants,
        broken,
    })
}

fn breach(breach: &Breach) -> BreachReport {
    let Breach { invariant, after, found, .. } = breach;
    BreachReport {
        name: invariant.name.to_string(),
        says: invariant.says.clone(),
        from: invariant.from.to_string(),
        is_allowed: breach.is_allowed(),
        after: after.map(nth_fault),
        query: invariant.query.clone(),
        columns: found.columns.clone(),
        rows: found.rows.clone(),
        row_count: found.row_count,
    }
}

fn nth_fault((kind, nth): (FaultKind, u64)) -> FaultCount {
    FaultCount { kind: kind.name().to_string(), count: nth }
}

fn fault_plan(fault: &Recurring) -> FaultPlan {
    FaultPlan { kind: fault.kind.name().to_string(), every_seconds: fault.every.as_secs_f64() }
}

fn fault_counts(faults: &FaultCounts) -> Vec<FaultCount> {
    faults.iter().map(|(kind, count)| FaultCount { kind: kind.name().to_string(), count }).collect()
}

fn ended(ended: &Ended) -> (StormEnd, Option<String>) {
    match ended {
        Ended::Budget => (StormEnd::Budget, None),
        Ended::ByWatcher => (StormEnd::Stopped, None),
        Ended::Interrupted => (StormEnd::Interrupted, None),
        Ended::Died(death) => (StormEnd::Died, Some(death.to_string())),
        Ended::NotRecovered(error) => (StormEnd::NotRecovered, Some(error.to_string())),
        Ended::Damaged => (StormEnd::Damaged, None),
        Ended::Failed(error) => (StormEnd::Failed, Some(error.to_string())),
    }
}

fn counts(tally: &Tally) -> StormCounts {
    let name = |class: Option<ErrorClass>| class.map_or("choice", ErrorClass::name).to_string();
    let class = |(class, count): (&Option<ErrorClass>, &u64)| ClassCount { class: name(*class), count: *count };
    let mut rolled_back: Vec<ClassCount> = tally.rolled_back.iter().map(class).collect();
    rolled_back.sort_by_key(|class| Reverse(class.count));
    StormCounts {
        transactions: tally.transactions(),
        committed: tally.committed,
        rolled_back,
        unknown: tally.unknown,
        statements: tally.statements,
    }
}

fn latency(latency: &Latency) -> Option<LatencyReport> {
    let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
    let percentile = |percent| latency.percentile(percent).map(ms);
    Some(LatencyReport {
        p50_ms: percentile(50.0)?,
        p95_ms: percentile(95.0)?,
        p99_ms: percentile(99.0)?,
        max_ms: latency.max().map(ms)?,
    })
}

/// A stale read, explained by the transactions that it concerns.
fn stale_violation(history: &History, stale: &StaleRead) -> Option<ViolationReport> {
    let excerpt = excerpt(history, stale);
    let checker = Checker::new(&excerpt).ok()?;
    match checker.check(SHOWN_BY, &|| false) {
        Verdict::Violated(reason) => Some(ViolationReport {
            anomaly: "stale-read".to_string(),
            name: "stale read".to_string(),
            what: "a transaction does not see what was acknowledged before it began".to_string(),
            ..violation(&excerpt, &checker, &reason, 1, SESSION)
        }),
        Verdict::Holds(_) | Verdict::Undecided(_) => None,
    }
}

/// The command that shows again what is wrong with a history; `None` if the history shows nothing wrong.
pub fn check_command(report: &StormReport, file: &str) -> Option<String> {
    let level = report.judgement.as_ref()?.shown_by.as_deref()?;
    Some(format!("txloom check {} --level {}", shell_word(file), level.replace(' ', "-")))
}

/// What the checker says.
pub fn judgement_report(history: &History, judgement: &Judgement<'_>) -> JudgementReport {
    let Judgement { checker, promised, verdict, stale, survey, time } = judgement;
    let tell = |reason, count| violation(history, checker, reason, count, SESSION);
    let violated = match verdict {
        Verdict::Violated(reason) => Some(tell(reason, 1)),
        Verdict::Holds(_) | Verdict::Undecided(_) => stale.as_ref().and_then(|stale| stale_violation(history, stale)),
    };
    let shown_by = match verdict {
        Verdict::Violated(_) => promised.map(|level| level.to_string()),
        Verdict::Holds(_) | Verdict::Undecided(_) => violated.as_ref().map(|_| SHOWN_BY.to_string()),
    };
    let is_stale = violated.is_some() && !matches!(verdict, Verdict::Violated(_));
    let is_same = |named: &Named| violated.as_ref().is_some_and(|told| told.anomaly == named.to_string());
    let anomalies: Vec<ViolationReport> = survey
        .iter()
        .flat_map(|survey| &survey.anomalies)
        .filter(|found| !is_same(&found.named))
        .map(|found| tell(&found.example, found.count))
        .collect();
    let is_stronger = |level: Level, order: Order| {
        let Some(Promise::Level(promised)) = *promised else { return true };
        level.implies(promised.level) && (level != promised.level || order > promised.order)
    };
    let standings = survey.iter().flat_map(|survey| &survey.standings);
    let stronger = standings.filter(|(asked, _)| is_stronger(asked.level, asked.order));
    JudgementReport {
        evidence: "recorded".to_string(),
        promised: if is_stale { Some("real time".to_string()) } else { promised.map(|level| level.to_string()) },
        promises_nothing: *promised == Some(Promise::Nothing),
        is_stale,
        shown_by,
        verdict: match (verdict, violated) {
            (_, Some(violation)) => VerdictReport::Violated { violation: Box::new(violation) },
            (Verdict::Undecided(why), None) => VerdictReport::Undecided { why: why.clone() },
            _ => VerdictReport::Holds,
        },
        strongest: survey.iter().flat_map(Survey::strongest).map(|level| level.to_string()).collect(),
        stronger: stronger.map(|(asked, known): &(_, Standing)| standing(*asked, known)).collect(),
        anomalies,
        transactions: history.len(),
        operations: history.op_count(),
        check_ms: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
    }
}
