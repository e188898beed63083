//! `txloom analyze`: which orders of an application's transactions can go wrong, and do they?
//!
//! ```text
//!   files ──→ Project ──→ Analysis ──→ AnalysisReport ──→ text with pictures of the sources, JSON
//!                             └──--run──→ Trials ──→ what became of each schedule; cases in -o DIR
//! ```

mod cases;
mod search;
mod settings;

use std::path::PathBuf;

use txloom_core::conclusion::Conclusion;
use txloom_core::flow::program::Cut;
use txloom_core::oracle::RunError;

use super::args::{Format, ServerArgs};
use super::conclude::conclude;
use super::failure::Failure;
use super::run::start_targets;
use super::streams::Streams;
use crate::analyze::atomicity::Remainder;
use crate::analyze::trial::{Fate, TrialError, Trials};
use crate::analyze::{Analysis, Project, SourceFile, conclusion, report, tables};
use crate::execute::EngineRunner;
use crate::exit::Exit;
use crate::interrupt;
use crate::report::model::analysis::{AnalysisReport, RunOn};
use crate::report::model::{Body, Report};
use crate::report::{json, text};
use settings::AnalyzeSettings;

/// The flags of `analyze`.
#[derive(Debug, Default, clap::Args)]
pub struct AnalyzeArgs {
    /// The application: SQL files with procedures (MySQL, PL/pgSQL, or our own notation), Java with JDBC, directories of
    /// them, or the statement log of its server (PostgreSQL's stderr, csvlog or jsonlog; the general log of MySQL or
    /// MariaDB); - is the standard input. All files are one program
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// A file with the tables, e.g. what a dump tool writes; may be repeated
    #[arg(long, value_name = "FILE")]
    pub schema: Vec<PathBuf>,
    /// Run every schedule that is found, and tell whether it goes wrong
    #[arg(long)]
    pub run: bool,
    /// Where to run them [default: sqlite; replicas:3 for a level of stores]
    #[arg(long, value_name = "TARGET")]
    pub on: Option<String>,
    /// Search for serializability anomalies at this level: one of the target's, if --on names one, or a store's
    /// (eventual, causal, read-committed, … or store:NAME). With --run, the level to run at [default: serializable]
    #[arg(long)]
    pub level: Option<String>,
    /// How many statements a cycle of dependencies may have
    #[arg(long, value_name = "N", default_value_t = 4, requires = "level")]
    pub length: usize,
    /// How many calls a cycle may go through
    #[arg(long, value_name = "N", default_value_t = 3, requires = "level")]
    pub instances: usize,
    /// Look also at reads that decide nothing: no write and no branch depends on them
    #[arg(long, requires = "level")]
    pub external: bool,
    /// Begin with the rows of this file (INSERT statements), not with rows that the search chooses
    #[arg(long, value_name = "FILE", requires = "level")]
    pub initial: Option<PathBuf>,
    /// Where a cycle is not possible with those rows: let up to N calls come before, one after the other
    #[arg(long, value_name = "N", default_value_t = 0, requires = "initial")]
    pub prefix: usize,
    /// Stop searching after this time, and tell what was not looked at, e.g. 30s, 5m
    #[arg(long = "for", value_name = "TIME", requires = "level")]
    pub time: Option<String>,
    /// Look for the cheapest change that removes each anomaly, and for changes that remove all of them
    #[arg(long, requires = "level", conflicts_with = "each_statement")]
    pub fix: bool,
    /// Who answers whether a cycle can happen. With z3, every question is asked of both, and both must agree
    #[arg(long, value_name = "NAME", default_value = "embedded", requires = "level")]
    pub solver: SolverName,
    /// Print every structure, also those that contain a smaller one
    #[arg(long, requires = "level")]
    pub all: bool,
    /// Sample values for tables that no file fills (TOML)
    #[arg(long, value_name = "FILE")]
    pub samples: Option<PathBuf>,
    /// What all random choices follow from: the same seed, the same rows and arguments
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Take every statement for a transaction of its own: what do the transactions protect from?
    #[arg(long)]
    pub each_statement: bool,
    /// Only tell what was read: procedures, transactions, statements, how many schedules each step leaves
    #[arg(long, conflicts_with_all = ["run", "tables"])]
    pub summary: bool,
    /// Only tell what each transaction reads, writes, defines and uses
    #[arg(long, conflicts_with = "run")]
    pub tables: bool,
    /// Write what goes wrong into this directory, as cases that can be run again
    #[arg(short, long, value_name = "DIR", requires = "run")]
    pub out: Option<PathBuf>,
    /// Cancel a statement that takes longer than this, e.g. 500ms, 10s, 2m
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub statement_limit: String,
    /// The form of the report
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// What private servers are told.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Who answers questions about values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum SolverName {
    /// The one that is built in.
    #[default]
    Embedded,
    /// The one that is built in, and z3 as a second opinion.
    Z3,
}

/// What people will want to do.
pub const EXAMPLES: &str = "\
Examples:
  txloom analyze app.sql                                     what can go wrong, and where
  txloom analyze procedures/ --schema dump.sql --run         … and does it? On SQLite
  txloom analyze app.sql --run --on postgres -o found        on PostgreSQL; cases to run again in found/
  txloom analyze app.log --schema dump.sql --level read-committed --on postgres
                                                             … from the server's log alone (txloom doctor: how to)
  txloom analyze app.sql --each-statement                    what do the transactions protect from?
  txloom analyze app.sql --level read-committed --on postgres --run
                                                             which calls break each other at that level?
  txloom analyze app.sql --level read-committed --on postgres --run --fix
                                                             … and what to write instead?
  txloom analyze app.sql --level eventual --run              … and on a replicated, weakly consistent store?";

/// There must be something to analyse, or a reason why there is not.
fn require_procedures(project: &Project) -> Result<(), Failure> {
    if !project.program.procedures.is_empty() {
        return Ok(());
    }
    let names = |files: &mut dyn Iterator<Item = &SourceFile>| {
        files.map(|file| file.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let mut logs = project.files.iter().filter(|file| file.log.is_some()).peekable();
    if logs.peek().is_some() {
        return Err(Failure::bad_input(format!(
            "there is no committed transaction that reads or writes a table in {}: is every statement logged? `txloom \
             doctor` tells how to switch that on",
            names(&mut logs)
        )));
    }
    if project.diagnostics.is_empty() {
        return Err(Failure::bad_input(format!(
            "there is no procedure in {}: write them as CREATE PROCEDURE … (see docs/reference/programs.md)",
            names(&mut project.files.iter())
        )));
    }
    Ok(())
}

/// Runs the command.
pub fn run(args: &AnalyzeArgs, streams: &mut Streams) -> Result<Exit, Failure> {
    let mut settings = AnalyzeSettings::new(args)?;
    let mut project = Project::read(settings.read(streams)?);
    if let Some(path) = &args.samples {
        settings.trial.samples = settings::samples(path, &project)?;
    }
    require_procedures(&project)?;
    let cut = if args.each_statement { Cut::EachQuery } else { Cut::AsWritten };
    if args.each_statement {
        project = project.chopped();
    }
    if settings.search.is_some() {
        project.demand_tables();
    }
    let analysis = Analysis::of(&project, cut);
    let mut told = report::report(&project, &analysis);
    if args.tables {
        told.tables = Some(report::tables(&project, &analysis));
    }
    if args.summary {
        told.summary.funnel = Some(report::funnel(&analysis));
    }
    match &settings.search {
        Some(wanted) => search::search(&settings, wanted, &project, &mut told, streams)?,
        None if args.run => try_all(&settings, &project, &analysis, &mut told, streams)?,
        None => {}
    }
    let concluded = conclusion(&told, args.summary || args.tables).interrupted(interrupt::requested());
    print(args, &told, &project, &concluded, streams)?;
    match args.format {
        Format::Json => Ok((&concluded).into()),
        Format::Text => conclude(&concluded, streams),
    }
}

/// The project with tables that the target takes, if it does not take those that were written; that is said.
fn suited(project: &Project, runner: &mut EngineRunner, streams: &mut Streams) -> Result<Option<Project>, Failure> {
    let engine = runner.engines_mut()[0].as_mut();
    let target = engine.info().target.clone();
    let Some((remade, refusal)) = tables::suited(project, engine)? else { return Ok(None) };
    streams.complain(&format!(
        "txloom: {target} does not take the tables as they are written ({refusal}), so they were made anew from what was \
         read of them: columns, keys, references and checks"
    ));
    Ok(Some(remade))
}

/// Runs every schedule, and loses a call behind every commit point.
fn try_all(
    settings: &AnalyzeSettings,
    project: &Project,
    analysis: &Analysis,
    told: &mut AnalysisReport,
    streams: &mut Streams,
) -> Result<(), Failure> {
    let mut runner = start_targets(std::slice::from_ref(&settings.target), settings.trial.limit, streams)?;
    let info = runner.engines_mut()[0].info().clone();
    info.require_level(&settings.trial.level)?;
    let remade = suited(project, &mut runner, streams)?;
    let project = remade.as_ref().unwrap_or(project);
    super::settings::tell_of_kept(std::slice::from_ref(&info), &settings.server, streams);
    let level = settings.trial.level.to_string();
    told.run = Some(RunOn { target: info.target.clone(), version: info.version.to_string(), level });
    let mut cases =
        settings.out.as_deref().map(|out| cases::Folder::new(out, project, &settings.replay_flags)).transpose()?;
    for (schedule, entry) in analysis.schedules.iter().zip(&mut told.schedules) {
        if interrupt::requested() {
            return Ok(());
        }
        let fate = Trials::new(project, analysis, &settings.trial, &mut runner).of(schedule).map_err(failure)?;
        let mut shown = report::fate(analysis, schedule, &fate);
        if let (Some(cases), Fate::Manifest(manifest)) = (&mut cases, &fate) {
            cases.write(&entry.name, &manifest.finding, &mut shown);
        }
        entry.fate = Some(shown);
    }
    lose_all(settings, project, analysis, told, (&mut runner, cases.as_mut()))?;
    cases.iter().filter_map(cases::Folder::unwritten).for_each(|failure| streams.fail(failure));
    Ok(())
}

fn lose_all(
    settings: &AnalyzeSettings,
    project: &Project,
    analysis: &Analysis,
    told: &mut AnalysisReport,
    (runner, mut cases): (&mut EngineRunner, Option<&mut cases::Folder>),
) -> Result<(), Failure> {
    let target = settings.target.to_string();
    for (point, entry) in analysis.points.iter().zip(&mut told.commit_points) {
        if interrupt::requested() {
            return Ok(());
        }
        let mut trials = Trials::new(project, analysis, &settings.trial, &mut *runner);
        let remainder = trials.remainder(point).map_err(failure)?;
        let mut shown = report::remainder(analysis, point, &remainder);
        if let (Some(cases), Remainder::Broken { case, .. }) = (cases.as_deref_mut(), &remainder) {
            cases.write_lost(&entry.transaction, case, &target, &mut shown);
        }
        entry.fate = Some(shown);
    }
    Ok(())
}

fn failure(error: TrialError) -> Failure {
    match error {
        TrialError::Run(RunError::Engine(error)) => Failure::from(error),
        other => Failure::bad_input(other),
    }
}

fn print(
    args: &AnalyzeArgs,
    told: &AnalysisReport,
    project: &Project,
    concluded: &Conclusion,
    streams: &mut Streams,
) -> Result<(), Failure> {
    let options = *streams.text_options();
    match args.format {
        Format::Json => {
            let report = Report::concluded(Body::Analysis(Box::new(told.clone())), concluded);
            streams.print(&json::print(&report))
        }
        Format::Text if args.summary => streams.print(&text::print_analysis_summary(told, &options)),
        Format::Text if args.tables => streams.print(&text::print_analysis_tables(told, &project.files, &options)),
        Format::Text if told.anomalies.is_some() => {
            streams.print(&text::print_anomalies(told, &project.files, &options, args.all))
        }
        Format::Text => streams.print(&text::print_analysis(told, &project.files, &options)),
    }
}
