//! Transcripts: what sessions at several nodes see, and when. Sessions a, b, c are at the nodes 1, 2, 3.

mod convergence;
mod trouble;

use txloom_core::engine::Engine;

use super::ReplicasEngine;
use crate::engines::embedded::transcript;

/// An account and a counter; `id` is the key.
const SETUP: &[&str] =
    &["CREATE TABLE t (id INT PRIMARY KEY, v INT NOT NULL, w INT)", "INSERT INTO t VALUES (1, 10, 100), (2, 20, 200)"];

fn engine(nodes: u32) -> ReplicasEngine {
    ReplicasEngine::start(&format!("replicas:{nodes}"), nodes).unwrap()
}

#[track_caller]
fn check(nodes: u32, transcript: &str) {
    check_with(nodes, SETUP, transcript);
}

#[track_caller]
fn check_with(nodes: u32, setup: &[&str], transcript: &str) {
    transcript::check(&mut engine(nodes), super::LEVEL, setup, transcript);
}

#[test]
fn connected_nodes_know_everything_at_once_and_nobody_waits() {
    check(
        2,
        "a BEGIN -> ok
         a UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
         b SELECT v FROM t WHERE id = 1 -> (11)
         b UPDATE t SET v = v + 1 WHERE id = 1 -> 1 changed
         a SELECT v FROM t WHERE id = 1 FOR UPDATE -> (12)
         * t -> (1, 12, 100) (2, 20, 200)
         a COMMIT -> ok
         * t -> (1, 12, 100) (2, 20, 200)",
    );
}

#[test]
fn an_update_is_lost_in_a_partition_and_the_last_writer_wins() {
    check(
        2,
        "! partition 1|2 -> ok
         a UPDATE t SET v = v + 1 WHERE id = 1 -> 1 changed
         b UPDATE t SET v = v + 5 WHERE id = 1 -> 1 changed
         a SELECT v FROM t WHERE id = 1 -> (11)
         b SELECT v FROM t WHERE id = 1 -> (15)
         ? SELECT v FROM t WHERE id = 1 -> (15)
         ! heal -> ok
         a SELECT v FROM t WHERE id = 1 -> (15)
         b SELECT v FROM t WHERE id = 1 -> (15)
         * t -> (1, 15, 100) (2, 20, 200)",
    );
}

#[test]
fn columns_are_won_one_by_one_and_an_assignment_of_the_same_value_counts() {
    check(
        2,
        "! partition 1|2 -> ok
         a UPDATE t SET v = 1, w = 1 WHERE id = 1 -> 1 changed
         b UPDATE t SET w = w WHERE id = 1 -> 1 changed
         ! deliver 1>2 -> ok
         b SELECT v, w FROM t WHERE id = 1 -> (1, 100)
         a SELECT v, w FROM t WHERE id = 1 -> (1, 1)
         ! deliver 2>1 -> ok
         a SELECT v, w FROM t WHERE id = 1 -> (1, 100)",
    );
}

#[test]
fn an_update_does_not_revive_a_row_and_two_insertions_are_one_row() {
    check(
        2,
        "! partition 1|2 -> ok
         a DELETE FROM t WHERE id = 1 -> 1 changed
         b UPDATE t SET v = 99 WHERE id = 1 -> 1 changed
         a INSERT INTO t VALUES (3, 1, 1) -> 1 changed
         b INSERT INTO t VALUES (3, 2, 2) -> 1 changed
         a UPDATE t SET w = 7 WHERE id = 3 -> 1 changed
         ! heal -> ok
         a SELECT * FROM t ORDER BY id -> (2, 20, 200) (3, 2, 7)
         b SELECT * FROM t ORDER BY id -> (2, 20, 200) (3, 2, 7)
         * t -> (2, 20, 200) (3, 2, 7)",
    );
}

#[test]
fn one_write_can_be_delivered_alone_and_out_of_order() {
    check(
        2,
        "! partition 1|2 -> ok
         a INSERT INTO t VALUES (3, 0, 0) -> 1 changed
         a UPDATE t SET v = 7 WHERE id = 9 -> 0 changed
         a UPDATE t SET v = 5 WHERE id = 3 -> 1 changed
         a INSERT INTO t VALUES (3, 0, 0) -> error unique, idle
         ! deliver 1>2 #3 -> ok
         b SELECT * FROM t WHERE id = 3 -> (empty)
         ! deliver 1>2 #2 -> ok
         ! deliver 1>2 #1 -> ok
         b SELECT * FROM t WHERE id = 3 -> (3, 5, 0)
         ! deliver 1>2 #4 -> replicas:2: this target does not have a write statement #4 at node 1, which has executed 3 so far",
    );
}

#[test]
fn a_delivery_reaches_one_node_and_groups_know_at_once() {
    check(
        3,
        "! partition 1|2,3 -> ok
         a UPDATE t SET v = 1 WHERE id = 1 -> 1 changed
         b UPDATE t SET v = 2 WHERE id = 2 -> 1 changed
         c SELECT v FROM t ORDER BY id -> (10) (2)
         ! deliver 1>2 -> ok
         b SELECT v FROM t ORDER BY id -> (1) (2)
         c SELECT v FROM t ORDER BY id -> (10) (2)
         ! deliver 2>3 -> ok
         c SELECT v FROM t ORDER BY id -> (1) (2)
         a SELECT v FROM t ORDER BY id -> (1) (20)
         ! partition 1,2|3 -> ok
         a SELECT v FROM t ORDER BY id -> (1) (2)",
    );
}

#[test]
fn rollback_takes_everything_back_everywhere() {
    check(
        2,
        "a BEGIN -> ok
         a UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
         a INSERT INTO t VALUES (3, 0, 0) -> 1 changed
         a DELETE FROM t WHERE id = 2 -> 1 changed
         b UPDATE t SET w = w + v WHERE id IN (1, 3) -> 2 changed
         * t -> (1, 10, 111) (2, 20, 200)
         a ROLLBACK -> ok
         a SELECT * FROM t ORDER BY id -> (1, 10, 111) (2, 20, 200)
         b SELECT * FROM t ORDER BY id -> (1, 10, 111) (2, 20, 200)
         * t -> (1, 10, 111) (2, 20, 200)",
    );
}

#[test]
fn savepoints_take_back_a_part() {
    check(
        2,
        "a SAVEPOINT s -> error other, idle
         a BEGIN -> ok
         a UPDATE t SET v = 1 WHERE id = 1 -> 1 changed
         a SAVEPOINT s -> ok
         a UPDATE t SET v = 2 -> 2 changed
         a ROLLBACK TO s -> ok
         b SELECT v FROM t ORDER BY id -> (1) (20)
         a UPDATE t SET v = 3 WHERE id = 2 -> 1 changed
         a RELEASE s -> ok
         a ROLLBACK TO s -> error unknown-object, open
         a COMMIT -> ok
         * t -> (1, 1, 100) (2, 3, 200)",
    );
}

#[test]
fn a_changed_key_is_a_deletion_and_an_insertion() {
    check(
        2,
        "! partition 1|2 -> ok
         a UPDATE t SET id = 5 WHERE id = 1 -> 1 changed
         b UPDATE t SET v = 0 WHERE id = 1 -> 1 changed
         b DELETE FROM t WHERE id = 2 -> 1 changed
         ! heal -> ok
         * t -> (5, 10, 100)
         a SELECT * FROM t -> (5, 10, 100)
         b SELECT * FROM t -> (5, 10, 100)",
    );
}

#[test]
fn what_a_session_left_open_is_taken_back() {
    check(
        2,
        "a BEGIN -> ok
         a DELETE FROM t -> 2 changed
         b SELECT count(*) FROM t -> (0)
         a !close -> ok
         b SELECT count(*) FROM t -> (2)",
    );
}

#[test]
fn a_reset_heals_and_forgets() {
    let mut engine = engine(2);
    let lost = "! partition 1|2 -> ok
                b UPDATE t SET v = 12 WHERE id = 1 -> 1 changed
                a SELECT v FROM t WHERE id = 1 -> (10)
                b BEGIN -> ok";
    for _ in 0..3 {
        transcript::check(&mut engine, super::LEVEL, SETUP, lost);
    }
    transcript::check(
        &mut engine,
        super::LEVEL,
        SETUP,
        "a UPDATE t SET v = 1 WHERE id = 1 -> 1 changed\nb SELECT v FROM t WHERE id = 1 -> (1)",
    );
    engine.reset(&[]).unwrap();
    assert!(engine.snapshot().unwrap().tables.is_empty());
}

#[test]
fn running_statements_can_be_cancelled() {
    let mut engine = engine(2);
    let setup = ["CREATE TABLE t (x INTEGER PRIMARY KEY)".to_string()];
    engine.reset(&setup).unwrap();
    transcript::cancels_running_statements_of(&mut engine, super::LEVEL, &setup[0]);
}
