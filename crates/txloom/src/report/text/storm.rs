//! A storm: what it will do, how far it is, what it came to.

use super::super::model::check::{StandingOrder, StandingVerdict, VerdictReport, ViolationReport};
use super::super::model::storm::{
    FaultCount, JudgementReport, LatencyReport, StormCounts, StormEnd, StormPlan, StormReport, ValidityReport,
};
use super::check::{title, write_violation};
use super::hunt::{count, duration, percent};
use super::invariants::write_invariants;
use super::line::{Line, Role};
use super::page::Page;
use super::table::Table;

/// So many losses are told; JSON has all of them.
const LOSSES_SHOWN: usize = 5;

/// What will be done.
pub(crate) fn write_plan(page: &mut Page, plan: &StormPlan) {
    page.heading(format!("Storming {} {}", plan.target.target, plan.target.version));
    let budget = match (plan.transactions_max, plan.seconds_max) {
        (None, None) => "until stopped".to_string(),
        (None, Some(seconds)) => duration(seconds),
        (Some(transactions), None) => count(transactions, "transaction"),
        (Some(transactions), Some(seconds)) => {
            format!("{} or {}", count(transactions, "transaction"), duration(seconds))
        }
    };
    let rate = plan.rate.map(|rate| format!(", at most {rate} a second")).unwrap_or_default();
    let mut told = vec![
        ("level", plan.level.clone()),
        ("profile", format!("{}, {}", plan.profile, count(plan.keys as u64, "key"))),
        ("sessions", plan.sessions.to_string()),
        ("seed", plan.seed.to_string()),
        ("budget", budget + &rate),
    ];
    if !plan.faults.is_empty() {
        let every = plan.faults.iter().map(|fault| format!("{} every {}", fault.kind, duration(fault.every_seconds)));
        told.push(("faults", every.collect::<Vec<_>>().join(", ")));
    }
    page.pairs(&told.into_iter().map(|(name, value)| (name, Line::plain(value))).collect::<Vec<_>>());
}

/// How far a storm is.
#[derive(Debug, Clone, PartialEq)]
pub struct StormProgress {
    /// Transactions that committed.
    pub committed: u64,
    /// Transactions that were rolled back.
    pub rolled_back: u64,
    /// What befell the server.
    pub faults: Vec<FaultCount>,
    /// How long it has been running.
    pub seconds: f64,
}

/// How far it is: as many of the parts as fit into one line.
pub(crate) fn progress(progress: &StormProgress, width: Option<usize>) -> Line {
    let StormProgress { committed, rolled_back, ref faults, seconds } = *progress;
    let mut parts = vec![format!("{committed} committed ({})", rate(committed, seconds))];
    parts.push(format!("{} rolled back", percent(rolled_back, committed + rolled_back)));
    if !faults.is_empty() {
        parts.push(fault_counts(faults));
    }
    let mut line = Line::plain(duration(seconds));
    for part in parts {
        let longer = line.clone().with(Role::Faint, " · ").with(Role::Plain, part);
        if width.is_some_and(|width| longer.width() > width) {
            break;
        }
        line = longer;
    }
    line
}

/// What it came to.
pub(crate) fn write_summary(page: &mut Page, report: &StormReport, is_verbose: bool) {
    let ended = match report.ended {
        StormEnd::Interrupted => ", then interrupted",
        StormEnd::Died => ", then the server died",
        StormEnd::NotRecovered => ", then the server did not recover",
        StormEnd::Damaged => ", then something was not as it must be",
        StormEnd::Failed => ", then the storm could not go on",
        _ => "",
    };
    let StormCounts { transactions, committed, unknown, .. } = report.counts;
    page.heading(format!("{} in {}{ended}", count(transactions, "transaction"), duration(report.seconds)));
    let generated = report.plan.generate_only;
    let done = if generated { "generated" } else { "committed" };
    let mut told = vec![(done, format!("{committed} ({})", rate(committed, report.seconds)))];
    match generated {
        true => told.push(("statements", report.counts.statements.to_string())),
        false => told.push(("rolled back", rolled_back(&report.counts))),
    }
    if unknown > 0 {
        told.push(("unknown", format!("{unknown} (the COMMIT was sent, and never answered)")));
    }
    if let Some(times) = &report.latency {
        told.push(("latency", latency(times)));
    }
    if let Some(met) = &report.contention {
        let share = percent(met.contended, met.operations);
        let of = count(met.operations, "operation");
        told.push(("contention", format!("{share} of {of} touched a key that a concurrent transaction wrote")));
        let pairs = count(met.dependencies, "pair");
        told.push(("dependencies", format!("{pairs} of transactions of which one read what the other wrote")));
    }
    if !report.faults.is_empty() {
        told.push(("faults", format!("{}{}", fault_counts(&report.faults), audits(report))));
    }
    if let Some(file) = &report.history {
        told.push(("history", file.clone()));
    }
    page.pairs(&told.into_iter().map(|(name, value)| (name, Line::plain(value))).collect::<Vec<_>>());
    report.troubles.iter().for_each(|trouble| page.paragraph(&Line::new(Role::Wait, trouble.as_str()), 2, 2));
    if let Some(validity) = &report.validity {
        write_validity(page, validity);
    }
    write_findings(page, report, is_verbose);
    if let Some(replay) = &report.replay {
        page.heading("To check it again");
        page.line(Line::plain(format!("  {replay}")));
    }
}

/// α where there is no room for a table.
fn write_alphas(page: &mut Page, validity: &ValidityReport) {
    for of in &validity.operations {
        let (all, alpha) = (of.valid + of.invalid + of.refused + of.skipped, of.alpha);
        let refused = format!("{} refused, {} skipped", of.refused, of.skipped);
        let line = format!("α {alpha:.4} of {}, {refused}; {:.4} of all", count(all, &of.kind), of.alpha_of_all);
        page.paragraph(&Line::plain(line), 2, 4);
    }
}

/// How valid it was: α, β and Δ.
fn write_validity(page: &mut Page, validity: &ValidityReport) {
    page.gap();
    let mut alphas = Table::new(&["operation", "touched a row", "did not", "refused", "skipped", "α", "α of all"]);
    alphas.right = vec![false, true, true, true, true, true, true];
    for of in &validity.operations {
        let counts = [of.valid, of.invalid, of.refused, of.skipped].map(|count| count.to_string());
        let shares = [of.alpha, of.alpha_of_all].map(|share| format!("{share:.4}"));
        alphas.rows.push([of.kind.clone()].into_iter().chain(counts).chain(shares).map(Line::plain).collect());
    }
    match alphas.total_width() + 2 <= page.width() {
        _ if alphas.rows.is_empty() => {}
        true => alphas.write(page, 2),
        false => write_alphas(page, validity),
    }
    page.gap();
    let mut told = Vec::new();
    if let Some(predicates) = &validity.predicates {
        let and = percent(predicates.conjunctive, predicates.count);
        let share = predicates
            .median_share
            .map_or_else(String::new, |share| format!(", median selectivity {:.1} %", share * 100.0));
        let attempts = predicates.attempts_each;
        told.push(("conditions", format!("{and} with AND{share}, {attempts:.2} attempts each")));
    }
    for of in &validity.accesses {
        let beta = match of.log10_of_one_minus_beta {
            None => "1".to_string(),
            Some(miss) if miss < -3.0 => format!("1 − 10^{miss:.0}"),
            Some(_) => format!("{:.3}", of.beta),
        };
        told.push(("β", format!("{beta} for {} on {}", count(of.accesses, &of.kind), of.table)));
    }
    for of in &validity.attributes {
        let (delta, bound) = (of.delta, of.bound);
        told.push(("Δ", format!("{delta:.4} for {}.{}, of at most {bound:.4}", of.table, of.attribute)));
    }
    page.pairs(&told.into_iter().map(|(name, value)| (name, Line::plain(value))).collect::<Vec<_>>());
}

fn write_findings(page: &mut Page, report: &StormReport, is_verbose: bool) {
    if matches!(report.ended, StormEnd::Died | StormEnd::NotRecovered)
        && let Some(failure) = &report.failure
    {
        page.gap();
        for (at, line) in failure.lines().enumerate() {
            let line = if at == 0 { Line::new(Role::Bad, "✗ ").with(Role::Plain, line) } else { Line::plain(line) };
            page.paragraph(&line, 0, 2);
        }
    }
    for damage in &report.damage {
        page.gap();
        let when = when(damage.after.as_ref());
        let items = count(damage.losses.len() as u64, "item");
        let line =
            Line::new(Role::Bad, "✗ ").with(Role::Plain, format!("{when}, {items} not as they must be (recorded):"));
        page.paragraph(&line, 0, 2);
        let shown = damage.losses.iter().take(LOSSES_SHOWN);
        shown.for_each(|loss| page.paragraph(&Line::plain(loss.as_str()), 2, 2));
        let more = damage.losses.len().saturating_sub(LOSSES_SHOWN);
        if more > 0 {
            page.line(Line::new(Role::Faint, format!("  … {more} more")));
        }
    }
    if let Some(invariants) = &report.invariants {
        page.gap();
        write_invariants(page, &report.plan.level, invariants);
    }
    page.gap();
    match &report.judgement {
        Some(judgement) => write_judgement(page, &report.plan.level, judgement, is_verbose),
        None if report.plan.generate_only => {
            page.line(Line::new(Role::Wait, "? nothing was sent, nothing was checked"))
        }
        None => page.line(Line::new(Role::Wait, "? nothing was checked")),
    }
}

/// When nobody was at work.
pub(super) fn when(after: Option<&FaultCount>) -> String {
    after.map_or_else(|| "at the end".to_string(), |fault| format!("after {} {}", fault.kind, fault.count))
}

fn write_judgement(page: &mut Page, level: &str, judgement: &JudgementReport, is_verbose: bool) {
    let promised = judgement.promised.as_deref().unwrap_or(level);
    let mut line = match &judgement.verdict {
        VerdictReport::Holds => Line::new(Role::Good, "✓ "),
        VerdictReport::Violated { .. } => Line::new(Role::Bad, "✗ "),
        VerdictReport::Undecided { .. } => Line::new(Role::Wait, "? "),
    };
    let promises_nothing = judgement.promises_nothing;
    line.push(Role::Strong, if promises_nothing { level } else { promised });
    match &judgement.verdict {
        _ if promises_nothing => line.push(Role::Plain, " promises nothing that could be broken"),
        VerdictReport::Holds => line.push(Role::Plain, " holds"),
        VerdictReport::Violated { violation } => {
            line.push(Role::Plain, format!(" is violated: {}", violation.title()));
        }
        VerdictReport::Undecided { why } => line.push(Role::Plain, format!(" is undecided: {why}")),
    }
    let seconds = judgement.check_ms as f64 / 1_000.0;
    let JudgementReport { evidence, transactions, operations, .. } = judgement;
    let words =
        format!(" ({evidence}: {transactions} transactions, {operations} operations; checked in {seconds:.2} s)");
    line.push(Role::Faint, words);
    page.paragraph(&line, 0, 2);
    if promised != level && !promises_nothing {
        let words = format!("which is what {level} promises here, for rows that are read and written");
        page.paragraph(&Line::new(Role::Faint, words), 2, 2);
    }
    page.paragraph(&Line::plain(strength(judgement)), 2, 2);
    if let VerdictReport::Violated { violation } = &judgement.verdict {
        write_violation(page, violation);
    }
    write_anomalies(page, judgement, is_verbose);
}

/// `satisfies strong session snapshot isolation; stronger, and not satisfied: serializable, repeatable read`.
fn strength(judgement: &JudgementReport) -> String {
    let with = |verdict: StandingVerdict| judgement.stronger.iter().filter(move |standing| standing.verdict == verdict);
    let mut parts = match judgement.strongest.as_slice() {
        // There was no time to ask.
        [] if judgement.verdict == VerdictReport::Holds => Vec::new(),
        [] if matches!(judgement.verdict, VerdictReport::Undecided { .. }) => Vec::new(),
        [] => vec!["satisfies no level at all".to_string()],
        names => vec![format!("satisfies {}", names.join(", "))],
    };
    // Of what is not even kept, nothing stronger is.
    let fails: Vec<String> =
        with(StandingVerdict::Violated).filter(|one| one.order == StandingOrder::Free).map(title).collect();
    if judgement.verdict == VerdictReport::Holds && !fails.is_empty() {
        parts.push(format!("stronger, and not satisfied: {}", fails.join(", ")));
    }
    match with(StandingVerdict::Undecided).count() as u64 {
        0 => {}
        open => parts.push(format!("{} undecided", count(open, "stronger level"))),
    }
    parts.join("; ")
}

/// All anomalies are named; the first is explained, if it is no news that the history violates something.
fn write_anomalies(page: &mut Page, judgement: &JudgementReport, is_verbose: bool) {
    let Some(first) = judgement.anomalies.first() else { return };
    let is_kept = judgement.verdict == VerdictReport::Holds;
    page.heading(if is_kept { "Seen, and allowed at this level" } else { "Also seen" });
    for violation in judgement.anomalies.iter().filter(|one| !is_variant(one, &judgement.anomalies)) {
        let times = if violation.count == 1 { String::new() } else { format!(" (found {} times)", violation.count) };
        page.paragraph(&Line::plain(format!("{}: {}{times}", violation.title(), violation.what)), 2, 2);
    }
    if is_kept && is_verbose {
        page.gap();
        page.paragraph(&Line::plain(format!("For example, {}:", first.title())), 2, 2);
        write_violation(page, first);
    } else if is_kept {
        page.paragraph(&Line::new(Role::Faint, "(--verbose draws and explains the first of them)"), 2, 2);
    }
}

/// Whether an anomaly was also seen without regard to sessions or real time: then that is all there is to say.
fn is_variant(one: &ViolationReport, all: &[ViolationReport]) -> bool {
    let plain = one.anomaly.strip_suffix("-process").or_else(|| one.anomaly.strip_suffix("-realtime"));
    plain.is_some_and(|plain| all.iter().any(|other| other.anomaly == plain))
}

/// `3 kills, 1 full disk`.
fn fault_counts(faults: &[FaultCount]) -> String {
    let one = |fault: &FaultCount| count(fault.count, &fault.kind.replace('-', " "));
    faults.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The result of the audits after faults and at the end, if they found everything: a pause or a partition is not followed
/// by one of its own.
fn audits(report: &StormReport) -> String {
    let is_kept = !report.invariants.as_ref().is_some_and(|asked| asked.is_violated());
    let is_whole = report.damage.is_empty() && report.ended != StormEnd::NotRecovered && is_kept;
    let faults: u64 = report.faults.iter().map(|fault| fault.count).sum();
    match report.audited {
        _ if !is_whole => String::new(),
        audited if audited >= faults => "; each time everything was there".to_string(),
        0 if report.is_audited_at_end => "; everything was there at the end".to_string(),
        audited if report.is_audited_at_end => {
            format!("; everything was there after the {audited} that were followed by an audit, and at the end")
        }
        0 => "; nothing was audited after them".to_string(),
        audited => format!("; everything was there after the {audited} that were followed by an audit"),
    }
}

fn rolled_back(counts: &StormCounts) -> String {
    let total: u64 = counts.rolled_back.iter().map(|class| class.count).sum();
    let classes: Vec<String> =
        counts.rolled_back.iter().map(|class| format!("{} {}", class.count, class.class)).collect();
    match total {
        0 => "0".to_string(),
        _ => format!("{total} ({}): {}", percent(total, counts.transactions), classes.join(", ")),
    }
}

fn latency(times: &LatencyReport) -> String {
    let LatencyReport { p50_ms, p95_ms, p99_ms, max_ms } = times;
    format!("p50 {p50_ms:.2} ms, p95 {p95_ms:.2} ms, p99 {p99_ms:.2} ms, max {max_ms:.2} ms")
}

fn rate(number: u64, seconds: f64) -> String {
    format!("{:.0}/s", number as f64 / seconds.max(0.001))
}

#[cfg(test)]
mod tests {
    use super::super::super::model::check::{EdgeReport, StandingReport};
    use super::super::super::model::hunt::TargetVersion;
    use super::super::super::model::storm::{
        AccessesReport, AttributeReport, ClassCount, ContentionReport, DamageReport, FaultPlan, OperationsReport,
        PredicatesReport,
    };
    use super::super::super::model::{Body, ExplanationReport, Report};
    use super::super::{TextOptions, print};
    use super::*;
    use crate::report::{golden, json};

    fn violation() -> ViolationReport {
        let edge = |from: &str, to: &str, kind: &str| EdgeReport {
            from: from.to_string(),
            to: to.to_string(),
            kind: kind.to_string(),
            key: Some("3".to_string()),
        };
        ViolationReport {
            anomaly: "P4".to_string(),
            name: "lost update".to_string(),
            what: "two write what both read".to_string(),
            citation: "A. Adya".to_string(),
            count: 12,
            explanation: ExplanationReport {
                lets: vec!["T1 (session 0, line 1): read 3 nil, write 3 1".to_string()],
                thens: vec!["T1 read nil of 3, and T2 wrote 2: T1 is before T2 (rw)".to_string()],
                however: vec!["then T1 is before itself: T1 → T2 → T1".to_string()],
            },
            transactions: Vec::new(),
            cycle: vec![edge("T1", "T2", "rw"), edge("T2", "T1", "ww")],
        }
    }

    fn judgement() -> JudgementReport {
        let standing = |level: &str, order: StandingOrder, anomaly: Option<&str>| StandingReport {
            level: level.to_string(),
            order,
            verdict: if anomaly.is_some() { StandingVerdict::Violated } else { StandingVerdict::Holds },
            anomaly: anomaly.map(str::to_string),
        };
        JudgementReport {
            evidence: "recorded".to_string(),
            promised: Some("read committed".to_string()),
            promises_nothing: false,
            is_stale: false,
            shown_by: None,
            verdict: VerdictReport::Holds,
            strongest: vec!["strong monotonic atomic view".to_string()],
            stronger: vec![
                standing("serializable", StandingOrder::Free, Some("P4")),
                standing("serializable", StandingOrder::Session, Some("P4")),
                standing("monotonic atomic view", StandingOrder::RealTime, None),
                standing("monotonic atomic view", StandingOrder::Free, None),
            ],
            anomalies: vec![violation()],
            transactions: 1_001,
            operations: 4_100,
            check_ms: 31,
        }
    }

    fn fault(kind: &str, count: u64) -> FaultCount {
        FaultCount { kind: kind.to_string(), count }
    }

    fn report() -> StormReport {
        StormReport {
            plan: StormPlan {
                target: TargetVersion { target: "mariadb".to_string(), version: "10.11".to_string() },
                level: "repeatable read".to_string(),
                profile: "registers".to_string(),
                sessions: 8,
                keys: 10,
                seed: 1,
                transactions_max: Some(1_000),
                seconds_max: Some(30.0),
                generate_only: false,
                rate: Some(500),
                faults: vec![FaultPlan { kind: "kill".to_string(), every_seconds: 5.0 }],
            },
            ended: StormEnd::Budget,
            failure: None,
            seconds: 2.5,
            counts: StormCounts {
                transactions: 1_000,
                committed: 900,
                rolled_back: vec![ClassCount { class: "deadlock".to_string(), count: 98 }],
                unknown: 2,
                statements: 3_900,
            },
            latency: Some(LatencyReport { p50_ms: 1.0, p95_ms: 2.5, p99_ms: 4.0, max_ms: 11.25 }),
            contention: Some(ContentionReport { operations: 3_900, contended: 1_000, dependencies: 800 }),
            validity: None,
            faults: vec![fault("kill", 3), fault("full-disk", 1)],
            audited: 4,
            is_audited_at_end: true,
            damage: Vec::new(),
            invariants: None,
            judgement: Some(judgement()),
            history: Some("storm.txh".to_string()),
            replay: None,
            troubles: vec!["a trouble".to_string()],
        }
    }

    fn check(file: &str, report: StormReport) {
        let whole = Report::new(Body::Storm(Box::new(report)));
        golden::check(file, &print(&whole, &TextOptions::default()));
        assert_eq!(json::parse(&json::print(&whole)).unwrap(), whole);
        let narrow = print(&whole, &TextOptions { width: 40, color: false, ..TextOptions::default() });
        assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
    }

    #[test]
    fn what_is_allowed_is_told_as_such() {
        check("storm.txt", report());
    }

    fn validity() -> ValidityReport {
        let operations = |kind: &str, invalid, alpha, alpha_of_all| OperationsReport {
            kind: kind.to_string(),
            valid: 960,
            invalid,
            refused: 30,
            skipped: 7,
            alpha,
            alpha_of_all,
        };
        let accesses = |kind: &str, beta, log10_of_one_minus_beta: f64| AccessesReport {
            table: "y".to_string(),
            kind: kind.to_string(),
            accesses: 700,
            degrees: 160,
            beta,
            log10_of_one_minus_beta: Some(log10_of_one_minus_beta),
        };
        let (table, attribute) = ("y".to_string(), "attr0".to_string());
        ValidityReport {
            operations: vec![operations("item-read", 0, 1.0, 0.9629), operations("predicate-read", 3, 0.9969, 0.96)],
            accesses: vec![accesses("item-read", 0.42, -0.24), accesses("update", 1.0, -104.3)],
            attributes: vec![AttributeReport { table, attribute, delta: 0.0077, bound: 0.0436 }],
            predicates: Some(PredicatesReport {
                count: 963,
                conjunctive: 640,
                median_share: Some(0.021),
                attempts_each: 1.9,
            }),
        }
    }

    #[test]
    fn validity_is_a_table() {
        let plan = StormPlan { profile: "ycsb-sql".to_string(), keys: 2_000, ..report().plan };
        check("storm_valid.txt", StormReport { plan, validity: Some(validity()), ..report() });
    }

    #[test]
    fn what_is_wrong_is_explained() {
        let loss = "7 has version 3, and not the later version 5, which was acknowledged";
        let damage = vec![DamageReport { after: Some(fault("kill", 3)), losses: vec![loss.to_string(); 7] }];
        let violated = VerdictReport::Violated { violation: Box::new(violation()) };
        let judgement = Some(JudgementReport { verdict: violated, ..judgement() });
        check("storm_damaged.txt", StormReport { ended: StormEnd::Damaged, damage, judgement, ..report() });
    }

    #[test]
    fn the_plan_says_what_will_be_done() {
        let mut page = Page::new(100);
        write_plan(&mut page, &report().plan);
        let expected = "Storming mariadb 10.11\n  level     repeatable read\n  profile   registers, 10 keys\n  \
                        sessions  8\n  seed      1\n  budget    1000 transactions or 30 s, at most 500 a second\n  \
                        faults    kill every 5 s\n";
        assert_eq!(page.paint(false), expected);
    }

    #[test]
    fn progress_is_one_line() {
        let now = StormProgress { committed: 90, rolled_back: 10, faults: vec![fault("kill", 2)], seconds: 2.0 };
        assert_eq!(progress(&now, None).text(), "2 s · 90 committed (45/s) · 10.0 % rolled back · 2 kills");
        assert_eq!(progress(&now, Some(30)).text(), "2 s · 90 committed (45/s)");
    }
}
