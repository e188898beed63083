//! What `run` concludes of cases that strangers would write: no tick without evidence, and no cross either.

use crate::support::{TestDir, limited, output};

/// Two rows, one of which a has changed and b waits for.
const WAITING: &str = "\
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 1);
/*a*/ BEGIN;
/*a*/ UPDATE t SET v = 2;
/*b*/ UPDATE t SET v = 3;
";

/// Runs a case; the code is as said, and so are the mark of the last line and some of its words.
fn check(case: &str, flags: &[&str], code: i32, mark: char, words: &str) {
    let folder = TestDir::new("verdicts");
    let file = folder.file("case.sql", case);
    let arguments: Vec<&str> = ["run", &file].iter().chain(flags).copied().collect();
    let done = output(&arguments);
    let last = done.stdout.trim_end().rsplit("\n\n").next().unwrap_or_default();
    let told = format!("{flags:?}\n{case}\n{}{}", done.stdout, done.stderr);
    assert_eq!(done.code, code, "{told}");
    assert!(last.trim_start().starts_with(mark), "{mark}: {told}");
    let last = last.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(last.contains(words), "no `{words}` in `{last}`: {told}");
}

#[test]
fn whom_we_cancel_was_resumed_by_nobody() {
    limited(|| {
        for target in ["sqlite", "model"] {
            let innocent = format!("{WAITING}/*c*/ SELECT 1;\n-- > rows (1)\n");
            check(&innocent, &["--on", target], 0, '✓', "as expected");
            let accused = format!("{WAITING}/*c*/ SELECT 1;\n-- > resumes b\n");
            check(&accused, &["--on", target], 1, '✗', "1 expectation is not met");
        }
    });
}

#[test]
fn a_statement_that_we_cut_off_is_no_success() {
    limited(|| {
        let case =
            "/*init*/ CREATE TABLE t (v INT);\n/*a*/ SELECT pg_sleep(5);\n/*b*/ SELECT v FROM t;\n-- > rows (empty)\n";
        let flags = ["--on", "postgres", "--statement-limit", "200ms"];
        check(case, &flags, 5, '?', "step a1 exceeded the time limit");
        let expected = case.replace("(5);\n", "(5);\n-- > cancelled\n");
        check(&expected, &flags, 0, '✓', "as expected");
    });
}

#[test]
fn an_assertion_that_cannot_be_asked_is_not_broken() {
    limited(|| {
        let case =
            "-- @assert end ok: SELECT * FROM nowhere\n/*init*/ CREATE TABLE t (v INT);\n/*a*/ SELECT v FROM t;\n";
        check(case, &[], 5, '?', "the assertion ok could not be evaluated");
    });
}

#[test]
fn an_oracle_that_has_nothing_to_judge_says_so() {
    limited(|| {
        let case = "/*init*/ CREATE TABLE t (v INT);\n/*a*/ BEGIN;\n/*a*/ INSERT INTO t VALUES (1);\n/*a*/ ROLLBACK;\n";
        check(case, &["--oracle", "serial"], 0, '–', "serial has nothing to judge");
        let typo = "/*init*/ CREATE TABLE t (v INT);\n/*a*/ SELEC v FROM t;\n";
        for oracle in ["serial", "crash"] {
            check(typo, &["--oracle", oracle, "-q"], 5, '?', "not understood");
            let quiet = output(&["run", &TestDir::new("typo").file("typo.sql", typo), "--oracle", oracle, "-q"]);
            assert!(!quiet.stdout.contains('✓'), "{}", quiet.stdout);
        }
    });
}

#[test]
fn slips_are_errors_and_no_remarks() {
    limited(|| {
        let case = |below: &str| format!("/*init*/ CREATE TABLE t (v INT);\n/*a*/ SELECT v FROM t;\n{below}\n");
        for (below, words) in [
            ("-- > [sqllite] affected 7", "did you mean sqlite?"),
            ("--> rows (2)", "with a blank after the dashes"),
            ("--@final t (1)", "with a blank after the dashes"),
        ] {
            let folder = TestDir::new("slips");
            let done = output(&["run", &folder.file("case.sql", &case(below))]);
            assert_eq!(done.code, 2, "{below}: {}{}", done.stdout, done.stderr);
            assert!(done.stderr.contains(words), "{below}: {}", done.stderr);
        }
        // An engine that nobody here knows is none of these.
        check(&case("-- > [noisepage] affected 7"), &[], 0, '–', "nothing was checked");
    });
}

#[test]
fn rows_of_the_wrong_width_are_not_understood() {
    limited(|| {
        let case = "/*init*/ CREATE TABLE t (v INT, w INT);\n/*a*/ INSERT INTO t VALUES (1, 2, 3);\n/*a*/ SELECT 1;\n-- > rows (1)\n";
        for target in ["sqlite", "mariadb", "postgres"] {
            check(case, &["--on", target], 1, '✗', "1 statement was not understood");
        }
    });
}

#[test]
fn a_storm_to_which_nothing_was_promised_gets_no_tick() {
    limited(|| {
        let done = output(&["storm", "replicas", "--transactions", "50", "--statement-limit", "5s"]);
        let last = done.stdout.trim_end().rsplit("\n\n").next().unwrap_or_default();
        assert!(done.code == 0 && last.trim_start().starts_with('–'), "{}", done.stdout);
    });
}
