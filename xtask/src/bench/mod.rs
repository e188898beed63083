//! Ratios, measured in one run; ends with a dated table in `docs/measurements/`.
//!
//! * [`steps`]: what a wait costs, how many small cases a second
//! * [`hunt`]: how many generated cases a second

mod steps;
mod hunt;

use anyhow::{Context, Result};

use crate::date;

/// Measures everything and writes the table. True if every bar is met.
pub(crate) fn run() -> Result<bool> {
    let mut table = format!("# Benchmark, {}\n\n", date::today());
    let steps = steps::run(&mut table)?;
    let hunts = hunt::run(&mut table)?;
    let path = format!("docs/measurements/bench-{}.md", date::today());
    std::fs::create_dir_all("docs/measurements").context("creating docs/measurements")?;
    std::fs::write(&path, &table).with_context(|| format!("writing {path}"))?;
    println!("{table}\nwritten to {path}");
    Ok(steps && hunts)
}
