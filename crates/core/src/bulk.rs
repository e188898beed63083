//! Rows by the million: what a table is filled with before anybody works on it.
//!
//! A setup is a list of statements, which is right for ten rows and wrong for ten million: nobody wants the text of all
//! of them in memory, and every database has a faster way in than INSERT. So rows that are to be loaded are a
//! *function* of their position ([`Bulk`]). Whoever loads them calls it for ranges of positions, in any order and on as
//! many threads as he likes, and gets the same rows:
//!
//! ```text
//!   positions   0 ─────────────────┬──────────────────┬───────────────── n
//!                 row(0), row(1), … │                  │                       one thread and one connection each
//!                      │
//!                    Cells ──→ a line of COPY, of LOAD DATA, of an INSERT      rendered while others are sent
//! ```
//!
//! [`Cells`] is the row that is being made. It is used again for every row, and allocates nothing once it has grown to
//! the size of the largest. What a cell looks like to a database is the engine's business: [`Cell`] tells only what
//! sort of value it is.
//!
//! Engines that have a way of their own override [`Engine::load`](crate::engine::Engine::load). [`insert`] is for the
//! others, and for servers that refuse that way.

use std::fmt::Write as _;
use std::ops::Range;

use crate::dialect::Dialect;
use crate::engine::{EngineError, EngineErrorKind};
use crate::outcome::Outcome;
use crate::value::{Number, Value};

/// Rows to be loaded into a table. They depend on nothing but their position.
pub trait Bulk: Sync {
    /// The table, as statements name it.
    fn table(&self) -> &str;

    /// The columns that rows have values for, as statements name them.
    fn columns(&self) -> &[String];

    /// How many positions there are. Not every one of them need have a row.
    fn positions(&self) -> u64;

    /// Writes the row of a position, one cell for each column, into cells that are empty. False if there is none; what
    /// has been written is then of no interest.
    fn row(&self, position: u64, cells: &mut Cells) -> bool;
}

/// A value of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell<'a> {
    /// NULL.
    Null,
    /// A number, in decimal digits.
    Number(&'a str),
    /// A text, a day, a time: what stands in quotes.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
    /// A truth value.
    Boolean(bool),
}

impl Cell<'_> {
    /// As a value of its own.
    pub fn to_value(self) -> Value {
        match self {
            Cell::Null => Value::Null,
            // Who writes something else than a number into a number gets it back as it is.
            Cell::Number(digits) => Number::parse(digits).map_or_else(|| Value::text(digits), Value::Number),
            Cell::Text(text) => Value::text(text),
            Cell::Bytes(bytes) => Value::Bytes(bytes.to_vec()),
            Cell::Boolean(truth) => Value::Bool(truth),
        }
    }
}

/// The row that is being made.
#[derive(Debug, Clone, Default)]
pub struct Cells {
    /// Numbers and texts, one after the other.
    text: String,
    /// Bytes, one after the other.
    bytes: Vec<u8>,
    cells: Vec<Place>,
}

/// Where a cell lies; it begins where the one before it in the same buffer ends.
#[derive(Debug, Clone, Copy)]
enum Place {
    Null,
    Boolean(bool),
    Number { end: usize },
    Text { end: usize },
    Bytes { end: usize },
}

impl Cells {
    /// Forgets the row, and keeps the memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.bytes.clear();
        self.cells.clear();
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Adds NULL.
    pub fn null(&mut self) {
        self.cells.push(Place::Null);
    }

    /// Adds a whole number.
    pub fn integer(&mut self, number: i64) {
        self.number_by(|out| write!(out, "{number}").expect("writing to a string does not fail"));
    }

    /// Adds a number that `write` appends, in decimal digits.
    pub fn number_by(&mut self, write: impl FnOnce(&mut String)) {
        write(&mut self.text);
        self.cells.push(Place::Number { end: self.text.len() });
    }

    /// Adds a text.
    pub fn text(&mut self, text: &str) {
        self.text_by(|out| out.push_str(text));
    }

    /// Adds a text that `write` appends.
    pub fn text_by(&mut self, write: impl FnOnce(&mut String)) {
        write(&mut self.text);
        self.cells.push(Place::Text { end: self.text.len() });
    }

    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.cells.push(Place::Bytes { end: self.bytes.len() });
    }

    /// Adds a truth value.
    pub fn boolean(&mut self, truth: bool) {
        self.cells.push(Place::Boolean(truth));
    }

    /// The cells, in order.
    pub fn iter(&self) -> impl Iterator<Item = Cell<'_>> {
        let (mut text_start, mut bytes_start) = (0, 0);
        self.cells.iter().map(move |place| match *place {
            Place::Null => Cell::Null,
            Place::Boolean(truth) => Cell::Boolean(truth),
            Place::Number { end } => Cell::Number(&self.text[std::mem::replace(&mut text_start, end)..end]),
            Place::Text { end } => Cell::Text(&self.text[std::mem::replace(&mut text_start, end)..end]),
            Place::Bytes { end } => Cell::Bytes(&self.bytes[std::mem::replace(&mut bytes_start, end)..end]),
        })
    }
}

/// Fewer positions than this are not worth a connection of their own.
const RANGE_MIN: u64 = 2_000;

/// Divides positions among at most so many, as evenly as possible; none, if there are none.
pub fn ranges(positions: u64, most: usize) -> Vec<Range<u64>> {
    let parts = (positions / RANGE_MIN).clamp(1, most.max(1) as u64);
    let border = |at: u64| (u128::from(positions) * u128::from(at) / u128::from(parts)) as u64;
    (0..parts).map(|at| border(at)..border(at + 1)).filter(|range| !range.is_empty()).collect()
}

/// An INSERT is sent when its text is this long.
const INSERT_BYTES: usize = 64 * 1024;

/// Loads a range of rows by INSERT, many rows to a statement, in one transaction. Returns how many there were.
pub fn insert(
    target: &str,
    dialect: &dyn Dialect,
    bulk: &dyn Bulk,
    range: Range<u64>,
    execute: &mut dyn FnMut(&str) -> Result<Outcome, EngineError>,
) -> Result<u64, EngineError> {
    let mut send = |sql: &str| match execute(sql)?.error {
        None => Ok(()),
        Some(error) => Err(refused(target, bulk.table(), error)),
    };
    let start = format!("INSERT INTO {} ({}) VALUES ", bulk.table(), bulk.columns().join(", "));
    let (mut cells, mut sql, mut rows) = (Cells::default(), start.clone(), 0);
    send(dialect.begin())?;
    for position in range {
        cells.clear();
        if !bulk.row(position, &mut cells) {
            continue;
        }
        rows += 1;
        sql.push_str(if sql.len() == start.len() { "(" } else { ", (" });
        for (at, cell) in cells.iter().enumerate() {
            sql.push_str(if at == 0 { "" } else { ", " });
            dialect.push_literal(&cell.to_value(), &mut sql);
        }
        sql.push(')');
        if sql.len() >= INSERT_BYTES {
            send(&sql)?;
            sql.truncate(start.len());
        }
    }
    if sql.len() > start.len() {
        send(&sql)?;
    }
    send("COMMIT")?;
    Ok(rows)
}

/// The error of a database that does not take the rows.
pub fn refused(target: &str, table: &str, said: impl std::fmt::Display) -> EngineError {
    let what = format!(
        "cannot load the rows of table {table}: {said}; some of them may be there already, so reset the database before \
         trying again"
    );
    EngineError::new(target, EngineErrorKind::Protocol(what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{MySql, Postgres};
    use crate::outcome::TxStatus;

    /// Odd positions have no row.
    struct Even(u64, Vec<String>);

    impl Bulk for Even {
        fn table(&self) -> &str {
            "t"
        }

        fn columns(&self) -> &[String] {
            &self.1
        }

        fn positions(&self) -> u64 {
            self.0
        }

        fn row(&self, position: u64, cells: &mut Cells) -> bool {
            cells.integer(position as i64);
            cells.text("it's\\");
            cells.bytes(&[0, 255]);
            cells.null();
            cells.boolean(true);
            cells.number_by(|out| out.push_str("-0.5"));
            position.is_multiple_of(2)
        }
    }

    fn even(positions: u64) -> Even {
        Even(positions, ["a", "b", "c", "d", "e", "f"].map(str::to_string).to_vec())
    }

    #[test]
    fn cells_are_what_was_written() {
        let mut cells = Cells::default();
        for _ in 0..2 {
            cells.clear();
            assert!(cells.is_empty());
            even(0).row(4, &mut cells);
            let read: Vec<Cell<'_>> = cells.iter().collect();
            let (text, bytes) = (Cell::Text("it's\\"), Cell::Bytes(&[0, 255]));
            let expect = [Cell::Number("4"), text, bytes, Cell::Null, Cell::Boolean(true), Cell::Number("-0.5")];
            assert_eq!((read.as_slice(), cells.len()), (&expect[..], 6));
        }
    }

    #[test]
    fn ranges_cover_every_position_once() {
        for positions in [0, 1, 1_999, 4_000, 10_001, u64::MAX] {
            for most in [0, 1, 3, 8] {
                let ranges = ranges(positions, most);
                assert!(ranges.len() <= most.max(1) && ranges.iter().all(|range| !range.is_empty()));
                assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
                assert_eq!(ranges.first().map_or(0, |range| range.start), 0);
                assert_eq!(ranges.last().map_or(0, |range| range.end), positions);
            }
        }
        assert_eq!(ranges(4_001, 8).len(), 2, "few rows are not worth many connections");
    }

    #[track_caller]
    fn check_inserts(dialect: &dyn Dialect, positions: u64, expect: &[&str]) {
        let mut sent = Vec::new();
        let bulk = even(positions);
        let mut execute = |sql: &str| {
            sent.push(sql.to_string());
            Ok(Outcome::empty(TxStatus::Open))
        };
        let rows = insert("here", dialect, &bulk, 0..positions, &mut execute).unwrap();
        assert_eq!(sent, expect);
        assert_eq!(rows, positions.div_ceil(2));
    }

    #[test]
    fn inserts_speak_the_language() {
        let start = "INSERT INTO t (a, b, c, d, e, f) VALUES ";
        let row = |key: u64| format!("({key}, 'it''s\\', '\\x00ff'::bytea, NULL, TRUE, -0.5)");
        check_inserts(&Postgres, 4, &["BEGIN", &format!("{start}{}, {}", row(0), row(2)), "COMMIT"]);
        check_inserts(&MySql, 0, &["BEGIN", "COMMIT"]);
    }

    #[test]
    fn long_inserts_are_several() {
        let (mut statements, mut longest) = (0, 0);
        let mut execute = |sql: &str| {
            statements += 1;
            longest = longest.max(sql.len());
            Ok(Outcome::empty(TxStatus::Open))
        };
        let rows = insert("here", &MySql, &even(10_000), 0..10_000, &mut execute).unwrap();
        assert_eq!(rows, 5_000);
        assert!(statements > 4 && longest < INSERT_BYTES + 200, "{statements} {longest}");
    }

    #[test]
    fn a_refusal_names_the_table() {
        let error = crate::outcome::DbError {
            class: crate::outcome::ErrorClass::Other,
            code: String::new(),
            native: None,
            message: "the disk is full".to_string(),
            detail: None,
        };
        let mut execute = |_: &str| Ok(Outcome::failed(error.clone(), TxStatus::Idle));
        let error = insert("here", &MySql, &even(10), 0..10, &mut execute).unwrap_err().to_string();
        assert!(error.contains("here: cannot load the rows of table t: ") && error.contains("disk is full"), "{error}");
    }
}
