//! Rows as lines of text: what PostgreSQL's COPY and MySQL's LOAD DATA both read.
//!
//! Cells are separated by tabs, lines end with a line feed, `\N` is NULL, and a backslash takes the meaning from what
//! follows it. They differ in how bytes and truth values are written ([`Form`]).
//!
//! A range of rows is rendered piece by piece into one buffer. While the server takes what was sent last (the socket
//! holds most of it), the next piece is rendered.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use txloom_core::bulk::{self, Bulk, Cell, Cells};
use txloom_core::engine::EngineError;

/// A piece is sent when it is this long: more than a socket holds, so that the server always has something to do.
const PIECE_BYTES: usize = 256 * 1024;

/// How bytes and truth values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engines) enum Form {
    /// For COPY: `\\x00ff`, `t`.
    #[cfg_attr(not(feature = "postgres"), allow(dead_code))]
    Copy,
    /// For LOAD DATA without a character set: the bytes themselves, `1`.
    #[cfg_attr(not(feature = "mysql"), allow(dead_code))]
    LoadData,
}

/// The rows of a range, piece by piece.
pub(in crate::engines) struct Pieces<'a> {
    bulk: &'a dyn Bulk,
    left: Range<u64>,
    form: Form,
    /// Whether somebody else has failed, so that the rest is of no use.
    is_given_up: &'a AtomicBool,
    cells: Cells,
    rows: u64,
}

impl Pieces<'_> {
    /// Appends the next rows; false if there are no more after them.
    pub(in crate::engines) fn next(&mut self, out: &mut Vec<u8>) -> bool {
        let end = out.len() + PIECE_BYTES;
        while out.len() < end {
            let Some(position) = self.left.next() else { return false };
            self.cells.clear();
            if self.bulk.row(position, &mut self.cells) {
                self.rows += 1;
                write_line(&self.cells, self.form, out);
            }
        }
        !self.is_given_up.load(Ordering::Relaxed)
    }

    /// How many rows there have been so far.
    pub(in crate::engines) fn rows(&self) -> u64 {
        self.rows
    }

    /// The rows as they are, for whoever cannot use the lines.
    pub(in crate::engines) fn bulk(&self) -> &dyn Bulk {
        self.bulk
    }

    /// The positions that are left.
    pub(in crate::engines) fn left(&self) -> Range<u64> {
        self.left.clone()
    }
}

/// Divides the rows among at most so many threads, and adds up how many each has loaded. If one fails, the others stop
/// as soon as they can.
pub(in crate::engines) fn in_parallel(
    bulk: &dyn Bulk,
    threads: usize,
    form: Form,
    load: impl Fn(&mut Pieces<'_>) -> Result<u64, EngineError> + Sync,
) -> Result<u64, EngineError> {
    let is_given_up = AtomicBool::new(false);
    let one = |left: Range<u64>| {
        let cells = Cells::default();
        let loaded = load(&mut Pieces { bulk, left, form, is_given_up: &is_given_up, cells, rows: 0 });
        is_given_up.fetch_or(loaded.is_err(), Ordering::Relaxed);
        loaded
    };
    let mut ranges = bulk::ranges(bulk.positions(), threads);
    let Some(last) = ranges.pop() else { return Ok(0) };
    std::thread::scope(|scope| {
        let others: Vec<_> = ranges.into_iter().map(|range| scope.spawn(|| one(range))).collect();
        let mut rows = one(last);
        for other in others {
            let loaded = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            rows = rows.and_then(|rows| Ok(rows + loaded?));
        }
        rows
    })
}

fn write_line(cells: &Cells, form: Form, out: &mut Vec<u8>) {
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            out.push(b'\t');
        }
        match (cell, form) {
            (Cell::Null, _) => out.extend_from_slice(b"\\N"),
            (Cell::Number(digits), _) => out.extend_from_slice(digits.as_bytes()),
            (Cell::Text(text), _) => write_escaped(text.as_bytes(), out),
            (Cell::Boolean(truth), Form::Copy) => out.push(if truth { b't' } else { b'f' }),
            (Cell::Boolean(truth), Form::LoadData) => out.push(if truth { b'1' } else { b'0' }),
            (Cell::Bytes(bytes), Form::LoadData) => write_escaped(bytes, out),
            (Cell::Bytes(bytes), Form::Copy) => {
                const DIGITS: &[u8; 16] = b"0123456789abcdef";
                out.extend_from_slice(b"\\\\x");
                out.extend(bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| DIGITS[digit as usize]));
            }
        }
    }
    out.push(b'\n');
}

/// The letter that stands after the backslash for a byte that must not stand for itself.
fn escape(byte: u8) -> Option<u8> {
    match byte {
        b'\\' => Some(b'\\'),
        b'\n' => Some(b'n'),
        b'\r' => Some(b'r'),
        b'\t' => Some(b't'),
        0 => Some(b'0'),
        _ => None,
    }
}

fn write_escaped(mut bytes: &[u8], out: &mut Vec<u8>) {
    while let Some((at, letter)) = bytes.iter().enumerate().find_map(|(at, byte)| Some((at, escape(*byte)?))) {
        out.extend_from_slice(&bytes[..at]);
        out.extend_from_slice(&[b'\\', letter]);
        bytes = &bytes[at + 1..];
    }
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use txloom_core::engine::EngineErrorKind;

    struct Counted(u64);

    impl Bulk for Counted {
        fn table(&self) -> &str {
            "t"
        }

        fn columns(&self) -> &[String] {
            &[]
        }

        fn positions(&self) -> u64 {
            self.0
        }

        fn row(&self, position: u64, cells: &mut Cells) -> bool {
            cells.integer(position as i64);
            !position.is_multiple_of(3)
        }
    }

    #[track_caller]
    fn check(fill: impl Fn(&mut Cells), copy: &str, load_data: &[u8]) {
        let mut cells = Cells::default();
        fill(&mut cells);
        for (form, expect) in [(Form::Copy, copy.as_bytes()), (Form::LoadData, load_data)] {
            let mut line = Vec::new();
            write_line(&cells, form, &mut line);
            assert_eq!(String::from_utf8_lossy(&line), String::from_utf8_lossy(expect), "{form:?}");
            assert_eq!(line, expect);
        }
    }

    #[test]
    fn lines_can_hold_everything() {
        check(
            |cells| {
                cells.text("a\tb\\c\nd\re'f\"é");
                cells.null();
                cells.integer(-7);
                cells.text("");
            },
            "a\\tb\\\\c\\nd\\re'f\"é\t\\N\t-7\t\n",
            "a\\tb\\\\c\\nd\\re'f\"é\t\\N\t-7\t\n".as_bytes(),
        );
        check(
            |cells| {
                cells.bytes(&[0, 0x5c, 0x0a, 0xff]);
                cells.boolean(true);
                cells.boolean(false);
            },
            "\\\\x005c0aff\tt\tf\n",
            b"\\0\\\\\\n\xff\t1\t0\n",
        );
    }

    #[test]
    fn every_row_is_in_one_piece() {
        let bulk = Counted(200_000);
        let lines = std::sync::Mutex::new(Vec::new());
        let rows = in_parallel(&bulk, 3, Form::Copy, |pieces| {
            let mut more = true;
            while more {
                let mut piece = Vec::new();
                more = pieces.next(&mut piece);
                let text = String::from_utf8(piece).expect("digits");
                lines.lock().unwrap().extend(text.lines().map(|line| line.parse::<u64>().expect("a number")));
            }
            Ok(pieces.rows())
        });
        let mut lines = lines.into_inner().unwrap();
        lines.sort_unstable();
        assert_eq!(rows.unwrap() as usize, lines.len());
        assert!(lines.into_iter().eq((0..200_000).filter(|position| position % 3 != 0)));
        assert_eq!(in_parallel(&Counted(0), 3, Form::Copy, |_| panic!("there is nothing to load")).unwrap(), 0);
    }

    #[test]
    fn when_one_fails_the_others_stop() {
        let failed = in_parallel(&Counted(1 << 40), 2, Form::Copy, |pieces| {
            if pieces.left().start == 0 {
                return Err(EngineError::new("here", EngineErrorKind::Interrupted));
            }
            let mut piece = Vec::new();
            while pieces.next(&mut piece) {
                piece.clear();
            }
            Ok(pieces.rows())
        });
        assert!(failed.is_err());
    }
}
