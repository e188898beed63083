//! Histories in files: other tools' formats and a compact one of ours.
//!
//! ```text
//!   bytes ──feed──→ detect ──→ decoder ──→ Builder ──finish──→ History, Format
//!           (in pieces of any size)   │
//!                                     └ whole records only: what is cut off at the end of a piece waits for the next one
//! ```
//!
//! A [`Reader`] is fed the file piece by piece, so that a history need not fit into memory as text; it never blocks and
//! does no I/O. What the format is, the content tells; the name of the file is asked only where the content is silent.
//!
//! | format | looks like | sessions | transactions |
//! |---|---|---|---|
//! | Elle, Jepsen | `{:type :ok :process 0 :value [[:append x 1] [:r y [2]]]}` (EDN or JSON) | processes | operations |
//! | Plume, PolySI, IsoVista | `w(key,value,session,txn)` | third number | fourth number |
//! | AWDIT | `w 0 1` | between `=====` | between `-----` |
//! | dbcop | `[x:=1 y==2]` | between `---` | brackets |
//! | ours | binary | | |
//!
//! # What tools mean
//!
//! Tools disagree on what a level is. Adya and Elle know no sessions; Plume, PolySI, AWDIT and dbcop respect their order in
//! every level, and call *read committed* what is [monotonic atomic view](Level::MonotonicAtomicView) here. A
//! [`Convention`] says what a level's name means to the tool whose format a file is in.
//!
//! # Initial values
//!
//! `nil` and `null` are what nobody wrote. In Plume's and dbcop's formats 0 is, too, unless somebody writes 0 to that
//! key: then a read of 0 is a read of that write. AWDIT's format has no initial values: a read of what nobody wrote is
//! an anomaly.

mod scan;
mod detect;
mod numbers;
mod settle;
pub mod elle;
pub mod plume;
pub mod awdit;
pub mod dbcop;
pub mod binary;
mod write;
#[cfg(test)]
mod tests;

use super::History;
use crate::level::formal::{Level, Order, Requirement};

pub use write::write;

/// A format of histories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// Elle's and Jepsen's operations, in EDN: one after the other, or in one vector.
    Edn,
    /// The same in JSON: an array.
    Json,
    /// The same in JSON, one operation a line.
    JsonLines,
    /// Plume, PolySI, IsoVista.
    Plume,
    /// AWDIT's test format.
    Awdit,
    /// dbcop's text.
    DbcopText,
    /// dbcop's JSON.
    DbcopJson,
    /// Our own.
    Binary,
}

/// What the names of levels mean to the tool that a format belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Convention {
    /// The tool, as people call it.
    pub tool: &'static str,
    /// The order that every level respects unless its name says otherwise.
    pub order: Order,
    /// What `read committed` means.
    pub read_committed: Level,
    /// What a session is called.
    pub session: &'static str,
}

/// A row of the table of formats.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The format.
    pub format: Format,
    /// Its name.
    pub name: &'static str,
    /// How files of that format usually end.
    pub extensions: &'static [&'static str],
    /// What levels mean in it.
    pub convention: Convention,
}

const ELLE: Convention =
    Convention { tool: "Elle", order: Order::Free, read_committed: Level::ReadCommitted, session: "process" };

const fn biswas_enea(tool: &'static str) -> Convention {
    Convention { tool, order: Order::Session, read_committed: Level::MonotonicAtomicView, session: "session" }
}

/// Every format.
pub const FORMATS: &[Row] = &[
    Row { format: Format::Edn, name: "Elle/Jepsen EDN", extensions: &["edn"], convention: ELLE },
    Row { format: Format::Json, name: "Elle/Jepsen JSON", extensions: &["json"], convention: ELLE },
    Row {
        format: Format::JsonLines,
        name: "Elle/Jepsen JSON lines",
        extensions: &["jsonl", "ndjson"],
        convention: ELLE,
    },
    Row { format: Format::Plume, name: "Plume/PolySI text", extensions: &["txt"], convention: biswas_enea("Plume") },
    Row { format: Format::Awdit, name: "AWDIT text", extensions: &["txt"], convention: biswas_enea("AWDIT") },
    Row { format: Format::DbcopText, name: "dbcop text", extensions: &["hist"], convention: biswas_enea("dbcop") },
    Row { format: Format::DbcopJson, name: "dbcop JSON", extensions: &["json"], convention: biswas_enea("dbcop") },
    Row { format: Format::Binary, name: "txloom binary", extensions: &["txh"], convention: ELLE },
];

impl Format {
    /// The format's row.
    pub fn row(self) -> &'static Row {
        FORMATS.iter().find(|row| row.format == self).expect("every format has a row")
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// What levels mean in it.
    pub fn convention(self) -> Convention {
        self.row().convention
    }
}

impl Convention {
    /// What a level's name, as a user wrote it, means by this convention; `None` if there is no such level.
    ///
    /// A name that says its order (`strong session …`, `strong …`, `plain …`) is taken at its word, and so is Adya's own
    /// name of a level (`PL-2`).
    pub fn requirement(&self, name: &str) -> Option<Requirement> {
        let words = name.to_lowercase().replace(['-', '_'], " ");
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(plain) = words.strip_prefix("plain ") {
            return Requirement::parse(plain).filter(|requirement| requirement.order == Order::Free);
        }
        let requirement = Requirement::parse(&words)?;
        if requirement.order != Order::Free {
            return Some(requirement);
        }
        let is_adya = words.starts_with("pl ");
        let level = match requirement.level {
            Level::ReadCommitted if !is_adya => self.read_committed,
            level => level,
        };
        Some(level.with(self.order))
    }
}

/// Why a file is no history: where, and what was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ReadError {
    /// The line, from 1. Of a binary file: 0.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// The maximum length of a message, in characters.
const MESSAGE_MAX: usize = 500;

impl ReadError {
    pub(crate) fn new(line: usize, message: impl Into<String>) -> ReadError {
        let message: String = message.into();
        // What was found may be a line of a hundred megabytes.
        let message = match message.char_indices().nth(MESSAGE_MAX) {
            Some((end, _)) => message.get(..end).map(|start| format!("{start}…")).unwrap_or_default(),
            None => message,
        };
        ReadError { line, message }
    }
}

/// A history that was read, and what it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    /// The history.
    pub history: History,
    /// The format in which its tool wrote it; of a binary file, the one that it was made from.
    pub format: Format,
}

/// Turns text into a history, record by record.
trait Decoder {
    /// Takes as many whole records as there are, and says how many bytes they took. `line` is the number of the first
    /// line. With `is_last`, nothing follows: what is not whole now never will be.
    fn decode(&mut self, text: &[u8], line: usize, is_last: bool) -> Result<usize, ReadError>;

    /// The history. Everything has been decoded.
    fn finish(self: Box<Self>) -> Result<Read, ReadError>;
}

/// Reads a history of any format, piece by piece.
pub struct Reader {
    extension: String,
    decoder: Option<Box<dyn Decoder>>,
    /// What was fed and not yet decoded.
    rest: Vec<u8>,
    /// The size of that at which it is worth another try: a record of many pieces would be looked at once for each.
    worthwhile: usize,
    line: usize,
}

impl Reader {
    /// A reader of a file of that name; only its extension matters, and only if the content does not tell.
    pub fn new(file: &str) -> Reader {
        let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension).to_lowercase();
        Reader { extension, decoder: None, rest: Vec::new(), worthwhile: 0, line: 1 }
    }

    /// Takes the next piece.
    pub fn feed(&mut self, piece: &[u8]) -> Result<(), ReadError> {
        if self.rest.is_empty() {
            let used = self.decode(piece, false)?;
            self.rest.extend_from_slice(&piece[used..]);
            return Ok(());
        }
        let mut rest = std::mem::take(&mut self.rest);
        rest.extend_from_slice(piece);
        if rest.len() < self.worthwhile {
            self.rest = rest;
            return Ok(());
        }
        let used = self.decode(&rest, false)?;
        self.worthwhile = if used == 0 { rest.len() * 2 } else { 0 };
        rest.drain(..used);
        self.rest = rest;
        Ok(())
    }

    /// The history, when everything was fed.
    pub fn finish(mut self) -> Result<Read, ReadError> {
        let rest = std::mem::take(&mut self.rest);
        let used = self.decode(&rest, true)?;
        debug_assert_eq!(used, rest.len(), "a decoder that is told the end takes everything");
        match self.decoder {
            Some(decoder) => decoder.finish(),
            None => Err(ReadError::new(1, "the file is empty: there is no history in it")),
        }
    }

    fn decode(&mut self, text: &[u8], is_last: bool) -> Result<usize, ReadError> {
        let mut decoder = match self.decoder.take() {
            Some(decoder) => decoder,
            None => match detect::detect(text, &self.extension, is_last)? {
                Some(format) => decoder_of(format),
                None => return Ok(if is_last { text.len() } else { 0 }),
            },
        };
        let used = decoder.decode(text, self.line, is_last)?;
        self.line += text[..used].iter().filter(|byte| **byte == b'\n').count();
        self.decoder = Some(decoder);
        Ok(used)
    }
}

fn decoder_of(format: Format) -> Box<dyn Decoder> {
    match format {
        Format::Edn | Format::Json | Format::JsonLines => Box::new(elle::Ops::new(format)),
        Format::Plume => Box::new(numbers::Lines::new(plume::Plume::default())),
        Format::Awdit => Box::new(numbers::Lines::new(awdit::Awdit::default())),
        Format::DbcopText => Box::new(numbers::Lines::new(dbcop::Text::default())),
        Format::DbcopJson => Box::new(dbcop::Json::default()),
        Format::Binary => Box::new(binary::Whole::default()),
    }
}

/// Reads a whole history that is in a given format.
pub fn read_as(text: &[u8], format: Format) -> Result<Read, ReadError> {
    let mut reader = Reader { decoder: Some(decoder_of(format)), ..Reader::new("") };
    reader.feed(text)?;
    reader.finish()
}

/// Reads a whole history at once.
pub fn read(text: &[u8], file: &str) -> Result<Read, ReadError> {
    let mut reader = Reader::new(file);
    reader.feed(text)?;
    reader.finish()
}
