//! Cases made smaller: hand-written and imported ones.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use txloom_core::case::{Case, parse};
use txloom_core::reduce::Size;

use crate::support::{Finished, TestDir, limited, output, txloom};

/// What `reduce` wrote, and that it shows the same when it is run again by the command that was printed.
#[track_caller]
fn shown_again(reduced: &Finished, path: &str) -> Case {
    assert_eq!(reduced.code, 1, "{}{}", reduced.stdout, reduced.stderr);
    let replay = reduced.stdout.lines().find_map(|line| line.trim().strip_prefix("txloom run ")).expect("a command");
    let arguments: Vec<&str> = ["run"].into_iter().chain(replay.split_whitespace()).collect();
    let again = output(&arguments);
    assert_eq!(again.code, 1, "{replay}: {}{}", again.stdout, again.stderr);
    parse(&std::fs::read_to_string(path).expect("the reduced case")).expect("a case")
}

fn reduced(case: &str, on: &[&str], flags: &[&str], folder: &TestDir) -> (Case, Finished) {
    let path = folder.path().join("reduced.sql").display().to_string();
    let arguments = [&["reduce", case, "--on"][..], on, flags, &["-o", &path]].concat();
    let finished = output(&arguments);
    (shown_again(&finished, &path), finished)
}

#[test]
fn a_long_case_becomes_a_short_one() {
    limited(|| {
        let folder = TestDir::new("reduce-long");
        let on = ["model+lost-update"];
        let (case, finished) = reduced("examples/shop.sql", &on, &["--level", "serializable"], &folder);
        let size = Size::of(&case);
        assert!(size.sessions == 2 && size.statements <= 3 && size.setup == 2 && size.rows == 1, "{size:?}");
        assert!(size.characters < 200, "{}", finished.stdout);
        for words in ["22 steps", "nothing more can be taken away", "A contradiction", "planted"] {
            assert!(finished.stdout.contains(words), "no `{words}` in\n{}", finished.stdout);
        }
    });
}

/// A report in the format of DT² and Troc: what MariaDB deletes, PostgreSQL refuses to.
const REPORT: &str = "\
CREATE TABLE t(c1 INT, c2 INT);
INSERT INTO t VALUES (1, 1), (2, 2);

BEGIN;
SELECT * FROM t WHERE c2 > 0;
SELECT c1 FROM t;
DELETE FROM t WHERE c1 = 1 OR c2 = 2;
COMMIT;

BEGIN;
UPDATE t SET c2 = 20 WHERE c1 = 2;
DELETE FROM t WHERE c1 = 1;
COMMIT;

1-1-2-2-2-2-1-1-1
END
";

#[test]
fn an_imported_case_is_reduced_to_what_two_databases_do_not_agree_on() {
    limited(|| {
        let folder = TestDir::new("reduce-imported");
        let report = folder.file("report.txt", REPORT);
        let flags = ["--oracle", "diff", "--level", "repeatable-read", "--statement-limit", "5s"];
        let (case, finished) = reduced(&report, &["mariadb", "postgres"], &flags, &folder);
        let size = Size::of(&case);
        assert!(size.statements <= 3 && size.rows == 1 && size.characters < 130, "{size:?}\n{}", finished.stdout);
        assert!(finished.stdout.contains("serialization-failure"), "{}", finished.stdout);
    });
}

#[test]
fn an_unmet_expectation_is_kept_with_what_shows_that_it_may_be_expected() {
    limited(|| {
        let folder = TestDir::new("reduce-expected");
        let text = "-- @isolation snapshot isolation
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 40);
/*a*/ BEGIN;
/*a*/ SELECT id, v FROM t WHERE v > 10;
-- > rows (1, 40)
/*b*/ BEGIN;
/*b*/ SELECT COUNT(*) FROM t;
/*a*/ UPDATE t SET v = v + 3 WHERE id = 1;
/*a*/ COMMIT;
/*b*/ UPDATE t SET v = v + 4 WHERE id = 1;
/*b*/ COMMIT;
/*a*/ SELECT 1;
-- @final t (1, 47)
";
        let path = folder.file("expected.sql", text);
        let (case, finished) = reduced(&path, &["model+lost-update"], &[], &folder);
        assert!(finished.stdout.contains("when the sessions run one after the other"), "{}", finished.stdout);
        // Without either of the updates nobody could expect 47.
        assert_eq!(case.finals().count(), 1);
        assert!(Size::of(&case).statements <= 3, "{}", finished.stdout);
    });
}

#[test]
fn where_nothing_is_wrong_it_says_who_was_asked() {
    limited(|| {
        let run = output(&["reduce", "examples/counter.sql", "--on", "model", "--level", "serializable"]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""));
        for words in ["nothing wrong on model", "expectations:", "serial:", "invariant:", "crash:", "--oracle"] {
            assert!(run.stderr.contains(words), "no `{words}` in\n{}", run.stderr);
        }
        let run = output(&["reduce", "examples/counter.sql", "--on", "model", "--oracle", "diff"]);
        assert!(run.code == 2 && run.stderr.contains("name at least two"), "{}", run.stderr);
    });
}

#[test]
fn json_tells_the_sizes() {
    limited(|| {
        let flags = ["--level", "read-committed", "--oracle", "serial", "--format", "json", "--tests", "5"];
        let run = output(&[&["reduce", "examples/counter.sql", "--on", "model"][..], &flags].concat());
        assert_eq!(run.code, 1, "{}", run.stderr);
        let report: serde_json::Value = serde_json::from_str(&run.stdout).expect("the output is JSON");
        let case = &report["cases"][0];
        assert_eq!((&report["kind"], &case["before"]["items"]), (&"reduced".into(), &10.into()), "{}", run.stdout);
        assert_eq!((&case["complete"], &case["tests"]), (&false.into(), &5.into()), "{}", run.stdout);
    });
}

#[test]
fn an_interruption_shows_the_best_so_far() {
    limited(|| {
        let arguments = ["reduce", "examples/shop.sql", "--on", "model+lost-update", "--level", "serializable"];
        let mut child = txloom(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let first = lines.next().expect("a line").expect("text");
        assert!(first.contains("50 tests, down to "), "{first}");
        kill_process(Pid::from_child(&child), Signal::INT).expect("it can be interrupted");
        let mut text = String::new();
        child.stdout.take().expect("a pipe").read_to_string(&mut text).expect("text");
        // What was found is found: the interruption is only said.
        assert_eq!(child.wait().expect("an end").code(), Some(1));
        assert!(text.contains("then interrupted"), "{text}");
        assert!(text.contains("ended before everything was tried") && text.contains("/*init*/"), "{text}");
    });
}
