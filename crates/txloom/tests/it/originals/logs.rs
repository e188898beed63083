//! Logs of AGENDA's examples: the originals run, and the server writes down what they say.
//!
//! `corpus/programs/agenda/logs` has such logs, so that whoever reads logs needs no server. What changes from run to run,
//! time and process, is theirs to keep; everything else must be what a run gives now.
//! `TXLOOM_UPDATE_GOLDEN=1` records them anew.

use txloom::corpus::{CorpusProgram, PROGRAMS};

use super::java::classes;
use super::place::Place;
use super::process::Original;
use super::python::module;
use super::tools;
use crate::program_calls::Calls;
use crate::programs::reset;
use crate::support::{limited, root, update_asked_for};

/// Calls of a program, one after the other.
const CALLS: usize = 24;

/// The log of a program's calls.
fn log_of(place: &mut Place, original: &mut Original, program: &CorpusProgram, parts: &[String]) -> String {
    let procedures = program.read(&program.sources[0]).program;
    let calls: Vec<_> = Calls::new(program.name, &procedures, 3).take(CALLS).collect();
    reset(place.engine(), &program.definitions().setup);
    place.statements_of(|_| {
        original.program(parts);
        for call in &calls {
            let _ = original.call(call);
        }
        original.end();
    })
}

fn examples() -> impl Iterator<Item = &'static CorpusProgram> {
    PROGRAMS.iter().filter(|program| program.name.starts_with("agenda-"))
}

/// Compares a log with the recorded one, or records it.
#[track_caller]
fn check(name: &str, log: &str, plain: impl Fn(&str) -> String) {
    let path = root().join("corpus/programs/agenda/logs").join(name);
    if update_asked_for() {
        std::fs::write(&path, log).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let recorded = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let plain = |text: &str| text.lines().map(&plain).collect::<Vec<_>>();
    assert_eq!(plain(&recorded), plain(log), "{name} differs; TXLOOM_UPDATE_GOLDEN=1 accepts");
}

/// `2026-11-16 03:18:33.633 UTC [3647] LOG:  statement: BEGIN` from `LOG` on; a line that goes on as it is.
fn without_prefix(line: &str) -> String {
    line.split_once(" UTC [").and_then(|(_, rest)| rest.split_once("] ")).map_or(line, |(_, rest)| rest).to_string()
}

/// What stands above the statements: version, port, socket, and last the names of the columns. The socket lies where
/// Debian has it, not in a folder that was ours.
fn header(place: &Place) -> String {
    let log = place.statement_log().replace(&place.socket().display().to_string(), "/run/mysqld/mysqld.sock");
    let end = log.find("\nTime").and_then(|at| Some(at + 1 + log[at + 1..].find('\n')? + 1));
    log[..end.expect("the columns have names")].to_string()
}

/// `261116  3:18:33\t    12 Query\tCOMMIT` from `Query` on; the header says which version and port, and is left out.
fn without_columns(line: &str) -> String {
    line.split_once(" Query\t").map_or("", |(_, statement)| statement).to_string()
}

#[test]
fn on_postgres_logs_of_originals_are_those_of_the_corpus() {
    tools::class_path();
    tools::python();
    limited(|| {
        let mut place = Place::logging("postgres");
        let (mut java, mut python) = (Original::java(&place), Original::python(&place));
        for program in examples() {
            let classes = classes(program).expect("it has a class");
            let log = log_of(&mut place, &mut java, program, &classes);
            check(&format!("{}.java-postgres.log", program.name), &log, without_prefix);
            let module = module(program).expect("it has a module");
            let log = log_of(&mut place, &mut python, program, &[module]);
            check(&format!("{}.python-postgres.log", program.name), &log, without_prefix);
        }
    });
}

#[test]
fn on_mariadb_logs_of_originals_are_those_of_the_corpus() {
    tools::class_path();
    limited(|| {
        let mut place = Place::logging("mariadb");
        let mut java = Original::java(&place);
        for program in examples() {
            let classes = classes(program).expect("it has a class");
            let log = header(&place) + &log_of(&mut place, &mut java, program, &classes);
            check(&format!("{}.java-mariadb.log", program.name), &log, without_columns);
        }
    });
}

#[test]
fn postgres_writes_logs_for_programs_too() {
    tools::class_path();
    limited(|| {
        for ending in ["csv", "json"] {
            let mut place = Place::logging_as(ending);
            let mut java = Original::java(&place);
            let program = examples().next().expect("there is a first example");
            let log = log_of(&mut place, &mut java, program, &classes(program).expect("it has a class"));
            check(&format!("{}.java-postgres.{ending}", program.name), &log, |_| String::new());
        }
    });
}
