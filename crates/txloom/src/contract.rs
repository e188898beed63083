//! The contract suite: what every engine must do, whoever wrote it.
//!
//! The promises are those of [`txloom_core::engine`]. Most of them are cases in `corpus/contract/`; a few cannot be
//! written as a case (that a reset leaves nothing, that a running statement can be cancelled) and are checked here.
//! Somebody who implements [`Engine`] calls [`verify`] from a test.

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use txloom_core::case::check::check;
use txloom_core::case::{Case, Expect, Line, SessionName};
use txloom_core::engine::{Engine, EngineError, EngineInfo, SessionId, SessionSpec};
use txloom_core::oracle::{Mode, RunError, RunRequest, Runner};
use txloom_core::outcome::{ErrorClass, Outcome};
use txloom_core::schedule::Policy;
use txloom_core::trace::compare::first_difference;

use crate::corpus::{self, CorpusCase};
use crate::execute::EngineRunner;

/// A promise that the engine broke.
#[derive(Debug)]
pub struct Breach {
    /// The promise: the path of a case, or the name of a check.
    pub promise: String,
    /// What happened instead.
    pub what: String,
}

/// A check that is not a case.
type EngineCheck = fn(&mut dyn Engine) -> Result<Option<String>, EngineError>;

/// The checks that are not cases, by name.
const CHECKS: &[(&str, EngineCheck)] = &[
    ("a reset leaves nothing of the case before", reset_is_complete),
    ("a setup stops at its first error", setup_stops_at_error),
    ("a snapshot shows what is committed and nothing else", snapshot_is_committed_state),
    ("a snapshot holds the tables of the case and no others", snapshot_holds_user_tables_only),
    ("a running statement can be cancelled, and the session goes on", running_statement_is_cancelled),
    ("a cancellation of nothing is harmless", cancelling_nothing_is_harmless),
];

/// Checks all promises at every level of the engine.
pub fn verify(mut engine: Box<dyn Engine>) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for (promise, engine_check) in CHECKS {
        let what = match engine_check(engine.as_mut()) {
            Ok(None) => continue,
            Ok(Some(what)) => what,
            Err(error) => error.to_string(),
        };
        breaches.push(Breach { promise: promise.to_string(), what });
    }
    let EngineInfo { levels, capabilities, .. } = engine.info().clone();
    let dialect = engine.info().dialect.name();
    let mut runner = EngineRunner::new(vec![engine]);
    let waits = |case: &&CorpusCase| expects_waiting(&case.parse());
    let cases = corpus::CONTRACT.iter().filter(|case| is_for(case, dialect));
    for case in cases.filter(|case| !capabilities.lock_free || !waits(case)) {
        for level in &levels {
            let what = run_twice(&mut runner, case, level).unwrap_or_else(|error| Some(error.to_string()));
            breaches.extend(what.map(|what| Breach { promise: format!("{} at {level}", case.path), what }));
        }
    }
    breaches
}

/// Whether a statement of a case is to wait.
fn expects_waiting(case: &Case) -> bool {
    case.entries.iter().any(|entry| match &entry.line {
        Line::Step(_, _, expectations) => expectations.iter().any(|one| one.expect == Expect::Blocked),
        _ => false,
    })
}

/// Whether a case is for engines of a dialect: `values-postgres.sql` is for PostgreSQL's only.
pub fn is_for(case: &CorpusCase, dialect: &str) -> bool {
    let stem = case.path.trim_end_matches(".sql");
    let for_dialect = |name: &str| stem.ends_with(&format!("-{name}"));
    !["postgres", "sqlite", "mysql"].iter().any(|name| for_dialect(name)) || for_dialect(dialect)
}

/// Runs a case twice: expectations must be met, and the second trace must be the first.
fn run_twice(
    runner: &mut EngineRunner,
    case: &CorpusCase,
    level: &txloom_core::level::LevelName,
) -> Result<Option<String>, RunError> {
    let mut case = case.parse();
    case.set_level(level.clone());
    let request = RunRequest { case: &case, target: 0, policy: Policy::Skip, mode: Mode::Scheduled(None) };
    let trace = runner.run(&request)?;
    let again = runner.run(&request)?;
    if let Some(difference) = first_difference(&trace, &again) {
        return Ok(Some(format!("the second run differs: {difference:?}")));
    }
    let mismatches = check(&case, &trace);
    let show = |mismatch: &txloom_core::case::check::Mismatch| {
        format!("{:?}: expected {}, found {}", mismatch.at, mismatch.expected, mismatch.found)
    };
    Ok((!mismatches.is_empty()).then(|| mismatches.iter().map(show).collect::<Vec<_>>().join("; ")))
}

fn spec(position: usize, name: &str) -> SessionSpec {
    let name = SessionName::new(name).expect("the names in this file are session names");
    SessionSpec { id: SessionId(position), name, node: None, level: None }
}

fn setup(statements: &[&str]) -> Vec<String> {
    statements.iter().map(|sql| sql.to_string()).collect()
}

fn reset_is_complete(engine: &mut dyn Engine) -> Result<Option<String>, EngineError> {
    engine.reset(&setup(&[
        "CREATE TABLE t (id INT PRIMARY KEY, v INT)",
        "CREATE INDEX i ON t (v)",
        "CREATE VIEW w AS SELECT v FROM t",
        "INSERT INTO t VALUES (1, 1)",
    ]))?;
    {
        let mut session = engine.open(&spec(0, "a"))?;
        session.execute("BEGIN")?;
        session.execute("INSERT INTO t VALUES (2, 2)")?;
        // Dropped with an open transaction: its locks must not be in the way of the reset.
    }
    let again = setup(&["CREATE TABLE w (x INT PRIMARY KEY)", "CREATE TABLE t (i INT PRIMARY KEY)"]);
    let outcomes = engine.reset(&again)?;
    if let Some(error) = outcomes.iter().find_map(|outcome| outcome.error.as_ref()) {
        return Ok(Some(format!("the same names could not be used again: {error}")));
    }
    let tables: Vec<String> = engine.snapshot()?.tables.into_keys().collect();
    Ok((tables != ["t", "w"]).then(|| format!("the tables after the reset are {tables:?}")))
}

fn setup_stops_at_error(engine: &mut dyn Engine) -> Result<Option<String>, EngineError> {
    let outcomes = engine.reset(&setup(&["CREATE TABLE t (id INT)", "nonsense", "CREATE TABLE u (id INT)"]))?;
    let errors: Vec<bool> = outcomes.iter().map(|outcome| outcome.error.is_some()).collect();
    Ok((errors != [false, true]).then(|| format!("the outcomes of the setup were {outcomes:?}")))
}

fn snapshot_holds_user_tables_only(engine: &mut dyn Engine) -> Result<Option<String>, EngineError> {
    engine.reset(&setup(&["CREATE TABLE t (id INT PRIMARY KEY)", "CREATE TABLE u (id INT PRIMARY KEY)"]))?;
    let state = engine.snapshot()?;
    let names: Vec<&str> = state.tables.keys().map(String::as_str).collect();
    Ok((names != ["t", "u"]).then(|| format!("the snapshot of the tables t and u holds {}", names.join(", "))))
}

fn snapshot_is_committed_state(engine: &mut dyn Engine) -> Result<Option<String>, EngineError> {
    engine.reset(&setup(&["CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO t VALUES (1)"]))?;
    let mut session = engine.open(&spec(0, "a"))?;
    session.execute("BEGIN")?;
    session.execute("INSERT INTO t VALUES (2)")?;
    let rows = engine.snapshot()?.tables.get("t").map_or(0, |table| table.rows.len());
    let probed = engine.probe("SELECT id FROM t")?.rows().map_or(0, |result| result.rows.len());
    session.execute("COMMIT")?;
    let after = engine.snapshot()?.tables.get("t").map_or(0, |table| table.rows.len());
    let seen = (rows, probed, after);
    Ok((seen != (1, 1, 2)).then(|| format!("snapshot, probe and snapshot after COMMIT saw {seen:?} rows")))
}

/// Ten rows, and a query that runs for a very long time over them on every engine that we know: without locks, functions
/// that sleep, or recursion, which some engines bound.
const DIGITS: &[&str] =
    &["CREATE TABLE d (i INT PRIMARY KEY)", "INSERT INTO d VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)"];
const LONG_QUERY: &str =
    "SELECT count(*) FROM d a, d b, d c, d e, d f, d g, d h, d j, d k, d l, d m WHERE a.i + m.i > 0";

fn running_statement_is_cancelled(engine: &mut dyn Engine) -> Result<Option<String>, EngineError> {
    engine.reset(&setup(DIGITS))?;
    let mut session = engine.open(&spec(0, "a"))?;
    let cancel = session.canceller();
    let (sender, receiver) = channel::<Result<Outcome, EngineError>>();
    let thread = std::thread::spawn(move || {
        let _ = sender.send(session.execute(LONG_QUERY));
        let _ = sender.send(session.execute("SELECT 1"));
    });
    let start = Instant::now();
    let outcome = loop {
        // The first request may come before the statement has begun.
        match receiver.recv_timeout(Duration::from_millis(50)) {
            Ok(outcome) => break outcome?,
            Err(_) if start.elapsed() > Duration::from_secs(20) => return Ok(Some("it was still running".to_string())),
            Err(_) => cancel.cancel()?,
        }
    };
    let next = receiver.recv_timeout(Duration::from_secs(20)).ok();
    let _ = thread.join();
    if outcome.error_class() != Some(ErrorClass::Cancelled) {
        return Ok(Some(format!("its outcome was {outcome:?}")));
    }
    match next {
        Some(Ok(outcome)) if outcome.error.is_none() => Ok(None),
        other => Ok(Some(format!("the next statement gave {other:?}"))),
    }
}

fn cancelling_nothing_is_harmless(engine: &mut dyn Engine) -> Result<Option<String>, EngineError> {
    engine.reset(&[])?;
    let mut session = engine.open(&spec(0, "a"))?;
    session.execute("SELECT 1")?;
    session.canceller().cancel()?;
    // A request that is on its way may still hit one statement, but no more than one.
    let _ = session.execute("SELECT 1")?;
    let outcome = session.execute("SELECT 1")?;
    Ok(outcome.error.map(|error| format!("a later statement failed: {error}")))
}
