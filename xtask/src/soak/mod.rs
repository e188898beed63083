//! The long bars. Resumable: what has been done stands in `soak-results/`, and a second start goes on from there.
//!
//! ```text
//!   xtask soak [ROUNDS] [SECTION…]     corpus, levels, silence, defaults, planted, pairs, histories, adya, graph,
//!                                      validity, storm, flow, search, stores, brute, real, solvers, fixes, requirements;
//!                                      or all
//! ```
//!
//! * [`corpus`]: the same transcripts, a thousand times
//! * [`levels`]: what the levels of every version allow; `TXLOOM_SOAK_TARGETS` names more targets, separated by spaces
//!   (`mysql@DIR postgres@DIR`)
//! * [`silence`]: a hunt that compares an engine with itself finds nothing
//! * [`defaults`]: the default hunt of one target accuses no healthy engine; `TXLOOM_SOAK_TARGETS` names more targets
//! * [`planted`]: a hunt finds every planted bug, for ten seeds
//! * [`pairs`]: hunts between versions; `TXLOOM_SOAK_PAIRS` names the pairs, separated by commas
//!   (`mariadb mysql@DIR, postgres@DIR postgres@DIR`)
//! * [`graph`]: the graph oracle is silent on healthy engines; hunts with it in `TXLOOM_SOAK_TARGETS`;
//!   `TXLOOM_SOAK_HEALTHY` names some of the healthy ones, so that two processes share them
//! * [`validity`]: storms of which operations touch rows, against sessions, records and skew
//! * [`storm`]: servers killed again and again, settings that lose commits, long storms
//! * [`flow`]: every schedule of TPC-C, statement by statement, is run: it goes wrong, is harmless, or impossible
//! * [`search`]: every anomaly that is predicted for the benchmark programs is run
//! * [`stores`]: the programs of CLOTHO with its schemas, at eventual consistency, on replicas and on a ring
//! * [`brute`]: the search for anomalies and brute force agree on two thousand small programs
//! * [`real`]: every interleaving of small programs on real servers: the truth that the tests of `analyze` rest on
//! * [`solvers`]: the embedded solver and z3 have the same answers to all that the search asks
//! * [`fixes`]: what `analyze --fix` proposes, made and run
//! * [`requirements`]: which of TPC-C's are broken by directed tests, and which by a storm
//! * [`kills`]: commands ended at any moment leave nothing; as many times as there are rounds
//! * [`histories`]: the two checkers of histories agree on a million small ones
//! * [`adya`]: both of them against the crate `adya` on 200,000 histories; differences by cause

mod corpus;
mod kills;
mod levels;
mod hunts;
mod silence;
mod defaults;
mod planted;
mod pairs;
mod histories;
mod adya;
mod graph;
mod validity;
mod storm;
mod flow;
mod search;
mod stores;
mod brute;
mod real;
mod fixes;
mod requirements;
mod solvers;

use anyhow::{Context, Result};

use crate::date;

const TARGETS: &[&str] = &["sqlite", "model", "postgres", "mariadb"];
/// Names more targets, separated by spaces.
const MORE_TARGETS: &str = "TXLOOM_SOAK_TARGETS";
const ROUNDS: usize = 1_000;
const FOLDER: &str = "soak-results";
const SECTIONS: &[&str] = &[
    "corpus",
    "levels",
    "kills",
    "silence",
    "defaults",
    "planted",
    "pairs",
    "histories",
    "adya",
    "graph",
    "validity",
    "storm",
    "flow",
    "search",
    "stores",
    "brute",
    "real",
    "solvers",
    "fixes",
    "requirements",
];

/// One part of the table, and whether its bar is met.
struct Section {
    text: String,
    met: bool,
}

/// Runs what is left to do and writes the table. True if every bar is met.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    let (mut rounds, mut wanted) = (ROUNDS, Vec::new());
    for argument in arguments {
        match argument.parse() {
            Ok(number) => rounds = number,
            Err(_) if SECTIONS.contains(&argument.as_str()) => wanted.push(argument.as_str()),
            Err(_) => anyhow::bail!("`{argument}` is neither a number of rounds nor one of {}", SECTIONS.join(", ")),
        }
    }
    let mut table = format!("# Soak, {}\n", date::today());
    let mut met = true;
    for name in SECTIONS.iter().filter(|name| wanted.is_empty() || wanted.contains(name)) {
        let section = section(name, rounds).with_context(|| format!("soak {name}"))?;
        table.push_str(&format!("\n{}", section.text));
        met &= section.met;
        println!("{name}: {}", if section.met { "met" } else { "NOT MET" });
    }
    if wanted.is_empty() {
        write_table(&table)?;
    }
    println!("{table}");
    Ok(met)
}

/// Only a whole run makes a table that is kept.
fn write_table(table: &str) -> Result<()> {
    let path = format!("docs/measurements/soak-{}.md", date::today());
    std::fs::create_dir_all("docs/measurements").context("creating docs/measurements")?;
    std::fs::write(&path, table).with_context(|| format!("writing {path}"))?;
    println!("written to {path}");
    Ok(())
}

fn section(name: &str, rounds: usize) -> Result<Section> {
    match name {
        "corpus" => corpus::run(rounds),
        "levels" => levels::run(),
        "kills" => kills::run(rounds),
        "silence" => silence::run(),
        "defaults" => defaults::run(),
        "planted" => planted::run(),
        "pairs" => pairs::run(),
        "adya" => adya::run(),
        "graph" => graph::run(),
        "validity" => validity::run(),
        "storm" => storm::run(),
        "flow" => flow::run(),
        "search" => search::run(),
        "stores" => stores::run(),
        "brute" => brute::run(),
        "real" => real::run(),
        "solvers" => solvers::run(),
        "fixes" => fixes::run(),
        "requirements" => requirements::run(),
        _ => histories::run(),
    }
}

/// The further targets that the environment names.
fn more_targets() -> Vec<String> {
    let named = std::env::var(MORE_TARGETS).unwrap_or_default();
    named.split_whitespace().map(str::to_string).collect()
}

/// A target without the directories that lead to it.
fn short(target: &str) -> &str {
    target.rsplit('/').next().unwrap_or(target)
}
