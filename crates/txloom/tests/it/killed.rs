//! What an ended txloom leaves: nothing, however it ended.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Finished, TestDir, limited, txloom, wait_until};

/// A case whose only statement takes half a minute.
const SLEEPS: &str = "/*a*/ SELECT pg_sleep(30);\n";

/// Starts `txloom run` in a temporary directory of its own, and waits until its statement is running.
fn start(folder: &TestDir) -> Child {
    let case = folder.file("sleeps.sql", SLEEPS);
    let child = txloom(&["run", &case, "--on", "postgres", "--statement-limit", "60s"])
        .env("TMPDIR", folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    wait_until("the statement is running", || !backends(folder.path(), "SELECT").is_empty());
    child
}

/// The processes that work below a directory (PostgreSQL's do, in their data directory) or were told of it, and whose
/// title holds a word.
fn backends(folder: &Path, word: &str) -> Vec<PathBuf> {
    let titled = |process: &PathBuf| {
        let title = std::fs::read(process.join("cmdline")).unwrap_or_default();
        let title = String::from_utf8_lossy(&title).into_owned();
        let is_below = std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
        (is_below || title.contains(&*folder.to_string_lossy())) && title.contains(word)
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    processes.filter(titled).collect()
}

/// The private directories below a directory.
fn scratch(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_scratch =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("txloom-"));
    entries.filter(|path| path.is_dir() && is_scratch(path)).collect()
}

/// The next start of any txloom, which looks for temporary files elsewhere.
fn start_elsewhere(name: &str) {
    let elsewhere = TestDir::new(&format!("elsewhere-{name}"));
    let next = txloom(&["run", "corpus/contract/savepoints.sql", "--on", "sqlite"])
        .env("TMPDIR", elsewhere.path())
        .output()
        .expect("the binary starts");
    let next = Finished::from(next);
    assert_eq!(next.code, 0, "{}", next.stderr);
}

#[test]
fn servers_end_with_a_killed_owner_and_the_next_start_removes_the_rest() {
    limited(|| {
        let folder = TestDir::new("killed");
        let mut child = start(&folder);
        child.kill().expect("it can be killed");
        child.wait().expect("it ended");
        wait_until("all processes have ended", || backends(folder.path(), "").is_empty());
        assert!(!scratch(folder.path()).is_empty(), "kill -9 leaves the directory: the test shows nothing otherwise");
        start_elsewhere("killed");
        assert_eq!(scratch(folder.path()), Vec::<PathBuf>::new(), "no directory is left");
    });
}

#[test]
fn if_the_guard_is_killed_as_well_the_next_start_ends_the_servers() {
    limited(|| {
        let folder = TestDir::new("unguarded");
        let mut child = start(&folder);
        let guards = backends(folder.path(), "txloom-guard");
        assert!(!guards.is_empty());
        for guard in guards {
            let number = guard.file_name().and_then(|name| name.to_str()?.parse().ok()).expect("it is a number");
            let _ = kill_process(Pid::from_raw(number).expect("it is a process"), Signal::KILL);
        }
        child.kill().expect("it can be killed");
        child.wait().expect("it ended");
        start_elsewhere("unguarded");
        assert_eq!(backends(folder.path(), ""), Vec::<PathBuf>::new(), "no server process is left");
        assert_eq!(scratch(folder.path()), Vec::<PathBuf>::new(), "no directory is left");
    });
}

#[test]
fn signals_end_the_server_and_remove_its_directory() {
    limited(|| {
        for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
            let folder = TestDir::new("interrupted");
            let mut child = start(&folder);
            kill_process(Pid::from_child(&child), signal).expect("it can be interrupted");
            let status = child.wait().expect("it ended");
            assert_eq!(status.code(), Some(130), "{signal:?}");
            wait_until("all processes have ended", || backends(folder.path(), "").is_empty());
            assert_eq!(scratch(folder.path()), Vec::<PathBuf>::new(), "no directory is left");
        }
    });
}

/// How many times each command is ended, at moments that are spread over its first two seconds.
const ENDS: u64 = 6;

/// Starts a command on one target after the other, and ends it by one signal after the other.
fn end_at_any_moment(name: &str, command: impl Fn(&str, &TestDir) -> Vec<String>) {
    const TARGETS: [&str; 3] = ["postgres", "mariadb", "sqlite"];
    const SIGNALS: [Signal; 3] = [Signal::KILL, Signal::HUP, Signal::TERM];
    let folder = TestDir::new(name);
    for round in 0..ENDS {
        let (target, signal) = (TARGETS[round as usize % 3], SIGNALS[(round + round / 3) as usize % 3]);
        let arguments = command(target, &folder);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut child = txloom(&arguments)
            .env("TMPDIR", folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        let moment = Duration::from_millis(round * 7919 % 1999);
        std::thread::park_timeout(moment);
        let _ = kill_process(Pid::from_child(&child), signal);
        let status = child.wait().expect("it ended");
        let what = format!("{} ended by {signal:?} after {moment:?} ({status})", arguments.join(" "));
        wait_until(&what, || backends(folder.path(), "").is_empty());
        start_elsewhere(name);
        assert_eq!(scratch(folder.path()), Vec::<PathBuf>::new(), "{what}");
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

#[test]
fn a_run_leaves_nothing_whenever_it_is_ended() {
    limited(|| {
        end_at_any_moment("ended-run", |target, _| words(&["run", "corpus/anomalies", "--on", target]));
    });
}

#[test]
fn a_hunt_leaves_nothing_whenever_it_is_ended() {
    limited(|| {
        end_at_any_moment("ended-hunt", |target, folder| {
            words(&["hunt", target, "--for", "1h", "-o", &folder.path().join("findings").to_string_lossy()])
        });
    });
}

#[test]
fn a_storm_leaves_nothing_whenever_it_is_ended() {
    limited(|| end_at_any_moment("ended-storm", |target, _| words(&["storm", target, "--for", "1h"])));
}

#[test]
fn an_analysis_leaves_nothing_whenever_it_is_ended() {
    limited(|| {
        end_at_any_moment("ended-analysis", |target, _| {
            words(&["analyze", "examples/bank.sql", "--run", "--on", target])
        });
    });
}

#[test]
fn levels_leave_nothing_whenever_they_are_ended() {
    limited(|| end_at_any_moment("ended-levels", |target, _| words(&["levels", target])));
}
