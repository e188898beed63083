//! Which statements of small programs meet.

use super::*;
use crate::program::front::{self, Reading};

const TABLES: &str = "-- @program 1
CREATE TABLE customers (id INT PRIMARY KEY, name TEXT);
CREATE TABLE accounts (id INT PRIMARY KEY, owner INT REFERENCES customers (id), kind INT, balance INT);
CREATE TABLE lines (n INT PRIMARY KEY, account INT REFERENCES accounts (id) ON DELETE CASCADE, amount INT);
CREATE TABLE audit (at INT, what TEXT);
";

fn read(statements: &[&str]) -> Reading {
    let procedure = |(at, body): (usize, &&str)| {
        let name = (b'a' + at as u8) as char;
        format!("CREATE PROCEDURE {name}(x INT, y INT) BEGIN DECLARE v INT; {body}; COMMIT; END;\n")
    };
    let text = TABLES.to_string() + &statements.iter().enumerate().map(procedure).collect::<String>();
    let reading = front::read(&text, &Schema::default());
    assert_eq!(reading.diagnostics, [], "{statements:?}");
    reading
}

fn conflicts(statements: &[&str], options: Options) -> Conflicts {
    let reading = read(statements);
    let given: Vec<Given<'_>> = reading.accesses.iter().map(|access| Given { access, autocommit: false }).collect();
    Conflicts::of(&given, &reading.schema, options)
}

/// The dependencies from statements of the first to statements of the last procedure: `wr accounts balance`.
fn between(statements: &[&str], options: Options) -> String {
    let conflicts = conflicts(statements, options);
    let last = u16::try_from(statements.len() - 1).unwrap();
    let wanted =
        |edge: &&Conflict| conflicts.site(edge.from).procedure == 0 && conflicts.site(edge.to).procedure == last;
    let show = |edge: &Conflict| {
        let columns: Vec<String> = edge.columns.iter().map(ToString::to_string).collect();
        format!("{} {} {}", edge.kind, conflicts.tables[usize::from(edge.table)], columns.join(" "))
    };
    conflicts.edges.iter().filter(wanted).map(show).collect::<Vec<_>>().join(", ")
}

const EXTERNAL: Options = Options { external: true, references: false, rollbacks: true };

#[track_caller]
fn check(first: &str, second: &str, expect: &str) {
    assert_eq!(between(&[first, second], EXTERNAL), expect, "{first} | {second}");
}

const READ: &str = "SELECT balance INTO :v FROM accounts WHERE id = :x";
const SET: &str = "UPDATE accounts SET balance = :y WHERE id = :x";
const ADD: &str = "UPDATE accounts SET balance = balance + :y WHERE id = :x";
const INSERT: &str = "INSERT INTO accounts (id, owner, kind, balance) VALUES (:x, 1, 1, :y)";
const DELETE: &str = "DELETE FROM accounts WHERE id = :x";

#[test]
fn columns_decide() {
    check(READ, SET, "rw accounts balance");
    check(SET, READ, "wr accounts balance");
    check(SET, SET, "ww accounts balance");
    check(ADD, ADD, "wr accounts balance, rw accounts balance, ww accounts balance");
    check(READ, "UPDATE accounts SET kind = 1 WHERE id = :x", "");
    check(READ, READ, "");
    check("SELECT kind INTO :v FROM accounts WHERE balance > 3", SET, "rw accounts balance");
    check("UPDATE accounts SET kind = 2 WHERE balance = 1", SET, "rw accounts balance");
    check(READ, "UPDATE customers SET name = 'x'", "");
}

#[test]
fn existence_is_a_column() {
    check(READ, INSERT, "rw accounts existence balance id");
    check(INSERT, READ, "wr accounts existence balance id");
    check(READ, DELETE, "rw accounts existence balance id");
    check("SELECT COUNT(*) INTO :v FROM accounts", INSERT, "rw accounts existence");
    check("SELECT COUNT(*) INTO :v FROM accounts", SET, "");
    check(SET, DELETE, "rw accounts existence id, ww accounts balance");
    check(DELETE, SET, "wr accounts existence id, ww accounts balance");
    check(
        DELETE,
        DELETE,
        "wr accounts existence id, rw accounts existence id, ww accounts existence balance id kind owner",
    );
    check("UPDATE accounts SET id = :y WHERE id = :x", READ, "wr accounts existence balance id");
    check(
        "SELECT COUNT(*) INTO :v FROM accounts",
        "UPDATE accounts SET id = :y WHERE id = :x",
        "rw accounts existence",
    );
}

#[test]
fn inserts_collide_by_their_keys() {
    const COLLIDE: &str = "wr accounts existence, rw accounts existence, ww accounts existence balance id kind owner";
    let internal = Options { external: false, ..EXTERNAL };
    assert_eq!(between(&[INSERT, INSERT], internal), "ww accounts existence balance id kind owner");
    assert!(between(&[INSERT, DELETE], EXTERNAL).starts_with("wr accounts existence id, rw accounts existence, "));
    check(INSERT, INSERT, COLLIDE);
    check("INSERT INTO audit (at, what) VALUES (:x, 'x')", "INSERT INTO audit (at, what) VALUES (:x, 'x')", "");
    check("INSERT INTO accounts (id) VALUES (1)", "INSERT INTO accounts (id) VALUES (2)", "");
    check("INSERT INTO accounts (id, kind) VALUES (:x, 1)", "INSERT INTO accounts (id, kind) VALUES (:x, 2)", COLLIDE);
    check("INSERT INTO accounts (id) VALUES (:x), (3)", "INSERT INTO accounts (id) VALUES (2)", COLLIDE);
}

#[test]
fn constants_tell_rows_apart() {
    let by = |condition: &str| format!("SELECT balance INTO :v FROM accounts WHERE {condition}");
    let update = |condition: &str| format!("UPDATE accounts SET balance = 1 WHERE {condition}");
    let meets = |a: &str, b: &str| !between(&[&by(a), &update(b)], EXTERNAL).is_empty();
    for (a, b, expect) in [
        ("id = 1", "id = 2", false),
        ("id = 1", "id = 1.0", true),
        ("id = 1", "id = :x", true),
        ("id = 1 AND kind = 1", "id = 1 AND kind = 2", false),
        ("id = 1", "id IN (2, 3)", false),
        ("id IN (1, 2)", "id IN (2, 3)", true),
        ("id = 1 OR id = 2", "id = 3", false),
        ("id = 1 OR kind = 2", "id = 3", true),
        ("id > 5", "id < 5", false),
        ("id >= 5", "5 >= id", true),
        ("id > 5", "id <= 5", false),
        ("id > 5", "id = 5", false),
        ("id <> 5", "id = 5", false),
        ("id BETWEEN 1 AND 3", "id = 4", false),
        ("kind = 1", "kind = 2", false),
        ("balance = 1", "balance = 2", true),
        ("kind = 'a'", "kind = 'A '", true),
        ("kind = 'a'", "kind = 'b'", false),
    ] {
        assert_eq!(meets(a, b), expect, "{a} | {b}");
    }
    // As soon as anybody updates it, the column tells nothing any more.
    let change = "UPDATE accounts SET kind = 3";
    assert_ne!(between(&[&by("kind = 1"), change, &update("kind = 2")], EXTERNAL), "");
    assert_ne!(between(&[&by("kind = 1"), "INSERT INTO accounts (id, kind) VALUES (:x, 2)"], EXTERNAL), "");
}

#[test]
fn unused_reads_are_dropped() {
    let read = "SELECT balance, kind INTO :v, :y FROM accounts WHERE id = :x";
    let write = "UPDATE accounts SET balance = 1, kind = 1 WHERE id = :x";
    let of = |body: &str, options| between(&[body, write], options);
    assert_eq!(of(read, EXTERNAL), "rw accounts balance kind");
    assert_eq!(of(read, Options::default()), "");
    let used = format!("{read}; INSERT INTO audit (at, what) VALUES (:v, 'x')");
    assert_eq!(of(&used, Options::default()), "rw accounts balance");
}

#[test]
fn foreign_keys_read() {
    let engine = Options { references: true, ..EXTERNAL };
    let both = |first: &str, second: &str, expect: &str| {
        assert_eq!(between(&[first, second], engine), expect, "{first} | {second}");
    };
    let customer = "DELETE FROM customers WHERE id = :x";
    both(INSERT, customer, "wr accounts existence owner, rw customers existence");
    both(INSERT, "UPDATE customers SET name = 'x' WHERE id = :x", "");
    both("UPDATE accounts SET owner = 2 WHERE id = :x", customer, "wr accounts owner, rw customers existence");
    both("UPDATE accounts SET owner = 2 WHERE id = :x", "DELETE FROM customers WHERE id = 3", "wr accounts owner");
    both(SET, customer, "");
    both("SELECT amount INTO :v FROM lines WHERE n = :x", DELETE, "rw lines existence amount n");
    check(INSERT, customer, "");
}

#[test]
fn what_is_undone_is_written_again() {
    let take = "UPDATE accounts SET balance = 1 WHERE id = :x; IF :y > 1 THEN ROLLBACK; END IF";
    let conflicts = conflicts(&[take, &format!("{READ}; UPDATE audit SET at = :v")], Options::default());
    let undo = conflicts.sites.iter().position(|site| site.undoes).unwrap() as u16;
    assert_eq!(conflicts.undone(undo).len(), 1);
    let into: Vec<&Conflict> = conflicts.edges.iter().filter(|edge| edge.to == undo).collect();
    assert!(into.iter().all(|edge| edge.kind == Kind::Rw) && !into.is_empty());
    assert_eq!(conflicts.edges_from(undo).len(), 0);
    let committed = "UPDATE accounts SET balance = 1 WHERE id = :x; COMMIT; IF :y > 1 THEN ROLLBACK; END IF";
    assert!(!self::conflicts(&[committed, READ], EXTERNAL).sites.iter().any(|site| site.undoes));
}

#[test]
fn rows_of_one_call_are_recognized() {
    let rows = |body: &str| {
        let conflicts = conflicts(&[body], EXTERNAL);
        let touches: Vec<Option<Row>> = conflicts.touches.iter().flatten().map(|touch| touch.row).collect();
        let number = |row: &Option<Row>| row.map_or("-".to_string(), |row| row.number.to_string());
        touches.iter().map(number).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(rows(&format!("{READ}; {SET}")), "0 0");
    assert_eq!(rows(&format!("{READ}; UPDATE accounts SET balance = 1 WHERE id = :y")), "0 1");
    assert_eq!(rows(&format!("{READ}; SET x = 2; {SET}")), "- -");
    assert_eq!(
        rows(&format!("{READ}; UPDATE accounts SET kind = 1 WHERE id = :v; DELETE FROM accounts WHERE id = :v")),
        "0 1 1"
    );
    assert_eq!(rows("WHILE :v < 2 DO SET v = :v + 1; UPDATE accounts SET kind = 1 WHERE id = :v; END WHILE"), "-");
    assert_eq!(rows(&format!("{INSERT}; {READ}; SELECT kind FROM accounts WHERE owner = 1")), "0 0 -");
}
