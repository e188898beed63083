//! `analyze --fix`: the changes that are proposed, which were searched and run again; applied by hand, they hold.

use txloom::report::json;
use txloom::report::model::Body;
use txloom::report::model::analysis::{AnomaliesReport, FixReport};

use crate::support::{TestDir, limited, output};

fn program(name: &str) -> String {
    format!("{}/../../corpus/programs/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn anomalies(arguments: &[&str]) -> (AnomaliesReport, i32) {
    let done = output(&[&["analyze"], arguments, &["--format", "json"]].concat());
    match json::parse(&done.stdout).map(|report| report.body) {
        Ok(Body::Analysis(report)) => (report.anomalies.expect("a level was given"), done.code),
        other => panic!("{arguments:?}: {other:?}\n{}", done.stderr),
    }
}

/// The source with the lines of a diff changed.
fn patched(source: &str, diff: &str) -> String {
    diff.split("\n@@ -").skip(1).fold(source.to_string(), |source, hunk| {
        let lines = |sign: char| -> String {
            let lines = hunk.lines().skip(1);
            let side: Vec<&str> =
                lines.filter_map(|line| line.strip_prefix(sign).or_else(|| line.strip_prefix(' '))).collect();
            side.join("\n")
        };
        let (old, new) = (lines('-'), lines('+'));
        assert_eq!(source.matches(&old).count(), 1, "{old}");
        source.replace(&old, &new)
    })
}

/// All structures are removed by one change; with that change made by hand, nothing is found.
fn check_cure(name: &str, level: &[&str], kind: &str) -> FixReport {
    let (found, code) = anomalies(&[&[program(name).as_str(), "--fix"], level].concat());
    assert_eq!(code, 1, "{name}");
    for structure in &found.structures {
        let fix = structure.fix.as_ref().unwrap_or_else(|| panic!("{name}: nothing removes {}", structure.structure));
        assert_eq!(fix.kind, kind, "{name}: {}", fix.says);
        assert_eq!(fix.run.is_some(), structure.shown.is_some_and(|shown| shown > 0), "{name}: {:?}", fix.run);
    }
    let fixes = found.fixes.expect("it was asked for");
    assert_eq!((fixes.changes.len(), fixes.left), (1, 0), "{name}");
    let fix = fixes.changes[0].clone();
    assert_eq!(fix.removes, found.structures.len(), "{name}");
    if !fix.diff.is_empty() {
        let dir = TestDir::new("analyze-fix");
        let path = dir.path().join(name);
        let source = std::fs::read_to_string(program(name)).expect("a program of the corpus");
        std::fs::write(&path, patched(&source, &fix.diff)).expect("a directory of our own");
        let (after, code) = anomalies(&[&[path.to_str().expect("a plain path"), "--fix"], level].concat());
        assert_eq!((after.found, code), (0, 0), "{name}, changed");
        assert_eq!(after.fixes.expect("it was asked for").changes, [], "nothing to do");
    }
    fix
}

#[test]
fn a_lost_update_is_locked() {
    limited(|| {
        let fix = check_cure("lost-update.sql", &["--level", "read-committed", "--on", "postgres"], "lock");
        assert!(fix.diff.contains("+  SELECT balance INTO :balance FROM accounts WHERE id = :account FOR UPDATE;"));
        let fix = check_cure("lost-update.sql", &["--level", "read-committed", "--on", "model", "--run"], "lock");
        assert!(fix.run.is_some_and(|run| run.contains("comes to the same as")));
    });
}

#[test]
fn write_skew_is_locked_or_made_serializable() {
    limited(|| {
        check_cure("write-skew.sql", &["--level", "snapshot-isolation", "--on", "model", "--run"], "lock");
        // PostgreSQL does not lock the rows of a sum.
        let fix =
            check_cure("write-skew.sql", &["--level", "repeatable-read", "--on", "postgres"], "transaction level");
        assert!(fix.diff.contains("+  SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;"), "{}", fix.diff);
    });
}

#[test]
fn write_skew_across_tables_is_locked_in_one_order() {
    limited(|| {
        for target in ["postgres", "mariadb"] {
            let level = ["--level", "read-committed", "--on", target, "--run"];
            let fix = check_cure("doors.sql", &level, "ordered locks");
            assert!(fix.run.is_some_and(|run| run.contains("comes to the same as")), "no deadlock, nobody rolled back");
            assert!(fix.diff.contains("+  SELECT id FROM "), "{}", fix.diff);
        }
    });
}

#[test]
fn a_question_about_a_sum_becomes_a_check() {
    limited(|| {
        let fix = check_cure("stock.sql", &["--level", "read-committed", "--on", "postgres", "--run"], "check");
        assert!(fix.diff.contains("+ALTER TABLE stock ADD CHECK (quantity >= 0);"), "{}", fix.diff);
        check_cure("stock.sql", &["--level", "read-committed", "--on", "mariadb", "--run"], "lock");
    });
}

#[test]
fn stores_need_a_stronger_level() {
    limited(|| {
        let fix = check_cure("lost-update.sql", &["--level", "store:eventual"], "program level");
        assert_eq!((fix.says.as_str(), fix.diff.as_str()), ("run everything at store:parallel-snapshot-isolation", ""));
    });
}

#[test]
fn the_report_shows_what_to_write() {
    let done = output(&["analyze", &program("lost-update.sql"), "--level", "read-committed", "--on", "model", "--fix"]);
    assert!(done.stdout.contains("FOR UPDATE;"), "{}", done.stdout);
    assert!(done.stdout.contains("One change removes all of them:"), "{}", done.stdout);
    let assumed = output(&["analyze", &program("lost-update.sql"), "--fix"]);
    assert!(assumed.stdout.contains("One change removes all of them:"), "{}", assumed.stdout);
}

/// Each method looks at one table and writes the other one.
const DOORS: &str = r#"import java.sql.*;
class Doors {
  void unlock(Connection c, int id) throws SQLException {
    PreparedStatement look = c.prepareStatement("SELECT armed FROM alarms WHERE id = ?");
    look.setInt(1, id);
    ResultSet found = look.executeQuery();
    found.next();
    if (found.getInt(1) == 0) {
      PreparedStatement write = c.prepareStatement("UPDATE doors SET unlocked = 1 WHERE id = ?");
      write.setInt(1, id);
      write.executeUpdate();
    }
    c.commit();
  }
  void arm(Connection c, int id) throws SQLException {
    PreparedStatement look = c.prepareStatement("SELECT unlocked FROM doors WHERE id = ?");
    look.setInt(1, id);
    ResultSet found = look.executeQuery();
    found.next();
    if (found.getInt(1) == 0) {
      PreparedStatement write = c.prepareStatement("UPDATE alarms SET armed = 1 WHERE id = ?");
      write.setInt(1, id);
      write.executeUpdate();
    }
    c.commit();
  }
}
"#;

/// Statements of SQL are no lines of Java: what needs some is said, and not written.
#[test]
fn java_gets_no_lines_of_sql() {
    let dir = TestDir::new("analyze-fix-java");
    let path = |name: &str| dir.path().join(name).to_str().expect("a plain path").to_string();
    let (java, schema) = (path("Doors.java"), path("schema.sql"));
    let tables = "CREATE TABLE doors (id INT PRIMARY KEY, unlocked INT NOT NULL);\n\
                  CREATE TABLE alarms (id INT PRIMARY KEY, armed INT NOT NULL);\n";
    std::fs::write(&schema, tables).expect("a directory of our own");
    let fixed = |source: &str| {
        std::fs::write(&java, source).expect("a directory of our own");
        let level = ["--level", "repeatable-read", "--on", "postgres"];
        let (found, _) = anomalies(&[&[java.as_str(), "--schema", &schema, "--fix"], &level[..]].concat());
        let fixes = found.fixes.expect("it was asked for").changes;
        fixes.into_iter().map(|fix| (fix.kind, fix.diff)).collect::<Vec<_>>()
    };
    let locks = fixed(DOORS);
    assert_eq!((locks.len(), locks[0].0.as_str()), (1, "locks"));
    let added: Vec<&str> = locks[0].1.lines().skip(2).filter(|line| line.starts_with('+')).collect();
    assert!(added.len() == 2 && added.iter().all(|line| line.ends_with("WHERE id = ? FOR UPDATE\");")), "{added:?}");
    let sums = DOORS.replace("SELECT armed", "SELECT SUM(armed)").replace("SELECT unlocked", "SELECT SUM(unlocked)");
    assert_eq!(fixed(&sums), [("cycle level".to_string(), String::new())], "PostgreSQL does not lock sums");
}

/// The change is one of the Java source, and was run.
#[test]
fn java_is_fixed_where_the_statement_stands() {
    limited(|| {
        let example = |name: &str| format!("{}/../../examples/bank/{name}", env!("CARGO_MANIFEST_DIR"));
        let (source, schema) = (example("Withdrawals.java"), example("schema.sql"));
        let search = ["--level", "read-committed", "--on", "postgres", "--instances", "2", "--run", "--fix"];
        let done = output(&[&["analyze", &source, "--schema", &schema], &search[..]].concat());
        assert_eq!(done.code, 1, "{}", done.stderr);
        for expect in [
            "lost update",
            "+    private static final String FIND = \"SELECT balance FROM accounts WHERE id = ? FOR UPDATE\";",
            "run again, it comes to the same as",
            "One change removes all of them",
        ] {
            assert!(done.stdout.contains(expect), "{expect}\n{}", done.stdout);
        }
    });
}
