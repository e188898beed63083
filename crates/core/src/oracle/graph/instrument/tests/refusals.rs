//! What cannot be followed, and why.

use super::{SETUP, check_skip, prepared};

#[test]
fn setups_that_cannot_be_followed() {
    let table = "CREATE TABLE t (k INT PRIMARY KEY)";
    for (setup, reason) in [
        ("CREATE TABLE x (a INT)", "a table without a primary key"),
        ("CREATE TABLE x (k INT PRIMARY KEY AUTO_INCREMENT)", "numbers that the server hands out"),
        ("CREATE TABLE x (k INTEGER PRIMARY KEY AUTOINCREMENT)", "numbers that the server hands out"),
        ("CREATE TABLE x (k BIGSERIAL PRIMARY KEY)", "numbers that the server hands out"),
        ("CREATE TABLE x (k INT GENERATED ALWAYS AS IDENTITY PRIMARY KEY)", "numbers that the server hands out"),
        ("CREATE SEQUENCE s", "numbers that the server hands out"),
        ("CREATE VIEW v AS SELECT 1", "a view"),
        ("CREATE TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM t; END", "a trigger"),
        ("CREATE FUNCTION f() RETURNS INT AS 'SELECT 1' LANGUAGE sql", "a stored procedure or function"),
        ("CREATE TEMPORARY TABLE x (k INT PRIMARY KEY)", "a temporary table"),
        ("CREATE TABLE x AS SELECT * FROM t", "a table that is made from another one"),
        ("CREATE TABLE x (k INT PRIMARY KEY, f INT REFERENCES t (k) ON DELETE CASCADE)", "a foreign key that writes"),
        (
            "CREATE TABLE x (k INT PRIMARY KEY, FOREIGN KEY (k) REFERENCES t ON UPDATE SET NULL)",
            "a foreign key that writes",
        ),
        (
            "CREATE TABLE x (k INT PRIMARY KEY, f INT REFERENCES t DEFERRABLE INITIALLY DEFERRED)",
            "a deferred constraint",
        ),
        (
            "CREATE TABLE x (k INT PRIMARY KEY, f INT REFERENCES y)",
            "a foreign key to a table that the setup does not create",
        ),
        ("CREATE TABLE x (k INT, ver INT, PRIMARY KEY (k, ver))", "a version column that is part of a key"),
        ("CREATE TABLE x (k INT PRIMARY KEY, vkey INT UNIQUE)", "a version column that is part of a key"),
        (
            "CREATE TABLE x (k INT PRIMARY KEY, ver TEXT, version TEXT, vkey TEXT)",
            "no name is free for a version column",
        ),
        (
            "CREATE TABLE x (k INT PRIMARY KEY, a INT DEFAULT (RANDOM()))",
            "a function whose value depends on more than the data",
        ),
        ("CREATE UNIQUE INDEX i ON t (ABS(k))", "a key of expressions"),
        ("CREATE TABLE t (k INT PRIMARY KEY)", "two tables of one name"),
        ("ALTER TABLE t ADD COLUMN a INT", "a table that is altered"),
        ("DROP TABLE t", "a table that is dropped again"),
        ("INSERT INTO x VALUES (1)", "a table that the setup does not create"),
        ("INSERT INTO t SELECT x.* FROM t AS x", "a wildcard that a version does not fit into"),
        ("INSERT INTO t VALUES (1", "a setup that cannot be read"),
    ] {
        check_skip(&format!("/*init*/ {table};\n/*init*/ {setup};\n/*a*/ SELECT 1;"), reason);
    }
    let own = "/*init*/ CREATE TABLE t (k INT PRIMARY KEY, ver INT)";
    for (setup, reason) in [
        ("INSERT INTO t (k) VALUES (1)", "a row without a version"),
        ("INSERT INTO t VALUES (1, NULL)", "a version that is not a number"),
        ("INSERT INTO t SELECT 1, 2", "a version that is not a number"),
        ("UPDATE t SET ver = k", "a version that is not a number"),
    ] {
        check_skip(&format!("{own};\n/*init*/ {setup};\n/*a*/ SELECT 1;"), reason);
    }
}

#[test]
fn statements_that_cannot_be_followed() {
    let order = "LIMIT without a total order";
    let many = "a write to several tables";
    let chance = "a function whose value depends on more than the data";
    let rows = "a function that depends on the order of rows";
    for (statement, reason) in [
        ("UPDATE t SET k = 2", "an update of a primary key"),
        ("UPDATE t SET (k, a) = (1, 2)", "an update of a primary key"),
        ("INSERT INTO t VALUES (1, 2, 3) ON DUPLICATE KEY UPDATE k = 2", "an update of a primary key"),
        ("UPDATE t SET (ver, a) = (1, 2)", "a version that is assigned together with other columns"),
        ("UPDATE t SET a = 1 FROM u", many),
        ("UPDATE t JOIN u ON k = k1 SET a = 1", many),
        ("DELETE t FROM t JOIN u ON k = k1", many),
        ("DELETE FROM t USING u WHERE k = k1", many),
        ("UPDATE OR REPLACE t SET a = 1", "UPDATE OR"),
        ("SAVEPOINT s", "savepoints"),
        ("ROLLBACK TO s", "savepoints"),
        ("CREATE TABLE x (k INT PRIMARY KEY)", "DDL in a session"),
        ("TRUNCATE t", "DDL in a session"),
        ("SET x = 1", "a statement that is neither a query nor a write"),
        ("DELETE FROM t; DELETE FROM u", "several statements in one step"),
        ("COMMIT; BEGIN", "several statements in one step"),
        ("SELECT a FROM", "a statement that cannot be read"),
        ("WITH c AS (DELETE FROM u RETURNING b) SELECT * FROM c", "a write inside WITH"),
        ("SELECT * INTO x FROM t", "SELECT INTO"),
        ("SELECT * FROM x", "a table that the setup does not create"),
        ("DELETE FROM x", "a table that the setup does not create"),
        ("SELECT NOW()", chance),
        ("SELECT CURRENT_TIMESTAMP", chance),
        ("UPDATE t SET a = random()", chance),
        ("SELECT @x", chance),
        ("SELECT ctid FROM t", "a system column"),
        ("SELECT a FROM t LIMIT 1", order),
        ("SELECT a FROM t ORDER BY a LIMIT 1", order),
        ("SELECT a FROM t, u ORDER BY k LIMIT 1", order),
        ("SELECT a FROM t ORDER BY a OFFSET 1", order),
        ("SELECT a FROM t FETCH FIRST 1 ROWS ONLY", order),
        ("SELECT 1 FROM t WHERE a = (SELECT b FROM u ORDER BY k1 LIMIT 1)", order),
        ("DELETE FROM t LIMIT 1", order),
        ("UPDATE t SET a = 1 ORDER BY a LIMIT 1", order),
        ("SELECT DISTINCT ON (a) a, k FROM t ORDER BY a", "DISTINCT ON"),
        ("SELECT a, MAX(k) FROM t", "a column beside aggregates that is not grouped by"),
        ("SELECT k, a + 1 FROM t GROUP BY a", "a column beside aggregates that is not grouped by"),
        ("SELECT ROW_NUMBER() OVER (ORDER BY a) FROM t", rows),
        ("SELECT SUM(a) OVER (ORDER BY a ROWS UNBOUNDED PRECEDING) FROM t", rows),
        ("SELECT GROUP_CONCAT(a) FROM t", rows),
        ("SELECT * FROM t FOR UPDATE SKIP LOCKED", "SKIP LOCKED or NOWAIT"),
        ("SELECT * FROM t FOR UPDATE NOWAIT", "SKIP LOCKED or NOWAIT"),
        ("SELECT * FROM t, u FOR UPDATE OF t", "a query that locks some of its tables"),
        (
            "SELECT * FROM t WHERE a IN (SELECT a FROM t AS x) FOR UPDATE",
            "a table that is read with and without a lock",
        ),
        ("SELECT * FROM (SELECT a FROM t) AS d FOR UPDATE", "a locking query of something else than tables"),
        ("SELECT * FROM t WHERE a IN (SELECT b FROM u LOCK IN SHARE MODE)", "a locking subquery"),
        ("INSERT INTO u VALUES (5, 1)", "an insert of fewer values than there are columns"),
        ("INSERT INTO t SELECT k1, 1, 1 FROM u FOR UPDATE", "a locking subquery"),
        ("INSERT INTO t (a) VALUES (1)", "a key that the server chooses"),
        ("INSERT INTO t VALUES (NULL, 1, 1)", "a key that the server chooses"),
        ("INSERT INTO t (k) VALUES (DEFAULT)", "a key that the server chooses"),
        ("INSERT INTO t DEFAULT VALUES", "a key that the server chooses"),
        ("INSERT INTO t SELECT x.* FROM u AS x", "a wildcard that a version does not fit into"),
        ("SELECT a FROM t WHERE (1, 2, 3) IN (SELECT * FROM u)", "a wildcard that a version does not fit into"),
        ("SELECT * FROM u UNION SELECT 1, 2, 3", "a wildcard that a version does not fit into"),
        ("INSERT IGNORE INTO t SELECT k1, b, 1 FROM u", "an upsert of rows in no certain order"),
    ] {
        check_skip(&format!("{SETUP}/*a*/ {statement};"), reason);
    }
    let unique = "/*init*/ CREATE TABLE t (k INT PRIMARY KEY, a INT UNIQUE)";
    check_skip(&format!("{unique};\n/*a*/ UPDATE t SET a = a + 1;"), "a unique key that is computed for several rows");
    prepared(&format!("{unique};\n/*a*/ UPDATE t SET a = a + 1 WHERE k = 1;"));
    check_skip(&format!("{SETUP}/*a*/ BEGIN;\n-- @kill\n/*a*/ COMMIT;"), "events");
}

#[test]
fn what_has_one_answer_only_is_followed() {
    for statement in [
        "SELECT a FROM t ORDER BY a, k LIMIT 1",
        "SELECT a, k FROM t ORDER BY 2 LIMIT 1",
        "SELECT a FROM t AS x JOIN u ON a = b ORDER BY x.k, u.k2, u.k1 LIMIT 1 OFFSET 1",
        "SELECT a, COUNT(*) FROM t GROUP BY a ORDER BY a LIMIT 1",
        "SELECT COUNT(*) FROM t LIMIT 1",
        "SELECT DISTINCT a FROM t ORDER BY a LIMIT 1",
        "SELECT a, MAX(ver) FROM t GROUP BY k",
        "SELECT a + 1, MAX(k) FROM t GROUP BY a + 1 HAVING COUNT(*) > 1",
        "SELECT (SELECT COUNT(*) + x.a FROM u) FROM t AS x",
        "SELECT a, MIN(a, 3) FROM t",
        "SELECT ROW_NUMBER() OVER (PARTITION BY a ORDER BY k) FROM t",
        "SELECT GROUP_CONCAT(a ORDER BY k) FROM t",
        "DELETE FROM t ORDER BY k LIMIT 1",
        "SELECT ';', 'FOR SHARE' FROM t",
        "SELECT a FROM t WHERE EXISTS (SELECT * FROM u)",
        "WITH c AS (SELECT * FROM u) SELECT b FROM c",
    ] {
        prepared(&format!("{SETUP}/*a*/ {statement};"));
    }
}
