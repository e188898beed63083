//! Statements and what becomes of them.

mod generated;
mod refusals;

use std::collections::BTreeSet;

use super::*;
use crate::case;

/// Two tables: one with a version column of its own, one without.
const SETUP: &str = "/*init*/ CREATE TABLE t (k INT PRIMARY KEY, a INT, ver INT);
/*init*/ CREATE TABLE u (k1 INT, k2 INT, b INT, PRIMARY KEY (k1, k2));
/*init*/ INSERT INTO t VALUES (1, 10, 3), (2, 20, 1);
/*init*/ INSERT INTO u VALUES (1, 1, 5);
";

fn read_case(text: &str) -> Case {
    case::parse(&format!("-- @case 1\n{text}")).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn prepared(text: &str) -> Prepared {
    prepare(&read_case(text)).unwrap_or_else(|skip| panic!("{text}: {skip}"))
}

fn first_step() -> StepRef {
    StepRef { session: SessionName::new("a").unwrap(), index: 0 }
}

/// `t: rw, u: v`
fn uses(target: &Target) -> String {
    let letters = |uses: &Uses| {
        let letters = [(uses.read, 'r'), (uses.write, 'w'), (uses.value, 'v')];
        letters.iter().filter(|(is_set, _)| *is_set).map(|(_, letter)| letter).collect::<String>()
    };
    let tables = target.uses.iter().map(|(table, uses)| format!("{table}: {}", letters(uses)));
    tables.collect::<Vec<_>>().join(", ")
}

/// What the first statement becomes, on the setup above. Versions count from 4.
#[track_caller]
fn check(statement: &str, expect: &str, expect_uses: &str) -> Prepared {
    let prepared = prepared(&format!("{SETUP}/*a*/ {statement};"));
    assert_eq!(prepared.case.sessions()[0].items[0].to_string(), expect);
    assert_eq!(uses(&prepared.targets[&first_step()]), expect_uses, "{statement}");
    prepared
}

fn texts(reads: &[Read]) -> Vec<&str> {
    reads.iter().map(|read| read.sql.as_str()).collect()
}

#[track_caller]
fn check_skip(text: &str, expect: &str) {
    match prepare(&read_case(text)) {
        Err(Skip(reason)) => assert_eq!(reason, expect, "{text}"),
        Ok(_) => panic!("{text}: prepared, but expected: {expect}"),
    }
}

#[test]
fn the_setup_gets_versions() {
    let prepared = prepared(&format!("{SETUP}/*init*/ INSERT INTO u (k2, k1) VALUES (7, 8);\n/*a*/ SELECT 1;"));
    let expect = [
        "CREATE TABLE t (k INT PRIMARY KEY, a INT, ver INT)",
        "CREATE TABLE u (k1 INT, k2 INT, b INT, ver INT NOT NULL DEFAULT 0, PRIMARY KEY (k1, k2))",
        "INSERT INTO t VALUES (1, 10, 3), (2, 20, 1)",
        "INSERT INTO u VALUES (1, 1, 5, 0)",
        "INSERT INTO u (k2, k1) VALUES (7, 8)",
    ];
    assert_eq!(prepared.case.setup(), expect);
}

#[test]
fn writes_get_versions() {
    let v = "t: wv";
    check("UPDATE t SET a = a + 1 WHERE k = 1", "UPDATE t SET a = a + 1, ver = 4 WHERE k = 1", v);
    check("UPDATE t SET ver = 9, a = 1", "UPDATE t SET a = 1, ver = 4", "t: w");
    check("UPDATE t AS x SET a = x.ver", "UPDATE t AS x SET a = x.ver, ver = 4", v);
    check("UPDATE t SET a = 1 RETURNING *", "UPDATE t SET a = 1, ver = 4 RETURNING *", "t: w");
    check("DELETE FROM t WHERE a > 1", "DELETE FROM t WHERE a > 1", "t: w");
    check("INSERT INTO t VALUES (5, 1, 0), (6, 2, 0)", "INSERT INTO t VALUES (5, 1, 4), (6, 2, 4)", "");
    check("INSERT INTO u VALUES (5, 1, 2)", "INSERT INTO u VALUES (5, 1, 2, 4)", "");
    check("INSERT INTO t (ver, k) VALUES (9, 5)", "INSERT INTO t (ver, k) VALUES (4, 5)", "");
    check("INSERT INTO t (k) VALUES (5)", "INSERT INTO t (k, ver) VALUES (5, 4)", "");
    check("INSERT INTO t SET k = 5, a = 1", "INSERT INTO t SET k = 5, a = 1, ver = 4", "");
}

#[test]
fn every_writing_statement_has_its_own_version() {
    let text = "/*a*/ UPDATE t SET a = 1;\n/*b*/ DELETE FROM t;\n/*b*/ BEGIN;\n/*b*/ UPDATE t SET a = 2;";
    let prepared = prepared(&format!("{SETUP}{text}"));
    let versions: Vec<_> = prepared
        .targets
        .iter()
        .map(|(step, target)| (step.to_string(), target.version, target.written.is_some()))
        .collect();
    assert_eq!(
        versions,
        [("a1".to_string(), Some(4), true), ("b1".to_string(), None, true), ("b3".to_string(), Some(5), true)]
    );
}

#[test]
fn inserts_from_queries_get_versions() {
    let both = "u: rv";
    check("INSERT INTO t SELECT k1, b, 0 FROM u", "INSERT INTO t SELECT k1, b, 4 FROM u", both);
    check("INSERT INTO t SELECT * FROM u", "INSERT INTO t SELECT k1, k2, 4 FROM u", both);
    check("INSERT INTO t SELECT k1, b FROM u", "INSERT INTO t SELECT k1, b, 4 FROM u", both);
    check(
        "INSERT INTO t (k) SELECT k1 FROM u WHERE b IN (SELECT a FROM t)",
        "INSERT INTO t (k, ver) SELECT k1, 4 FROM u WHERE b IN (SELECT a FROM t)",
        "t: r, u: rv",
    );
    check(
        "INSERT INTO t (k) SELECT k1 FROM u UNION SELECT 7",
        "INSERT INTO t (k, ver) SELECT k1, 4 FROM u UNION SELECT 7, 4",
        both,
    );
    check(
        "INSERT INTO t (k) WITH c AS (SELECT * FROM u) SELECT k1 FROM c",
        "INSERT INTO t (k, ver) WITH c AS (SELECT * FROM u) SELECT k1, 4 FROM c",
        both,
    );
    check(
        "INSERT INTO t VALUES (5, (SELECT MAX(b) FROM u), 0)",
        "INSERT INTO t VALUES (5, (SELECT MAX(b) FROM u), 4)",
        "u: v",
    );
}

#[test]
fn upserts_get_versions_in_both_parts() {
    check(
        "INSERT INTO t (k, a) VALUES (1, 2) ON CONFLICT (k) DO UPDATE SET a = 3",
        "INSERT INTO t (k, a, ver) VALUES (1, 2, 4) ON CONFLICT(k) DO UPDATE SET a = 3, ver = 4",
        "t: w",
    );
    check(
        "INSERT INTO t (k) VALUES (1) ON CONFLICT (k) DO UPDATE SET a = t.a + excluded.k WHERE t.a < 9",
        "INSERT INTO t (k, ver) VALUES (1, 4) ON CONFLICT(k) DO UPDATE SET a = t.a + excluded.k, ver = 4 WHERE t.a < 9",
        "t: wv",
    );
    check(
        "INSERT INTO t (k, a) VALUES (1, 2) ON DUPLICATE KEY UPDATE a = 5, ver = 1",
        "INSERT INTO t (k, a, ver) VALUES (1, 2, 4) ON DUPLICATE KEY UPDATE a = 5, ver = 4",
        "t: w",
    );
    check(
        "INSERT INTO t VALUES (1, 2, 3) ON CONFLICT DO NOTHING",
        "INSERT INTO t VALUES (1, 2, 4) ON CONFLICT DO NOTHING",
        "t: w",
    );
    check("INSERT IGNORE INTO t VALUES (1, 2, 3)", "INSERT IGNORE INTO t VALUES (1, 2, 4)", "t: w");
    check("INSERT OR IGNORE INTO t VALUES (1, 2, 3)", "INSERT OR IGNORE INTO t VALUES (1, 2, 4)", "t: w");
    check("REPLACE INTO t VALUES (1, 2, 3)", "REPLACE INTO t VALUES (1, 2, 4)", "t: w");
    check(
        "REPLACE INTO t SELECT k1, b, 1 FROM u ORDER BY k1, k2",
        "REPLACE INTO t SELECT k1, b, 4 FROM u ORDER BY k1, k2",
        "t: w, u: rv",
    );
}

#[test]
fn tables_are_found_wherever_they_are() {
    check("DELETE FROM t WHERE a IN (SELECT b FROM u)", "DELETE FROM t WHERE a IN (SELECT b FROM u)", "t: w, u: r");
    check(
        "UPDATE t SET a = (SELECT SUM(b) FROM u) WHERE EXISTS (SELECT 1 FROM t AS x WHERE x.k > t.k)",
        "UPDATE t SET a = (SELECT SUM(b) FROM u), ver = 4 WHERE EXISTS (SELECT 1 FROM t AS x WHERE x.k > t.k)",
        "t: rw, u: v",
    );
    for query in [
        "SELECT COUNT(*) FROM (SELECT DISTINCT b FROM u) AS d",
        "SELECT COUNT(*), (SELECT MAX(b) FROM u) FROM (SELECT 1) AS d",
        "WITH c AS (SELECT b FROM u), t AS (SELECT b FROM c) SELECT * FROM t",
        "SELECT b FROM u UNION ALL SELECT 1",
        "SELECT DISTINCT CASE WHEN EXISTS (SELECT 1 FROM u AS t) THEN 1 ELSE 2 END",
        "SELECT 1 GROUP BY 1 HAVING 1 < (SELECT COUNT(*) FROM u)",
        "SELECT DISTINCT b FROM u ORDER BY b",
        "SELECT DISTINCT x.b FROM u AS x JOIN (SELECT b FROM u) AS y ON x.b = y.b AND x.b > ALL(SELECT b FROM u)",
    ] {
        let prepared = check(query, query, "u: r");
        assert_eq!(prepared.targets[&first_step()].output, None, "{query}");
    }
    // In its own body the name is not yet hidden.
    let both = "WITH t AS (SELECT a FROM t) SELECT COUNT(*) FROM t";
    check(both, both, "t: r");
    check(
        "WITH c AS (SELECT b FROM u) UPDATE t SET a = 1 WHERE a IN (SELECT b FROM c)",
        "WITH c AS (SELECT b FROM u) UPDATE t SET a = 1, ver = 4 WHERE a IN (SELECT b FROM c)",
        "t: w, u: rv",
    );
}

#[test]
fn queries_return_keys_and_versions() {
    let output = |table: &str, key: &[usize], version| Output { table: table.into(), key: key.to_vec(), version };
    let check = |query: &str, expect: &str, uses: &str, outputs: Vec<Output>| {
        let prepared = check(query, expect, uses);
        assert_eq!(prepared.targets[&first_step()].output, Some(outputs), "{query}");
    };
    let t = || vec![output("t", &[0], 1)];
    check("SELECT * FROM t", "SELECT *, t.k, t.ver FROM t", "t: r", t());
    check("SELECT a FROM t AS x WHERE a > 1", "SELECT a, x.k, x.ver FROM t AS x WHERE a > 1", "t: r", t());
    check(
        "SELECT RANK() OVER (ORDER BY a) FROM t ORDER BY 1",
        "SELECT RANK() OVER (ORDER BY a), t.k, t.ver FROM t ORDER BY 1",
        "t: r",
        t(),
    );
    check(
        "SELECT (SELECT MAX(b) FROM u) FROM t",
        "SELECT (SELECT MAX(b) FROM u), t.k, t.ver FROM t",
        "t: r, u: r",
        t(),
    );
    check(
        "SELECT b FROM u AS x LEFT JOIN (t CROSS JOIN t AS y) ON b = t.a",
        "SELECT b, x.k1, x.k2, x.ver, t.k, t.ver, y.k, y.ver FROM u AS x LEFT JOIN (t CROSS JOIN t AS y) ON b = t.a",
        "t: r, u: r",
        vec![output("u", &[0, 1], 2), output("t", &[3], 4), output("t", &[5], 6)],
    );
}

#[test]
fn locking_queries_are_known_in_both_spellings() {
    for (query, expect) in [
        ("SELECT a FROM t FOR UPDATE", "SELECT a, t.k, t.ver FROM t FOR UPDATE"),
        ("SELECT a FROM t FOR SHARE", "SELECT a, t.k, t.ver FROM t FOR SHARE"),
        ("SELECT a FROM t LOCK IN SHARE MODE", "SELECT a, t.k, t.ver FROM t LOCK IN SHARE MODE"),
    ] {
        assert!(check(query, expect, "t: r").targets[&first_step()].locks);
    }
    assert!(!check("SELECT COUNT(*) FROM t", "SELECT COUNT(*) FROM t", "t: r").targets[&first_step()].locks);
}

#[test]
fn reads_surround_a_statement() {
    let update = "WITH c AS (SELECT b FROM u) UPDATE t AS x SET a = 1 WHERE a IN (SELECT b FROM c) \
                  OR a IN (SELECT b FROM u UNION SELECT 7) ORDER BY k LIMIT 2";
    let prepared = prepared(&format!("{SETUP}/*a*/ {update};"));
    let plain = prepared.reads(&first_step(), View::Plain);
    let before_write = "WITH c AS (SELECT b FROM u) SELECT k, ver FROM t AS x WHERE a IN (SELECT b FROM c) \
                        OR a IN (SELECT b FROM u UNION SELECT 7) ORDER BY k LIMIT 2";
    assert_eq!(texts(&plain.before), ["SELECT k, ver FROM t", "SELECT k1, k2, ver FROM u", before_write]);
    let roles: Vec<Role> = plain.before.iter().chain(&plain.after).map(|read| read.role).collect();
    assert_eq!(roles, [Role::VersionSet, Role::VersionSet, Role::BeforeWrite, Role::AfterWrite]);
    assert_eq!(texts(&plain.after), ["SELECT k, ver FROM t"]);

    let locking = prepared.reads(&first_step(), View::Locking);
    let before_write = "WITH c AS (SELECT b FROM u LOCK IN SHARE MODE) SELECT k, ver FROM t AS x \
                        WHERE a IN (SELECT b FROM c LOCK IN SHARE MODE) \
                        OR a IN ((SELECT b FROM u LOCK IN SHARE MODE) UNION SELECT 7) ORDER BY k LIMIT 2 FOR UPDATE";
    let (written, read) = ("SELECT k, ver FROM t FOR UPDATE", "SELECT k1, k2, ver FROM u LOCK IN SHARE MODE");
    assert_eq!(texts(&locking.before), [written, read, before_write]);
    assert_eq!(texts(&locking.after), [written]);
}

#[test]
fn a_lock_does_not_reach_subqueries() {
    let query = "SELECT a FROM t WHERE a IN (SELECT b FROM u) FOR UPDATE";
    let prepared = prepared(&format!("{SETUP}/*a*/ {query};"));
    let reads = prepared.reads(&first_step(), View::Locking);
    assert_eq!(texts(&reads.before), ["SELECT k, ver FROM t LOCK IN SHARE MODE", "SELECT k1, k2, ver FROM u"]);
}

#[test]
fn what_is_written_is_read_even_if_nothing_is_referred_to() {
    let prepared = prepared(&format!("{SETUP}/*a*/ INSERT INTO t VALUES (5, 5, 5);\n/*a*/ COMMIT;"));
    let reads = prepared.reads(&first_step(), View::Plain);
    assert_eq!(texts(&reads.before), ["SELECT k, ver FROM t"]);
    assert_eq!(texts(&reads.after), ["SELECT k, ver FROM t"]);
    let commit = StepRef { index: 1, ..first_step() };
    assert_eq!(prepared.reads(&commit, View::Plain), Reads::default());
}

#[test]
fn constraints_know_their_columns() {
    let prepared = prepared(
        "/*init*/ CREATE TABLE p (k INT PRIMARY KEY, x INT UNIQUE, y INT, z INT);
/*init*/ CREATE TABLE c (k INT, l INT REFERENCES p, m INT, PRIMARY KEY (k, l),
  FOREIGN KEY (m) REFERENCES p (x) ON DELETE RESTRICT);
/*init*/ CREATE UNIQUE INDEX i ON p (z, k);
/*init*/ CREATE INDEX j ON p (y);
/*a*/ DELETE FROM p;",
    );
    let constraint = |name: &str, columns: &[usize], referenced| Constraint {
        name: name.into(),
        columns: columns.to_vec(),
        referenced,
    };
    let p = &prepared.tables["p"];
    assert_eq!((p.key.join(" "), p.version.as_str(), p.probed.join(" ")), ("k".to_string(), "ver", "x z".to_string()));
    let c = &prepared.tables["c"];
    assert_eq!((c.key.join(" "), c.version.as_str(), c.probed.join(" ")), ("k l".to_string(), "ver", "m".to_string()));
    let to_key = "foreign key c(l) to p(k)";
    let to_x = "foreign key c(m) to p(x)";
    assert_eq!(c.constraints, [constraint(to_key, &[1], false), constraint(to_x, &[3], false)]);
    let of_p: BTreeSet<(&str, &[usize], bool)> =
        p.constraints.iter().map(|c| (&*c.name, c.columns.as_slice(), c.referenced)).collect();
    let expect = [
        (to_key, [0].as_slice(), true),
        (to_x, &[2], true),
        ("unique key p(x)", &[2], false),
        ("unique key p(z, k)", &[3, 0], false),
    ];
    assert_eq!(of_p, expect.into_iter().collect());
    assert_eq!(texts(&prepared.reads(&first_step(), View::Plain).after), ["SELECT k, ver, x, z FROM p"]);
}

#[test]
fn versions_count_from_above_those_of_the_setup() {
    let table = "/*init*/ CREATE TABLE t (k INT PRIMARY KEY, version BIGINT DEFAULT 4)";
    for (setup, expect) in [
        ("INSERT INTO t (k) VALUES (1)", 5),
        ("INSERT INTO t VALUES (1, 7), (2, -3)", 8),
        ("INSERT INTO t VALUES (1, -7)", 1),
        ("UPDATE t SET version = 8 WHERE k = 1", 9),
        ("SET NAMES utf8", 1),
        ("DROP TABLE IF EXISTS x", 1),
    ] {
        let prepared = prepared(&format!("{table};\n/*init*/ {setup};\n/*a*/ UPDATE t SET version = 0;"));
        assert_eq!(prepared.targets[&first_step()].version, Some(expect), "{setup}");
    }
}

#[test]
fn what_people_expect_of_a_case_is_left_out() {
    let text = "-- @isolation read committed
-- @schedule a b
-- @assert end sum: SELECT 1
/*init*/ CREATE TABLE t (k INT PRIMARY KEY);
/*a*/ DELETE FROM t;
-- > blocked
/*b*/ COMMIT;
-- @final t (empty)
";
    let expect = "-- @isolation read committed
/*init*/ CREATE TABLE t (k INT PRIMARY KEY, ver INT NOT NULL DEFAULT 0);
/*a*/ DELETE FROM t;
/*b*/ COMMIT;
";
    assert_eq!(prepared(text).case, read_case(expect));
}
