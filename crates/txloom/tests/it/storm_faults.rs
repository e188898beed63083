//! Storms in which the server is broken: what must survive does, what does not is found, and nothing ever hangs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use txloom::report::model::storm::{StormEnd, StormReport};

use crate::storm::{reported, rest, start, storm};
use crate::support::{TestDir, limited};

/// How often a fault befell the server.
fn count(report: &StormReport, kind: &str) -> u64 {
    report.faults.iter().filter(|fault| fault.kind == kind).map(|fault| fault.count).sum()
}

/// How many transactions were rolled back by errors of a class.
fn rolled_back(report: &StormReport, class: &str) -> u64 {
    report.counts.rolled_back.iter().filter(|count| count.class == class).map(|count| count.count).sum()
}

#[track_caller]
fn check_survives(arguments: &str, kinds: &[&str]) -> StormReport {
    let (report, code) = reported(&format!("{arguments} --level read-committed --limit 3s"));
    assert_eq!((code, report.ended), (0, StormEnd::Budget), "{arguments}: {report:?}");
    assert!(report.damage.is_empty() && report.troubles.is_empty(), "{arguments}: {report:?}");
    for kind in kinds {
        assert!(count(&report, kind) >= 1, "{arguments}: no {kind}: {report:?}");
    }
    report
}

#[test]
fn everything_is_there_after_a_kill() {
    limited(|| {
        for target in ["postgres", "mariadb"] {
            let flags = "--profile list-append --keys 50 --rate 500 --kill every 1s --for 4s";
            check_survives(&format!("{target} {flags}"), &["kill"]);
        }
    });
}

#[test]
fn nothing_is_lost_by_a_pause_or_an_orderly_stop() {
    limited(|| {
        for target in ["postgres", "mariadb"] {
            let faults = "--pause every 700ms --restart every 900ms";
            let report = check_survives(&format!("{target} {faults} --for 4s --rate 500"), &["pause", "restart"]);
            assert!(
                report.latency.is_some_and(|latency| latency.max_ms > 900.0),
                "{target}: somebody waited: {report:?}"
            );
        }
    });
}

#[test]
fn a_full_disk_is_survived() {
    limited(|| {
        for target in ["postgres", "mariadb"] {
            let arguments = format!("{target} --profile list-append --keys 10 --full-disk every 1s");
            let done = storm(&format!("{arguments} --transactions 1"));
            if done.code == 3 && done.stderr.contains("this system does not allow that") {
                // Containers may forbid what a small disk needs. Then it is refused, and it is said why.
                continue;
            }
            let report = check_survives(&format!("{arguments} --for 4s"), &["full-disk"]);
            let felt =
                rolled_back(&report, "disk-full") + rolled_back(&report, "connection-lost") + report.counts.unknown;
            assert!(felt > 0, "{target}: nobody noticed: {report:?}");
        }
    });
}

#[test]
fn a_commit_that_is_acknowledged_and_not_kept_is_found() {
    limited(|| {
        for (target, weakness) in
            [("postgres", "synchronous_commit=off"), ("mariadb", "innodb_flush_log_at_trx_commit=0")]
        {
            let flags = format!("--server-arg {weakness} --kill every 700ms --for 15s --limit 1s");
            let (report, code) = reported(&format!("{target} {flags}"));
            assert_eq!((code, report.ended), (1, StormEnd::Damaged), "{target}: {report:?}");
            let damage = report.damage.first().expect("something is lost");
            assert_eq!(damage.after.as_ref().map(|fault| fault.kind.as_str()), Some("kill"));
            // The rows that the tables were filled with were acknowledged, too.
            let is_lost = |loss: &String| loss.ends_with("which was acknowledged") || loss.ends_with("the row is gone");
            assert!(damage.losses.iter().any(is_lost), "{damage:?}");
        }
    });
}

/// The data directory of the private PostgreSQL that lives below a directory.
fn data(folder: &Path) -> Option<PathBuf> {
    let mut places = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path().join("home/data"));
    places.find(|data| data.join("postmaster.pid").is_file())
}

/// A line of the file in which PostgreSQL says who it is and how it is.
fn pid_line(folder: &Path, number: usize) -> Option<String> {
    let text = fs::read_to_string(data(folder)?.join("postmaster.pid")).ok()?;
    text.lines().nth(number).map(|line| line.trim().to_string())
}

/// Waits until something is so.
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(240);
    while !is_so() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_server_that_dies_is_a_finding() {
    limited(|| {
        let folder = TestDir::new("storm-death");
        let (mut child, mut stdout) = start(&["postgres", "--for", "1h"], Some(folder.path()));
        let server = pid_line(folder.path(), 0).and_then(|line| Pid::from_raw(line.parse().ok()?));
        kill_process(server.expect("the server has said who it is"), Signal::KILL).expect("it is ours");
        let text = rest(&mut stdout);
        assert_eq!(child.wait().expect("it ends").code(), Some(1), "{text}");
        for words in ["then the server died", "✗", "signal 9"] {
            assert!(text.contains(words), "no `{words}` in\n{text}");
        }
    });
}

#[track_caller]
fn check_not_recovered(child: &mut Child, text: &str, words: &str) {
    assert_eq!(child.wait().expect("it ends").code(), Some(1), "{text}");
    for words in ["then the server did not recover", "✗", words] {
        assert!(text.contains(words), "no `{words}` in\n{text}");
    }
}

#[test]
fn a_server_that_cannot_recover_is_a_finding() {
    limited(|| {
        let folder = TestDir::new("storm-damaged");
        let (mut child, mut stdout) =
            start(&["postgres", "--kill", "every", "1s", "--for", "1h", "--limit", "2s"], Some(folder.path()));
        let control = data(folder.path()).expect("it runs").join("global/pg_control");
        fs::write(control, [0; 8192]).expect("it can be damaged");
        let text = rest(&mut stdout);
        check_not_recovered(&mut child, &text, "ended (");
    });
}

/// Has the server recover for ever, the next time that it starts: it waits for a log of changes that nobody brings.
fn recover_for_ever(folder: &Path) {
    fs::write(data(folder).expect("it runs").join("recovery.signal"), "").expect("it can be made");
}

#[test]
fn a_server_that_recovers_without_end_is_a_finding() {
    limited(|| {
        let folder = TestDir::new("storm-endless");
        let arguments = ["postgres", "--kill", "every", "1s", "--for", "1h", "--limit", "2s", "--recovery-limit", "2s"];
        let endless = ["--server-arg", "restore_command=sleep 60"];
        let (mut child, mut stdout) = start(&[&arguments[..], &endless].concat(), Some(folder.path()));
        recover_for_ever(folder.path());
        let text = rest(&mut stdout);
        check_not_recovered(&mut child, &text, "was not ready after 2 seconds");
    });
}

#[test]
fn ctrl_c_ends_a_recovery() {
    limited(|| {
        let folder = TestDir::new("storm-interrupted");
        let arguments = ["postgres", "--kill", "every", "1s", "--for", "1h", "--limit", "2s"];
        let endless = ["--server-arg", "restore_command=sleep 60"];
        let (mut child, mut stdout) = start(&[&arguments[..], &endless].concat(), Some(folder.path()));
        recover_for_ever(folder.path());
        wait_until("the server recovers", || pid_line(folder.path(), 7).as_deref() == Some("starting"));
        kill_process(Pid::from_child(&child), Signal::INT).expect("it can be interrupted");
        let text = rest(&mut stdout);
        assert_eq!(child.wait().expect("it ends").code(), Some(130), "{text}");
        assert!(text.contains("then interrupted"), "{text}");
    });
}
