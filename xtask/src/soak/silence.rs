//! *Silence*: a hunt that compares an engine with itself finds nothing, and next to nothing that does not come again.

use anyhow::Result;
use txloom::hunt::{Budget, Hunt};
use txloom_core::finding::known::Known;

use super::hunts::{finish, model, once, open, parse, percent, table};
use super::{Section, TARGETS};

const CASES: u64 = 5_000;
const SEEDS: std::ops::RangeInclusive<u64> = 1..=3;
/// So many of a thousand cases may show something that does not come again.
const UNREPRODUCIBLE_PER_MILLE_MAX: u64 = 1;
/// The cells of a line that hold what the bar is about.
const FOUND: usize = 3;
const UNREPRODUCIBLE: usize = 4;

pub(super) fn run() -> Result<Section> {
    let mut rows = Vec::new();
    for target in TARGETS {
        for seed in SEEDS {
            let name = format!("{target}-{target}-{seed}");
            rows.push(once("silence", &name, || measure(target, seed))?);
        }
    }
    let number = |row: &Vec<String>, at: usize| row.get(at).and_then(|cell| cell.parse::<u64>().ok());
    let is_silent = |row: &Vec<String>| {
        let unreproducible_max = CASES * UNREPRODUCIBLE_PER_MILLE_MAX / 1_000;
        number(row, FOUND) == Some(0) && number(row, UNREPRODUCIBLE).is_some_and(|count| count <= unreproducible_max)
    };
    let header = "targets | seed: | cases: | findings: | not reproducible: | not observed: | accepted: | with a wait: | \
                  with a deadlock: | two write one row: | cases per second: | undecided:";
    let words = "The same engine twice, all levels, profile dt2, nothing known: no findings, at most 0.1 % that do not \
                 come again.\n\n";
    Ok(Section { met: rows.iter().all(is_silent), text: words.to_string() + &table(header, &rows) })
}

fn measure(target: &str, seed: u64) -> Result<Vec<String>> {
    let targets = parse(&[target, target])?;
    let engines = || open(&targets);
    let hunt =
        Hunt { seed, model: model(), budget: Budget::cases(CASES), known: Known::nothing(), ..Hunt::new(&engines) };
    let summary = finish(&hunt)?;
    let counts = &summary.counts;
    let statistics = &counts.statistics;
    summary.found.iter().for_each(|found| println!("{target} {target}: {}", found.finding.sentence));
    Ok(vec![
        format!("`{target} {target}`"),
        seed.to_string(),
        counts.cases().to_string(),
        (counts.new + counts.repeated).to_string(),
        counts.unreproducible.to_string(),
        (counts.unobserved + counts.refused).to_string(),
        percent(statistics.accepted_share()),
        percent(statistics.wait_share()),
        percent(statistics.deadlock_share()),
        percent(statistics.contended_share()),
        format!("{:.0}", counts.cases() as f64 / summary.elapsed.as_secs_f64().max(0.001)),
        counts.undecided_count().to_string(),
    ])
}
