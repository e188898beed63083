//! Who waits for whom; and the victim of a deadlock is always the same.

use txloom_core::outcome::{ErrorClass, TxStatus};

use super::*;

const ROWS: &[&str] =
    &["CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 0), (2, 0), (3, 0), (5, 0)"];
const INNODB: &str = "SHOW ENGINE INNODB STATUS";
const METADATA: &str = "performance_schema.metadata_locks";

/// `first` is executed by session 0, `second` by session 1, which waits; `release` lets it go on.
fn check(setup: &[&str], first: &str, second: &str, release: &str, source: &str) {
    let mut engine = shared(setup);
    let (mut a, b) = (open(&mut engine, 0), open(&mut engine, 1));
    ok(&mut a, first);
    let b = InFlight::start(b, second);
    let (holders, found) = await_listed(&mut engine, &[1], 1);
    assert_eq!(found, source, "{second}");
    // The state of a process tells that it waits, but not for whom.
    assert_eq!(holders, if source.contains("time-out") { vec![] } else { vec![session(0)] }, "{second}");
    ok(&mut a, release);
    let (_, outcome) = b.finish();
    assert_eq!(outcome.error, None, "{second}");
    let KnownWaits::Edges(edges) = engine.waits(&[]).unwrap().known else { panic!() };
    assert!(edges.is_empty());
}

#[test]
fn waits_for_rows_and_gaps_are_seen() {
    check(ROWS, "BEGIN; UPDATE t SET v = 1 WHERE id = 1", "UPDATE t SET v = 2", "COMMIT", INNODB);
    check(ROWS, "BEGIN; SELECT * FROM t WHERE id = 4 FOR UPDATE", "INSERT INTO t VALUES (4, 4)", "ROLLBACK", INNODB);
    check(ROWS, "BEGIN; SELECT * FROM t LOCK IN SHARE MODE", "INSERT INTO t VALUES (9, 9)", "ROLLBACK", INNODB);
    check(ROWS, "BEGIN; INSERT INTO t VALUES (4, 4)", "SELECT * FROM t FOR UPDATE", "COMMIT", INNODB);
}

#[test]
fn waits_for_the_schema_and_for_names_are_seen() {
    check(ROWS, "BEGIN; SELECT * FROM t", "ALTER TABLE t ADD COLUMN w INT", "COMMIT", METADATA);
    check(ROWS, "BEGIN; SELECT * FROM t", "TRUNCATE TABLE t", "COMMIT", METADATA);
    check(ROWS, "LOCK TABLES t WRITE", "SELECT * FROM t", "UNLOCK TABLES", METADATA);
    check(ROWS, "SELECT GET_LOCK('x', 1)", "SELECT GET_LOCK('x', 100)", "SELECT RELEASE_LOCK('x')", METADATA);
    check(ROWS, "FLUSH TABLES WITH READ LOCK", "UPDATE t SET v = 1", "UNLOCK TABLES", METADATA);
}

#[test]
fn waits_for_tables_of_other_engines_are_seen_by_their_state() {
    let setup = &["CREATE TABLE m (id INT) ENGINE = MyISAM", "INSERT INTO m VALUES (1), (2)"];
    // A read that takes long keeps the write away; it is no wait itself.
    let mut engine = shared(setup);
    let (a, b) = (open(&mut engine, 0), open(&mut engine, 1));
    let cancel = a.canceller();
    let a = InFlight::start(a, "SELECT SLEEP(20) FROM m");
    while rows(&engine.probe("SHOW PROCESSLIST").unwrap()).matches("User sleep").count() == 0 {}
    let b = InFlight::start(b, "UPDATE m SET id = 3");
    assert_eq!(await_listed(&mut engine, &[0, 1], 1), (vec![], "SHOW PROCESSLIST, after a time-out"));
    let KnownWaits::Edges(edges) = engine.waits(&[SessionId(0)]).unwrap().known else { panic!() };
    assert!(edges.is_empty(), "{edges:?}");
    cancel.cancel().unwrap();
    a.finish();
    assert_eq!(b.finish().1.affected(), Some(2));
}

#[test]
fn all_who_hold_are_named_and_a_second_wait_is_seen_too() {
    let mut engine = shared(ROWS);
    let (mut a, mut b, c) = (open(&mut engine, 0), open(&mut engine, 1), open(&mut engine, 2));
    ok(&mut a, "BEGIN; SELECT * FROM t WHERE id = 1 LOCK IN SHARE MODE");
    ok(&mut b, "BEGIN; SELECT * FROM t WHERE id < 3 LOCK IN SHARE MODE");
    let c = InFlight::start(c, "UPDATE t SET v = 3 WHERE id <= 2");
    assert_eq!(await_listed(&mut engine, &[2], 2).0, [session(0), session(1)]);
    ok(&mut a, "COMMIT");
    let deadline = Instant::now() + LIMIT;
    while await_listed(&mut engine, &[2], 2).0 != [session(1)] {
        assert!(Instant::now() < deadline);
    }
    ok(&mut b, "COMMIT");
    assert_eq!(c.finish().1.affected(), Some(2));
}

#[test]
fn a_statement_that_was_told_to_end_waits_no_more() {
    let mut engine = shared(ROWS);
    let (mut a, b) = (open(&mut engine, 0), open(&mut engine, 1));
    ok(&mut a, "BEGIN; UPDATE t SET v = 1 WHERE id = 1");
    let cancel = b.canceller();
    let b = InFlight::start(b, "UPDATE t SET v = 2 WHERE id = 1");
    await_listed(&mut engine, &[1], 1);
    cancel.cancel().unwrap();
    let KnownWaits::Edges(edges) = engine.waits(&[SessionId(1)]).unwrap().known else { panic!() };
    assert!(edges.is_empty(), "{edges:?}");
    let (mut b, outcome) = b.finish();
    assert_eq!((outcome.error_class(), outcome.status), (Some(ErrorClass::Cancelled), TxStatus::Idle));
    ok(&mut b, "UPDATE t SET v = 2 WHERE id = 2");
    let outcome = b.execute("SELECT * FROM t WHERE id = 1 FOR UPDATE NOWAIT").unwrap();
    assert_eq!(outcome.error_class(), Some(ErrorClass::LockTimeout));
}

/// Both lock a row, then each waits for the other's; `work` of the second session comes before that. Returns who is the
/// victim, and asserts that nobody is believed to wait in a circle.
fn deadlock(engine: &mut MySqlEngine, work: &str) -> usize {
    reset(engine, ROWS);
    let (mut a, mut b) = (open(engine, 0), open(engine, 1));
    ok(&mut a, "BEGIN; UPDATE t SET v = 1 WHERE id = 1");
    ok(&mut b, &format!("BEGIN; UPDATE t SET v = 2 WHERE id = 2; {work}"));
    let a = InFlight::start(a, "UPDATE t SET v = 1 WHERE id = 2");
    await_listed(engine, &[0], 0);
    let b = InFlight::start(b, "UPDATE t SET v = 2 WHERE id = 1");
    let mut both_waited = 0;
    while !(a.is_over() || b.is_over()) {
        let KnownWaits::Edges(edges) = engine.waits(&[SessionId(0), SessionId(1)]).unwrap().known else { panic!() };
        both_waited += usize::from(edges.len() == 2);
    }
    assert_eq!(both_waited, 0, "a circle was taken for two waits");
    let ((_, a), (_, b)) = (a.finish(), b.finish());
    let victim = usize::from(b.error.is_some());
    let (victim_outcome, other) = if victim == 1 { (b, a) } else { (a, b) };
    assert_eq!((victim_outcome.error_class(), victim_outcome.status), (Some(ErrorClass::Deadlock), TxStatus::Idle));
    assert_eq!((other.error, other.status), (None, TxStatus::Open));
    victim
}

#[test]
fn the_victim_of_a_deadlock_is_always_the_same() {
    let mut engine = shared(ROWS);
    for round in 0..60 {
        assert_eq!(deadlock(&mut engine, "DO 0"), 1, "of two alike, who closes the circle; round {round}");
        let work = "UPDATE t SET v = 3 WHERE id >= 3";
        assert_eq!(deadlock(&mut engine, work), 0, "else who has done less; round {round}");
    }
}
