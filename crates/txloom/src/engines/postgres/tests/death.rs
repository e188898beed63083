//! Servers that die: noticed, told, started again.

use std::io::Write;

use rustix::process::{Pid, Signal, kill_process};
use txloom_core::case::Event;
use txloom_core::outcome::{ErrorClass, TxStatus};

use super::*;

const ONE_ROW: &[&str] = &["CREATE TABLE t (a int)", "INSERT INTO t VALUES (1)"];

fn kill(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

#[test]
fn a_killed_backend_is_noticed_at_once_and_the_server_replaced() {
    let mut engine = shared(ONE_ROW);
    for (signal, how) in [(Signal::KILL, "signal 9"), (Signal::SEGV, "signal 11")] {
        let (mut a, mut b) = (open(&mut engine, 0), open(&mut engine, 1));
        ok(&mut b, "BEGIN");
        let pid = cell(&ok(&mut a, "SELECT pg_backend_pid()")).parse().unwrap();
        assert_eq!(engine.death(), None);
        let sleeping = InFlight::start(a, "SELECT pg_sleep(15)");
        await_no_rows(
            &mut engine,
            &format!("SELECT 1 FROM pg_stat_activity WHERE pid = {pid} AND wait_event IS DISTINCT FROM 'PgSleep'"),
        );
        kill(pid, signal);
        let (_, outcome) = sleeping.finish();
        assert_eq!((outcome.error_class(), outcome.status), (Some(ErrorClass::ConnectionLost), TxStatus::Lost));
        let death = engine.death().expect("the log says so before anybody else is served");
        assert_eq!(death.how, how);
        assert!(death.log.iter().any(|line| line.contains("was terminated by")), "{death}");
        assert_eq!(b.execute("COMMIT").unwrap().error_class(), Some(ErrorClass::ConnectionLost));
        assert!(engine.waits(&[SessionId(0), SessionId(1)]).is_ok(), "a dead server keeps nobody waiting");
        drop(b);
        reset(&mut engine, ONE_ROW);
        assert_eq!(engine.death(), None);
    }
}

#[test]
fn complaints_in_the_log_are_told_until_the_next_case() {
    let mut engine = shared(ONE_ROW);
    let mut a = open(&mut engine, 0);
    assert!(a.execute("SELECT \"\nTRAP: failed Assert\"").unwrap().error.is_some(), "the server logs this");
    assert!(engine.alarms().is_empty(), "a client's words are none of the server's");
    let super::super::Home::Private(server) = &engine.home else { unreachable!() };
    let mut log = crate::servers::log::create(&server.log_path()).unwrap();
    // As a sanitizer would, the server itself being of a build without any.
    writeln!(log, "heapam.c:12:3: runtime error: shift exponent 64 is too large\n    #0 0x55 in f").unwrap();
    let alarms = engine.alarms();
    assert_eq!(alarms.len(), 1);
    assert!(
        alarms[0].starts_with("heapam.c:12:3: runtime error: shift exponent 64 is too large\n    #0"),
        "{alarms:?}"
    );
    assert_eq!(engine.death(), None);
    drop(a);
    reset(&mut engine, ONE_ROW);
    assert!(engine.alarms().is_empty());
}

#[test]
fn statements_end_by_themselves_some_day() {
    let mut engine = shared(ONE_ROW);
    let mut session = open_session(&mut *engine, 0, None);
    assert_eq!(cell(&ok(&mut session, "SHOW statement_timeout")), "10min");
    ok(&mut session, "SET statement_timeout = '20ms'");
    assert_eq!(session.execute("SELECT pg_sleep(15)").unwrap().error_class(), Some(ErrorClass::Cancelled));
}

#[test]
fn a_killed_server_is_noticed_and_replaced() {
    let mut engine = shared(ONE_ROW);
    let a = open(&mut engine, 0);
    let pid = match &engine.home {
        super::super::Home::Private(server) => server.id() as i32,
        super::super::Home::Borrowed(_) => unreachable!(),
    };
    let sleeping = InFlight::start(open(&mut engine, 1), "SELECT pg_sleep(15)");
    kill(pid, Signal::KILL);
    assert!(crate::servers::process::is_gone_within(pid, LIMIT));
    assert_eq!(engine.death().unwrap().how, "signal 9");
    assert!(engine.waits(&[SessionId(1)]).is_ok(), "a dead server keeps nobody waiting");
    drop(a);
    reset(&mut engine, ONE_ROW);
    let outcome = sleeping.finish().1;
    assert_eq!((outcome.error_class(), outcome.status), (Some(ErrorClass::ConnectionLost), TxStatus::Lost));
    assert_eq!(engine.death(), None);
    assert_eq!(show_state(&engine.snapshot().unwrap())["t"], "int4: 1");
}

#[test]
fn after_kill_what_was_committed_is_there_and_nothing_else() {
    let mut engine = shared(ONE_ROW);
    let (mut a, mut b) = (open(&mut engine, 0), open(&mut engine, 1));
    ok(&mut a, "INSERT INTO t VALUES (2)");
    ok(&mut b, "BEGIN");
    ok(&mut b, "INSERT INTO t VALUES (3)");
    engine.event(&Event::Kill).unwrap();
    assert_eq!(engine.death(), None, "we did it ourselves");
    assert_eq!(b.execute("COMMIT").unwrap().error_class(), Some(ErrorClass::ConnectionLost));
    assert_eq!(show_state(&engine.snapshot().unwrap())["t"], "int4: 1 | 2");
    let mut c = open(&mut engine, 1);
    ok(&mut c, "INSERT INTO t VALUES (4)");
    assert_eq!(show_state(&engine.snapshot().unwrap())["t"], "int4: 1 | 2 | 4");
    let error = engine.event(&Event::Heal).unwrap_err().to_string();
    assert_eq!(error, "postgres: this target does not have the event `@heal`");
}
