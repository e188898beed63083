//! The benchmark programs in Java give the program that their SQL forms give.
//!
//! **Problem.** Two sources are never the same tree: one has a cursor where the other has a `ResultSet`, a `SIGNAL` where
//! the other has an `else`, other names, other variables. What must be the same is what the analyses look at.
//!
//! **Normal form.** Procedures are matched by name, without case and underscores. Then three things are compared:
//!
//! | what | how | by |
//! |---|---|---|
//! | statements and branches | all sequences of statements that some way through the procedure sends | [`words`] |
//! | data flow, decisions | the schedules of `core::flow`, as written, and with one transaction per statement | [`told`] |
//! | who meets whom | the conflicts of `core::search`: kind, table, columns | [`told`] |
//!
//! A statement is its [`letter`](words::letter): for each table that it mentions, what it does, the columns that it reads,
//! tests and writes, by which key it finds its rows (or that it scans), and the lock that it asks for.
//!
//! ```text
//!   IF NOT FOUND() THEN SIGNAL 'none'; END IF;        if (rs.next()) { update… } else throw …
//!   UPDATE …; COMMIT;                                  conn.commit();
//!
//!   both: SELECT t …, then (ROLLBACK, FAIL) or (UPDATE t …, COMMIT)
//! ```
//!
//! What differs rightly, and is the same here: where a branch stands, as long as it leads to the same statements; a
//! COMMIT at the end, and the end; a ROLLBACK before a failure, and the failure; local variables; how a loop over rows is
//! written. Which values a condition compares is not looked at here, but which columns they come from is: a decision is
//! part of the data flow. (That both decide in the same way, `originals` shows by running them.)

mod words;
mod told;

use std::collections::BTreeMap;

use txloom::analyze::{Project, SourceFile};
use txloom::corpus::{CorpusProgram, PROGRAMS};
use txloom_core::flow::program::{Cut, Given};
use txloom_core::program::Severity;
use txloom_core::search::Options;

use crate::originals::read::read_java;
use crate::support::limited;

/// The programs, with their numbers of procedures.
const BENCHMARKS: &[(&str, usize)] =
    &[("tpcc", 5), ("seats", 6), ("smallbank", 6), ("tatp", 7), ("voter", 1), ("twitter", 7), ("wikipedia", 5)];

/// The name of a procedure, without what differs between languages.
fn plain(name: &str) -> String {
    name.replace('_', "").to_lowercase()
}

/// A program in SQL: `postgres.sql` or `mariadb.sql`, with the tables.
fn read_sql(program: &CorpusProgram, file: &str) -> Project {
    let source = program.source(file).unwrap_or_else(|| panic!("{}: no {file}", program.name));
    let tables = program.definitions().setup.join(";\n") + ";\n";
    Project::read(vec![SourceFile::new("schema.sql", tables), SourceFile::new(file, source.text)])
}

#[track_caller]
fn complete(context: &str, project: &Project) {
    let errors: Vec<_> = project.diagnostics.iter().filter(|(_, one)| one.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{context}: {errors:?}");
    assert_eq!(project.statements.0, project.statements.1, "{context}: statements, understood");
}

fn by_name(project: &Project) -> BTreeMap<String, Given<'_>> {
    project.given().into_iter().map(|given| (plain(&given.access.name), given)).collect()
}

/// In what a program's two forms differ.
fn differences(program: &CorpusProgram, file: &str, procedures: usize) -> Vec<String> {
    let (sql, java) = (read_sql(program, file), read_java(program));
    complete(file, &sql);
    complete("java", &java);
    let (ours, theirs) = (by_name(&sql), by_name(&java));
    assert_eq!(ours.len(), procedures, "{}: {:?}", program.name, ours.keys());
    assert!(ours.keys().eq(theirs.keys()), "{}: {:?}, but in Java {:?}", program.name, ours.keys(), theirs.keys());
    let mut found = Vec::new();
    for (procedure, given) in &ours {
        found.extend(words::difference(*given, theirs[procedure]).map(|one| format!("{procedure}: {one}")));
    }
    for cut in [Cut::AsWritten, Cut::EachQuery] {
        let difference = told::difference(&told::schedules(&sql, cut), &told::schedules(&java, cut));
        found.extend(difference.map(|one| format!("schedules, {cut:?}: {one}")));
    }
    for references in [false, true] {
        let options = Options { references, ..Options::default() };
        let difference = told::difference(&told::conflicts(&sql, options), &told::conflicts(&java, options));
        found.extend(difference.map(|one| format!("conflicts, {options:?}: {one}")));
    }
    found.into_iter().map(|one| format!("{}: {one}", program.name)).collect()
}

fn check(file: &str) {
    let mut found = Vec::new();
    for (name, procedures) in BENCHMARKS {
        let program = PROGRAMS.iter().find(|program| program.name == *name).expect("it is in the corpus");
        found.extend(differences(program, file, *procedures));
    }
    assert!(found.is_empty(), "{file} and Java differ:\n\n{}", found.join("\n\n"));
}

#[test]
fn java_gives_the_program_of_postgres() {
    limited(|| check("postgres.sql"));
}

#[test]
fn java_gives_the_program_of_mariadb() {
    limited(|| check("mariadb.sql"));
}
