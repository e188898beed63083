//! Whole logs: what becomes of them.

use txloom_core::program::schema::Schema;

use super::*;

const SHOP: &str = "CREATE TABLE items (id INT PRIMARY KEY, name TEXT, stock INT NOT NULL);
    CREATE TABLE orders (id INT PRIMARY KEY, item INT NOT NULL, quantity INT NOT NULL);";

fn schema() -> Schema {
    Schema::read(SHOP, Language::Any).0
}

fn read_text(text: &[u8]) -> LogReading {
    read_from(text, "app.log", &schema(), &[]).unwrap()
}

/// A log of PostgreSQL: session and statement.
fn log(statements: &[(u32, &str)]) -> String {
    let line = |(session, text): &(u32, &str)| format!("2024-05-01 10:00:00.1 UTC [{session}] LOG:  statement: {text}\n");
    statements.iter().map(line).collect()
}

fn program(text: &str) -> String {
    read_text(text.as_bytes()).program.to_string()
}

#[test]
fn a_read_and_a_write_of_the_same_row_are_tied() {
    let text = log(&[
        (1, "BEGIN"),
        (1, "SELECT stock FROM items WHERE id = 7"),
        (1, "UPDATE items SET stock = 9 WHERE id = 7"),
        (1, "COMMIT"),
    ]);
    assert_eq!(
        program(&text),
        "-- @program 1
CREATE PROCEDURE select_items_update_items(items_id INT, stock_change INT, items_id_2 INT)
BEGIN
  DECLARE stock INT;
  SELECT stock FROM items WHERE id = :items_id INTO :stock;
  DECLARE new_stock INT;
  SET new_stock = :stock + :stock_change;
  UPDATE items SET stock = :new_stock WHERE id = :items_id_2;
  COMMIT;
END;
"
    );
}
