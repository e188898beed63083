//! What goes over the wire is seen whole: results, counts, warnings, errors, the state of the transaction.

use txloom_core::outcome::{ErrorClass, TxStatus};

use super::*;

const TABLE: &[&str] = &["CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 10), (2, 20)"];

#[test]
fn every_statement_of_a_message_has_its_result() {
    let mut engine = shared(TABLE);
    let mut a = open(&mut engine, 0);
    let outcome = ok(&mut a, "BEGIN; UPDATE t SET v = 11; SELECT * FROM t; DELETE FROM t WHERE id = 7");
    let counts: Vec<Option<u64>> = outcome.results.iter().map(|result| result.affected).collect();
    assert_eq!(counts, [None, Some(2), None, Some(0)]);
    assert_eq!(outcome.results[1].tag.as_deref(), Some("Rows matched: 2  Changed: 2  Warnings: 0"));
    assert_eq!(show(&outcome.results[2]), "(1, 11) (2, 11)");
    assert_eq!(outcome.results[2].columns[1].type_name, "int");
    assert_eq!(outcome.status, TxStatus::Open);
    let outcome = a.execute("INSERT INTO t VALUES (3, 3); nonsense; INSERT INTO t VALUES (4, 4)").unwrap();
    assert_eq!((outcome.results.len(), outcome.error_class()), (1, Some(ErrorClass::Syntax)));
    assert_eq!(rows(&ok(&mut a, "SELECT COUNT(*) FROM t")), "(3)");
}

#[test]
fn the_state_of_the_transaction_is_what_the_server_says() {
    let mut engine = shared(TABLE);
    let mut a = open(&mut engine, 0);
    for (sql, error, status) in [
        ("SELECT 1", None, TxStatus::Idle),
        ("START TRANSACTION", None, TxStatus::Open),
        ("INSERT INTO t VALUES (1, 1)", Some(1062), TxStatus::Open),
        ("INSERT INTO t VALUES (3, 1)", None, TxStatus::Open),
        ("ROLLBACK", None, TxStatus::Idle),
        ("INSERT INTO t VALUES (1, 1)", Some(1062), TxStatus::Idle),
        ("SET autocommit = 0", None, TxStatus::Idle),
        ("UPDATE t SET v = 1", None, TxStatus::Open),
        ("CREATE TABLE u (id INT)", None, TxStatus::Idle),
    ] {
        let outcome = a.execute(sql).unwrap();
        assert_eq!((outcome.error.as_ref().and_then(|e| e.native), outcome.status), (error, status), "{sql}");
    }
}

#[test]
fn warnings_come_with_their_codes_and_stay_where_they_are() {
    let mut engine = shared(TABLE);
    let mut a = open(&mut engine, 0);
    let outcome = ok(&mut a, "SELECT 1 / 0, CAST('x' AS SIGNED)");
    let codes: Vec<(&str, &str)> = outcome.notices.iter().map(|n| (n.severity.as_str(), n.code.as_str())).collect();
    assert_eq!(codes, [("Warning", "1365"), ("Warning", "1292")]);
    let again = ok(&mut a, "SHOW WARNINGS");
    assert_eq!((again.rows().unwrap().rows.len(), again.notices.len()), (2, 0));
    // An error is not a notice of itself, but what comes with it is.
    let outcome = a.execute("DROP TABLE IF EXISTS nowhere; SELECT 1 FROM nowhere").unwrap();
    assert_eq!((outcome.error_class(), outcome.notices.len()), (Some(ErrorClass::UnknownObject), 0));
    let outcome = a.execute("SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 4711, MESSAGE_TEXT = 'of our own'").unwrap();
    let error = outcome.error.unwrap();
    assert_eq!((error.native, error.code.as_str(), error.message.as_str()), (Some(4711), "45000", "of our own"));
}

#[test]
fn procedures_return_all_that_they_select() {
    let procedure = "CREATE PROCEDURE p() BEGIN SELECT 1; SELECT v FROM t; UPDATE t SET v = 0; END";
    let mut engine = shared(&[TABLE, &[procedure]].concat());
    let mut a = open(&mut engine, 0);
    let outcome = ok(&mut a, "CALL p(); SELECT 'after'");
    let shown: Vec<String> = outcome.results.iter().map(show).collect();
    assert_eq!(shown, ["(1)", "(10) (20)", "(empty)", "('after')"]);
    assert_eq!(outcome.results[2].affected, Some(2));
}

#[test]
fn files_of_ours_are_not_given_away() {
    let mut engine = shared(TABLE);
    let mut a = open(&mut engine, 0);
    let outcome = a.execute("LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t").unwrap();
    assert!(outcome.error.is_some());
    assert_eq!(rows(&ok(&mut a, "SELECT COUNT(*) FROM t")), "(2)");
}

#[test]
fn long_messages_and_long_rows_go_through() {
    let mut engine = shared(&["CREATE TABLE t (id INT PRIMARY KEY, v LONGTEXT)"]);
    let mut a = open(&mut engine, 0);
    let text = "x".repeat(3_000_000);
    assert_eq!(ok(&mut a, &format!("INSERT INTO t VALUES (1, '{text}')")).affected(), Some(1));
    assert_eq!(rows(&ok(&mut a, "SELECT v FROM t")), format!("('{text}')"));
    assert_eq!(rows(&ok(&mut a, "SELECT REPEAT('y', 300), NULL, ''")), format!("('{}', NULL, '')", "y".repeat(300)));
}

#[test]
fn sessions_run_at_the_level_that_they_ask_for() {
    let mut engine = shared(TABLE);
    assert_eq!(engine.info().default_level.as_str(), "repeatable read");
    for level in ["read uncommitted", "read committed", "repeatable read", "serializable"] {
        let mut a = open_at(&mut engine, 0, Some(level));
        let found = rows(&ok(&mut a, "SELECT @@tx_isolation")).to_lowercase().replace('-', " ");
        assert_eq!(found, format!("('{level}')"));
    }
    let name = SessionName::new("a").unwrap();
    let level = Some(LevelName::parse("snapshot isolation").unwrap());
    let refused = engine.open(&SessionSpec { id: SessionId(0), name, node: None, level });
    assert!(refused.err().unwrap().to_string().contains("read uncommitted, read committed, repeatable read"));
}
