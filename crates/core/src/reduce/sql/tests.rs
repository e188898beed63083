//! Each pass by itself: a case reproduces as long as its text contains what is needed.

use super::clauses::CLAUSES;
use super::columns::Columns;
use super::constants::Constants;
use super::expressions::EXPRESSIONS;
use super::names::Names;
use super::retype::Retype;
use super::tables::Tables;
use super::types::TYPES;
use crate::oracle::toy::case;
use crate::reduce::tests::{contains, text};
use crate::reduce::trial::Tests;
use crate::reduce::{Pass, Reproduction};

const BUDGET: usize = 500;

/// What a pass makes of a case whose text must go on containing these parts.
#[track_caller]
fn check(pass: &dyn Pass, before: &str, needed: &[&str], expect: &str) {
    let mut test = contains(needed);
    let mut tests = Tests::new(BUDGET, &mut test);
    let reduced = text(&pass.reduce(&case(before), &mut tests));
    let expect: Vec<&str> = expect.lines().map(str::trim).collect();
    assert_eq!(reduced.lines().collect::<Vec<_>>(), expect);
    assert!(!tests.ran_out);
}

/// The same for one statement of a session.
#[track_caller]
fn check_one(pass: &dyn Pass, before: &str, needed: &[&str], expect: &str) {
    check(pass, &format!("a {before}"), needed, &format!("a {expect}"));
}

#[test]
fn clauses_of_queries() {
    let query = "SELECT DISTINCT t.a, SUM(u.b) AS s FROM t LEFT JOIN u ON t.a = u.a WHERE t.b > 3 GROUP BY t.a \
                 HAVING SUM(u.b) > 1 ORDER BY s LIMIT 2";
    check_one(&CLAUSES, query, &["t"], "SELECT * FROM t");
    check_one(&CLAUSES, "SELECT x.a AS y FROM t AS x", &["x.a", "t"], "SELECT x.a FROM t");
    check_one(&CLAUSES, "SELECT t.a FROM t JOIN u JOIN v", &["v"], "SELECT * FROM v");
    check_one(&CLAUSES, query, &["JOIN", "SUM(u.b)"], "SELECT SUM(u.b) FROM t JOIN u ON t.a = u.a");
    check_one(&CLAUSES, query, &["GROUP", "ORDER"], "SELECT * GROUP BY t.a ORDER BY s");
    check_one(&CLAUSES, query, &["HAVING"], "SELECT * HAVING SUM(u.b) > 1");
    check_one(&CLAUSES, "SELECT a FROM t WHERE b = 1 FOR UPDATE SKIP LOCKED", &["UPDATE"], "SELECT a FOR UPDATE");
    check_one(&CLAUSES, "SELECT 1 UNION (SELECT a FROM t) UNION SELECT 2", &["t"], "SELECT a FROM t");
    check_one(&CLAUSES, "WITH x AS (SELECT a FROM t), y AS (SELECT 1) SELECT * FROM x", &["1"], "SELECT 1");
}

#[test]
fn clauses_of_writes() {
    let update = "UPDATE t SET a = 1, b = 2, c = 3 WHERE a = 4 RETURNING *";
    check_one(&CLAUSES, update, &["b = 2"], "UPDATE t SET b = 2");
    check_one(&CLAUSES, update, &["WHERE"], "UPDATE t SET c = 3 WHERE a = 4");
    check_one(&CLAUSES, "UPDATE t JOIN u ON t.a = u.a SET t.b = 1", &["UPDATE"], "UPDATE t SET t.b = 1");
    check_one(
        &CLAUSES,
        "DELETE FROM t WHERE a IN (SELECT a FROM u WHERE b = 1)",
        &["u"],
        "DELETE FROM t WHERE a IN (SELECT a FROM u)",
    );
    let upsert = "INSERT INTO t (a, b) VALUES (1, 2) ON CONFLICT (a) DO UPDATE SET a = 3, b = 4 WHERE t.a > 1";
    check_one(&CLAUSES, upsert, &["INSERT"], "INSERT INTO t VALUES (1, 2)");
    check_one(&CLAUSES, upsert, &["CONFLICT"], "INSERT INTO t VALUES (1, 2) ON CONFLICT DO NOTHING");
    check_one(&CLAUSES, upsert, &["SET"], "INSERT INTO t VALUES (1, 2) ON CONFLICT(a) DO UPDATE SET b = 4");
    check_one(
        &CLAUSES,
        "INSERT IGNORE INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 2",
        &["t"],
        "INSERT INTO t VALUES (1)",
    );
    check_one(&CLAUSES, "CREATE UNIQUE INDEX i ON t (a, b)", &["b"], "CREATE INDEX i ON t(b)");
    check_one(&CLAUSES, "START TRANSACTION WITH CONSISTENT SNAPSHOT", &[], "BEGIN");
    check_one(&CLAUSES, "COMMIT AND CHAIN", &[], "COMMIT");
}

#[test]
fn what_no_dialect_understands_is_left() {
    check_one(&CLAUSES, "GRANDFATHER t WHERE a = 1", &[], "GRANDFATHER t WHERE a = 1");
    check_one(&EXPRESSIONS, "HANDLER t READ a = (1 + 2)", &[], "HANDLER t READ a = (1 + 2)");
}

#[test]
fn expressions_by_their_parts() {
    let check = |before: &str, needed: &[&str], expect: &str| {
        check_one(
            &EXPRESSIONS,
            &format!("SELECT a FROM t WHERE {before}"),
            needed,
            &format!("SELECT a FROM t WHERE {expect}"),
        );
    };
    check("a = 1 AND (b = 2 OR NOT c = 3) AND d = 4", &["c = 3"], "c = 3");
    check("a = 1 AND (b = 2 OR NOT c = 3) AND d = 4", &["NOT"], "NOT true");
    check("a > 1 AND b <> 2", &["b"], "b = 2");
    check("z BETWEEN 1 AND 5 OR b LIKE 'x%'", &["z"], "z = 1");
    check("a NOT IN (1, 2, 3)", &["2"], "a = 2");
    check(
        "a IN (SELECT b FROM u WHERE c + 1 = 2) OR EXISTS (SELECT 1)",
        &["FROM u"],
        "a IN (SELECT b FROM u WHERE true)",
    );
    check("COALESCE(a, b + 1, 7) = CASE WHEN a = 1 THEN b * 2 ELSE 3 END", &["b"], "a = b");
    check("z = (SELECT MAX(b) FROM u)", &["z"], "z = 1");
    check_one(
        &EXPRESSIONS,
        "UPDATE t SET a = CASE WHEN a > 3 THEN a - 1 ELSE 0 END",
        &["a - 1"],
        "UPDATE t SET a = a - 1",
    );
    check_one(
        &EXPRESSIONS,
        "SELECT CASE a WHEN 1 THEN 2 WHEN 3 THEN 4 ELSE 5 END",
        &["CASE"],
        "SELECT CASE a WHEN 3 THEN 4 END",
    );
    check_one(&EXPRESSIONS, "INSERT INTO t VALUES (ABS(-1), LOWER('A'))", &["INSERT"], "INSERT INTO t VALUES (1, 'A')");
}

#[test]
fn a_condition_stays_one() {
    // `a = 1` is never replaced by `a`, nor a value by a condition: not every database takes one for the other.
    let mut seen = Vec::new();
    let given = case("a SELECT CASE WHEN a = 1 THEN b END FROM t WHERE a = 1 AND b = 2");
    let mut test = |case: &crate::case::Case| {
        seen.push(text(case));
        Reproduction::Gone
    };
    EXPRESSIONS.reduce(&given, &mut Tests::new(BUDGET, &mut test));
    assert!(!seen.is_empty());
    assert!(seen.iter().all(|text| !text.ends_with("WHERE a") && !text.contains("SELECT a = 1")), "{seen:#?}");
}

#[test]
fn constants_stay_equal() {
    let before = "init INSERT INTO t VALUES (17, 'seventeen', 1.50)
        a UPDATE t SET v = 250 WHERE id = 17 AND name = 'seventeen'
        a SELECT '17', t17 FROM t";
    let after = "init INSERT INTO t VALUES (0, 0, 0)
        a UPDATE t SET v = 0 WHERE id = 0 AND name = 0
        a SELECT 0, t17 FROM t";
    check(&Constants, before, &[], after);
    let needed = "init INSERT INTO t VALUES (17, 's', 1)
        a UPDATE t SET v = 2 WHERE id = 17 AND name = 's'
        a SELECT 0, t17 FROM t";
    check(&Constants, before, &["v = 2", "id = 17", "'s", ", 1"], needed);
}

#[test]
fn constants_are_replaced_in_expectations_too() {
    let file = "/*init*/ INSERT INTO t VALUES (17);\n/*a*/ SELECT * FROM t;\n-- > rows (17)\n-- @final t (17)\n";
    let given = crate::case::parse(file).unwrap();
    let mut test = |_: &crate::case::Case| Reproduction::Reproduced;
    let reduced = Constants.reduce(&given, &mut Tests::new(BUDGET, &mut test));
    assert_eq!(crate::case::print::print(&reduced).replace("-- @case 1\n", ""), file.replace("17", "0"));
}

#[test]
fn types_and_constraints() {
    let create = "CREATE TABLE t (a BIGINT NOT NULL PRIMARY KEY AUTO_INCREMENT, b VARCHAR(10) DEFAULT 'x', \
                  CHECK (a > 0), UNIQUE (b)) ENGINE=InnoDB";
    check_one(&TYPES, create, &[], "CREATE TABLE t (a INT, b INT)");
    check_one(&TYPES, create, &["UNIQUE", "VARCHAR"], "CREATE TABLE t (a INT, b VARCHAR(10), UNIQUE (b))");
    check_one(&TYPES, create, &["PRIMARY KEY"], "CREATE TABLE t (a INT PRIMARY KEY, b INT)");
}

#[test]
fn a_column_of_texts_becomes_one_of_numbers() {
    let before = "init CREATE TABLE t (id INT, name VARCHAR(20))
        init INSERT INTO t VALUES (1, 'ann'), (2, 'bob'), (3, NULL)
        a INSERT INTO t (name, id) VALUES ('ann', 4)
        a SELECT * FROM t WHERE name = 'bob' OR name = 'cid'";
    let after = "init CREATE TABLE t (id INT, name INT)
        init INSERT INTO t VALUES (1, 1), (2, 2), (3, NULL)
        a INSERT INTO t (name, id) VALUES (1, 4)
        a SELECT * FROM t WHERE name = 2 OR name = 3";
    check(&Retype, before, &[], after);
    check(&Retype, before, &["'ann'"], before);
}

#[test]
fn columns_go_from_all_statements() {
    let before = "init CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT, UNIQUE (b, c), CHECK (a > 0))
        init CREATE TABLE u (b INT, d INT)
        init INSERT INTO t VALUES (1, 2, 3), (4, 5, 6)
        a INSERT INTO t (c, a, b) SELECT 7, 8, 9
        a UPDATE t SET b = 1, c = 2
        a SELECT b, t.c FROM t ORDER BY b
        a SELECT b FROM u WHERE d = 1";
    let after = "init CREATE TABLE t (c INT)
        init CREATE TABLE u (b INT, d INT)
        init INSERT INTO t VALUES (3), (6)
        a INSERT INTO t (c) SELECT 7
        a UPDATE t SET c = 2
        a SELECT t.c FROM t
        a SELECT b FROM u WHERE d = 1";
    check(&Columns, before, &["c INT", "b INT, d INT"], after);
    // b is needed by a condition of u, and so is d; the others go.
    check(
        &Columns,
        "init CREATE TABLE u (b INT, d INT, e INT)
         a SELECT * FROM u WHERE b = d",
        &[],
        "init CREATE TABLE u (b INT, d INT)
         a SELECT * FROM u WHERE b = d",
    );
}

#[test]
fn tables_go_with_their_statements() {
    let before = "schedule a b a b
        init CREATE TABLE t (a INT)
        init CREATE TABLE u (a INT)
        init CREATE INDEX i ON u (a)
        init INSERT INTO u VALUES (1)
        a UPDATE t SET a = 1
        b SELECT * FROM \"U\"
        a SELECT * FROM t
        b SELECT * FROM t, u";
    let after = "schedule a a
        init CREATE TABLE t (a INT)
        a UPDATE t SET a = 1
        a SELECT * FROM t";
    check(&Tables, before, &["UPDATE"], after);
}

#[test]
fn numbered_names_become_letters_and_words_stay() {
    let before = "schedule t2 t1
        init CREATE TABLE t3 (c0 INT, balance INT, c7 INT)
        t1 SELECT c0, t3.c7, balance, 'c0' FROM t3
        t2 UPDATE t3 SET c7 = b";
    let after = "schedule b a
        init CREATE TABLE t (a INT, balance INT, c INT)
        a SELECT a, t.c, balance, 'c0' FROM t
        b UPDATE t SET c = b";
    check(&Names, before, &[], after);
    check(&Names, before, &["t3"], &before.replace("t1", "a").replace("t2", "b"));
    check(
        &Names,
        before,
        &["t1 SELECT"],
        &after.replace("b a", "t2 t1").replace("a SELECT", "t1 SELECT").replace("b UPDATE", "t2 UPDATE"),
    );
    let words = "schedule reader writer\nreader SELECT 1\nwriter SELECT 2";
    check(&Names, words, &[], words);
}
