//! Isolation tests on a real server, and their transcripts.
//!
//! The transcripts in `corpus/isolation/` were written by PostgreSQL's own runner.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use txloom_core::formats::spec;

use super::*;
use crate::servers::testing::sweep_up_after_us;

/// One server for all tests of this file.
static HARNESS: Mutex<Option<IsolationHarness>> = Mutex::new(None);

/// Runs a spec; steps are cancelled after the limit.
fn run(name: &str, text: &str, step_limit: Duration) -> (Flow, String) {
    let mut harness = HARNESS.lock().unwrap_or_else(PoisonError::into_inner);
    let harness = harness.get_or_insert_with(|| {
        sweep_up_after_us();
        IsolationHarness::start("postgres", &Programs::Newest).unwrap()
    });
    let spec = spec::parse(text).unwrap_or_else(|error| panic!("{name}:{error}"));
    let mut bytes = Vec::new();
    let flow = harness.run(name, &spec, step_limit, |piece| bytes.extend_from_slice(piece)).unwrap();
    (flow, String::from_utf8(bytes).unwrap())
}

fn transcript(name: &str, text: &str) -> String {
    run(name, text, Duration::from_secs(20)).1
}

macro_rules! golden {
    ($($test:ident: $name:literal,)*) => {$(
        #[test]
        fn $test() {
            let spec = include_str!(concat!("../../../../../../corpus/isolation/", $name, ".spec"));
            let expected = include_str!(concat!("../../../../../../corpus/isolation/", $name, ".out"));
            assert_eq!(transcript($name, spec), expected);
        }
    )*};
}

golden! {
    those_who_wait_go_on_in_order: "waiting",
    deadlocks_have_the_victim_that_the_test_chooses: "deadlock",
    notices_are_printed_as_they_are_seen: "notices",
    notifications_name_their_sender: "notify",
    steps_end_by_timeouts_and_cancellations: "timeouts",
    all_interleavings_are_run: "interleavings",
}

#[test]
fn a_step_that_never_ends_is_cancelled() {
    let spec = "session a step hang { SELECT pg_sleep(60); } step after { SELECT 1 AS x; }";
    let (flow, transcript) = run("hang", spec, Duration::from_secs(1));
    assert_eq!(flow, Flow::Continue);
    assert_eq!(
        transcript,
        "Parsed test spec with 1 sessions\n\nstarting permutation: hang after\n\
         isolationtester: canceling step hang after 1 seconds\nstep hang: SELECT pg_sleep(60);\n\
         ERROR:  canceling statement due to user request\nstep after: SELECT 1 AS x;\nx\n-\n1\n(1 row)\n\n"
    );
}

#[test]
fn a_session_that_dies_says_so() {
    let spec = "session a step die { SELECT pg_terminate_backend(pg_backend_pid()); }
                session b step copy { COPY (SELECT 1) TO STDOUT; } step fill { COPY pg_class FROM STDIN; }
                permutation copy fill die copy die";
    let (flow, transcript) = run("death", spec, Duration::from_secs(20));
    assert_eq!(flow, Flow::Stop);
    assert_eq!(
        transcript,
        "Parsed test spec with 2 sessions\n\nstarting permutation: copy fill die copy die\n\
         step copy: COPY (SELECT 1) TO STDOUT;\nunexpected result status: PGRES_COPY_OUT\n\
         step fill: COPY pg_class FROM STDIN;\nunexpected result status: PGRES_COPY_IN\n\
         ERROR:  COPY from stdin failed: a step has no data to copy\n\
         step die: SELECT pg_terminate_backend(pg_backend_pid());\n\
         FATAL:  terminating connection due to administrator command\nserver closed the connection unexpectedly\n\
         \tThis probably means the server terminated abnormally\n\tbefore or while processing the request.\n\n\
         step copy: COPY (SELECT 1) TO STDOUT;\nunexpected result status: PGRES_COPY_OUT\n\
         failed to send query for step die: no connection to the server\n\n"
    );
}

#[test]
fn what_a_spec_leaves_does_not_reach_the_next() {
    for leave in [
        "CREATE ROLE regress_left;",
        "BEGIN; CREATE TABLE t (); PREPARE TRANSACTION 'left';",
        "ALTER SYSTEM SET work_mem = '1MB';",
        "CREATE TABLE t (); SET application_name = 'x';",
    ] {
        transcript("leaves", &format!("session a step leave {{ {leave} }}"));
        let look = "SELECT (SELECT count(*) FROM pg_roles WHERE rolname = 'regress_left') AS roles,
                           (SELECT count(*) FROM pg_prepared_xacts) AS prepared,
                           (SELECT count(*) FROM pg_file_settings WHERE sourcefile LIKE '%auto.conf') AS settings,
                           to_regclass('t') AS t";
        let seen = transcript("looks", &format!("session a step look {{ {look} }}"));
        assert!(seen.ends_with("\n    0|       0|       0| \n(1 row)\n\n"), "after {leave}\n{seen}");
    }
}

/// Runs every spec of the folder that a variable names, and compares with the transcripts beside them: `NAME.out`, or
/// one of `NAME_1.out` and so on where several are right.
#[test]
fn samples_print_their_transcripts() {
    let Some(folder) = std::env::var_os("TXLOOM_SPEC_SAMPLES").map(PathBuf::from) else { return };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "spec"));
    files.sort();
    assert!(!files.is_empty());
    let mut wrong = Vec::new();
    for file in &files {
        let name = file.file_stem().unwrap().to_string_lossy();
        let printed = transcript(&name, &std::fs::read_to_string(file).unwrap());
        let variants = (0..10).map(|n| if n == 0 { format!("{name}.out") } else { format!("{name}_{n}.out") });
        let expected = |variant: String| std::fs::read_to_string(file.with_file_name(variant)).ok();
        if !variants.filter_map(expected).any(|expected| expected == printed) {
            wrong.push(name.to_string());
        }
    }
    assert_eq!(wrong, Vec::<String>::new(), "of {} specs", files.len());
}
