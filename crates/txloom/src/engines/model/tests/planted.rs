//! Planted bugs show, and only where they should.

use txloom_core::planted::{ALL, PlantedBug};

use super::{ModelEngine, RC, SER, SI, TABLE};
use crate::engines::embedded::transcript;

#[track_caller]
fn check(bug: &str, level: &str, text: &str) {
    let bugs: Vec<&'static PlantedBug> = ALL.iter().filter(|known| known.name == bug).collect();
    let mut engine = ModelEngine::start(&format!("model+{bug}"), &bugs).unwrap();
    transcript::check(&mut engine, level, TABLE, text);
}

#[test]
fn lost_update() {
    for level in [SI, SER] {
        check(
            "lost-update",
            level,
            "a BEGIN -> ok
             b BEGIN -> ok
             a SELECT v FROM t WHERE id = 1 -> (10)
             b SELECT v FROM t WHERE id = 1 -> (10)
             a UPDATE t SET v = v + 1 WHERE id = 1 -> 1 changed
             b UPDATE t SET v = v + 5 WHERE id = 1 -> waits for a
             a COMMIT -> ok; b: 1 changed
             b COMMIT -> ok
             * t -> (1, 15) (2, 20)",
        );
    }
    // Write skew is another bug.
    check(
        "lost-update",
        SER,
        "a BEGIN -> ok
         a SELECT sum(v) FROM t -> (30)
         b UPDATE t SET v = 21 WHERE id = 2 -> 1 changed
         a UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
         a COMMIT -> error serialization-failure, idle",
    );
}

#[test]
fn lost_update_with_changes_that_do_not_fit() {
    check(
        "lost-update",
        SI,
        "a BEGIN -> ok
         b BEGIN -> ok
         a SELECT 1 -> (1)
         b SELECT 1 -> (1)
         b INSERT INTO t VALUES (3, 30) -> 1 changed
         b COMMIT -> ok
         a INSERT INTO t VALUES (3, 31) -> 1 changed
         a COMMIT -> error unique, idle
         a BEGIN -> ok
         a SELECT 1 -> (1)
         b DROP TABLE t -> ok
         a DELETE FROM t -> 3 changed
         a COMMIT -> error unknown-object, idle",
    );
}

#[test]
fn dirty_read() {
    for level in [RC, SI, SER] {
        check(
            "dirty-read",
            level,
            "a BEGIN -> ok
             a UPDATE t SET v = 101 WHERE id = 1 -> 1 changed
             a INSERT INTO t VALUES (3, 30) -> 1 changed
             b BEGIN -> ok
             b SELECT * FROM t -> (1, 101) (2, 20) (3, 30)
             b UPDATE t SET v = 7 WHERE id = 2 -> 1 changed
             b SELECT * FROM t -> (1, 101) (2, 7) (3, 30)
             a ROLLBACK -> ok
             b SELECT * FROM t -> (1, 10) (2, 7)",
        );
    }
}

#[test]
fn write_skew() {
    check(
        "write-skew",
        SER,
        "a BEGIN -> ok
         b BEGIN -> ok
         a SELECT sum(v) FROM t -> (30)
         b SELECT sum(v) FROM t -> (30)
         a UPDATE t SET v = 0 WHERE id = 1 -> 1 changed
         b UPDATE t SET v = 0 WHERE id = 2 -> 1 changed
         a COMMIT -> ok
         b COMMIT -> ok
         * t -> (1, 0) (2, 0)",
    );
    // A lost update is another bug.
    check(
        "write-skew",
        SER,
        "a BEGIN -> ok
         a SELECT v FROM t WHERE id = 1 -> (10)
         b UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
         a UPDATE t SET v = 12 WHERE id = 1 -> error serialization-failure, idle",
    );
}
