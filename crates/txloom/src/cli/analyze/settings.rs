//! What the flags of `analyze` mean.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use txloom_core::level::LevelName;
use txloom_core::program::state::{self, Samples};
use txloom_core::search::cycles::Bounds;

use super::super::args::ServerArgs;
use super::super::cases::{expand_any, read_file};
use super::super::failure::Failure;
use super::super::settings;
use super::super::streams::Streams;
use super::{AnalyzeArgs, SolverName};
use crate::analyze::search::Second;
use crate::analyze::trial::Settings;
use crate::analyze::{Project, SourceFile};
use crate::engines::Target;
use crate::frontends::SourceLanguage;
use crate::solver::Solver;

/// What `analyze` is to do.
pub(super) struct AnalyzeSettings {
    /// The files with tables, and then those with procedures; none twice.
    files: Vec<PathBuf>,
    /// Where schedules are run.
    pub(super) target: Target,
    /// How they are run.
    pub(super) trial: Settings,
    /// Where cases go.
    pub(super) out: Option<PathBuf>,
    /// What private servers are told.
    pub(super) server: ServerArgs,
    /// The anomalies that are searched for.
    pub(super) search: Option<SearchSettings>,
    /// Whether what is found is run.
    pub(super) runs: bool,
}

/// What is searched for.
pub(super) struct SearchSettings {
    /// The level, as it was written.
    pub(super) level: String,
    /// How long cycles may be.
    pub(super) bounds: Bounds,
    /// Whether reads count that decide nothing.
    pub(super) external: bool,
    /// Rows to begin with: the file and what it says.
    pub(super) initial: Option<SourceFile>,
    /// When to stop.
    pub(super) time: Option<Duration>,
    /// Whether changes are looked for that remove what is found.
    pub(super) fix: bool,
    /// Who hears every question of the solver, too.
    pub(super) second: Option<Arc<Second>>,
}

impl AnalyzeSettings {
    /// Checks the flags.
    pub(super) fn new(args: &AnalyzeArgs) -> Result<AnalyzeSettings, Failure> {
        let search = SearchSettings::new(args)?;
        // A level of stores is run on a store, with a node for each call.
        let on = match (&args.on, &search) {
            (None, Some(wanted)) => Some(format!("replicas:{}", wanted.bounds.instances.clamp(2, 9))),
            (on, _) => on.clone(),
        };
        let mut targets = settings::targets(&on)?;
        settings::tell_servers(&mut targets, &args.server)?;
        let mut files: Vec<PathBuf> = Vec::new();
        for path in args.schema.iter().chain(&args.files) {
            for file in expand_any(path, &SourceLanguage::endings().collect::<Vec<_>>())? {
                if !files.contains(&file) {
                    files.push(file);
                }
            }
        }
        let trial = Settings {
            level: match (&search, &args.level) {
                (None, Some(level)) => settings::level(level)?,
                _ => settings::level("serializable")?,
            },
            samples: Samples::default(),
            seed: args.seed,
            limit: settings::parse_duration(&args.statement_limit)?,
        };
        let (out, server) = (args.out.clone(), args.server.clone());
        let runs = args.run;
        Ok(AnalyzeSettings { files, target: targets.remove(0), trial, out, server, search, runs })
    }

    /// Reads all files.
    pub(super) fn read(&self, streams: &mut Streams) -> Result<Vec<SourceFile>, Failure> {
        let mut read = Vec::new();
        let mut failures = Vec::new();
        for path in &self.files {
            match read_file(path, streams) {
                Ok(text) => read.push(SourceFile { name: path.display().to_string(), text }),
                Err(failure) => failures.push(failure),
            }
        }
        if failures.is_empty() { Ok(read) } else { Err(Failure::all(&failures)) }
    }
}

impl SearchSettings {
    /// Checks the flags; serializable is what `analyze` runs at without a search, since nothing is to be found there.
    fn new(args: &AnalyzeArgs) -> Result<Option<SearchSettings>, Failure> {
        let Some(level) = &args.level else { return Ok(None) };
        let is_serializable = LevelName::parse(level).is_some_and(|level| level.as_str() == "serializable");
        if is_serializable && (args.on.is_none() || args.run) && args.initial.is_none() {
            return Ok(None);
        }
        let read = |path: &PathBuf| match std::fs::read_to_string(path) {
            Ok(text) => Ok(SourceFile { name: path.display().to_string(), text }),
            Err(error) => Err(Failure::bad_input(format!("cannot read {}: {error}", path.display()))),
        };
        let in_range = |name: &str, value: usize, range: std::ops::RangeInclusive<usize>| match range.contains(&value) {
            true => Ok(value),
            false => Err(Failure::bad_input(format!(
                "--{name} {value}: write a number from {} to {}",
                range.start(),
                range.end()
            ))),
        };
        Ok(Some(SearchSettings {
            level: level.clone(),
            bounds: Bounds {
                length: in_range("length", args.length, 2..=8)?,
                instances: in_range("instances", args.instances, 2..=4)?,
                split_statements: false,
            },
            external: args.external,
            initial: args.initial.as_ref().map(read).transpose()?,
            time: args.time.as_deref().map(settings::parse_span).transpose()?,
            fix: args.fix,
            second: second(args.solver)?,
        }))
    }
}

/// The other solver, if it is wanted.
fn second(solver: SolverName) -> Result<Option<Arc<Second>>, Failure> {
    match (solver, Solver::find()) {
        (SolverName::Embedded, _) => Ok(None),
        (SolverName::Z3, Some(z3)) => Ok(Some(Arc::new(Second::new(z3)))),
        (SolverName::Z3, None) => Err(Failure::bad_input(
            "--solver z3: there is no z3 on the search path; install it (Debian's package `z3`, Python's `z3-solver`), or \
             leave the flag out: the embedded solver needs nothing",
        )),
    }
}

/// Reads sample values for the tables of an application.
pub(super) fn samples(path: &Path, project: &Project) -> Result<Samples, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::bad_input(format!("cannot read {}: {error}", path.display())))?;
    let schema = state::Schema::from(&project.schema);
    state::read(&text, &path.display().to_string(), &schema).map_err(Failure::bad_input)
}
