//! What a wait costs, how many cases a second.
//!
//! Both figures are compared with the server's own round trip on the same connection type, in the same run, since
//! machines differ and are noisy.

use std::fmt::Write;
use std::time::{Duration, Instant};

use anyhow::Result;
use txloom::engines::{self, Target};
use txloom::execute::EngineRunner;
use txloom_core::case::{self, Case, SessionName};
use txloom_core::engine::{Engine, SessionId, SessionSpec};
use txloom_core::oracle::{Mode, RunRequest, Runner};
use txloom_core::schedule::Policy;

/// Two sessions, eight steps; `b` updates row `{row}`, which is the row of `a` (it waits) or another one.
const CASE: &str = "\
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10), (2, 20);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ UPDATE t SET v = 11 WHERE id = 1;
/*b*/ UPDATE t SET v = 12 WHERE id = {row};
/*a*/ SELECT v FROM t WHERE id = 2;
/*a*/ COMMIT;
/*b*/ SELECT v FROM t;
/*b*/ COMMIT;
";
const ITERATIONS: usize = 300;

/// What the bar of a target is.
struct Bar {
    target: &'static str,
    wait_max: Duration,
    cases_per_second_min: f64,
}

const BARS: &[Bar] = &[
    Bar { target: "postgres", wait_max: Duration::from_millis(5), cases_per_second_min: 100.0 },
    Bar { target: "mariadb", wait_max: Duration::from_millis(5), cases_per_second_min: 100.0 },
    Bar { target: "sqlite", wait_max: Duration::from_millis(5), cases_per_second_min: 100.0 },
    Bar { target: "model", wait_max: Duration::from_millis(5), cases_per_second_min: 100.0 },
];

/// Measures all targets. True if every bar is met.
pub(super) fn run(table: &mut String) -> Result<bool> {
    table.push_str("Two sessions, eight steps, reset included, one worker (`make bench`). Medians.\n\n");
    table
        .push_str("| target | round trip | case without wait | case with wait | cost of a wait | cases per second |\n");
    table.push_str("|---|---:|---:|---:|---:|---:|\n");
    let mut met = true;
    for bar in BARS {
        met &= measure(bar, table)?;
    }
    Ok(met)
}

fn measure(bar: &Bar, table: &mut String) -> Result<bool> {
    let mut engine = engines::open(&Target::parse(bar.target)?)?;
    let round_trip = round_trip(engine.as_mut())?;
    let mut runner = EngineRunner::new(vec![engine]);
    let (waiting, plain) = (parse("1")?, parse("2")?);
    let (mut with_wait, mut without) = (Vec::new(), Vec::new());
    for _ in 0..ITERATIONS {
        with_wait.push(time(&mut runner, &waiting, true)?);
        without.push(time(&mut runner, &plain, false)?);
    }
    let cases_per_second = (2 * ITERATIONS) as f64 / with_wait.iter().chain(&without).sum::<Duration>().as_secs_f64();
    let (with_wait, without) = (median(&mut with_wait), median(&mut without));
    let cost = with_wait.saturating_sub(without);
    let met = cost <= bar.wait_max && cases_per_second >= bar.cases_per_second_min;
    writeln!(
        table,
        "| {} | {} | {} | {} | {} | {cases_per_second:.0} |",
        bar.target,
        milliseconds(round_trip),
        milliseconds(without),
        milliseconds(with_wait),
        milliseconds(cost)
    )?;
    Ok(met)
}

fn parse(row: &str) -> Result<Case> {
    Ok(case::parse(&CASE.replace("{row}", row))?)
}

fn time(runner: &mut EngineRunner, case: &Case, expect_wait: bool) -> Result<Duration> {
    let request = RunRequest { case, target: 0, policy: Policy::Skip, mode: Mode::Scheduled(None) };
    let start = Instant::now();
    let trace = runner.run(&request)?;
    let elapsed = start.elapsed();
    let waited = trace.steps.iter().any(|step| step.waited);
    // SQLite has one writer: there, both cases wait.
    anyhow::ensure!(waited == expect_wait || trace.engine.family == "sqlite", "the case did not run as planned");
    Ok(elapsed)
}

fn round_trip(engine: &mut dyn Engine) -> Result<Duration> {
    engine.reset(&[])?;
    let name = SessionName::new("a").expect("a is a session name");
    let mut session = engine.open(&SessionSpec { id: SessionId(0), name, node: None, level: None })?;
    let mut times = Vec::new();
    for _ in 0..ITERATIONS {
        let start = Instant::now();
        session.execute("SELECT 1")?;
        times.push(start.elapsed());
    }
    Ok(median(&mut times))
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}
