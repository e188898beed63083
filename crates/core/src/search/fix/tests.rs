use super::*;
use crate::level::LevelName;
use crate::search::conflicts::Options;
use crate::search::cycles::{Bounds, cycles};
use crate::search::level::EngineRules;
use crate::search::testing::{DOORS, LOST_UPDATE, Sample, WRITE_SKEW};

/// The changes for all cycles of a program, each with its diff.
fn proposed(source: &str, engine: &str, level: &str) -> Vec<(String, String, String)> {
    let sample = Sample::new(source);
    let conflicts = sample.conflicts(Options { external: true, references: true, rollbacks: true });
    let procedures: Vec<Called<'_>> = sample
        .reading
        .program
        .procedures
        .iter()
        .zip(&sample.reading.accesses)
        .map(|(procedure, access)| Called { procedure, access })
        .collect();
    let rules = EngineRules::of(engine, &[], &LevelName::custom(level)).unwrap();
    let schema = &sample.reading.schema;
    let ground = Ground { schema, procedures: &procedures, conflicts: &conflicts, level: Target::Engine(rules) };
    let mut all = Vec::new();
    for cycle in cycles(&conflicts, Bounds { length: 4, instances: 2 }) {
        for change in changes(&ground, &cycle) {
            let edits: Vec<&Edit> = change.edits.iter().collect();
            let diff = diff::unified("p", source, &apply(source, &edits).unwrap());
            let entry = (change.kind.name.to_string(), change.says.clone(), diff);
            if !all.contains(&entry) {
                all.push(entry);
            }
        }
    }
    all
}

fn diff_of(all: &[(String, String, String)], kind: &str) -> String {
    all.iter().find(|(name, ..)| name == kind).map(|(_, _, diff)| diff.clone()).unwrap_or_default()
}

#[test]
fn a_lost_update_can_be_locked_folded_or_run_at_a_stronger_level() {
    let all = proposed(LOST_UPDATE, "postgres", "read committed");
    let says: Vec<&str> = all.iter().map(|(_, says, _)| says.as_str()).collect();
    assert!(
        says.contains(&"run deposit at repeatable read") && says.contains(&"run deposit at serializable"),
        "{says:?}"
    );
    assert_eq!(
        diff_of(&all, "lock"),
        "--- p\n+++ p\n@@ -15,5 +15,5 @@\n BEGIN\n   DECLARE balance INT;\n\
         -  SELECT balance INTO :balance FROM accounts WHERE id = :account;\n\
         +  SELECT balance INTO :balance FROM accounts WHERE id = :account FOR UPDATE;\n\
         \x20  INSERT INTO receipts (receipt, account, amount) VALUES (:receipt, :account, :amount);\n\
         \x20  UPDATE accounts SET balance = :balance + :amount WHERE id = :account;\n"
    );
    let fold = diff_of(&all, "fold");
    let changed: Vec<&str> = fold.lines().skip(3).filter(|line| line.starts_with(['-', '+'])).collect();
    assert_eq!(
        changed,
        [
            "-  SELECT balance INTO :balance FROM accounts WHERE id = :account;",
            "-  UPDATE accounts SET balance = :balance + :amount WHERE id = :account;",
            "+  UPDATE accounts SET balance = accounts.balance + :amount WHERE id = :account;",
        ]
    );
}

#[test]
fn a_sum_is_locked_where_the_engine_can() {
    for (engine, level, expect) in [("postgres", "repeatable read", false), ("model", "snapshot isolation", true)] {
        let all = proposed(WRITE_SKEW, engine, level);
        assert_eq!(all.iter().any(|(kind, ..)| kind == "lock"), expect, "{engine}");
        assert!(!all.iter().any(|(kind, ..)| kind == "fold"), "the sum decides something");
    }
}

const LOOK: &str = "-- @program 1
CREATE TABLE users (id INT PRIMARY KEY, name TEXT NOT NULL);
CREATE PROCEDURE join_in(id INT, name TEXT)
BEGIN
  DECLARE n INT;
  SELECT COUNT(*) INTO :n FROM users WHERE name = :name;
  IF :n = 0 THEN
    INSERT INTO users (id, name) VALUES (:id, :name);
  END IF;
  COMMIT;
END;
";

#[test]
fn who_looks_before_inserting_wants_a_unique_key() {
    let diff = diff_of(&proposed(LOOK, "postgres", "read committed"), "unique key");
    assert!(diff.contains("+CREATE UNIQUE INDEX users_name ON users (name);\n"), "{diff}");
    let three = LOOK.replace(":n = 0", ":n < 3");
    assert_eq!(diff_of(&proposed(&three, "postgres", "read committed"), "unique key"), "", "several are meant");
}

/// What is asked before a column of `t` is written, what is written, and the check that it comes to.
fn check_check(asked: &str, written: &str, expect: &str) {
    let source = format!(
        "-- @program 1\nCREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL);\nCREATE PROCEDURE p(x INT, d INT, top INT)\n\
         BEGIN\n  DECLARE v INT;\n  SELECT n INTO :v FROM t WHERE id = :x;\n  {asked}\n    UPDATE t SET n = {written} \
         WHERE id = :x;\n  END IF;\n  COMMIT;\nEND;\n"
    );
    let diff = diff_of(&proposed(&source, "postgres", "read committed"), "check");
    let line = (!expect.is_empty()).then(|| format!("+ALTER TABLE t ADD CHECK ({expect});"));
    assert_eq!(diff.lines().skip(2).find(|line| line.starts_with('+')), line.as_deref(), "{asked} {written}");
}

#[test]
fn a_question_about_the_old_value_is_a_check_of_the_new_one() {
    check_check("IF :v >= :d THEN", "n - :d", "n >= 0");
    check_check("IF :v >= :d THEN", ":v - :d", "n >= 0");
    check_check("IF :d < :v THEN", "n - :d", "n > 0");
    check_check("IF :v - :d >= 10 AND :d > 0 THEN", "n - :d", "n >= 10");
    check_check("IF :v + :d <= 100 THEN", ":d + n", "n <= 100");
    check_check("IF NOT (:v < :d) THEN", "-(:d - n)", "n >= 0");
    check_check("IF :v < 1 THEN RETURN; END IF; IF :d > 0 THEN", "n - 1", "n >= 0");
    check_check("IF :v < 1 OR :d < 1 THEN COMMIT; RETURN; END IF; IF :d > 0 THEN", "n - 1", "n >= 0");
}

#[test]
fn other_questions_are_no_checks() {
    check_check("IF :v >= :d THEN", "n - :top", "");
    check_check("IF :v >= :d OR :top > 3 THEN", "n - :d", "");
    check_check("IF :v + :d <= :top THEN", "n + :d", "");
    check_check("IF :v < 1 THEN SET :v = 7; END IF; IF :d > 0 THEN", "n - 1", "");
    check_check("IF :v < 1 THEN INSERT INTO t (id, n) VALUES (9, 0); END IF; IF :d > 0 THEN", "n - 1", "");
    check_check("IF :top > 0 THEN IF :v < 1 THEN RETURN; END IF; END IF; IF :d > 0 THEN", "n - 1", "");
    check_check("IF :v >= :d THEN", "n * 2", "");
    check_check("IF :v = :d THEN", "n - :d", "");
}

#[test]
fn who_writes_what_another_reads_can_lock_it_first() {
    let diff = diff_of(&proposed(DOORS, "postgres", "read committed"), "ordered locks");
    let changed: Vec<&str> = diff.lines().skip(3).filter(|line| line.starts_with(['-', '+'])).collect();
    assert_eq!(
        changed,
        [
            "-  SELECT armed INTO :armed FROM alarms WHERE id = :door;",
            "+  SELECT armed INTO :armed FROM alarms WHERE id = :door FOR UPDATE;",
            "+  SELECT id FROM alarms WHERE id = :door FOR UPDATE;",
        ]
    );
    // Which row it is turns out only later.
    let late = DOORS.replace("= 1 WHERE id = :door", "= 1 WHERE id = (SELECT MAX(id) FROM doors)");
    assert_eq!(diff_of(&proposed(&late, "postgres", "read committed"), "ordered locks"), "");
}

#[test]
fn a_value_with_another_use_is_not_folded() {
    for other in ["IF :v > 0 THEN INSERT INTO t (id, n) VALUES (9, 0); END IF;", "UPDATE t SET n = 1 WHERE id = :x;"] {
        let source = format!(
            "-- @program 1\nCREATE TABLE t (id INT PRIMARY KEY, n INT);\nCREATE PROCEDURE p(x INT)\nBEGIN\n  \
             DECLARE v INT;\n  SELECT n INTO :v FROM t WHERE id = :x;\n  {other}\n  \
             UPDATE t SET n = :v + 1 WHERE id = :x;\n  COMMIT;\nEND;\n"
        );
        assert_eq!(diff_of(&proposed(&source, "postgres", "read committed"), "fold"), "", "{other}");
        let without = source.replace(other, "");
        let diff = diff_of(&proposed(&without, "postgres", "read committed"), "fold");
        assert!(diff.contains("+  UPDATE t SET n = n + 1 WHERE id = :x;\n"), "{diff}");
    }
}

#[test]
fn distant_changes_are_two_hunks() {
    let old: String = (0..20).map(|at| format!("{at}\n")).collect();
    let new = old.replace("3\n4\n", "3\nnew\n4\n").replace("16\n", "");
    let diff = diff::unified("f", &old, &new);
    assert_eq!(
        diff,
        "--- f\n+++ f\n@@ -3,4 +3,5 @@\n 2\n 3\n+new\n 4\n 5\n@@ -15,5 +16,4 @@\n 14\n 15\n-16\n 17\n 18\n"
    );
    assert_eq!(diff::unified("f", &old, &old), "");
}

#[test]
fn who_is_looked_for_and_then_named_is_referred_to() {
    let source = "CREATE TABLE orders (id INT PRIMARY KEY, customer INT);
CREATE TABLE customers (id INT PRIMARY KEY, name TEXT);
CREATE PROCEDURE place_order(id INT, customer INT)
BEGIN
  DECLARE n INT;
  SELECT COUNT(*) INTO :n FROM customers WHERE id = :customer;
  IF :n > 0 THEN INSERT INTO orders (id, customer) VALUES (:id, :customer); END IF;
END;
CREATE PROCEDURE leave(customer INT)
BEGIN
  DECLARE n INT;
  SELECT COUNT(*) INTO :n FROM orders WHERE customer = :customer;
  IF :n = 0 THEN DELETE FROM customers WHERE id = :customer; END IF;
END;
";
    let all = proposed(source, "postgres", "read committed");
    let diff = diff_of(&all, "foreign key");
    assert!(diff.contains("+ALTER TABLE orders ADD FOREIGN KEY (customer) REFERENCES customers (id);"), "{diff}");
}
