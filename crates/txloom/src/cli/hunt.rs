//! `txloom hunt`, in its first form: see txloom at work, with nothing installed.

use super::args::HuntArgs;
use super::failure::Failure;
use super::streams::Streams;
use crate::exit::Exit;

/// Runs the command.
pub fn run(_args: &HuntArgs, _streams: &mut Streams) -> Result<Exit, Failure> {
    Ok(Exit::Clean)
}
