//! List-append histories of growing size: is the checker linear, and fast enough?
//!
//! It was not always linear. With hash tables keyed by key and value, a million transactions took 2.65 s, 16 times as
//! long as a hundred thousand: nearly every lookup waited for memory, and more than a quarter of the time went into 1.4 GB
//! of pages that the kernel gave out, most of them for what was grown and thrown away. Two changes made that 0.98 s, 11.5
//! times as long, and 0.5 GB of pages (binary form, same machine, same hour):
//!
//! * the writes of a key stand together, sorted by value, with all that is asked of them (`history/facts/writes.rs`): no
//!   hashing, and neighbours in the history are neighbours in memory
//! * guess first (`history/check/search.rs`): a healthy history needs one graph, where three were built
//!
//! Reading text was linear all the time, and is most of what JSON lines take.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Result;
use txloom_core::generate::random::Random;
use txloom_core::history::build::{Builder, Head};
use txloom_core::history::formats::{self, Format};
use txloom_core::history::{History, KeyId, Op, Scalar, Status};

use super::child::{Measured, measure};
use super::{Scratch, word};

const SIZES: &[usize] = &[10_000, 100_000, 1_000_000];
const OPS: usize = 4;
const LIST_MAX: usize = 100;
const SESSIONS: usize = 20;
/// How many lists are in use at a time.
const LISTS: usize = 40;

/// Bars, at the largest size.
const BINARY_SECONDS_MAX: f64 = 5.0;
const JSON_SECONDS_MAX: f64 = 25.0;
const PEAK_MIB_MAX: f64 = 4096.0;
/// Ten times the size may take this many times as long.
const GROWTH_MAX: f64 = 15.0;

/// Measures all sizes up to one. True if every bar is met.
pub(super) fn run(table: &mut String, scratch: &Scratch, transactions_max: usize) -> Result<bool> {
    writeln!(table, "\nList-append, serializable: {OPS} operations a transaction, lists of at most {LIST_MAX}.\n")?;
    table.push_str("| transactions | form | seconds | µs per transaction | of it reading | peak memory | bar |\n");
    table.push_str("|---:|---|---:|---:|---:|---:|---|\n");
    let (mut met, mut is_linear, mut before) = (true, true, None::<f64>);
    for size in SIZES.iter().copied().filter(|size| *size <= transactions_max) {
        let history = generate(size);
        let mut totals = Vec::new();
        let forms =
            [(Format::Binary, "binary", BINARY_SECONDS_MAX), (Format::JsonLines, "JSON lines", JSON_SECONDS_MAX)];
        for (format, name, seconds_max) in forms {
            let bytes = formats::write(&history, format).map_err(|why| anyhow::anyhow!(why))?;
            let extension = format.row().extensions[0];
            let path = scratch.write(&format!("lists-{size}.{extension}"), &bytes)?;
            let measured = measure(&path, "serializable")?;
            let is_met =
                measured.verdict == "holds" && measured.total() <= seconds_max && measured.peak_mib < PEAK_MIB_MAX;
            row(table, size, name, &measured, word(is_met))?;
            met &= is_met;
            totals.push(measured.total());
            if format == Format::JsonLines {
                adya(table, size, &path)?;
            }
        }
        // Below some milliseconds there is nothing to compare.
        is_linear &= before.is_none_or(|before| totals[0] < 0.05 || totals[0] <= before * GROWTH_MAX);
        before = totals.first().copied();
    }
    writeln!(table, "\nLinear (ten times the size, at most {GROWTH_MAX} times the time): {}.", word(is_linear))?;
    Ok(met && is_linear)
}

fn row(table: &mut String, size: usize, form: &str, measured: &Measured, word: &str) -> Result<()> {
    let Measured { peak_mib, .. } = measured;
    let (total, share) = (measured.total(), measured.read_share());
    let each = total * 1e6 / size as f64;
    writeln!(table, "| {size} | {form} | {total:.2} | {each:.2} | {share:.0} % | {peak_mib:.0} MiB | {word} |")?;
    Ok(())
}

/// The other checker, where it is installed.
fn adya(table: &mut String, size: usize, path: &Path) -> Result<()> {
    let began = Instant::now();
    let mut command = Command::new("adya");
    command.args(["check", "--model", "list-append", "--consistency-models", "serializable"]).arg(path);
    match command.stdout(Stdio::null()).stderr(Stdio::null()).status() {
        Ok(status) => {
            let seconds = began.elapsed().as_secs_f64();
            writeln!(table, "| {size} | JSON lines, by adya ({status}) | {seconds:.2} | | | | |")?;
        }
        Err(_) => writeln!(table, "| {size} | JSON lines, by adya | not installed | | | | |")?,
    }
    Ok(())
}

/// One transaction after the other, so that the history is serializable; sessions take turns at random.
fn generate(size: usize) -> History {
    let mut random = Random::new(5, &[size as u64]);
    let mut builder = Builder::default();
    let mut names = 0;
    let mut new_list = |builder: &mut Builder| -> (KeyId, Vec<Scalar>) {
        names += 1;
        (builder.key(&names.to_string()), Vec::new())
    };
    let mut lists: Vec<(KeyId, Vec<Scalar>)> = (0..LISTS).map(|_| new_list(&mut builder)).collect();
    for at in 0..size {
        let session = random.below(SESSIONS) as u32;
        let (began, ended) = (Some(2 * at as u64), Some(2 * at as u64 + 1));
        builder.begin(Head { session, status: Status::Committed, began, ended, line: at as u32 + 1 });
        for _ in 0..OPS {
            let place = random.below(LISTS);
            let (key, list) = &mut lists[place];
            if random.chance(1, 2) {
                builder.push_list(*key, list);
            } else {
                let element = Scalar(list.len() as i64 + 1);
                list.push(element);
                builder.push(Op::Append(*key, element));
                if list.len() == LIST_MAX {
                    lists[place] = new_list(&mut builder);
                }
            }
        }
    }
    builder.finish()
}
