//! *Two ways to agree*: the fast checker of histories and the brute force say the same of a million small random histories,
//! at every level with every order.

use anyhow::{Context, Result};
use txloom_core::generate::random::Random;
use txloom_core::history::micro;
use txloom_core::history::simulate::small::{KEYS_MAX, TRANSACTIONS_MAX, compare, random_small};
use txloom_core::level::formal::Requirement;

use super::Section;
use super::hunts::{once, percent, table};

const HISTORIES: u64 = 1_000_000;
/// What is done between two savings of progress.
const CHUNK: u64 = 50_000;
const THREADS: u64 = 2;
/// Of all questions, at most so many may be left open.
const UNDECIDED_SHARE_MAX: f64 = 0.01;
/// Keeps these histories apart from those of the tests.
const STREAM: u64 = 5;

pub(super) fn run() -> Result<Section> {
    let chunks = (0..HISTORIES / CHUNK).map(|chunk| {
        let first = chunk * CHUNK;
        once("histories", &format!("from-{first}"), || Ok(measure(first)?.cells()))
    });
    let chunks = chunks.collect::<Result<Vec<_>>>()?;
    let sum = |at: usize| chunks.iter().filter_map(|cells| cells.get(at)?.parse::<u64>().ok()).sum::<u64>();
    let (questions, disagreements, undecided) = (sum(0), sum(1), sum(2));
    let share = undecided as f64 / questions.max(1) as f64;
    let rows = [vec![
        HISTORIES.to_string(),
        questions.to_string(),
        disagreements.to_string(),
        format!("{undecided} ({})", percent(share)),
    ]];
    let examples: Vec<&str> = chunks.iter().filter_map(|cells| cells.get(3)).map(String::as_str).collect();
    let examples = examples.iter().filter(|text| !text.is_empty()).map(|text| format!("- {text}\n"));
    let text = format!(
        "Random histories (at most {TRANSACTIONS_MAX} transactions, {KEYS_MAX} keys; nonsense, simulated, with planted \
         violations), judged at every level with every order by the fast checker and by brute force.\n\n{}{}",
        table("histories: | questions: | disagreements: | undecided:", &rows),
        examples.collect::<String>()
    );
    let is_complete = questions == HISTORIES * Requirement::all().count() as u64;
    Ok(Section { text, met: is_complete && disagreements == 0 && share <= UNDECIDED_SHARE_MAX })
}

/// What came of some histories.
#[derive(Default)]
struct Tally {
    questions: u64,
    disagreements: u64,
    undecided: u64,
    /// The first disagreement, on one line.
    example: Option<String>,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.questions += other.questions;
        self.disagreements += other.disagreements;
        self.undecided += other.undecided;
        self.example = self.example.take().or(other.example);
    }

    fn cells(self) -> Vec<String> {
        let Tally { questions, disagreements, undecided, example } = self;
        let numbers = [questions, disagreements, undecided].map(|number| number.to_string());
        numbers.into_iter().chain([example.unwrap_or_default()]).collect()
    }
}

/// A chunk, shared among the threads.
fn measure(first: u64) -> Result<Tally> {
    let part = |thread: u64| (first + thread..first + CHUNK).step_by(THREADS as usize).try_fold(Tally::default(), ask);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || part(thread))).collect();
        workers.into_iter().try_fold(Tally::default(), |mut tally, worker| {
            tally.add(worker.join().ok().context("a worker panicked")??);
            Ok(tally)
        })
    })
}

fn ask(mut tally: Tally, seed: u64) -> Result<Tally> {
    let mut random = Random::new(seed, &[STREAM]);
    let is_list = random.chance(1, 2);
    let history = random_small(&mut random, is_list);
    let comparison = compare(&history).with_context(|| format!("seed {seed}"))?;
    let example = comparison
        .disagreements
        .first()
        .map(|requirement| format!("seed {seed}: {requirement}: `{}`", micro::print(&history).replace('\n', " / ")));
    tally.add(Tally {
        questions: Requirement::all().count() as u64,
        disagreements: comparison.disagreements.len() as u64,
        undecided: comparison.undecided.len() as u64,
        example,
    });
    Ok(tally)
}
