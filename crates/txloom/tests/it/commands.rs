//! The command line as a newcomer meets it.

use std::io::Write;
use std::process::Stdio;

use crate::support::{Finished, TestDir, limited, output, txloom};

#[test]
fn hunt_needs_nothing_and_shows_a_planted_bug() {
    limited(|| {
        let hunt = output(&["hunt"]);
        assert_eq!(hunt.code, 0, "{}", hunt.stderr);
        for word in ["planted", "lost-update", "Let", "However", "sqlite"] {
            assert!(hunt.stdout.contains(word), "no `{word}` in\n{}", hunt.stdout);
        }
    });
}

#[test]
fn doctor_says_what_can_be_started() {
    limited(|| {
        let doctor = output(&["doctor"]);
        assert_eq!(doctor.code, 0, "{}", doctor.stderr);
        for target in ["sqlite", "model", "postgres"] {
            assert!(doctor.stdout.contains(target), "{}", doctor.stdout);
        }
    });
}

#[test]
fn run_shows_waits_and_resumptions_in_columns() {
    limited(|| {
        for target in ["model", "sqlite", "postgres"] {
            let run = output(&["run", "corpus/contract/wait-and-resume.sql", "--on", target]);
            assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
            for words in ["waits for a", "goes on", "Final state of t", "as expected"] {
                assert!(run.stdout.contains(words), "no `{words}` on {target} in\n{}", run.stdout);
            }
            assert!(!run.stdout.contains('\u{1b}'), "no colours where there is no terminal");
        }
    });
}

#[test]
fn several_targets_stand_side_by_side() {
    limited(|| {
        let run = output(&[
            "run",
            "corpus/anomalies/p4-lost-update.sql",
            "--on",
            "model",
            "--on",
            "postgres",
            "--on",
            "sqlite",
        ]);
        assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
        assert!(run.stdout.contains("differ first at"), "{}", run.stdout);
    });
}

#[test]
fn json_is_versioned_and_complete() {
    limited(|| {
        let run = output(&["run", "corpus/contract/deadlock.sql", "--on", "postgres", "--format", "json"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let report: serde_json::Value = serde_json::from_str(&run.stdout).expect("the output is JSON");
        assert_eq!(report["txloom_report"], 1, "{}", run.stdout);
        assert!(run.stdout.contains("\"deadlock\""), "{}", run.stdout);
        assert!(run.stdout.contains("40P01"), "{}", run.stdout);
    });
}

#[test]
fn what_was_recorded_is_met_and_what_was_changed_is_not() {
    limited(|| {
        let folder = TestDir::new("record");
        let bare =
            "/*init*/ CREATE TABLE t (id INT PRIMARY KEY);\n/*a*/ INSERT INTO t VALUES (1);\n/*a*/ SELECT id FROM t;\n";
        let path = folder.file("case.sql", bare);
        let record = output(&["run", &path, "--on", "model", "--on", "postgres", "--record"]);
        assert_eq!(record.code, 0, "{}", record.stderr);
        let recorded = std::fs::read_to_string(&path).expect("the file is there");
        for line in ["-- > affected 1", "-- > rows (1)", "-- @final t (1)"] {
            assert!(recorded.contains(line), "{recorded}");
        }
        assert_eq!(output(&["run", &path, "--on", "model", "--on", "postgres", "--on", "sqlite"]).code, 0);
        std::fs::write(&path, recorded.replace("rows (1)", "rows (2)")).expect("it can be written");
        let unmet = output(&["run", &path, "--on", "model"]);
        assert_eq!(unmet.code, 1);
        assert!(unmet.stdout.contains("Not as expected"), "{}", unmet.stdout);
    });
}

#[test]
fn twice_is_silent_on_what_is_deterministic() {
    limited(|| {
        let run = output(&["run", "corpus/anomalies", "--on", "sqlite", "model", "postgres", "--twice", "--quiet"]);
        assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    });
}

#[test]
fn twice_fails_on_what_is_not() {
    limited(|| {
        let folder = TestDir::new("twice");
        let path = folder.file("random.sql", "/*a*/ SELECT random();\n");
        let run = output(&["run", &path, "--on", "sqlite", "--twice"]);
        assert_eq!(run.code, 4, "{}{}", run.stdout, run.stderr);
    });
}

#[test]
fn a_case_is_read_from_standard_input() {
    limited(|| {
        let mut child = txloom(&["run", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(b"/*a*/ SELECT 1;\n-- > rows (1)\n").expect("it reads");
        drop(stdin);
        let run = Finished::from(child.wait_with_output().expect("it ends"));
        assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    });
}

#[test]
fn narrow_terminals_get_a_transcript() {
    limited(|| {
        let run = txloom(&["run", "corpus/contract/wait-and-resume.sql"]).env("COLUMNS", "50").output();
        let run = Finished::from(run.expect("the binary starts"));
        assert!(run.stdout.contains("a> BEGIN"), "{}", run.stdout);
        let widest = run.stdout.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= 50, "{widest} columns:\n{}", run.stdout);
    });
}

#[test]
fn every_command_explains_itself() {
    limited(|| {
        for arguments in
            [&["--help"][..], &["run", "--help"], &["hunt", "--help"], &["doctor", "--help"], &["--version"]]
        {
            let help = output(arguments);
            assert_eq!(help.code, 0, "{arguments:?}");
            assert!(!help.stdout.is_empty(), "{arguments:?}");
        }
        assert_eq!(output(&[]).code, 2);
    });
}

#[test]
fn levels_tells_what_each_level_does_about_each_anomaly() {
    limited(|| {
        let levels = output(&["levels", "postgres", "--format", "markdown"]);
        assert_eq!(levels.code, 0, "{}", levels.stderr);
        for line in [
            "| P4 (lost update) | **allowed** | **allowed** | refused b | refused b |",
            "| G2-item (write skew) | **allowed** | **allowed** | **allowed** | refused b |",
            "| G0 (dirty write) | waits b | waits b | refused b | refused b |",
        ] {
            assert!(levels.stdout.contains(line), "no {line} in\n{}", levels.stdout);
        }
        assert!(!levels.stdout.contains('!'), "nothing contradicts the table of guarantees:\n{}", levels.stdout);
        assert_eq!(output(&["levels", "sqlite", "--level", "read-committed"]).code, 2);
        assert_eq!(output(&["levels", "model", "--level", "snapshot", "--format", "json"]).code, 0);
    });
}
