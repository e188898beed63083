//! Generated schemas on real engines: they can be set up, hold the rows that they should, and keep their promises.

use txloom_core::engine::{Engine, EngineInfo};
use txloom_core::generate::Demands;
use txloom_core::generate::language::Language;
use txloom_core::generate::model::Model;
use txloom_core::generate::random::Random;
use txloom_core::generate::schema::{Schema, Table, assertions, make, print};
use txloom_core::value::Value;

use crate::support::{engine, limited};

fn set_up(targets: &[&str], count: u64) {
    let mut engines: Vec<_> = targets.iter().map(|target| engine(target)).collect();
    let infos: Vec<EngineInfo> = engines.iter().map(|engine| engine.info().clone()).collect();
    let language = Language::of(&infos);
    let model = Model::usual("usual");
    for seed in 0..count {
        let schema = make::schema(&model, &language, Demands::default(), &mut Random::new(seed, &[]));
        let setup = print::setup(&schema, &language);
        for engine in &mut engines {
            assert_set_up(engine.as_mut(), &schema, &setup);
        }
    }
}

fn assert_set_up(engine: &mut dyn Engine, schema: &Schema, setup: &[String]) {
    let target = engine.info().target.clone();
    let outcomes = engine.reset(setup).expect("the engine resets");
    for (outcome, sql) in outcomes.iter().zip(setup) {
        assert!(outcome.error.is_none(), "{target}: {:?}: {sql}", outcome.error);
        assert!(outcome.notices.is_empty(), "{target}: {:?}: {sql}", outcome.notices);
    }
    assert_eq!(outcomes.len(), setup.len(), "{target}");
    for assert in assertions::assertions(schema) {
        let outcome = engine.probe(&assert.sql).expect("the engine answers");
        let rows = outcome.rows().unwrap_or_else(|| panic!("{target}: {:?}: {}", outcome.error, assert.sql));
        assert!(rows.rows.is_empty(), "{target}: {} does not hold: {}", assert.name, setup.join("; "));
    }
    let state = engine.snapshot().expect("the engine tells its state");
    for table in &schema.tables {
        let mut found: Vec<Vec<Value>> =
            engine.info().dialect.values(&state.tables[&table.name]).into_iter().map(plain).collect();
        found.sort();
        assert_eq!(found, sorted_rows(table), "{target}: {}", setup.join("; "));
    }
}

fn sorted_rows(table: &Table) -> Vec<Vec<Value>> {
    let mut rows: Vec<Vec<Value>> = table.rows.iter().cloned().map(plain).collect();
    rows.sort();
    rows
}

/// Truth values are numbers to most engines.
fn plain(row: Vec<Value>) -> Vec<Value> {
    let number = |value| match value {
        Value::Bool(value) => Value::int(i64::from(value)),
        other => other,
    };
    row.into_iter().map(number).collect()
}

#[test]
fn on_sqlite() {
    limited(|| set_up(&["sqlite"], 150));
}

#[test]
fn on_the_model() {
    limited(|| set_up(&["model"], 150));
}

#[test]
fn on_postgres() {
    limited(|| set_up(&["postgres"], 150));
}

#[test]
fn on_mariadb() {
    limited(|| set_up(&["mariadb"], 150));
}

#[test]
fn on_all_of_them_with_one_text() {
    limited(|| set_up(&["sqlite", "model", "postgres", "mariadb"], 50));
}

/// The same tables without types and constraints, and with rows against every constraint.
fn lawless(schema: &Schema) -> Vec<String> {
    let mut setup = Vec::new();
    for (number, table) in schema.tables.iter().enumerate() {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        setup.push(format!("CREATE TABLE {} ({})", table.name, names.join(", ")));
        // SQLite compares values of any types, and a number is less than a text. No two tables have all values in
        // common, so some are orphans; all stand there twice.
        let mut values: Vec<String> = ["NULL", "-9999", "'zzzz'"].map(str::to_string).to_vec();
        values.push((90_000 + number).to_string());
        let checks = table.columns.iter().filter_map(|column| column.check.as_ref());
        values.extend(checks.filter_map(|check| check.sql.splitn(3, ' ').nth(2)).map(str::to_string));
        for value in &values {
            let row = format!("({})", vec![value.as_str(); names.len()].join(", "));
            setup.push(format!("INSERT INTO {} VALUES {row}, {row}", table.name));
        }
    }
    setup
}

#[test]
fn every_assertion_notices_what_it_is_about() {
    limited(|| {
        let mut engine = engine("sqlite");
        let language = Language::of(&[engine.info().clone()]);
        let mut tried = std::collections::BTreeSet::new();
        for seed in 0..60 {
            let mut random = Random::new(seed, &[]);
            let schema = make::schema(&Model::usual("usual"), &language, Demands::default(), &mut random);
            let outcomes = engine.reset(&lawless(&schema)).expect("the engine resets");
            assert!(outcomes.iter().all(|outcome| outcome.error.is_none()), "{outcomes:?}");
            for assert in assertions::assertions(&schema) {
                let outcome = engine.probe(&assert.sql).expect("the engine answers");
                assert!(outcome.rows().is_some_and(|result| !result.rows.is_empty()), "seed {seed}: {assert:?}");
                tried.extend(assert.name.split(' ').nth(1).map(str::to_string));
            }
        }
        assert!(tried.iter().eq(["check", "foreign", "not", "primary", "unique"]), "{tried:?}");
    });
}
