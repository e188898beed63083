//! The anomalies of the Hermitage suite (Kleppmann), by Adya's names. Read committed prevents G0 to OTV, snapshot
//! isolation all but G2-item and G2, serializable all.

use super::{RC, SER, SI, check};

#[test]
fn g0_write_cycles() {
    check(
        RC,
        "a BEGIN -> ok
         b BEGIN -> ok
         a UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
         b UPDATE t SET v = 12 WHERE id = 1 -> waits for a
         a UPDATE t SET v = 21 WHERE id = 2 -> 1 changed
         a COMMIT -> ok; b: 1 changed
         a SELECT * FROM t -> (1, 11) (2, 21)
         b UPDATE t SET v = 22 WHERE id = 2 -> 1 changed
         b COMMIT -> ok
         a SELECT * FROM t -> (1, 12) (2, 22)",
    );
    for level in [SI, SER] {
        check(
            level,
            "a BEGIN -> ok
             b BEGIN -> ok
             a UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
             b UPDATE t SET v = 12 WHERE id = 1 -> waits for a
             a UPDATE t SET v = 21 WHERE id = 2 -> 1 changed
             a COMMIT -> ok; b: error serialization-failure, idle
             * t -> (1, 11) (2, 21)",
        );
    }
}

#[test]
fn g1a_aborted_reads() {
    for level in [RC, SI, SER] {
        check(
            level,
            "a BEGIN -> ok
             b BEGIN -> ok
             a UPDATE t SET v = 101 WHERE id = 1 -> 1 changed
             b SELECT * FROM t -> (1, 10) (2, 20)
             a ROLLBACK -> ok
             b SELECT * FROM t -> (1, 10) (2, 20)
             b COMMIT -> ok",
        );
    }
}

#[test]
fn g1b_intermediate_reads() {
    for (level, after) in [(RC, "(1, 11) (2, 20)"), (SI, "(1, 10) (2, 20)"), (SER, "(1, 10) (2, 20)")] {
        check(
            level,
            &format!(
                "a BEGIN -> ok
                 b BEGIN -> ok
                 a UPDATE t SET v = 101 WHERE id = 1 -> 1 changed
                 b SELECT * FROM t -> (1, 10) (2, 20)
                 a UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
                 a COMMIT -> ok
                 b SELECT * FROM t -> {after}
                 b COMMIT -> ok"
            ),
        );
    }
}

#[test]
fn g1c_circular_information_flow() {
    for (level, end) in [(RC, "ok"), (SI, "ok"), (SER, "error serialization-failure, idle")] {
        check(
            level,
            &format!(
                "a BEGIN -> ok
                 b BEGIN -> ok
                 a UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
                 b UPDATE t SET v = 22 WHERE id = 2 -> 1 changed
                 a SELECT v FROM t WHERE id = 2 -> (20)
                 b SELECT v FROM t WHERE id = 1 -> (10)
                 a COMMIT -> ok
                 b COMMIT -> {end}"
            ),
        );
    }
}

#[test]
fn otv_observed_transaction_vanishes() {
    check(
        RC,
        "a BEGIN -> ok
         b BEGIN -> ok
         c BEGIN -> ok
         a UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
         a UPDATE t SET v = 19 WHERE id = 2 -> 1 changed
         b UPDATE t SET v = 12 WHERE id = 1 -> waits for a
         a COMMIT -> ok; b: 1 changed
         c SELECT v FROM t WHERE id = 1 -> (11)
         b UPDATE t SET v = 18 WHERE id = 2 -> 1 changed
         c SELECT v FROM t WHERE id = 2 -> (19)
         b COMMIT -> ok
         c SELECT v FROM t WHERE id = 2 -> (18)
         c SELECT v FROM t WHERE id = 1 -> (12)
         c COMMIT -> ok",
    );
}

#[test]
fn pmp_predicate_many_preceders() {
    for (level, seen) in [(RC, "(3, 30)"), (SI, "(empty)"), (SER, "(empty)")] {
        check(
            level,
            &format!(
                "a BEGIN -> ok
                 a SELECT * FROM t WHERE v = 30 -> (empty)
                 b INSERT INTO t VALUES (3, 30) -> 1 changed
                 a SELECT * FROM t WHERE v % 3 = 0 -> {seen}
                 a COMMIT -> ok"
            ),
        );
    }
}

#[test]
fn pmp_for_writes() {
    for (level, resumed, rows) in [
        (RC, "1 changed", "(2, 30)"),
        (SI, "error serialization-failure, idle", "(1, 20) (2, 30)"),
        (SER, "error serialization-failure, idle", "(1, 20) (2, 30)"),
    ] {
        check(
            level,
            &format!(
                "a BEGIN -> ok
                 a UPDATE t SET v = v + 10 -> 2 changed
                 b DELETE FROM t WHERE v = 20 -> waits for a
                 a COMMIT -> ok; b: {resumed}
                 * t -> {rows}"
            ),
        );
    }
}

#[test]
fn p4_lost_update() {
    for (level, resumed, end) in [
        (RC, "1 changed", "ok"),
        (SI, "error serialization-failure, idle", "error other, idle"),
        (SER, "error serialization-failure, idle", "error other, idle"),
    ] {
        check(
            level,
            &format!(
                "a BEGIN -> ok
                 b BEGIN -> ok
                 a SELECT v FROM t WHERE id = 1 -> (10)
                 b SELECT v FROM t WHERE id = 1 -> (10)
                 a UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
                 b UPDATE t SET v = 11 WHERE id = 1 -> waits for a
                 a COMMIT -> ok; b: {resumed}
                 b COMMIT -> {end}"
            ),
        );
    }
}

#[test]
fn g_single_read_skew() {
    for (level, seen) in [(RC, "(18)"), (SI, "(20)"), (SER, "(20)")] {
        check(
            level,
            &format!(
                "a BEGIN -> ok
                 a SELECT v FROM t WHERE id = 1 -> (10)
                 b BEGIN -> ok
                 b SELECT * FROM t -> (1, 10) (2, 20)
                 b UPDATE t SET v = 12 WHERE id = 1 -> 1 changed
                 b UPDATE t SET v = 18 WHERE id = 2 -> 1 changed
                 b COMMIT -> ok
                 a SELECT v FROM t WHERE id = 2 -> {seen}
                 a COMMIT -> ok"
            ),
        );
    }
}

#[test]
fn g_single_for_writes() {
    for (level, deleted) in
        [(RC, "0 changed"), (SI, "error serialization-failure, idle"), (SER, "error serialization-failure, idle")]
    {
        check(
            level,
            &format!(
                "a BEGIN -> ok
                 a SELECT v FROM t WHERE id = 1 -> (10)
                 b UPDATE t SET v = v - 2 -> 2 changed
                 a DELETE FROM t WHERE v = 20 -> {deleted}"
            ),
        );
    }
}

#[test]
fn g2_item_write_skew() {
    for (level, end, rows) in [
        (RC, "ok", "(1, 11) (2, 21)"),
        (SI, "ok", "(1, 11) (2, 21)"),
        (SER, "error serialization-failure, idle", "(1, 11) (2, 20)"),
    ] {
        check(
            level,
            &format!(
                "a BEGIN -> ok
                 b BEGIN -> ok
                 a SELECT * FROM t WHERE id IN (1, 2) -> (1, 10) (2, 20)
                 b SELECT * FROM t WHERE id IN (1, 2) -> (1, 10) (2, 20)
                 a UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
                 b UPDATE t SET v = 21 WHERE id = 2 -> 1 changed
                 a COMMIT -> ok
                 b COMMIT -> {end}
                 * t -> {rows}"
            ),
        );
    }
}

#[test]
fn g2_predicate_write_skew() {
    for (level, end) in [(RC, "ok"), (SI, "ok"), (SER, "error serialization-failure, idle")] {
        check(
            level,
            &format!(
                "a BEGIN -> ok
                 b BEGIN -> ok
                 a SELECT * FROM t WHERE v % 3 = 0 -> (empty)
                 b SELECT * FROM t WHERE v % 3 = 0 -> (empty)
                 a INSERT INTO t VALUES (3, 30) -> 1 changed
                 b INSERT INTO t VALUES (4, 42) -> 1 changed
                 a COMMIT -> ok
                 b COMMIT -> {end}"
            ),
        );
    }
}

#[test]
fn g2_with_a_reader_in_between() {
    // Fekete, O'Neil, O'Neil: without c, the order b, a explains everything; what c saw needs a after b and before.
    for (level, end) in [(SI, "ok"), (SER, "error serialization-failure, idle")] {
        check(
            level,
            &format!(
                "a BEGIN -> ok
                 a SELECT * FROM t -> (1, 10) (2, 20)
                 b UPDATE t SET v = v + 5 WHERE id = 2 -> 1 changed
                 c BEGIN -> ok
                 c SELECT * FROM t -> (1, 10) (2, 25)
                 c COMMIT -> ok
                 a UPDATE t SET v = 0 WHERE id = 1 -> 1 changed
                 a COMMIT -> {end}"
            ),
        );
    }
}

#[test]
fn what_did_not_change_the_answers_does_not_matter() {
    check(
        SER,
        "a BEGIN -> ok
         a SELECT sum(v) FROM t -> (30)
         b UPDATE t SET v = 30 - v -> 2 changed
         a INSERT INTO t VALUES (3, 0) -> 1 changed
         a COMMIT -> ok
         * t -> (1, 20) (2, 10) (3, 0)",
    );
}
