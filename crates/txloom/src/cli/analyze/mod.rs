//! `txloom analyze`: which orders of an application's transactions can go wrong, and do they?
//!
//! ```text
//!   files ──→ Project ──→ Analysis ──→ AnalysisReport ──→ text with pictures of the sources, JSON
//!                             └──--run──→ Trials ──→ what became of each schedule; cases in -o DIR
//! ```

mod assumed;
mod cases;
mod progress;
mod search;
mod settings;

use std::path::PathBuf;

use txloom_core::flow::program::Cut;
use txloom_core::oracle::RunError;

use super::args::{Format, ServerArgs};
use super::failure::Failure;
use super::run::start_targets;
use super::streams::Streams;
use crate::analyze::atomicity::Remainder;
use crate::analyze::trial::{Fate, TrialError, Trials};
use crate::analyze::{Analysis, Project, SourceFile, report, tables};
use crate::execute::EngineRunner;
use crate::exit::Exit;
use crate::report::model::analysis::{AnalysisReport, RunOn};
use progress::Progress;
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
    /// Where to run them, and whose levels are meant [default: the database that the files tell; without a sign,
    /// PostgreSQL's levels, and `model` to run on; replicas:3 for a level of stores]
    #[arg(long, value_name = "TARGET")]
    pub on: Option<String>,
    /// Search for serializability anomalies at this level of the database, or at a store's (store:eventual,
    /// store:causal, …); the other patterns are left out then [default: the target's default level]
    #[arg(long)]
    pub level: Option<String>,
    /// At a level of stores: each call stays on its node, so that it sees what it wrote and what it saw before. Without
    /// it, each statement may be answered by any node
    #[arg(long, requires = "level")]
    pub sticky: bool,
    /// How many statements a cycle of dependencies may have
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub length: usize,
    /// How many calls a cycle may go through
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub instances: usize,
    /// Look also at reads that decide nothing: no write and no branch depends on them
    #[arg(long)]
    pub external: bool,
    /// Begin with the rows of this file (INSERT statements), not with rows that the search chooses
    #[arg(long, value_name = "FILE")]
    pub initial: Option<PathBuf>,
    /// Where a cycle is not possible with those rows: let up to N calls come before, one after the other
    #[arg(long, value_name = "N", default_value_t = 0, requires = "initial")]
    pub prefix: usize,
    /// Stop after this time, report what was found by then, and tell what was not looked at, e.g. 30s, 5m [default
    /// without --level: 2m]
    #[arg(long = "for", value_name = "TIME")]
    pub time: Option<String>,
    /// Stop once so much memory is in use, in the same way, e.g. 500M, 4G [default: half of what the machine has left]
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// Look for the cheapest change that removes each anomaly, and for changes that remove all of them
    #[arg(long, conflicts_with = "each_statement")]
    pub fix: bool,
    /// Who answers whether a cycle can happen. With z3, every question is asked of both, and both must agree
    #[arg(long, value_name = "NAME", default_value = "embedded")]
    pub solver: SolverName,
    /// Print every structure, also those that contain a smaller one
    #[arg(long)]
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
  txloom analyze procedures/ --schema dump.sql --run         … and does it?
  txloom analyze app.sql --run --on postgres -o found        on PostgreSQL; cases to run again in found/
  txloom analyze app.log --schema dump.sql --level read-committed --on postgres
                                                             … from the server's log alone (txloom doctor: how to)
  txloom analyze app.sql --each-statement                    what do the transactions protect from?
  txloom analyze app.sql --level read-committed --on postgres --run
                                                             which calls break each other at that level?
  txloom analyze app.sql --level read-committed --on postgres --run --fix
                                                             … and what to write instead?
  txloom analyze app.sql --level store:eventual --run              … and on a replicated, weakly consistent store?";

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
            "there is no procedure in {}: name the sources of the application, its CREATE PROCEDURE …, or the log of its \
             server (see docs/reference/analyze.md)",
            names(&mut project.files.iter())
        )));
    }
    Ok(())
}

/// Runs the command.
pub fn run(args: &AnalyzeArgs, streams: &mut Streams) -> Result<Exit, Failure> {
    let mut progress = Progress::start(args, settings::limits(args)?, streams.color());
    let mut settings = AnalyzeSettings::new(args)?;
    let mut project = Project::read(settings.read(streams)?);
    if let Some(path) = &args.samples {
        settings.trial.samples = settings::samples(path, &project)?;
    }
    progress.set_files(&project.files);
    if let Err(failure) = require_procedures(&project) {
        return if progress.budget().is_spent() {
            progress.finish(AnalysisReport::default(), streams)
        } else {
            Err(failure)
        };
    }
    assumed::assume(&mut settings, &project)?;
    let cut = if args.each_statement { Cut::EachQuery } else { Cut::AsWritten };
    if args.each_statement {
        project = project.chopped();
    }
    if settings.search.is_some() {
        project.demand_tables();
    }
    progress.begin("the analysis of the flow of data");
    let analysis = Analysis::within(&project, cut, progress.budget());
    let mut told = report::report(&project, &analysis);
    progress.leave(&told);
    if args.tables {
        told.tables = Some(report::tables(&project, &analysis));
    }
    if args.summary {
        told.summary.funnel = Some(report::funnel(&analysis, progress.budget()));
    }
    match examine(&settings, &project, &analysis, &mut told, (&progress, streams)) {
        // What was under way when the user asked to stop is no failure, and what was found before is reported.
        Err(failure) if failure.exit == Exit::Interrupted && progress.has_stopped() => {}
        done => done?,
    }
    progress.finish(told, streams)
}

/// Searches at the level, and runs the orders of whole transactions, as far as they are asked for.
fn examine(
    settings: &AnalyzeSettings,
    project: &Project,
    analysis: &Analysis,
    told: &mut AnalysisReport,
    (progress, streams): (&Progress, &mut Streams),
) -> Result<(), Failure> {
    if let Some(wanted) = &settings.search {
        search::search(settings, wanted, project, told, (progress, &mut *streams))?;
    }
    let is_wanted = settings.search.as_ref().is_none_or(|wanted| wanted.patterns);
    if settings.runs && is_wanted && !progress.budget().is_spent() {
        try_all(settings, project, analysis, told, (progress, streams))?;
    }
    Ok(())
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
    (progress, streams): (&Progress, &mut Streams),
) -> Result<(), Failure> {
    progress.begin("starting the target");
    let mut runner = start_targets(std::slice::from_ref(&settings.target), settings.trial.limit, streams)?;
    let info = runner.engines_mut()[0].info().clone();
    info.require_level(&settings.trial.level)?;
    let remade = suited(project, &mut runner, streams)?;
    let project = remade.as_ref().unwrap_or(project);
    super::settings::tell_of_kept(std::slice::from_ref(&info), &settings.server, streams);
    let level = settings.trial.level.to_string();
    told.run.get_or_insert(RunOn { target: info.target.clone(), version: info.version.to_string(), level });
    let mut cases =
        settings.out.as_deref().map(|out| cases::Folder::new(out, project, &settings.replay_flags)).transpose()?;
    progress.begin("running the schedules");
    for (at, schedule) in analysis.schedules.iter().enumerate() {
        progress.leave(told);
        if progress.budget().is_spent() {
            return Ok(());
        }
        let fate = Trials::new(project, analysis, &settings.trial, &mut runner).of(schedule).map_err(failure)?;
        let mut shown = report::fate(analysis, schedule, &fate);
        let entry = &mut told.schedules[at];
        if let (Some(cases), Fate::Manifest(manifest)) = (&mut cases, &fate) {
            cases.write(&entry.name, &manifest.finding, &mut shown);
        }
        entry.fate = Some(shown);
    }
    lose_all(settings, (project, analysis), (told, progress), (&mut runner, cases.as_mut()))?;
    cases.iter().filter_map(cases::Folder::unwritten).for_each(|failure| streams.fail(failure));
    Ok(())
}

fn lose_all(
    settings: &AnalyzeSettings,
    (project, analysis): (&Project, &Analysis),
    (told, progress): (&mut AnalysisReport, &Progress),
    (runner, mut cases): (&mut EngineRunner, Option<&mut cases::Folder>),
) -> Result<(), Failure> {
    let target = settings.target.to_string();
    for (point, entry) in analysis.points.iter().zip(&mut told.commit_points) {
        if progress.budget().is_spent() {
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
