//! Who waits for whom.

use super::{ModelEngine, RC, SER, SI, check, check_with};
use crate::engines::embedded::transcript::cancels_running_statements;

#[test]
fn waiters_go_on_in_the_order_in_which_they_came() {
    for _ in 0..20 {
        check(
            RC,
            "a BEGIN -> ok
             a DELETE FROM t WHERE id = 2 -> 1 changed
             d UPDATE t SET v = v * 2 -> waits for a
             b UPDATE t SET v = v + 1 -> waits for a
             c UPDATE t SET v = v * 10 -> waits for a
             a ROLLBACK -> ok; b: 2 changed; c: 2 changed; d: 2 changed
             * t -> (1, 210) (2, 410)",
        );
    }
}

#[test]
fn a_waiter_that_gets_the_lock_holds_up_the_next_one() {
    check(
        RC,
        "a BEGIN -> ok
         b BEGIN -> ok
         c BEGIN -> ok
         a UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
         b UPDATE t SET v = 12 WHERE id = 1 -> waits for a
         c UPDATE t SET v = 13 WHERE id = 1 -> waits for a
         a COMMIT -> ok; b: 1 changed
         a SELECT v FROM t WHERE id = 1 -> (11)
         b !close -> ok; c: 1 changed
         c COMMIT -> ok
         * t -> (1, 13) (2, 20)",
    );
}

#[test]
fn a_statement_waits_for_all_who_are_in_its_way() {
    check(
        RC,
        "a BEGIN -> ok
         b BEGIN -> ok
         a UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
         b UPDATE t SET v = 21 WHERE id = 2 -> 1 changed
         c UPDATE t SET v = 0 -> waits for a, b
         a COMMIT -> ok
         b COMMIT -> ok; c: 2 changed",
    );
}

#[test]
fn the_one_that_closes_a_cycle_is_the_victim() {
    for level in [RC, SI, SER] {
        check(
            level,
            "a BEGIN -> ok
             b BEGIN -> ok
             a UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
             b UPDATE t SET v = 22 WHERE id = 2 -> 1 changed
             a UPDATE t SET v = 21 WHERE id = 2 -> waits for b
             b UPDATE t SET v = 12 WHERE id = 1 -> error deadlock, idle; a: 1 changed
             b UPDATE t SET v = 0 WHERE id = 3 -> 0 changed
             b COMMIT -> error other, idle
             a COMMIT -> ok
             * t -> (1, 11) (2, 21)",
        );
    }
}

#[test]
fn a_cycle_of_three_is_found() {
    let setup = ["CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO t VALUES (1), (2), (3)"];
    check_with(
        &setup,
        RC,
        "a BEGIN; UPDATE t SET id = id WHERE id = 1 -> ok / 1 changed
         b BEGIN; UPDATE t SET id = id WHERE id = 2 -> ok / 1 changed
         c BEGIN; UPDATE t SET id = id WHERE id = 3 -> ok / 1 changed
         a DELETE FROM t WHERE id = 2 -> waits for b
         b DELETE FROM t WHERE id = 3 -> waits for c
         c DELETE FROM t WHERE id = 1 -> error deadlock, idle; b: 1 changed
         b COMMIT -> ok; a: 1 changed",
    );
}

#[test]
fn an_update_that_changes_nothing_locks_its_row() {
    check(
        RC,
        "a BEGIN -> ok
         a UPDATE t SET v = v WHERE id = 1 -> 1 changed
         b UPDATE t SET v = 5 WHERE id = 1 -> waits for a
         b !cancel -> error cancelled, idle
         b UPDATE t SET v = 5 WHERE id = 2 -> 1 changed",
    );
}

#[test]
fn a_cancelled_waiter_keeps_its_transaction() {
    check(
        SI,
        "a BEGIN -> ok
         a UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
         b BEGIN -> ok
         b UPDATE t SET v = 22 WHERE id = 2 -> 1 changed
         b UPDATE t SET v = 12 WHERE id = 1 -> waits for a
         b !cancel -> error cancelled, open
         b COMMIT -> ok
         * t -> (1, 10) (2, 22)",
    );
}

#[test]
fn running_statements_can_be_cancelled() {
    for level in [RC, SER] {
        cancels_running_statements(&mut ModelEngine::start("model", &[]).unwrap(), level);
    }
}

#[test]
fn for_update_locks_what_it_selects() {
    check(
        RC,
        "a BEGIN -> ok
         a SELECT v FROM t WHERE id = 1 FOR UPDATE -> (10)
         b UPDATE t SET v = 21 WHERE id = 2 -> 1 changed
         b SELECT * FROM t -> (1, 10) (2, 21)
         b SELECT v FROM t ORDER BY v FOR UPDATE -> waits for a
         a UPDATE t SET v = 99 WHERE id = 1 -> 1 changed
         a COMMIT -> ok; b: (21) (99)",
    );
}

#[test]
fn for_share_goes_together_with_itself_only() {
    check(
        SI,
        "a BEGIN -> ok
         b BEGIN -> ok
         a SELECT v FROM t WHERE id = 1 FOR SHARE -> (10)
         b SELECT v FROM t WHERE id = 1 FOR SHARE -> (10)
         c UPDATE t SET v = 11 WHERE id = 1 -> waits for a, b
         a COMMIT -> ok
         b COMMIT -> ok; c: 1 changed",
    );
}

#[test]
fn for_update_of_a_row_that_changed_since_the_snapshot_fails() {
    check(
        SI,
        "a BEGIN -> ok
         a SELECT v FROM t WHERE id = 2 -> (20)
         b UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
         a SELECT v FROM t WHERE id = 2 FOR UPDATE -> (20)
         a SELECT v FROM t WHERE id = 1 FOR UPDATE -> error serialization-failure, idle",
    );
}

#[test]
fn locking_queries_that_the_model_cannot_take_apart_are_refused() {
    check(
        RC,
        "a SELECT * FROM t, t AS u FOR UPDATE -> error syntax, idle
         a SELECT * FROM missing FOR UPDATE -> error unknown-object, idle
         a CREATE VIEW w AS SELECT * FROM t -> ok
         a SELECT * FROM w FOR UPDATE -> error syntax, idle",
    );
}
