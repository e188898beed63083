//! From the packets that a server sends to the results of one message.
//!
//! ```text
//!   COM_QUERY "UPDATE t SET v = 1; SELECT v FROM t"
//!     OK    affected 1, flags IN_TRANS | MORE_RESULTS, 0 warnings, "Rows matched: 1  Changed: 1  Warnings: 0"
//!     1 column: definition, EOF
//!     row, row, EOF  flags IN_TRANS, 0 warnings           → two results
//! ```
//!
//! Rows of a statement that fails half-way are dropped with it: how many of them had been sent is chance.

use std::io;

use txloom_core::outcome::{Column, DbError, Row, StatementResult, TxStatus};
use txloom_core::sql::{StatementKind, Token, TokenKind, tokens};

use super::super::wire::limits::COLUMNS_MAX;
use super::classify::classify;
use super::packet::{Packets, Parts, malformed};
use super::types;

const OK: u8 = 0x00;
const EOF: u8 = 0xfe;
const ERROR: u8 = 0xff;
const GIVE_LOCAL_FILE: u8 = 0xfb;

/// The flags that the server sends with each result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Flags(pub(super) u16);

impl Flags {
    const IN_TRANSACTION: u16 = 1;
    const MORE_RESULTS: u16 = 8;

    fn has_more(self) -> bool {
        self.0 & Flags::MORE_RESULTS != 0
    }

    /// The transaction status. A transaction that has failed is either still open or gone: there is nothing between.
    pub(super) fn status(self) -> TxStatus {
        if self.0 & Flags::IN_TRANSACTION != 0 { TxStatus::Open } else { TxStatus::Idle }
    }
}

/// The whole answer to one message.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// One entry per completed statement.
    pub(super) results: Vec<StatementResult>,
    /// The error that ended the message.
    pub(super) error: Option<DbError>,
    /// The flags of the last result; none came with an error.
    pub(super) flags: Option<Flags>,
    /// The number of warnings of each result.
    pub(super) warnings: Vec<u16>,
}

/// What the server gets for a local file: appends the next piece of it, and says whether there is more.
pub(super) type File<'a> = dyn FnMut(&mut Vec<u8>) -> bool + 'a;

impl Answer {
    /// Reads results up to the last one. An error means that the connection is gone, or that the bytes make no sense;
    /// what had arrived before stays.
    pub(super) fn read(&mut self, sql: &str, packets: &mut Packets, file: &mut File<'_>) -> io::Result<()> {
        let kinds = kinds(sql);
        loop {
            let payload = packets.receive()?;
            match payload.first() {
                Some(&ERROR) => {
                    (self.error, self.flags) = (Some(error(&payload)?), None);
                    return Ok(());
                }
                // The server answers to the file in turn.
                Some(&GIVE_LOCAL_FILE) => {
                    send_file(packets, file)?;
                    continue;
                }
                Some(&OK) => self.take_ok(&payload, &kinds)?,
                _ => {
                    if !self.take_rows(&payload, packets)? {
                        return Ok(());
                    }
                }
            }
            if !self.flags.is_some_and(Flags::has_more) {
                return Ok(());
            }
        }
    }

    fn take_ok(&mut self, payload: &[u8], kinds: &[StatementKind]) -> io::Result<()> {
        let mut parts = Parts::of(payload);
        parts.u8()?;
        let count = parts.lenenc()?;
        let _last_insert_id = parts.lenenc()?;
        self.flags = Some(Flags(parts.u16()?));
        self.warnings.push(parts.u16()?);
        let information = information(parts.rest());
        // Every OK carries a number, but only for what writes rows does 0 mean something.
        let writes = kinds.get(self.results.len()) == Some(&StatementKind::Write);
        let affected = Some(count).filter(|count| writes || *count > 0);
        self.results.push(StatementResult { affected, tag: information, ..StatementResult::default() });
        Ok(())
    }

    /// Reads columns and rows; false if an error took their place.
    fn take_rows(&mut self, first: &[u8], packets: &mut Packets) -> io::Result<bool> {
        let count = Parts::of(first).lenenc()?;
        if count > COLUMNS_MAX {
            return Err(malformed("a result has more than 65535 columns"));
        }
        let mut result = StatementResult::default();
        for _ in 0..count {
            result.columns.push(column(&packets.receive()?)?);
        }
        if packets.receive()?.first() != Some(&EOF) {
            return Err(malformed("the columns of a result have no end"));
        }
        loop {
            let payload = packets.receive()?;
            match payload.first() {
                Some(&ERROR) => {
                    (self.error, self.flags) = (Some(error(&payload)?), None);
                    return Ok(false);
                }
                Some(&EOF) if payload.len() < 9 => {
                    let mut parts = Parts::of(&payload[1..]);
                    self.warnings.push(parts.u16()?);
                    self.flags = Some(Flags(parts.u16()?));
                    self.results.push(result);
                    return Ok(true);
                }
                _ => {
                    packets.take_cells(result.columns.len())?;
                    result.rows.push(row(&payload, result.columns.len())?);
                }
            }
        }
    }
}

fn send_file(packets: &mut Packets, file: &mut File<'_>) -> io::Result<()> {
    let (mut piece, mut has_more) = (Vec::new(), true);
    while has_more {
        piece.clear();
        has_more = file(&mut piece);
        // An empty packet is the end.
        if !piece.is_empty() {
            packets.send(&piece)?;
        }
    }
    packets.send(&[])
}

/// The kinds of the statements of a message, as far as semicolons tell.
fn kinds(sql: &str) -> Vec<StatementKind> {
    statements(sql).into_iter().map(StatementKind::of).collect()
}

/// The statements of a message: what is between its semicolons. Not exact (a procedure's body has semicolons, too).
pub(super) fn statements(sql: &str) -> Vec<&str> {
    let is_end = |token: &Token<'_>| token.kind == TokenKind::Symbol && token.text == ";";
    let mut parts = Vec::new();
    let mut from = 0;
    for token in tokens(sql).iter().filter(|token| is_end(token)) {
        parts.push(&sql[from..token.span.start]);
        from = token.span.end;
    }
    parts.push(&sql[from..]);
    parts.retain(|part| !tokens(part).is_empty());
    parts
}

/// The text of an OK, e.g. `Rows matched: 1  Changed: 1  Warnings: 0`, after its length.
fn information(bytes: &[u8]) -> Option<String> {
    let text = Parts::of(bytes).lenenc_bytes().unwrap_or(bytes);
    (!text.is_empty()).then(|| String::from_utf8_lossy(text).into_owned())
}

fn column(payload: &[u8]) -> io::Result<Column> {
    let mut parts = Parts::of(payload);
    for _catalog_schema_table_original in 0..4 {
        parts.lenenc_bytes()?;
    }
    let name = String::from_utf8_lossy(parts.lenenc_bytes()?).into_owned();
    let _original_name = parts.lenenc_bytes()?;
    let _length_of_the_rest = parts.lenenc()?;
    let character_set = parts.u16()?;
    let _display_length = parts.u32()?;
    let (code, flags) = (parts.u8()?, parts.u16()?);
    Ok(Column { name, type_name: types::name(code, flags, character_set) })
}

fn row(payload: &[u8], count: usize) -> io::Result<Row> {
    let mut parts = Parts::of(payload);
    let mut cell = || if parts.null() { Ok(None) } else { parts.lenenc_bytes().map(|bytes| Some(bytes.to_vec())) };
    (0..count).map(|_| cell()).collect()
}

/// Reads an error. The one that refuses a connection comes without SQLSTATE.
pub(super) fn error(payload: &[u8]) -> io::Result<DbError> {
    let mut parts = Parts::of(payload);
    parts.u8()?;
    let errno = parts.u16()?;
    let rest = parts.rest();
    let (code, message) = match rest.strip_prefix(b"#").and_then(|rest| rest.split_at_checked(5)) {
        Some((code, message)) => (String::from_utf8_lossy(code).into_owned(), message),
        None => ("HY000".to_string(), rest),
    };
    Ok(DbError {
        class: classify(errno),
        code,
        native: Some(i64::from(errno)),
        message: String::from_utf8_lossy(message).into_owned(),
        detail: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_split_at_their_semicolons() {
        assert_eq!(statements("BEGIN; UPDATE t SET v = ';' ;"), ["BEGIN", " UPDATE t SET v = ';' "]);
        assert_eq!(statements("SELECT 1"), ["SELECT 1"]);
        assert!(statements(" ; -- nothing").is_empty());
    }

    #[test]
    fn errors_are_read_with_and_without_sqlstate() {
        let with = error(b"\xff\xbd\x04#40001Deadlock found").unwrap();
        assert_eq!((with.native, with.code.as_str(), with.message.as_str()), (Some(1213), "40001", "Deadlock found"));
        let without = error(b"\xff\x10\x04Too many connections").unwrap();
        assert_eq!((without.native, without.message.as_str()), (Some(1040), "Too many connections"));
        assert!(error(b"\xff\x10").is_err());
    }

    #[test]
    fn information_has_its_length_before_it_or_not() {
        assert_eq!(information(b"\x04text").as_deref(), Some("text"));
        assert_eq!(information(b"text").as_deref(), Some("text"));
        assert_eq!(information(b""), None);
    }
}
