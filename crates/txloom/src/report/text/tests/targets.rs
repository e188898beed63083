//! Several targets side by side, several schedules, executions that could not be had.

use super::plays::{case, lost_update, refused_update, target};
use crate::report::golden;
use crate::report::model::{
    CaseReport, Difference, MismatchPlace, MismatchReport, RunReport, RunResult, ScheduledRun, TargetDifference,
    TargetRun,
};
use crate::report::text::{TextOptions, print_case, print_case_line, print_totals};

fn failed(name: &str) -> TargetRun {
    let failure = "the setup failed at step 1: CREATE TABLE t (x jsonb)\n  unknown-object: no such type".to_string();
    TargetRun { target: name.to_string(), version: "3.50.4".to_string(), result: RunResult::Failed { failure } }
}

fn same_as(mut run: TargetRun, name: &str) -> TargetRun {
    if let RunResult::Observed(seen) = &mut run.result {
        seen.same_as = Some(name.to_string());
    }
    run
}

fn difference() -> Difference {
    Difference {
        at: "step b4 (UPDATE account SET balance = 40 WHERE id = 1)".to_string(),
        first: "1 row changed".to_string(),
        other: "error serialization-failure".to_string(),
    }
}

/// Three targets: two agree, one differs; a fourth cannot run the case.
fn side_by_side() -> CaseReport {
    let mismatch = MismatchReport {
        at: MismatchPlace::Step(6),
        line: Some(12),
        misunderstood: None,
        expected: "affected 1".to_string(),
        found: "error serialization-failure".to_string(),
    };
    let mut case = case("The second update waits for the first.", &lost_update().end());
    let differs = refused_update().on("model", "1.0").end();
    case.runs[0].targets = vec![
        target(&lost_update().end(), Vec::new()),
        same_as(target(&lost_update().on("postgres:17", "17.4").end(), Vec::new()), "postgres"),
        target(&differs, vec![mismatch]),
        failed("sqlite"),
    ];
    case.runs[0].differences = vec![TargetDifference {
        first_target: "postgres".to_string(),
        other_target: "model".to_string(),
        difference: difference(),
    }];
    case
}

#[test]
fn targets_that_agree_share_an_interleaving() {
    let mut case = case("The second update waits for the first.", &lost_update().end());
    let other = lost_update().on("postgres:17", "17.4").level("a", "serializable").level("b", "serializable").end();
    case.runs[0].targets.push(same_as(target(&other, Vec::new()), "postgres"));
    golden::check("targets_agree.txt", &print_case(&case, &TextOptions::default()));
}

#[test]
fn targets_that_differ_have_their_own() {
    golden::check("targets_differ.txt", &print_case(&side_by_side(), &TextOptions::default()));
}

#[test]
fn each_schedule_is_a_run() {
    let mut case = case("Two schedules.", &lost_update().end());
    case.runs[0].schedule = Some("a b a b a b a b".to_string());
    let RunResult::Observed(mut seen) = target(&refused_update().end(), Vec::new()).result else { unreachable!() };
    seen.divergence = Some(difference());
    let second =
        TargetRun { target: "postgres".to_string(), version: "15.18".to_string(), result: RunResult::Observed(seen) };
    let schedule = Some("a b a b a b b a".to_string());
    case.runs.push(ScheduledRun {
        schedule,
        policy: "wait".to_string(),
        targets: vec![second],
        differences: Vec::new(),
    });
    golden::check("schedules.txt", &print_case(&case, &TextOptions::default()));
}

#[test]
fn one_line_per_case_and_totals() {
    let options = TextOptions::default();
    let fine = case("Fine.", &lost_update().end());
    let mut provoking = side_by_side();
    provoking.anomaly = Some("P4".to_string());
    for (target, happened) in provoking.runs[0].targets.iter_mut().zip([true, true, false]) {
        let RunResult::Observed(seen) = &mut target.result else { unreachable!() };
        seen.anomaly_happened = Some(happened);
    }
    let report = RunReport { cases: vec![fine, side_by_side(), provoking] };
    let lines = report.cases.iter().map(|case| print_case_line(case, &options));
    let text: String = lines.chain([print_totals(&report.totals(), &options)]).collect();
    golden::check("lines.txt", &text);
    let none = print_totals(&RunReport::default().totals(), &options);
    assert_eq!(none, "0 cases on 0 targets\n");
}
