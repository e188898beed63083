//! Hunts, from the command line to the replay of what they found.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Finished, TestDir, limited, output, root, txloom};

/// The report of a hunt in an empty directory, as JSON.
fn report(arguments: &[&str]) -> (i32, serde_json::Value) {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let directory = TestDir::new(&format!("hunt-report-{}", COUNT.fetch_add(1, Ordering::Relaxed)));
    let mut hunt = txloom(&[&["hunt", "--format", "json"], arguments].concat());
    let finished = Finished::from(hunt.current_dir(directory.path()).output().expect("the binary starts"));
    let report = serde_json::from_str(&finished.stdout);
    (finished.code, report.unwrap_or_else(|error| panic!("{error}: {}{}", finished.stdout, finished.stderr)))
}

/// What must be the same in every run of a hunt: everything but the time that it took.
fn facts(mut report: serde_json::Value) -> serde_json::Value {
    assert_eq!(report["kind"], "hunt");
    report["seconds"] = 0.into();
    report["plan"]["workers"] = 1.into();
    report
}

/// Runs a command of a finding by the shell, as a person would.
fn replay(command: &str) -> i32 {
    let binary = Path::new(env!("CARGO_BIN_EXE_txloom")).parent().expect("a directory");
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let shell = Command::new("sh").args(["-c", command]).current_dir(root()).env("PATH", path).output();
    shell.expect("a shell").status.code().unwrap_or(-1)
}

fn is_reduced_case(name: &str) -> bool {
    name.starts_with("0001-") && name.ends_with(".sql") && !name.ends_with("-original.sql")
}

/// No case shows it to the oracle that is asked: only a storm does.
#[test]
fn what_a_storm_finds_is_recorded_and_checked_again() {
    limited(|| {
        let folder = TestDir::new("hunt-storm");
        let out = folder.path().join("found").display().to_string();
        let target = ["model+write-skew", "--level", "serializable", "--oracle", "crash"];
        let storm = ["--storm", "--stop-on-first", "--cases", "640", "-o", &out];
        let (code, report) = report(&[&target[..], &storm].concat());
        assert_eq!((code, &report["ended"]), (1, &"first-found".into()), "{report}");
        assert_eq!(report["findings"], serde_json::json!([]));
        let found = &report["recorded"][0];
        let file = found["file"].as_str().expect("the history has a file");
        assert!(Path::new(file).is_file() && file.ends_with(".txh"), "{file}");
        assert_eq!(found["storm"]["judgement"]["evidence"], "recorded");
        assert!(Path::new(&file.replace(".txh", ".json")).is_file(), "a report stands beside it");
        let command = found["replay"].as_str().expect("a command");
        assert_eq!(replay(command), 1, "{command}");
    });
}

#[test]
fn a_planted_bug_is_found_written_and_shown_again() {
    limited(|| {
        let folder = TestDir::new("hunt-found");
        let out = folder.path().join("found");
        let out = out.to_string_lossy();
        let hunt = output(&["hunt", "model", "model+lost-update", "--stop-on-first", "-o", &out]);
        assert_eq!(hunt.code, 1, "{}{}", hunt.stdout, hunt.stderr);
        for words in
            ["Hunting in model", "seed     1", "lost-update: we put this bug", "To see it again", "✗ 1 finding in"]
        {
            assert!(hunt.stdout.contains(words), "no `{words}` in\n{}", hunt.stdout);
        }
        let files: BTreeSet<String> = std::fs::read_dir(&*out)
            .expect("the directory is there")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        let case = files.iter().find(|name| is_reduced_case(name)).expect("a case");
        assert!(files.contains("hunt.json"), "{files:?}");
        let text = std::fs::read_to_string(Path::new(&*out).join(case)).expect("the case can be read");
        let command = text.lines().find_map(|line| line.strip_prefix("-- To see it again: ")).expect("the command");
        assert_eq!(replay(command), 1, "{command}");
        let healthy = command.replace("model+lost-update", "model");
        assert_eq!(replay(&healthy), 0, "{healthy}");
    });
}

#[test]
fn the_same_seed_gives_the_same_findings_whatever_the_number_of_workers() {
    limited(|| {
        let hunt = |workers| {
            let arguments =
                ["model", "model+lost-update", "--cases", "40", "--reduce-tests", "10", "--workers", workers];
            let (code, report) = report(&arguments);
            assert_eq!(code, 1);
            facts(report)
        };
        let first = hunt("1");
        assert!(first["counts"]["new"].as_u64() > Some(0), "{first}");
        assert_eq!(hunt("1"), first);
        assert_eq!(hunt("2"), first);
        let (_, other) = report(&["model", "--cases", "10", "--seed", "2"]);
        let (_, another) = report(&["model", "--cases", "10", "--seed", "3"]);
        assert_ne!(other["counts"]["statements"], another["counts"]["statements"]);
    });
}

/// 200 cases at all levels: an engine does what it does twice. In a fifth of the examined cases, two transactions write
/// one row.
fn is_silent(target: &'static str) {
    limited(move || {
        let (code, report) = report(&[target, target, "--cases", "200", "--no-known"]);
        assert_eq!(code, 0, "{report:#}");
        let counts = &report["counts"];
        assert_eq!((&counts["cases"], &counts["new"]), (&200.into(), &0.into()), "{report:#}");
        let share = |part: &str, whole: &str| {
            counts[part].as_f64().expect("a number") / counts[whole].as_f64().expect("a number").max(1.0)
        };
        assert!(share("accepted", "statements") >= 0.95, "{report:#}");
        assert!(share("with_wait", "runs") >= 0.2, "{report:#}");
        assert!(share("contended", "examined") >= 0.2, "{report:#}");
    });
}

#[test]
fn sqlite_twice_is_silent() {
    is_silent("sqlite");
}

#[test]
fn model_twice_is_silent() {
    is_silent("model");
}

#[test]
fn postgres_twice_is_silent() {
    is_silent("postgres");
}

#[test]
fn mariadb_twice_is_silent() {
    is_silent("mariadb");
}

#[test]
fn ctrl_c_ends_with_a_summary() {
    limited(|| {
        let mut child = txloom(&["hunt", "model", "model", "--for", "1h"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
        assert!(lines.any(|line| line.contains("budget")), "it says what it will do");
        kill_process(Pid::from_child(&child), Signal::INT).expect("it can be interrupted");
        let rest: Vec<String> = lines.collect();
        let ended = child.wait().expect("it ends");
        assert_eq!(ended.code(), Some(130), "{rest:?}");
        for words in ["then interrupted", "nothing is concluded"] {
            assert!(rest.iter().any(|line| line.contains(words)), "no `{words}` in\n{rest:?}");
        }
    });
}

#[test]
fn a_closed_pipe_ends_the_hunt() {
    limited(|| {
        let mut child = txloom(&["hunt", "model", "model+lost-update", "--for", "1h", "--reduce-tests", "5"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        drop(child.stdout.take());
        let code = child.wait().expect("it ends").code();
        assert!(matches!(code, Some(0 | 1)), "{code:?}");
    });
}

#[test]
fn what_is_known_is_counted_apart() {
    limited(|| {
        let folder = TestDir::new("hunt-known");
        let hunt =
            ["model", "model+wrong-aggregate", "--cases", "40", "--level", "serializable", "--reduce-tests", "100"];
        let entry = "[[known]]\nid = \"ours\"\nwhat = \"a planted bug\"\nsource = \"this test\"\noracle = \"diff\"\n\
                     on = \"model\"\nagainst = \"model\"\ntrace = [\"a SELECT\"]\n";
        let known = folder.file("known.toml", entry);
        let (code, unknown) = report(&hunt);
        assert_eq!(code, 1, "{unknown:#}");
        let (code, counted) = report(&[&hunt[..], &["--known", &known]].concat());
        assert_eq!((code, &counted["known"][0]["id"]), (0, &"ours".into()), "{counted:#}");
        assert_eq!((&counted["counts"]["new"], &counted["findings"]), (&0.into(), &serde_json::json!([])));
        let nonsense = folder.file("nonsense.toml", "[[known\n");
        let refused = output(&["hunt", "model", "--cases", "1", "--known", &nonsense]);
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains("nonsense.toml:1"), "{}", refused.stderr);
        assert_eq!(output(&["hunt", "model", "--cases", "1", "--known", "/nowhere.toml"]).code, 2);
    });
}

#[test]
fn bad_flags_are_explained() {
    limited(|| {
        let folder = TestDir::new("hunt-flags");
        let file = folder.file("file", "");
        let profile = folder.file("wrong.toml", "name = \"wrong\"\n[schema]\ntabels = 1\n");
        let check = |arguments: &[&str], code: i32, words: &[&str]| {
            let finished = output(&[&["hunt"], arguments].concat());
            assert_eq!(finished.code, code, "{arguments:?}\n{}{}", finished.stdout, finished.stderr);
            for word in words {
                assert!(finished.stderr.contains(word), "{arguments:?}: no `{word}` in\n{}", finished.stderr);
            }
        };
        check(&["modle"], 2, &["modle", "did you mean model?"]);
        check(&["model", "--for", "soon"], 2, &["`soon`", "30s, 5m or 1h"]);
        check(&["model", "--for", "0s"], 2, &["`0s`"]);
        check(&["model", "--cases", "0"], 2, &["--cases 0"]);
        check(&["model", "--cases", "many"], 2, &["many"]);
        check(&["model", "--workers", "0"], 2, &["--workers 0"]);
        check(&["model", "--seed", "-1"], 2, &["-1"]);
        check(&["model", "--oracle", "serail"], 2, &["serail", "serial"]);
        check(&["model", "--level", "chaos"], 2, &["chaos", "known are"]);
        check(&["model", "--profile", "dt3"], 2, &["`dt3`", "did you mean dt2?"]);
        check(&["model", "--profile", "/nowhere/x.toml"], 2, &["/nowhere/x.toml"]);
        check(&["model", "--profile", &profile], 2, &["wrong.toml:3", "tables"]);
        check(&["model", "-o", &file], 2, &["it is a file"]);
        check(&["postgres@/nowhere", "--cases", "1"], 3, &["/nowhere"]);
        check(&["sqlite", "model", "--level", "rc", "--cases", "1"], 2, &["read committed", "sqlite"]);
        check(&["postgres://nobody@127.0.0.1:1/x", "--workers", "2"], 2, &["one worker"]);
    });
}
