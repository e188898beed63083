//! Outcomes: what the server says is what is seen.

use txloom_core::outcome::{ErrorClass, TxStatus};

use super::*;

#[test]
fn commit_of_an_aborted_transaction_answers_rollback() {
    let mut engine = shared(&["CREATE TABLE t (a int)"]);
    let mut a = open(&mut engine, 0);
    assert_eq!(ok(&mut a, "BEGIN").status, TxStatus::Open);
    let failed = a.execute("SELECT 1 / 0").unwrap();
    assert_eq!((failed.error_class(), failed.status), (Some(ErrorClass::DivisionByZero), TxStatus::Failed));
    let refused = a.execute("INSERT INTO t VALUES (1)").unwrap();
    assert_eq!(refused.error_class(), Some(ErrorClass::TransactionAborted));
    let committed = ok(&mut a, "COMMIT");
    assert_eq!((committed.tag(), committed.status), (Some("ROLLBACK"), TxStatus::Idle));
}

#[test]
fn a_message_has_one_result_per_statement() {
    let mut engine = shared(&["CREATE TABLE t (a int, b text)"]);
    let mut a = open(&mut engine, 0);
    let outcome = ok(&mut a, "INSERT INTO t VALUES (1, 'x'), (2, NULL); SELECT a, b FROM t ORDER BY a; DELETE FROM t");
    let tags: Vec<_> = outcome.results.iter().map(|result| result.tag.clone().unwrap()).collect();
    assert_eq!(tags, ["INSERT 0 2", "SELECT 2", "DELETE 2"]);
    let affected: Vec<_> = outcome.results.iter().map(|result| result.affected).collect();
    assert_eq!(affected, [Some(2), None, Some(2)]);
    assert_eq!(show(outcome.rows().unwrap()), "int4,text: 1,x | 2,NULL");
    assert_eq!(outcome.status, TxStatus::Idle);
}

#[test]
fn results_before_an_error_are_kept_and_half_a_result_is_not() {
    let mut engine = shared(&["CREATE TABLE t (a int)", "INSERT INTO t VALUES (1), (0)"]);
    let mut a = open(&mut engine, 0);
    let outcome = a.execute("SELECT 7; SELECT 1 / a FROM t; SELECT 8").unwrap();
    assert_eq!(outcome.error_class(), Some(ErrorClass::DivisionByZero));
    assert_eq!(outcome.results.len(), 1);
    assert_eq!(cell(&outcome), "7");
}

#[test]
fn empty_statements_copies_and_notices_do_not_confuse() {
    let mut engine = shared(&["CREATE TABLE t (a int)", "INSERT INTO t VALUES (1), (2)"]);
    let mut a = open(&mut engine, 0);
    assert!(ok(&mut a, "-- nothing").results.is_empty());
    let refused = a.execute("COPY t FROM STDIN").unwrap();
    assert_eq!(refused.error.unwrap().code, "57014");
    let copied = ok(&mut a, "COPY t TO STDOUT");
    assert_eq!((copied.tag(), copied.affected()), (Some("COPY 2"), None));
    ok(&mut a, "LISTEN x; NOTIFY x");
    let noticed = ok(&mut a, "DO $$ BEGIN RAISE WARNING 'careful'; END $$");
    let notice = &noticed.notices[0];
    assert_eq!(
        (notice.severity.as_str(), notice.code.as_str(), notice.message.as_str()),
        ("WARNING", "01000", "careful")
    );
    let error = a.execute("DO $$ BEGIN RAISE EXCEPTION 'no' USING DETAIL = 'because'; END $$").unwrap().error.unwrap();
    assert_eq!((error.class, error.detail.as_deref()), (ErrorClass::Other, Some("because")));
}

#[test]
fn types_have_names() {
    let mut engine = shared(&["CREATE TYPE mood AS ENUM ('sad')", "CREATE DOMAIN small AS int"]);
    let mut a = open(&mut engine, 0);
    let sql =
        "SELECT 1::int8, 'x'::varchar, 1.5, true, NULL::bytea, '{1}'::int[], 'sad'::mood, '{sad}'::mood[], 1::small";
    let names: Vec<String> =
        ok(&mut a, sql).rows().unwrap().columns.iter().map(|column| column.type_name.clone()).collect();
    assert_eq!(names, ["int8", "varchar", "numeric", "bool", "bytea", "_int4", "mood", "_mood", "int4"]);
    let unseen = ok(&mut a, "BEGIN; CREATE TYPE hue AS ENUM ('red'); SELECT 'red'::hue");
    assert_eq!(unseen.rows().unwrap().columns[0].type_name, "", "only this session can see the type yet");
    ok(&mut a, "COMMIT");
    assert_eq!(ok(&mut a, "SELECT 'red'::hue").rows().unwrap().columns[0].type_name, "hue");
}

#[test]
fn errors_have_the_class_that_they_deserve() {
    let mut engine = shared(&[
        "CREATE TABLE p (id int PRIMARY KEY)",
        "INSERT INTO p VALUES (1)",
        "CREATE TABLE t (a int NOT NULL CHECK (a > 0), b int REFERENCES p, c smallint, d varchar(2), r int4range,
                         EXCLUDE USING gist (r WITH &&))",
        "INSERT INTO t VALUES (1, 1, 1, 'x', '[1,5]')",
    ]);
    let mut a = open(&mut engine, 0);
    for (sql, class) in [
        ("INSERT INTO p VALUES (1)", ErrorClass::Unique),
        ("INSERT INTO t VALUES (1, 7)", ErrorClass::ForeignKey),
        ("DELETE FROM p", ErrorClass::ForeignKey),
        ("INSERT INTO t VALUES (0)", ErrorClass::Check),
        ("INSERT INTO t (a, r) VALUES (1, '[3,4]')", ErrorClass::Check),
        ("INSERT INTO t VALUES (NULL)", ErrorClass::NotNull),
        ("INSERT INTO t (a, c) VALUES (1, 70000)", ErrorClass::OutOfRange),
        ("SELECT 2147483647 + 1", ErrorClass::OutOfRange),
        ("INSERT INTO t (a, d) VALUES (1, 'long')", ErrorClass::OutOfRange),
        ("SELECT 'x'::int", ErrorClass::Conversion),
        ("SELECT 'yesterdayish'::date", ErrorClass::Conversion),
        ("SELECT '2021-02-30'::date", ErrorClass::Conversion),
        ("INSERT INTO t (a) VALUES (true)", ErrorClass::Conversion),
        ("SELECT 1 / 0", ErrorClass::DivisionByZero),
        ("SELEC 1", ErrorClass::Syntax),
        ("SELECT * FROM absent", ErrorClass::UnknownObject),
        ("SELECT absent FROM t", ErrorClass::UnknownObject),
        ("SELECT absent(1)", ErrorClass::UnknownObject),
        ("SELECT 1::absent", ErrorClass::UnknownObject),
        ("CREATE TABLE absent.t (a int)", ErrorClass::UnknownObject),
        ("EXECUTE absent", ErrorClass::UnknownObject),
        ("CREATE TABLE t (a int)", ErrorClass::Other),
    ] {
        assert_eq!(a.execute(sql).unwrap().error_class(), Some(class), "{sql}");
    }
    ok(&mut a, "SET statement_timeout = 1");
    assert_eq!(a.execute("SELECT pg_sleep(10)").unwrap().error_class(), Some(ErrorClass::Cancelled));
}

#[test]
fn errors_of_concurrency_are_classified() {
    let mut engine = shared(&["CREATE TABLE t (a int)", "INSERT INTO t VALUES (1)"]);
    let (mut a, mut b) = (open(&mut engine, 0), open_at(&mut engine, 1, Some("repeatable read")));
    ok(&mut b, "BEGIN");
    ok(&mut b, "SELECT * FROM t");
    ok(&mut a, "BEGIN");
    ok(&mut a, "UPDATE t SET a = 2");
    let class = |session: &mut Box<dyn Session>, sql: &str| session.execute(sql).unwrap().error_class();
    assert_eq!(class(&mut b, "SELECT * FROM t FOR UPDATE NOWAIT"), Some(ErrorClass::LockTimeout));
    ok(&mut a, "COMMIT");
    ok(&mut b, "ROLLBACK");
    ok(&mut b, "BEGIN");
    ok(&mut b, "SELECT * FROM t");
    ok(&mut a, "UPDATE t SET a = 3");
    assert_eq!(class(&mut b, "UPDATE t SET a = 4"), Some(ErrorClass::SerializationFailure));
}

#[test]
fn a_lost_connection_is_an_outcome_and_stays_one() {
    let mut engine = shared(&["CREATE TABLE t (a int)"]);
    let (mut a, mut b) = (open(&mut engine, 0), open(&mut engine, 1));
    ok(&mut b, "BEGIN");
    ok(&mut b, "INSERT INTO t VALUES (1)");
    let pid = cell(&ok(&mut b, "SELECT pg_backend_pid()"));
    ok(&mut a, &format!("SELECT pg_terminate_backend({pid})"));
    await_no_rows(&mut engine, &format!("SELECT 1 FROM pg_stat_activity WHERE pid = {pid}"));
    for _ in 0..2 {
        let lost = b.execute("COMMIT").unwrap();
        let error = lost.error.unwrap();
        assert_eq!(
            (error.class, error.code.as_str(), lost.status),
            (ErrorClass::ConnectionLost, "57P01", TxStatus::Lost)
        );
    }
    assert_eq!(engine.death(), None, "the server lives");
    assert_eq!(show_state(&engine.snapshot().unwrap())["t"], "int4: ");
}

#[test]
fn a_session_runs_at_the_level_that_was_asked_for() {
    let mut engine = shared(&[]);
    for (level, expected) in [
        (None, "read committed"),
        (Some("read uncommitted"), "read uncommitted"),
        (Some("repeatable read"), "repeatable read"),
        (Some("serializable"), "serializable"),
        (None, "read committed"),
    ] {
        let mut session = open_at(&mut engine, 0, level);
        assert_eq!(cell(&ok(&mut session, "SHOW transaction_isolation")), expected);
    }
    let name = SessionName::new("a").unwrap();
    let level = Some(LevelName::parse("snapshot").unwrap());
    let refused = engine.open(&SessionSpec { id: SessionId(0), name, node: None, level });
    assert!(refused.err().unwrap().to_string().contains("does not have the isolation level `snapshot isolation`"));
}

#[test]
fn every_session_is_a_connection_of_its_own() {
    let mut engine = shared(&[]);
    let mut sessions: Vec<_> = (0..3).map(|n| open(&mut engine, n)).collect();
    let pids: std::collections::BTreeSet<String> =
        sessions.iter_mut().map(|session| cell(&ok(session, "SELECT pg_backend_pid()"))).collect();
    assert_eq!(pids.len(), 3);
}

#[test]
fn a_session_knows_nothing_of_the_one_before_on_its_connection() {
    let mut engine = shared(&[]);
    let mut before = open_at(&mut engine, 0, Some("serializable"));
    let pid = cell(&ok(&mut before, "SELECT pg_backend_pid()"));
    for leaves in [
        "SET work_mem = '1MB'",
        "CREATE TEMP TABLE left_behind (x INT)",
        "PREPARE left_behind AS SELECT 1",
        "SELECT pg_advisory_lock(1)",
        "LISTEN left_behind",
        "DECLARE left_behind CURSOR WITH HOLD FOR SELECT 1",
    ] {
        ok(&mut before, leaves);
    }
    drop(before);
    let mut after = open(&mut engine, 0);
    assert_eq!(cell(&ok(&mut after, "SELECT pg_backend_pid()")), pid, "the connection is used again");
    for (question, clean) in [
        ("SHOW work_mem", "4MB"),
        ("SHOW transaction_isolation", "read committed"),
        ("SELECT count(*) FROM pg_class WHERE relname = 'left_behind'", "0"),
        ("SELECT count(*) FROM pg_prepared_statements", "0"),
        ("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'", "0"),
        ("SELECT count(*) FROM pg_listening_channels()", "0"),
        ("SELECT count(*) FROM pg_cursors", "0"),
    ] {
        assert_eq!(cell(&ok(&mut after, question)), clean, "{question}");
    }
}

#[test]
fn connections_in_bad_order_are_not_used_again() {
    let mut engine = shared(&[]);
    let pid = |session: &mut Box<dyn Session>| cell(&ok(session, "SELECT pg_backend_pid()"));
    let mut open_transaction = open(&mut engine, 0);
    ok(&mut open_transaction, "BEGIN");
    let mut cancelled = open(&mut engine, 1);
    let bad = [pid(&mut open_transaction), pid(&mut cancelled)];
    cancelled.canceller().cancel().unwrap();
    drop((open_transaction, cancelled));
    let (mut a, mut b) = (open(&mut engine, 0), open(&mut engine, 1));
    assert!(!bad.contains(&pid(&mut a)) && !bad.contains(&pid(&mut b)));
}

#[test]
fn a_statement_can_be_cancelled_from_outside() {
    let mut engine = shared(&[]);
    let mut a = open(&mut engine, 0);
    let canceller = a.canceller();
    canceller.cancel().unwrap();
    ok(&mut a, "SELECT 'nothing was in flight'");
    let sleeping = InFlight::start(a, "SELECT pg_sleep(15)");
    while !sleeping.is_over() {
        canceller.cancel().unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
    let (mut a, outcome) = sleeping.finish();
    assert_eq!(outcome.error_class(), Some(ErrorClass::Cancelled));
    ok(&mut a, "SELECT 1");
}

#[test]
fn what_the_engine_is() {
    let engine = shared(&[]);
    let info = engine.info();
    assert_eq!((info.target.as_str(), info.family), ("postgres", "postgres"));
    assert!(info.version.numbers[0] >= 10, "{}", info.version);
    assert!(info.capabilities.kill && info.capabilities.nodes == 0);
}
