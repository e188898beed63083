//! A refusal is no anomaly: constraints, version columns and locks silence what they prevent, and nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use txloom::execute::EngineRunner;
use txloom::report::json;
use txloom::report::model::Body;
use txloom::report::model::analysis::AnomaliesReport;
use txloom_core::case::{self, Case};
use txloom_core::oracle::calls::Calls;
use txloom_core::oracle::{Oracle, Verdict};
use txloom_core::program::front;
use txloom_core::program::schema::Schema;

use crate::support::{TestDir, engine, limited, output};

/// What a search finds in a program at PostgreSQL's or MariaDB's read committed.
fn found(target: &str, program: &str) -> (AnomaliesReport, i32) {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let dir = TestDir::new(&format!("analyze-refusal-{}", COUNT.fetch_add(1, Ordering::Relaxed)));
    let path = dir.path().join("program.sql");
    std::fs::write(&path, program).expect("a directory of our own");
    let path = path.to_str().expect("a plain path");
    let done = output(&["analyze", path, "--on", target, "--level", "read-committed", "--format", "json"]);
    match json::parse(&done.stdout).map(|report| report.body) {
        Ok(Body::Analysis(report)) => (report.anomalies.expect("a level was given"), done.code),
        other => panic!("{program}: {other:?}\n{}", done.stderr),
    }
}

#[track_caller]
fn is_silent(target: &str, program: &str) {
    let (report, code) = found(target, program);
    assert_eq!((report.found, code), (0, 0), "{program}\n{:?}", report.structures);
}

#[track_caller]
fn is_found(target: &str, program: &str) {
    let (report, code) = found(target, program);
    assert!(report.found > 0 && code == 1, "{program}: exit {code}");
}

/// Looks whether a seat is free, and then books it.
fn booking(constraint: &str) -> String {
    format!(
        "CREATE TABLE bookings (id INT PRIMARY KEY, seat INT NOT NULL, who INT NOT NULL{constraint});
         CREATE PROCEDURE book(p_id INT, p_seat INT, p_who INT) LANGUAGE plpgsql AS $$
         DECLARE n INT;
         BEGIN
           SELECT count(*) INTO n FROM bookings WHERE seat = p_seat;
           IF n = 0 THEN INSERT INTO bookings (id, seat, who) VALUES (p_id, p_seat, p_who); END IF;
         END $$;"
    )
}

#[test]
fn unique_keys_refuse_the_second_booking() {
    limited(|| {
        is_found("postgres", &booking(""));
        is_found("postgres", &booking(", UNIQUE (who, seat)"));
        is_silent("postgres", &booking(", UNIQUE (seat)"));
        is_silent("postgres", &booking(", UNIQUE (seat) DEFERRABLE INITIALLY DEFERRED"));
    });
}

/// Orders of customers, who are removed if they have none.
fn customers(reference: &str) -> String {
    format!(
        "CREATE TABLE customers (id INT PRIMARY KEY, name TEXT);
         CREATE TABLE orders (id INT PRIMARY KEY, customer INT NOT NULL{reference}, total INT NOT NULL);
         CREATE PROCEDURE place_order(p_id INT, p_customer INT) LANGUAGE plpgsql AS $$
         DECLARE n INT;
         BEGIN
           SELECT count(*) INTO n FROM customers WHERE id = p_customer;
           IF n > 0 THEN INSERT INTO orders (id, customer, total) VALUES (p_id, p_customer, 1); END IF;
         END $$;
         CREATE PROCEDURE remove_customer(p_customer INT) LANGUAGE plpgsql AS $$
         DECLARE n INT;
         BEGIN
           SELECT count(*) INTO n FROM orders WHERE customer = p_customer;
           IF n = 0 THEN DELETE FROM customers WHERE id = p_customer; END IF;
         END $$;"
    )
}

#[test]
fn foreign_keys_refuse_orders_of_nobody() {
    limited(|| {
        is_found("postgres", &customers(""));
        is_silent("postgres", &customers(" REFERENCES customers (id)"));
        is_silent("postgres", &customers(" REFERENCES customers (id) DEFERRABLE INITIALLY DEFERRED"));
    });
}

/// Adds to a document what was read of it, if it is still the same.
fn documents(condition: &str, afterwards: &str) -> String {
    format!(
        "CREATE TABLE docs (id INT PRIMARY KEY, body INT NOT NULL, version INT NOT NULL);
         CREATE TABLE log (id INT PRIMARY KEY, doc INT NOT NULL);
         CREATE PROCEDURE edit(p_id INT, p_add INT, p_log INT) LANGUAGE plpgsql AS $$
         DECLARE b INT; v INT;
         BEGIN
           SELECT body, version INTO b, v FROM docs WHERE id = p_id;
           UPDATE docs SET body = b + p_add, version = v + 1 WHERE id = p_id{condition};
           {afterwards}
         END $$;"
    )
}

#[test]
fn version_columns_refuse_the_second_edit() {
    limited(|| {
        is_found("postgres", &documents("", ""));
        is_silent("postgres", &documents(" AND version = v", "IF NOT FOUND THEN RAISE EXCEPTION 'conflict'; END IF;"));
        is_silent("postgres", &documents(" AND version = v", ""));
        // It has met no row, and goes on all the same.
        is_found("postgres", &documents(" AND version = v", "INSERT INTO log (id, doc) VALUES (p_log, p_id);"));
    });
}

/// Adds to a balance what was read of it, with something before and something behind.
fn deposit(before: &str, between: &str) -> String {
    format!(
        "CREATE TABLE locks (name INT PRIMARY KEY, taken INT);
         CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);
         CREATE PROCEDURE deposit(p_id INT, p_amount INT, p_other INT) LANGUAGE plpgsql AS $$
         DECLARE b INT;
         BEGIN
           {before}
           SELECT balance INTO b FROM accounts WHERE id = p_id;
           {between}
           UPDATE accounts SET balance = b + p_amount WHERE id = p_id;
         END $$;"
    )
}

#[test]
fn advisory_locks_are_locks() {
    limited(|| {
        is_silent("postgres", &deposit("PERFORM pg_advisory_xact_lock(p_id);", ""));
        is_silent("postgres", &deposit("PERFORM pg_advisory_xact_lock(7, p_id);", ""));
        is_silent("postgres", &deposit("PERFORM pg_advisory_xact_lock(hashtext('accounts'));", ""));
        is_silent("postgres", &deposit("PERFORM pg_advisory_lock(p_id);", ""));
        is_found("postgres", &deposit("PERFORM pg_advisory_xact_lock(p_other);", ""));
        is_found("postgres", &deposit("PERFORM pg_advisory_xact_lock_shared(p_id);", ""));
        is_found("postgres", &deposit("PERFORM pg_advisory_lock(p_id);", "PERFORM pg_advisory_unlock(p_id);"));
    });
}

#[test]
fn a_row_that_everybody_locks_is_there() {
    limited(|| {
        is_silent("postgres", &deposit("PERFORM 1 FROM locks WHERE name = 1 FOR UPDATE;", ""));
        is_found("postgres", &deposit("PERFORM 1 FROM locks WHERE name = 1 FOR SHARE;", ""));
        is_found("postgres", &deposit("PERFORM 1 FROM locks WHERE name = p_other FOR UPDATE;", ""));
        is_silent("postgres", &deposit("UPDATE locks SET taken = taken + 1 WHERE name = 1;", ""));
        // That somebody has taken it is not certain.
        is_found("postgres", &deposit("PERFORM 1 FROM locks WHERE name = 1 AND taken = 0 FOR UPDATE;", ""));
    });
}

#[test]
fn named_locks_of_mariadb_outlive_transactions() {
    let program = |before: &str, behind: &str| {
        format!(
            "CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);
             DELIMITER //
             CREATE PROCEDURE deposit(p_id INT, p_amount INT)
             BEGIN
               DECLARE b INT;
               DECLARE ok INT;
               SELECT GET_LOCK('accounts', 10) INTO ok;
               START TRANSACTION;
               SELECT balance INTO b FROM accounts WHERE id = p_id;
               {before}
               UPDATE accounts SET balance = b + p_amount WHERE id = p_id;
               COMMIT;
               {behind}
             END //
             DELIMITER ;"
        )
    };
    limited(move || {
        let release = "SELECT RELEASE_LOCK('accounts') INTO ok;";
        is_silent("mariadb", &program("", release));
        is_found("mariadb", &program(release, ""));
    });
}

const TICKETS: &str = "CREATE TABLE tickets (id INT PRIMARY KEY, seat INT UNIQUE);
    CREATE TABLE log (id INT PRIMARY KEY);
    CREATE PROCEDURE buy(p_id INT, p_seat INT)
    BEGIN
      INSERT INTO tickets (id, seat) VALUES (p_id, p_seat);
    END;
    CREATE PROCEDURE buy_in_two(p_id INT, p_seat INT)
    BEGIN
      INSERT INTO log (id) VALUES (p_id);
      COMMIT;
      INSERT INTO tickets (id, seat) VALUES (p_id, p_seat);
    END;
    CREATE PROCEDURE fail(p_id INT)
    BEGIN
      INSERT INTO tickets (id, seat) VALUES (p_id, 1 / 0);
    END;";

/// What the oracle says of these two calls, on PostgreSQL.
fn judged(calls: [&str; 2], schedule: &str) -> Verdict {
    let program = Arc::new(front::read(TICKETS, &Schema::default()).program);
    let tables: String = TICKETS.split(";\n").take(2).map(|table| format!("/*init*/ {table};\n")).collect();
    let text = format!(
        "-- @isolation read committed\n-- @program tickets.sql\n{tables}/*a*/ -- call {}\n/*b*/ -- call {}\n\
         -- @schedule {schedule}\n",
        calls[0], calls[1]
    );
    let case = Case { program: Some(program), ..case::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")) };
    let mut runner = EngineRunner::new(vec![engine("postgres")]);
    Calls::default().judge(&case, &mut runner).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_call_that_was_refused_was_not_made() {
    limited(|| {
        let verdict = judged(["buy(p_id=1, p_seat=1)", "buy(p_id=2, p_seat=1)"], "a a a b b b");
        assert!(matches!(&verdict, Verdict::Holds(witness) if witness == "a"), "{verdict:?}");
    });
}

#[test]
fn a_call_that_failed_and_left_something_was_made() {
    limited(|| {
        // b looks for the seat last, and has written its log before.
        let calls = ["buy(p_id=1, p_seat=1)", "buy_in_two(p_id=2, p_seat=1)"];
        let verdict = judged(calls, "b b b a a a b b b");
        assert!(matches!(verdict, Verdict::Holds(_)), "a serial order does the same: {verdict:?}");
        let calls = ["buy_in_two(p_id=1, p_seat=1)", "buy_in_two(p_id=2, p_seat=1)"];
        let verdict = judged(calls, "a a a b b b b b b a a a");
        assert!(matches!(verdict, Verdict::Holds(_)), "a serial order does the same: {verdict:?}");
    });
}

#[test]
fn nothing_holds_of_a_call_that_always_fails() {
    limited(|| {
        let verdict = judged(["buy(p_id=1, p_seat=1)", "fail(p_id=2)"], "a a a b b b");
        assert!(matches!(&verdict, Verdict::Unknown(why) if why.contains("in every serial order")), "{verdict:?}");
    });
}
