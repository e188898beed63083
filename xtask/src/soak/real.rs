//! *Real*: every interleaving of small programs on real servers.
//!
//! The corpus of programs with known truth says which of its programs are broken at which level of which server. Here
//! that is found out, call by call and interleaving by interleaving, and compared with what the table says.

use std::path::Path;

use anyhow::{Context, Result};
use txloom::engines::{self, Target};
use txloom::execute::EngineRunner;
use txloom::truth::{self, Cell, Entry, Interleavings, Tried, Truth};

use super::Section;
use super::hunts::{once, table};
use crate::date;

const TARGETS: [&str; 2] = ["postgres", "mariadb"];
/// One set of calls has at most that many interleavings.
const RUNS_MAX: usize = 20_000;

pub(super) fn run() -> Result<Section> {
    let path = Path::new(truth::TABLE);
    let entries = truth::read(&std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?)?;
    let folder = path.parent().context("the table has a folder")?;
    let both = std::thread::scope(|scope| {
        let workers = TARGETS.map(|target| scope.spawn(|| on(target, &entries, folder)));
        workers.map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let rows = both.into_iter().collect::<Result<Vec<_>>>()?.concat();
    let runs: usize = rows.iter().filter_map(|row| row[4].parse::<usize>().ok()).sum();
    let wrong: Vec<String> = rows
        .iter()
        .filter(|row| row[2] != row[3])
        .map(|row| format!("* {} at {}: the table says {}, and it is {}\n", row[0], row[1], row[2], row[3]))
        .collect();
    let text = format!(
        "## Programs with known truth, on real servers\n\nEvery interleaving of every set of calls of `{}`, until one is \
         no serial order of the calls that succeeded: {} cells, {runs} runs, {} disagreements.\n\n{}\n{}",
        truth::TABLE,
        rows.len(),
        wrong.len(),
        wrong.concat(),
        table("program | cell | table | truth | runs: | interleaving", &rows)
    );
    let path = format!("docs/measurements/truth-{}.md", date::today());
    std::fs::write(&path, text.replacen("## ", "# ", 1)).with_context(|| format!("writing {path}"))?;
    println!("written to {path}");
    Ok(Section { text, met: wrong.is_empty() })
}

/// A row for each cell of a target: program, cell, what the table says, what it is, runs, the first interleaving.
fn on(target: &str, entries: &[Entry], folder: &Path) -> Result<Vec<Vec<String>>> {
    let mut rows = Vec::new();
    // Started when the first program is tried.
    let mut runner = None;
    for entry in entries.iter().filter(|entry| entry.like.is_none()) {
        for (at, cell) in Cell::ALL.iter().enumerate().filter(|(_, cell)| cell.target == target) {
            let Some(expected) = entry.truth[at] else { continue };
            let cells = once("real", &format!("{}-{cell}", entry.file), || {
                let runner = match &mut runner {
                    Some(runner) => runner,
                    none => none.insert(start(target)?),
                };
                measured(entry, folder, *cell, runner)
            })?;
            let names = [entry.file.clone(), cell.to_string(), word(expected).to_string()];
            rows.push(names.into_iter().chain(cells).collect());
        }
    }
    Ok(rows)
}

fn word(truth: Truth) -> &'static str {
    match truth {
        Truth::Broken => "broken",
        Truth::Safe => "safe",
    }
}

fn start(target: &str) -> Result<EngineRunner> {
    let engine = engines::open(&Target::parse(target)?).with_context(|| format!("starting {target}"))?;
    Ok(EngineRunner::new(vec![engine]))
}

/// The truth of a cell, the number of runs, and the first interleaving that shows it.
fn measured(entry: &Entry, folder: &Path, cell: Cell, runner: &mut EngineRunner) -> Result<Vec<String>> {
    let project = entry.project(folder)?;
    let (mut all, mut open) = (0, None);
    for calls in &entry.calls {
        let case = entry.case(&project, calls, cell.level)?;
        match Interleavings::new(runner, &case, RUNS_MAX).run()? {
            Tried::Broken { schedule, runs } => {
                return Ok(vec!["broken".to_string(), (all + runs).to_string(), schedule.to_string()]);
            }
            Tried::Safe { runs } => all += runs,
            Tried::Unknown(why) => open = Some(why),
        }
    }
    let verdict = if open.is_some() { "unknown" } else { "safe" };
    Ok(vec![verdict.to_string(), all.to_string(), open.unwrap_or_default()])
}
