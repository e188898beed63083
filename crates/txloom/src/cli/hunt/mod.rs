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
use crate::engines;
use crate::exit::Exit;
use crate::hunt::findings::Findings;
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
    let findings = args.out.as_deref().map(Findings::open).transpose().map_err(Failure::bad_input)?;
    let mut exit = Exit::Clean;
    if args.targets.is_empty() && args.on.is_empty() && settings.format == Format::Text {
        exit = demonstrate(args.out.as_deref(), streams)?;
        if settings.has_default_budget {
            settings.budget = Budget::time(DEMONSTRATION_TIME);
        }
    }
    Ok(exit.or(hunt(&settings, findings, streams)?))
}

fn demonstrate(directory: Option<&Path>, streams: &mut Streams) -> Result<Exit, Failure> {
    let exit = demonstration::show(directory, streams)?;
    streams.print("\n\n")?;
    Ok(exit)
}

fn hunt(settings: &HuntSettings, findings: Option<Findings>, streams: &mut Streams) -> Result<Exit, Failure> {
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
        ..Hunt::new(&open)
    };
    let mut show = Show::new(settings, findings, streams);
    let summary = hunt.run(&mut show).map_err(failure)?;
    show.finish()?;
    let Show { findings, told, recorded, trouble, .. } = show;
    let report = hunt_report(&summary, told, recorded);
    let concluded = concluded(&summary, trouble);
    let whole = Report::concluded(Body::Hunt(Box::new(report)), &concluded);
    let saved = findings.as_ref().map(|findings| findings.write_summary(&whole).map(|_| ()));
    if let Some(Err(error)) = saved {
        streams.complain(&format!("txloom: {error}"));
    }
    let is_silent = summary.found.is_empty() && summary.recorded.is_empty();
    if settings.format == Format::Json {
        streams.print(&json::print(&whole))?;
        return Ok((&concluded).into());
    }
    streams.print(&format!("\n{}", text::print(&whole, streams.text_options())))?;
    if !is_silent && findings.is_none() {
        let hint = "(-o DIR writes every finding into a directory, with the case that shows it.)";
        streams.print(&text::paragraph(hint, &streams.text_options().clone()))?;
    }
    conclude(&concluded, streams)
}

/// The conclusion of the hunt; a finding that could not be written is a gap, since its replay command does not work.
fn concluded(summary: &Summary, is_unwritten: bool) -> Conclusion {
    let unwritten = Gap::new(GapCause::BadInput, "a finding could not be written, see above");
    conclusion(summary).with_gaps(is_unwritten.then_some(unwritten))
}

fn failure(error: HuntError) -> Failure {
    match error {
        HuntError::Engine(error) => error.into(),
        other => Failure::bad_input(other),
    }
}
