//! From a file to a history.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, Instant};

use txloom_core::history::formats::{Read, ReadError, Reader};

use super::super::failure::Failure;
use super::super::settings::is_stdin;
use super::super::streams::Streams;

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
    let mut reader = Reader::new(&file);
    if is_stdin(path) {
        let text = streams.read_input()?;
        reader.feed(text.as_bytes()).map_err(|error| wrong(&file, &error))?;
    } else {
        let cannot_read = |error| Failure::bad_input(format!("cannot read {file}: {error}"));
        let mut source = File::open(path).map_err(cannot_read)?;
        let mut piece = vec![0; PIECE];
        loop {
            let length = source.read(&mut piece).map_err(cannot_read)?;
            if length == 0 {
                break;
            }
            reader.feed(&piece[..length]).map_err(|error| wrong(&file, &error))?;
        }
    }
    let read = reader.finish().map_err(|error| wrong(&file, &error))?;
    Ok(Loaded { file, read, time: began.elapsed() })
}

/// `file:line: message`
fn wrong(file: &str, error: &ReadError) -> Failure {
    let place = if error.line == 0 { file.to_string() } else { format!("{file}:{}", error.line) };
    Failure::bad_input(format!("{place}: {}", error.message))
}
