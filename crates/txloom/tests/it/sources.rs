//! Applications in Java, Python and C, from the command line: AGENDA's examples give the schedules of their SQL forms, and
//! a web shop loses its update.

use txloom::report::json;
use txloom::report::model::Body;
use txloom::report::model::analysis::AnalysisReport;

use crate::originals::java::class_name;
use crate::support::{TestDir, limited, output, root};

fn report(arguments: &[&str]) -> (AnalysisReport, i32) {
    let done = output(&[&["analyze"], arguments, &["--format", "json"]].concat());
    match json::parse(&done.stdout).map(|report| report.body) {
        Ok(Body::Analysis(report)) => (*report, done.code),
        other => panic!("{arguments:?}: {other:?}\n{}", done.stderr),
    }
}

fn at_root(path: &str) -> String {
    root().join(path).to_string_lossy().into_owned()
}

/// The tables, rows and assertions of an example, without its procedures.
fn schema_of(dir: &TestDir, example: &str) -> String {
    let sql = std::fs::read_to_string(at_root(&format!("corpus/programs/{example}.sql"))).expect("an example is there");
    let end = sql.find("CREATE PROCEDURE").expect("an example has a procedure");
    dir.file(&format!("{example}.sql"), &sql[..end])
}

/// What is found: the schedules, the commit points, and what came of running them.
fn found(report: &AnalysisReport) -> (Vec<(String, String)>, Vec<String>) {
    let fate = |fate: Option<&txloom::report::model::analysis::FateReport>| {
        fate.map_or("not run".to_string(), |fate| fate.verdict.to_string())
    };
    let schedules = report.schedules.iter().map(|one| (one.name.clone(), fate(one.fate.as_ref()))).collect();
    (schedules, report.commit_points.iter().map(|one| fate(one.fate.as_ref())).collect())
}

fn check_examples(folder: &str, file: fn(&str) -> String) {
    let dir = TestDir::new(&format!("sources-{folder}"));
    for number in 1..=3 {
        for fixed in ["", "-fixed"] {
            let example = format!("agenda-{number}{fixed}");
            let schema = schema_of(&dir, &example);
            let source = at_root(&format!("corpus/programs/agenda/{folder}/{}", file(&example)));
            let run = ["--run", "--on", "sqlite", "--level", "serializable"];
            let ours = report(&[&[source.as_str(), "--schema", &schema], &run[..]].concat());
            let sql = at_root(&format!("corpus/programs/{example}.sql"));
            let theirs = report(&[&[sql.as_str()], &run[..]].concat());
            assert_eq!((found(&ours.0), ours.1), (found(&theirs.0), theirs.1), "{source}");
            assert_eq!(ours.1, i32::from(fixed.is_empty()), "{source}");
        }
    }
}

#[test]
fn examples_in_java_have_the_schedules_of_their_sql_forms() {
    limited(|| check_examples("java", |example| format!("{}.java", class_name(example))));
}

#[test]
fn examples_in_python_have_the_schedules_of_their_sql_forms() {
    limited(|| check_examples("python", |example| format!("{}.py", example.replace('-', "_"))));
}

#[test]
fn examples_in_c_have_the_schedules_of_their_sql_forms() {
    limited(|| check_examples("c", |example| format!("{}.pgc", example.replace('-', "_"))));
}

/// Two calls of `buy` read the same stock, and the later one overwrites what the earlier one has left.
#[test]
fn the_lost_update_of_the_shop_is_found_in_its_source() {
    limited(|| {
        let (app, schema) = (at_root("examples/shop/app.py"), at_root("examples/shop/schema.sql"));
        let limits = ["--length", "3", "--instances", "2", "--level", "read-committed", "--on", "postgres"];
        let done = output(&[&["analyze", app.as_str(), "--schema", &schema], &limits[..]].concat());
        let lost =
            done.stdout.split("\n\n").find(|part| part.contains("[lost update]") && part.contains("two calls of buy"));
        let lost = lost.unwrap_or_else(|| panic!("{}{}", done.stdout, done.stderr));
        assert!(lost.contains("conn.execute(FIND_PRODUCT, ") && lost.contains("conn.execute(SET_STOCK, "), "{lost}");
        assert!(lost.contains("reads products.stock") && lost.contains("overwrites products.stock"), "{lost}");
        assert_eq!(done.code, 1);
    });
}

#[test]
fn every_statement_of_the_shop_is_understood() {
    limited(|| {
        let (app, schema) = (at_root("examples/shop/app.py"), at_root("examples/shop/schema.sql"));
        let done = output(&["analyze", &app, "--schema", &schema, "--summary"]);
        let said: Vec<String> =
            done.stdout.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        for expected in ["procedures 7", "transactions 7", "statements 11 of 11 understood"] {
            assert!(said.iter().any(|line| line == expected), "{expected}: {}", done.stdout);
        }
    });
}

/// A file that is no UTF-8 is still a file.
#[test]
fn files_in_other_encodings_are_read() {
    let dir = TestDir::new("sources-encoding");
    let schema = schema_of(&dir, "agenda-1");
    let python =
        "# caf\u{e9}\ndef f(conn, flight):\n    conn.execute(\"DELETE FROM flights WHERE fltnum = %s\", (flight,))\n";
    let c = "/* caf\u{e9} */\nint f(int flight) { EXEC SQL DELETE FROM flights WHERE fltnum = :flight; EXEC SQL COMMIT; }\n";
    for (name, text) in [("latin.py", python), ("latin.pgc", c)] {
        let path = dir.file(name, "");
        let bytes: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).expect("Latin-1")).collect();
        std::fs::write(&path, bytes).expect("a file can be written");
        let done = output(&["analyze", &path, "--schema", &schema, "--summary"]);
        assert!(done.stdout.contains("1 of 1 understood"), "{name}: {}{}", done.stdout, done.stderr);
    }
}
