//! *The graph oracle*: silent on healthy engines, finds what is planted, and what it found in versions that others name.

use std::time::Duration;

use anyhow::Result;
use txloom::hunt::{Budget, Hunt};
use txloom_core::engine::EngineInfo;
use txloom_core::generate::profile;
use txloom_core::oracle::{self, Oracle, graph};

use super::hunts::{finish, once, open, parse, table};
use super::{Section, more_targets, short};

/// 20,000 cases for each target, in parts that are kept one by one.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=10;
const CASES_PER_SEED: u64 = 2_000;
const TARGETS: &[&str] = &["postgres", "sqlite", "model", "mariadb"];
/// Names healthy targets, separated by spaces, if not all are wanted.
const ONLY: &str = "TXLOOM_SOAK_HEALTHY";
/// Known behaviours may match so many of a hundred cases.
const KNOWN_PERCENT_MAX: f64 = 2.0;
/// How long a version that the environment names is hunted in.
const TIME: Duration = Duration::from_secs(30 * 60);
/// The cell of a line that holds the number of findings, and that of known ones.
const FOUND: usize = 2;
const KNOWN: usize = 3;
/// How many cells a line has.
const CELLS: usize = 7;

pub(super) fn run() -> Result<Section> {
    let targets = healthy_targets();
    let mut silent = Vec::new();
    for target in &targets {
        let part = |seed: u64| {
            let name = format!("silence-{target}-{seed}");
            once("graph", &name, || measure(target, seed, Budget::cases(CASES_PER_SEED)))
        };
        silent.push(together(target, &SEEDS.map(part).collect::<Result<Vec<_>>>()?));
    }
    let cases = CASES_PER_SEED * SEEDS.count() as u64;
    let is_silent = |row: &Vec<String>| {
        let known_max = cases as f64 * KNOWN_PERCENT_MAX / 100.0;
        number(row, FOUND) == 0.0 && number(row, KNOWN) < known_max
    };
    let met = silent.iter().all(is_silent);
    let header = "target | cases: | findings: | known: | not reproducible: | undecided: | seconds:";
    let mut text = format!(
        "The graph oracle on healthy engines: profile txcheck, all levels, {cases} cases each; no findings, known behaviours \
         in less than {KNOWN_PERCENT_MAX} % of the cases.\n\n{}",
        table(header, &silent)
    );
    let mut hunted = Vec::new();
    for target in more_targets() {
        let name = format!("hunt-{}", target.replace('/', "_"));
        hunted.push(once("graph", &name, || measure(&target, 1, Budget::time(TIME)))?);
    }
    if !hunted.is_empty() {
        text.push_str(&format!("\nOther versions, half an hour each.\n\n{}", table(header, &hunted)));
    }
    Ok(Section { text, met })
}

/// All healthy targets, or only those that the environment names: two processes then share the work.
fn healthy_targets() -> Vec<String> {
    let named = std::env::var(ONLY).unwrap_or_default();
    let named: Vec<String> = named.split_whitespace().map(str::to_string).collect();
    if named.is_empty() { TARGETS.iter().map(ToString::to_string).collect() } else { named }
}

fn number(row: &[String], at: usize) -> f64 {
    row.get(at).and_then(|cell| cell.parse().ok()).unwrap_or(f64::NAN)
}

/// The parts of a target as one line.
fn together(target: &str, parts: &[Vec<String>]) -> Vec<String> {
    let sum = |at: usize| parts.iter().map(|part| number(part, at)).sum::<f64>();
    let sums = (1..CELLS).map(|at| format!("{:.0}", sum(at)));
    [format!("`{}`", short(target))].into_iter().chain(sums).collect()
}

fn measure(target: &str, seed: u64, budget: Budget) -> Result<Vec<String>> {
    let targets = parse(&[target])?;
    let engines = || open(&targets);
    let oracles = |_: &[EngineInfo]| -> Vec<Box<dyn Oracle>> { oracle::in_hunt(graph::NAME).into_iter().collect() };
    let model = profile::shipped("txcheck").expect("the profile is shipped");
    let hunt = Hunt { oracles: &oracles, seed, model, budget, ..Hunt::new(&engines) };
    let summary = finish(&hunt)?;
    let counts = &summary.counts;
    summary.found.iter().for_each(|found| println!("{target}: {}", found.finding.sentence));
    Ok(vec![
        format!("`{}`", short(target)),
        counts.cases().to_string(),
        (counts.new + counts.repeated).to_string(),
        counts.known_count().to_string(),
        counts.unreproducible.to_string(),
        counts.undecided_count().to_string(),
        format!("{:.0}", summary.elapsed.as_secs_f64()),
    ])
}
