use super::*;
use crate::engines::embedded::transcript::{cancels_running_statements, check};

const TABLE: &[&str] = &["CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 10), (2, 20)"];

#[track_caller]
fn transcript(text: &str) {
    check(&mut SqliteEngine::start("sqlite").unwrap(), "serializable", TABLE, text);
}

#[test]
fn busy_is_waiting_and_ends_with_the_writer() {
    transcript(
        "a BEGIN -> ok
         a UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
         b UPDATE t SET v = 22 WHERE id = 2 -> waits for a
         c SELECT * FROM t -> (1, 10) (2, 20)
         a COMMIT -> ok; b: 1 changed
         * t -> (1, 11) (2, 22)",
    );
}

#[test]
fn waiters_go_on_in_the_order_in_which_they_came() {
    for _ in 0..20 {
        transcript(
            "a BEGIN IMMEDIATE -> ok
             c UPDATE t SET v = v * 2 WHERE id = 1 -> waits for a
             b UPDATE t SET v = v + 1 WHERE id = 1 -> waits for a
             d SELECT v FROM t WHERE id = 1 -> (10)
             a ROLLBACK -> ok; b: 1 changed; c: 1 changed
             * t -> (1, 21) (2, 20)",
        );
    }
}

#[test]
fn a_waiter_that_becomes_the_writer_holds_up_the_next_one() {
    transcript(
        "a BEGIN IMMEDIATE -> ok
         b BEGIN IMMEDIATE -> waits for a
         c BEGIN IMMEDIATE -> waits for a
         a COMMIT -> ok; b: ok
         a SELECT 1 -> (1)
         b !close -> ok; c: ok",
    );
}

#[test]
fn an_old_snapshot_cannot_write() {
    transcript(
        "a BEGIN -> ok
         a SELECT v FROM t WHERE id = 1 -> (10)
         b UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
         a UPDATE t SET v = 12 WHERE id = 1 -> error serialization-failure, open
         a SELECT v FROM t WHERE id = 1 -> (10)
         a ROLLBACK -> ok
         a UPDATE t SET v = 12 WHERE id = 1 -> 1 changed",
    );
}

#[test]
fn a_reader_that_waits_to_write_fails_when_the_writer_commits() {
    transcript(
        "a BEGIN -> ok
         a SELECT v FROM t WHERE id = 1 -> (10)
         b BEGIN -> ok
         b UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
         a UPDATE t SET v = 12 WHERE id = 1 -> waits for b
         b COMMIT -> ok; a: error serialization-failure, open
         a COMMIT -> ok
         * t -> (1, 11) (2, 20)",
    );
}

#[test]
fn two_that_wait_for_each_other_are_a_deadlock() {
    // In a rollback journal a COMMIT waits for readers, and a reader that wants to write waits for the writer.
    let setup = ["PRAGMA journal_mode = DELETE", TABLE[0], TABLE[1]];
    check(
        &mut SqliteEngine::start("sqlite").unwrap(),
        "serializable",
        &setup,
        "a BEGIN -> ok
         a SELECT v FROM t WHERE id = 1 -> (10)
         b BEGIN -> ok
         b UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
         b COMMIT -> waits for a
         a UPDATE t SET v = 12 WHERE id = 1 -> error deadlock, open
         a ROLLBACK -> ok; b: ok
         * t -> (1, 11) (2, 20)",
    );
}

#[test]
fn cancellation_ends_a_wait_and_long_statements() {
    transcript(
        "a BEGIN IMMEDIATE -> ok
         b UPDATE t SET v = 0 -> waits for a
         b !cancel -> error cancelled, idle
         b SELECT 1 -> (1)
         b !cancel -> ok
         b SELECT 2 -> (2)",
    );
    let mut engine = SqliteEngine::start("sqlite").unwrap();
    cancels_running_statements(&mut engine, "serializable");
}

#[test]
fn a_message_may_hold_several_statements() {
    transcript(
        "a BEGIN; UPDATE t SET v = 0; SELECT * FROM t; -- done -> ok / 2 changed / (1, 0) (2, 0)
         a INSERT INTO t VALUES (3, 3); SELECT missing; DELETE FROM t -> error unknown-object, open
         a -- only a comment -> ok
         a COMMIT; COMMIT -> error other, idle
         * t -> (1, 0) (2, 0) (3, 3)",
    );
}

#[test]
fn a_lock_of_a_stranger_is_no_wait() {
    let mut engine = SqliteEngine::start("sqlite").unwrap();
    engine.reset(&[TABLE[0].to_string()]).unwrap();
    let stranger = Connection::open(&engine.current.as_ref().unwrap().path).unwrap();
    stranger.execute_batch("BEGIN IMMEDIATE").unwrap();
    let spec = SessionSpec {
        id: SessionId(0),
        name: txloom_core::case::SessionName::new("a").unwrap(),
        node: None,
        level: None,
    };
    let outcome = engine.open(&spec).unwrap().execute("DELETE FROM t").unwrap();
    assert_eq!(outcome.error_class(), Some(txloom_core::outcome::ErrorClass::LockTimeout));
}

#[test]
fn a_reset_leaves_nothing_behind() {
    let mut engine = SqliteEngine::start("sqlite").unwrap();
    let directory = engine.directory.path().to_path_buf();
    engine.reset(&["CREATE TABLE t (a)".into(), "BEGIN".into(), "INSERT INTO t VALUES (1)".into()]).unwrap();
    assert!(engine.snapshot().unwrap().tables["t"].rows.is_empty());
    let outcomes = engine.reset(&["SELECT * FROM t".into(), "SELECT 1".into()]).unwrap();
    assert_eq!(outcomes.len(), 1);
    assert!(engine.snapshot().unwrap().tables.is_empty());
    let files: Vec<_> = std::fs::read_dir(&directory).unwrap().map(|file| file.unwrap().file_name()).collect();
    let is_current = |name: &std::ffi::OsString| name == "lock" || name.to_string_lossy().starts_with("2.db");
    assert!(files.iter().all(is_current), "{files:?}");
    drop(engine);
    assert!(!directory.exists());
}

#[test]
fn only_serializable_is_known() {
    let mut engine = SqliteEngine::start("sqlite").unwrap();
    let spec = SessionSpec {
        id: SessionId(0),
        name: txloom_core::case::SessionName::new("a").unwrap(),
        node: None,
        level: LevelName::parse("read committed"),
    };
    let message = engine.open(&spec).err().unwrap().to_string();
    assert_eq!(
        message,
        "sqlite: this target does not have the isolation level `read committed` (it has: serializable)"
    );
}
