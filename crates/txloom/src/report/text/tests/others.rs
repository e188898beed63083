//! Findings and the doctor, and the JSON form of everything.

use txloom_core::case::{Call, Case, Item, Line, SessionName};
use txloom_core::finding::{Explanation, Finding, Fingerprint, Violation};
use txloom_core::value::Value;

use super::plays::{case, lost_update, refused_update};
use crate::report::build::finding_report;
use crate::report::fixtures::{Play, changed, ok, rows, table};
use crate::report::model::doctor::{LogAdvice, PlantedReport, RunningReport, TargetState};
use crate::report::model::{
    Body, DoctorReport, FindingReport, FindingsReport, ReducedCase, ReducedReport, RunReport, SizeReport, TargetStatus,
};
use crate::report::text::{TextOptions, print};
use crate::report::{Report, golden, json};

/// The lost update of two withdrawals, as calls of a program.
fn finding() -> FindingReport {
    let call = |amount| Call {
        procedure: "withdraw".to_string(),
        arguments: vec![("account".to_string(), Value::int(1)), ("amount".to_string(), Value::int(amount))],
    };
    let step = |name: &str, amount| Line::Step(SessionName::new(name).unwrap(), Item::Call(call(amount)), Vec::new());
    let case = Case { entries: vec![step("a", 60).into(), step("b", 50).into()], ..Case::default() };
    let read = "SELECT balance FROM account WHERE id = 1";
    let trace = Play::new("a b")
        .on("model+lost-update", "1")
        .level("a", "snapshot isolation")
        .level("b", "snapshot isolation")
        .done("a", "BEGIN", ok())
        .of_item(0)
        .done("a", read, rows("balance", &[&["100"]]))
        .of_item(0)
        .done("b", "BEGIN", ok())
        .of_item(0)
        .done("b", read, rows("balance", &[&["100"]]))
        .of_item(0)
        .done("b", "UPDATE account SET balance = 50 WHERE id = 1", changed(1))
        .of_item(0)
        .done("b", "COMMIT", ok())
        .of_item(0)
        .done("a", "UPDATE account SET balance = 40 WHERE id = 1", changed(1))
        .of_item(0)
        .done("a", "COMMIT", ok())
        .of_item(0)
        .ends_with("account", table("id balance", &[&["1", "40"]]))
        .end();
    let sentences = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
    let explanation = Explanation {
        lets: sentences(&["T1 be a's transaction (steps a1 to a4)", "T2 be b's transaction (steps b1 to b4)"]),
        thens: sentences(&[
            "T1 read account 1 before T2 changed it: T1 comes before T2",
            "T1 changed account 1 after T2 did: T2 comes before T1",
        ]),
        however: sentences(&[
            "no serial order ends with (1, 40): T1 T2 ends with (1, 40) only if T2 refuses, T2 T1 ends with (1, 50)",
        ]),
    };
    let sentence = "two withdrawals both succeed, and one of them is lost".to_string();
    let violation = Violation { sentence, explanation, fingerprint: Fingerprint::new("serial-rows", &[]) };
    let finding = Finding::new("serial", violation, case, trace);
    let text = "-- @case 1\n-- @isolation snapshot isolation\n/*init*/ CREATE TABLE account (id INT PRIMARY KEY, balance INT);\n/*a*/ BEGIN;\n";
    finding_report(&finding, text.to_string(), "txloom run lost-update.sql --on model+lost-update".to_string())
}

fn doctor() -> DoctorReport {
    let target =
        |target: &str, state, version: Option<&str>, place: Option<&str>, problem: Option<&str>| TargetStatus {
            target: target.to_string(),
            what: "a database".to_string(),
            state,
            version: version.map(str::to_string),
            place: place.map(str::to_string),
            problem: problem.map(str::to_string),
        };
    DoctorReport {
        targets: vec![
            target("sqlite", TargetState::Ready, Some("3.50.4"), Some("built in"), None),
            target("postgres:15", TargetState::Ready, Some("15.18"), Some("/usr/lib/postgresql/15/bin"), None),
            target(
                "mariadb",
                TargetState::Missing,
                None,
                None,
                Some(
                    "no server binaries were found; `apt install mariadb-server` brings them, and then some more words follow",
                ),
            ),
        ],
        unconfined: vec!["servers can reach the network (`unshare --net` fails)".to_string()],
        planted: vec![PlantedReport {
            target: "model+lost-update".to_string(),
            what: "an update is let through".to_string(),
        }],
        running: vec![RunningReport { target: "postgres://HOST/DB".to_string(), what: "a running server".to_string() }],
        logs: vec![LogAdvice {
            server: "PostgreSQL".to_string(),
            settings: vec!["one;".to_string(), "two;".to_string()],
        }],
    }
}

#[test]
fn a_finding_in_full() {
    let report = Report::new(Body::Findings(FindingsReport { findings: vec![finding()] }));
    golden::check("finding.txt", &print(&report, &TextOptions::default()));
}

fn reduced() -> ReducedCase {
    let size = |items: usize, characters: usize| SizeReport { sessions: 2, items, characters, ..SizeReport::default() };
    let (file, before, after) = ("shop.sql".to_string(), size(22, 1750), size(4, 98));
    ReducedCase { file, tests: 117, complete: true, before, after, finding: finding() }
}

#[test]
fn a_reduction_says_what_it_took() {
    let report = Report::new(Body::Reduced(ReducedReport { cases: vec![reduced()] }));
    let text = print(&report, &TextOptions::default());
    let expected = "
The reduction
  before  2 sessions, 22 steps, 0 setup statements, 0 rows, 0 switches, 1750 characters (shop.sql)
  after   2 sessions, 4 steps, 0 setup statements, 0 rows, 0 switches, 98 characters
  tests   117; nothing more can be taken away
";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn the_doctor() {
    golden::check("doctor.txt", &print(&Report::new(Body::Doctor(doctor())), &TextOptions::default()));
}

#[test]
fn every_report_survives_json() {
    let cases = vec![case("One.", &lost_update().end()), case("Two.", &refused_update().left_open("a").end())];
    for body in [
        Body::Run(RunReport { cases }),
        Body::Findings(FindingsReport { findings: vec![finding()] }),
        Body::Reduced(ReducedReport { cases: vec![reduced()] }),
        Body::Doctor(doctor()),
    ] {
        let report = Report::new(body);
        let text = json::print(&report);
        assert_eq!(json::parse(&text).unwrap(), report);
    }
}

#[test]
fn the_json_form_of_a_run() {
    let cases = vec![case("The second update is refused.", &refused_update().end())];
    golden::check("run.json", &json::print(&Report::new(Body::Run(RunReport { cases }))));
}

#[test]
fn other_versions_are_refused() {
    let text = json::print(&Report::new(Body::Run(RunReport::default())));
    let newer = text.replace("\"txloom_report\": 1", "\"txloom_report\": 2");
    assert_ne!(text, newer);
    let error = json::parse(&newer).unwrap_err().to_string();
    assert!(error.contains("format version 2; this txloom reads version 1"), "{error}");
}
