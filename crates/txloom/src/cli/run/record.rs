//! `--record`: what happened becomes what is expected.

use std::path::Path;

use txloom_core::case::print::print;

use super::super::cases::LoadedCase;
use super::super::failure::Failure;
use super::Execution;
use crate::files::write::file;

/// Refuses a case whose runs cannot be written down in one file.
pub(super) fn check(loaded: &LoadedCase) -> Result<(), Failure> {
    if loaded.is_foreign {
        let file = &loaded.file;
        return Err(Failure::bad_input(format!(
            "cannot record {file}: its format has no room for expectations; `txloom convert --to sql` makes a case of it"
        )));
    }
    if loaded.case.schedules().len() > 1 {
        let file = &loaded.file;
        return Err(Failure::bad_input(format!(
            "cannot record {file}: it has several schedules, and a step has only one set of expectations; split it \
             into one case per schedule"
        )));
    }
    Ok(())
}

/// Rewrites the file of a case. Nothing is written if a target failed, or answered differently the second time.
pub(super) fn write(loaded: &LoadedCase, done: &Execution) -> Result<(), Failure> {
    let Some(recorded) = &done.recorded else { return Ok(()) };
    Ok(file(Path::new(&loaded.file), print(recorded).as_bytes())?)
}
