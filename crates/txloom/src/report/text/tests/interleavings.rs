//! One case on one target: what each kind of event and answer looks like.

use txloom_core::case::{AssertWhen, Event};
use txloom_core::outcome::ErrorClass;
use txloom_core::trace::{CancelReason, Check, StepId, Trace};

use super::plays::{case, lost_update, refused_update};
use crate::report::fixtures::{Play, changed, detailed, ending, error, no_tables, ok, rows, table, tagged, warned};
use crate::report::golden;
use crate::report::model::{MismatchPlace, MismatchReport, RunResult};
use crate::report::text::{TextOptions, print_case};

fn check(name: &str, claim: &str, width: usize, trace: &Trace) {
    golden::check(
        name,
        &print_case(&case(claim, trace), &TextOptions { width, color: false, ..TextOptions::default() }),
    );
}

#[test]
fn a_step_that_waits_is_seen_twice() {
    check("waits.txt", "The second update waits for the first, then overwrites it.", 100, &lost_update().end());
}

#[test]
fn an_error_after_waiting_and_a_commit_that_rolls_back() {
    check("refused.txt", "At REPEATABLE READ the second update is refused.", 100, &refused_update().end());
}

#[test]
fn narrow_terminals_get_a_transcript() {
    check("narrow.txt", "The second update waits for the first, then overwrites it.", 50, &lost_update().end());
}

#[test]
fn very_narrow_terminals_too() {
    check("very_narrow.txt", "The second update waits for the first.", 24, &lost_update().end());
}

#[test]
fn text_wraps_inside_its_column() {
    check("wrapped.txt", "The second update waits for the first, then overwrites it.", 64, &lost_update().end());
}

#[test]
fn colours_are_escape_codes() {
    let text = print_case(
        &case("In colour.", &refused_update().end()),
        &TextOptions { width: 100, color: true, ..TextOptions::default() },
    );
    golden::check("color.txt", &text.replace('\u{1b}', "^["));
}

#[test]
fn a_deadlock_is_said_in_words() {
    let deadlock = detailed(
        error(ErrorClass::Deadlock, "40P01", "deadlock detected"),
        "Process 4711 waits for ShareLock on transaction 740; blocked by process 4712.",
    );
    let trace = Play::new("a b")
        .done("a", "BEGIN", ok())
        .done("b", "BEGIN", ok())
        .done("a", "UPDATE t SET v = 11 WHERE id = 1", changed(1))
        .done("b", "UPDATE t SET v = 22 WHERE id = 2", changed(1))
        .waits("a", "UPDATE t SET v = 12 WHERE id = 2", "b")
        .done("b", "UPDATE t SET v = 21 WHERE id = 1", deadlock)
        .goes_on("a", changed(1))
        .done("b", "COMMIT", tagged("ROLLBACK"))
        .done("a", "COMMIT", ok())
        .ends_with("t", table("id v", &[&["1", "11"], &["2", "12"]]))
        .end();
    check("deadlock.txt", "Two updates in opposite order end in a deadlock; one goes on.", 100, &trace);
}

#[test]
fn three_sessions_and_changing_holders() {
    let trace = Play::new("reader writer auditor")
        .level("auditor", "serializable")
        .done("writer", "BEGIN", ok())
        .done("writer", "UPDATE t SET v = v + 1", changed(2))
        .done("reader", "SELECT * FROM t", rows("id v", &[&["1", "10"], &["2", "20"]]))
        .done("auditor", "BEGIN", ok())
        .waits("auditor", "SELECT * FROM t FOR UPDATE", "writer")
        .waits("reader", "DELETE FROM t", "writer auditor")
        .done("writer", "COMMIT", ok())
        .goes_on("auditor", rows("id v", &[&["1", "11"], &["2", "21"]]))
        .now_waits("reader", "auditor")
        .done("auditor", "COMMIT", ok())
        .goes_on("reader", changed(2))
        .ends_with("t", table("id v", &[]))
        .end();
    check("three_sessions.txt", "A reader, a writer and an auditor.", 120, &trace);
    check("three_sessions_narrow.txt", "A reader, a writer and an auditor.", 72, &trace);
}

#[test]
fn who_is_still_blocked_at_the_end_is_cancelled() {
    let cancelled = || error(ErrorClass::Cancelled, "57014", "canceling statement due to user request");
    let trace = Play::new("a b c")
        .done("a", "BEGIN", ok())
        .done("a", "LOCK TABLE t", ok())
        .waits("b", "SELECT * FROM t", "a")
        .waits("c", "SELECT * FROM t", "")
        .cancelled("b", CancelReason::StillBlocked, cancelled())
        .cancelled("c", CancelReason::TimeLimit, cancelled())
        .left_open("a")
        .end();
    check("cancelled.txt", "Nobody ends a's transaction.", 100, &trace);
}

#[test]
fn answers_of_every_shape() {
    let many: Vec<Vec<String>> = (1..=40).map(|n: i32| vec![n.to_string(), (n * n).to_string()]).collect();
    let many: Vec<Vec<&str>> = many.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    let many: Vec<&[&str]> = many.iter().map(Vec::as_slice).collect();
    let long = "x".repeat(500);
    let columns: Vec<String> = (1..=30).map(|n| format!("column_{n}")).collect();
    let values: Vec<String> = (1..=30).map(|n| (n * 1000).to_string()).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let unique = error(ErrorClass::Unique, "23505", "duplicate key value violates unique constraint \"t_pkey\"");
    let trace = Play::new("a b")
        .done("a", "SELECT * FROM t WHERE FALSE", rows("id", &[]))
        .done("a", "SELECT * FROM t", rows("id:int4 name:text", &[&["1", "NULL"], &["NULL", "it's"]]))
        .done("b", "SELECT n, n * n FROM numbers", rows("n square", &many))
        .done("b", "SELECT text FROM t", rows("text:text", &[&[&long]]))
        .done("a", "SELECT * FROM wide", rows(&columns.join(" "), &[&values]))
        .done("a", "INSERT INTO t VALUES (1, 'one')", detailed(unique, "Key (id)=(1) already exists."))
        .done("b", "UPDATE t SET name = 'x' WHERE id = 99", changed(0))
        .done("b", "COMMIT", warned(ok(), "there is no transaction in progress"))
        .done(
            "b",
            "SELECT '日本語', 'čeština', 'two\nlines'",
            rows("a:text b:text c:text", &[&["日本語", "čeština", "two\nlines"]]),
        )
        .ends_with("wide", table(&columns.join(" "), &[&values]))
        .ends_with("numbers", table("n square", &many))
        .ends_with("names", table("id name:text", &[&["1", "日本語"], &["10", "čeština"], &["NULL", "NULL"]]))
        .end();
    check("answers.txt", "Answers of every shape.", 100, &trace);
}

#[test]
fn transactions_that_take_another_turn_are_remarked() {
    let trace = Play::new("a b")
        .done("a", "BEGIN", ok())
        .done("a", "CREATE TABLE u (id INT)", ending(ok()))
        .done("b", "BEGIN", ok())
        .done("b", "UPDATE t SET v = 1", ending(error(ErrorClass::Deadlock, "40001", "Deadlock found")))
        .done("b", "COMMIT", ok())
        .end();
    check("remarks.txt", "DDL commits, and a deadlock ends the transaction.", 100, &trace);
}

#[test]
fn a_server_that_dies() {
    let log = ["LOG:  server process (PID 1) was terminated by signal 11", "LOG:  terminating any other processes"];
    let trace = Play::new("a b").done("b", "BEGIN", ok()).dies("a", "SELECT crash()", "signal 11", &log).end();
    check("death.txt", "A crash is reported with the last lines of the log.", 100, &trace);
}

#[test]
fn positioned_events_stand_across() {
    let trace = Play::new("a b")
        .done("a", "UPDATE t SET v = 1", changed(1))
        .event(Event::Partition(vec![vec![1], vec![2]]))
        .done("b", "SELECT v FROM t", rows("v", &[&["0"]]))
        .event(Event::Heal)
        .done("b", "SELECT v FROM t", rows("v", &[&["1"]]))
        .end();
    assert_eq!(trace.final_state, Some(no_tables()));
    check("events.txt", "Node 2 is behind until the partition heals.", 100, &trace);
}

#[test]
fn assertions_and_unmet_expectations() {
    let assertion = |when, after, rows| Check { name: "no overdraft".to_string(), when, after, outcome: rows };
    let trace = lost_update()
        .check(assertion(AssertWhen::Start, None, rows("id", &[])))
        .check(assertion(AssertWhen::Each, Some(StepId(6)), rows("id balance", &[&["1", "-20"]])))
        .check(Check {
            name: "total is kept".to_string(),
            when: AssertWhen::End,
            after: Some(StepId(7)),
            outcome: rows("id", &[]),
        })
        .end();
    let mut case = case("The second update is refused.", &trace);
    case.anomaly = Some("P4".to_string());
    let RunResult::Observed(seen) = &mut case.runs[0].targets[0].result else { unreachable!() };
    seen.anomaly_happened = Some(true);
    seen.mismatches = vec![
        mismatch(MismatchPlace::Step(6), "error serialization-failure", "affected 1"),
        mismatch(MismatchPlace::Final("account".to_string()), "(1, 'alice', -20)", "(1, 'alice', 40) (2, 'bob', 250)"),
        mismatch(MismatchPlace::Assert("no overdraft".to_string()), "no rows", "(1, -20)"),
    ];
    golden::check("unmet.txt", &print_case(&case, &TextOptions::default()));
}

fn mismatch(at: MismatchPlace, expected: &str, found: &str) -> MismatchReport {
    MismatchReport { at, line: None, misunderstood: None, expected: expected.to_string(), found: found.to_string() }
}
