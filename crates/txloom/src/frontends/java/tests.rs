//! Java → our notation.

use txloom_core::program::schema::Schema;
use txloom_core::program::{Language, Program};

use crate::analyze::SourceFile;
use crate::frontends;

const SCHEMA: &str = "CREATE TABLE accounts (id INT PRIMARY KEY, owner VARCHAR(20), balance INT NOT NULL);
CREATE TABLE log (id INT PRIMARY KEY, account INT, amount INT, note VARCHAR(100));";

/// The programs of files, as text.
fn program(sources: &[&str]) -> String {
    let (schema, _) = Schema::read(SCHEMA, Language::Any);
    let file = |(at, text): (usize, &&str)| SourceFile { name: format!("F{at}.java"), text: text.to_string() };
    let files: Vec<SourceFile> = sources.iter().enumerate().map(file).collect();
    let readings = frontends::read(&files, &schema, Language::Any);
    let procedures = readings.into_iter().flat_map(|(_, reading)| reading.procedures).collect();
    let text = Program { procedures }.to_string();
    text.trim_start_matches("-- @program 1\n").to_string()
}

/// One method of a class with a connection.
fn method(code: &str) -> String {
    program(&[&format!("public class App {{ private Connection conn; {code} }}")])
}

#[test]
fn a_row_is_read_and_written() {
    let text = method(
        r#"public void deposit(int id, int amount) throws SQLException {
            PreparedStatement stmt = conn.prepareStatement("SELECT balance FROM accounts WHERE id = ?");
            stmt.setInt(1, id);
            ResultSet rs = stmt.executeQuery();
            if (!rs.next()) throw new RuntimeException("no account " + id);
            int balance = rs.getInt("balance");
            PreparedStatement update = conn.prepareStatement("UPDATE accounts SET balance = ? WHERE id = ?");
            update.setInt(1, balance + amount);
            update.setInt(2, id);
            update.executeUpdate();
        }"#,
    );
    let expected = "CREATE PROCEDURE deposit(id INT, amount INT)
BEGIN
  DECLARE balance INT;
  SELECT balance INTO FIRST :balance FROM accounts WHERE id = :id;
  IF NOT FOUND() THEN
    SIGNAL 'no account …';
  END IF;
  DECLARE update_1 VARCHAR DEFAULT :balance + :amount;
  UPDATE accounts SET balance = :update_1 WHERE id = :id;
END;
";
    assert_eq!(text, expected);
}
