//! What a killed txloom leaves, and who cleans it up.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Finished, TestDir, limited, txloom};

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

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(240), "timed out: {what}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// The processes that work below a directory (PostgreSQL's do, in their data directory) and whose title holds a word.
fn backends(folder: &Path, word: &str) -> Vec<PathBuf> {
    let below = |process: &PathBuf| std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
    let titled = |process: &PathBuf| {
        std::fs::read(process.join("cmdline")).is_ok_and(|title| String::from_utf8_lossy(&title).contains(word))
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    processes.filter(|process| below(process) && titled(process)).collect()
}

/// The private directories below a directory.
fn scratch(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.is_dir()).collect()
}

#[test]
fn what_kill_9_leaves_is_cleaned_by_the_next_start() {
    limited(|| {
        let folder = TestDir::new("killed");
        let mut child = start(&folder);
        child.kill().expect("it can be killed");
        child.wait().expect("it ended");
        assert!(!scratch(folder.path()).is_empty(), "kill -9 leaves the directory: the test shows nothing otherwise");

        let next = txloom(&["run", "corpus/contract/savepoints.sql", "--on", "postgres"])
            .env("TMPDIR", folder.path())
            .output()
            .expect("the binary starts");
        assert_eq!(Finished::from(next).code, 0);
        assert_eq!(backends(folder.path(), ""), Vec::<PathBuf>::new(), "no server process is left");
        assert_eq!(scratch(folder.path()), Vec::<PathBuf>::new(), "no directory is left");
    });
}

#[test]
fn ctrl_c_ends_the_server_and_removes_its_directory() {
    limited(|| {
        let folder = TestDir::new("interrupted");
        let mut child = start(&folder);
        let pid = Pid::from_child(&child);
        kill_process(pid, Signal::INT).expect("it can be interrupted");
        let status = child.wait().expect("it ended");
        assert_eq!(status.code(), Some(130));
        assert_eq!(backends(folder.path(), ""), Vec::<PathBuf>::new(), "no server process is left");
        assert_eq!(scratch(folder.path()), Vec::<PathBuf>::new(), "no directory is left");
    });
}
