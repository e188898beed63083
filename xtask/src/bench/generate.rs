//! How many transactions of a storm are made a second, and the memory that it takes.
//!
//! `ycsb-sql`, with nobody to send it to: keys are drawn and locked, conditions made, statements written, commits
//! settled in the shadow, exactly as a storm does it (`--generate-only`). Memory is the peak of a process of its own
//! that does just that.

use std::fmt::Write;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use txloom::engines::{self, Target};
use txloom::storm::workload::Valid;
use txloom::storm::{Budget, Scale, Shape, Storm};

use super::peak::peak_kib;

/// Transactions a second, all threads together.
const PER_SECOND_MIN: f64 = 300_000.0;
const TIME: Duration = Duration::from_secs(4);
/// The work is always the same, so the fastest is the one that was disturbed least.
const REPETITIONS: usize = 3;

/// Numbers of keys; one in a hundred comes and goes.
const KEYS: &[usize] = &[10_000, 1_000_000, 100_000_000];
const DYNAMIC: f64 = 0.01;
/// So many bytes for each of them, at most.
const BYTES_MAX: f64 = 16.0;

/// Measures speed and memory. True if every bar is met.
pub(super) fn run(table: &mut String) -> Result<bool> {
    table.push_str("\nGeneration alone: ycsb-sql, 2,000 keys, rendered to SQL and sent to nobody.\n\n");
    table.push_str("| threads | transactions per second | statements per second | bar |\n|---:|---:|---:|---:|\n");
    let mut met = true;
    for (threads, bar) in [(1, None), (2, Some(PER_SECOND_MIN))] {
        let scale = Scale { sessions: threads, keys: 2_000, ..Scale::default() };
        let (mut best, mut statements) = (0.0, 0.0);
        for _ in 0..REPETITIONS {
            let (transactions, count) = generate(&Shape::new(scale), Budget::time(TIME))?;
            if transactions > best {
                (best, statements) = (transactions, count);
            }
        }
        let shown = bar.map_or(String::new(), |bar| format!("{bar:.0}"));
        writeln!(table, "| {threads} | {best:.0} | {statements:.0} | {shown} |")?;
        met &= bar.is_none_or(|bar| best >= bar);
    }
    Ok(met & memory(table)?)
}

/// Transactions and statements a second.
fn generate(shape: &Shape, budget: Budget) -> Result<(f64, f64)> {
    // Which language it is makes no difference here, and this one needs no server.
    let engine = engines::open(&Target::parse("sqlite")?)?;
    let workload = Valid::ycsb(shape, engine.info()).map_err(|lacks| anyhow::anyhow!("ycsb-sql: {lacks}"))?;
    let storm = Storm { budget, ..Storm::new(&workload, shape.scale) };
    let summary = storm.generate(engine.as_ref(), &mut ())?;
    let seconds = summary.elapsed.as_secs_f64();
    Ok((summary.tally.committed as f64 / seconds, summary.tally.statements as f64 / seconds))
}

fn memory(table: &mut String) -> Result<bool> {
    writeln!(table, "\nMemory of it: peak of a process, {:.0} % of the keys come and go.\n", DYNAMIC * 100.0)?;
    table.push_str("| keys | of them dynamic | peak | bytes per dynamic key, above the first line | bar |\n");
    table.push_str("|---:|---:|---:|---:|---:|\n");
    let (mut met, mut first) = (true, None);
    for keys in KEYS {
        let dynamic = *keys as f64 * DYNAMIC;
        let peak = peak_of(*keys)?;
        let (first_dynamic, first_peak) = *first.get_or_insert((dynamic, peak));
        let bytes = (peak - first_peak) * 1024.0 / (dynamic - first_dynamic);
        let is_first = dynamic == first_dynamic;
        let shown = if is_first { String::new() } else { format!("{bytes:.1}") };
        let bar = if keys == KEYS.last().expect("there are some") { format!("{BYTES_MAX}") } else { String::new() };
        writeln!(table, "| {keys} | {dynamic:.0} | {:.1} MiB | {shown} | {bar} |", peak / 1024.0)?;
        // Less than a page for each of the few dynamic keys of the smaller ones would be noise.
        met &= bar.is_empty() || bytes <= BYTES_MAX;
    }
    Ok(met)
}

/// The peak of a process that generates with so many keys, in KiB.
fn peak_of(keys: usize) -> Result<f64> {
    let program = std::env::current_exe().context("looking for this program")?;
    let output = Command::new(program).arg("generate-storm").arg(keys.to_string()).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let peak = text.trim().parse();
    peak.with_context(|| format!("generating with {keys} keys failed: {}", String::from_utf8_lossy(&output.stderr)))
}

/// The process: generates a little, and prints its peak in KiB.
pub(crate) fn generate_one(arguments: &[String]) -> Result<bool> {
    let [keys] = arguments else { anyhow::bail!("usage: xtask generate-storm KEYS") };
    let scale = Scale { sessions: 2, keys: keys.parse()?, ..Scale::default() };
    generate(&Shape { dynamic: DYNAMIC, ..Shape::new(scale) }, Budget::transactions(100_000))?;
    println!("{}", peak_kib());
    Ok(true)
}
