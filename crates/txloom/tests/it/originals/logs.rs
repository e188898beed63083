//! Logs of AGENDA's examples: the originals run, and the server writes down what they say.
//!
//! `corpus/programs/agenda/logs` has such logs, so that whoever reads logs needs no server. Times,
//! processes and the greetings of drivers are theirs to keep; the statements must be what a run gives now.
//! `TXLOOM_UPDATE_GOLDEN=1` records them anew.

use txloom::corpus::CorpusProgram;

use super::agenda::{examples, module};
use super::java::classes;
use super::place::Place;
use super::process::Original;
use super::tools;
use crate::program_calls::Calls;
use crate::programs::reset;
use crate::support::{limited, root, update_asked_for};

/// Calls of a program, one after the other.
const CALLS: usize = 24;

/// The log of a program's calls.
fn log_of(place: &mut Place, original: &mut Original, program: &CorpusProgram, parts: &[String]) -> String {
    let procedures = program.read(&program.sources[0]).program;
    let mut calls: Vec<_> = Calls::new(program.name, &procedures, 3).take(CALLS).collect();
    // Customers order by day, and are delivered to at night: new lines are refused once there was a delivery.
    calls.sort_by_key(|call| call.procedure == "delivery");
    reset(place.engine(), &program.definitions().setup);
    place.statements_of(|_| {
        original.program(parts);
        for call in &calls {
            let _ = original.call(call);
        }
        original.end();
    })
}

/// Compares a log with the recorded one, or records it. What a line says that counts is `said`.
#[track_caller]
fn check(name: &str, log: &str, said: fn(&str) -> Option<&str>) {
    let path = root().join("corpus/programs/agenda/logs").join(name);
    if update_asked_for() {
        std::fs::write(&path, log).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let recorded = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let said = |text: &str| text.lines().filter_map(said).map(str::to_string).collect::<Vec<_>>();
    assert!(said(log).len() > CALLS, "{log}");
    assert_eq!(said(&recorded), said(log), "{name} differs; TXLOOM_UPDATE_GOLDEN=1 accepts");
}

/// Statements of the examples, not those by which a driver, each version in its way, makes itself at home.
fn is_ours(sql: &str) -> bool {
    let words = ["flights", "customer", "order_line", "saving", "checking"];
    sql.starts_with("COMMIT") || words.iter().any(|word| sql.contains(word))
}

/// `2026-11-16 03:18:33.633 UTC [3647] LOG:  execute S_1: COMMIT` from the statement on; parameters as they are.
fn in_postgres(line: &str) -> Option<&str> {
    let (_, said) = line.split_once(" UTC [")?.1.split_once("] ")?;
    if said.starts_with("DETAIL:  parameters: ") && !said.contains("hstore") {
        return Some(said);
    }
    let (_, sql) = said.strip_prefix("LOG:  ")?.split_once(": ")?;
    is_ours(sql).then_some(sql)
}

/// `261116  3:18:33\t    12 Query\tCOMMIT` from the statement on.
fn in_mariadb(line: &str) -> Option<&str> {
    line.split_once(" Query\t").map(|(_, sql)| sql).filter(|sql| is_ours(sql))
}

/// A line of a file for programs that has a statement.
fn in_columns(line: &str) -> Option<&str> {
    is_ours(line).then_some("a statement")
}

/// What stands above the statements: version, port, socket, and last the names of the columns. The socket lies where
/// Debian has it, not in a folder that was ours.
fn header(place: &Place) -> String {
    let log = place.statement_log().replace(&place.socket().display().to_string(), "/run/mysqld/mysqld.sock");
    let end = log.find("\nTime").and_then(|at| Some(at + 1 + log[at + 1..].find('\n')? + 1));
    log[..end.expect("the columns have names")].to_string()
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
            check(&format!("{}.java-postgres.log", program.name), &log, in_postgres);
            let log = log_of(&mut place, &mut python, program, &[module(program)]);
            check(&format!("{}.python-postgres.log", program.name), &log, in_postgres);
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
            check(&format!("{}.java-mariadb.log", program.name), &log, in_mariadb);
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
            check(&format!("{}.java-postgres.{ending}", program.name), &log, in_columns);
        }
    });
}
