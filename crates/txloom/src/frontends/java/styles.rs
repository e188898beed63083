//! Where SQL comes from in programs that people have written: each style with what is sent.

use txloom_core::program::schema::Schema;
use txloom_core::program::{Language, Program};

use crate::analyze::SourceFile;
use crate::frontends;

const SCHEMA: &str = "CREATE TABLE accounts (id INT PRIMARY KEY, owner VARCHAR(20), balance INT NOT NULL);
CREATE TABLE log (id INT PRIMARY KEY, account INT, data1 INT, data2 INT, note VARCHAR(100));";

const VERBS: &[&str] = &["SELECT", "INSERT", "UPDATE", "DELETE", "FOR", "OPEN", "CREATE PROCEDURE"];

/// The statements of a program, a line each, with the procedures that send them.
fn sent(style: &str, sources: &[&str]) -> Vec<String> {
    let (schema, _) = Schema::read(SCHEMA, Language::Any);
    let file = |(at, text): (usize, &&str)| SourceFile::new(format!("F{at}.java"), text.to_string());
    let files: Vec<SourceFile> = sources.iter().enumerate().map(file).collect();
    let mut lines = Vec::new();
    for (_, reading) in frontends::read(&files, &schema, Language::Any) {
        let (all, understood) = reading.statements;
        assert_eq!(all, understood, "{style}: {:?}", reading.diagnostics);
        let program = Program { procedures: reading.procedures }.to_string();
        let is_sent = |line: &&str| VERBS.iter().any(|verb| line.starts_with(verb));
        lines.extend(program.lines().map(str::trim).filter(is_sent).map(str::to_string));
    }
    lines
}

fn check(style: &str, sources: &[&str], expected: &[&str]) {
    assert_eq!(sent(style, sources), expected, "{style}");
}

/// A procedure of a benchmark suite with some members, whose `run` takes an id.
fn suite(members: &str, code: &str) -> String {
    format!(
        "public class P extends Procedure {{ {members}
        public void run(Connection conn, int id) throws SQLException {{ {code} }} }}"
    )
}

/// Code that sends a statement with one value.
const SEND: &str = "try (PreparedStatement ps = this.getPreparedStatement(conn, stmt, id)) { ps.execute(); }";

#[test]
fn fields_are_set_in_initializers_and_constructors() {
    let cases = [
        ("initializer", r#"final SQLStmt stmt; { stmt = new SQLStmt("DELETE FROM log WHERE id = ?"); }"#),
        ("static initializer", r#"static final String stmt; static { stmt = "DELETE FROM log WHERE id = ?"; }"#),
        (
            "a local variable of the initializer",
            r#"final SQLStmt stmt; { String from = "log"; stmt = new SQLStmt("DELETE FROM " + from + " WHERE id = ?"); }"#,
        ),
        (
            "constructor with a builder",
            r#"final String stmt; P() { StringBuilder sb = new StringBuilder("DELETE FROM "); sb.append("log");
            sb.append(" WHERE id = ?"); stmt = sb.toString(); }"#,
        ),
        (
            "a builder that is a field",
            r#"static StringBuilder stmt = new StringBuilder("DELETE FROM log"); static { stmt.append(" WHERE id = ?"); }"#,
        ),
        (
            "constructor of the class above",
            r#"P() { super("DELETE FROM log WHERE id = ?"); } } abstract class Procedure { final String stmt; Procedure(String s) {
            stmt = s; } "#,
        ),
        (
            "format",
            r#"final SQLStmt stmt; { String f = "DELETE FROM %s WHERE id = ?"; stmt = new SQLStmt(String.format(f, "log")); }"#,
        ),
        ("replace", r#"final SQLStmt stmt = new SQLStmt("DELETE FROM @t WHERE id = ?".replace("@t", "log"));"#),
    ];
    for (style, members) in cases {
        check(style, &[&suite(members, SEND)], &["CREATE PROCEDURE p(id INT)", "DELETE FROM log WHERE id = :id;"]);
    }
}

#[test]
fn texts_grow_in_loops_of_known_length() {
    let columns = r#"static final int N = 2; final SQLStmt stmt; { String set = "";
        for (int c = 1; c <= N; ++c) { set = set + (c > 1 ? ", " : "") + "data" + c + " = 0"; }
        stmt = new SQLStmt("UPDATE log SET " + set + " WHERE id = ?"); }"#;
    let expected = ["CREATE PROCEDURE p(id INT)", "UPDATE log SET data1 = 0, data2 = 0 WHERE id = :id;"];
    check("two columns", &[&suite(columns, SEND)], &expected);
    let code = r#"StringBuilder in = new StringBuilder(); for (int i = 0; i < 3; i++) { if (i > 0) in.append(", ");
        in.append(i); } conn.createStatement().execute("DELETE FROM log WHERE id IN (" + in + ")");"#;
    let expected = ["CREATE PROCEDURE p()", "DELETE FROM log WHERE id IN (0, 1, 2);"];
    check("a list of numbers", &[&suite("", code)], &expected);
    let helper = r#"static String where(String... columns) { String s = " WHERE TRUE"; for (String c : columns) s += " AND " + c
        + " = ?"; return s; } final SQLStmt stmt = new SQLStmt("DELETE FROM log" + where("id", "account"));"#;
    let code = "try (PreparedStatement ps = getPreparedStatement(conn, stmt, id, id)) { ps.execute(); }";
    let expected = ["CREATE PROCEDURE p(id INT)", "DELETE FROM log WHERE TRUE AND id = :id AND account = :id;"];
    check("names that are arguments", &[&suite(helper, code)], &expected);
}

#[test]
fn names_may_be_unknown() {
    let joined = r#"final SQLStmt stmt = new SQLStmt("SELECT a.owner FROM " + Names.TABLE_LOG + " l, " + "   " +
        Names.TABLE_ACCOUNTS + " a WHERE l.account = a.id AND l.id = ?");"#;
    let expected = "SELECT a.owner FROM log l,    accounts a WHERE l.account = a.id AND l.id = :id;";
    check("two tables", &[&suite(joined, SEND)], &["CREATE PROCEDURE p(id INT)", expected]);
    let members = r#"final SQLStmt stmt = new SQLStmt("UPDATE log SET data" + Settings.COLUMN + " = 0 WHERE id = ?");"#;
    check(
        "column",
        &[&suite(members, SEND)],
        &["CREATE PROCEDURE p(id INT)", "UPDATE log SET data1 = 0 WHERE id = :id;"],
    );
}

#[test]
fn any_of_several_statements_is_sent() {
    let (log, accounts) = ("DELETE FROM log WHERE id = :id;", "DELETE FROM accounts WHERE id = :id;");
    let cases = [
        (
            "array of statements",
            r#"SQLStmt[] all = { new SQLStmt("DELETE FROM log WHERE id = ?"), new SQLStmt("DELETE FROM accounts WHERE id = ?") };"#,
            "SQLStmt stmt = all[random()];",
        ),
        (
            "array that is filled",
            r#"static String[] all = new String[2]; static { all[0] = "DELETE FROM log WHERE id = ?";
            all[1] = "DELETE FROM accounts WHERE id = ?"; }"#,
            "String stmt = all[random()];",
        ),
        (
            "map",
            r#"static Map<String, String> all = new HashMap<>(); static { all.put("a", "DELETE FROM log WHERE id = ?");
            all.put("b", "DELETE FROM accounts WHERE id = ?"); }"#,
            "String stmt = all.get(name());",
        ),
        (
            "map that fills itself",
            r#"Map<String, String> all = new HashMap<String, String>() {{ put("a", "DELETE FROM log WHERE id = ?");
            put("b", "DELETE FROM accounts WHERE id = ?"); }};"#,
            "String stmt = all.get(name());",
        ),
        (
            "map of pairs",
            r#"final Map<Integer, String> all = Map.of(1, "DELETE FROM log WHERE id = ?", 2, "DELETE FROM accounts WHERE id = ?");"#,
            "String stmt = all.get(random());",
        ),
        (
            "enumeration",
            r#"enum Kind { A("DELETE FROM log WHERE id = ?"), B("DELETE FROM accounts WHERE id = ?"); final String sql;
            Kind(String s) { sql = s; } String sql() { return sql; } }"#,
            "Kind kind = Kind.valueOf(name()); String stmt = kind.sql();",
        ),
        (
            "choice",
            r#"final SQLStmt a = new SQLStmt("DELETE FROM log WHERE id = ?"), b = new SQLStmt("DELETE FROM accounts WHERE id = ?");"#,
            "String stmt = (random() > 0 ? a : b).getSQL();",
        ),
        (
            "switch with a block",
            "",
            r#"String stmt = switch (random()) { case 1 -> "DELETE FROM log WHERE id = ?"; default -> { log("other");
            yield "DELETE FROM accounts WHERE id = ?"; } };"#,
        ),
    ];
    for (style, members, code) in cases {
        let source = suite(members, &format!("{code} {SEND}"));
        check(style, &[&source], &["CREATE PROCEDURE p(id INT)", log, accounts]);
    }
    let members =
        r#"final Map<String, String> all = Map.of("a", "DELETE FROM log WHERE id = ?", "b", "DELETE FROM accounts");"#;
    let source = suite(members, &format!("String stmt = all.get(\"a\"); {SEND}"));
    let source = source.replace(", \"b\", \"DELETE FROM accounts\"", "");
    check("a key that is known", &[&source], &["CREATE PROCEDURE p(id INT)", log]);
}

#[test]
fn choices_of_choices_are_texts() {
    let code = r#"String sql; switch (id) { case 1: sql = "DELETE FROM log"; break; default: sql = "DELETE FROM accounts"; }
        sql += " WHERE id " + (random() > 0 ? "=" : ">") + " 1"; conn.createStatement().execute(sql);"#;
    let expected = [
        "CREATE PROCEDURE p(id INT)",
        "DELETE FROM log WHERE id = 1;",
        "DELETE FROM log WHERE id > 1;",
        "DELETE FROM accounts WHERE id = 1;",
        "DELETE FROM accounts WHERE id > 1;",
    ];
    check("two by two", &[&suite("", code)], &expected);
}

#[test]
fn values_that_branches_set_differ_only_in_value() {
    let code = r#"PreparedStatement ps = conn.prepareStatement("DELETE FROM log WHERE id = ?");
        if (id > 3) ps.setInt(1, id); else ps.setInt(1, 0); ps.executeUpdate();"#;
    let (schema, _) = Schema::read(SCHEMA, Language::Any);
    let files = [SourceFile::new("F.java", suite("", code))];
    let (_, reading) = frontends::read(&files, &schema, Language::Any).remove(0);
    let program = Program { procedures: reading.procedures }.to_string();
    for line in ["SET ps_1 = :id;", "SET ps_1 = 0;", "DELETE FROM log WHERE id = :ps_1;"] {
        assert!(program.contains(line), "{line}: {program}");
    }
}

#[test]
fn methods_of_the_class_above_call_those_below() {
    let above = r#"abstract class Query extends Procedure { protected abstract SQLStmt text();
        protected PreparedStatement prepared(Connection c) throws SQLException { return getPreparedStatement(c, text()); }
        public void run(Connection conn) throws SQLException { try (PreparedStatement ps = prepared(conn);
            ResultSet rs = ps.executeQuery()) { while (rs.next()) { } } } }"#;
    let first = r#"class Q1 extends Query { final SQLStmt query = new SQLStmt("SELECT note FROM log");
        protected SQLStmt text() { return query; } }"#;
    let second = r#"class Q2 extends Query { final SQLStmt query = new SQLStmt("SELECT owner FROM accounts WHERE id > ?");
        protected PreparedStatement prepared(Connection c) throws SQLException {
            PreparedStatement ps = getPreparedStatement(c, query); ps.setInt(1, 7); return ps; } }"#;
    let third = r#"class Q3 extends Query { SQLStmt text() { return new SQLStmt("SELECT id FROM log"); }
        public void run(Connection conn) throws SQLException { conn.createStatement().execute("DELETE FROM log");
            super.run(conn); } }"#;
    let expected = [
        "CREATE PROCEDURE q1()",
        "FOR rs_note IN (SELECT note FROM log) DO",
        "CREATE PROCEDURE q2()",
        "FOR rs_owner IN (SELECT owner FROM accounts WHERE id > :ps_1) DO",
        "CREATE PROCEDURE q3()",
        "DELETE FROM log;",
        "FOR rs_id IN (SELECT id FROM log) DO",
    ];
    check("in one file", &[&[above, first, second, third].concat()], &expected);
    // Without the class above, who asks for the statement sends it.
    let expected = ["CREATE PROCEDURE prepared()", "SELECT owner FROM accounts WHERE id > :ps_1;"];
    check("without the class above", &[second], &expected);
}

#[test]
fn functions_are_followed_where_they_are_called() {
    let members = r#"interface Work { int in(Connection c) throws SQLException; }
        private int within(Connection c, Work work) throws SQLException { return work.in(c); }"#;
    let delete = "DELETE FROM log WHERE id = :id;";
    let cases = [
        ("lambda", r#"within(conn, c -> c.createStatement().executeUpdate("DELETE FROM log WHERE id = " + id));"#),
        (
            "lambda with a block",
            r#"within(conn, (Connection c) -> { PreparedStatement ps = c.prepareStatement("DELETE FROM log WHERE id = ?");
            ps.setInt(1, id); return ps.executeUpdate(); });"#,
        ),
        (
            "class without a name",
            r#"Work work = new Work() { public int in(Connection c) throws SQLException {
            return c.createStatement().executeUpdate("DELETE FROM log WHERE id = " + id); } }; within(conn, work);"#,
        ),
        (
            "class in a method",
            r#"class Local implements Work { public int in(Connection c) throws SQLException {
            return c.createStatement().executeUpdate("DELETE FROM log WHERE id = " + id); } } within(conn, new Local());"#,
        ),
        (
            "passed to others",
            r#"jdbi.inTransaction(c -> c.createStatement().execute("DELETE FROM log WHERE id = " + id));"#,
        ),
    ];
    for (style, code) in cases {
        check(style, &[&suite(members, code)], &["CREATE PROCEDURE p(id INT)", delete]);
    }
    let code = r#"keys.forEach(key -> conn.createStatement().execute("DELETE FROM log WHERE id = " + key));"#;
    let expected = ["CREATE PROCEDURE p()", "DELETE FROM log WHERE id = :unknown;"];
    check("for each element", &[&suite("List<Integer> keys;", code)], &expected);
}

#[test]
fn classes_know_those_around_them() {
    let source = r#"public class Outer { static final String TABLE = "log"; private Connection conn;
        class Inner { int id; void drop() throws SQLException { remove(id); } }
        void remove(int key) throws SQLException { conn.createStatement().execute("DELETE FROM " + TABLE + " WHERE id = " + key); }
        public void all(int id) throws SQLException { Inner inner = new Inner(); inner.id = id; inner.drop(); } }"#;
    check("inner", &[source], &["CREATE PROCEDURE all(id INT)", "DELETE FROM log WHERE id = :inner_id;"]);
}

#[test]
fn code_that_nobody_calls_is_read_too() {
    let source = r#"public class Setup { private final Connection conn;
        public Setup(Connection c, int id) throws SQLException { conn = c; conn.createStatement().execute("DELETE FROM log"); }
        private void later() throws SQLException { conn.createStatement().execute("DELETE FROM accounts"); } }"#;
    let expected =
        ["CREATE PROCEDURE new_setup()", "DELETE FROM log;", "CREATE PROCEDURE later()", "DELETE FROM accounts;"];
    check("constructor and private method", &[source], &expected);
    let idle = suite("", r#"String old = "SELECT id FROM log"; conn.createStatement().execute("DELETE FROM log");"#);
    check("a text that nobody uses", &[&idle], &["CREATE PROCEDURE p()", "DELETE FROM log;"]);
    let other =
        r#"class Other extends Procedure { final SQLStmt stmt = new SQLStmt("DELETE FROM accounts WHERE id = ?"); }"#;
    let source = suite(r#"final SQLStmt stmt = new SQLStmt("DELETE FROM log WHERE id = ?");"#, SEND);
    let expected = ["CREATE PROCEDURE p(id INT)", "DELETE FROM log WHERE id = :id;"];
    check("a constant that only has the name of another one", &[&source, other], &expected);
    let empty = suite(r#"final SQLStmt stmt = new SQLStmt(";");"#, SEND);
    check("a statement that says nothing", &[&empty], &["CREATE PROCEDURE p()"]);
}
