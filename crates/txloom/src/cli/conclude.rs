//! The end of a command: the conclusion is printed last, and the exit code follows from it.

use txloom_core::conclusion::Conclusion;

use super::failure::Failure;
use super::streams::Streams;
use crate::exit::Exit;
use crate::report::text;

/// Prints the conclusion below the text of a command, and gives its exit code.
pub(super) fn conclude(conclusion: &Conclusion, streams: &mut Streams) -> Result<Exit, Failure> {
    let options = *streams.text_options();
    streams.print(&format!("\n{}", text::print_conclusion(conclusion, &options)))?;
    Ok(conclusion.into())
}
