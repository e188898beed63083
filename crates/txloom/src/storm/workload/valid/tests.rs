//! Sessions without a database: answers are made up.

use txloom_core::dialect::Sqlite;
use txloom_core::engine::Version;
use txloom_core::level::LevelName;
use txloom_core::outcome::{Column, Outcome, StatementResult, TxStatus};
use txloom_core::shadow::Access as Draws;
use txloom_core::shadow::measure::kolmogorov_smirnov;

use super::super::super::Scale;
use super::super::super::log::{Log, Seen};
use super::super::{Answer, Next};
use super::*;
use txloom_core::history::Status;

fn engine() -> EngineInfo {
    EngineInfo {
        target: "test".to_string(),
        family: "test",
        version: Version::parse("3.45"),
        settings: Vec::new(),
        dialect: &Sqlite,
        levels: Vec::new(),
        default_level: LevelName::custom("serializable"),
        capabilities: txloom_core::engine::Capabilities::default(),
        client: None,
    }
}

fn shape() -> Shape {
    Shape::new(Scale { sessions: 2, keys: 400, ops: 4 })
}

/// Everything touches exactly one row.
fn touched() -> Outcome {
    let result = StatementResult { affected: Some(1), ..StatementResult::default() };
    Outcome { results: vec![result], ..Outcome::empty(TxStatus::Open) }
}

/// Runs transactions of one session, all of which commit; returns their statements.
fn run(workload: &Valid, transactions: usize) -> Vec<String> {
    let mut session = workload.session(1, 0);
    let (mut log, mut statements) = (Log::default(), Vec::new());
    for _ in 0..transactions {
        session.begin();
        while let Next::Execute(sql) = session.next() {
            session.answered(&Answer { dialect: &Sqlite, outcome: &touched() }, &mut log);
            statements.push(sql);
        }
        session.ended(Status::Committed);
    }
    statements
}

#[test]
fn the_seed_decides_what_is_asked_for() {
    for make in [Valid::ycsb, Valid::updates, Valid::dbstorm] {
        let statements = |seed| run(&make(&Shape { seed, ..shape() }, &engine()).unwrap(), 30);
        assert_eq!(statements(1), statements(1));
        assert_ne!(statements(1), statements(2));
    }
}

#[test]
fn predicates_can_be_left_out() {
    let workload = Valid::ycsb(&Shape { has_predicates: false, ..shape() }, &engine()).unwrap();
    assert!(run(&workload, 100).iter().all(|sql| !sql.contains("JOIN")));
    assert!(run(&Valid::ycsb(&shape(), &engine()).unwrap(), 100).iter().any(|sql| sql.contains("JOIN")));
}

#[test]
fn where_rows_should_come_and_go_there_must_be_room() {
    let error = |dynamic| Valid::ycsb(&Shape { dynamic, ..shape() }, &engine()).map(drop).unwrap_err();
    assert!(error(0.0).contains("none of its keys is dynamic"), "{}", error(0.0));
    assert!(error(1.0).contains("all of its keys are dynamic"), "{}", error(1.0));
}

/// β of the updates of a storm, and the decimal logarithm of 1 − β.
fn goodness(shape: &Shape, transactions: usize) -> (f64, f64) {
    let workload = Valid::updates(shape, &engine()).unwrap();
    run(&workload, transactions);
    let figures = workload.figures().unwrap();
    let (_, _, goodness) = &figures.goodness[0];
    (goodness.beta(), goodness.miss_log10())
}

#[test]
fn even_accesses_fit_as_the_paper_reports() {
    let even = |skew| Shape { access: Draws::Even, skew, ..Shape::new(Scale { keys: 2_000, ..Scale::default() }) };
    let (_, uniform) = goodness(&even(0.0), 4_800);
    assert!(uniform <= -100.0, "1 − β = 10^{uniform}");
    let (_, zipf) = goodness(&even(0.4), 4_800);
    assert!(zipf <= -12.0, "1 − β = 10^{zipf}");
}

#[test]
fn independent_accesses_fit_as_chance_has_it() {
    let of = |seed| goodness(&Shape { seed, ..Shape::new(Scale { keys: 100, ..Scale::default() }) }, 250).0;
    let mut betas: Vec<f64> = (0..1_000).map(of).collect();
    let (distance, probability) = kolmogorov_smirnov(&mut betas);
    assert!(probability > 0.001, "distance {distance}, probability {probability}");
}

#[test]
fn a_row_that_must_be_found_is_missed() {
    let workload = Valid::ycsb(&shape(), &engine()).unwrap();
    let mut session = workload.generator(0);
    let mut missed = 0;
    for _ in 0..200 {
        session.begin();
        while let Next::Execute(sql) = session.next() {
            let mut log = Log::default();
            // Every query returns nothing.
            let columns = vec![Column { name: "v".to_string(), type_name: String::new() }];
            let result = StatementResult { columns, affected: Some(1), ..StatementResult::default() };
            let outcome = Outcome { results: vec![result], ..Outcome::empty(TxStatus::Open) };
            session.answered(&Answer { dialect: &Sqlite, outcome: &outcome }, &mut log);
            let seen = log.seen();
            assert!(seen.iter().all(|(_, seen)| *seen == Seen::NoRow));
            missed += usize::from(sql.contains("JOIN") && !sql.contains("attr0") && !seen.is_empty());
            // Whether another value of an attribute is missing, nobody can tell.
            assert!(!sql.contains("JOIN") || !sql.contains("attr0") || seen.is_empty(), "{sql}");
        }
        session.ended(Status::Aborted);
    }
    assert!(missed > 20, "{missed}");
}

#[test]
fn what_became_of_unknown_transactions_is_found_out() {
    let workload = Valid::ycsb(&shape(), &engine()).unwrap();
    let claimed = || {
        let keys = workload.plan.shadow.tables()[1].keys();
        (0..keys.dynamic_count()).filter(|at| keys.word(*at).is_some_and(|word| word.see().claimed)).count()
    };
    let mut session = workload.generator(0);
    while claimed() == 0 {
        session.begin();
        while session.next() != Next::Commit {}
        session.ended(Status::Unknown);
    }
    let absent = |key| Access::Absent(Item { table: 1, key });
    workload.at_rest(&(0..400).map(absent).collect::<Vec<_>>());
    assert_eq!(claimed(), 0);
}
