//! From a file to a history.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use txloom_core::history::formats::{Read, ReadError, Reader};

use super::super::failure::Failure;
use super::super::settings::is_stdin;
use super::super::streams::Streams;
use crate::files::{self, FileError};

/// Files are read in pieces of this size.
const PIECE: usize = 1 << 20;

/// A history that was read.
pub(super) struct Loaded {
    /// Its file, as it was named.
    pub(super) file: String,
    /// The history and its format.
    pub(super) read: Read,
    /// How long that took.
    pub(super) time: Duration,
}

/// Reads a history.
pub(super) fn load(path: &Path, streams: &mut Streams) -> Result<Loaded, Failure> {
    let began = Instant::now();
    let file = path.display().to_string();
    let read = if is_stdin(path) {
        read_from(streams.input(), &file)?
    } else {
        let mut source = files::open(path)?;
        read_from(&mut source, &file)?
    };
    Ok(Loaded { file, read, time: began.elapsed() })
}

fn read_from(source: &mut dyn io::Read, file: &str) -> Result<Read, Failure> {
    let mut reader = Reader::new(file);
    let mut piece = vec![0; PIECE];
    loop {
        match source.read(&mut piece) {
            Ok(0) => return reader.finish().map_err(|error| wrong(file, &error)),
            Ok(length) => reader.feed(&piece[..length]).map_err(|error| wrong(file, &error))?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(cannot_read(file, error)),
        }
    }
}

fn cannot_read(file: &str, error: io::Error) -> Failure {
    FileError::new("read", Path::new(if file == "-" { "the standard input" } else { file }), error).into()
}

/// `file:line: message`
fn wrong(file: &str, error: &ReadError) -> Failure {
    let place = if error.line == 0 { file.to_string() } else { format!("{file}:{}", error.line) };
    Failure::bad_input(format!("{place}: {}", error.message))
}
