//! `txloom check`: which isolation levels does a history satisfy?
//!
//! ```text
//!   file ──load──→ history ──judge──→ HistoryReport ──→ text, JSON
//!                     │          └──→ --svg: the first cycle as a picture
//!                     └─ --save: as its file's ending says
//! ```
//!
//! With `--level` the answer is the exit code: 0 holds, 1 violated, 5 undecided. Without, everything is told that is known:
//! the strongest levels that hold, and each anomaly with its shortest example.

mod load;
mod judge;
pub(super) mod save;
mod conclusion;

use std::path::{Path, PathBuf};

use txloom_core::conclusion::Conclusion;
use txloom_core::history::formats::FORMATS;
use txloom_core::level::formal::LEVELS;
use txloom_core::suggest::hint;

use super::args::Format;
use super::conclude::conclude;
use super::failure::Failure;
use super::settings::{is_stdin, parse_duration};
use super::streams::Streams;
use crate::exit::Exit;
use crate::files::{walk, write};
use crate::report::model::check::{CheckReport, HistoryReport, VerdictReport, ViolationReport};
use crate::report::model::{Body, Report};
use crate::report::{json, svg, text};
use judge::Question;

/// The flags of `check`.
#[derive(Debug, Default, clap::Args)]
pub struct CheckArgs {
    /// Histories: Elle/Jepsen (EDN, JSON, JSON lines), Plume/PolySI, AWDIT, dbcop, or our own; directories stand for all
    /// files in them; - is the standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Ask for this level, e.g. snapshot-isolation, strong-session-causal, strict-serializable; may be repeated
    #[arg(long, value_name = "LEVEL")]
    pub level: Vec<String>,
    /// Give up after this time, e.g. 500ms, 10s, 2m; the answer is then: undecided
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub limit: String,
    /// Also print the smallest part of the history that still violates the level in the same way
    #[arg(long)]
    pub minimize: bool,
    /// Draw the first cycle that is found into FILE
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Write the history to FILE, in the format that its ending names; .txh, our own, is read much faster than others
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// The form of the report
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Write the report to FILE instead of the standard output
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// What the help ends with.
pub const EXAMPLES: &str = "\
Examples:
  txloom check history.edn                    which levels hold, and what violates the others
  txloom check history.edn --level si         exit code 0: it holds, 1: violated, 5: undecided
  txloom check history.edn --svg cycle.svg    see what is wrong
  txloom check long.jsonl --save long.txh     keep it in a form that is read in a second";

/// Runs the command.
pub fn run(args: &CheckArgs, streams: &mut Streams) -> Result<Exit, Failure> {
    if args.files.is_empty() {
        let how = "name a history, a directory of them, or - for the standard input";
        return Err(Failure::bad_input(format!("no FILE to check: {how} (`txloom check --help` has examples)")));
    }
    if args.minimize && args.level.is_empty() {
        let why = "the smallest part is one that still violates it";
        return Err(Failure::bad_input(format!("--minimize needs a level, e.g. --level serializable: {why}")));
    }
    args.level.iter().try_for_each(|name| check_name(name))?;
    let question = Question { levels: &args.level, limit: parse_duration(&args.limit)?, minimize: args.minimize };
    let files = files(&args.files)?;
    if let (Some(_), [_, _, ..]) = (&args.save, files.as_slice()) {
        return Err(Failure::bad_input("--save takes one history; check the others without it"));
    }
    args.save.as_deref().map(save::format_of).transpose()?;
    if let Some(path) = &args.out {
        streams.redirect(path)?;
    }
    let (mut histories, mut failures) = (Vec::new(), Vec::new());
    for file in &files {
        let report = load::load(file, streams).and_then(|loaded| {
            if let Some(path) = &args.save {
                save::save(path, &loaded.read.history, loaded.read.format)?;
            }
            judge::judge(&loaded, &question)
        });
        match report {
            Ok(report) => histories.push(report),
            Err(failure) if failure.exit == Exit::Interrupted => return Err(failure),
            Err(failure) => failures.push(failure),
        }
    }
    if let Some(path) = &args.svg {
        draw(path, &histories, streams)?;
    }
    let concluded = conclusion::conclusion(&histories, &failures);
    failures.iter().for_each(|failure| streams.complain(&failure.message));
    print(CheckReport { histories }, &concluded, args.format, streams)
}

/// Whether there is such a level, in any format.
fn check_name(name: &str) -> Result<(), Failure> {
    let is_level = |name: &str| FORMATS.iter().any(|row| row.convention.requirement(name).is_some());
    if is_level(name) {
        return Ok(());
    }
    let plain = || LEVELS.iter().flat_map(|row| std::iter::once(row.name).chain(row.aliases.iter().copied()));
    let known: Vec<String> = ["", "strong session ", "strong ", "strict ", "plain "]
        .iter()
        .flat_map(|order| plain().map(move |level| format!("{order}{level}")))
        .filter(|name| is_level(name))
        .collect();
    let written = name.to_lowercase().replace(['-', '_'], " ");
    let near = if written.trim().is_empty() { String::new() } else { hint(&written, known.iter().map(String::as_str)) };
    let names: Vec<&str> = LEVELS.iter().map(|row| row.name).collect();
    Err(Failure::bad_input(format!(
        "`{name}` is not an isolation level{near} (known are: {}; each also as `strong session …` and `strong …`)",
        names.join(", ")
    )))
}

/// The files that were named; of a directory, all that are in it.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if is_stdin(path) || !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let found = walk::files(path, |_| true)?;
        if found.is_empty() {
            return Err(Failure::bad_input(format!("there are no files in the directory {}", path.display())));
        }
        files.extend(found);
    }
    Ok(files)
}

/// Draws the first cycle; without one, the first violation.
fn draw(path: &Path, histories: &[HistoryReport], streams: &mut Streams) -> Result<(), Failure> {
    let violations: Vec<&ViolationReport> = histories.iter().flat_map(violations).collect();
    let cycle = violations.iter().find(|violation| !violation.cycle.is_empty());
    match cycle.or(violations.first()) {
        Some(violation) => Ok(write::file(path, svg::print(violation).as_bytes())?),
        None => {
            streams.complain(&format!(
                "txloom: nothing to draw: no anomaly was found, so {} is not written",
                path.display()
            ));
            Ok(())
        }
    }
}

fn violations(history: &HistoryReport) -> Vec<&ViolationReport> {
    let asked = history.answers.iter().filter_map(|answer| match &answer.verdict {
        VerdictReport::Violated { violation } => Some(&**violation),
        _ => None,
    });
    asked.chain(history.survey.iter().flat_map(|survey| &survey.anomalies)).collect()
}

fn print(report: CheckReport, concluded: &Conclusion, format: Format, streams: &mut Streams) -> Result<Exit, Failure> {
    let is_empty = report.histories.is_empty();
    let report = Report::concluded(Body::Check(report), concluded);
    match format {
        Format::Json => {
            streams.print(&json::print(&report))?;
            Ok(concluded.into())
        }
        // The messages say it all.
        Format::Text if is_empty => Ok(concluded.into()),
        Format::Text => {
            streams.print(&text::print(&report, streams.text_options()))?;
            conclude(concluded, streams)
        }
    }
}
