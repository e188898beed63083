//! Random histories in the shape of Jepsen's, which is what adya reads.
//!
//! A process has one transaction at a time, and none after one whose end is unknown. Reads of transactions that did
//! not commit have no result. The history is written as JSON lines, and both checkers read that text.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use txloom_core::generate::random::Random;
use txloom_core::history::build::{Builder, Head};
use txloom_core::history::formats::{self, Format};
use txloom_core::history::simulate::small::random_small;
use txloom_core::history::{History, Op, Status};

/// Keeps these histories apart from those of the tests and of the other sections.
const STREAM: u64 = 21;
/// The first process number that stands for a process whose predecessor is over.
const FRESH_PROCESSES: u32 = 100;

/// A history, as text and as the two checkers read it.
pub(super) struct Input {
    pub(super) ours: History,
    pub(super) theirs: ::adya::History,
    pub(super) is_list: bool,
}

/// The history of a seed: lists and registers in turn.
///
/// The simulator has no lists at some levels and makes registers instead; such a history is drawn again.
pub(super) fn input(seed: u64) -> Result<Input> {
    let is_list = seed.is_multiple_of(2);
    let draw = |attempt: u64| random_small(&mut Random::new(seed, &[STREAM, attempt]), is_list);
    let history =
        (0..).map(draw).find(|history| !is_list || !has_registers(history)).context("no history was drawn")?;
    parse(&sequential(&history), is_list)
}

fn has_registers(history: &History) -> bool {
    let mut ops = history.transactions().flat_map(|(id, _)| history.ops(id));
    ops.any(|op| matches!(op, Op::Write(..) | Op::Read(..)))
}

/// Writes a history and reads it back with both parsers.
pub(super) fn parse(history: &History, is_list: bool) -> Result<Input> {
    let text = formats::write(history, Format::JsonLines).map_err(anyhow::Error::msg)?;
    let ours = formats::read_as(&text, Format::JsonLines).context("txloom reads the history")?.history;
    let text = String::from_utf8(text).context("the history is UTF-8")?;
    let theirs = ::adya::History::from_json(&text).context("adya reads the history")?;
    Ok(Input { ours, theirs, is_list })
}

/// The same transactions, moved in time so that those of one session do not overlap.
fn sequential(history: &History) -> History {
    let mut builder = Builder::default();
    history.keys.iter().for_each(|name| {
        builder.key(name);
    });
    // By session: its process, and when the process is free.
    let mut processes: BTreeMap<u32, (u32, u64)> = BTreeMap::new();
    let mut fresh = FRESH_PROCESSES;
    for (id, transaction) in history.transactions() {
        let (process, free) = processes.entry(transaction.session).or_insert((transaction.session, 0));
        let began = transaction.began.unwrap_or(0).max(*free);
        let ended = transaction.ended.unwrap_or(0).max(began + 1);
        let is_unknown = transaction.status == Status::Unknown;
        builder.begin(Head {
            session: *process,
            status: transaction.status,
            began: Some(began),
            ended: (!is_unknown).then_some(ended),
            line: transaction.line,
        });
        *free = ended + 1;
        if is_unknown {
            *process = fresh;
            fresh += 1;
        }
        for op in history.ops(id) {
            match op {
                Op::ReadList(key, list) => builder.push_list(*key, history.list(*key, *list)),
                op => builder.push(*op),
            }
        }
    }
    builder.finish()
}

/// Whether a committed transaction reads an element that it appended before.
pub(super) fn reads_own_append(history: &History) -> bool {
    let committed = history.transactions().filter(|(_, transaction)| transaction.status == Status::Committed);
    committed.into_iter().any(|(id, _)| {
        let ops = history.ops(id);
        ops.iter().enumerate().any(|(at, op)| {
            let Op::ReadList(key, list) = op else { return false };
            let elements = history.list(*key, *list);
            ops[..at]
                .iter()
                .any(|own| matches!(own, Op::Append(other, value) if other == key && elements.contains(value)))
        })
    })
}
