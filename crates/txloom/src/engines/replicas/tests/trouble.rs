//! Constraints, refusals and errors.

use txloom_core::case::SessionName;
use txloom_core::engine::{Engine, SessionId, SessionSpec};
use txloom_core::level::LevelName;

use super::{check, check_with, engine};

#[test]
fn constraints_hold_where_a_statement_is_executed_and_not_on_delivery() {
    let setup = [
        "CREATE TABLE p (id INTEGER PRIMARY KEY)",
        "CREATE TABLE u (id INT PRIMARY KEY, mail TEXT UNIQUE COLLATE NOCASE, a INT NOT NULL, b INT, p INT REFERENCES p,
                         CHECK (a < b))",
        "CREATE UNIQUE INDEX i ON u (a, b)",
        "INSERT INTO u VALUES (1, 'x', 1, 9, 77)",
    ];
    check_with(
        2,
        &setup,
        "a INSERT INTO u VALUES (2, 'X', 2, 9, NULL) -> error unique, idle
         a INSERT INTO u VALUES (2, NULL, 1, 9, NULL) -> error unique, idle
         a INSERT INTO u VALUES (1, 'y', 2, 9, NULL) -> error unique, idle
         a INSERT INTO u VALUES (2, 'y', NULL, 9, NULL) -> error not-null, idle
         a INSERT INTO u VALUES (2, 'y', 9, 2, NULL) -> error check, idle
         a INSERT INTO u VALUES (NULL, 'y', 2, 9, NULL) -> error not-null, idle
         a INSERT INTO u VALUES (2, 'y', 2, 9, 5) -> 1 changed
         ! partition 1|2 -> ok
         a INSERT INTO u VALUES (3, 'z', 3, 9, NULL) -> 1 changed
         b INSERT INTO u VALUES (4, 'Z', 3, 9, NULL) -> 1 changed
         a UPDATE u SET a = 8 WHERE id = 1 -> 1 changed
         b UPDATE u SET b = 7 WHERE id = 1 -> 1 changed
         ! heal -> ok
         a SELECT * FROM u WHERE id <> 2 ORDER BY id -> \
             (1, 'x', 8, 7, 77) (3, 'z', 3, 9, NULL) (4, 'Z', 3, 9, NULL)
         * u -> (1, 'x', 8, 7, 77) (2, 'y', 2, 9, 5) (3, 'z', 3, 9, NULL) (4, 'Z', 3, 9, NULL)
         a UPDATE u SET p = 1 WHERE id = 3 -> error unique, idle
         a UPDATE u SET mail = 'q', b = 10 WHERE id = 3 -> 1 changed
         a UPDATE u SET p = 1 WHERE id = 3 -> 1 changed",
    );
}

#[test]
fn triggers_run_where_the_statement_does() {
    let setup = [
        "CREATE TABLE t (id INTEGER PRIMARY KEY, v INT)",
        "CREATE TABLE history (n INTEGER PRIMARY KEY, id INT)",
        "CREATE TRIGGER g AFTER UPDATE ON t BEGIN INSERT INTO history (id) VALUES (NEW.id); END",
        "INSERT INTO t VALUES (1, 1), (2, 2)",
    ];
    check_with(
        2,
        &setup,
        "! partition 1|2 -> ok
         a UPDATE t SET v = 5 -> 2 changed
         b SELECT count(*) FROM history -> (0)
         ! heal -> ok
         b SELECT * FROM history -> (1, 1) (2, 2)
         a REPLACE INTO t VALUES (1, 0) -> error other, idle",
    );
}

#[test]
fn statements_that_make_no_sense_fail_as_usual() {
    check(
        2,
        "a COMMIT -> error other, idle
         a ROLLBACK -> error other, idle
         a BEGIN -> ok
         a BEGIN -> error other, open
         a SELEKT -> error syntax, open
         a INSERT INTO t VALUES (1, 1, 1) -> error unique, open
         a UPDATE missing SET x = 1 -> error unknown-object, open
         a CREATE TABLE u (x) -> error other, open
         a PRAGMA foreign_keys = ON -> error other, open
         a INSERT OR ROLLBACK INTO t VALUES (5, 5, 5), (1, 1, 1) -> error unique, idle
         a INSERT OR FAIL INTO t VALUES (5, 5, 5), (1, 1, 1) -> error unique, idle
         * t -> (1, 10, 100) (2, 20, 200)
         a INSERT INTO t VALUES (7, 7, 7) RETURNING v -> (7)
         ? DELETE FROM t -> 3 changed
         ? COMMIT -> error other, idle
         * t -> (1, 10, 100) (2, 20, 200) (7, 7, 7)",
    );
}

#[test]
fn what_belongs_to_a_session_stays_there() {
    check_with(
        1,
        &["CREATE TABLE t (id INTEGER PRIMARY KEY, v)"],
        "a INSERT INTO t (v) VALUES (0), (0) -> 2 changed
         b INSERT INTO t (v) VALUES (0) -> 1 changed
         a SELECT last_insert_rowid(), changes() -> (2, 2)
         b SELECT last_insert_rowid(), changes() -> (3, 1)",
    );
}

#[test]
fn events_that_make_no_sense_are_refused() {
    check(
        2,
        "! kill -> replicas:2: this target does not have the event `@kill`
         ! deliver 1>3 -> replicas:2: this target does not have node 3 (it has the nodes 1 to 2)
         ! partition 1|3 -> replicas:2: this target does not have node 3 (it has the nodes 1 to 2)
         ! deliver 1>1 -> ok",
    );
}

#[test]
fn a_table_whose_rows_have_no_name_is_refused_at_setup() {
    let setup = ["CREATE TABLE history (oid, rowid, _rowid_)".to_string()];
    let outcomes = engine(2).reset(&setup).unwrap();
    let error = outcomes[0].error.clone().unwrap();
    assert!(error.message.starts_with("history has no primary key"), "{}", error.message);
}

#[test]
fn rows_without_a_primary_key_are_told_apart_wherever_they_were_inserted() {
    check_with(
        2,
        &["CREATE TABLE history (amount INT)", "INSERT INTO history VALUES (1), (1)"],
        "! partition 1|2 -> ok
         a INSERT INTO history VALUES (2), (2) -> 2 changed
         b INSERT INTO history VALUES (2) -> 1 changed
         b UPDATE history SET amount = 5 WHERE amount = 1 -> 2 changed
         a SELECT amount FROM history -> (1) (1) (2) (2)
         b SELECT amount FROM history -> (5) (5) (2)
         a BEGIN -> ok
         a INSERT INTO history VALUES (9) -> 1 changed
         a ROLLBACK -> ok
         ! heal -> ok
         a SELECT amount FROM history ORDER BY amount -> (2) (2) (2) (5) (5)
         b DELETE FROM history WHERE amount = 2 -> 3 changed
         a SELECT amount FROM history -> (5) (5)",
    );
}

#[test]
fn sessions_ask_for_nodes_and_levels_that_exist() {
    let mut engine = engine(2);
    let mut open = |node, level: &str| {
        let (id, name) = (SessionId(0), SessionName::new("a").unwrap());
        engine.open(&SessionSpec { id, name, node, level: LevelName::parse(level) }).map(|_| ())
    };
    assert!(open(Some(2), "eventual").is_ok());
    let error = open(Some(3), "eventual").unwrap_err().to_string();
    assert!(error.contains("node 3 (it has the nodes 1 to 2)"), "{error}");
    let error = open(None, "serializable").unwrap_err().to_string();
    assert!(error.contains("it has: eventual"), "{error}");
    assert!(super::ReplicasEngine::start("replicas", 10).is_err());
}
