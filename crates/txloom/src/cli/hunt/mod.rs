//! `txloom hunt`, in its first form: see txloom at work, with nothing installed.
//!
//! Two things are shown. First that a bug is found: two calls of a program run on a database with a *planted* bug, under
//! one schedule after the other, until the serial oracle finds a result that no serial order gives; the case is then
//! reduced, explained and printed as plain SQL. Then that there is silence where nothing is wrong: the corpus runs on
//! SQLite.

mod search;

use std::time::Duration;

use txloom_core::case::{self, Case};
use txloom_core::oracle::Runner;

use super::args::{Format, HuntArgs};
use super::cases::LoadedCase;
use super::failure::Failure;
use super::run::run_on;
use super::settings::RunSettings;
use super::streams::Streams;
use crate::engines::{self, Target};
use crate::execute::EngineRunner;
use crate::exit::Exit;
use crate::report::build::finding_report;
use crate::report::text;
use search::{Catch, Outcome};

/// The target that the bug is planted in.
const PLANTED_TARGET: &str = "model+lost-update";

/// The target that the corpus runs on.
const CORPUS_TARGET: &str = "sqlite";

/// What the reduced case is called, if the user names no file.
const CASE_FILE: &str = "lost-update.sql";

const INTRODUCTION: &str = "\
Two people withdraw 80 from an account that holds 100, at the same time. The program reads the balance and takes the \
money if there is enough; snapshot isolation should refuse the second of two such withdrawals. The database is model, a \
small one of our own, and we have planted a bug in it: the second one is let through.";

const WITHDRAWALS: &str = include_str!("withdrawals.sql");

/// Runs the command.
pub fn run(args: &HuntArgs, streams: &mut Streams) -> Result<Exit, Failure> {
    let mut planted = start(PLANTED_TARGET)?;
    show_planted(args, &mut planted, streams)?;
    drop(planted);
    let mut healthy = start(CORPUS_TARGET)?;
    show_corpus(&mut healthy, streams)
}

fn start(target: &str) -> Result<EngineRunner, Failure> {
    let target = Target::parse(target).map_err(Failure::bad_input)?;
    Ok(EngineRunner::new(vec![engines::open(&target)?]))
}

/// Finds, reduces and explains the planted bug.
fn show_planted(args: &HuntArgs, runner: &mut dyn Runner, streams: &mut Streams) -> Result<(), Failure> {
    say(streams, "A planted bug", INTRODUCTION)?;
    let oracle = seams::oracle();
    let catch = match search::search(oracle.as_ref(), &withdrawals()?, runner)? {
        Outcome::Caught(catch) => *catch,
        Outcome::Undecided(reason) => {
            let message = format!("txloom: the search for the planted bug came to no conclusion: {reason}");
            return Err(Failure { exit: Exit::Undecided, message });
        }
        Outcome::NothingFound(count) => {
            let message = format!("txloom: the planted bug was not found under {count} schedules: please report this");
            return Err(Failure { exit: Exit::Internal, message });
        }
    };
    show_catch(args, catch, runner, streams)
}

fn show_catch(args: &HuntArgs, catch: Catch, runner: &mut dyn Runner, streams: &mut Streams) -> Result<(), Failure> {
    let schedules = if catch.schedule_count == 1 { "schedule" } else { "schedules" };
    let found = format!("Found after {} {schedules}. Reduced, it is this:", catch.schedule_count);
    let finding = seams::reduce(catch.finding, runner)?;
    let case = seams::flatten(&finding);
    let case_text = case::print::print(&case);
    if let Some(path) = &args.out {
        let cannot = |error| Failure::bad_input(format!("cannot write {}: {error}", path.display()));
        std::fs::write(path, &case_text).map_err(cannot)?;
    }
    let file = args.out.as_ref().map_or(CASE_FILE.to_string(), |path| path.display().to_string());
    let replay = format!("txloom run {file} --on {}", finding.trace.engine.target);
    let options = *streams.text_options();
    streams.print(&format!("\n{}\n", text::paragraph(&found, &options)))?;
    streams.print(&text::print_finding(&finding_report(&finding, case_text, replay), &options))?;
    if args.out.is_none() {
        let hint = format!("`txloom hunt -o {CASE_FILE}` writes the case to that file.");
        streams.print(&text::paragraph(&hint, &options))?;
    }
    Ok(())
}

/// Runs the corpus on a database that is as it should be.
fn show_corpus(runner: &mut dyn Runner, streams: &mut Streams) -> Result<Exit, Failure> {
    streams.print("\n")?;
    let words =
        "The corpus: one case per anomaly, each of which a serializable database prevents, and one per promise.";
    say(streams, "Nothing planted: the corpus on sqlite", words)?;
    streams.print("\n")?;
    let settings = RunSettings {
        cases: Vec::new(),
        targets: Vec::new(),
        level: None,
        record: false,
        twice: false,
        policy: txloom_core::schedule::Policy::default(),
        statement_limit: Duration::from_secs(10),
        quiet: true,
        format: Format::Text,
        out: None,
    };
    run_on(&settings, &seams::corpus()?, runner, streams)
}

fn say(streams: &mut Streams, heading: &str, words: &str) -> Result<(), Failure> {
    let options = *streams.text_options();
    streams.print(&text::heading(heading, &options))?;
    streams.print(&text::paragraph(words, &options))
}

/// The case that the hunt starts from.
fn withdrawals() -> Result<Case, Failure> {
    let mut case = case::parse(WITHDRAWALS)
        .map_err(|error| Failure::in_file("withdrawals.sql", error.line, error.column, &error.message, &error.text))?;
    case.program = Some(seams::program());
    Ok(case)
}

/// STAND-INS, until the oracle, the reducer, programs and the corpus are merged: each body becomes what its comment says.
mod seams {
    use std::sync::Arc;

    use txloom_core::finding::Finding;
    use txloom_core::oracle::{Oracle, RunError, Verdict};
    use txloom_core::program::Program;

    use super::{Case, Failure, LoadedCase, Runner};

    struct NotYet;

    impl Oracle for NotYet {
        fn name(&self) -> &'static str {
            "none"
        }

        fn judge(&self, _: &Case, _: &mut dyn Runner) -> Result<Verdict, RunError> {
            Ok(Verdict::Unknown("the serial oracle is not part of this build".to_string()))
        }
    }

    /// `Box::new(Serial::default())`
    pub(super) fn oracle() -> Box<dyn Oracle> {
        Box::new(NotYet)
    }

    /// `corpus::withdraw()`
    pub(super) fn program() -> Arc<Program> {
        Arc::new(Program {})
    }

    /// The finding of the smallest case that `reduce` leaves.
    pub(super) fn reduce(finding: Finding, _: &mut dyn Runner) -> Result<Finding, Failure> {
        Ok(finding)
    }

    /// `finding.trace.to_case(&finding.case)`
    pub(super) fn flatten(finding: &Finding) -> Case {
        finding.case.clone()
    }

    /// `corpus::ANOMALIES` and those of `corpus::CONTRACT` that are for SQLite's dialect
    pub(super) fn corpus() -> Result<Vec<LoadedCase>, Failure> {
        Ok(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_case_reads_and_is_in_canonical_form() {
        assert_eq!(case::print::print(&withdrawals().unwrap()), WITHDRAWALS);
    }
}
