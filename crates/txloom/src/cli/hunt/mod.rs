//! `txloom hunt`: looks for bugs with generated transactions.
//!
//! ```text
//!   flags ──settings──→ what to hunt in ──crate::hunt──→ findings ──watcher──→ terminal, directory
//! ```
//!
//! * [`settings`]: what the flags mean
//! * [`watcher`]: what is shown and written while it runs
//! * [`demonstration`]: what comes first when no target is named, with [`search`] and [`parts`]

mod settings;
mod watcher;
mod demonstration;
mod parts;
mod search;

use std::path::Path;
use std::time::Duration;

use txloom_core::conclusion::{Conclusion, Gap, GapCause};

use super::args::{Format, HuntArgs};
use super::conclude::conclude;
use super::failure::Failure;
use super::streams::Streams;
use crate::cli::run::announce_rights;
use crate::engines;
use crate::exit::Exit;
use crate::hunt::findings::{DIRECTORY, Findings};
use crate::hunt::report::hunt_report;
use crate::hunt::{Budget, Hunt, HuntError, Summary, conclusion};
use crate::report::model::{Body, Report};
use crate::report::{json, text};
use settings::HuntSettings;
use watcher::Show;

/// How long the hunt of the demonstration takes.
const DEMONSTRATION_TIME: Duration = Duration::from_secs(5);

/// Runs the command.
pub fn run(args: &HuntArgs, streams: &mut Streams) -> Result<Exit, Failure> {
    let mut settings = HuntSettings::new(args)?;
    let mut findings = match &args.out {
        Some(out) => Findings::open(out)?,
        None => Findings::later(Path::new(DIRECTORY)),
    };
    let mut exit = Exit::Clean;
    if args.targets.is_empty() && args.on.is_empty() && settings.format == Format::Text {
        exit = demonstrate(&mut findings, streams)?;
        if settings.has_default_budget {
            settings.budget = Budget::time(DEMONSTRATION_TIME);
        }
    }
    Ok(exit.or(hunt(&settings, findings, streams)?))
}

fn demonstrate(findings: &mut Findings, streams: &mut Streams) -> Result<Exit, Failure> {
    let exit = demonstration::show(findings, streams)?;
    streams.print("\n\n")?;
    Ok(exit)
}

fn hunt(settings: &HuntSettings, findings: Findings, streams: &mut Streams) -> Result<Exit, Failure> {
    announce_rights(&settings.targets, streams);
    let open = || settings.targets.iter().map(engines::open).collect();
    let oracles = |targets: &[_]| settings.oracles(targets);
    let hunt = Hunt {
        oracles: &oracles,
        model: settings.model.clone(),
        seed: settings.seed,
        levels: settings.levels.clone(),
        budget: settings.budget,
        workers: settings.workers,
        stop_on_first: settings.stop_on_first,
        known: settings.known.clone(),
        reduce_tests: settings.reduce_tests,
        statement_limit: settings.statement_limit,
        storms: settings.storms,
        replay_flags: settings.replay_flags.clone(),
        group_flags: settings.group_flags.clone(),
        group: settings.group,
        ..Hunt::new(&open)
    };
    let mut show = Show::new(settings, findings, streams);
    let summary = hunt.run(&mut show).map_err(failure)?;
    show.finish()?;
    let Show { findings, told, recorded, trouble, .. } = show;
    let report = hunt_report(&summary, told, recorded);
    let concluded = concluded(&summary, trouble);
    let whole = Report::concluded(Body::Hunt(Box::new(report)), &concluded);
    let is_kept = settings.is_out_named || (findings.is_open() && has_found(&summary));
    if let Some(Err(error)) = is_kept.then(|| findings.write_summary(&whole)) {
        streams.fail(&error.into());
    }
    if settings.format == Format::Json {
        streams.print(&json::print(&whole))?;
        return Ok((&concluded).into());
    }
    streams.print(&format!("\n{}", text::print(&whole, streams.text_options())))?;
    conclude(&concluded, streams)
}

/// True if the hunt itself found something; the demonstration before it does not count.
fn has_found(summary: &Summary) -> bool {
    !summary.found.is_empty() || !summary.recorded.is_empty()
}

/// The conclusion of the hunt; a finding that could not be written is a gap, since its replay command does not work.
fn concluded(summary: &Summary, is_unwritten: bool) -> Conclusion {
    let unwritten = Gap::new(GapCause::FileFailed, "a finding could not be written, see above");
    conclusion(summary).with_gaps(is_unwritten.then_some(unwritten))
}

fn failure(error: HuntError) -> Failure {
    match error {
        HuntError::Engine(error) => error.into(),
        other => Failure::bad_input(other),
    }
}
