//! A file as lines of bytes, one at a time.
//!
//! A log may be larger than memory, end in the middle of a line, or be no text at all. A line that is longer than
//! [`LINE_MAX`] is cut: its rest is passed over and counted.

use std::io::{self, BufRead};

/// So many bytes of a line are kept.
pub(super) const LINE_MAX: usize = 4 << 20;

/// Where something stands in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Place {
    /// The line, from 1.
    pub(super) line: usize,
    /// The first byte of the line.
    pub(super) offset: u64,
}

/// The lines of a file.
pub(super) struct Lines<R> {
    reader: R,
    line: Vec<u8>,
    place: Place,
    next: u64,
    /// How many lines were longer than may be.
    pub(super) cut: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R) -> Lines<R> {
        Lines { reader, line: Vec::new(), place: Place::default(), next: 0, cut: 0 }
    }

    /// The next line, without its line break, and where it stands.
    pub(super) fn next(&mut self) -> io::Result<Option<(Place, &[u8])>> {
        self.line.clear();
        let (mut length, mut ended) = (0_u64, false);
        while !ended {
            let available = self.reader.fill_buf()?;
            if available.is_empty() {
                break;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            let room = LINE_MAX.saturating_sub(self.line.len());
            self.line.extend_from_slice(&available[..taken.min(room)]);
            length += taken as u64;
            ended = end.is_some();
            self.reader.consume(taken);
        }
        if length == 0 {
            return Ok(None);
        }
        self.cut += u64::from(length > self.line.len() as u64);
        self.place = Place { line: self.place.line + 1, offset: self.next };
        self.next += length;
        while matches!(self.line.last(), Some(b'\n' | b'\r')) {
            self.line.pop();
        }
        Ok(Some((self.place, &self.line)))
    }

    /// How many bytes were read.
    pub(super) fn bytes(&self) -> u64 {
        self.next
    }

    /// How many lines were read.
    pub(super) fn count(&self) -> usize {
        self.place.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_know_where_they_stand() {
        let mut lines = Lines::new(&b"a\r\n\nlast"[..]);
        let mut found = Vec::new();
        while let Some((place, line)) = lines.next().unwrap() {
            found.push((place.line, place.offset, String::from_utf8_lossy(line).into_owned()));
        }
        assert_eq!(found, [(1, 0, "a".into()), (2, 3, String::new()), (3, 4, "last".into())]);
        assert_eq!((lines.bytes(), lines.count(), lines.cut), (8, 3, 0));
    }

    #[test]
    fn endless_lines_are_cut() {
        let text = [vec![b'x'; LINE_MAX + 10], b"\nnext".to_vec()].concat();
        let mut lines = Lines::new(&text[..]);
        assert_eq!(lines.next().unwrap().unwrap().1.len(), LINE_MAX);
        assert_eq!(lines.next().unwrap().unwrap().1, b"next");
        assert_eq!(lines.cut, 1);
    }
}
