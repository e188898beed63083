//! What we read from the originals of AGENDA's examples does what the originals do.
//!
//! `agenda` shows that the originals do what the SQL forms say. Here the program comes from the original's own source:
//! read by a front-end, carried out by the interpreter, compared with the run of the real thing.

use std::collections::BTreeMap;

use txloom::analyze::{Project, SourceFile};
use txloom::corpus::{CorpusProgram, PROGRAMS};
use txloom_core::case::Call;
use txloom_core::program::{Mode, Procedure, Program, Severity};
use txloom_core::value::Value;

use super::agenda::{examples, library, module, source_in_c};
use super::compare::{assert_same, by_interpreter, by_original};
use super::java;
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

/// The calls with the names that our reading gives to the parameters; the order is the same.
fn renamed(calls: &[Call], project: &Project) -> Vec<Call> {
    let rename = |call: &Call| {
        let procedure = project.program.procedure(&call.procedure).unwrap_or_else(|| panic!("{call}: not read"));
        let names = procedure.parameters.iter().map(|parameter| parameter.name.clone());
        let values = call.arguments.iter().map(|(_, value)| value.clone());
        assert_eq!(procedure.parameters.len(), call.arguments.len(), "{call}: {}", project.program);
        Call { procedure: call.procedure.clone(), arguments: names.zip(values).collect() }
    };
    calls.iter().map(rename).collect()
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
        let mut ours = by_interpreter(place.engine(), &setup, &project.program, &renamed(&calls, &project));
        // What a function of C returns is a status, which the process of the original does not tell.
        if source(program).ends_with(".pgc") {
            ours.iter_mut().filter_map(|(called, _)| called.as_mut().ok()).for_each(Vec::clear);
        }
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

/// The Java files of a program, read together with the tables of its SQL form.
pub(crate) fn read_java(program: &CorpusProgram) -> Project {
    let programs = root().join("corpus/programs");
    let folder = programs.join(program.name).join("java");
    let mut files: Vec<_> = match std::fs::read_dir(&folder) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(_) => vec![programs.join("agenda/java").join(format!("{}.java", java::class_name(program.name)))],
    };
    files.sort();
    let source = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        SourceFile::new(path.display().to_string(), text)
    };
    let schema = SourceFile::new("schema.sql", program.definitions().setup.join(";\n") + ";\n");
    Project::read(files.iter().map(source).chain([schema]).collect())
}

/// A call of the SQL form as one of the Java form: `deposit_checking(cust_name=…)` is `depositchecking(name=…)`.
fn as_java(call: &Call, java: &Program, sql: &Program) -> Call {
    let plain = |name: &str| name.replace('_', "");
    let own = java.procedures.iter().find(|one| plain(&one.name) == plain(&call.procedure));
    let own = own.unwrap_or_else(|| panic!("no {} in {java}", call.procedure));
    let theirs = sql.procedure(&call.procedure).expect("it is called");
    let inputs = |procedure: &Procedure| -> Vec<String> {
        procedure.parameters.iter().filter(|one| one.mode != Mode::Out).map(|one| one.name.clone()).collect()
    };
    let names: BTreeMap<String, String> = inputs(theirs).into_iter().zip(inputs(own)).collect();
    let rename = |(name, value): &(String, Value)| (names.get(name).cloned().unwrap_or(name.clone()), value.clone());
    Call { procedure: own.name.clone(), arguments: call.arguments.iter().map(rename).collect() }
}

#[test]
fn what_we_read_from_java_does_what_java_does() {
    tools::class_path();
    limited(|| {
        let mut place = Place::start("postgres");
        let mut original = Original::java(&place);
        let mut compared = 0;
        for program in PROGRAMS {
            let Some(classes) = java::classes(program) else { continue };
            let project = read_java(program);
            let sql = program.read(program.source("postgres.sql").unwrap_or(&program.sources[0])).program;
            let calls: Vec<_> = Calls::new(program.name, &sql, 27).take(COMPARED_CALLS).collect();
            let own: Vec<_> = calls.iter().map(|call| as_java(call, &project.program, &sql)).collect();
            let setup = program.definitions().setup;
            let ours = by_interpreter(place.engine(), &setup, &project.program, &own);
            let theirs = by_original(place.engine(), &setup, (&mut original, &classes), &calls);
            assert_same(program.name, &calls, &ours, &theirs);
            compared += 1;
        }
        assert_eq!(compared, 7 + 6, "the benchmarks and AGENDA's examples");
    });
}
