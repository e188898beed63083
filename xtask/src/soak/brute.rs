//! *A second opinion*: the search and brute force say the same of two thousand small random programs.

use anyhow::{Context, Result};
use txloom_core::search::brute::{Tally, compare};

use super::Section;
use super::hunts::{once, table};

const PROGRAMS: u64 = 2_000;
/// What is done between two savings of progress.
const CHUNK: u64 = 100;
const THREADS: u64 = 2;
/// The first seed: those of the tests come before.
const FIRST: u64 = 1_000;
/// The cell of a chunk that holds the first disagreement, behind the figures.
const EXAMPLE: usize = 8;

pub(super) fn run() -> Result<Section> {
    let chunks = (0..PROGRAMS / CHUNK).map(|chunk| {
        let first = FIRST + chunk * CHUNK;
        once("brute", &format!("from-{first}"), || measure(first))
    });
    let chunks = chunks.collect::<Result<Vec<_>>>()?;
    let sum = |at: usize| chunks.iter().filter_map(|cells| cells.get(at)?.parse::<u64>().ok()).sum::<u64>();
    let sums: Vec<u64> = (0..EXAMPLE).map(sum).collect();
    let examples = chunks.iter().filter_map(|cells| cells.get(EXAMPLE)).filter(|text| !text.is_empty());
    let header = "programs: | pairs of calls: | both find: | neither: | only the search, rightly: | unknown: | \
                  tests run: | disagreements:";
    let text = format!(
        "## Brute force\n\nRandom programs of one or two procedures, on a store (eventual) and on PostgreSQL's read \
         committed, by the search and by trying every execution of two calls over two ids and three numbers; every test of \
         the search is run by the interpreter of the other side.\n\n{}{}",
        table(header, &[sums.iter().map(u64::to_string).collect()]),
        examples.map(|text| format!("- `{text}`\n")).collect::<String>()
    );
    Ok(Section { text, met: sums[0] == PROGRAMS && sums[EXAMPLE - 1] == 0 })
}

/// The figures of a chunk, shared among the threads: the tally, how often they disagree, and the first time.
fn measure(first: u64) -> Result<Vec<String>> {
    let part = |thread: u64| {
        let (mut tally, mut disagreements) = (Tally::default(), Vec::new());
        for seed in (first + thread..first + CHUNK).step_by(THREADS as usize) {
            match compare(seed) {
                Ok(one) => tally += one,
                Err(disagreement) => disagreements.push(*disagreement),
            }
        }
        (tally, disagreements)
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || part(thread))).collect();
        let (mut tally, mut disagreements) = (Tally::default(), Vec::new());
        for worker in workers {
            let (one, more) = worker.join().ok().context("a worker panicked")?;
            tally += one;
            disagreements.extend(more);
        }
        let programs = tally.programs + disagreements.len();
        let Tally { pairs, found, silent, beyond, unknown, tests, .. } = tally;
        let figures = [programs, pairs, found, silent, beyond, unknown, tests, disagreements.len()];
        let example = disagreements.first().map(|one| one.to_string().replace(['\n', '\t', '|', '`'], " "));
        Ok(figures.iter().map(usize::to_string).chain([example.unwrap_or_default()]).collect())
    })
}
