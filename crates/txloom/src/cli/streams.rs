//! Where output goes, and how wide and colourful it may be.

use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use super::args::ColorWhen;
use super::failure::Failure;
use crate::exit::Exit;
use crate::files::write::PendingFile;
use crate::files::{self, FileError, TEXT_MAX};
use crate::report::text::TextOptions;

/// The standard input, in messages.
const INPUT: &str = "the standard input";

/// A report that goes to a file.
struct ReportFile {
    file: PendingFile,
    path: PathBuf,
    text: String,
}

/// The input and outputs of a command.
pub struct Streams {
    input: Box<dyn Read>,
    out: Box<dyn Write>,
    err: Box<dyn Write>,
    text: TextOptions,
    color: ColorWhen,
    closed: bool,
    /// The file that the report goes to instead.
    file: Option<ReportFile>,
    /// The exit code of what could not be written where it belongs.
    failed: Option<Exit>,
    /// Whether messages go to a terminal, where a line can be written over.
    is_live: bool,
    /// Whether a line stands there that is to be written over.
    has_status: bool,
}

impl Streams {
    /// Those of the process.
    pub fn of_process(color: ColorWhen) -> Streams {
        let text = TextOptions { width: terminal_width(), color: wants_color(color), verbose: false };
        Streams {
            input: Box::new(io::stdin()),
            out: Box::new(io::stdout()),
            err: Box::new(io::stderr()),
            text,
            color,
            closed: false,
            file: None,
            failed: None,
            is_live: io::stderr().is_terminal(),
            has_status: false,
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
            file: None,
            failed: None,
            is_live: false,
            has_status: false,
        }
    }

    /// Sends the output to a file from now on. The file gets its name when the report is complete, or another file follows.
    pub fn redirect(&mut self, path: &Path) -> Result<(), Failure> {
        self.write_file();
        self.file =
            Some(ReportFile { file: PendingFile::create(path)?, path: path.to_path_buf(), text: String::new() });
        self.text = TextOptions { color: self.color == ColorWhen::Always, ..self.text };
        Ok(())
    }

    /// Completes the output. Gives the exit code of a command that ended with this one: what could not be written where it
    /// belongs has been printed elsewhere, and a violation stays a violation.
    pub fn finish(&mut self, exit: Exit) -> Exit {
        self.write_file();
        match exit {
            Exit::Found => exit,
            _ => self.failed.map_or(exit, |failed| exit.or(failed)),
        }
    }

    /// Reports something that could not be written beside the report. The command goes on, and its exit code tells.
    pub(super) fn fail(&mut self, failure: &Failure) {
        self.failed = Some(self.failed.map_or(failure.exit, |exit| exit.or(failure.exit)));
        self.complain(&failure.message);
    }

    /// Writes the report to its file; one without a report is not made.
    fn write_file(&mut self) {
        let Some(ReportFile { mut file, path, text }) = self.file.take().filter(|file| !file.text.is_empty()) else {
            return;
        };
        if let Err(error) = file.write_all(text.as_bytes()).and_then(|()| file.commit()) {
            let Failure { exit, message } = FileError::new("write to", &path, error).into();
            self.fail(&Failure { exit, message: format!("{message}; the report follows") });
            self.print_here(&text);
        }
    }

    /// Has what the level allows drawn and explained, too.
    pub(super) fn set_verbose(&mut self, verbose: bool) {
        self.text.verbose = verbose;
    }

    /// Whether colours are wanted.
    pub(super) fn color(&self) -> ColorWhen {
        self.color
    }

    /// How text is laid out here.
    pub fn text_options(&self) -> &TextOptions {
        &self.text
    }

    /// The standard input, for somebody who reads it piece by piece; it is empty for everybody else.
    pub(super) fn take_input(&mut self) -> Box<dyn io::Read> {
        std::mem::replace(&mut self.input, Box::new(io::empty()))
    }

    /// Reads the standard input to its end.
    pub fn read_input(&mut self) -> Result<String, Failure> {
        let bytes = files::read_from(&mut self.input, TEXT_MAX, "");
        bytes.and_then(files::text).map_err(|problem| FileError::new("read", Path::new(INPUT), problem).into())
    }

    /// The standard input, for whoever reads it piece by piece, or reads bytes that are no text.
    pub fn input(&mut self) -> &mut dyn io::Read {
        &mut self.input
    }

    /// Prints a report: control characters in it, other than colours of ours, come from somebody else and are
    /// [escaped](escaped).
    pub fn print(&mut self, text: &str) -> Result<(), Failure> {
        self.print_exactly(&escaped(text))
    }

    /// Prints a text as it is: for formats that must be read again byte by byte. A pipe whose reader has gone (`| head`)
    /// is no error: it closes the stream.
    pub fn print_exactly(&mut self, text: &str) -> Result<(), Failure> {
        if self.closed {
            return Ok(());
        }
        self.clear_status();
        match &mut self.file {
            Some(file) => file.text.push_str(text),
            None => self.print_here(text),
        }
        Ok(())
    }

    /// Prints to the standard output; if that cannot be written to, beside it: findings must reach somebody.
    fn print_here(&mut self, text: &str) {
        match self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.closed = true,
            Err(error) => {
                if self.failed != Some(Exit::FileFailed) {
                    let message = format!("txloom: cannot write to the standard output: {error}; the report follows");
                    self.fail(&Failure { exit: Exit::FileFailed, message });
                }
                let _ = self.err.write_all(text.as_bytes());
            }
        }
    }

    /// Whether nobody reads the output any more.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Prints a message to the user, beside the output.
    pub fn complain(&mut self, message: &str) {
        self.clear_status();
        // There is nowhere to say that this failed.
        let _ = writeln!(self.err, "{}", escaped(message));
    }
}

/// The status line: a line on the terminal that the next one is written over, for progress.
impl Streams {
    /// Where the status line is shown: how wide it may be, and whether in colours. `None` if messages do not go to a
    /// terminal; whoever has something to tell then tells it in [messages](Streams::complain), and not too often.
    pub fn status_options(&self) -> Option<TextOptions> {
        let asked = terminal_size::terminal_size_of(io::stderr()).map(|(width, _)| usize::from(width.0));
        // A line that fills the whole width would begin the next one.
        let width = asked.unwrap_or(TextOptions::DEFAULT_WIDTH).saturating_sub(1);
        self.is_live.then(|| TextOptions { width, color: wants_color_on(self.color, &io::stderr()), ..self.text })
    }

    /// Shows a line in place of the last one. It must fit into the width.
    pub fn show_status(&mut self, line: &str) {
        let _ = write!(self.err, "\r\x1b[2K{}", escaped(line)).and_then(|()| self.err.flush());
        self.has_status = true;
    }

    /// Removes the status line, so that something else can be printed.
    pub fn clear_status(&mut self) {
        if std::mem::take(&mut self.has_status) {
            let _ = write!(self.err, "\r\x1b[2K").and_then(|()| self.err.flush());
        }
    }
}

/// A text with its control characters written out (`\x1b`), but for line breaks, tabs and colours (`ESC [ … m`). Text
/// of servers, file names and source lines could otherwise do anything with a terminal. Signs that turn the direction of
/// writing around are written out, too: they make a text look like another one.
pub(super) fn escaped(text: &str) -> std::borrow::Cow<'_, str> {
    let is_bad = |c: char| {
        (c.is_control() && !['\n', '\t'].contains(&c)) || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(is_bad) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_bad) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let bad = rest.chars().next().unwrap_or(' ');
        let colour = rest.strip_prefix("\x1b[").and_then(|code| {
            let end = code.find(|c: char| !c.is_ascii_digit() && c != ';')?;
            code[end..].starts_with('m').then_some(end + 3)
        });
        let length = colour.unwrap_or(bad.len_utf8());
        match (colour, u32::from(bad)) {
            (Some(length), _) => out.push_str(&rest[..length]),
            (None, code @ 0..0x20) => out.push_str(&format!("\\x{code:02x}")),
            // As JSON writes them, which has written out the others itself.
            (None, code) => out.push_str(&format!("\\u{code:04x}")),
        }
        rest = &rest[length..];
    }
    out.push_str(rest);
    out.into()
}

/// `COLUMNS`, or what the terminal says, or a width that suits a file.
fn terminal_width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).filter(|width| *width > 0);
    let asked = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    columns.or_else(asked).unwrap_or(TextOptions::DEFAULT_WIDTH)
}

fn wants_color(color: ColorWhen) -> bool {
    wants_color_on(color, &io::stdout())
}

fn wants_color_on(color: ColorWhen, stream: &impl anstream::stream::RawStream) -> bool {
    match color {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        // This knows NO_COLOR, CLICOLOR, TERM=dumb and their relatives.
        ColorWhen::Auto => stream.is_terminal() && anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_colours_reaches_a_terminal() {
        for (text, expected) in [
            ("plain\n\ttext é", "plain\n\ttext é"),
            ("\x1b[1;31mred\x1b[0m", "\x1b[1;31mred\x1b[0m"),
            ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
            ("\x1b[2J\r\x08", "\\x1b[2J\\x0d\\x08"),
            ("\u{9b}31m", "\\u009b31m"),
            ("a\u{202e}b", "a\\u202eb"),
            ("\x1b[31", "\\x1b[31"),
            ("\x1b", "\\x1b"),
        ] {
            assert_eq!(escaped(text), expected, "{text:?}");
        }
    }
}
