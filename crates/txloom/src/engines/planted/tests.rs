//! Each bug shows where it should, and nowhere else. (What it does to servers stands in `corpus/planted/`.)

use super::*;
use crate::engines::embedded::transcript;
use crate::engines::{Target, open};

const SETUP: &[&str] =
    &["CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)"];

#[track_caller]
fn check(target: &str, text: &str) {
    check_with(SETUP, target, text);
}

#[track_caller]
fn check_with(setup: &[&str], target: &str, text: &str) {
    let mut engine = open(&Target::parse(target).unwrap()).unwrap();
    assert_eq!(engine.info().target, target);
    transcript::check(engine.as_mut(), "serializable", setup, text);
}

#[test]
fn every_bug_of_any_engine_is_registered() {
    let any = txloom_core::planted::ALL.iter().filter(|bug| bug.place == txloom_core::planted::Place::AnyEngine);
    assert!(any.map(|bug| bug.name).eq(DEFECTS.iter().map(|(name, _)| *name)));
}

#[test]
fn extra_row() {
    for target in ["sqlite+extra-row", "model+extra-row"] {
        check(
            target,
            "b BEGIN -> ok
             b SELECT v FROM t WHERE id = 1 -> (10)
             a BEGIN -> ok
             a UPDATE t SET v = 0 WHERE id = 1 OR v = 20 -> 3 changed
             a UPDATE t SET v = 1 WHERE id < 9 -> 3 changed
             a DELETE FROM t WHERE id = 1 -> 1 changed
             a COMMIT -> ok
             * t -> (2, 1) (3, 1)",
        );
        // Neither alone nor without a transaction.
        check(
            target,
            "a BEGIN -> ok
             a UPDATE t SET v = 0 WHERE id = 1 -> 1 changed
             a COMMIT -> ok
             b BEGIN -> ok
             b SELECT v FROM t WHERE id = 1 -> (0)
             a UPDATE t SET v = 1 WHERE id = 1 -> 1 changed
             * t -> (1, 1) (2, 20) (3, 30)",
        );
    }
}

#[test]
fn rows_are_chosen_by_whatever_key_there_is() {
    let setup = &[
        "CREATE TABLE t (a TEXT, b BLOB, v INT, PRIMARY KEY (a, b))",
        "INSERT INTO t VALUES ('it''s', X'00', 1), ('it''s', X'01', 2), ('a', X'02', NULL)",
        "CREATE TABLE keyless (v INT)",
        "INSERT INTO keyless VALUES (1), (2)",
    ];
    check_with(
        setup,
        "sqlite+extra-row",
        "b BEGIN -> ok
         b SELECT 1 FROM t LIMIT 1 -> (1)
         a BEGIN -> ok
         a UPDATE t AS x SET v = 7 WHERE x.v < (SELECT 2) -> 2 changed
         a UPDATE keyless SET v = 7 WHERE v = 1 -> 1 changed
         a SELECT a, v FROM t ORDER BY a, b -> ('a', NULL) ('it''s', 7) ('it''s', 7)",
    );
}

#[test]
fn missing_row() {
    for target in ["sqlite+missing-row", "model+missing-row"] {
        check(
            target,
            "b BEGIN -> ok
             b SELECT v FROM t WHERE id = 1 -> (10)
             a BEGIN -> ok
             a UPDATE t SET v = 0 WHERE id IN (1, 2) -> 1 changed
             a UPDATE t SET v = 0 WHERE id = 9 -> 0 changed
             a UPDATE t SET v = v + 1 -> 3 changed
             a COMMIT -> ok
             * t -> (1, 1) (2, 21) (3, 31)",
        );
    }
}

#[test]
fn wrong_aggregate() {
    for target in ["sqlite+wrong-aggregate", "model+wrong-aggregate"] {
        check(
            target,
            "a BEGIN -> ok
             a SELECT COUNT(*) FROM t -> (3)
             a UPDATE t SET v = 0 WHERE id = 1 -> 1 changed
             a SELECT COUNT(*), SUM(v) AS s, MIN(id + 0.5), id FROM t -> (4, 51, 1.5, 1)
             a SELECT MAX('x'), MAX(NULL) FROM t -> ('x', NULL)
             a SELECT id FROM t WHERE id = 1 -> (1)
             a COMMIT -> ok
             a SELECT COUNT(*) FROM t -> (3)",
        );
    }
}

#[test]
fn missing_error() {
    for target in ["sqlite+missing-error", "model+missing-error"] {
        check(
            target,
            "a BEGIN -> ok
             a INSERT INTO t VALUES (4, 40) -> 1 changed
             a INSERT INTO t VALUES (5, 50), (1, 0) -> 0 changed
             a UPDATE t SET id = 2 WHERE id = 1 -> 0 changed
             a INSERT INTO u VALUES (1) -> error unknown-object, open
             a COMMIT -> ok
             a INSERT INTO t VALUES (1, 0) -> error unique, idle
             * t -> (1, 10) (2, 20) (3, 30) (4, 40)",
        );
    }
}

#[test]
fn unexpected_error() {
    for target in ["sqlite+unexpected-error", "model+unexpected-error"] {
        check(
            target,
            "b BEGIN -> ok
             b SELECT v FROM t WHERE id = 1 -> (10)
             a BEGIN -> ok
             a UPDATE t SET v = 0 WHERE id = 1 -> 1 changed
             a UPDATE t SET v = 1 WHERE id = 2 -> error other, open
             a DELETE FROM t WHERE id = 3 -> 1 changed
             a COMMIT -> ok
             a BEGIN -> ok
             a UPDATE t SET v = 1 WHERE id = 2 -> 1 changed
             b COMMIT -> ok
             a UPDATE t SET v = 2 WHERE id = 2 -> 1 changed
             a COMMIT -> ok
             * t -> (1, 0) (2, 2)",
        );
    }
}

#[test]
fn crash() {
    for target in ["sqlite+crash", "model+crash"] {
        check(
            target,
            "a BEGIN -> ok
             a INSERT INTO t VALUES (4, 40) -> 1 changed
             b INSERT INTO t VALUES (4, 40) -> waits for a
             a DELETE FROM t WHERE id = 1 -> error connection-lost, idle; b: error connection-lost, idle
             a SELECT 1 -> error connection-lost, idle
             b SELECT 1 -> error connection-lost, idle",
        );
    }
}

#[test]
fn a_dead_target_is_revived_by_the_next_reset() {
    let mut engine = open(&Target::parse("sqlite+crash").unwrap()).unwrap();
    let dies = "a BEGIN -> ok
                a INSERT INTO t VALUES (4, 40) -> 1 changed
                a DELETE FROM t -> error connection-lost, idle";
    transcript::check(engine.as_mut(), "serializable", SETUP, dies);
    let death = engine.death().unwrap();
    assert!(death.to_string().starts_with("the server died (signal 6)\n  planted: "), "{death}");
    assert!(engine.snapshot().is_err() && engine.probe("SELECT 1").is_err());
    let lives = "a DELETE FROM t WHERE id > 1 -> 2 changed
                 * t -> (1, 10)";
    transcript::check(engine.as_mut(), "serializable", SETUP, lives);
    assert_eq!(engine.death(), None);
}

#[test]
fn bugs_can_be_combined() {
    check(
        "model+write-skew+extra-row+wrong-aggregate",
        "b BEGIN -> ok
         b SELECT v FROM t WHERE id = 1 -> (10)
         a BEGIN -> ok
         a UPDATE t SET v = 0 WHERE id = 1 -> 2 changed
         a SELECT COUNT(*) FROM t -> (4)
         a COMMIT -> ok
         b UPDATE t SET v = 0 WHERE id = 2 -> 1 changed
         b COMMIT -> ok
         * t -> (1, 0) (2, 0) (3, 0)",
    );
}
