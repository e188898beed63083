//! What the flags of `analyze` mean.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use txloom_core::level::LevelName;
use txloom_core::program::front::Definitions;
use txloom_core::program::state::{self, Samples};
use txloom_core::search::cycles::Bounds;

use super::super::args::{PolicyName, ServerArgs};
use super::super::cases::expand_any;
use super::super::failure::Failure;
use super::super::settings::{self, is_stdin};
use super::super::streams::Streams;
use super::{AnalyzeArgs, SolverName};
use crate::analyze::search::Second;
use crate::analyze::trial::Settings;
use crate::analyze::{Project, SourceFile, project, unread};
use crate::engines::Target;
use crate::exit::Exit;
use crate::files::{self, FileError, FileProblem, SOURCE_MAX, TEXT_MAX};
use crate::frontends::{SourceLanguage, logs};
use crate::memory::affordable_bytes;
use crate::solver::Solver;
use crate::supervisor::WorkLimits;

/// What `analyze` is to do.
pub(super) struct AnalyzeSettings {
    /// The files with tables, and then those with procedures; none twice.
    files: Vec<PathBuf>,
    /// Where schedules are run.
    pub(super) target: Target,
    /// Whether a flag names the target.
    pub(super) is_target_named: bool,
    /// How they are run.
    pub(super) trial: Settings,
    /// Where cases go.
    pub(super) out: Option<PathBuf>,
    /// What replay commands say besides the case, its target and the oracle.
    pub(super) replay_flags: String,
    /// What private servers are told.
    pub(super) server: ServerArgs,
    /// The anomalies that are searched for.
    pub(super) search: Option<SearchSettings>,
    /// Whether what is found is run.
    pub(super) runs: bool,
}

/// What is searched for.
pub(super) struct SearchSettings {
    /// The level, as it was written; empty until it is [assumed](super::assumed).
    pub(super) level: String,
    /// Why the level was assumed, if it was.
    pub(super) assumed: Option<String>,
    /// Whether orders of whole transactions are looked at, too.
    pub(super) patterns: bool,
    /// How long cycles may be.
    pub(super) bounds: Bounds,
    /// Whether reads count that decide nothing.
    pub(super) external: bool,
    /// Rows to begin with: the file and what it says.
    pub(super) initial: Option<SourceFile>,
    /// How many calls may come before.
    pub(super) prefix: usize,
    /// Whether each call stays on its node.
    pub(super) sticky: bool,
    /// Whether changes are looked for that remove what is found.
    pub(super) fix: bool,
    /// Who hears every question of the solver, too.
    pub(super) second: Option<Arc<Second>>,
}

/// The time of a search that nobody asked for by a level: it must not surprise anybody by its length.
const ASSUMED_TIME: Duration = Duration::from_secs(120);

/// The time and the memory that the analysis may take.
pub(super) fn limits(args: &AnalyzeArgs) -> Result<WorkLimits, Failure> {
    let memory = args.memory.as_deref().map(settings::parse_size).transpose()?;
    let time = args.time.as_deref().map(settings::parse_span).transpose()?;
    let is_assumed = args.level.is_none() && !(args.summary || args.tables || args.each_statement);
    Ok(WorkLimits {
        time: time.or(is_assumed.then_some(ASSUMED_TIME)),
        memory: Some(memory.unwrap_or_else(affordable_bytes)),
    })
}

impl AnalyzeSettings {
    /// Checks the flags.
    pub(super) fn new(args: &AnalyzeArgs) -> Result<AnalyzeSettings, Failure> {
        let search = SearchSettings::new(args)?;
        // A level of stores is run on a store, with a node for each call.
        let on = match (&args.on, &search) {
            (None, Some(wanted)) if is_store(&wanted.level) => {
                Some(format!("replicas:{}", wanted.bounds.instances.clamp(2, 9)))
            }
            (on, _) => on.clone(),
        };
        let mut targets = settings::targets(&on)?;
        if on.is_some() || search.is_none() {
            settings::tell_servers(&mut targets, &args.server)?;
        }
        let mut files: Vec<PathBuf> = Vec::new();
        for path in args.schema.iter().chain(&args.files) {
            for file in application(path)? {
                if !files.contains(&file) {
                    files.push(file);
                }
            }
        }
        let trial = Settings {
            level: settings::level("serializable")?,
            samples: Samples::default(),
            seed: args.seed,
            limit: settings::parse_duration(&args.statement_limit)?,
        };
        let (out, server) = (args.out.clone(), args.server.clone());
        let runs = args.run;
        let replay_flags = settings::replay_flags(&args.server, &args.statement_limit, PolicyName::Skip);
        let (target, is_target_named) = (targets.remove(0), on.is_some());
        Ok(AnalyzeSettings { files, target, is_target_named, trial, out, server, replay_flags, search, runs })
    }

    /// Reads all files: those that are text, and then the logs, which mean something only together with the tables.
    pub(super) fn read(&self, streams: &mut Streams) -> Result<Vec<SourceFile>, Failure> {
        let mut read = Vec::new();
        let mut failures = Vec::new();
        let mut logs: Vec<(String, Log)> = Vec::new();
        for path in &self.files {
            let name = path.display().to_string();
            match open(path, streams) {
                Ok(Input::Text(text)) => read.push(SourceFile::new(name, text)),
                Ok(Input::Log(file)) => logs.push((name, file)),
                Err(failure) => failures.push(failure),
            }
        }
        if !logs.is_empty() {
            self.read_logs(logs, &mut read, &mut failures);
        }
        if failures.is_empty() { Ok(read) } else { Err(Failure::all(&failures)) }
    }

    fn read_logs(&self, logs: Vec<(String, Log)>, read: &mut Vec<SourceFile>, failures: &mut Vec<Failure>) {
        let schemas: Vec<_> = read.iter().filter_map(SourceFile::definitions).map(|reading| reading.schema).collect();
        let schema = project::together(schemas.iter());
        let rows_of = |file: &SourceFile| {
            let said = Definitions::read(&file.text);
            said.rows().chain(&said.copied).cloned().collect::<Vec<_>>()
        };
        let rows: Vec<String> = read.iter().flat_map(rows_of).collect();
        for (name, file) in logs {
            let read_log = match file {
                Log::File(file) => logs::read_from(file, &name, &schema, &rows),
                Log::Stream(stream) => logs::read_from(logs::Once(stream), &name, &schema, &rows),
            };
            match read_log {
                // Changes are shown as changes of procedures: nobody can change a log.
                Ok(log) if self.search.as_ref().is_some_and(|search| search.fix) => {
                    read.push(SourceFile::new(name, log.program.to_string()));
                }
                Ok(log) => read.push(SourceFile::of_log(name, log)),
                Err(error) => failures.push(Failure::bad_input(error)),
            }
        }
    }
}

/// The files of an application. A directory whose application is in a language that is not read is no mistake: nothing
/// is known of it.
fn application(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let found = expand_any(path, &SourceLanguage::endings().collect::<Vec<_>>());
    let unread = unread::MARKERS.iter().find(|(file, word, _)| {
        std::fs::read_to_string(path.join(file)).is_ok_and(|text| text.to_lowercase().contains(word))
    });
    match (found, unread) {
        (Err(_), Some((file, _, name))) => {
            let place = path.join(file).display().to_string();
            let advice = unread::recording_advice(None);
            let message = format!("txloom: unknown: {place}: an application with {name}, which is not read; {advice}");
            Err(Failure { exit: Exit::Undecided, message })
        }
        (found, _) => found,
    }
}

/// A file that was looked into.
enum Input {
    /// Definitions and procedures.
    Text(String),
    /// The log of a server.
    Log(Log),
}

/// A log: one that can be read again, or one that comes through a pipe.
enum Log {
    File(File),
    Stream(Box<dyn Read>),
}

/// So many bytes show whether something is a log.
const BEGINNING: u64 = 64 << 10;

/// What to do about a file of definitions that is too large.
const DUMP_ADVICE: &str = "give the schema alone (pg_dump --schema-only, mysqldump --no-data --routines)";

/// Looks into a file. A log is told by its name, or by its first lines if its name tells no language.
fn open(path: &Path, streams: &mut Streams) -> Result<Input, Failure> {
    if is_stdin(path) {
        let mut input = streams.take_input();
        let mut beginning = Vec::new();
        let failed = |problem| FileError::new("read", Path::new("the standard input"), problem);
        let all_read = input.by_ref().take(BEGINNING).read_to_end(&mut beginning);
        all_read.map_err(|error| failed(FileProblem::Io(error)))?;
        if logs::begins_log(&beginning) {
            return Ok(Input::Log(Log::Stream(Box::new(io::Cursor::new(beginning).chain(input)))));
        }
        let whole = io::Cursor::new(beginning).chain(input);
        let text = files::read_from(whole, TEXT_MAX, DUMP_ADVICE).and_then(files::text);
        return Ok(text.map(Input::Text).map_err(failed)?);
    }
    let extension = path.extension().and_then(|extension| extension.to_str());
    let language = SourceLanguage::named(&path.to_string_lossy());
    // A comment of a source may say `WARNING: …`; what its name says counts.
    let is_log = extension == Some("log") || (language.is_none() && logs::is_log(path));
    if !is_log && language.is_some_and(|language| language != SourceLanguage::Sql) {
        return Ok(Input::Text(source_text(files::read_bytes(path, SOURCE_MAX, "leave it out")?)));
    }
    if !is_log {
        let text = files::text(files::read_bytes(path, TEXT_MAX, DUMP_ADVICE)?);
        return Ok(Input::Text(text.map_err(|problem| FileError::new("read", path, problem))?));
    }
    Ok(Input::Log(Log::File(files::open(path)?)))
}

/// The text of a source. Old ones are in other encodings than UTF-8; their names and SQL are the same in Latin-1.
fn source_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect())
}

/// Whether a level is a store's.
pub(super) fn is_store(level: &str) -> bool {
    level.trim().to_lowercase().starts_with("store:")
}

impl SearchSettings {
    /// Checks the flags. At serializable, orders of whole transactions are what is left to go wrong.
    fn new(args: &AnalyzeArgs) -> Result<Option<SearchSettings>, Failure> {
        let is_listing = args.summary || args.tables || args.each_statement;
        if args.level.is_none() && is_listing {
            return Ok(None);
        }
        let level = args.level.clone().unwrap_or_default();
        let is_serializable = LevelName::parse(&level).is_some_and(|level| level.as_str() == "serializable");
        let patterns = is_serializable && (args.on.is_none() || args.run) && args.initial.is_none();
        let read =
            |path: &PathBuf| files::read_text(path).map(|text| SourceFile::new(path.display().to_string(), text));
        let in_range = |name: &str, value: usize, range: std::ops::RangeInclusive<usize>| match range.contains(&value) {
            true => Ok(value),
            false => Err(Failure::bad_input(format!(
                "--{name} {value}: write a number from {} to {}",
                range.start(),
                range.end()
            ))),
        };
        Ok(Some(SearchSettings {
            level,
            assumed: None,
            patterns,
            bounds: Bounds {
                length: in_range("length", args.length, 2..=8)?,
                instances: in_range("instances", args.instances, 2..=4)?,
            },
            external: args.external,
            initial: args.initial.as_ref().map(read).transpose()?,
            prefix: in_range("prefix", args.prefix, 0..=3)?,
            sticky: args.sticky,
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
    let text = files::read_text(path)?;
    let schema = state::Schema::from(&project.schema);
    state::read(&text, &path.display().to_string(), &schema).map_err(Failure::bad_input)
}
