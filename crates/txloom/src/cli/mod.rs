//! The command line.
//!
//! ```text
//!  argv ──args──→ what was written ──settings──→ what is meant ──run │ hunt │ doctor──→ Exit
//! ```
//!
//! * [`args`]: the flags as they were parsed, and their help
//! * [`settings`]: the same, validated: targets that exist, levels that are known, durations that are durations
//! * [`streams`]: where output goes: widths, colours, closed pipes
//! * [`failure`]: why a command ended early: one paragraph and an exit code
//! * [`cases`]: from file names to cases
//! * [`run`], [`hunt`], [`doctor`]: the commands
//! * [`signals`]: what Ctrl-C does
//!
//! Only this layer prints. A command returns its [`Exit`], or a [`Failure`] that says what to do.

pub mod args;
pub mod settings;
pub mod streams;
pub mod failure;
pub mod signals;
pub mod cases;
pub mod run;
pub mod hunt;
pub mod doctor;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::Parser as _;

pub use args::{Args, Command};
pub use failure::Failure;
pub use streams::Streams;

use crate::exit::Exit;

/// Reads the command line. `Err` is the exit code of a command that is already over: help, version, or a usage error,
/// which has been printed.
pub fn parse(argv: impl IntoIterator<Item = OsString>) -> Result<Args, Exit> {
    Args::try_parse_from(argv).map_err(|error| {
        // Nobody is left to be told that the help could not be printed.
        let _ = error.print();
        if error.exit_code() == 0 { Exit::Clean } else { Exit::BadInput }
    })
}

/// Runs a command and turns everything that can go wrong, a panic included, into a message and an exit code.
pub fn guarded(streams: &mut Streams, command: impl FnOnce(&mut Streams) -> Result<Exit, Failure>) -> Exit {
    match catch_unwind(AssertUnwindSafe(|| command(streams))) {
        Ok(Ok(exit)) => exit,
        Ok(Err(failure)) => {
            streams.complain(&failure.message);
            failure.exit
        }
        Err(_) => {
            streams.complain(
                "txloom: internal error: this is a defect of txloom, not of your case; please report it with the \
                 message above, the command line and the case",
            );
            Exit::Internal
        }
    }
}
