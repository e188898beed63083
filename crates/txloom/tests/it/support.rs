//! What the tests share: engines, a time limit, the binary.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use txloom::engines::{self, Target};
use txloom::execute::EngineRunner;
use txloom_core::case::Case;
use txloom_core::engine::Engine;
use txloom_core::oracle::{Mode, RunRequest, Runner};
use txloom_core::schedule::Policy;
use txloom_core::trace::Trace;

/// No test may take longer: it hangs. (Alone, none takes half a minute; a machine may have other things to do.)
const TEST_LIMIT: Duration = Duration::from_secs(300);

/// Runs a test with a time limit: a test that hangs fails, and says so.
pub(crate) fn limited(test: impl FnOnce() + Send + 'static) {
    let (done, ended) = channel();
    let thread = std::thread::spawn(move || {
        test();
        let _ = done.send(());
    });
    match ended.recv_timeout(TEST_LIMIT) {
        Ok(()) => {}
        Err(RecvTimeoutError::Timeout) => panic!("the test did not end within {TEST_LIMIT:?}"),
        // The test panicked: so do we, with its message.
        Err(RecvTimeoutError::Disconnected) => {}
    }
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Starts a target.
pub(crate) fn engine(target: &str) -> Box<dyn Engine> {
    let target = Target::parse(target).unwrap_or_else(|error| panic!("{target}: {error}"));
    engines::open(&target).unwrap_or_else(|error| panic!("{error}"))
}

/// Starts a target behind a runner.
pub(crate) fn runner(target: &str) -> EngineRunner {
    EngineRunner::new(vec![engine(target)])
}

/// Runs a case by its first schedule, or in line order.
pub(crate) fn run(runner: &mut EngineRunner, case: &Case) -> Trace {
    let schedule = case.schedules().first().map(|schedule| (*schedule).clone());
    let request = RunRequest { case, target: 0, policy: Policy::Skip, mode: Mode::Scheduled(schedule) };
    runner.run(&request).unwrap_or_else(|error| panic!("{error}"))
}

/// Waits until something is so; fails if that takes for ever.
#[track_caller]
pub(crate) fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(240), "timed out: {what}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Whether files that tests compare with are to be written anew.
pub(crate) fn update_asked_for() -> bool {
    std::env::var_os("TXLOOM_UPDATE_GOLDEN").is_some()
}

/// Compares a document, of which parts are made by tests, with what it should be; or writes it anew.
#[track_caller]
pub(crate) fn check_document(file: &str, expected: impl FnOnce(&str) -> String) {
    // Two tests may write parts of the same document.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let path = root().join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    let expected = expected(&text);
    if update_asked_for() {
        std::fs::write(&path, &expected).expect("the document can be written");
    } else {
        assert_eq!(text, expected, "{file} differs; run with TXLOOM_UPDATE_GOLDEN=1 to accept");
    }
}

/// The binary, in the repository's root, without colours and without a terminal.
pub(crate) fn txloom(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_txloom"));
    command.args(arguments).current_dir(root()).stdin(Stdio::null()).env_remove("COLUMNS").env("NO_COLOR", "1");
    command
}

/// Runs the binary to its end.
pub(crate) fn output(arguments: &[&str]) -> Finished {
    Finished::from(txloom(arguments).output().expect("the binary starts"))
}

/// What a command printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Finished {
    fn from(output: Output) -> Finished {
        Finished {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// A directory for one test, removed at its end.
pub(crate) struct TestDir(PathBuf);

impl TestDir {
    pub(crate) fn new(name: &str) -> TestDir {
        let path = std::env::temp_dir().join(format!("txloom-test-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary directory can be made");
        TestDir(path)
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a temporary file can be written");
        path.to_string_lossy().into_owned()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TestDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
