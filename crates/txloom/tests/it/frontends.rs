//! Applications in Java, from the command line: the same answers as for SQL, at places in the source.

use txloom::report::json;
use txloom::report::model::Body;
use txloom::report::model::analysis::AnalysisReport;

use crate::support::{TestDir, limited, output};

const SCHEMA: &str = "CREATE TABLE flights (fltnum INT PRIMARY KEY, avail INT NOT NULL);
INSERT INTO flights (fltnum, avail) VALUES (1, 10), (2, 3), (3, 0);
";

/// AGENDA's first example: the commit in the middle loses an update.
const SEATS: &str = r#"import java.sql.*;

public class Seats {
    private final Connection conn;

    public Seats(Connection conn) {
        this.conn = conn;
    }

    public boolean chooseSeat(int flight) throws SQLException {
        conn.setAutoCommit(false);
        int avail;
        try (PreparedStatement select = conn.prepareStatement(Texts.AVAILABLE)) {
            select.setInt(1, flight);
            ResultSet rs = select.executeQuery();
            rs.next();
            avail = rs.getInt("avail");
        }
        conn.commit();
        if (avail > 0) {
            PreparedStatement update = conn.prepareStatement("UPDATE flights SET avail = ? WHERE fltnum = ?");
            update.setInt(1, avail - 1);
            update.setInt(2, flight);
            update.executeUpdate();
            conn.commit();
            return true;
        }
        return false;
    }
}
"#;

const TEXTS: &str = r#"interface Texts {
    String AVAILABLE = "SELECT avail FROM flights WHERE fltnum = ?";
}
"#;

fn report(arguments: &[&str]) -> (AnalysisReport, i32) {
    let done = output(&[&["analyze"], arguments, &["--format", "json"]].concat());
    match json::parse(&done.stdout).map(|report| report.body) {
        Ok(Body::Analysis(report)) => (*report, done.code),
        other => panic!("{arguments:?}: {other:?}\n{}", done.stderr),
    }
}

fn application(name: &str) -> (TestDir, String, String) {
    let directory = TestDir::new(name);
    let schema = directory.file("schema.sql", SCHEMA);
    let folder = directory.path().join("app");
    std::fs::create_dir_all(&folder).expect("a directory can be made");
    directory.file("app/Seats.java", SEATS);
    directory.file("app/Texts.java", TEXTS);
    (directory, schema, folder.to_string_lossy().into_owned())
}

#[test]
fn a_folder_of_classes_is_one_program() {
    limited(|| {
        let (_directory, schema, folder) = application("frontends-folder");
        let (found, code) = report(&[&folder, "--schema", &schema]);
        assert_eq!((found.summary.statements, found.summary.understood), (2, 2));
        let names: Vec<&str> = found.schedules.iter().map(|schedule| schedule.name.as_str()).collect();
        assert_eq!((names, code), (vec!["⟨T1_A, T2_B, T2_A⟩"], 1));
        let marks = &found.schedules[0].remark.marks;
        assert!(marks.iter().all(|mark| mark.file.ends_with("Seats.java")), "{marks:?}");
        let commit = marks.iter().find(|mark| mark.says.contains("ends here")).expect("a commit");
        assert_eq!(commit.line, 19, "{marks:?}");
    });
}

#[test]
fn its_schedules_go_wrong_on_a_real_database() {
    limited(|| {
        let (_directory, schema, folder) = application("frontends-run");
        let (found, code) = report(&[&folder, "--schema", &schema, "--run", "--on", "sqlite"]);
        let fates: Vec<&str> =
            found.schedules.iter().filter_map(|one| one.fate.as_ref()).map(|fate| fate.verdict.name()).collect();
        assert_eq!((fates, code), (vec!["manifest"], 1));
    });
}

#[test]
fn what_is_not_understood_is_counted_and_named() {
    limited(|| {
        let (directory, schema, folder) = application("frontends-unknown");
        directory
            .file("app/More.java", "class More { void m(Connection c, String s) { c.createStatement().execute(s); } ");
        let done = output(&["analyze", &folder, "--schema", &schema, "--summary"]);
        assert!(done.stdout.contains("2 of 3 understood"), "{}", done.stdout);
        assert!(done.stdout.contains("More.java:1: what is sent here"), "{}", done.stdout);
    });
}

#[test]
fn ten_thousand_lines_take_little_time() {
    limited(|| {
        let directory = TestDir::new("frontends-long");
        let schema = directory.file("schema.sql", SCHEMA);
        let start = SEATS.find("    public boolean chooseSeat").expect("the method");
        let method = SEATS[start..].trim_end().trim_end_matches('}');
        let count = 10_000 / method.lines().count() + 1;
        let methods: String = (0..count).map(|at| method.replace("chooseSeat", &format!("chooseSeat{at}"))).collect();
        let source = format!("{}{methods}}}\n", &SEATS[..start]);
        let long = directory.file("Long.java", &source);
        directory.file("Texts.java", TEXTS);
        let files =
            vec![txloom::analyze::SourceFile::new(schema, SCHEMA), txloom::analyze::SourceFile::new(long, source)];
        let project = txloom::analyze::Project::read(files);
        assert_eq!(project.program.procedures.len(), count);
    });
}

/// The seven benchmark programs in Java: every statement is understood.
#[test]
fn the_benchmark_programs_are_understood() {
    limited(|| {
        for (name, statements) in [
            ("smallbank", 9),
            ("tatp", 11),
            ("tpcc", 34),
            ("twitter", 15),
            ("voter", 5),
            ("wikipedia", 21),
            ("seats", 28),
        ] {
            let folder = format!("{}/../../corpus/programs/{name}", env!("CARGO_MANIFEST_DIR"));
            let (java, schema) = (format!("{folder}/java"), format!("{folder}/schema.sql"));
            let (found, _) = report(&[&java, "--schema", &schema, "--summary"]);
            let summary = &found.summary;
            assert_eq!((summary.statements, summary.understood), (statements, statements), "{name}");
        }
    });
}
