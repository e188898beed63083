//! The demonstration: see txloom at work, with nothing installed.
//!
//! Two things are shown. First that a bug is found: two calls of a program run on a database with a *planted* bug, under
//! one schedule after the other, until the serial oracle finds a result that no serial order gives; the case is then
//! reduced, explained and printed as plain SQL. Then that there is silence where nothing is wrong: the corpus runs on
//! SQLite.

use std::path::PathBuf;
use std::sync::Arc;

use txloom_core::case::{self, Case};
use txloom_core::oracle::Runner;
use txloom_core::oracle::serial::Serial;
use txloom_core::program::Program;

use super::super::failure::Failure;
use super::super::run::execute;
use super::super::settings::RunSettings;
use super::super::streams::Streams;
use super::parts;
use super::search::{self, Catch, Outcome};
use crate::engines::{self, Target};
use crate::execute::EngineRunner;
use crate::exit::Exit;
use crate::hunt::findings::Findings;
use crate::interrupt;
use crate::report::build::finding_report;
use crate::report::model::{CaseReport, TargetRun, Totals};
use crate::report::text;

/// The target that the bug is planted in.
const PLANTED_TARGET: &str = "model+lost-update";

/// The target that the corpus runs on.
const CORPUS_TARGET: &str = "sqlite";

/// The name of the file of the reduced case, without its extension.
const CASE_NAME: &str = "lost-update";

const INTRODUCTION: &str = "\
Two people withdraw money from one account at the same time. The program takes the amount off the balance if there is \
enough. Snapshot isolation promises that the second of two such writers is refused; but the database is model, a small \
one of our own, and we have planted a bug in it: the second one is let through, and the first withdrawal is lost.";

const WITHDRAWALS: &str = include_str!("withdrawals.sql");

const WITHDRAW: &str = include_str!("withdraw.sql");

/// Shows both; the reduced case is written into the directory of findings.
pub(super) fn show(findings: &mut Findings, streams: &mut Streams) -> Result<Exit, Failure> {
    let mut planted = start(PLANTED_TARGET)?;
    show_planted(findings, &mut planted, streams)?;
    drop(planted);
    let mut healthy = start(CORPUS_TARGET)?;
    show_corpus(&mut healthy, streams)
}

fn start(target: &str) -> Result<EngineRunner, Failure> {
    Ok(EngineRunner::new(vec![engines::open(&parse(target)?)?]))
}

fn parse(target: &str) -> Result<Target, Failure> {
    Target::parse(target).map_err(Failure::bad_input)
}

/// Finds, reduces and explains the planted bug.
fn show_planted(findings: &mut Findings, runner: &mut dyn Runner, streams: &mut Streams) -> Result<(), Failure> {
    say(streams, "A planted bug", INTRODUCTION)?;
    match search::search(&Serial::default(), &withdrawals()?, runner)? {
        Outcome::Caught(catch) => show_catch(findings, *catch, runner, streams),
        Outcome::Undecided(reason) => {
            let message = format!("txloom: the search for the planted bug came to no conclusion: {reason}");
            Err(Failure { exit: Exit::Undecided, message })
        }
        Outcome::NothingFound(count) => {
            let message = format!("txloom: the planted bug was not found under {count} schedules: please report this");
            Err(Failure { exit: Exit::Internal, message })
        }
    }
}

fn show_catch(
    findings: &mut Findings,
    catch: Catch,
    runner: &mut dyn Runner,
    streams: &mut Streams,
) -> Result<(), Failure> {
    let (finding, reduction) = parts::smallest(&catch.finding, runner)?;
    if interrupt::requested() {
        return Err(Failure::interrupted());
    }
    let case_text = case::print::print(&parts::flatten(&finding));
    let path = findings.write_case(CASE_NAME, &case_text).unwrap_or_else(|error| {
        streams.fail(&error.into());
        PathBuf::from(format!("{CASE_NAME}.sql"))
    });
    let replay = finding.replay_command(&path.display().to_string());
    let options = *streams.text_options();
    let schedules = if catch.schedule_count == 1 { "schedule" } else { "schedules" };
    let found = format!("It is found after {} {schedules}. {reduction}", catch.schedule_count);
    streams.print(&format!("\n{}\n", text::paragraph(&found, &options)))?;
    streams.print(&text::print_finding(&finding_report(&finding, case_text, replay), &options))
}

/// Runs the corpus on a database that is as it should be.
fn show_corpus(runner: &mut dyn Runner, streams: &mut Streams) -> Result<Exit, Failure> {
    let words = "One case per anomaly, each of which a serializable database prevents, and one per promise that every \
                 engine must keep:";
    streams.print("\n\n")?;
    say(streams, &format!("Nothing planted: the corpus on {CORPUS_TARGET}"), words)?;
    streams.print("\n")?;
    let settings = RunSettings::for_own_cases(vec![parse(CORPUS_TARGET)?]);
    let options = *streams.text_options();
    let (mut totals, mut prevented, mut happened) = (Totals::default(), Vec::new(), Vec::new());
    for loaded in parts::corpus(CORPUS_TARGET) {
        if interrupt::requested() {
            return Err(Failure::interrupted());
        }
        let done = execute(&settings, &loaded, runner)?;
        totals.add(&done.report);
        match anomaly(&done.report) {
            Some((id, true)) => happened.push(id),
            Some((id, false)) => prevented.push(id),
            None => {}
        }
        if !done.report.is_good() {
            streams.print(&text::print_case_line(&done.report, &options))?;
        }
    }
    for (ids, words) in [(prevented, "did not happen"), (happened, "happened")] {
        if !ids.is_empty() {
            streams.print(&text::paragraph(&format!("{} {words}.", ids.join(", ")), &options))?;
        }
    }
    streams.print(&text::print_totals(&totals, &options))?;
    Ok(if totals.is_good() { Exit::Clean } else { Exit::Found })
}

/// The anomaly that a case provokes, and whether it happened.
fn anomaly(case: &CaseReport) -> Option<(String, bool)> {
    let runs = || case.runs.iter().flat_map(|run| &run.targets);
    let happened = |run: &TargetRun| run.observed().and_then(|seen| seen.anomaly_happened);
    case.anomaly.clone().map(|id| (id, runs().filter_map(happened).any(|happened| happened)))
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
    let program = Program::parse(WITHDRAW)
        .map_err(|error| Failure::in_file("withdraw.sql", error.line, error.column, &error.message, &error.text))?;
    case.program = Some(Arc::new(program));
    Ok(case)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_case_reads_and_is_in_canonical_form() {
        assert_eq!(case::print::print(&withdrawals().unwrap()), WITHDRAWALS);
    }
}
