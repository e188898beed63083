//! Java → our notation.

use txloom_core::program::schema::Schema;
use txloom_core::program::{Diagnostic, Language, Program, front};

use crate::analyze::SourceFile;
use crate::frontends::{self, FileReading};

const SCHEMA: &str = "CREATE TABLE accounts (id INT PRIMARY KEY, owner VARCHAR(20), balance INT NOT NULL);
CREATE TABLE log (id INT PRIMARY KEY, account INT, amount INT, note VARCHAR(100));";

fn readings(sources: &[&str]) -> Vec<FileReading> {
    let (schema, _) = Schema::read(SCHEMA, Language::Any);
    let file = |(at, text): (usize, &&str)| SourceFile::new(format!("F{at}.java"), text.to_string());
    let files: Vec<SourceFile> = sources.iter().enumerate().map(file).collect();
    frontends::read(&files, &schema, Language::Any).into_iter().map(|(_, reading)| reading).collect()
}

/// The program of some files, as text; it can be read again.
fn program(sources: &[&str]) -> String {
    let procedures = readings(sources).into_iter().flat_map(|reading| reading.procedures).collect();
    let program = Program { procedures };
    let text = program.to_string();
    let (schema, _) = Schema::read(SCHEMA, Language::Any);
    assert_eq!(front::read(&text, &schema).program, program, "{text}");
    text.trim_start_matches("-- @program 1\n").to_string()
}

/// Methods of a class with a connection.
fn class(code: &str) -> String {
    format!("public class App {{ private Connection conn; {code} }}")
}

/// What a method with these statements does, without its first and last lines.
fn body(parameters: &str, code: &str) -> String {
    let text = program(&[&class(&format!("public void m({parameters}) throws SQLException {{ {code} }}"))]);
    let lines: Vec<&str> = text.lines().collect();
    let inner = lines.get(2..lines.len().saturating_sub(1)).unwrap_or_default();
    inner.iter().map(|line| line.trim_start_matches("  ")).collect::<Vec<_>>().join("\n")
}

fn check(parameters: &str, code: &str, expected: &str) {
    let expected: Vec<&str> = expected.trim().lines().map(str::trim).collect();
    let found = body(parameters, code);
    let found: Vec<&str> = found.lines().map(str::trim).collect();
    assert_eq!(found, expected, "{code}");
}

/// A count that is compared is a number, although no variable of the source says so.
#[test]
fn what_is_counted_is_a_number() {
    check(
        "int account, int most",
        r#"PreparedStatement stmt = conn.prepareStatement("SELECT COUNT(*) FROM log WHERE account = ?");
           stmt.setInt(1, account);
           ResultSet rs = stmt.executeQuery();
           if (rs.next() && rs.getInt(1) >= most) throw new IllegalStateException("enough");
           conn.commit();"#,
        "DECLARE rs_count BIGINT;
         SELECT COUNT(*) INTO :rs_count FROM log WHERE account = :account;
         IF FOUND() AND :rs_count >= :most THEN
           SIGNAL 'enough';
         END IF;
         COMMIT;",
    );
}

#[test]
fn a_row_is_read_and_written() {
    let text = program(&[&class(
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
    )]);
    let expected = "CREATE PROCEDURE deposit(id INT, amount INT)
BEGIN
  DECLARE balance INT;
  SELECT balance INTO :balance FROM accounts WHERE id = :id;
  IF NOT FOUND() THEN
    SIGNAL 'no account …';
  END IF;
  DECLARE update_1 INT DEFAULT :balance + :amount;
  UPDATE accounts SET balance = :update_1 WHERE id = :id;
END;
";
    assert_eq!(text, expected);
}

#[test]
fn texts_that_are_kept_are_joined() {
    check(
        "int id, String owner",
        r#"String note = "for " + owner + ", no. " + id;
        PreparedStatement insert = conn.prepareStatement("INSERT INTO log VALUES (?, 1, 0, ?)");
        insert.setInt(1, id);
        insert.setString(2, note + "!");
        insert.executeUpdate();"#,
        "DECLARE insert_2 VARCHAR DEFAULT 'for ' || :owner || ', no. ' || :id || '!';
        INSERT INTO log VALUES (:id, 1, 0, :insert_2);",
    );
}

#[test]
fn the_parts_of_a_record_are_outputs() {
    for returned in [
        "return new Entry(rs.getInt(1), rs.getString(2));",
        "Entry e = new Entry(rs.getInt(1), rs.getString(2)); return e;",
    ] {
        let text = program(&[&class(&format!(
            r#"record Entry(int id, String note) {{ }}
            public Entry find(int id) throws SQLException {{
                PreparedStatement select = conn.prepareStatement("SELECT id, note FROM log WHERE id = ?");
                select.setInt(1, id);
                ResultSet rs = select.executeQuery();
                rs.next();
                {returned}
            }}"#
        ))]);
        let last = text.lines().rev().nth(1).unwrap_or_default().trim();
        assert!(last.starts_with("RETURN :") && last.split(", :").count() == 2, "{returned}: {text}");
    }
}

#[test]
fn rows_are_fetched_as_people_fetch_them() {
    let query =
        r#"ResultSet rs = conn.createStatement().executeQuery("SELECT id, balance FROM accounts WHERE id = 1"); "#;
    check(
        "",
        &format!("{query} rs.next(); int b = rs.getInt(2); use(b); if (b > 0) conn.commit();"),
        "
        DECLARE rs_id INT;
        DECLARE b INT;
        SELECT id, balance INTO STRICT :rs_id, :b FROM accounts WHERE id = 1;
        IF :b > 0 THEN
        COMMIT;
        END IF;",
    );
    check(
        "",
        &format!(
            "{query} int n = 0; while (rs.next()) {{ if (rs.getInt(1) == 3) continue; n++; }} if (n > 1) conn.rollback();"
        ),
        "
        DECLARE rs_id INT;
        DECLARE rs_balance INT;
        DECLARE n INT DEFAULT 0;
        FOR rs_id, rs_balance IN (SELECT id, balance FROM accounts WHERE id = 1) DO
        IF :rs_id = 3 THEN
        ITERATE;
        END IF;
        SET n = :n + 1;
        END FOR;
        IF :n > 1 THEN
        ROLLBACK;
        END IF;",
    );
    check(
        "",
        &format!("{query} int b = -1; if (rs.next()) b = rs.getInt(\"BALANCE\"); if (b < 0) conn.rollback();"),
        "
        DECLARE rs_id INT;
        DECLARE b INT DEFAULT -1;
        SELECT id, balance INTO KEEP :rs_id, :b FROM accounts WHERE id = 1;
        IF :b < 0 THEN
        ROLLBACK;
        END IF;",
    );
}

#[test]
fn writes_may_return_rows() {
    check(
        "",
        r#"ResultSet rs = conn.createStatement().executeQuery("DELETE FROM log WHERE id = 1 RETURNING amount");
        int n = 0; if (rs.next()) n = rs.getInt(1); if (n > 0) conn.commit();"#,
        "DECLARE n INT DEFAULT 0;
        DELETE FROM log WHERE id = 1 RETURNING amount INTO KEEP :n;
        IF :n > 0 THEN
        COMMIT;
        END IF;",
    );
}

#[test]
fn texts_are_put_together() {
    let sent =
        |parameters: &str, code: &str| body(parameters, &format!("{code} conn.createStatement().executeUpdate(sql);"));
    for (parameters, code, expected) in [
        ("int id", r#"String sql = "DELETE FROM log WHERE id = " + id;"#, "DELETE FROM log WHERE id = :id;"),
        ("String n", r#"String sql = "DELETE FROM log WHERE note = '" + n + "'";"#, "DELETE FROM log WHERE note = :n;"),
        (
            "int id",
            r#"String sql = "DELETE"; sql += " FROM log"; sql += " WHERE id = 1";"#,
            "DELETE FROM log WHERE id = 1;",
        ),
        (
            "",
            r#"String sql = String.format("DELETE FROM %s WHERE id = %d", "log", 7);"#,
            "DELETE FROM log WHERE id = 7;",
        ),
        (
            "",
            r#"StringBuilder b = new StringBuilder("DELETE"); b.append(" FROM ").append("log"); String sql = b.toString();"#,
            "DELETE FROM log;",
        ),
        ("", "String sql = \"\"\"\n  DELETE FROM log\n  WHERE id = 2\n  \"\"\";", "DELETE FROM log\nWHERE id = 2;"),
        (
            "boolean all",
            r#"String sql = all ? "DELETE FROM log" : "DELETE FROM log WHERE id = 1";"#,
            "DECLARE way INT;\nIF :all THEN\nSET way = 1;\nELSE\nSET way = 2;\nEND IF;\nIF :way = 1 THEN\n\
             DELETE FROM log;\nELSE\nDELETE FROM log WHERE id = 1;\nEND IF;",
        ),
    ] {
        assert_eq!(sent(parameters, code), expected, "{code}");
    }
}

#[test]
fn constants_and_helpers_may_stand_in_other_files() {
    let text = program(&[
        r#"public class Debit extends Procedure {
            public final SQLStmt update = new SQLStmt("UPDATE " + Names.ACCOUNTS + " SET balance = balance - ? WHERE id = ?");
            public boolean run(Connection conn, int id, int amount) throws SQLException {
                if (!Checks.exists(conn, id)) return false;
                try (PreparedStatement ps = this.getPreparedStatement(conn, update, amount, id)) {
                    return ps.executeUpdate() == 1;
                }
            }
        }"#,
        r#"interface Names { String ACCOUNTS = "accounts"; }
        class Checks {
            static boolean exists(Connection c, int key) throws SQLException {
                PreparedStatement ps = c.prepareStatement("SELECT id FROM " + Names.ACCOUNTS + " WHERE id = ?");
                ps.setInt(1, key);
                return ps.executeQuery().next();
            }
        }"#,
    ]);
    let expected = "CREATE PROCEDURE debit(id INT, amount INT)
BEGIN
  DECLARE answer_id INT;
  SELECT id INTO :answer_id FROM accounts WHERE id = :id;
  IF NOT FOUND() THEN
    RETURN FALSE;
  END IF;
  UPDATE accounts SET balance = balance - :amount WHERE id = :id;
  RETURN ROW_COUNT() = 1;
END;
";
    assert_eq!(text, expected);
}

#[test]
fn transactions_end_where_the_source_says() {
    check(
        "int id",
        r#"try { conn.setAutoCommit(false); conn.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
            Statement st = conn.createStatement(); st.executeUpdate("DELETE FROM log WHERE id = " + id); conn.commit();
        } catch (SQLException e) { conn.rollback(); throw e; } finally { conn.setAutoCommit(true); }"#,
        "
        SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;
        DELETE FROM log WHERE id = :id;
        COMMIT;",
    );
    let text = program(&[&class(
        r#"public void m() throws SQLException { conn.setAutoCommit(true);
        conn.createStatement().executeUpdate("DELETE FROM log"); }"#,
    )]);
    assert!(text.starts_with("CREATE PROCEDURE m() AUTOCOMMIT"), "{text}");
}

#[test]
fn errors_of_the_program_go_to_their_catches() {
    check(
        "int n",
        r#"try { if (n < 0) throw new IllegalStateException("negative"); conn.commit(); }
        catch (IllegalStateException e) { conn.rollback(); }"#,
        "",
    );
    check(
        "int n",
        r#"Statement st = conn.createStatement();
        try { if (n < 0) throw new IllegalStateException("negative"); st.executeUpdate("DELETE FROM log"); }
        catch (IllegalStateException e) { st.executeUpdate("DELETE FROM accounts"); }
        conn.commit();"#,
        "
        IF :n < 0 THEN
        DELETE FROM accounts;
        ELSE
        DELETE FROM log;
        END IF;
        COMMIT;",
    );
}

#[test]
fn what_is_not_known_is_any_value() {
    check(
        "Order order, int[] ids",
        r#"PreparedStatement ps = conn.prepareStatement("UPDATE log SET amount = ? WHERE id = ?");
        ps.setInt(1, order.getTotal()); for (int i = 0; i < ids.length; i++) { ps.setInt(2, ids[i]); ps.executeUpdate(); }"#,
        "
        DECLARE ps_2 INT;
        WHILE ANY() DO
        SET ps_2 = ANY();
        UPDATE log SET amount = :order_total WHERE id = :ps_2;
        END WHILE;",
    );
}

#[test]
fn tables_of_constants_that_are_not_there_are_guessed() {
    let source = class(
        r#"public void m() throws SQLException {
        conn.createStatement().executeUpdate("UPDATE " + Unknown.TABLENAME_ACCOUNTS + " SET balance = 0"); }"#,
    );
    let reading = readings(&[&source]).remove(0);
    assert_eq!(reading.statements, (1, 1));
    let said: Vec<&str> = reading.diagnostics.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(said, ["Unknown.TABLENAME_ACCOUNTS is not known; it is taken for the table accounts"]);
    // Without any tables, the name itself is taken.
    let files = [SourceFile::new("F.java", source)];
    let (_, reading) = frontends::read(&files, &Schema::default(), Language::Any).remove(0);
    assert_eq!(reading.statements, (1, 1));
    let text = Program { procedures: reading.procedures }.to_string();
    assert!(text.contains("UPDATE accounts SET balance = 0"), "{text}");
}

#[test]
fn constants_that_nobody_sends_are_transactions_of_their_own() {
    let source = r#"public class Q1 extends Generic {
        final SQLStmt query = new SQLStmt("SELECT id FROM log WHERE amount > ?"); SQLStmt get() { return query; } }"#;
    let reading = readings(&[source]).remove(0);
    assert_eq!((reading.statements, reading.procedures.len()), ((1, 1), 1));
    assert!(reading.diagnostics.iter().any(|one| one.message.ends_with("it is taken for a transaction of its own")));
    assert!(program(&[source]).contains("CREATE PROCEDURE q1_query"));
}

#[test]
fn connections_may_come_from_anywhere() {
    check(
        "int id",
        r#"try (Connection c = Pool.get(); PreparedStatement ps = c.prepareStatement("DELETE FROM log WHERE id = ?")) {
        ps.setInt(1, id); ps.executeUpdate(); }"#,
        "DELETE FROM log WHERE id = :id;",
    );
}

#[test]
fn statements_are_counted_where_they_stand() {
    let source = class(
        r#"static final String A = "SELECT id FROM log"; static final String B = "Select an account from the list";
        public void m(String s) throws SQLException { conn.createStatement().executeQuery(A); log.info("Update failed");
            conn.createStatement().executeUpdate("UPDATE nothing SET x = 1"); conn.createStatement().executeUpdate(s); }"#,
    );
    let reading = readings(&[&source]).remove(0);
    assert_eq!(reading.statements, (3, 1));
    let unused = class(r#"static final String OLD = "SELECT id FROM log"; public void m() { conn.commit(); }"#);
    assert_eq!(readings(&[&unused]).remove(0).statements, (0, 0));
}

#[test]
fn mistakes_cost_only_themselves() {
    let source = r#"public class A { private Connection c; public void a() { int = ; }
        public void b() throws Exception { c.createStatement().executeUpdate("DELETE FROM log"); } }"#;
    let reading = readings(&[source]).remove(0);
    assert_eq!(reading.procedures.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["b"]);
    assert!(reading.diagnostics.iter().any(|one: &Diagnostic| one.message.contains("not Java")), "{reading:?}");
}

#[test]
fn truncated_files_are_read_as_far_as_they_go() {
    let source = class(
        r#"static final String Q = "SELECT balance FROM accounts WHERE id = ?";
        public int m(int id, String é) throws SQLException { try (PreparedStatement ps = conn.prepareStatement(Q)) {
            ps.setInt(1, id);
            try (ResultSet rs = ps.executeQuery()) { while (rs.next()) { if (rs.getInt(1) > 3) break; } } }
            switch (id) { case 1: return 1; default: throw new RuntimeException(String.format("%s %", é)); } }"#,
    );
    for end in (0..source.len()).step_by(9).filter(|end| source.is_char_boundary(*end)) {
        readings(&[&source[..end]]);
        readings(&[&source[end..]]);
    }
}

#[test]
fn deep_and_long_code_is_survived() {
    let deep = format!("if (x > 0) {{ {} ", "if (x > 0) { ".repeat(3000)) + &"}".repeat(3001);
    let chain = format!("String s = \"DELETE FROM log\" {};", "+ \" \"".repeat(1000));
    let nested = format!("int y = {}1{};", "(".repeat(3000), ")".repeat(3000));
    let source = class(&format!(
        "public void m(int x) throws SQLException {{ {deep} {nested} {chain} conn.createStatement().executeUpdate(s); }}"
    ));
    let reading = readings(&[&source]).remove(0);
    assert_eq!(reading.statements, (1, 1));
    let fan: String = (1..13).map(|at| format!("void f{at}() {{ f{}(); f{}(); }}", at - 1, at - 1)).collect();
    readings(&[&class(&format!("void f0() {{ conn.createStatement().executeUpdate(\"DELETE FROM log\"); }} {fan}"))]);
}
