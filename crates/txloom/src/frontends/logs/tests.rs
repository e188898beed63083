//! Whole logs: what becomes of them.

use proptest::prelude::*;
use txloom_core::program::schema::Schema;

use super::*;

const SHOP: &str = "CREATE TABLE items (id INT PRIMARY KEY, name TEXT, stock INT NOT NULL);
    CREATE TABLE orders (id INT PRIMARY KEY, item INT NOT NULL, quantity INT NOT NULL);";

fn schema() -> Schema {
    Schema::read(SHOP, Language::Any).0
}

fn read_text(text: &[u8]) -> LogReading {
    read_from(io::Cursor::new(text), "app.log", &schema(), &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// A log of PostgreSQL from lines of a session and a statement: `1 BEGIN`.
fn log(text: &str) -> String {
    let line = |line: &str| {
        let (session, rest) = line.trim().split_once(' ').unwrap_or((line, ""));
        let label = if rest.starts_with("ERROR") || rest.starts_with("STATEMENT") { "" } else { "LOG:  statement: " };
        format!("2024-05-01 10:00:00.1 UTC [{session}] {label}{rest}\n")
    };
    text.lines().filter(|it| !it.trim().is_empty()).map(line).collect()
}

#[track_caller]
fn check(text: &str, expect: &str) {
    let reading = read_text(log(text).as_bytes());
    let printed = reading.program.to_string().replace("-- @program 1\n", "");
    assert_eq!(printed.trim(), expect.trim());
    assert_eq!(Program::parse(&reading.program.to_string()).unwrap(), reading.program, "it can be read again");
}

#[test]
fn a_read_and_a_write_of_the_same_row_are_tied() {
    check(
        "1 BEGIN
         1 SELECT stock FROM items WHERE id = 7
         1 UPDATE items SET stock = 9 WHERE id = 7
         1 COMMIT",
        "CREATE PROCEDURE select_items_update_items(items_id INT, stock_change INT, items_id_2 INT)
BEGIN
  DECLARE stock INT;
  SELECT stock FROM items WHERE id = :items_id INTO :stock;
  DECLARE new_stock INT;
  SET new_stock = :stock + :stock_change;
  UPDATE items SET stock = :new_stock WHERE id = :items_id_2;
  COMMIT;
END;",
    );
}

#[test]
fn a_name_ends_where_a_value_did() {
    check(
        "1 SELECT stock FROM items WHERE id = '7'AND stock > 0",
        "CREATE PROCEDURE select_items(items_id INT, stock INT)
BEGIN
  SELECT stock FROM items WHERE id = :items_id AND stock > :stock;
  COMMIT;
END;",
    );
}

#[test]
fn colons_are_no_variables() {
    check(
        "1 SELECT stock FROM items WHERE name = (a)[lo:hi]",
        "CREATE PROCEDURE select_items()
BEGIN
  SELECT stock FROM items WHERE name = (a)[lo: hi];
  COMMIT;
END;",
    );
}

#[test]
fn what_is_no_statement_is_named() {
    let update = "UPDATE items SET stock = 1 WHERE id = 1";
    let reading =
        read_text(log(&format!("1 {update}\n1 UPDATE\"items SET stock = 2 WHERE id = 1\n1 {update}")).as_bytes());
    assert_eq!((reading.survey.statements, reading.survey.committed, reading.survey.dropped), (3, 2, 1));
    assert_eq!(reading.program.procedures.len(), 1);
    let said: Vec<String> = reading.diagnostics.iter().map(|one| one.to_string()).collect();
    assert_eq!(said, ["warning: line 2: 1 of 3 lines could not be read, this first"]);
}

#[test]
fn what_is_no_number_depends_on_what_was_read_by_a_condition() {
    check(
        "1 BEGIN
         1 SELECT name FROM items WHERE id = 7
         1 UPDATE items SET name = 'x' WHERE id = 7
         1 COMMIT",
        "CREATE PROCEDURE select_items_update_items(items_id INT, name TEXT, items_id_2 INT)
BEGIN
  DECLARE name_2 TEXT;
  SELECT name FROM items WHERE id = :items_id INTO :name_2;
  IF :name_2 IS NOT NULL THEN
    UPDATE items SET name = :name WHERE id = :items_id_2;
  END IF;
  COMMIT;
END;"
            .replace("items_id INT, name TEXT", "items_id INT, name_2 TEXT")
            .replace("DECLARE name_2", "DECLARE name")
            .replace(":name_2;", ":name;")
            .replace("IF :name_2", "IF :name")
            .replace("SET name = :name", "SET name = :name_2")
            .as_str(),
    );
}

/// Five rows are there; each call takes some pieces of one.
fn shopping(calls: &[(i64, i64)]) -> String {
    let mut stock = [100; 5];
    let mut text = String::new();
    for item in 0..5 {
        text += &format!("9 INSERT INTO items (id, name, stock) VALUES ({item}, 'x', 100)\n");
    }
    for (at, (item, quantity)) in calls.iter().enumerate() {
        let rest = &mut stock[*item as usize];
        *rest -= quantity;
        text += &format!(
            "1 BEGIN\n1 SELECT stock FROM items WHERE id = {item}\n1 UPDATE items SET stock = {rest} WHERE id = {item}\n\
             1 INSERT INTO orders (id, item, quantity) VALUES ({at}, {item}, {quantity})\n1 COMMIT\n"
        );
    }
    text
}

#[test]
fn what_every_occurrence_agrees_on_is_said() {
    check(
        &shopping(&[(1, 2), (2, 3), (1, 1), (4, 2)]),
        "CREATE PROCEDURE insert_items(items_id INT)
BEGIN
  INSERT INTO items (id, name, stock) VALUES (:items_id, 'x', 100);
  COMMIT;
END;

CREATE PROCEDURE select_items_update_items_insert_orders(items_id INT, quantity INT, orders_id INT)
BEGIN
  DECLARE stock INT;
  SELECT stock FROM items WHERE id = :items_id INTO :stock;
  DECLARE new_stock INT;
  SET new_stock = :stock - :quantity;
  UPDATE items SET stock = :new_stock WHERE id = :items_id;
  INSERT INTO orders (id, item, quantity) VALUES (:orders_id, :items_id, :quantity);
  COMMIT;
END;",
    );
}

#[test]
fn loops_are_rounds() {
    let line = |order: u32, item: u32| format!("1 INSERT INTO orders VALUES ({order}, {item}, 1)\n");
    let order = |order: u32, items: &[u32]| {
        let lines: String = items.iter().map(|item| line(order * 10 + item, *item)).collect();
        format!("1 BEGIN\n1 SELECT name FROM items WHERE name = 'x{order}'\n{lines}1 COMMIT\n")
    };
    let text = [order(1, &[1]), order(2, &[2, 3]), order(3, &[4, 5, 6])].concat();
    let reading = read_text(log(&text).as_bytes());
    assert_eq!(reading.survey.procedures, [("select_items_insert_orders".to_string(), 3)]);
    let printed = reading.program.to_string();
    assert!(
        printed.contains("  IF :rounds >= 2 THEN\n    INSERT INTO orders VALUES (:orders_id_2, :item_2, 1);"),
        "{printed}"
    );
    // Several rows in one statement are the same.
    let rows = text.replace(")\n1 INSERT INTO orders VALUES", "),");
    assert_eq!(read_text(log(&rows).as_bytes()).survey.procedures, reading.survey.procedures);
}

#[test]
fn numbers_may_come_from_sums() {
    check(
        "1 BEGIN
         1 SELECT MAX(id) FROM orders
         1 INSERT INTO orders (id, item, quantity) VALUES (5, 1, 1)
         1 COMMIT",
        "CREATE PROCEDURE select_orders_insert_orders(orders_id_change INT, item INT, quantity INT)
BEGIN
  DECLARE max INT;
  SELECT MAX(id) FROM orders INTO :max;
  DECLARE new_id INT;
  SET new_id = :max + :orders_id_change;
  INSERT INTO orders (id, item, quantity) VALUES (:new_id, :item, :quantity);
  COMMIT;
END;",
    );
    check(
        "1 BEGIN
         1 SELECT SUM(quantity) FROM orders WHERE item = 1
         1 UPDATE items SET stock = stock - 7 WHERE id = 1
         1 COMMIT",
        "CREATE PROCEDURE select_orders_update_items(item INT, stock_change INT, items_id INT)
BEGIN
  DECLARE sum INT;
  SELECT SUM(quantity) FROM orders WHERE item = :item INTO :sum;
  DECLARE new_stock INT;
  SET new_stock = :sum + :stock_change;
  UPDATE items SET stock = stock - :new_stock WHERE id = :items_id;
  COMMIT;
END;",
    );
}

#[test]
fn what_always_follows_belongs_to_it() {
    let mut text = String::new();
    for (item, rest) in [(1, 9), (2, 8), (3, 7), (1, 6)] {
        text += &format!("1 BEGIN\n1 SELECT stock FROM items WHERE id = {item}\n1 COMMIT\n");
        text += &format!("1 BEGIN\n1 UPDATE items SET stock = {rest} WHERE id = {item}\n1 COMMIT\n");
    }
    check(
        &text,
        "CREATE PROCEDURE select_items_update_items(items_id INT, stock_change INT)
BEGIN
  DECLARE stock INT;
  SELECT stock FROM items WHERE id = :items_id INTO :stock;
  COMMIT;
  DECLARE new_stock INT;
  SET new_stock = :stock + :stock_change;
  UPDATE items SET stock = :new_stock WHERE id = :items_id;
  COMMIT;
END;",
    );
    // Once without a read before it, it stands on its own.
    let reading = read_text(
        log(&(text + "2 BEGIN\n2 COMMIT\n2 DELETE FROM items\n2 UPDATE items SET stock = 1 WHERE id = 1")).as_bytes(),
    );
    assert_eq!(reading.program.procedures.len(), 3);
}

#[track_caller]
fn check_survey(text: &str, expect: &[(&str, u64)]) {
    let survey = read_text(log(text).as_bytes()).survey;
    let found = [
        ("transactions", survey.transactions),
        ("committed", survey.committed),
        ("control", survey.control),
        ("noise", survey.noise),
        ("failed", survey.failed),
        ("dropped", survey.dropped),
        ("rolled back", survey.rolled_back),
        ("cut", survey.cut),
        ("unfinished", survey.unfinished),
    ];
    let found: Vec<(&str, u64)> = found.into_iter().filter(|(_, count)| *count > 0).collect();
    assert_eq!(found, expect, "{text}");
}

#[test]
fn sessions_are_cut_into_transactions() {
    let select = "SELECT stock FROM items WHERE id = 1";
    let update = "UPDATE items SET stock = 1 WHERE id = 1";
    // Every statement on its own; pings and settings do not count.
    check_survey(
        &format!("1 SET NAMES utf8\n1 {update}\n1 SELECT 1\n1 {select}\n2 BEGIN\n2 COMMIT"),
        &[("transactions", 2), ("committed", 2), ("control", 2), ("noise", 2)],
    );
    // The log begins in the middle.
    check_survey(
        &format!("1 {update}\n1 COMMIT\n1 BEGIN\n1 {update}"),
        &[("control", 2), ("dropped", 2), ("cut", 1), ("unfinished", 1)],
    );
    // What fails is left out.
    check_survey(
        &format!("1 BEGIN\n1 {select}\n1 {update}\n1 ERROR:  no\n1 STATEMENT:  {update}\n1 {select}\n1 COMMIT"),
        &[("control", 2), ("failed", 2), ("dropped", 1), ("rolled back", 1)],
    );
    // Reads that end with ROLLBACK are reads.
    check_survey(
        &format!("1 BEGIN\n1 {select}\n1 ROLLBACK\n1 BEGIN\n1 {update}\n1 ROLLBACK"),
        &[("transactions", 1), ("committed", 1), ("control", 4), ("dropped", 1), ("rolled back", 1)],
    );
    // Savepoints undo a part, and failures.
    check_survey(
        &format!(
            "1 BEGIN\n1 {select}\n1 SAVEPOINT a\n1 {update}\n1 ERROR:  no\n1 STATEMENT:  {update}\n1 ROLLBACK TO a\n\
             1 {select}\n1 COMMIT"
        ),
        &[("transactions", 1), ("committed", 2), ("control", 4), ("failed", 1)],
    );
    // A COMMIT can fail.
    check_survey(
        &format!("1 BEGIN\n1 {update}\n1 COMMIT\n1 ERROR:  no\n1 STATEMENT:  COMMIT"),
        &[("control", 2), ("dropped", 1), ("rolled back", 1)],
    );
    // Several statements in one message are one transaction.
    check_survey(
        &format!("1 BEGIN\n1 COMMIT\n1 {select}; {update}"),
        &[("transactions", 1), ("committed", 2), ("control", 2)],
    );
}

#[test]
fn places_are_those_of_the_log() {
    let text = log("1 BEGIN\n1 SELECT 1\n1 SELECT stock FROM items WHERE id = 7\n1 COMMIT");
    let reading = read_text(text.as_bytes());
    let span = reading.program.procedures[0].body[0].span;
    assert_eq!(span.line, 3);
    assert_eq!(&reading.excerpt.text[span.start..span.end], "SELECT stock FROM items WHERE id = 7");
    assert_eq!(reading.excerpt.text, format!("{}\n", text.lines().nth(2).unwrap_or_default()));
}

#[test]
fn what_is_no_log_is_said_to_be_none() {
    let error =
        |text: &str| read_from(io::Cursor::new(text.as_bytes()), "x.log", &schema(), &[]).unwrap_err().to_string();
    assert!(error("hello\nworld\n").starts_with("x.log is no log that is understood"));
    assert!(error("").starts_with("x.log is no log that is understood"));
    assert!(error("db=d LOG:  statement: SELECT 1\n").contains("put %p or %c into log_line_prefix"));
}

#[test]
fn other_encodings_are_read_and_counted() {
    let mut text = log("1 SELECT name FROM items WHERE name = 'gr?n'").into_bytes();
    let at = text.iter().position(|byte| *byte == b'?').unwrap_or_default();
    text[at] = 0xfc;
    let survey = read_text(&text).survey;
    assert_eq!((survey.transactions, survey.not_text, survey.understood), (1, 1, 1));
}

fn mysql(calls: &[(i64, i64)]) -> String {
    let lines = shopping(calls);
    let lines = lines.lines().filter_map(|line| line.split_once(' '));
    let lines = lines.enumerate().map(|(at, (session, text))| match at % 3 {
        0 => format!("240501 10:00:{:02}\t    {session} Query\t{text}\n", at % 60),
        1 => format!("\t\t    {session} Query\t{}\n", text.replacen(" FROM ", "\n  FROM ", 1)),
        _ => format!("2024-05-01T10:00:00.123456Z\t    {session} Execute\t{text}\n"),
    });
    lines.collect()
}

#[test]
fn constants_are_written_as_all_understand_them() {
    let lines =
        ["BEGIN", "SELECT stock FROM items WHERE name = 'it\\'s'", "DELETE FROM items WHERE name = \"b\"", "COMMIT"];
    let calls = lines.repeat(4);
    let text: String = calls.iter().map(|line| format!("240501 10:00:00\t    7 Query\t{line}\n")).collect();
    assert_eq!(
        read_text(text.as_bytes()).program.to_string().trim(),
        "-- @program 1
CREATE PROCEDURE select_items_delete_items()
BEGIN
  SELECT stock FROM items WHERE name = 'it''s';
  DELETE FROM items WHERE name = 'b';
  COMMIT;
END;"
    );
}

fn json(text: &str) -> String {
    let record = |line: &str| {
        let (head, message) = line.split_once(" LOG:  ").unwrap_or((line, ""));
        let pid = head.split(['[', ']']).nth(1).unwrap_or("0");
        format!("{{\"pid\":{pid},\"error_severity\":\"LOG\",\"message\":\"{message}\"}}\n")
    };
    text.lines().map(record).collect()
}

fn csv(text: &str) -> String {
    let record = |line: &str| {
        let (head, message) = line.split_once(" LOG:  ").unwrap_or((line, ""));
        let pid = head.split(['[', ']']).nth(1).unwrap_or("0");
        format!(
            "2024-05-01 10:00:00.1 UTC,\"u\",\"d\",{pid},,663.{pid},1,,,,0,LOG,00000,\"{message}\",,,,,,,,,\"\",\"\",,0\n"
        )
    };
    text.lines().map(record).collect()
}

#[test]
fn all_formats_say_the_same() {
    let calls = [(1, 2), (2, 3), (1, 1), (4, 2)];
    let text = log(&shopping(&calls));
    let expect = read_text(text.as_bytes()).program.to_string();
    for other in [json(&text), csv(&text), mysql(&calls)] {
        let printed = read_text(other.as_bytes()).program.to_string();
        let printed: Vec<&str> = printed.split_whitespace().collect();
        assert_eq!(printed, expect.split_whitespace().collect::<Vec<_>>(), "{other}");
    }
}

proptest! {
    /// Whatever happens to a log, what can be read is read, and nothing breaks.
    #[test]
    fn damaged_logs_are_read(
        format in 0_usize..4,
        cut in 0_usize..4000,
        flips in prop::collection::vec((any::<usize>(), any::<u8>()), 0..12),
        swaps in prop::collection::vec((any::<usize>(), any::<usize>()), 0..12),
    ) {
        let calls = [(1, 2), (2, 3), (1, 1), (4, 2)];
        let text = log(&shopping(&calls));
        let text = [text.clone(), json(&text), csv(&text), mysql(&calls)][format].clone();
        let mut lines: Vec<&str> = text.lines().collect();
        for (a, b) in swaps {
            let length = lines.len();
            lines.swap(a % length, b % length);
        }
        let mut bytes = lines.join("\n").into_bytes();
        bytes.truncate(cut.max(1).min(bytes.len()));
        for (at, byte) in flips {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        if let Ok(reading) = read_from(io::Cursor::new(&bytes[..]), "x", &schema(), &[]) {
            let survey = &reading.survey;
            let besides = survey.control + survey.noise + survey.definitions;
            let told = besides + survey.failed + survey.dropped + survey.committed;
            prop_assert!(told >= survey.statements.saturating_sub(survey.failed + survey.dropped), "{:?}", survey);
            for procedure in &reading.program.procedures {
                prop_assert!(reading.excerpt.text.get(procedure.span.start..procedure.span.end).is_some());
            }
        }
    }
}
