//! `txloom convert`: a case in another format.
//!
//! ```text
//!   file ──formats::read──→ cases ──run on --on, if given──→ traces ──formats::write──→ one text each
//! ```
//!
//! Without `--on` what is known of waits and errors is what the case expects. With it, every schedule is run first, and
//! what is written is what happened: who waited, who failed, who went on after whom.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use txloom_core::case::{Case, Line};
use txloom_core::formats::{self, ExportFormat};
use txloom_core::oracle::{Mode, RunRequest, Runner};
use txloom_core::schedule::Policy;
use txloom_core::trace::Trace;

use super::cases::{self, LoadedCase};
use super::failure::Failure;
use super::streams::Streams;
use crate::engines::{self, Target};
use crate::execute::EngineRunner;
use crate::exit::Exit;
use crate::files::{FileError, write::file};

/// The flags of `convert`.
#[derive(Debug, clap::Args)]
pub struct ConvertArgs {
    /// A case: our own format, a PostgreSQL isolation test (*.spec), or the text format of DT² and Troc
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The format to write
    #[arg(long, value_name = "FORMAT")]
    pub to: ToFormat,
    /// Run the case there first, and write what happened: who waits, who fails, what is answered
    #[arg(long, value_name = "TARGET")]
    pub on: Option<String>,
    /// Write to FILE instead of the standard output; to a directory, if there is more than one case
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// The format to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ToFormat {
    /// PostgreSQL isolation test
    Spec,
    /// MariaDB and MySQL test, with --send and --reap
    Mtr,
    /// Our own case format
    Sql,
    /// For bug trackers
    Markdown,
}

impl ToFormat {
    fn format(self) -> ExportFormat {
        match self {
            ToFormat::Spec => ExportFormat::Spec,
            ToFormat::Mtr => ExportFormat::Mtr,
            ToFormat::Sql => ExportFormat::Sql,
            ToFormat::Markdown => ExportFormat::Markdown,
        }
    }
}

/// Runs the command.
pub fn run(args: &ConvertArgs, streams: &mut Streams) -> Result<Exit, Failure> {
    let target = args.on.as_deref().map(Target::parse).transpose().map_err(Failure::bad_input)?;
    let cases = cases::load_file(&args.file, streams)?;
    let mut runner = match &target {
        Some(target) => Some(EngineRunner::new(vec![engines::open(target)?])),
        None => None,
    };
    let mut texts = Vec::new();
    for loaded in &cases {
        match runner.as_mut() {
            Some(runner) => texts.extend(convert_runs(loaded, args.to, runner)?),
            None => {
                if args.to == ToFormat::Mtr && is_silent_on_waits(&loaded.case) {
                    streams.complain(&format!(
                        "txloom: {} does not say which steps wait, so nobody does in the test; --on TARGET finds out",
                        loaded.file
                    ));
                }
                texts.push(convert(loaded, &loaded.case, None, args.to)?);
            }
        }
    }
    write(&texts, args, streams)?;
    Ok(Exit::Clean)
}

/// Runs every schedule of a case, and writes each run.
fn convert_runs(loaded: &LoadedCase, to: ToFormat, runner: &mut dyn Runner) -> Result<Vec<String>, Failure> {
    let schedules: Vec<_> = loaded.case.schedules().into_iter().cloned().collect();
    let mut runs: Vec<Case> = Vec::new();
    for schedule in schedules {
        let mut case = loaded.case.clone();
        case.set_schedule(schedule);
        runs.push(case);
    }
    if runs.is_empty() {
        runs.push(loaded.case.clone());
    }
    let text = |case: Case| {
        let mode = Mode::Scheduled(case.schedules().first().map(|schedule| (*schedule).clone()));
        let trace = runner.run(&RunRequest { case: &case, target: 0, policy: Policy::Skip, mode })?;
        convert(loaded, &case, Some(&trace), to)
    };
    runs.into_iter().map(text).collect()
}

fn convert(loaded: &LoadedCase, case: &Case, trace: Option<&Trace>, to: ToFormat) -> Result<String, Failure> {
    formats::write(case, trace, to.format())
        .map_err(|error| Failure::bad_input(format!("cannot convert {}: {error}", loaded.file)))
}

/// Whether a case with several sessions expects nothing of any step.
fn is_silent_on_waits(case: &Case) -> bool {
    let expects = |line: &Line| matches!(line, Line::Step(_, _, expectations) if !expectations.is_empty());
    case.sessions().len() > 1 && !case.entries.iter().any(|entry| expects(&entry.line))
}

/// Writes the texts: one to a file or the standard output, several to a directory.
fn write(texts: &[String], args: &ConvertArgs, streams: &mut Streams) -> Result<(), Failure> {
    let extension = args.to.format().extension();
    let stem = args.file.file_stem().map_or("case".into(), |stem| stem.to_string_lossy());
    match (texts, &args.out) {
        ([text], Some(out)) if out.is_dir() => write_file(&out.join(format!("{stem}.{extension}")), text),
        ([text], Some(out)) => write_file(out, text),
        ([text], None) => streams.print_exactly(text),
        (texts, Some(out)) => {
            std::fs::create_dir_all(out).map_err(|error| FileError::new("make the directory", out, error))?;
            texts
                .iter()
                .enumerate()
                .try_for_each(|(at, text)| write_file(&out.join(format!("{stem}-{}.{extension}", at + 1)), text))
        }
        (texts, None) => Err(Failure::bad_input(format!(
            "{} holds {} cases: name a directory for them with -o",
            args.file.display(),
            texts.len()
        ))),
    }
}

fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    Ok(file(path, text.as_bytes())?)
}
