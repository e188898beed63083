//! `--save-history`: what happened, as a history for `txloom check`.

use std::path::Path;

use txloom_core::history::History;
use txloom_core::history::formats::Format;
use txloom_core::history::from_trace::NotTraceable;

use super::super::cases::LoadedCase;
use super::super::check::save;
use super::super::failure::Failure;
use super::super::settings::RunSettings;

/// Refuses what is more than one run, or a file that no history can be written to. Nothing has started yet.
pub(super) fn check(path: &Path, settings: &RunSettings, cases: &[LoadedCase]) -> Result<(), Failure> {
    save::format_of(path)?;
    let schedules = cases.iter().map(|loaded| loaded.case.schedules().len().max(1));
    let runs: usize = schedules.sum::<usize>() * settings.targets.len();
    if runs > 1 {
        return Err(Failure::bad_input(format!(
            "--save-history saves the history of one run, and these are {runs}: name one case with one schedule, and one \
             target"
        )));
    }
    Ok(())
}

/// Writes the history of a run that took place.
pub(super) fn write(path: &Path, loaded: &LoadedCase, history: Result<History, NotTraceable>) -> Result<(), Failure> {
    let cannot = |why: String| Failure::bad_input(format!("{} cannot be saved as a history: {why}", loaded.file));
    let history = history.map_err(|refusal| cannot(explain(&refusal)))?;
    if history.is_empty() {
        return Err(cannot("no transaction reads or writes anything".to_string()));
    }
    // Levels mean what they mean in our own format.
    save::save(path, &history, Format::Binary)
}

fn explain(refusal: &NotTraceable) -> String {
    let NotTraceable { step, sql, reason } = refusal;
    let place = step.as_ref().map_or_else(|| "its setup".to_string(), |step| format!("step {step}"));
    format!(
        "{place}, `{}`: {reason}; a history needs rows that are written and read whole, each value at most once per row",
        sql.trim_end_matches(';')
    )
}
