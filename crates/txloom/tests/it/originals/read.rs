//! What we read from the originals of AGENDA's examples does what the originals do.
//!
//! `agenda` shows that the originals do what the SQL forms say. Here the program comes from the original's own source:
//! read by a front-end, carried out by the interpreter, compared with the run of the real thing.

use txloom::analyze::{Project, SourceFile};
use txloom::corpus::CorpusProgram;
use txloom_core::program::Severity;

use super::agenda::{examples, library, module, source_in_c};
use super::compare::{assert_same, by_interpreter, by_original};
use super::place::Place;
use super::process::Original;
use super::tools;
use crate::program_calls::Calls;
use crate::support::{limited, root};

/// Calls of a program that the interpreter and the original both carry out.
const COMPARED_CALLS: usize = 100;

/// What we read from a source, with the tables of its SQL form.
pub(crate) fn read(program: &CorpusProgram, source: &str) -> Project {
    let text = std::fs::read_to_string(root().join(source)).unwrap_or_else(|error| panic!("{source}: {error}"));
    let tables = program.definitions().setup.join(";\n") + ";\n";
    let schema = SourceFile::new("schema.sql", tables);
    let project = Project::read(vec![SourceFile::new(source, text), schema]);
    let errors: Vec<_> = project.diagnostics.iter().filter(|(_, one)| one.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{source}: {errors:?}");
    assert_eq!(project.statements.0, project.statements.1, "{source}: statements, understood");
    project
}

fn check(
    seed: u64,
    start: fn(&Place) -> Original,
    part: fn(&CorpusProgram) -> String,
    source: fn(&CorpusProgram) -> String,
) {
    let mut place = Place::start("postgres");
    let mut original = start(&place);
    for program in examples() {
        let project = read(program, &source(program));
        let procedures = program.read(&program.sources[0]).program;
        let calls: Vec<_> = Calls::new(program.name, &procedures, seed).take(COMPARED_CALLS).collect();
        let setup = program.definitions().setup;
        let ours = by_interpreter(place.engine(), &setup, &project.program, &calls);
        let theirs = by_original(place.engine(), &setup, (&mut original, &[part(program)]), &calls);
        assert_same(&format!("{}: {}", program.name, project.program), &calls, &ours, &theirs);
    }
}

#[test]
fn what_we_read_from_python_does_what_python_does() {
    tools::python();
    limited(|| check(25, Original::python, module, module));
}

#[test]
fn what_we_read_from_c_does_what_c_does() {
    tools::c_programs();
    limited(|| check(26, Original::c, library, source_in_c));
}
