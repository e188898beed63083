//! The command line.
//!
//! ```text
//!  argv ──args──→ what was written ──settings──→ what is meant ──run │ hunt │ …──→ Exit
//! ```
//!
//! * [`args`]: the flags as they were parsed, and their help
//! * [`settings`]: the same, validated: targets that exist, levels that are known, durations that are durations
//! * [`streams`]: where output goes: widths, colours, closed pipes
//! * [`failure`]: why a command ended early: one paragraph and an exit code
//! * [`cases`]: from file names to cases
//! * [`run`], [`hunt`], [`storm`], [`analyze`], [`reduce`], [`check`], [`levels`], [`convert`], [`doctor`]: the commands
//! * [`isolation`]: a form of `run` of its own
//! * [`signals`]: what Ctrl-C and its like do
//!
//! Only this layer prints. A command returns its [`Exit`], or a [`Failure`] that says what to do.

pub mod args;
pub mod settings;
pub mod streams;
pub mod failure;
pub mod signals;
mod conclude;
pub mod cases;
pub mod run;
pub mod isolation;
pub mod convert;
pub mod check;
pub mod hunt;
pub mod storm;
pub mod analyze;
pub mod reduce;
pub mod doctor;
pub mod levels;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::Parser as _;
use clap::error::ErrorKind;

pub use args::{Args, Command};
pub use failure::Failure;
pub use streams::Streams;

use crate::exit::Exit;

/// Reads the command line. `Err` is the exit code of a command that is already over: help, version, or a usage error,
/// which has been printed.
pub fn parse(argv: impl IntoIterator<Item = OsString>) -> Result<Args, Exit> {
    Args::try_parse_from(argv).map_err(|error| {
        // Where printing fails, nobody is left to be told.
        let _ = match error.kind() {
            ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error.print(),
            _ => writeln!(io::stderr(), "{}", streams::escaped(&usage_error(&error.render().to_string()))),
        };
        if error.exit_code() == 0 { Exit::Clean } else { Exit::BadInput }
    })
}

/// What is wrong with the command line, in one paragraph: the parser's words without the usage that follows them.
fn usage_error(rendered: &str) -> String {
    let said = rendered.split("\n\nUsage:").next().unwrap_or(rendered);
    let said = said.split("\n\nFor more information").next().unwrap_or(said).trim_start_matches("error: ");
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    format!("txloom: {}\n  see `txloom --help`", lines.join("\n"))
}

/// Runs a command and turns everything that can go wrong, a panic included, into a message and an exit code.
pub fn guarded(streams: &mut Streams, command: impl FnOnce(&mut Streams) -> Result<Exit, Failure>) -> Exit {
    let ended = catch_unwind(AssertUnwindSafe(|| command(streams)));
    signals::wait_if_ending();
    let exit = match ended {
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
    };
    streams.finish(exit)
}
