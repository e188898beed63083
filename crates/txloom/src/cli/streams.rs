//! Where output goes, and how wide and colourful it may be.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;

use super::args::ColorWhen;
use super::failure::Failure;
use crate::report::text::TextOptions;

/// The input and outputs of a command.
pub struct Streams {
    input: Box<dyn Read>,
    out: Box<dyn Write>,
    err: Box<dyn Write>,
    text: TextOptions,
    color: ColorWhen,
    closed: bool,
}

impl Streams {
    /// Those of the process.
    pub fn of_process(color: ColorWhen) -> Streams {
        let text = TextOptions { width: terminal_width(), color: wants_color(color) };
        Streams {
            input: Box::new(io::stdin()),
            out: Box::new(io::stdout()),
            err: Box::new(io::stderr()),
            text,
            color,
            closed: false,
        }
    }

    /// Streams in memory.
    #[cfg(test)]
    pub(crate) fn of(input: &str, out: impl Write + 'static, err: impl Write + 'static) -> Streams {
        Streams {
            input: Box::new(io::Cursor::new(input.to_string())),
            out: Box::new(out),
            err: Box::new(err),
            text: TextOptions::default(),
            color: ColorWhen::Never,
            closed: false,
        }
    }

    /// Sends the output to a file from now on.
    pub fn redirect(&mut self, path: &Path) -> Result<(), Failure> {
        let file = File::create(path)
            .map_err(|error| Failure::bad_input(format!("cannot write to {}: {error}", path.display())))?;
        self.out = Box::new(file);
        self.text = TextOptions { color: self.color == ColorWhen::Always, ..self.text };
        Ok(())
    }

    /// How text is laid out here.
    pub fn text_options(&self) -> &TextOptions {
        &self.text
    }

    /// Reads the standard input to its end.
    pub fn read_input(&mut self) -> Result<String, Failure> {
        let mut text = String::new();
        self.input
            .read_to_string(&mut text)
            .map_err(|error| Failure::bad_input(format!("cannot read the standard input: {error}")))?;
        Ok(text)
    }

    /// Prints a text. A pipe whose reader has gone (`| head`) is no error: it closes the stream.
    pub fn print(&mut self, text: &str) -> Result<(), Failure> {
        if self.closed {
            return Ok(());
        }
        match self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            Err(error) => Err(Failure::bad_input(format!("cannot write the report: {error}"))),
            Ok(()) => Ok(()),
        }
    }

    /// Whether nobody reads the output any more.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Prints a message to the user, beside the output.
    pub fn complain(&mut self, message: &str) {
        // There is nowhere to say that this failed.
        let _ = writeln!(self.err, "{message}");
    }
}

/// `COLUMNS`, or what the terminal says, or a width that suits a file.
fn terminal_width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).filter(|width| *width > 0);
    let asked = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    columns.or_else(asked).unwrap_or(TextOptions::DEFAULT_WIDTH)
}

fn wants_color(color: ColorWhen) -> bool {
    match color {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        // This knows NO_COLOR, CLICOLOR, TERM=dumb and their relatives.
        ColorWhen::Auto => {
            io::stdout().is_terminal() && anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
        }
    }
}
