//! Ratios, measured in one run; ends with a dated table in `docs/measurements/`.
//!
//! ```text
//!   xtask bench [TRANSACTIONS] [SECTION…]     steps, hunt, …; all of them if none is named
//! ```
//!
//! * [`steps`]: what a wait costs, how many small cases a second
//! * [`hunt`]: how many generated cases a second
//! * [`graph`]: how many tests of the graph oracle a second
//! * [`storm`]: updates as fast as can be, against pgbench
//! * [`force`]: what it costs to force a schedule of transactions, against a bare loop
//! * [`search`]: how long it takes to search programs for anomalies
//! * [`population`]: how fast tables are filled, compared with the server's own loader
//! * [`generate`]: how many transactions of a storm are made a second, and the memory that it takes
//! * [`logs`]: how fast a server's log becomes procedures, and the memory that it takes
//! * [`sources`]: how fast ten thousand lines of Java become procedures
//! * [`histories`]: the history checker; generated histories have at most so many transactions

mod steps;
mod hunt;
mod graph;
mod storm;
mod population;
mod force;
mod search;
pub(crate) mod generate;
mod logs;
mod sources;
mod peak;
pub(crate) mod histories;

use anyhow::{Context, Result};

use crate::date;

const SECTIONS: &[&str] =
    &["steps", "hunt", "graph", "storm", "force", "search", "population", "generate", "logs", "sources", "histories"];
const TRANSACTIONS_MAX: usize = 1_000_000;

/// Measures what is wanted; only a whole run writes the table. True if every bar is met.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    if let Some(done) = logs::child(arguments) {
        return done;
    }
    let (mut transactions_max, mut wanted) = (TRANSACTIONS_MAX, Vec::new());
    for argument in arguments {
        match argument.parse() {
            Ok(number) => transactions_max = number,
            Err(_) if SECTIONS.contains(&argument.as_str()) => wanted.push(argument.as_str()),
            Err(_) => anyhow::bail!("`{argument}` is neither a number nor one of {}", SECTIONS.join(", ")),
        }
    }
    let mut table = format!("# Benchmark, {}\n\n", date::today());
    let mut met = true;
    for name in SECTIONS.iter().filter(|name| wanted.is_empty() || wanted.contains(name)) {
        met &= match *name {
            "steps" => steps::run(&mut table)?,
            "hunt" => hunt::run(&mut table)?,
            "graph" => graph::run(&mut table)?,
            "storm" => storm::run(&mut table)?,
            "force" => force::run(&mut table)?,
            "search" => search::run(&mut table)?,
            "population" => population::run(&mut table)?,
            "generate" => generate::run(&mut table)?,
            "logs" => logs::run(&mut table)?,
            "sources" => sources::run(&mut table)?,
            _ => histories::run(&mut table, transactions_max)?,
        };
    }
    if arguments.is_empty() {
        let path = format!("docs/measurements/bench-{}.md", date::today());
        std::fs::create_dir_all("docs/measurements").context("creating docs/measurements")?;
        std::fs::write(&path, &table).with_context(|| format!("writing {path}"))?;
        println!("written to {path}");
    }
    println!("{table}");
    Ok(met)
}
