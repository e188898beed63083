//! Where transactions begin and end, and what is undone.

use super::{RC, SER, SI, check, check_with};

#[test]
fn a_statement_that_fails_is_undone_alone() {
    for level in [RC, SI, SER] {
        check(
            level,
            "a BEGIN -> ok
             a UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
             a INSERT INTO t VALUES (3, 30), (2, 0) -> error unique, open
             a SELECT missing -> error unknown-object, open
             a BEGIN -> error other, open
             a SELECT * FROM t -> (1, 11) (2, 20)
             a COMMIT -> ok
             a COMMIT -> error other, idle
             a ROLLBACK -> error other, idle
             * t -> (1, 11) (2, 20)",
        );
    }
}

#[test]
fn conflict_clauses_do_what_they_say() {
    check(
        RC,
        "a BEGIN -> ok
         a INSERT OR FAIL INTO t VALUES (3, 30), (2, 0) -> error unique, open
         a SELECT * FROM t -> (1, 10) (2, 20) (3, 30)
         b DELETE FROM t WHERE id = 3 -> 0 changed
         b INSERT INTO t VALUES (3, 0) -> waits for a
         a INSERT OR ROLLBACK INTO t VALUES (4, 40), (2, 0) -> error unique, idle; b: 1 changed
         a INSERT OR FAIL INTO t VALUES (5, 50), (2, 0) -> error unique, idle
         a INSERT OR IGNORE INTO t VALUES (6, 60), (2, 0) -> 1 changed
         * t -> (1, 10) (2, 20) (3, 0) (5, 50) (6, 60)",
    );
}

#[test]
fn the_snapshot_is_taken_by_the_first_statement() {
    check(
        SI,
        "a BEGIN -> ok
         b UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
         a SELECT v FROM t -> (11) (20)
         b UPDATE t SET v = 12 WHERE id = 1 -> 1 changed
         a SELECT v FROM t -> (11) (20)
         a COMMIT; SELECT v FROM t -> ok / (12) (20)",
    );
}

#[test]
fn levels_live_side_by_side() {
    check(
        RC,
        "a @serializable -> ok
         b @snapshot isolation -> ok
         a BEGIN -> ok
         b BEGIN -> ok
         a SELECT sum(v) FROM t -> (30)
         b SELECT sum(v) FROM t -> (30)
         c UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
         a INSERT INTO t VALUES (3, 0) -> 1 changed
         b INSERT INTO t VALUES (4, 0) -> 1 changed
         a COMMIT -> error serialization-failure, idle
         b COMMIT -> ok",
    );
}

#[test]
fn savepoints_undo_what_came_after_them() {
    for level in [RC, SI, SER] {
        check(
            level,
            "a BEGIN -> ok
             a UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
             a SAVEPOINT s -> ok
             a DELETE FROM t WHERE id = 1 -> 1 changed
             a INSERT INTO t VALUES (3, 30) -> 1 changed
             a SAVEPOINT S2 -> ok
             a UPDATE t SET v = 0 -> 2 changed
             a ROLLBACK TO s2 -> ok
             a SELECT * FROM t ORDER BY id -> (2, 20) (3, 30)
             a ROLLBACK TO s -> ok
             a SELECT * FROM t ORDER BY id -> (1, 11) (2, 20)
             a RELEASE s2 -> error unknown-object, open
             a INSERT INTO t VALUES (4, 40) -> 1 changed
             a RELEASE s -> ok
             a ROLLBACK TO s -> error unknown-object, open
             b UPDATE t SET v = 9 WHERE id = 2 -> waits for a
             a COMMIT -> ok; b: 1 changed
             * t -> (1, 11) (2, 9) (4, 40)",
        );
    }
}

#[test]
fn savepoints_survive_what_others_commit() {
    let setup = ["CREATE TABLE t (v INT)", "INSERT INTO t VALUES (1), (2)"];
    check_with(
        &setup,
        RC,
        "a BEGIN -> ok
         a INSERT INTO t VALUES (10) -> 1 changed
         a SAVEPOINT s -> ok
         b INSERT INTO t VALUES (20), (21) -> 2 changed
         a UPDATE t SET v = v + 100 WHERE v IN (1, 10) -> 2 changed
         b INSERT INTO t VALUES (22) -> 1 changed
         a ROLLBACK TO s -> ok
         b DELETE FROM t WHERE v = 2 -> 1 changed
         a SELECT v FROM t -> (1) (20) (21) (22) (10)
         a COMMIT -> ok
         * t -> (1) (10) (20) (21) (22)",
    );
}

#[test]
fn at_serializable_savepoints_are_repeated_too() {
    check(
        SER,
        "a BEGIN -> ok
         a SAVEPOINT s -> ok
         a UPDATE t SET v = 0 -> 2 changed
         a ROLLBACK TO s -> ok
         a UPDATE t SET v = 12 WHERE id = 1 -> 1 changed
         b INSERT INTO t VALUES (3, 30) -> 1 changed
         a COMMIT -> error serialization-failure, idle
         a BEGIN; SAVEPOINT s; UPDATE t SET v = 0 WHERE id = 2; ROLLBACK TO s -> ok / ok / 1 changed / ok
         a INSERT INTO t VALUES (4, 40) -> 1 changed
         a RELEASE Missing -> error unknown-object, open
         b INSERT INTO t VALUES (5, 50) -> 1 changed
         a COMMIT -> ok
         * t -> (1, 10) (2, 20) (3, 30) (4, 40) (5, 50)",
    );
}

#[test]
fn savepoints_need_a_transaction() {
    check(
        RC,
        "a SAVEPOINT s -> error other, idle\na RELEASE s -> error other, idle\na SAVEPOINT -> error syntax, idle",
    );
}

#[test]
fn schema_changes_commit_and_wait_for_writers() {
    check(
        RC,
        "a BEGIN -> ok
         a UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
         b BEGIN -> ok
         b UPDATE t SET v = 22 WHERE id = 2 -> 1 changed
         b CREATE TABLE u (x) -> waits for a
         c SELECT * FROM t -> (1, 10) (2, 22)
         a COMMIT -> ok; b: ok
         b ROLLBACK -> error other, idle
         c INSERT INTO u VALUES (1) -> 1 changed
         a ALTER TABLE t ADD COLUMN w DEFAULT 'new' -> ok
         b SELECT * FROM t -> (1, 11, 'new') (2, 22, 'new')
         a CREATE TABLE u (y) -> error other, idle
         * u -> (1)",
    );
}

#[test]
fn a_snapshot_from_before_a_schema_change_can_read_but_not_write() {
    check(
        SI,
        "a BEGIN -> ok
         a SELECT * FROM t -> (1, 10) (2, 20)
         b DROP TABLE t -> ok
         a SELECT * FROM t -> (1, 10) (2, 20)
         a DELETE FROM t -> error serialization-failure, idle
         a SELECT * FROM t -> error unknown-object, idle",
    );
}

#[test]
fn functions_about_the_last_statement_belong_to_the_session() {
    let setup = ["CREATE TABLE t (id INTEGER PRIMARY KEY, v)", "CREATE TABLE u (id INTEGER PRIMARY KEY, v)"];
    for level in [RC, SI, SER] {
        check_with(
            &setup,
            level,
            "a INSERT INTO t (id) VALUES (41) -> 1 changed
             b INSERT INTO u VALUES (7, 0), (8, 0) -> 2 changed
             a SELECT last_insert_rowid(), changes() -> (41, 1)
             b SELECT last_insert_rowid(), changes() -> (8, 2)
             a BEGIN -> ok
             a INSERT INTO t (v) VALUES ('x') -> 1 changed
             b UPDATE u SET v = 1 WHERE id = 7 -> 1 changed
             a INSERT INTO u (id) VALUES (last_insert_rowid()) -> 1 changed
             a SELECT last_insert_rowid() -> (42)
             a COMMIT -> ok
             * u -> (7, 1) (8, 0) (42, NULL)",
        );
    }
}

#[test]
fn a_message_may_hold_several_statements() {
    check(
        RC,
        "a BEGIN; UPDATE t SET v = 0; SELECT * FROM t; -- done -> ok / 2 changed / (1, 0) (2, 0)
         a INSERT INTO t VALUES (3, 3); SELECT missing; DELETE FROM t -> error unknown-object, open
         a -- only a comment -> ok
         a COMMIT; COMMIT -> error other, idle
         a UPDATE t SET v = 1 WHERE id = 1 RETURNING v -> (1)
         a PRAGMA foreign_keys = ON -> ok
         a PRAGMA foreign_keys = OFF -> error other, idle",
    );
}
