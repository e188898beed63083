//! The Python and C originals of AGENDA's examples do what their SQL forms say.

use txloom::corpus::{CorpusProgram, PROGRAMS};

use super::compare::{assert_same, by_interpreter, by_original};
use super::place::Place;
use super::process::Original;
use super::tools;
use crate::program_calls::Calls;
use crate::support::{limited, root};

/// Calls of a program that the interpreter and the original both carry out.
const COMPARED_CALLS: usize = 100;

/// The six of them.
pub(crate) fn examples() -> impl Iterator<Item = &'static CorpusProgram> {
    PROGRAMS.iter().filter(|program| program.name.starts_with("agenda-"))
}

/// The name of a program's files in Python and C, without their endings.
fn stem(program: &CorpusProgram) -> String {
    program.name.replace('-', "_")
}

/// The module of an example.
pub(crate) fn module(program: &CorpusProgram) -> String {
    format!("corpus/programs/agenda/python/{}.py", stem(program))
}

/// The source of an example in C.
pub(crate) fn source_in_c(program: &CorpusProgram) -> String {
    format!("corpus/programs/agenda/c/{}.pgc", stem(program))
}

/// The compiled library of an example in C.
pub(crate) fn library(program: &CorpusProgram) -> String {
    tools::c_programs().join(stem(program)).with_extension("so").to_string_lossy().into_owned()
}

fn check(seed: u64, start: fn(&Place) -> Original, part: fn(&CorpusProgram) -> String) {
    let mut place = Place::start("postgres");
    let mut original = start(&place);
    for program in examples() {
        let part = part(program);
        assert!(root().join(&part).exists(), "{part}");
        let procedures = program.read(&program.sources[0]).program;
        let calls: Vec<_> = Calls::new(program.name, &procedures, seed).take(COMPARED_CALLS).collect();
        let setup = program.definitions().setup;
        let ours = by_interpreter(place.engine(), &setup, &procedures, &calls);
        let theirs = by_original(place.engine(), &setup, (&mut original, &[part]), &calls);
        assert_same(program.name, &calls, &ours, &theirs);
    }
}

#[test]
fn python_does_what_the_procedures_say() {
    tools::python();
    limited(|| check(23, Original::python, module));
}

#[test]
fn c_does_what_the_procedures_say() {
    tools::c_programs();
    limited(|| check(24, Original::c, library));
}
