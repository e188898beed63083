//! `txloom reduce`: make a case smaller, until only what matters is left.
//!
//! ```text
//!   case ──choose──→ what is wrong, and which oracle says so ──smallest──→ the finding of a smaller case ──→ report
//! ```
//!
//! * [`choose`]: which violation is kept
//! * [`expectations`]: an oracle for cases that say themselves what should happen
//! * [`progress`]: what is shown meanwhile, and how Ctrl-C is noticed

mod choose;
mod expectations;
mod progress;

use std::path::{Path, PathBuf};

use txloom_core::case::{Case, print::print};
use txloom_core::conclusion::{Conclusion, Gap, GapCause};
use txloom_core::finding::Finding;
use txloom_core::oracle::Runner;
use txloom_core::reduce;

use super::args::{Format, RunArgs, RunFormat, ServerArgs};
use super::cases::{self, LoadedCase, moved};
use super::conclude::conclude;
use super::failure::Failure;
use super::run::start;
use super::settings::{RunSettings, tell_of_kept, with_flags};
use super::streams::Streams;
use crate::exit::Exit;
use crate::files;
use crate::hunt::findings::{DIRECTORY, Findings};
use crate::interrupt;
use crate::report::build::{finding_report, reduced_case};
use crate::report::model::{Body, ReducedCase, ReducedReport, Report};
use crate::report::{json, text};
use choose::Chosen;
use progress::{Meter, Watched};

/// The flags of `reduce`.
#[derive(Debug, Default, clap::Args)]
pub struct ReduceArgs {
    /// Case files (also *.spec and DT² text); directories stand for all *.sql files in them; - is the standard input
    #[arg(value_name = "CASE")]
    pub cases: Vec<PathBuf>,
    /// Where they show something wrong: one target, or several to compare [default: sqlite]
    #[arg(long, value_name = "TARGET", num_args = 1..)]
    pub on: Vec<String>,
    /// Keep what this oracle objects to: diff, serial, graph, invariant or crash [default: the first that objects,
    /// unmet expectations before all]
    #[arg(long, value_name = "ORACLE")]
    pub oracle: Option<String>,
    /// Run every session at this isolation level, whatever the case says
    #[arg(long)]
    pub level: Option<String>,
    /// How many smaller cases may be tried
    #[arg(long, value_name = "N", default_value_t = reduce::TESTS_MAX)]
    pub tests: usize,
    /// Cancel a statement that runs (not: waits) longer than this, e.g. 500ms, 10s, 2m
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub statement_limit: String,
    /// The form of the report
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// What private servers are told.
    #[command(flatten)]
    pub server: ServerArgs,
    /// Write the reduced case to FILE; to a directory, if there is more than one [default: txloom-findings]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// The examples of the help text.
pub const EXAMPLES: &str = "\
Examples:
  txloom reduce bug.sql --on mariadb mysql -o small.sql      what do the two not agree on?
  txloom reduce bug.sql --on postgres --level serializable   what is not serializable there?
  txloom reduce bug.sql --on postgres --oracle serial        whatever the level promises
  txloom reduce report.txt --on mariadb --oracle crash       a case in the format of DT² and Troc

Exits with 1 if something is wrong, made smaller or not, and with 2 if nothing is.";

/// Runs the command.
pub fn run(args: &ReduceArgs, streams: &mut Streams) -> Result<Exit, Failure> {
    let settings = RunSettings::new(&run_args(args))?;
    let cases = cases::load(&settings.cases, streams)?;
    if let Some(out) = args.out.as_ref().filter(|out| cases.len() > 1 && !out.is_dir()) {
        let (count, out) = (cases.len(), out.display());
        return Err(Failure::bad_input(format!("there are {count} cases to write, and {out} is no directory")));
    }
    let mut runner = start(&settings, streams)?;
    tell_of_kept(&runner.targets(), &args.server, streams);
    if let Some(level) = &settings.level {
        runner.targets().iter().try_for_each(|target| target.require_level(level))?;
    }
    reduce_all(args, &settings, &cases, &mut runner, streams)
}

/// The flags that mean the same for `run`.
fn run_args(args: &ReduceArgs) -> RunArgs {
    RunArgs {
        cases: args.cases.clone(),
        on: args.on.clone(),
        oracle: args.oracle.clone(),
        level: args.level.clone(),
        statement_limit: args.statement_limit.clone(),
        format: RunFormat::Text,
        server: args.server.clone(),
        ..RunArgs::default()
    }
}

/// Reduces the cases, showing each as soon as that is done; JSON is one document at the end.
pub(crate) fn reduce_all(
    args: &ReduceArgs,
    settings: &RunSettings,
    cases: &[LoadedCase],
    runner: &mut dyn Runner,
    streams: &mut Streams,
) -> Result<Exit, Failure> {
    let mut report = ReducedReport::default();
    let mut concluded = Conclusion::new("nothing is wrong").covering("cases", 0, Some(cases.len() as u64));
    for loaded in cases {
        if interrupt::requested() || streams.is_closed() {
            break;
        }
        match reduce_one(args, settings, loaded, runner, streams) {
            Ok((case, is_shown)) => {
                conclude_one(&mut concluded, &case, is_shown);
                let options = *streams.text_options();
                match args.format {
                    Format::Text => streams.print(&text::print_reduced(&case, &options))?,
                    Format::Json => report.cases.push(case),
                }
            }
            // What is wrong with one case need not be wrong with the next.
            Err(failure) if failure.exit == Exit::BadInput => {
                streams.complain(&failure.message);
                let what = failure.message.trim_start_matches("txloom: ");
                concluded.gaps.push(Gap::new(GapCause::BadInput, what));
            }
            Err(failure) => return Err(failure),
        }
    }
    concluded.is_interrupted = interrupt::requested();
    match args.format {
        Format::Json => {
            streams.print(&json::print(&Report::concluded(Body::Reduced(report), &concluded)))?;
            Ok((&concluded).into())
        }
        // A message says all there is to say of a case in which nothing is wrong.
        Format::Text if concluded.violations == 0 && !concluded.is_interrupted => Ok((&concluded).into()),
        Format::Text => conclude(&concluded, streams),
    }
}

/// Adds what became of one case. A violation that does not show twice is no evidence.
fn conclude_one(concluded: &mut Conclusion, case: &ReducedCase, is_shown: bool) {
    concluded.covered.iter_mut().for_each(|count| count.done += 1);
    if is_shown {
        concluded.violations += 1;
        let size = &case.after;
        let told = format!("{}: {} (reduced to {} items)", case.file, case.finding.sentence, size.items);
        let before = std::mem::take(&mut concluded.counterclaim);
        concluded.counterclaim = if before.is_empty() { told } else { format!("{before}; {told}") };
    } else {
        let what = "the violation did not show again";
        concluded.gaps.push(Gap::new(GapCause::Unstable, what).at(&case.file));
    }
}

fn reduce_one(
    args: &ReduceArgs,
    settings: &RunSettings,
    loaded: &LoadedCase,
    runner: &mut dyn Runner,
    streams: &mut Streams,
) -> Result<(ReducedCase, bool), Failure> {
    let mut case = loaded.case.clone();
    if let Some(level) = &settings.level {
        case.set_level(level.clone());
    }
    let Chosen { oracle, finding } = choose::choose(settings.oracle, &loaded.file, &case, runner)?;
    let watched = Watched::new(oracle.as_ref(), finding.fingerprint.kind(), Meter::new(&loaded.file));
    let (smaller, reduced) = reduce::smallest(&finding, &watched, runner, args.tests)?;
    watched.finish();
    if !reduced.reproduced && !interrupt::requested() {
        let (file, sentence) = (&loaded.file, &finding.sentence);
        streams.complain(&format!("txloom: {file}: did not show it again, so nothing is taken away: {sentence}"));
    }
    let stays = |_| smaller.clone();
    let explained =
        if interrupt::requested() { smaller } else { oracle.explain(smaller.clone(), runner).unwrap_or_else(stays) };
    let (text, written) = write(args, loaded, &explained.case);
    // Without a file of its own, the case that was given shows the same.
    let path = written.unwrap_or_else(|failure| {
        streams.fail(&failure);
        PathBuf::from(&loaded.file)
    });
    let replay = with_flags(&replay(&explained, &path), &settings.replay_flags);
    let report = finding_report(&explained, text, replay);
    let is_shown = reduced.reproduced || interrupt::requested();
    Ok((reduced_case(&loaded.file, &reduced, report), is_shown))
}

/// The command that shows it again; expectations are what `run` checks without being asked.
fn replay(finding: &Finding, path: &Path) -> String {
    let command = finding.replay_command(&path.display().to_string());
    command.replace(&format!(" --oracle {}", expectations::NAME), "")
}

/// Writes the reduced case where the user said, or among the findings. Gives its text, and its file if it has one.
fn write(args: &ReduceArgs, loaded: &LoadedCase, case: &Case) -> (String, Result<PathBuf, Failure>) {
    let stem = cases::stem(&loaded.file);
    let Some(out) = &args.out else {
        let mut findings = Findings::later(Path::new(DIRECTORY));
        let text = print(&moved(case, &loaded.file, &findings.dir().join("case.sql")));
        let written = findings.write_case(&format!("{stem}-reduced"), &text);
        return (text, written.map_err(Failure::from));
    };
    let path = if out.is_dir() { out.join(format!("{stem}.sql")) } else { out.clone() };
    let text = print(&moved(case, &loaded.file, &path));
    let written = files::write::file(&path, text.as_bytes());
    (text, written.map(|()| path).map_err(Failure::from))
}
