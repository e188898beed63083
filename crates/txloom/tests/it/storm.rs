//! Storms, from the command line: who is clean, what is found, what is allowed, and what is refused.

use std::io::Read as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use txloom::report::json;
use txloom::report::model::Body;
use txloom::report::model::check::VerdictReport;
use txloom::report::model::storm::StormReport;

use crate::support::{Finished, TestDir, limited, output, txloom};

/// Statements of storms in tests never take long.
const LIMIT: [&str; 2] = ["--statement-limit", "5s"];

pub(crate) fn storm(arguments: &str) -> Finished {
    let arguments: Vec<&str> = ["storm"].into_iter().chain(arguments.split_whitespace()).chain(LIMIT).collect();
    output(&arguments)
}

/// A storm's report, and its exit code.
pub(crate) fn reported(arguments: &str) -> (StormReport, i32) {
    let done = storm(&format!("{arguments} --format json"));
    match json::parse(&done.stdout).map(|report| report.body) {
        Ok(Body::Storm(report)) => (*report, done.code),
        other => panic!("{arguments}: {other:?}\n{}", done.stderr),
    }
}

/// So many storms may pass before transactions meet: on a busy machine, a session may end before the next one begins.
const STORMS_MAX: usize = 20;

/// Storms in which nothing is wrong, until transactions meet in one. Gives that one.
#[track_caller]
pub(crate) fn check_clean(arguments: &str) -> StormReport {
    for _ in 0..STORMS_MAX {
        let report = check_uneventful(arguments);
        if report.contention.is_some_and(|met| met.contended > 0) {
            return report;
        }
    }
    panic!("{arguments}: nobody met");
}

/// A storm in which nothing is wrong.
#[track_caller]
fn check_uneventful(arguments: &str) -> StormReport {
    let (report, code) = reported(arguments);
    let judgement = report.judgement.as_ref().expect("it was checked");
    assert_eq!((code, &judgement.verdict), (0, &VerdictReport::Holds), "{arguments}: {report:?}");
    assert_eq!(judgement.evidence, "recorded");
    assert!(report.counts.committed > 0 && report.damage.is_empty() && report.troubles.is_empty(), "{report:?}");
    report
}

#[test]
fn embedded_engines_are_clean() {
    limited(|| {
        for profile in ["registers", "list-append"] {
            check_clean(&format!("sqlite --profile {profile} --transactions 150 --keys 10"));
            check_clean(&format!("model --profile {profile} --transactions 150 --keys 10 --level serializable"));
            check_clean(&format!("model --profile {profile} --transactions 150 --keys 10 --level read-committed"));
        }
    });
}

#[test]
fn postgres_is_clean() {
    limited(|| {
        for profile in ["registers", "list-append"] {
            check_clean(&format!("postgres --profile {profile} --transactions 300 --keys 10 --level serializable"));
        }
        check_clean("postgres --transactions 300 --keys 10 --level repeatable-read");
    });
}

#[test]
fn mariadb_is_clean() {
    limited(|| {
        for profile in ["registers", "list-append"] {
            check_clean(&format!("mariadb --profile {profile} --transactions 300 --keys 10 --level serializable"));
        }
    });
}

/// What a planted bug does depends on who meets whom: a few storms may pass before it shows.
#[track_caller]
fn check_found(target: &str, level: &str, anomaly: &str) {
    let found = (1..=5).any(|seed| {
        let (report, code) = reported(&format!("{target} --level {level} --transactions 300 --keys 4 --seed {seed}"));
        let judgement = report.judgement.expect("it was checked");
        let VerdictReport::Violated { violation } = &judgement.verdict else { return false };
        assert_eq!(code, 1);
        assert!(!violation.explanation.however.is_empty(), "{violation:?}");
        judgement.anomalies.iter().chain([&**violation]).any(|one| one.anomaly.starts_with(anomaly))
    });
    assert!(found, "{target} at {level}: no {anomaly}");
}

#[test]
fn planted_bugs_are_found() {
    limited(|| {
        check_found("model+lost-update", "snapshot-isolation", "P4");
        check_found("model+write-skew", "serializable", "write-skew");
    });
}

#[test]
fn a_committed_write_that_is_lost_is_found() {
    limited(|| {
        for profile in ["registers", "list-append"] {
            let lost = (1..=3).any(|seed| {
                let flags =
                    format!("--profile {profile} --level serializable --transactions 300 --keys 10 --seed {seed}");
                let (report, code) = reported(&format!("model+lost-commit {flags}"));
                let losses: Vec<&String> = report.damage.iter().flat_map(|damage| &damage.losses).collect();
                code == 1 && losses.iter().any(|loss| loss.ends_with("which was acknowledged"))
            });
            assert!(lost, "{profile}: nothing was lost");
        }
    });
}

#[test]
fn a_violation_is_explained() {
    limited(|| {
        let done = storm("model+lost-update --level snapshot-isolation --transactions 500 --keys 4");
        assert_eq!(done.code, 1, "{}", done.stdout);
        for words in ["✗ strong snapshot isolation is violated", "(recorded:", "Let", "However", "is before itself"] {
            assert!(done.stdout.contains(words), "no `{words}` in\n{}", done.stdout);
        }
    });
}

#[test]
fn what_the_level_allows_is_told_and_no_finding() {
    limited(|| {
        let seen = (1..=5).any(|seed| {
            let arguments = format!("mariadb --level repeatable-read --transactions 400 --keys 4 --seed {seed}");
            let (report, code) = reported(&arguments);
            let judgement = report.judgement.expect("it was checked");
            assert_eq!((code, &judgement.verdict), (0, &VerdictReport::Holds));
            assert_eq!(judgement.promised.as_deref(), Some("strong read committed"));
            judgement.anomalies.iter().any(|anomaly| anomaly.anomaly == "P4")
        });
        assert!(seen, "no lost update");
        let text = storm("mariadb --level repeatable-read --transactions 400 --keys 4").stdout;
        assert!(text.contains("Seen, and allowed at this level"), "{text}");
    });
}

#[test]
fn the_history_is_the_evidence() {
    limited(|| {
        let folder = TestDir::new("storm-history");
        let file = folder.path().join("storm.txh").display().to_string();
        let done = storm(&format!("model --transactions 100 --keys 5 --level serializable --save-history {file}"));
        assert!(done.code == 0 && done.stdout.contains(&file), "{}", done.stdout);
        assert_eq!(output(&["check", &file, "--level", "serializable"]).code, 0);
        let unchecked = storm(&format!("model --transactions 50 --check off --save-history {file}"));
        assert!(unchecked.code == 0 && unchecked.stdout.contains("nothing was checked"), "{}", unchecked.stdout);
    });
}

#[test]
fn a_full_disk_is_an_error() {
    limited(|| {
        let folder = TestDir::new("storm-full");
        let file = folder.path().join("full.txh");
        std::os::unix::fs::symlink("/dev/full", &file).expect("links can be made");
        let done = storm(&format!("model --transactions 50 --save-history {}", file.display()));
        assert!(done.code == 74 && done.stderr.contains("cannot save the history"), "{}", done.stderr);
        assert!(done.stdout.contains("50 transactions"), "what was found is told all the same: {}", done.stdout);
    });
}

#[test]
fn bad_flags_are_explained() {
    for (arguments, words) in [
        ("sqlite --profile ycsb", "there is no workload `ycsb`"),
        ("sqlite --sessions 0", "is not between 1 and"),
        ("sqlite --level read-committed", "it has: serializable"),
        ("sqlite --kill every 5s", "is left alone: it is a part of txloom"),
        ("model --kill 5s", "2 values required"),
        ("sqlite --save-history here", "its ending does not tell"),
        ("sqlite --save-history /nowhere/x.txh", "cannot save a history"),
        ("sqlite --server-arg a=b", "no target is one"),
    ] {
        let done = storm(arguments);
        assert!(done.code == 2 && done.stderr.contains(words), "{arguments}: {}\n{}", done.code, done.stderr);
    }
}

#[test]
fn too_many_sessions_are_refused_by_the_server() {
    limited(|| {
        for target in ["postgres", "mariadb"] {
            let done = storm(&format!("{target} --server-arg max_connections=30 --sessions 110 --transactions 10"));
            assert_eq!(done.code, 3, "{}", done.stderr);
            assert!(done.stderr.contains("of 110 sessions could be opened"), "{}", done.stderr);
            assert!(done.stderr.contains("max_connections"), "{}", done.stderr);
        }
    });
}

/// Starts a storm, and waits until its sessions are at work.
pub(crate) fn start(arguments: &[&str], temporary: Option<&Path>) -> (Child, ChildStdout) {
    let mut command = txloom(&[&["storm"], arguments, &LIMIT].concat());
    temporary.map(|folder| command.env("TMPDIR", folder));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary starts");
    let mut stdout = child.stdout.take().expect("it is piped");
    // The plan is printed when they are.
    stdout.read_exact(&mut [0; 8]).expect("the plan is printed");
    (child, stdout)
}

/// What it prints until it ends.
pub(crate) fn rest(stdout: &mut ChildStdout) -> String {
    let mut text = Vec::new();
    stdout.read_to_end(&mut text).expect("it ends");
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn ctrl_c_ends_with_a_summary() {
    limited(|| {
        let (mut child, mut stdout) = start(&["model", "--for", "1h", "--keys", "10"], None);
        kill_process(Pid::from_child(&child), Signal::INT).expect("it can be interrupted");
        let text = rest(&mut stdout);
        assert_eq!(child.wait().expect("it ends").code(), Some(130), "{text}");
        for words in ["then interrupted", "committed", "holds (recorded:"] {
            assert!(text.contains(words), "no `{words}` in\n{text}");
        }
    });
}
