//! An analysis that is stopped, by the clock, by its memory or by a signal, reports what it knows and claims no more.

use std::io::Write;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{TestDir, limited, output, txloom};

/// Procedures that read and change the same row: more cycles than anybody can look at.
fn large(folder: &TestDir, procedures: usize) -> String {
    let mut text = "CREATE TABLE t (id INT PRIMARY KEY, a INT NOT NULL);\n".to_string();
    for number in 0..procedures {
        text += &format!(
            "CREATE PROCEDURE p{number}(p_id INT) BEGIN
               DECLARE v INT;
               SELECT a INTO v FROM t WHERE id = p_id;
               UPDATE t SET a = v + 1 WHERE id = p_id;
             END;\n"
        );
    }
    let file = folder.path().join("large.sql");
    std::fs::write(&file, text).expect("the program can be written");
    file.display().to_string()
}

#[test]
fn time_that_is_up_is_unknown_with_its_reason() {
    limited(|| {
        let folder = TestDir::new("limits-time");
        let file = large(&folder, 200);
        for more in [
            &["--level", "store:eventual"][..],
            &["--level", "store:eventual", "--run"],
            &["--level", "store:causal", "--fix"],
        ] {
            let done = output(&[&["analyze", file.as_str(), "--for", "1s", "--format", "json"], more].concat());
            // What was found by then is an anomaly; what was not looked at is a gap.
            assert!([1, 5].contains(&done.code), "{more:?}: {} {}{}", done.code, done.stdout, done.stderr);
            assert!(done.stdout.contains("\"cause\": \"time\""), "{}", &done.stdout[..done.stdout.len().min(4_000)]);
            assert!(!done.stdout.contains("every run"), "{}", done.stdout);
        }
    });
}

#[test]
fn time_is_kept_without_a_level_and_in_a_summary() {
    limited(|| {
        let folder = TestDir::new("limits-summary");
        let file = large(&folder, 3_000);
        for more in [&[][..], &["--summary"], &["--tables"]] {
            let done = output(&[&["analyze", file.as_str(), "--for", "1s", "--format", "json"], more].concat());
            assert_eq!(done.code, 5, "{more:?}: {}", done.stderr);
            assert!(done.stdout.contains("\"cause\": \"time\""), "{}", &done.stdout[..done.stdout.len().min(400)]);
        }
    });
}

#[test]
fn memory_is_a_budget() {
    limited(|| {
        let folder = TestDir::new("limits-memory");
        let file = large(&folder, 200);
        let done = output(&["analyze", &file, "--level", "store:eventual", "--memory", "1M"]);
        assert_eq!(done.code, 5, "{}{}", done.stdout, done.stderr);
        assert!(done.stdout.contains("because the memory budget was spent"), "{}", done.stdout);
        let wrong = output(&["analyze", &file, "--memory", "1"]);
        assert_eq!(wrong.code, 2);
        assert!(wrong.stderr.contains("`1` is not an amount of memory; write e.g. 500M or 4G"), "{}", wrong.stderr);
    });
}

#[test]
fn signals_end_an_analysis_with_its_report() {
    limited(|| {
        let folder = TestDir::new("limits-signal");
        let text = std::fs::read(large(&folder, 3_000)).expect("the program can be read");
        for signal in [Signal::INT, Signal::TERM] {
            let mut command = txloom(&["analyze", "-", "--format", "json"]);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().expect("the binary starts");
            // A pipe holds less than that, so the program is being read, which no loop of ours does.
            let mut input = child.stdin.take().expect("it has an input");
            input.write_all(&text).expect("it reads");
            let pid = Pid::from_raw(i32::try_from(child.id()).expect("it is a pid")).expect("it is a pid");
            kill_process(pid, signal).expect("it can be told");
            let done = child.wait_with_output().expect("it ends, although its input does not");
            drop(input);
            let text = String::from_utf8_lossy(&done.stdout);
            assert_eq!(done.status.code(), Some(130), "{text}");
            assert!(text.contains("\"cause\": \"interrupt\""), "{text}");
        }
    });
}
