//! Formats whose records are lines.

#![warn(clippy::indexing_slicing)]

use super::scan::show;
use super::{Decoder, Read, ReadError};

/// Takes one line at a time.
pub(super) trait LineReader {
    /// A line, without blanks at its ends, and its number; never empty.
    fn line(&mut self, text: &str, number: usize) -> Result<(), ReadError>;

    /// The history.
    fn finish(self) -> Result<Read, ReadError>;
}

/// Cuts a text into lines.
pub(super) struct Lines<R>(R);

impl<R: LineReader> Lines<R> {
    pub(super) fn new(reader: R) -> Lines<R> {
        Lines(reader)
    }
}

impl<R: LineReader> Decoder for Lines<R> {
    fn decode(&mut self, text: &[u8], line: usize, is_last: bool) -> Result<usize, ReadError> {
        let mut used = 0;
        for (at, whole) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            if !whole.ends_with(b"\n") && !is_last {
                break;
            }
            used += whole.len();
            let words = std::str::from_utf8(whole)
                .map_err(|_| ReadError::new(line + at, format!("`{}` is not UTF-8 text", show(whole))))?;
            if !words.trim().is_empty() {
                self.0.line(words.trim(), line + at)?;
            }
        }
        Ok(used)
    }

    fn finish(self: Box<Self>) -> Result<Read, ReadError> {
        self.0.finish()
    }
}

/// A number in a line, and what it is for.
pub(super) fn number<N: std::str::FromStr>(text: &str, what: &str, line: usize) -> Result<N, ReadError> {
    text.trim().parse().map_err(|_| ReadError::new(line, format!("expected {what}, a whole number, found `{text}`")))
}
