//! A reset undoes whatever a case did, in the cheapest way that undoes all of it.

use super::*;

const TABLES: &[&str] = &[
    "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)",
    "CREATE TABLE u (id INT PRIMARY KEY, t INT REFERENCES t (id))",
    "INSERT INTO t (v) VALUES (10), (20)",
    "INSERT INTO u VALUES (1, 1)",
];

fn server_id(engine: &MySqlEngine) -> u32 {
    match &engine.home {
        super::super::Home::Private(server) => server.id(),
        super::super::Home::Borrowed => unreachable!(),
    }
}

/// Whether two resets to the same setup, around what happens between, keep the tables themselves.
fn keeps_tables(engine: &mut MySqlEngine, setup: &[&str], between: impl FnOnce(&mut MySqlEngine)) -> bool {
    // The time of creation has seconds only, so the table is marked instead.
    reset(engine, setup);
    ok(&mut open(engine, 9), "SELECT 1");
    engine.probe("ALTER TABLE t COMMENT = 'the first one'").unwrap();
    between(engine);
    reset(engine, setup);
    rows(&engine.probe("SHOW CREATE TABLE t").unwrap()).contains("the first one")
}

#[test]
fn rows_are_filled_again_while_the_schema_stays_the_same() {
    let mut engine = shared(TABLES);
    let fresh = state(&mut engine);
    assert_eq!(fresh["t"], "(1, 10) (2, 20)");
    let kept = keeps_tables(&mut engine, TABLES, |engine| {
        let mut a = open(engine, 0);
        ok(&mut a, "INSERT INTO t (v) VALUES (30), (40); DELETE FROM t WHERE id = 2; UPDATE u SET t = 3");
        ok(&mut a, "BEGIN; INSERT INTO t (v) VALUES (50)");
    });
    assert!(kept);
    assert_eq!(state(&mut engine), fresh);
    // Counters start again, too.
    ok(&mut open(&mut engine, 0), "INSERT INTO t (v) VALUES (30)");
    assert_eq!(state(&mut engine)["t"], "(1, 10) (2, 20) (3, 30)");
    // Other rows in the same tables.
    let others: Vec<&str> = TABLES[..2].iter().copied().chain(["INSERT INTO t VALUES (7, 70)"]).collect();
    reset(&mut engine, &others);
    assert_eq!(state(&mut engine), BTreeMap::from([("t".into(), "(7, 70)".into()), ("u".into(), "(empty)".into())]));
}

#[test]
fn tables_are_created_again_when_the_schema_was_touched() {
    let mut engine = shared(TABLES);
    for touch in [
        "ALTER TABLE t ADD COLUMN w INT",
        "CREATE TABLE left_over (id INT)",
        "CREATE DATABASE other; CREATE TABLE other.x (id INT); INSERT INTO other.x VALUES (1)",
        "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET NEW.v = 0",
        "PREPARE s FROM 'DROP TABLE u'; EXECUTE s",
    ] {
        let kept = keeps_tables(&mut engine, TABLES, |engine| {
            ok(&mut open(engine, 0), touch);
            if touch.contains("other.x") {
                assert_eq!(state(engine)["other.x"], "(1)");
            }
        });
        assert!(!kept, "{touch}");
        assert_eq!(state(&mut engine).into_keys().collect::<Vec<_>>(), ["t", "u"], "{touch}");
        assert_eq!(state(&mut engine)["t"], "(1, 10) (2, 20)", "{touch}");
    }
}

#[test]
fn a_setup_that_does_more_is_always_executed_whole() {
    let mut engine = shared(&[]);
    let setup = ["CREATE TABLE t (id INT PRIMARY KEY) AUTO_INCREMENT = 5", "INSERT INTO t VALUES (1)", "DELETE FROM t"];
    assert!(!keeps_tables(&mut engine, &setup, |_| {}));
    assert_eq!(state(&mut engine)["t"], "(empty)");
    let setup = ["CREATE TABLE t AS SELECT 1 AS id", "SET @x = 7", "BEGIN", "INSERT INTO t VALUES (2)"];
    assert!(!keeps_tables(&mut engine, &setup, |_| {}));
    assert_eq!(state(&mut engine)["t"], "(1)", "what the setup has not committed is rolled back");
}

#[test]
fn a_server_that_was_changed_is_replaced() {
    let mut engine = shared(TABLES);
    for (touch, question) in [
        ("SET GLOBAL max_connections = 55", "SELECT @@max_connections = 55"),
        ("CREATE USER somebody", "SELECT COUNT(*) FROM mysql.user WHERE User = 'somebody'"),
        ("XA START 'x'; INSERT INTO t (v) VALUES (1); XA END 'x'; XA PREPARE 'x'", "SELECT COUNT(*) - 2 FROM t"),
    ] {
        let before = server_id(&engine);
        ok(&mut open(&mut engine, 0), touch);
        reset(&mut engine, TABLES);
        assert_ne!(server_id(&engine), before, "{touch}");
        assert_eq!(rows(&engine.probe(question).unwrap()), "(0)", "{touch}");
    }
}

#[test]
fn what_a_session_holds_ends_with_it() {
    let mut engine = shared(TABLES);
    for hold in
        ["LOCK TABLES t WRITE", "SELECT GET_LOCK('x', 1)", "BEGIN; UPDATE t SET v = 0", "FLUSH TABLES WITH READ LOCK"]
    {
        let mut a = open(&mut engine, 0);
        ok(&mut a, hold);
        drop(a);
        reset(&mut engine, TABLES);
        let mut b = open(&mut engine, 0);
        assert_eq!(rows(&ok(&mut b, "SELECT GET_LOCK('x', 0)")), "(1)", "{hold}");
        ok(&mut b, "UPDATE t SET v = 1");
    }
}

#[test]
fn purge_is_done_before_a_case_and_does_nothing_during_it() {
    let setup =
        ["CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO t VALUES (1), (2), (3)", "DELETE FROM t WHERE id = 3"];
    let mut engine = shared(&[]);
    let history = |engine: &mut MySqlEngine| {
        let status = engine.probe("SHOW ENGINE INNODB STATUS").unwrap();
        let text = String::from_utf8(status.rows().unwrap().rows[0][2].clone().unwrap()).unwrap();
        super::super::innodb::history_length(&text).unwrap()
    };
    for pause in [0, 0, 30, 0, 100] {
        reset(&mut engine, &setup);
        assert_eq!(history(&mut engine), 0);
        ok(&mut open(&mut engine, 0), "DELETE FROM t WHERE id = 2");
        // What purge would have used to come by.
        ok(&mut open(&mut engine, 0), &format!("DO SLEEP({}e-3)", pause));
        let (mut b, c) = (open(&mut engine, 1), open(&mut engine, 2));
        ok(&mut b, "BEGIN; SELECT * FROM t WHERE id = 2 FOR UPDATE");
        let c = InFlight::start(c, "SELECT * FROM t WHERE id = 2 FOR UPDATE");
        assert_eq!(await_listed(&mut engine, &[2], 2).0, [session(1)]);
        assert!(history(&mut engine) > 0);
        ok(&mut b, "COMMIT");
        c.finish();
    }
}
