//! Registers recorded from PostgreSQL at each of its levels: how long do the levels take for which no order of versions is
//! known?

use std::fmt::Write;

use anyhow::{Context, Result};
use txloom::engines::{self, Target};
use txloom::record::Recording;
use txloom_core::history::formats::{self, Format};
use txloom_core::history::{History, Op, Status};
use txloom_core::level::LevelName;

use super::child::measure;
use super::{Scratch, word};

const SESSIONS: usize = 24;
const TRANSACTIONS: usize = 10_000;
const OPS: usize = 8;
const KEYS: usize = 1_000;

/// Levels, and how many seconds each may take.
const BARS: &[(&str, f64)] = &[
    ("causal", 0.1),
    ("snapshot isolation", 2.0),
    ("serializable", 2.0),
    ("strong session causal", 0.1),
    ("strong session snapshot isolation", 2.0),
    ("strong session serializable", 2.0),
];

/// Records and measures. True if every bar is met.
pub(super) fn run(table: &mut String, scratch: &Scratch) -> Result<bool> {
    writeln!(
        table,
        "\nRegisters recorded from PostgreSQL: {TRANSACTIONS} committed transactions of {OPS} operations, {SESSIONS} \
         sessions, {KEYS} keys.\n"
    )?;
    table.push_str("| recorded at | rolled back | blind writes | level | verdict | seconds | of it reading | bar |\n");
    table.push_str("|---|---:|---:|---|---|---:|---:|---|\n");
    let mut engine = engines::open(&Target::parse("postgres")?)?;
    let mut met = true;
    for name in ["serializable", "repeatable read", "read committed"] {
        let level = LevelName::parse(name);
        let (sessions, transactions, ops, keys) = (SESSIONS, TRANSACTIONS, OPS, KEYS);
        let recording = Recording { sessions, transactions, ops, keys, level, ..Recording::default() };
        let history = recording.record(engine.as_mut()).context("recording")?;
        let bytes = formats::write(&history, Format::Binary).map_err(|why| anyhow::anyhow!(why))?;
        let path = scratch.write(&format!("{}.txh", name.replace(' ', "-")), &bytes)?;
        let aborted = history.transactions().filter(|(_, t)| t.status != Status::Committed).count();
        let blind = blind_share(&history);
        for (level, seconds_max) in BARS {
            let measured = measure(&path, level)?;
            let is_met = measured.total() <= *seconds_max && measured.verdict != "undecided" && blind >= 0.5;
            met &= is_met;
            writeln!(
                table,
                "| {name} | {aborted} | {:.0} % | {level} | {} | {:.3} | {:.0} % | {} |",
                blind * 100.0,
                measured.verdict,
                measured.total(),
                measured.read_share(),
                word(is_met)
            )?;
        }
    }
    Ok(met)
}

/// How many of the writes are to keys that their transaction has not read before.
fn blind_share(history: &History) -> f64 {
    let (mut blind, mut writes) = (0usize, 0usize);
    for (id, _) in history.transactions() {
        let ops = history.ops(id);
        for (at, op) in ops.iter().enumerate().filter(|(_, op)| matches!(op, Op::Write(..))) {
            let is_read = |before: &Op| matches!(before, Op::Read(..)) && before.key() == op.key();
            writes += 1;
            blind += usize::from(!ops[..at].iter().any(is_read));
        }
    }
    blind as f64 / writes.max(1) as f64
}
