//! The Python originals of AGENDA's examples do what their SQL forms say.

use txloom::corpus::{CorpusProgram, PROGRAMS};

use super::compare::{assert_same, by_interpreter, by_original};
use super::place::Place;
use super::process::Original;
use super::tools;
use crate::program_calls::Calls;
use crate::support::{limited, root};

/// Calls of a program that the interpreter and the original both carry out.
const COMPARED_CALLS: usize = 100;

/// The module of a program's Python original, if it has one.
pub(crate) fn module(program: &CorpusProgram) -> Option<String> {
    let module = format!("corpus/programs/agenda/python/{}.py", program.name.replace('-', "_"));
    root().join(&module).exists().then_some(module)
}

fn check(seed: u64) {
    let mut place = Place::start("postgres");
    let mut python = Original::python(&place);
    let mut compared = Vec::new();
    for program in PROGRAMS {
        let Some(module) = module(program) else { continue };
        let procedures = program.read(&program.sources[0]).program;
        let calls: Vec<_> = Calls::new(program.name, &procedures, seed).take(COMPARED_CALLS).collect();
        let setup = program.definitions().setup;
        let ours = by_interpreter(place.engine(), &setup, &procedures, &calls);
        let theirs = by_original(place.engine(), &setup, (&mut python, &[module]), &calls);
        assert_same(program.name, &calls, &ours, &theirs);
        compared.push(program.name);
    }
    assert_eq!(compared.len(), 6, "{compared:?}");
}

#[test]
fn python_does_what_the_procedures_say() {
    tools::python();
    limited(|| check(23));
}
