//! The bugs that can be planted in any engine: the corpus shows each of them, at every level, and the healthy engine
//! does what its files say.

use txloom::corpus;
use txloom::execute::EngineRunner;
use txloom_core::case::Case;
use txloom_core::case::check::{Mismatch, check};
use txloom_core::oracle::Runner;
use txloom_core::planted::{self, Place, PlantedBug};
use txloom_core::trace::Trace;
use txloom_core::trace::contention::{instrument, is_contended};

use crate::support::{limited, run, runner};

fn bugs() -> impl Iterator<Item = (&'static PlantedBug, Case)> {
    planted::ALL.iter().filter(|bug| bug.place == Place::AnyEngine).map(|bug| {
        let path = format!("planted/{}.sql", bug.name);
        let found = corpus::PLANTED.iter().find(|case| case.path == path);
        (bug, found.unwrap_or_else(|| panic!("there is no {path}")).parse())
    })
}

/// Runs the case at every level.
fn at_every_level(runner: &mut EngineRunner, case: &Case) -> Vec<(String, Trace, Vec<Mismatch>)> {
    let levels = runner.targets()[0].levels.clone();
    let run = |level| {
        let mut case = case.clone();
        case.set_level(level);
        let trace = run(runner, &case);
        let mismatches = check(&case, &trace);
        (case.level_of(&trace.sessions[0].name).expect("a level").to_string(), trace, mismatches)
    };
    levels.into_iter().map(run).collect()
}

fn shows_on(target: &'static str) {
    limited(move || {
        let mut healthy = runner(target);
        let mut complaints = Vec::new();
        for (bug, case) in bugs() {
            let planted_target = format!("{target}+{}", bug.name);
            let mut planted = runner(&planted_target);
            for (level, _, mismatches) in at_every_level(&mut healthy, &case) {
                complaints.extend(mismatches.iter().map(|found| format!("{} at {level}: {found:?}", bug.name)));
            }
            for (level, trace, mismatches) in at_every_level(&mut planted, &case) {
                let shows = !mismatches.is_empty() && trace.death.is_some() == (bug.name == "crash");
                if !shows {
                    complaints.push(format!("{planted_target} at {level} does not show: {mismatches:?}"));
                }
            }
        }
        assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
    });
}

#[test]
fn sqlite() {
    shows_on("sqlite");
}

#[test]
fn model() {
    shows_on("model");
}

#[test]
fn postgres() {
    shows_on("postgres");
}

#[test]
fn mariadb() {
    shows_on("mariadb");
}

/// An error that is not reported must not be noticed later, by a transaction that has failed.
#[test]
fn after_a_missing_error_the_transaction_goes_on() {
    limited(|| {
        for target in ["sqlite+missing-error", "model+missing-error", "postgres+missing-error", "mariadb+missing-error"]
        {
            let (_, case) = bugs().find(|(bug, _)| bug.name == "missing-error").expect("it exists");
            for (level, trace, _) in at_every_level(&mut runner(target), &case) {
                let errors: Vec<_> =
                    trace.steps.iter().filter_map(|step| step.outcome.as_ref()?.error.as_ref()).collect();
                assert!(errors.is_empty(), "{target} at {level}: {errors:?}");
                let rows = trace.final_state.expect("the target lives").tables["t"].rows.len();
                assert_eq!(rows, 4, "{target} at {level}");
            }
        }
    });
}

#[test]
fn rows_that_two_transactions_write_are_seen() {
    let contended = |steps: &str| {
        let setup =
            "/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);\n/*init*/ INSERT INTO t VALUES (1, 10), (2, 20);";
        let case = txloom_core::case::parse(&format!("-- @case 1\n{setup}\n{steps}\n")).expect("a case");
        let trace = run(&mut runner("model"), &instrument(&case));
        is_contended(&case, &trace)
    };
    let begin = "/*a*/ BEGIN;\n/*b*/ BEGIN;\n/*a*/ UPDATE t SET v = v + 1 WHERE id = 1;\n";
    assert!(contended(&format!("{begin}/*b*/ UPDATE t SET v = 0;\n/*a*/ COMMIT;\n/*b*/ COMMIT;")));
    // What fails writes nothing.
    assert!(!contended(&format!("{begin}/*b*/ UPDATE t SET id = 1 WHERE id = 2;\n/*a*/ ROLLBACK;")));
    assert!(!contended(&format!("{begin}/*b*/ UPDATE t SET v = 0 WHERE id = 2;\n/*a*/ COMMIT;\n/*b*/ COMMIT;")));
}
