//! `analyze`: schedules that can go wrong, run on real databases; what cannot be read; what a newcomer does wrong.

use txloom::report::json;
use txloom::report::model::Body;
use txloom::report::model::analysis::{AnalysisReport, TrialVerdict};

use crate::support::{Finished, TestDir, limited, output};

fn analyze(arguments: &[&str]) -> Finished {
    output(&[&["analyze"], arguments].concat())
}

fn report(arguments: &[&str]) -> (AnalysisReport, i32) {
    let done = analyze(&[arguments, &["--format", "json"]].concat());
    match json::parse(&done.stdout).map(|report| report.body) {
        Ok(Body::Analysis(report)) => (*report, done.code),
        other => panic!("{arguments:?}: {other:?}\n{}", done.stderr),
    }
}

fn program(name: &str) -> String {
    format!("{}/../../corpus/programs/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn verdict(fate: Option<&txloom::report::model::analysis::FateReport>) -> &str {
    fate.map_or("not run", |fate| fate.verdict.name())
}

/// The paper's examples on one engine: exactly the expected schedules, each fails; the corrected versions are silent.
fn check_examples(target: &str) {
    let run = |name: &str| report(&[&program(name), "--run", "--on", target, "--level", "serializable"]);
    for (name, schedule) in [("agenda-1.sql", "⟨T1_A, T2_B, T2_A⟩"), ("agenda-2.sql", "⟨T1_A, T3_B, T2_A⟩")] {
        let (found, code) = run(name);
        let schedules: Vec<(&str, &str)> =
            found.schedules.iter().map(|it| (it.name.as_str(), verdict(it.fate.as_ref()))).collect();
        assert_eq!((schedules, code), (vec![(schedule, "manifest")], 1), "{name} on {target}");
        assert!(found.commit_points.is_empty(), "{name}");
    }
    let (found, code) = run("agenda-3.sql");
    assert_eq!((found.schedules.len(), found.commit_points.len(), code), (0, 1, 1), "{target}");
    let lost = &found.commit_points[0];
    assert_eq!(verdict(lost.fate.as_ref()), "manifest", "{target}: {lost:?}");
    let commit = lost.remark.marks.iter().find(|mark| mark.says.contains("dies here")).expect("a commit");
    assert_eq!(commit.line, 22);
    for name in ["agenda-1-fixed.sql", "agenda-2-fixed.sql", "agenda-3-fixed.sql"] {
        let (found, code) = run(name);
        assert_eq!((found.schedules.len(), found.commit_points.len(), code), (0, 0, 0), "{name} on {target}");
    }
}

#[test]
fn examples_fail_on_the_embedded_engines() {
    limited(|| {
        check_examples("sqlite");
        check_examples("model");
    });
}

#[test]
fn examples_fail_on_postgres() {
    limited(|| check_examples("postgres"));
}

#[test]
fn examples_fail_on_mariadb() {
    limited(|| check_examples("mariadb"));
}

/// What goes wrong is a case, and the command that is printed shows it again.
#[test]
fn what_goes_wrong_can_be_run_again() {
    limited(|| {
        let dir = TestDir::new("analyze-again");
        for (name, count) in [("agenda-1.sql", 1), ("agenda-3.sql", 1)] {
            let out = dir.path().join(name.trim_end_matches(".sql"));
            let (found, _) = report(&[&program(name), "--run", "-o", out.to_str().unwrap()]);
            let fates = found.schedules.iter().filter_map(|it| it.fate.as_ref());
            let fates: Vec<_> = fates.chain(found.commit_points.iter().filter_map(|it| it.fate.as_ref())).collect();
            assert_eq!(fates.len(), count);
            for fate in fates {
                let replay = fate.replay.as_ref().expect("a command").strip_prefix("txloom ").unwrap().to_string();
                let words: Vec<&str> = replay.split(' ').collect();
                let again = output(&words);
                assert_eq!(again.code, 1, "{replay}\n{}\n{}", again.stdout, again.stderr);
            }
        }
    });
}

/// Without `--level`, the default level of the database is searched, and the report says which and why.
#[test]
fn the_default_level_is_assumed_and_said() {
    limited(|| {
        let truth = |name: &str| program(&format!("../truth/{name}"));
        let assumed = |arguments: &[&str]| {
            let (found, code) = report(arguments);
            let anomalies = found.anomalies.expect("it searched");
            (anomalies.level, anomalies.assumed.unwrap_or_default(), code)
        };
        let (python, tables) = (truth("python/lost_update.py"), truth("accounts.sql"));
        let (level, why, code) = assumed(&[&python, "--schema", &tables]);
        assert_eq!((level.as_str(), code), ("postgres read committed", 1));
        assert!(why.contains("psycopg"), "{why}");
        let (level, _, code) = assumed(&[&truth("mysql-lost-update.sql")]);
        assert_eq!((level.as_str(), code), ("mariadb repeatable read", 1));
        let (level, _, code) = assumed(&[&truth("lost-update.sql"), "--on", "sqlite"]);
        assert_eq!((level.as_str(), code), ("sqlite serializable", 0));
        let (level, why, code) = assumed(&[&truth("lost-update.sql"), "--run"]);
        assert_eq!((level.as_str(), code), ("model read committed", 1));
        assert!(why.contains("no --on"), "{why}");
        // A level that is named is not assumed.
        let (level, why, _) = assumed(&[&truth("lost-update.sql"), "--level", "read-committed"]);
        assert_eq!((level.as_str(), why.as_str()), ("postgres read committed", ""));
    });
}

/// With autocommit, a schedule of single statements is possible, and goes wrong.
#[test]
fn autocommitted_statements_are_run_one_by_one() {
    limited(|| {
        let (file, tables) = (program("../truth/python/autocommit.py"), program("../truth/accounts.sql"));
        let (found, code) = report(&[&file, "--schema", &tables, "--run", "--on", "sqlite"]);
        let fates: Vec<&str> = found.schedules.iter().map(|it| verdict(it.fate.as_ref())).collect();
        assert_eq!((fates, code), (vec!["manifest"], 1));
    });
}

/// A directory with an application that is not read is unknown; one without any source is a mistake.
#[test]
fn an_application_that_is_not_read_is_unknown() {
    let dir = TestDir::new("analyze-unread");
    let folder = dir.path().to_str().unwrap();
    assert_eq!(analyze(&[folder]).code, 2);
    dir.file("package.json", "{ \"dependencies\": { \"typeorm\": \"0.3\" } }");
    let done = analyze(&[folder]);
    assert!(done.code == 5 && done.stderr.contains("TypeORM") && done.stderr.contains("general_log"), "{done:?}");
}

/// TPC-C with each query a transaction of its own, beside the paper's 34 queries, 39,304, 916, 127 and 11.
#[test]
fn tpcc_statement_by_statement() {
    let schema = program("tpcc/schema.sql");
    for source in ["tpcc/mariadb.sql", "tpcc/postgres.sql"] {
        let (found, code) = report(&[&program(source), "--schema", &schema, "--each-statement", "--summary"]);
        let summary = &found.summary;
        assert_eq!((summary.statements, summary.understood, code), (34, 34, 0), "{source}");
        let funnel = summary.funnel.expect("it was asked for");
        assert_eq!((summary.transactions, funnel.w1), (34, 39_304), "{source}");
        assert_eq!((funnel.w2, funnel.w3, funnel.w4), (1_590, 540, 118), "{source}");
        let (whole, _) = report(&[&program(source), "--schema", &schema, "--summary"]);
        assert_eq!(
            (whole.summary.transactions, whole.schedules.len()),
            (5, 0),
            "its transactions protect from all of them"
        );
    }
}

const ORDERS: &str = "\
CREATE TABLE t (k INT PRIMARY KEY, v INT NOT NULL);
CREATE PROCEDURE p(key INT, n INT)
BEGIN
  DECLARE old INT;
  SELECT v INTO :old FROM t WHERE k = :key;
  COMMIT;
  IF n > 10 THEN
    IF n < 5 THEN
      UPDATE t SET v = :old + 1 WHERE k = :key;
      COMMIT;
    END IF;
  END IF;
END;
";

#[test]
fn what_cannot_happen_is_said_to_be_impossible() {
    limited(|| {
        let dir = TestDir::new("analyze-impossible");
        let file = dir.file("p.sql", ORDERS);
        let (found, code) = report(&[&file, "--run"]);
        let fate = found.schedules[0].fate.as_ref().unwrap();
        assert_eq!((fate.verdict, code), (TrialVerdict::Impossible, 0));
        assert!(fate.says.contains("line 7") && fate.says.contains("line 8"), "{}", fate.says);
        // With room between the conditions, the solver finds a value.
        let file = dir.file("q.sql", &ORDERS.replace("n < 5", "n < 12"));
        let (found, code) = report(&[&file, "--run"]);
        let fate = found.schedules[0].fate.as_ref().unwrap();
        assert_eq!((fate.verdict, code), (TrialVerdict::Manifest, 1));
        assert_eq!(fate.calls, ["p(key=1, n=11)", "p(key=1, n=11)"]);
    });
}

#[test]
fn what_cannot_be_resolved_is_shown_and_the_rest_is_analysed() {
    let dir = TestDir::new("analyze-errors");
    let text = "\
CREATE TABLE flights (fltnum INT PRIMARY KEY, avail INT);
CREATE PROCEDURE p(flight INT)
BEGIN
  DECLARE seats INT;
  SELECT avail INTO :seats FROM flights WHERE fltnum = :flight;
  COMMIT;
  SELEC 1;
  UPDATE flihgts SET avail = 1;
  UPDATE flights SET avial = 1 WHERE fltnum = :flight;
  UPDATE flights SET avail = :seats - 1 WHERE fltnum = :flight;
END;
";
    let file = dir.file("p.sql", text);
    let (found, code) = report(&[&file]);
    assert_eq!(code, 1, "the rest is analysed: a schedule is found");
    let told: Vec<(usize, &str)> =
        found.remarks.iter().map(|remark| (remark.marks[0].line, remark.title.as_str())).collect();
    assert_eq!(
        told,
        [
            (7, "the statement cannot be read: expected an SQL statement, found SELEC"),
            (8, "there is no table flihgts"),
            (9, "the table flights has no column avial"),
        ]
    );
    assert_eq!(&text[found.remarks[1].marks[0].start..found.remarks[1].marks[0].end], "flihgts");
    assert_eq!((found.summary.statements, found.summary.understood), (5, 2));
    let shown = analyze(&[&file]);
    for part in ["UPDATE flihgts SET avail = 1;", "did you mean flights?", "2 of 5 statements understood"] {
        assert!(shown.stdout.contains(part), "{part}\n{}", shown.stdout);
    }
}

#[test]
fn newcomers_are_told_what_to_do() {
    let dir = TestDir::new("analyze-newcomer");
    let check = |arguments: &[&str], code: i32, part: &str| {
        let done = analyze(arguments);
        assert_eq!(done.code, code, "{arguments:?}\n{}\n{}", done.stdout, done.stderr);
        let all = done.stdout + &done.stderr;
        assert!(all.contains(part), "{arguments:?}: {part}\n{all}");
        assert!(!all.contains("panicked"), "{all}");
    };
    let empty = dir.file("empty.sql", "CREATE TABLE t (k INT);\n");
    let fine = program("agenda-1.sql");
    check(&[&empty], 2, "there is no procedure in");
    check(&["nowhere.sql"], 2, "cannot read nowhere.sql");
    check(&[], 2, "FILE");
    check(&[&fine, "--on", "oracle", "--run"], 2, "oracle");
    check(&[&fine, "--level", "seriously", "--run"], 2, "seriously");
    check(&[&fine, "-o", "x"], 2, "--run");
    check(&[&fine, "--run", "--on", "sqlite", "--level", "read committed"], 2, "read committed");
    let unknown = dir.file("s.toml", "[flihgts]\nrows = 2\n");
    check(&[&fine, "--samples", &unknown, "--run"], 2, "flihgts");
    let mysql =
        dir.file("m.sql", "CREATE TABLE t (k INT) ENGINE=InnoDB;\nCREATE PROCEDURE p() BEGIN SELECT 1; COMMIT; END;\n");
    check(&[&mysql, "--run"], 0, "No order of whole transactions");
    let asserted = |assert: &str| {
        let text = format!(
            "CREATE TABLE t (k INT);\nCREATE PROCEDURE take(n INT) BEGIN DELETE FROM t; END;\n-- @assert {assert}\n"
        );
        dir.file("asserted.sql", &text)
    };
    check(&[&asserted("kept tak gone: SELECT k FROM t")], 5, "there is no procedure tak");
    check(&[&asserted("after take gone: SELECT k FROM t WHERE k = :m")], 5, "no parameter of take; did you mean n?");
    check(&[&fine, "--tables"], 0, "xact_read_write");
    check(&[&fine, "--summary"], 0, "2 of 2 understood");
}

/// 2,000 lines in less than a second, also unoptimised. Machines are busy: the fastest of several counts.
#[test]
fn long_files_are_no_trouble() {
    let dir = TestDir::new("analyze-long");
    let mut text = String::from("CREATE TABLE t (k INT PRIMARY KEY, a INT, b INT, c INT);\n");
    for number in 0..142 {
        text += &format!(
            "CREATE PROCEDURE p{number}(x INT, y INT)\nBEGIN\n  DECLARE old INT;\n  SELECT a INTO :old FROM t WHERE k = :x;\n  IF \
             old > :y THEN\n    UPDATE t SET a = :old - :y WHERE k = :x;\n  ELSE\n    UPDATE t SET b = b + 1 WHERE k = :x;\n  END \
             IF;\n  SELECT c INTO :old FROM t WHERE k = :y;\n  UPDATE t SET c = :old + 1\n    WHERE k = :y;\n  COMMIT;\nEND;\n"
        );
    }
    assert!(text.lines().count() >= 1_989, "{}", text.lines().count());
    let file = dir.file("long.sql", &text);
    let (found, code) = report(&[&file, "--summary"]);
    assert_eq!((found.summary.procedures, found.summary.understood, code), (142, 710, 0));
}

/// `@assert after`, `@assert kept`: asked with what the call was given and gave back, then and at the end.
#[test]
fn assertions_about_calls_are_asked_when_calls_end() {
    limited(|| {
        let dir = TestDir::new("analyze-after");
        dir.file(
            "p.sql",
            "CREATE PROCEDURE take(n INT, OUT left_over INT)\nBEGIN\n  UPDATE t SET v = v - :n WHERE k = 1;\n  SELECT v INTO \
             :left_over FROM t WHERE k = 1;\n  COMMIT;\nEND;\n",
        );
        let case = |assertion: &str| {
            format!(
                "-- @case 1\n-- @program p.sql\n/*init*/ CREATE TABLE t (k INT PRIMARY KEY, v INT);\n/*init*/ INSERT INTO t \
                 VALUES (1, 10);\n-- @assert {assertion}\n/*a*/ -- call take(n=4)\n/*a*/ -- call take(n=7)\n"
            )
        };
        for (assertion, code) in [
            ("after take enough: SELECT k FROM t WHERE :left_over < 0", 1),
            ("after take same: SELECT k FROM t WHERE v <> :left_over", 0),
            ("after take few: SELECT k FROM t WHERE :n > 7", 0),
            ("kept take same: SELECT k FROM t WHERE v <> :left_over", 1),
            ("kept take gone: SELECT k FROM t WHERE v > :left_over", 0),
        ] {
            let file = dir.file("case.sql", &case(assertion));
            let done = output(&["run", &file, "--oracle", "invariant"]);
            assert_eq!(done.code, code, "{assertion}\n{}\n{}", done.stdout, done.stderr);
        }
        let file = dir.file("case.sql", &case("after take enough: SELECT k FROM t WHERE :left_over < 0"));
        let done = output(&["run", &file, "--oracle", "invariant"]);
        assert!(done.stdout.contains("the assertion enough does not hold after step a8"), "{}", done.stdout);
        let file = dir.file("case.sql", &case("kept take same: SELECT k FROM t WHERE v <> :left_over"));
        let done = output(&["run", &file, "--oracle", "invariant"]);
        assert!(done.stdout.contains("the assertion same does not hold at the end"), "{}", done.stdout);
    });
}
