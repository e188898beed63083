//! What statements read and write, in the text form of accesses.

use super::{Access, nodes, of_statement};
use crate::program::diagnostic::Diagnostic;
use crate::program::front;
use crate::program::located::Language;
use crate::program::schema::Schema;
use crate::program::{Program, StatementKind};

const SCHEMA: &str = "
    CREATE TABLE accounts (id INT PRIMARY KEY, owner INT, balance INT, email TEXT UNIQUE);
    CREATE TABLE orders (w INT, d INT, o INT, customer INT, total INT, PRIMARY KEY (w, d, o));
    CREATE TABLE lines (w INT, d INT, o INT, n INT, amount INT, PRIMARY KEY (w, d, o, n));
    CREATE TABLE audit (at INT, what TEXT);
    CREATE VIEW rich AS SELECT id, balance AS money FROM accounts WHERE balance > 1000;";

fn schema() -> Schema {
    let (schema, diagnostics) = Schema::read(SCHEMA, Language::Any);
    assert_eq!(diagnostics, [], "the schema is read");
    schema
}

fn source(statement: &str) -> String {
    format!("CREATE PROCEDURE p(a INT, b INT, c INT, x INT, y INT) BEGIN\n{statement};\nEND;")
}

fn analyze(statement: &str, schema: &Schema) -> (Access, Vec<Diagnostic>) {
    let program = Program::parse(&source(statement)).unwrap_or_else(|error| panic!("{error}"));
    let node = &program.procedures[0].body[0];
    let StatementKind::Sql(sql) = &node.kind else { panic!("{statement} is SQL") };
    of_statement(sql, node.span, schema, Language::Any)
}

/// The accesses, one after the other, separated by ` | `.
#[track_caller]
fn check(statement: &str, expect: &str) {
    let (access, diagnostics) = analyze(statement, &schema());
    let found: Vec<String> = access.tables.iter().map(ToString::to_string).collect();
    assert_eq!(found.join(" | "), expect, "{statement}");
    assert_eq!(diagnostics, [], "{statement}");
}

/// The uses, one after the other.
#[track_caller]
fn check_uses(statement: &str, expect: &str) {
    let (access, diagnostics) = analyze(statement, &schema());
    let found: Vec<String> = access.uses.iter().map(ToString::to_string).collect();
    assert_eq!(found.join(", "), expect, "{statement}");
    assert_eq!(diagnostics, [], "{statement}");
}

/// The conditions of each access.
#[track_caller]
fn check_predicate(statement: &str, expect: &str) {
    let (access, _) = analyze(statement, &schema());
    let found: Vec<String> = access.tables.iter().map(|one| one.predicate.to_string()).collect();
    assert_eq!(found.join(" | "), expect, "{statement}");
}

/// `place`: message (hint)
#[track_caller]
fn check_diagnostic(statement: &str, expect: &[&str]) {
    let (_, diagnostics) = analyze(statement, &schema());
    let source = source(statement);
    let show = |one: &Diagnostic| {
        let hint = one.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("`{}`: {}{hint}", &source[one.span.start..one.span.end], one.message)
    };
    assert_eq!(diagnostics.iter().map(show).collect::<Vec<_>>(), expect, "{statement}");
}

#[test]
fn rows_are_found_by_key_or_by_scan() {
    check("SELECT balance INTO :b FROM accounts WHERE id = :a", "accounts: read {balance} test {id} by key");
    check(
        "SELECT balance FROM accounts WHERE :a = id AND owner > 1",
        "accounts: read {balance} test {id, owner} by key",
    );
    check("SELECT balance FROM accounts WHERE owner = :a", "accounts: read {balance} test {owner} by scan");
    check("SELECT balance FROM accounts WHERE id > :a", "accounts: read {balance} test {id} by scan");
    check("SELECT balance FROM accounts WHERE id = owner", "accounts: read {balance} test {id, owner} by scan");
    check("SELECT balance FROM accounts WHERE id = 1 OR id = 2", "accounts: read {balance} test {id} by scan");
    check("SELECT balance FROM accounts WHERE id IN (:a, :b)", "accounts: read {balance} test {id} by key");
    check("SELECT id FROM accounts WHERE email = 'x'", "accounts: read {id} test {email} by unique key");
    check("SELECT total FROM orders WHERE w = 1 AND d = :b", "orders: read {total} test {d, w} by scan");
    check("SELECT total FROM orders WHERE w = 1 AND (d = :b AND o = :c)", "orders: read {total} test {d, o, w} by key");
    check("SELECT total FROM orders WHERE (w, d, o) = (1, :b, :c)", "orders: read {total} test {d, o, w} by key");
    check("SELECT balance FROM accounts", "accounts: read {balance} by scan");
    check("SELECT 1 FROM audit", "audit: by scan");
    check("SELECT 1", "");
}

#[test]
fn rows_are_merged_and_truncated() {
    let every = "balance, email, id, owner";
    check(
        "TRUNCATE TABLE accounts, audit",
        &format!("accounts: by scan; delete {{{every}}} | audit: by scan; delete {{at, what}}"),
    );
    check(
        "MERGE INTO accounts s USING audit t ON (s.id = t.at) WHEN MATCHED THEN UPDATE SET balance = s.balance + t.at",
        "accounts: read {balance} test {id} by key; write {balance} | audit: read {at} test {at} by scan",
    );
    check(
        "MERGE INTO accounts USING (SELECT :a AS n, :b AS m) s ON (id = s.n) WHEN MATCHED THEN UPDATE SET balance = s.m \
         WHEN NOT MATCHED THEN INSERT (id, balance) VALUES (s.n, s.m)",
        &format!("accounts: test {{id}} by key; upsert {{{every}}}"),
    );
    check(
        "MERGE INTO accounts USING audit ON id = at WHEN MATCHED AND owner = 1 THEN DELETE",
        &format!("accounts: test {{id, owner}} by key; delete {{{every}}} | audit: test {{at}} by scan"),
    );
    check_uses(
        "MERGE INTO accounts USING (SELECT :a AS n) s ON id = s.n WHEN NOT MATCHED THEN INSERT (id, balance) VALUES (s.n, :b)",
        ":a, :b for accounts.balance",
    );
}

#[test]
fn locks_are_seen() {
    check(
        "SELECT balance FROM accounts WHERE id = 1 FOR UPDATE",
        "accounts: read {balance} test {id} by key for update",
    );
    check("SELECT balance FROM accounts WHERE id = 1 FOR SHARE", "accounts: read {balance} test {id} by key for share");
    let old = "SELECT balance FROM accounts WHERE id = 1 LOCK IN SHARE MODE";
    check(old, "accounts: read {balance} test {id} by key for share");
    check(
        "SELECT 1 FROM accounts s JOIN audit t ON s.id = t.at FOR UPDATE OF t",
        "accounts: test {id} by key | audit: test {at} by scan for update",
    );
}

#[test]
fn writes_name_their_columns() {
    check(
        "UPDATE accounts SET balance = balance - :a WHERE id = :b",
        "accounts: read {balance} test {id} by key; write {balance}",
    );
    check("UPDATE accounts SET balance = 0, owner = :a", "accounts: by scan; write {balance, owner}");
    check("UPDATE orders SET total = 1 WHERE w = 2", "orders: test {w} by scan; write {total}");
    check("INSERT INTO audit VALUES (1, 'x')", "audit: insert {at, what}");
    check("INSERT INTO accounts (id, owner) VALUES (:a, :b)", "accounts: insert {balance, email, id, owner}");
    check("DELETE FROM accounts WHERE id = 1", "accounts: test {id} by key; delete {balance, email, id, owner}");
    check("DELETE FROM audit", "audit: by scan; delete {at, what}");
    check(
        "UPDATE accounts SET balance = 1 WHERE id = 2 RETURNING balance, owner INTO :a, :b",
        "accounts: read {balance, owner} test {id} by key; write {balance}",
    );
}

#[test]
fn several_tables_have_several_accesses() {
    check(
        "SELECT l.amount FROM orders s JOIN lines l ON l.w = s.w AND l.d = s.d AND l.o = s.o \
         WHERE s.w = 1 AND s.d = 2 AND s.o = :a",
        "orders: test {d, o, w} by key | lines: read {amount} test {d, o, w} by scan",
    );
    check(
        "SELECT u.email FROM audit LEFT JOIN accounts u ON u.id = audit.at WHERE audit.what = 'x'",
        "audit: test {at, what} by scan | accounts: read {email} test {id} by key",
    );
    check("SELECT 1 FROM accounts v LEFT JOIN audit ON v.id = 1", "accounts: test {id} by scan | audit: by scan");
    check(
        "SELECT f.balance, t.balance FROM accounts f, accounts t WHERE f.id = :a AND t.id = :b",
        "accounts: read {balance} test {id} by key | accounts: read {balance} test {id} by key",
    );
    check(
        "SELECT amount FROM orders JOIN lines USING (w, d, o)",
        "orders: test {d, o, w} by key | lines: read {amount} test {d, o, w} by scan",
    );
    check(
        "UPDATE accounts SET balance = balance + audit.at FROM audit WHERE audit.at = accounts.id",
        "accounts: read {balance} test {id} by key; write {balance} | audit: read {at} test {at} by scan",
    );
    check(
        "DELETE t FROM accounts t JOIN audit ON audit.at = t.id",
        "accounts: test {id} by key; delete {balance, email, id, owner} | audit: test {at} by scan",
    );
}

#[test]
fn subqueries_are_looked_into() {
    check(
        "SELECT id FROM accounts WHERE owner IN (SELECT at FROM audit WHERE what = :a)",
        "accounts: read {id} test {owner} by scan | audit: read {at} test {what} by scan",
    );
    check(
        "SELECT id FROM accounts u WHERE EXISTS (SELECT 1 FROM audit WHERE at = u.id)",
        "accounts: read {id} test {id} by scan | audit: test {at} by scan",
    );
    check(
        "UPDATE accounts SET balance = (SELECT SUM(total) FROM orders WHERE customer = :a) WHERE id = :a",
        "accounts: test {id} by key; write {balance} | orders: read {total} test {customer} by scan",
    );
    check(
        "INSERT INTO audit SELECT id, email FROM accounts WHERE balance < 0",
        "audit: insert {at, what} | accounts: read {email, id} test {balance} by scan",
    );
    check(
        "WITH best AS (SELECT id, balance FROM accounts WHERE balance > 9) SELECT balance FROM best WHERE id = 1",
        "accounts: read {balance, id} test {balance} by scan",
    );
    check("SELECT s FROM (SELECT SUM(total) AS s FROM orders) q", "orders: read {total} by scan");
    check("SELECT money FROM rich WHERE id = 1", "accounts: read {balance, id} test {balance} by scan");
    check(
        "SELECT at FROM audit UNION SELECT id FROM accounts",
        "audit: read {at} by scan | accounts: read {id} by scan",
    );
}

#[test]
fn aggregates_and_orders_read_too() {
    check("SELECT COUNT(*) FROM accounts WHERE owner = 1", "accounts: test {owner} by scan");
    check(
        "SELECT owner, SUM(balance) AS s FROM accounts GROUP BY owner HAVING SUM(balance) > :a ORDER BY s",
        "accounts: read {balance, owner} test {balance} by scan",
    );
    check("SELECT id FROM accounts ORDER BY balance", "accounts: read {balance, id} by scan");
    check("SELECT id FROM accounts ORDER BY balance LIMIT 1", "accounts: read {id} test {balance} by scan");
    check("SELECT DISTINCT COALESCE(owner, :a) FROM accounts", "accounts: read {owner} by scan");
}

#[test]
fn upserts_look_first() {
    check(
        "INSERT INTO accounts (id, balance) VALUES (:a, :b) ON CONFLICT (id) DO UPDATE SET balance = accounts.balance + \
         excluded.balance",
        "accounts: read {balance} test {id} by key; upsert {balance, email, id, owner}",
    );
    check(
        "INSERT INTO accounts (id, balance) VALUES (:a, 1) ON DUPLICATE KEY UPDATE balance = balance + VALUES(balance)",
        "accounts: read {balance} test {id} by key; upsert {balance, email, id, owner}",
    );
    check(
        "INSERT IGNORE INTO accounts (id) VALUES (1), (2)",
        "accounts: test {id} by key; upsert {balance, email, id, owner}",
    );
    check(
        "REPLACE INTO accounts (email) VALUES ('x')",
        "accounts: test {email} by unique key; upsert {balance, email, id, owner}",
    );
    check("INSERT INTO audit (at) VALUES (1) ON CONFLICT DO NOTHING", "audit: upsert {at, what}");
}

#[test]
fn uses_have_their_place() {
    check_uses(
        "UPDATE accounts SET balance = balance - :a WHERE id = :b AND owner < :c + 1",
        ":b to choose by accounts.id, :c to choose by accounts.owner, :a for accounts.balance",
    );
    check_uses("INSERT INTO orders (w, total) VALUES (:a, :b * 2)", ":a for orders.w, :b for orders.total");
    check_uses("INSERT INTO audit VALUES (:a, UPPER(:b))", ":a for audit.at, :b for audit.what");
    check_uses("SELECT :a FROM accounts WHERE id IN (:b, 3) LIMIT :c", ":b to choose by accounts.id, :a, :c");
    check_uses(
        "SELECT 1 FROM accounts WHERE balance > (SELECT MAX(total) FROM orders WHERE w = :a) + :b",
        ":a to choose by orders.w, :b to choose by accounts.balance, orders.total",
    );
}

#[test]
fn conditions_are_trees() {
    check_predicate(
        "SELECT 1 FROM accounts WHERE id = :a AND (balance > 10 OR NOT owner IS NULL) AND email LIKE 'x%'",
        "(accounts.id = :a and (accounts.balance > 10 or not accounts.owner is null) and any(accounts.email))",
    );
    check_predicate(
        "SELECT 1 FROM accounts WHERE balance BETWEEN :a AND :b - 1 AND id <> -5",
        "(accounts.balance >= :a and accounts.balance <= (:b - 1) and accounts.id <> -5)",
    );
    check_predicate("DELETE FROM accounts WHERE id NOT IN (1, 'x', NULL)", "not accounts.id in (1, 'x', NULL)");
    check_predicate(
        "SELECT 1 FROM accounts, audit WHERE accounts.id = audit.at AND what = 'x'",
        "accounts.id = audit.at | (accounts.id = audit.at and audit.what = 'x')",
    );
    check_predicate("SELECT 1 FROM accounts WHERE TRUE", "true");
}

#[test]
fn definitions_come_from_columns() {
    let check = |select: &str, expect: &str| {
        let program = Program::parse(&source(select)).unwrap();
        let (access, diagnostics) = nodes::of_procedure(&program.procedures[0], &schema(), Language::Any);
        let show = |one: &nodes::Definition| {
            let origins: Vec<String> = one.origins.iter().map(ToString::to_string).collect();
            format!("{} {} {}", one.variable.name, if one.is_copy { "is" } else { "from" }, origins.join(", "))
        };
        let found: Vec<String> = access.nodes.iter().flat_map(|node| &node.defines).map(show).collect();
        assert_eq!(found.join("; "), expect, "{select}");
        assert_eq!(diagnostics, [], "{select}");
    };
    check(
        "SELECT balance, owner + id INTO :a, :b FROM accounts WHERE id = 1",
        "a is accounts.balance; b from accounts.id, accounts.owner",
    );
    check("SELECT SUM(total) INTO :a FROM orders WHERE w = 1", "a from orders.total");
    check("SELECT COUNT(*) INTO :a FROM accounts WHERE owner = :x", "a from accounts.owner");
    check("SELECT COUNT(*) INTO :a FROM orders", "a from orders.d, orders.o, orders.w");
    check("SELECT EXISTS (SELECT 1 FROM audit WHERE at = 1) INTO :a", "a from audit.at");
    check("SELECT (SELECT MAX(amount) FROM lines) INTO :a", "a from lines.amount");
    check("SELECT s INTO :a FROM (SELECT SUM(total) AS s FROM orders) q", "a from orders.total");
    check("SELECT money INTO :a FROM rich WHERE id = 1", "a from accounts.balance");
    check("SELECT * INTO :a, :b FROM audit", "a is audit.at; b is audit.what");
    check("DELETE FROM audit WHERE at = 1 RETURNING what INTO :a", "a is audit.what");
    check("OPEN k FOR SELECT id, balance FROM accounts; FETCH k INTO a, b", "a is accounts.id; b is accounts.balance");
    check("FOR a IN (SELECT w FROM orders) DO SET b = a; END FOR", "a is orders.w; b from ");
}

#[test]
fn what_is_unknown_is_said_where_it_stands() {
    check_diagnostic(
        "SELECT balence FROM accounts",
        &["`balence`: the table accounts has no column balence (did you mean balance?)"],
    );
    check_diagnostic("SELECT 1 FROM acounts", &["`acounts`: there is no table acounts (did you mean accounts?)"]);
    check_diagnostic("SELECT q.id FROM accounts u", &["`id`: q is no table of this statement (did you mean u?)"]);
    check_diagnostic(
        "UPDATE accounts SET blance = 1, zebra = :a",
        &[
            "`blance`: the table accounts has no column blance (did you mean balance?)",
            "`zebra`: the table accounts has no column zebra",
        ],
    );
    check_diagnostic(
        "INSERT INTO audit (when_, what) VALUES (1, 2)",
        &["`when_`: the table audit has no column when_"],
    );
    check_diagnostic(
        "SELECT zebra FROM accounts, audit",
        &["`zebra`: none of the tables accounts, audit has a column zebra"],
    );
    for known in [
        "SELECT id FROM accounts WHERE id = 1 FOR NO KEY UPDATE SKIP LOCKED",
        "SELECT id FROM accounts WHERE id = 1 FOR KEY SHARE",
        "SELECT SQL_NO_CACHE id FROM accounts WHERE rownum <= 10",
        "SELECT seq.nextval FROM dual",
        "INSERT INTO audit (at, what) VALUES (seq.nextval, sysdate)",
    ] {
        check_diagnostic(known, &[]);
    }
    check_diagnostic("SELEC 1", &["`SELEC`: the statement cannot be read: expected an SQL statement, found SELEC"]);
    check_diagnostic("CALL other(:a)", &["`CALL other(:a)`: what CALL reads and writes is not analysed"]);
    check_diagnostic(
        "INSERT INTO audit VALUES (1)",
        &["`INSERT INTO audit VALUES (1)`: 2 columns are to be filled with 1 values"],
    );
    check_diagnostic("SAVEPOINT s", &[]);
}

#[test]
fn one_mistake_does_not_hide_the_rest() {
    let (access, diagnostics) = analyze("SELECT balence, owner FROM accounts WHERE id = :a", &schema());
    assert_eq!(access.to_string(), "accounts: read {owner} test {id} by key");
    assert_eq!(diagnostics.len(), 1);
    let (access, _) = analyze("SELECT x, y FROM nowhere JOIN accounts ON accounts.id = nowhere.z", &schema());
    assert_eq!(access.to_string(), "nowhere: read {x, y} test {z} by scan\naccounts: test {id} by key");
}

#[test]
fn without_a_schema_names_are_taken_as_they_come() {
    let (access, diagnostics) = analyze("UPDATE t SET v = v + :a WHERE k = :b", &Schema::default());
    assert_eq!(access.to_string(), "t: read {v} test {k} by scan; write {v}");
    assert_eq!(diagnostics, []);
    let (access, _) = analyze("INSERT INTO t (k) VALUES (:a)", &Schema::default());
    assert_eq!(access.to_string(), "t: insert {*, k}");
    let (access, _) = analyze("SELECT * INTO :a FROM t", &Schema::default());
    assert_eq!(access.to_string(), "t: read {*} by scan");
}

/// The ticket booking of AGENDA's Example 1: its tables of reads, writes and parameters.
#[test]
fn the_graph_of_a_procedure_says_it_all() {
    let text = "CREATE PROCEDURE choose_seat(flight INT)\nBEGIN\n  DECLARE avail INT;\n  SELECT avail INTO :avail FROM flights \
                WHERE fltnum = :flight;\n  COMMIT;\n  IF avail > 0 THEN\n    UPDATE flights SET avail = :avail - 1 WHERE \
                fltnum = :flight;\n    COMMIT;\n  END IF;\nEND;";
    let (schema, _) = Schema::read("CREATE TABLE flights (fltnum INT, avail INT)", Language::Any);
    let program = Program::parse(text).unwrap();
    let (graph, diagnostics) = nodes::of_procedure(&program.procedures[0], &schema, Language::Any);
    assert_eq!(diagnostics, []);
    let show = |(at, node): (usize, &nodes::Node)| {
        let defines = node.defines.iter().map(|one| {
            let origins: Vec<String> = one.origins.iter().map(ToString::to_string).collect();
            format!("defines {} from {{{}}}", one.variable.name, origins.join(", "))
        });
        let uses = node.uses.iter().map(|one| format!("uses {one}"));
        let accesses = node.access.tables.iter().map(ToString::to_string);
        let parts: Vec<String> = accesses.chain(defines).chain(uses).collect();
        let next: Vec<String> = node.successors.iter().map(ToString::to_string).collect();
        format!("{at} to {}: {}", next.join(" or "), parts.join("; "))
    };
    let found: Vec<String> = graph.nodes.iter().enumerate().map(show).collect();
    assert_eq!(
        found,
        [
            "0 to 1: defines avail from {}",
            "1 to 2: flights: read {avail} test {fltnum} by scan; defines avail from {flights.avail}; \
         uses :flight to choose by flights.fltnum",
            "2 to 3: ",
            "3 to 4 or 7: uses :avail",
            "4 to 5: flights: test {fltnum} by scan; write {avail}; uses :flight to choose by flights.fltnum; \
         uses :avail for flights.avail",
            "5 to 6: ",
            "6 to 7: ",
        ]
    );
}

#[test]
fn keys_are_changed_by_updates_of_them() {
    let schema = schema();
    let existence = |statement: &str| analyze(statement, &schema).0.tables[0].writes_existence(&schema);
    assert!(existence("UPDATE accounts SET id = 2 WHERE id = 1"));
    assert!(!existence("UPDATE accounts SET owner = 2 WHERE id = 1"));
    assert!(existence("DELETE FROM accounts"));
    assert!(!existence("SELECT 1 FROM accounts"));
}

/// Each query inside of another one is looked at once, however deep it is.
#[test]
fn deep_queries_are_looked_at_once() {
    let deep = (0..12).fold("SELECT a FROM t".to_string(), |inner, _| format!("SELECT ({inner}) FROM t"));
    let text = format!(
        "-- @program 1\nCREATE TABLE t (id INT PRIMARY KEY, a INT);\n\
         CREATE PROCEDURE p() BEGIN DECLARE x INT; SELECT a INTO :x FROM t WHERE a > ({deep}); END;"
    );
    let reading = front::read(&text, &Schema::default());
    assert_eq!(reading.accesses[0].nodes.iter().map(|node| node.access.tables.len()).max(), Some(14));
}
