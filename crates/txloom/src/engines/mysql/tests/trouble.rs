//! Statements that hang, servers that stop answering, servers that die: an outcome or a clear error, never a hang.

use std::io::Write;

use rustix::process::{Pid, Signal, kill_process};
use txloom_core::case::{self, Event};
use txloom_core::oracle::{Mode, RunError, RunRequest, Runner};
use txloom_core::outcome::{ErrorClass, TxStatus};
use txloom_core::schedule::Policy;
use txloom_core::trace::{CancelReason, Trace};

use super::*;
use crate::execute::{EngineRunner, ExecuteOptions};

const ONE_ROW: &[&str] = &["CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO t VALUES (1)"];

/// A runner with a server of its own, and the number of the server's process.
fn runner() -> (EngineRunner, Pid) {
    runner_with(&[])
}

/// The same, with settings of the server.
fn runner_with(extra: &[(&str, &str)]) -> (EngineRunner, Pid) {
    testing::sweep_up_after_us();
    let server = private(extra);
    let pid = Pid::from_raw(server.id() as i32).unwrap();
    let engine = MySqlEngine::start_private("mariadb", server).unwrap();
    let options = ExecuteOptions { statement_limit: Duration::from_millis(300) };
    (EngineRunner::new(vec![Box::new(engine)]).with_options(options), pid)
}

fn run(runner: &mut EngineRunner, text: &str) -> Result<Trace, RunError> {
    let case = case::parse(text).unwrap();
    runner.run(&RunRequest { case: &case, target: 0, policy: Policy::Skip, mode: Mode::Scheduled(None) })
}

#[test]
fn a_statement_that_hangs_is_ended_at_its_limit() {
    let (mut runner, _) = runner();
    let trace = run(&mut runner, "/*a*/ SELECT SLEEP(1000);\n/*a*/ SELECT 1;\n").unwrap();
    assert_eq!(trace.steps[0].cancelled, Some(CancelReason::TimeLimit));
    assert_eq!(rows(trace.steps[1].outcome.as_ref().unwrap()), "(1)");
}

#[test]
fn a_statement_that_the_server_ends_after_our_limit_has_exceeded_it() {
    let (mut runner, _) = runner_with(&[("max-statement-time", "0.6")]);
    let setup = "/*init*/ CREATE TABLE t (id INT PRIMARY KEY);\n/*init*/ INSERT INTO t VALUES (1);\n";
    let sleeps = "/*a*/ SELECT SLEEP(0.2);\n".repeat(5);
    let case = format!("{setup}/*a*/ BEGIN;\n/*a*/ DELETE FROM t;\n/*b*/ DELETE FROM t;\n{sleeps}");
    let trace = run(&mut runner, &case).unwrap();
    let b = &trace.steps[2];
    assert!(b.waited, "the executor lets it wait for as long as a works");
    assert_eq!(b.cancelled, Some(CancelReason::TimeLimit));
    assert_eq!(b.outcome.as_ref().unwrap().error_class(), Some(ErrorClass::Cancelled));
    // What a case asks for itself is an outcome like any other.
    let trace = run(&mut runner, "/*a*/ SET STATEMENT max_statement_time = 0.05 FOR SELECT SLEEP(15);\n").unwrap();
    assert_eq!(trace.steps[0].cancelled, None);
    assert_eq!(trace.steps[0].outcome.as_ref().unwrap().error_class(), Some(ErrorClass::Cancelled));
}

#[test]
fn complaints_in_the_log_are_part_of_the_trace() {
    let server = private(&[]);
    let mut log = crate::servers::log::create(&server.log_path()).unwrap();
    let engine = MySqlEngine::start_private("mariadb", server).unwrap();
    let mut runner = EngineRunner::new(vec![Box::new(engine)]);
    let complaint = "2024-01-31 12:00:00 0x7f11  InnoDB: Assertion failure in file /src/row0sel.cc line 12";
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::park_timeout(Duration::from_millis(100));
            writeln!(log, "{complaint}\nInnoDB: Failing assertion: a > b").unwrap();
        });
        let trace = run(&mut runner, "/*a*/ SELECT SLEEP(0.3);\n").unwrap();
        assert_eq!(trace.alarms, [format!("{complaint}\nInnoDB: Failing assertion: a > b")]);
    });
    assert!(run(&mut runner, "/*a*/ SELECT 'Assertion failure';\n").unwrap().alarms.is_empty());
}

#[test]
fn a_server_that_stops_answering_is_an_error_and_is_replaced() {
    let (mut runner, pid) = runner();
    let case = "/*init*/ CREATE TABLE t (id INT);\n/*a*/ SELECT SLEEP(0.2);\n/*a*/ INSERT INTO t VALUES (1);\n";
    run(&mut runner, case).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // In the middle of the first statement; if it comes earlier, nothing else is shown.
            std::thread::park_timeout(Duration::from_millis(100));
            kill_process(pid, Signal::STOP).unwrap();
        });
        let error = run(&mut runner, case).unwrap_err().to_string();
        assert!(error.contains("the server does not answer"), "{error}");
    });
    let trace = run(&mut runner, case).unwrap();
    assert_eq!(trace.steps[1].outcome.as_ref().unwrap().affected(), Some(1), "a new server has taken its place");
}

#[test]
fn a_server_that_is_killed_in_the_middle_of_a_case_is_part_of_the_trace() {
    let (mut runner, pid) = runner();
    let case = "/*init*/ CREATE TABLE t (id INT);\n/*a*/ SELECT SLEEP(0.25);\n/*b*/ INSERT INTO t VALUES (1);\n";
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::park_timeout(Duration::from_millis(150));
            kill_process(pid, Signal::KILL).unwrap();
        });
        let trace = run(&mut runner, case).unwrap();
        assert_eq!(trace.death.as_ref().unwrap().how, "signal 9");
        let outcome = trace.steps[0].outcome.as_ref().unwrap();
        assert_eq!((outcome.error_class(), outcome.status), (Some(ErrorClass::ConnectionLost), TxStatus::Lost));
        assert_eq!((trace.steps.len(), trace.final_state), (1, None));
    });
    let trace = run(&mut runner, case).unwrap();
    assert_eq!((trace.death, trace.steps.len()), (None, 2));
}

#[test]
fn a_connection_that_a_case_kills_is_lost_and_the_server_is_not() {
    let mut engine = shared(ONE_ROW);
    let (mut a, mut b) = (open(&mut engine, 0), open(&mut engine, 1));
    let id = rows(&ok(&mut a, "SELECT CONNECTION_ID()")).replace(['(', ')'], "");
    ok(&mut a, "BEGIN; INSERT INTO t VALUES (2)");
    ok(&mut b, &format!("KILL {id}"));
    let outcome = a.execute("COMMIT").unwrap();
    assert_eq!((outcome.error_class(), outcome.status), (Some(ErrorClass::ConnectionLost), TxStatus::Lost));
    assert_eq!(a.execute("SELECT 1").unwrap().status, TxStatus::Lost);
    assert_eq!(engine.death(), None);
    // Our own connections are not immune, but come back.
    for process in ok(&mut b, "SHOW PROCESSLIST").rows().unwrap().rows.clone() {
        let other = String::from_utf8(process[0].clone().unwrap()).unwrap();
        let _ = b.execute(&format!("KILL {other}"));
    }
    assert!(engine.waits(&[SessionId(0)]).is_ok());
    assert_eq!(state(&mut engine)["t"], "(1)");
    drop((a, b));
    reset(&mut engine, ONE_ROW);
}

#[test]
fn after_a_kill_what_was_committed_is_there_and_nothing_else() {
    let mut engine = shared(ONE_ROW);
    let (mut a, mut b) = (open(&mut engine, 0), open(&mut engine, 1));
    ok(&mut a, "INSERT INTO t VALUES (2)");
    ok(&mut b, "BEGIN; INSERT INTO t VALUES (3)");
    engine.event(&Event::Kill).unwrap();
    assert_eq!(engine.death(), None, "we did it ourselves");
    assert_eq!(b.execute("COMMIT").unwrap().error_class(), Some(ErrorClass::ConnectionLost));
    assert_eq!(state(&mut engine)["t"], "(1) (2)");
    ok(&mut open(&mut engine, 1), "INSERT INTO t VALUES (4)");
    assert_eq!(state(&mut engine)["t"], "(1) (2) (4)");
    let error = engine.event(&Event::Heal).unwrap_err().to_string();
    assert_eq!(error, "mariadb: this target does not have the event `@heal`");
}
