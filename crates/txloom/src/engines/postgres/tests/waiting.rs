//! Who waits for whom; and the victim of a deadlock is who closes the cycle.

use txloom_core::outcome::ErrorClass;

use super::super::waits::SOURCE;
use super::*;

const TWO_ROWS: &[&str] = &["CREATE TABLE t (id int PRIMARY KEY, v int)", "INSERT INTO t VALUES (1, 0), (2, 0)"];

#[test]
fn a_waiter_is_listed_with_its_holder_until_it_goes_on() {
    let mut engine = shared(TWO_ROWS);
    let (mut a, b) = (open(&mut engine, 0), open(&mut engine, 1));
    ok(&mut a, "BEGIN");
    ok(&mut a, "UPDATE t SET v = 1 WHERE id = 1");
    let waits = engine.waits(&[SessionId(0)]).unwrap();
    assert_eq!((waits.known, waits.source), (KnownWaits::Edges(BTreeMap::new()), SOURCE));
    let b = InFlight::start(b, "UPDATE t SET v = 2 WHERE id = 1");
    assert_eq!(await_listed(&mut engine, &[1], 1), [session(0)]);
    ok(&mut a, "COMMIT");
    assert_eq!(b.finish().1.tag(), Some("UPDATE 1"));
    assert_eq!(engine.waits(&[SessionId(1)]).unwrap(), txloom_core::engine::Waits::none(SOURCE));
}

#[test]
fn a_queue_of_waiters_is_seen_whole() {
    let mut engine = shared(TWO_ROWS);
    let (mut a, b, c) = (open(&mut engine, 0), open(&mut engine, 1), open(&mut engine, 2));
    ok(&mut a, "BEGIN");
    ok(&mut a, "LOCK TABLE t IN SHARE MODE");
    let b = InFlight::start(b, "UPDATE t SET v = 2 WHERE id = 1");
    await_listed(&mut engine, &[1], 1);
    let c = InFlight::start(c, "LOCK TABLE t IN ACCESS EXCLUSIVE MODE; COMMIT");
    assert_eq!(await_listed(&mut engine, &[1, 2], 2), [session(0), session(1)], "b is before c in the queue");
    ok(&mut a, "COMMIT");
    b.finish();
    c.finish();
}

#[test]
fn a_statement_that_waits_twice_is_listed_twice() {
    let mut engine = shared(TWO_ROWS);
    let (mut a, b, mut c) = (open(&mut engine, 0), open(&mut engine, 1), open(&mut engine, 2));
    for (session, id) in [(&mut a, 1), (&mut c, 2)] {
        ok(session, "BEGIN");
        ok(session, &format!("SELECT * FROM t WHERE id = {id} FOR UPDATE"));
    }
    let b = InFlight::start(b, "UPDATE t SET v = 2");
    assert_eq!(await_listed(&mut engine, &[1], 1), [session(0)]);
    ok(&mut a, "COMMIT");
    assert_eq!(await_listed(&mut engine, &[1], 1), [session(2)]);
    ok(&mut c, "COMMIT");
    assert_eq!(b.finish().1.affected(), Some(2));
}

#[test]
fn the_victim_of_a_deadlock_is_who_closes_the_cycle() {
    let mut engine = shared(&[]);
    for round in 0..50 {
        reset(&mut engine, TWO_ROWS);
        let (first, second) = (round % 2, 1 - round % 2);
        let mut sessions = [open(&mut engine, 0), open(&mut engine, 1)].map(Some);
        for (n, session) in sessions.iter_mut().enumerate() {
            let session = session.as_mut().unwrap();
            ok(session, "BEGIN");
            ok(session, &format!("UPDATE t SET v = {n} WHERE id = {}", n + 1));
        }
        let waiter =
            InFlight::start(sessions[first].take().unwrap(), &format!("DELETE FROM t WHERE id = {}", second + 1));
        assert_eq!(await_listed(&mut engine, &[first], first), [session(second)]);
        let closer = sessions[second].as_mut().unwrap();
        let outcome = closer.execute(&format!("DELETE FROM t WHERE id = {}", first + 1)).unwrap();
        assert_eq!(outcome.error_class(), Some(ErrorClass::Deadlock), "round {round}");
        let (_, survivor) = waiter.finish();
        assert_eq!(survivor.affected(), Some(1), "round {round}");
    }
}

#[test]
fn a_wait_after_a_cancelled_one_is_a_new_one() {
    let mut engine = shared(TWO_ROWS);
    let (mut a, mut b) = (open(&mut engine, 0), open(&mut engine, 1));
    ok(&mut a, "BEGIN");
    ok(&mut a, "UPDATE t SET v = 1");
    let canceller = b.canceller();
    for _ in 0..5 {
        let waiting = InFlight::start(b, "UPDATE t SET v = 2");
        assert_eq!(await_listed(&mut engine, &[1], 1), [session(0)]);
        canceller.cancel().unwrap();
        let (session, outcome) = waiting.finish();
        assert_eq!(outcome.error_class(), Some(ErrorClass::Cancelled));
        b = session;
    }
}

#[test]
fn prepared_transactions_and_safe_snapshots_are_waited_for_too() {
    let mut engine = shared(TWO_ROWS);
    let (mut a, b) = (open_at(&mut engine, 0, Some("serializable")), open(&mut engine, 1));
    ok(&mut a, "BEGIN");
    ok(&mut a, "UPDATE t SET v = 1 WHERE id = 1");
    ok(&mut a, "PREPARE TRANSACTION 'p'");
    let b = InFlight::start(b, "UPDATE t SET v = 2 WHERE id = 1");
    assert_eq!(await_listed(&mut engine, &[1], 1), [Holder::Outside("a prepared transaction".to_string())]);
    ok(&mut a, "ROLLBACK PREPARED 'p'");
    let (mut b, _) = b.finish();

    ok(&mut a, "BEGIN");
    ok(&mut a, "SELECT * FROM t");
    ok(&mut a, "UPDATE t SET v = 3 WHERE id = 2");
    ok(&mut b, "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE");
    let b = InFlight::start(b, "SELECT * FROM t");
    assert_eq!(await_listed(&mut engine, &[1], 1), [session(0)]);
    ok(&mut a, "COMMIT");
    b.finish();
}

#[test]
fn outsiders_are_described_without_process_numbers() {
    let mut engine = shared(TWO_ROWS);
    // Session 1 is opened again under its number, so that the first one becomes a stranger.
    let (mut stranger, a) = (open(&mut engine, 1), open(&mut engine, 0));
    let replacement = open(&mut engine, 1);
    ok(&mut stranger, "BEGIN");
    ok(&mut stranger, "LOCK TABLE t");
    let waiting = InFlight::start(a, "SELECT * FROM t");
    assert_eq!(await_listed(&mut engine, &[0], 0), [Holder::Outside("client backend txloom".to_string())]);
    drop((stranger, replacement));
    waiting.finish();
}
