//! `txloom storm`: many sessions at once, recorded and checked.
//!
//! ```text
//!   flags ──settings──→ crate::storm ──→ Summary ──judge──→ StormReport ──→ text, JSON
//!                            │                      └─ --save-history: the evidence, in a file
//!                            └──watcher──→ progress
//! ```
//!
//! What is found is marked *recorded*: the history is its own evidence. It is checked again, not run again.

mod settings;
mod watcher;

use std::path::{Path, PathBuf};
use std::time::Duration;

use txloom_core::conclusion::{Conclusion, Gap, GapCause};
use txloom_core::history::check::Verdict;
use txloom_core::history::facts;
use txloom_core::history::formats::Format as HistoryFormat;

use super::args::{Format, ServerArgs};
use super::check::save;
use super::conclude::conclude;
use super::failure::Failure;
use super::streams::Streams;
use crate::cli::run::announce_rights;
use crate::engines;
use crate::exit::Exit;
use crate::hunt::findings::{DIRECTORY, Findings};
use crate::report::model::storm::JudgementReport;
use crate::report::model::{Body, Report, StormReport};
use crate::report::{json, text};
use crate::storm::fresh::{excerpt, stale_read};
use crate::storm::judge::{Judgement, judge, promise};
use crate::storm::report::{check_command, judgement_report, storm_report};
use crate::storm::{Storm, Summary, Workload, conclusion};
use settings::StormSettings;
use watcher::Show;

/// The flags of `storm`.
#[derive(Debug, Default, clap::Args)]
pub struct StormArgs {
    /// The database [default: sqlite]
    #[arg(value_name = "TARGET")]
    pub target: Option<String>,
    /// The same, as every command takes it
    #[arg(long, value_name = "TARGET", conflicts_with = "target")]
    pub on: Option<String>,
    /// What sessions do: registers, list-append, ycsb-sql, updates, dbstorm, smallbank or tpcc
    #[arg(long, value_name = "NAME", default_value = "registers")]
    pub profile: String,
    /// How many sessions work at once
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub sessions: usize,
    /// End after so many transactions [default: 1000, unless --for is given]
    #[arg(long, value_name = "N")]
    pub transactions: Option<u64>,
    /// End after this time, e.g. 30s, 5m, 1h
    #[arg(long = "for", value_name = "TIME")]
    pub time: Option<String>,
    /// The isolation level of all sessions [default: the database's own]
    #[arg(long)]
    pub level: Option<String>,
    /// What all random choices follow from: the same seed, the same statements; what they meet is up to the database
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How many keys there are; with fewer, transactions meet more [default: as the profile has it]
    #[arg(long, value_name = "N")]
    pub keys: Option<usize>,
    /// How much some keys are preferred: the exponent of a Zipf distribution; 0 prefers none
    #[arg(long, value_name = "S", default_value_t = 0.0)]
    pub skew: f64,
    /// The share of keys whose rows come and go
    #[arg(long, value_name = "SHARE", default_value_t = 0.2)]
    pub dynamic: f64,
    /// How keys are drawn
    #[arg(long, value_name = "HOW", default_value = "independent")]
    pub access: AccessKind,
    /// Whether rows are read by conditions, too
    #[arg(long, value_name = "WHETHER", default_value = "on")]
    pub predicate: Check,
    /// Make the statements of all transactions and send none: how fast is that?
    #[arg(long, conflicts_with_all = ["kill", "rate", "save_history"])]
    pub generate_only: bool,
    /// Begin at most so many transactions a second, all sessions together
    #[arg(long, value_name = "N")]
    pub rate: Option<u32>,
    /// Kill the server (kill -9) every so often, let it recover, and see whether everything is there; private servers only
    #[arg(long, num_args = 2, value_names = ["every", "TIME"])]
    pub kill: Vec<String>,
    /// Have the server stand still for a second every so often
    #[arg(long, num_args = 2, value_names = ["every", "TIME"])]
    pub pause: Vec<String>,
    /// Stop the server in good order every so often, and start it again
    #[arg(long, num_args = 2, value_names = ["every", "TIME"])]
    pub restart: Vec<String>,
    /// Leave the server no room on its disk every so often, for two seconds
    #[arg(long, num_args = 2, value_names = ["every", "TIME"])]
    pub full_disk: Vec<String>,
    /// Cut some nodes of a cluster off every so often, for a second
    #[arg(long, num_args = 2, value_names = ["every", "TIME"])]
    pub partition: Vec<String>,
    /// A server that takes longer than this to recover is a finding
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub recovery_limit: String,
    /// Whether what happens is recorded and checked
    #[arg(long, value_name = "WHETHER", default_value = "on")]
    pub check: Check,
    /// Give up the check after this time, e.g. 500ms, 10s, 2m; the verdict is then: undecided
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub limit: String,
    /// Write what happened to FILE as a history for `txloom check`, in the format that its ending names (.txh, .edn, …)
    #[arg(long, value_name = "FILE")]
    pub save_history: Option<PathBuf>,
    /// Cancel a statement that takes longer than this, waiting included, e.g. 500ms, 10s, 2m
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub statement_limit: String,
    /// Draw and explain the anomalies that the level allows, too
    #[arg(long)]
    pub verbose: bool,
    /// The form of the report
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// What private servers are told.
    #[command(flatten)]
    pub server: ServerArgs,
    /// Write the report to FILE instead of the standard output
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Whether something is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Check {
    /// It is
    #[default]
    On,
    /// It is not
    Off,
}

/// How keys are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum AccessKind {
    /// Each by itself, as chance has it
    #[default]
    Independent,
    /// Spread evenly: every key as often as it should be, and fewer conflicts
    Even,
}

/// What the help ends with.
pub const EXAMPLES: &str = "\
Examples:
  txloom storm                                            SQLite, eight sessions
  txloom storm postgres --level serializable --keys 20    few keys: transactions meet
  txloom storm postgres --profile ycsb-sql --sessions 24  rows that come and go, conditions
  txloom storm mariadb --profile list-append --for 1m
  txloom storm postgres --profile tpcc --sessions 4       TPC-C, with its consistency conditions
  txloom storm postgres --kill every 5s --for 1m          is everything there after kill -9?
  txloom storm postgres --save-history s.txh              then: txloom check s.txh";

/// Runs the command.
pub fn run(args: &StormArgs, streams: &mut Streams) -> Result<Exit, Failure> {
    let settings = StormSettings::new(args)?;
    streams.set_verbose(args.verbose);
    if let Some(path) = &settings.save_history {
        settings::prepare_history(path)?;
    }
    if let Some(path) = &args.out {
        streams.redirect(path)?;
    }
    announce_rights(std::slice::from_ref(&settings.target), streams);
    let mut engine = engines::open(&settings.target)?;
    let workload = settings.workload(engine.info())?;
    let storm = Storm {
        seed: settings.shape.seed,
        level: settings.level.clone(),
        budget: settings.budget,
        rate: settings.rate,
        statement_limit: settings.statement_limit,
        is_recording: settings.is_recording(),
        faults: settings.faults.clone(),
        ..Storm::new(&*workload, settings.shape.scale)
    };
    let mut show = Show::new(&settings, streams);
    let summary = match settings.generate_only {
        true => storm.generate(engine.as_ref(), &mut show)?,
        false => storm.run(engine.as_mut(), &mut show)?,
    };
    show.finish()?;
    drop(engine);
    tell(&summary, &*workload, &settings, streams)
}

/// Judges what was recorded, and tells everything.
fn tell(
    summary: &Summary,
    workload: &dyn Workload,
    settings: &StormSettings,
    streams: &mut Streams,
) -> Result<Exit, Failure> {
    // The evidence first: whatever happens now, it is not lost.
    let saved = settings.save_history.as_deref().map(|path| save_history(path, summary));
    let judgement = if settings.check { judgement(summary, settings.check_limit, streams)? } else { None };
    let mut report = storm_report(summary, judgement, workload);
    let is_stale = report.judgement.as_ref().is_some_and(|judgement| judgement.is_stale);
    let kept = if saved.is_none() || is_stale { keep_evidence(&report, summary) } else { Ok(None) };
    let shown = |path: &PathBuf| path.display().to_string();
    let evidence = kept.as_ref().ok().and_then(|path| path.as_ref()).map(shown);
    let whole = settings.save_history.as_ref().filter(|_| matches!(saved, Some(Ok(())))).map(shown);
    report.history = whole.or_else(|| evidence.clone());
    let checked = if is_stale { evidence } else { report.history.clone() };
    report.replay = checked.and_then(|file| check_command(&report, &file));
    let saved = saved.unwrap_or(Ok(())).and(kept);
    let concluded = concluded(summary, &report, settings, saved.err(), streams);
    let report = Report::concluded(Body::Storm(Box::new(report)), &concluded);
    if settings.format == Format::Json {
        streams.print(&json::print(&report))?;
        return Ok((&concluded).into());
    }
    streams.print(&format!("\n{}", text::print(&report, streams.text_options())))?;
    conclude(&concluded, streams)
}

/// The conclusion of the storm; a history that could not be saved is a gap.
fn concluded(
    summary: &Summary,
    report: &StormReport,
    settings: &StormSettings,
    unsaved: Option<Failure>,
    streams: &mut Streams,
) -> Conclusion {
    let gap = |failure: &Failure| {
        let cause = if failure.exit == Exit::FileFailed { GapCause::FileFailed } else { GapCause::BadInput };
        Gap::new(cause, failure.message.trim_start_matches("txloom: "))
    };
    if let Some(failure) = &unsaved {
        streams.complain(&failure.message);
    }
    conclusion(summary, report.judgement.as_ref(), settings.check).with_gaps(unsaved.as_ref().map(gap))
}

/// Keeps a history that shows something wrong, so that it can be checked again.
fn keep_evidence(report: &StormReport, summary: &Summary) -> Result<Option<PathBuf>, Failure> {
    let is_evidence = report.judgement.as_ref().is_some_and(|judgement| judgement.shown_by.is_some());
    let Some(history) = summary.history.as_ref().filter(|_| is_evidence) else { return Ok(None) };
    let is_stale = report.judgement.as_ref().is_some_and(|judgement| judgement.is_stale);
    let facts = is_stale.then(|| facts::collect(history).ok()).flatten();
    let stale = facts.and_then(|facts| stale_read(history, &facts)).map(|stale| excerpt(history, &stale));
    let mut findings = Findings::later(Path::new(DIRECTORY));
    Ok(Some(findings.write_history("storm", stale.as_ref().unwrap_or(history))?))
}

fn save_history(path: &Path, summary: &Summary) -> Result<(), Failure> {
    match &summary.history {
        // Levels mean what they mean in our own format.
        Some(history) => save::save(path, history, HistoryFormat::Binary),
        None => {
            Err(Failure::bad_input("there is no history to save: a session was left behind, whose part is missing"))
        }
    }
}

/// Decides about the promise and says so before anything else is looked at, which may take long or be interrupted.
fn judgement(summary: &Summary, limit: Duration, streams: &mut Streams) -> Result<Option<JudgementReport>, Failure> {
    let Some(history) = &summary.history else { return Ok(None) };
    let promised = promise(&summary.plan.engine, &summary.plan.level);
    let mut judgement = judge(history, promised, limit).map_err(|what| Failure {
        exit: Exit::Internal,
        message: format!("txloom: the workload is at fault: {what}"),
    })?;
    streams.complain(&promised_line(&judgement));
    // Who could not decide about one level in time need not ask for all of them.
    if !matches!(judgement.verdict, Verdict::Undecided(_)) {
        judgement.survey(history, limit);
    }
    Ok(Some(judgement_report(history, &judgement)))
}

fn promised_line(judgement: &Judgement<'_>) -> String {
    let promised = judgement.promised.map_or_else(|| "the level".to_string(), |promise| promise.to_string());
    let verdict = match &judgement.verdict {
        _ if judgement.stale.is_some() => "violated",
        Verdict::Holds(_) => "holds",
        Verdict::Violated(_) => "violated",
        Verdict::Undecided(_) => "undecided",
    };
    format!("promised: {promised}: {verdict}; now asking for stronger levels")
}
