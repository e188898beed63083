//! Rowids, unique keys, foreign keys, triggers.

use super::{RC, SER, SI, check, check_with};

#[test]
fn hidden_rowids_that_collide_are_chosen_anew() {
    let setup = ["CREATE TABLE t (v INT)", "INSERT INTO t VALUES (1)"];
    for level in [RC, SI, SER] {
        check_with(
            &setup,
            level,
            "a BEGIN -> ok
             b BEGIN -> ok
             a INSERT INTO t VALUES (11), (12) -> 2 changed
             b INSERT INTO t VALUES (21) -> 1 changed
             b UPDATE t SET v = v + 1 WHERE v = 21 -> 1 changed
             a SELECT v FROM t -> (1) (11) (12)
             b SELECT v FROM t WHERE v > 12 -> (22)
             a COMMIT -> ok
             b COMMIT -> ok
             * t -> (1) (11) (12) (22)",
        );
    }
}

#[test]
fn own_new_rows_survive_what_others_commit() {
    let setup = ["CREATE TABLE t (v INT)", "INSERT INTO t VALUES (1), (2)"];
    check_with(
        &setup,
        RC,
        "a BEGIN -> ok
         a INSERT INTO t VALUES (30) -> 1 changed
         b INSERT INTO t VALUES (40), (50) -> 2 changed
         a SELECT v FROM t -> (1) (2) (40) (50) (30)
         a UPDATE t SET v = v + 1 WHERE v = 30 -> 1 changed
         c UPDATE t SET v = v + 1 WHERE v = 40 -> 1 changed
         a SELECT v FROM t -> (1) (2) (41) (50) (31)
         b DELETE FROM t WHERE v >= 41 -> 2 changed
         a DELETE FROM t WHERE v <= 2 -> 2 changed
         a COMMIT -> ok
         * t -> (31)",
    );
}

#[test]
fn a_rowid_that_is_used_again_is_another_row() {
    let setup = ["CREATE TABLE t (v INT)", "INSERT INTO t VALUES (1), (2)"];
    check_with(
        &setup,
        SI,
        "a BEGIN -> ok
         a DELETE FROM t WHERE v = 2 -> 1 changed
         a INSERT INTO t VALUES (3) -> 1 changed
         a UPDATE t SET v = 4 WHERE v = 3 -> 1 changed
         b UPDATE t SET v = 9 WHERE v = 2 -> waits for a
         a COMMIT -> ok; b: error serialization-failure, idle
         * t -> (1) (4)",
    );
}

#[test]
fn rows_without_a_key_are_locked() {
    let setup = ["CREATE TABLE t (v INT)", "INSERT INTO t VALUES (1), (1)"];
    check_with(
        &setup,
        RC,
        "a BEGIN -> ok
         a DELETE FROM t WHERE rowid = 2 -> 1 changed
         b UPDATE t SET v = 5 WHERE rowid = 1 -> 1 changed
         b UPDATE t SET v = 6 -> waits for a
         a COMMIT -> ok; b: 1 changed
         * t -> (6)",
    );
}

#[test]
fn unique_keys_hold_across_transactions() {
    for (level, resumed) in [(RC, "error unique, idle"), (SI, "error serialization-failure, idle")] {
        check(
            level,
            &format!(
                "a BEGIN -> ok
                 a INSERT INTO t VALUES (3, 30) -> 1 changed
                 b INSERT INTO t VALUES (3, 31) -> waits for a
                 a COMMIT -> ok; b: {resumed}
                 * t -> (1, 10) (2, 20) (3, 30)"
            ),
        );
        check(
            level,
            "a BEGIN -> ok
             a INSERT INTO t VALUES (3, 30) -> 1 changed
             b INSERT INTO t VALUES (3, 31) -> waits for a
             a ROLLBACK -> ok; b: 1 changed
             * t -> (1, 10) (2, 20) (3, 31)",
        );
    }
}

#[test]
fn a_key_that_is_given_up_is_locked_until_commit() {
    check(
        RC,
        "a BEGIN -> ok
         a UPDATE t SET id = 5 WHERE id = 1 -> 1 changed
         b INSERT INTO t VALUES (1, 0) -> waits for a
         a UPDATE t SET id = 1 WHERE id = 5 -> 1 changed
         c INSERT INTO t VALUES (5, 0) -> waits for a
         a COMMIT -> ok; b: error unique, idle; c: 1 changed
         * t -> (1, 10) (2, 20) (5, 0)",
    );
}

#[test]
fn unique_values_can_be_swapped() {
    let setup = ["CREATE TABLE t (id INTEGER PRIMARY KEY, u INT UNIQUE)", "INSERT INTO t VALUES (1, 10), (2, 20)"];
    for level in [RC, SI, SER] {
        check_with(
            &setup,
            level,
            "a BEGIN -> ok
             a UPDATE t SET u = -1 WHERE id = 1 -> 1 changed
             a UPDATE t SET u = 10 WHERE id = 2 -> 1 changed
             a UPDATE t SET u = 20 WHERE id = 1 -> 1 changed
             b INSERT INTO t VALUES (3, 30) -> 1 changed
             b INSERT INTO t VALUES (4, 20) -> error unique, idle
             b INSERT INTO t VALUES (4, NULL), (5, NULL) -> 2 changed
             a SELECT count(*) > 0 FROM t -> (1)
             a COMMIT -> ok
             * t -> (1, 20) (2, 10) (3, 30) (4, NULL) (5, NULL)",
        );
    }
}

#[test]
fn keys_are_compared_as_their_index_does() {
    let setup = ["CREATE TABLE t (u TEXT COLLATE NOCASE UNIQUE, n UNIQUE)"];
    check_with(
        &setup,
        RC,
        "a BEGIN -> ok
         a INSERT INTO t VALUES ('Key', 1) -> 1 changed
         b INSERT INTO t VALUES ('KEY', 2) -> waits for a
         c INSERT INTO t VALUES ('other', 1.0) -> waits for a
         a COMMIT -> ok; b: error unique, idle; c: error unique, idle",
    );
}

#[test]
fn an_index_of_an_expression_is_locked_as_a_whole() {
    let setup = ["CREATE TABLE t (u TEXT)", "CREATE UNIQUE INDEX i ON t (lower(u))"];
    check_with(
        &setup,
        RC,
        "a BEGIN -> ok
         a INSERT INTO t VALUES ('A') -> 1 changed
         b INSERT INTO t VALUES ('a') -> waits for a
         c INSERT INTO t VALUES ('c') -> waits for a
         a COMMIT -> ok; b: error unique, idle; c: 1 changed
         * t -> ('A') ('c')",
    );
}

#[test]
fn integer_keys_that_sqlite_chooses_make_inserts_wait() {
    let setup = ["CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, v)", "INSERT INTO t (v) VALUES ('x')"];
    check_with(
        &setup,
        RC,
        "a BEGIN -> ok
         a INSERT INTO t (v) VALUES ('a') -> 1 changed
         b INSERT INTO t (v) VALUES ('b') -> waits for a
         a COMMIT -> ok; b: 1 changed
         a DELETE FROM t WHERE id = 3 -> 1 changed
         a INSERT INTO t (v) VALUES ('c') -> 1 changed
         * t -> (1, 'x') (2, 'a') (4, 'c')",
    );
}

#[test]
fn tables_without_rowid_are_known_by_their_keys() {
    let setup = [
        "CREATE TABLE t (a TEXT, b INT, v INT, PRIMARY KEY (a, b)) WITHOUT ROWID",
        "INSERT INTO t VALUES ('x', 1, 10), ('it''s', 2, 20)",
    ];
    check_with(
        &setup,
        RC,
        "a BEGIN -> ok
         a UPDATE t SET v = 21, b = 3 WHERE a = 'it''s' -> 1 changed
         a INSERT INTO t VALUES ('y', 1, 30) -> 1 changed
         b UPDATE t SET v = 11 WHERE a = 'x' -> 1 changed
         a SELECT * FROM t -> ('it''s', 3, 21) ('x', 1, 11) ('y', 1, 30)
         b INSERT INTO t VALUES ('it''s', 2, 0) -> waits for a
         a COMMIT -> ok; b: 1 changed
         a DELETE FROM t WHERE a <> 'x' -> 3 changed
         * t -> ('x', 1, 11)",
    );
}

#[test]
fn values_of_all_storage_classes_survive_a_commit() {
    let setup = ["CREATE TABLE t (k INT, v, w AS (typeof(v)) STORED)"];
    check_with(
        &setup,
        SI,
        "a BEGIN -> ok
         a INSERT INTO t VALUES (1, NULL), (2, -9223372036854775808), (3, 0.1) -> 3 changed
         a INSERT INTO t VALUES (4, 'a''b'), (5, X'00ff'), (6, '') -> 3 changed
         b INSERT INTO t VALUES (7, 'other') -> 1 changed
         a INSERT INTO t VALUES (8, CAST(X'ff' AS TEXT)) -> 1 changed
         a COMMIT -> ok
         ? SELECT * FROM t ORDER BY k LIMIT 3 -> (1, NULL, 'null') (2, -9223372036854775808, 'integer') (3, 0.1, 'real')
         ? SELECT * FROM t WHERE k > 3 ORDER BY k LIMIT 3 -> (4, 'a''b', 'text') (5, X'00ff', 'blob') (6, '', 'text')
         ? SELECT k, hex(v), w FROM t WHERE k > 6 ORDER BY k -> (7, '6F74686572', 'text') (8, 'FF', 'text')",
    );
}

const FAMILY: &[&str] = &[
    "CREATE TABLE parent (id INTEGER PRIMARY KEY)",
    "CREATE TABLE child (id INTEGER PRIMARY KEY, p INT REFERENCES parent ON DELETE CASCADE)",
    "INSERT INTO parent VALUES (1), (2)",
    "INSERT INTO child VALUES (1, 1)",
];

#[test]
fn foreign_keys_are_checked_at_once_and_again_at_commit() {
    for level in [RC, SI] {
        check_with(
            FAMILY,
            level,
            "a INSERT INTO child VALUES (2, 9) -> error foreign-key, idle
             a BEGIN -> ok
             a INSERT INTO child VALUES (2, 2) -> 1 changed
             b DELETE FROM parent WHERE id = 2 -> 1 changed
             a COMMIT -> error foreign-key, idle
             * child -> (1, 1)",
        );
    }
    check_with(
        FAMILY,
        SER,
        "a BEGIN -> ok
         a INSERT INTO child VALUES (2, 2) -> 1 changed
         b DELETE FROM parent WHERE id = 2 -> 1 changed
         a COMMIT -> error serialization-failure, idle",
    );
}

#[test]
fn what_a_foreign_key_or_a_trigger_changes_is_locked() {
    check_with(
        FAMILY,
        RC,
        "a BEGIN -> ok
         a DELETE FROM parent WHERE id = 1 -> 1 changed
         b UPDATE child SET p = 2 WHERE id = 1 -> waits for a
         a ROLLBACK -> ok; b: 1 changed
         * child -> (1, 2)",
    );
    let setup = [
        "CREATE TABLE t (id INT PRIMARY KEY, v INT)",
        "CREATE TABLE total (v INT)",
        "INSERT INTO total VALUES (0)",
        "CREATE TRIGGER sums AFTER INSERT ON t BEGIN
            UPDATE total SET v = v + NEW.v; UPDATE t SET v = v * 2 WHERE id = NEW.id;
         END",
    ];
    check_with(
        &setup,
        RC,
        "a BEGIN -> ok
         a INSERT INTO t VALUES (1, 10) -> 1 changed
         a SELECT t.v, total.v FROM t, total -> (20, 10)
         b INSERT INTO t VALUES (2, 5) -> waits for a
         a COMMIT -> ok; b: 1 changed
         * total -> (15)
         * t -> (1, 20) (2, 10)
         a REPLACE INTO t VALUES (1, 1) -> error other, idle",
    );
}

#[test]
fn deferred_foreign_keys_are_checked_at_commit() {
    let setup = [
        "CREATE TABLE parent (id INTEGER PRIMARY KEY)",
        "CREATE TABLE child (p INT REFERENCES parent DEFERRABLE INITIALLY DEFERRED)",
    ];
    check_with(
        &setup,
        RC,
        "a BEGIN -> ok
         a INSERT INTO child VALUES (1) -> 1 changed
         b INSERT INTO parent VALUES (5) -> 1 changed
         a INSERT INTO parent VALUES (1) -> 1 changed
         a COMMIT -> ok
         a INSERT INTO child VALUES (2) -> error foreign-key, idle
         * child -> (1)",
    );
}

#[test]
fn replaced_rows_are_locked() {
    let setup = ["CREATE TABLE t (a INT PRIMARY KEY, b INT UNIQUE)", "INSERT INTO t VALUES (1, 10), (2, 20)"];
    check_with(
        &setup,
        RC,
        "a BEGIN -> ok
         a REPLACE INTO t VALUES (1, 20) -> 1 changed
         a SELECT * FROM t -> (1, 20)
         b UPDATE t SET b = 21 WHERE a = 2 -> waits for a
         c INSERT INTO t VALUES (3, 10) -> waits for a
         a COMMIT -> ok; b: 0 changed; c: 1 changed
         * t -> (1, 20) (3, 10)
         a INSERT INTO t VALUES (1, 0) ON CONFLICT DO UPDATE SET b = b + 1 -> 1 changed
         * t -> (1, 21) (3, 10)",
    );
}

#[test]
fn generated_columns_can_be_keys() {
    let setup = ["CREATE TABLE t (a INT, b INT AS (a % 10) UNIQUE)"];
    check_with(
        &setup,
        RC,
        "a BEGIN -> ok
         a INSERT INTO t VALUES (1) -> 1 changed
         b INSERT INTO t VALUES (11) -> waits for a
         c INSERT INTO t VALUES (2) -> 1 changed
         a UPDATE t SET a = 3 WHERE a = 1 -> 1 changed
         a COMMIT -> ok; b: 1 changed
         * t -> (2, 2) (3, 3) (11, 1)",
    );
}

#[test]
fn cascades_are_seen_beside_triggers() {
    let setup = [
        "CREATE TABLE parent (id INTEGER PRIMARY KEY)",
        "CREATE TABLE child (id INTEGER PRIMARY KEY, p INT REFERENCES parent ON DELETE CASCADE)",
        "CREATE TABLE gone (id INT)",
        "CREATE TRIGGER counts AFTER DELETE ON child BEGIN INSERT INTO gone VALUES (OLD.id); END",
        "CREATE TRIGGER calls_itself AFTER UPDATE ON child BEGIN UPDATE child SET p = NEW.p WHERE id = NEW.id; END",
        "INSERT INTO parent VALUES (1), (2)",
        "INSERT INTO child VALUES (1, 1), (2, 1)",
    ];
    check_with(
        &setup,
        SI,
        "a BEGIN -> ok
         a DELETE FROM parent WHERE id = 1 -> 1 changed
         b UPDATE child SET p = 2 WHERE id = 2 -> waits for a
         a COMMIT -> ok; b: error serialization-failure, idle
         * child -> (empty)
         * gone -> (1) (2)
         b INSERT INTO child VALUES (3, 2) -> 1 changed
         b UPDATE child SET id = 4 -> 1 changed
         * child -> (4, 2)",
    );
}

#[test]
fn a_violation_that_may_go_away_is_waited_for() {
    check(
        RC,
        "a BEGIN -> ok
         a DELETE FROM t WHERE id = 1 -> 1 changed
         b BEGIN -> ok
         b INSERT INTO t VALUES (3, 30) -> 1 changed
         b INSERT INTO t VALUES (1, 0) -> waits for a
         c INSERT INTO t VALUES (2, 0) -> error unique, idle
         a COMMIT -> ok; b: 1 changed
         b COMMIT -> ok
         * t -> (1, 0) (2, 20) (3, 30)",
    );
}
