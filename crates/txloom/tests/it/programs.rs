//! The programs of the corpus, run for real: serially, on every engine, and against the servers' own procedures.

use std::collections::{BTreeMap, BTreeSet};

use txloom::corpus::{CorpusProgram, PROGRAMS, ProgramSource};
use txloom_core::case::AssertWhen;
use txloom_core::engine::Engine;
use txloom_core::value::Value;

use crate::program_calls::{Called, Calls, by_server, interpreted, session};
use crate::support::{engine, limited};

/// Calls of a program, one after the other, after each of which everything must hold.
const SERIAL_CALLS: usize = 25;
/// Calls of a program that the interpreter and the server both carry out.
const COMPARED_CALLS: usize = 100;
/// All rows are compared after so many calls.
const ROWS_EVERY: usize = 10;

#[track_caller]
pub(crate) fn reset(engine: &mut dyn Engine, setup: &[String]) {
    let outcomes = engine.reset(setup).unwrap_or_else(|error| panic!("{error}"));
    for (sql, outcome) in setup.iter().zip(&outcomes) {
        assert_eq!(outcome.error, None, "{}: {sql}", engine.info().target);
    }
    assert_eq!(outcomes.len(), setup.len());
}

/// The rows of all tables, in an order of their own.
pub(crate) fn state(engine: &mut dyn Engine) -> BTreeMap<String, Vec<String>> {
    let dialect = engine.info().dialect;
    let state = engine.snapshot().unwrap_or_else(|error| panic!("{error}"));
    let rows = |result| {
        let show = |row: Vec<Value>| row.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
        let mut rows: Vec<String> = dialect.values(result).into_iter().map(show).collect();
        rows.sort();
        rows
    };
    state.tables.iter().map(|(name, result)| (name.clone(), rows(result))).collect()
}

/// Every assertion of the program holds, at the start or after a call.
#[track_caller]
fn check_assertions(engine: &mut dyn Engine, program: &CorpusProgram, when: AssertWhen, after: &str) {
    for assert in program.definitions().asserts.iter().filter(|one| one.when == AssertWhen::Each || one.when == when) {
        let outcome = engine.probe(&assert.sql).unwrap_or_else(|error| panic!("{error}"));
        let context = format!("{}: {}: `{}` {after}", engine.info().target, program.name, assert.name);
        assert_eq!(outcome.error, None, "{context}");
        let rows = engine.info().dialect.values(outcome.rows().expect("it is a query"));
        assert_eq!(rows, [[]; 0], "{context}");
    }
}

/// Calls by seed, one after the other, on a fresh database. Gives how each ended.
fn run_serially(engine: &mut dyn Engine, program: &CorpusProgram, source: &ProgramSource) -> Vec<(String, Called)> {
    let procedures = program.read(source).program;
    reset(engine, &program.definitions().setup);
    check_assertions(engine, program, AssertWhen::Start, "at the start");
    let mut session = session(engine);
    let mut ends = Vec::new();
    for call in Calls::new(program.name, &procedures, 7).take(SERIAL_CALLS) {
        let called = interpreted(engine, session.as_mut(), &procedures, &call);
        check_assertions(engine, program, AssertWhen::Each, &format!("after {call}"));
        ends.push((call.to_string(), called));
    }
    check_assertions(engine, program, AssertWhen::End, "at the end");
    ends
}

/// Every program, whatever language it is written in, keeps its invariants; and the languages say the same.
#[track_caller]
fn check_serial(target: &str) {
    let mut engine = engine(target);
    for program in PROGRAMS {
        let outputs = |ends: &[(String, Called)]| -> Vec<Option<Vec<Value>>> {
            ends.iter().map(|(_, called)| called.clone().ok()).collect()
        };
        let mut states = Vec::new();
        for source in program.sources {
            let ends = run_serially(engine.as_mut(), program, source);
            let done = ends.iter().filter(|(_, called)| called.is_ok()).count();
            assert!(done * 3 >= SERIAL_CALLS, "{}: most calls do something: {ends:?}", source.path);
            states.push((outputs(&ends), state(engine.as_mut())));
        }
        assert!(states.windows(2).all(|pair| pair[0] == pair[1]), "{target}: {}: {states:?}", program.name);
    }
}

#[test]
fn on_sqlite_every_program_keeps_its_invariants() {
    limited(|| check_serial("sqlite"));
}

#[test]
fn on_model_every_program_keeps_its_invariants() {
    limited(|| check_serial("model"));
}

#[test]
fn on_postgres_every_program_keeps_its_invariants() {
    limited(|| check_serial("postgres"));
}

#[test]
fn on_mariadb_every_program_keeps_its_invariants() {
    limited(|| check_serial("mariadb"));
}

/// The interpreter and the server's own procedure give the same results, fail together, and leave the same rows.
#[track_caller]
fn check_against_server(target: &str, file: &str, seed: u64) {
    let mut engine = engine(target);
    let engine = engine.as_mut();
    for program in PROGRAMS {
        let Some(source) = program.source(file) else { continue };
        let procedures = program.read(source).program;
        let calls: Vec<_> = Calls::new(program.name, &procedures, seed).take(COMPARED_CALLS).collect();
        let setup = program.definitions().setup;
        reset(engine, &setup);
        let mut interpreting = session(engine);
        let mut expected = Vec::new();
        for (at, call) in calls.iter().enumerate() {
            let called = interpreted(engine, interpreting.as_mut(), &procedures, call);
            expected.push((called, (at % ROWS_EVERY == 0).then(|| state(engine))));
        }
        let last = state(engine);
        drop(interpreting);
        let routines = txloom_core::program::front::Definitions::read(source.text).routines;
        reset(engine, &[setup, routines].concat());
        let mut calling = session(engine);
        let (mut returned, mut failures) = (BTreeSet::new(), Vec::new());
        for (call, (ours, rows)) in calls.iter().zip(&expected) {
            let procedure = procedures.procedure(&call.procedure).expect("it was drawn");
            let theirs = by_server(engine, calling.as_mut(), procedure, call);
            let context = format!("{target}: {}: {call}: {ours:?}, {theirs:?}", program.name);
            assert_eq!(*ours, theirs, "{context}");
            if let Some(rows) = rows {
                assert_eq!(*rows, state(engine), "{context}");
            }
            returned.extend(theirs.is_ok().then_some(&call.procedure));
            failures.extend(theirs.err().map(|error| format!("{call}: {error}")));
        }
        assert_eq!(last, state(engine), "{target}: {}", program.name);
        assert_eq!(returned.len(), procedures.procedures.len(), "{target}: {}: {failures:#?}", program.name);
    }
}

#[test]
fn on_mariadb_calls_are_what_the_server_makes_of_them() {
    limited(|| check_against_server("mariadb", "mariadb.sql", 11));
}

#[test]
fn on_postgres_calls_are_what_the_server_makes_of_them() {
    limited(|| check_against_server("postgres", "postgres.sql", 12));
}
