//! Findings of several targets, as the differential oracle makes them of played runs; and what else oracles say.

use txloom_core::case::{self, Case};
use txloom_core::engine::EngineInfo;
use txloom_core::oracle::diff::Diff;
use txloom_core::oracle::{Oracle, RunError, RunRequest, Runner, Verdict};
use txloom_core::outcome::ErrorClass;
use txloom_core::trace::{CancelReason, Trace};

use crate::report::build::finding_report;
use crate::report::fixtures::{Play, changed, ending, error, ok, rows, table};
use crate::report::model::{Body, FindingReport, JudgedCase, JudgedReport, VerdictReport};
use crate::report::text::{TextOptions, print, print_finding, print_judged_line};
use crate::report::{Report, golden, json};

struct Played(Vec<Trace>);

impl Runner for Played {
    fn targets(&self) -> Vec<EngineInfo> {
        self.0.iter().map(|trace| trace.engine.clone()).collect()
    }

    fn run(&mut self, request: &RunRequest<'_>) -> Result<Trace, RunError> {
        Ok(self.0[request.target].clone())
    }
}

const CASE: &str = "\
/*init*/ CREATE TABLE t (c1 INT PRIMARY KEY);
/*init*/ INSERT INTO t VALUES (3);
/*a*/ BEGIN;
/*a*/ UPDATE t SET c1 = 1;
/*b*/ DELETE FROM t;
/*a*/ COMMIT;
/*b*/ SELECT * FROM t FOR UPDATE;
";

fn finding(plays: Vec<Play>) -> FindingReport {
    let case: Case = case::parse(CASE).unwrap();
    let mut runner = Played(plays.into_iter().map(Play::end).collect());
    let Verdict::Violated(findings) = Diff::default().judge(&case, &mut runner).unwrap() else {
        panic!("they do not differ")
    };
    let replay = findings[0].replay_command("deleted.sql");
    finding_report(&findings[0], case::print::print(&case), replay)
}

fn begun() -> Play {
    Play::new("a b").done("a", "BEGIN", ok()).done("a", "UPDATE t SET c1 = 1", changed(1))
}

/// The update of a key is atomic, or not: b sees the row under its new key.
fn deleted(target: &str, version: &str, left: &[&[&str]]) -> Play {
    begun()
        .on(target, version)
        .waits("b", "DELETE FROM t", "a")
        .done("a", "COMMIT", ok())
        .goes_on("b", changed(1))
        .done("b", "SELECT * FROM t FOR UPDATE", rows("c1", left))
        .ends_with("t", table("c1", left))
        .ends_with("u", table("id name:text", &[&["1", "the same"]]))
}

/// b does not wait, and deletes nothing.
fn semi_consistent() -> Play {
    begun()
        .on("postgres", "15.18")
        .done("b", "DELETE FROM t", changed(0))
        .done("a", "COMMIT", ok())
        .done("b", "SELECT * FROM t FOR UPDATE", rows("c1", &[&["1"]]))
        .ends_with("t", table("c1", &[&["1"]]))
        .ends_with("u", table("id name:text", &[&["1", "the same"]]))
}

/// b still waits when a has committed, and is cancelled in the end.
fn forgotten() -> Play {
    begun()
        .on("mysql", "9.1")
        .waits("b", "DELETE FROM t", "a")
        .done("a", "COMMIT", ok())
        .cancelled("b", CancelReason::StillBlocked, error(ErrorClass::Cancelled, "70100", "interrupted"))
        .done("b", "SELECT * FROM t FOR UPDATE", rows("c1", &[&["1"]]))
        .ends_with("t", table("c1", &[&["1"]]))
        .ends_with("u", table("id name:text", &[&["1", "the same"]]))
}

/// b is the victim of a deadlock.
fn deadlock() -> Play {
    begun()
        .on("mysql", "9.1")
        .waits("b", "DELETE FROM t", "a")
        .done("a", "COMMIT", ok())
        .goes_on("b", ending(error(ErrorClass::Deadlock, "40001", "Deadlock found; try restarting transaction")))
        .done("b", "SELECT * FROM t FOR UPDATE", rows("c1", &[&["1"]]))
        .ends_with("t", table("c1", &[&["1"]]))
        .ends_with("u", table("id name:text", &[&["1", "the same"]]))
}

fn narrow() -> TextOptions {
    TextOptions { width: 60, ..TextOptions::default() }
}

#[test]
fn answers_that_differ_stand_side_by_side() {
    let found = finding(vec![deleted("mariadb", "10.7", &[&["1"]]), deleted("mysql", "9.1", &[])]);
    golden::check("compared_rows.txt", &print_finding(&found, &TextOptions::default()));
    golden::check("compared_rows_narrow.txt", &print_finding(&found, &narrow()));
}

#[test]
fn after_they_have_parted_each_goes_its_own_way() {
    let found = finding(vec![deleted("mariadb", "10.7", &[]), semi_consistent()]);
    golden::check("compared_waiting.txt", &print_finding(&found, &TextOptions::default()));
    golden::check("compared_waiting_narrow.txt", &print_finding(&found, &narrow()));
}

#[test]
fn what_only_one_of_them_lets_go_on() {
    let found = finding(vec![deleted("mariadb", "10.7", &[]), forgotten()]);
    golden::check("compared_resumed.txt", &print_finding(&found, &TextOptions::default()));
}

#[test]
fn of_several_targets_those_that_agree_are_told_together() {
    let plays = vec![deleted("mariadb:10", "10.11", &[]), deadlock(), deleted("mariadb:11", "11.8", &[])];
    golden::check("compared_three.txt", &print_finding(&finding(plays), &TextOptions::default()));
}

#[test]
fn a_server_that_dies_leaves_its_log() {
    let dies = begun().on("mysql", "9.1").dies("b", "DELETE FROM t", "signal 11", &["mysqld got signal 11 ;"]);
    let found = finding(vec![deleted("mariadb", "10.11", &[]), dies]);
    golden::check("compared_death.txt", &print_finding(&found, &TextOptions::default()));
}

fn judged() -> JudgedReport {
    let case = |file: &str, verdict| JudgedCase { file: file.to_string(), verdict };
    let found = finding(vec![deleted("mariadb", "10.7", &[&["1"]]), deleted("mysql", "9.1", &[])]);
    let words = |text: &str| text.to_string();
    JudgedReport {
        oracle: words("diff"),
        cases: vec![
            case("one.sql", VerdictReport::Holds { witness: words("mariadb and mysql went the same way") }),
            case("two.sql", VerdictReport::Violated { findings: vec![found] }),
            case("-", VerdictReport::Unknown { reason: words("a statement of a exceeded its time limit") }),
            case("four.sql", VerdictReport::Failed { failure: words("mysql: the setup failed\n  at step 1") }),
            case(
                "five.sql",
                VerdictReport::Unstable { first: words("that it holds"), second: words("diff-rows-1f0c93a5d2e4") },
            ),
        ],
    }
}

#[test]
fn a_verdict_is_a_line() {
    let (judged, options) = (judged(), TextOptions::default());
    let lines: String = judged.cases.iter().map(|case| print_judged_line("diff", case, &options)).collect();
    golden::check("judged.txt", &lines);
    let full = print(&Report::new(Body::Judged(judged)), &options);
    assert!(full.contains("To see it again") && full.contains("✓ one.sql"), "{full}");
}

#[test]
fn verdicts_and_all_their_runs_survive_json() {
    let report = Report::new(Body::Judged(judged()));
    let text = json::print(&report);
    assert_eq!(json::parse(&text).unwrap(), report);
    assert!(text.contains("\"kind\": \"judged\"") && text.contains("\"shared_events\""), "{text}");
}

#[test]
fn findings_without_comparison_can_still_be_read() {
    let found = finding(vec![deleted("mariadb", "10.7", &[&["1"]]), deleted("mysql", "9.1", &[])]);
    let mut json = serde_json::to_value(&found).unwrap();
    let fields = json.as_object_mut().unwrap();
    fields.remove("others");
    fields.remove("comparison");
    let old: FindingReport = serde_json::from_value(json).unwrap();
    assert!(old.others.is_empty() && old.comparison.is_none());
    assert!(print_finding(&old, &TextOptions::default()).contains("To see it again"));
}
