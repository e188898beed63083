//! The Java originals of the corpus do what their SQL forms say, on PostgreSQL and on MariaDB.

use std::collections::BTreeSet;
use std::path::PathBuf;

use txloom::corpus::{CorpusProgram, PROGRAMS};

use super::compare::{assert_same, by_interpreter, by_original};
use super::place::Place;
use super::process::{Original, class_of, classes_in};
use super::tools;
use crate::program_calls::Calls;
use crate::support::{limited, root};

/// Calls of a program that the interpreter and the original both carry out.
const COMPARED_CALLS: usize = 100;

/// `agenda-1-fixed` → `Agenda1Fixed`.
pub(crate) fn class_name(program: &str) -> String {
    let upper = |word: &str| word[..1].to_uppercase() + &word[1..];
    program.split('-').map(upper).collect()
}

/// The classes of a program's Java original, if it has one.
pub(crate) fn classes(program: &CorpusProgram) -> Option<Vec<String>> {
    let programs = root().join("corpus/programs");
    let folder = programs.join(program.name).join("java");
    let agenda: PathBuf = programs.join("agenda/java").join(format!("{}.java", class_name(program.name)));
    if folder.exists() { Some(classes_in(&folder)) } else { agenda.exists().then(|| vec![class_of(&agenda)]) }
}

#[track_caller]
fn check(target: &str, file: &str, seed: u64) {
    let mut place = Place::start(target);
    let mut java = Original::java(&place);
    let mut compared = Vec::new();
    for program in PROGRAMS {
        let Some(classes) = classes(program) else { continue };
        let source = program.source(file).unwrap_or(&program.sources[0]);
        let procedures = program.read(source).program;
        let calls: Vec<_> = Calls::new(program.name, &procedures, seed).take(COMPARED_CALLS).collect();
        let setup = program.definitions().setup;
        let ours = by_interpreter(place.engine(), &setup, &procedures, &calls);
        let theirs = by_original(place.engine(), &setup, (&mut java, &classes), &calls);
        assert_same(&format!("{target}: {}", program.name), &calls, &ours, &theirs);
        let ends = calls.iter().zip(&theirs);
        let returned: BTreeSet<_> =
            ends.filter(|(_, (called, _))| called.is_ok()).map(|(call, _)| &call.procedure).collect();
        assert_eq!(returned.len(), procedures.procedures.len(), "{target}: {}: {returned:?}", program.name);
        compared.push(program.name);
    }
    assert_eq!(compared.len(), 7 + 6, "the benchmarks and AGENDA's examples: {compared:?}");
}

#[test]
fn on_postgres_java_does_what_the_procedures_say() {
    tools::class_path();
    limited(|| check("postgres", "postgres.sql", 21));
}

#[test]
fn on_mariadb_java_does_what_the_procedures_say() {
    tools::class_path();
    limited(|| check("mariadb", "mariadb.sql", 22));
}
