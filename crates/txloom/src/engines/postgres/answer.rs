//! From the messages that a server sends to one [`Outcome`].
//!
//! ```text
//!   Query "BEGIN; UPDATE t SET v = 1; SELECT v FROM t"
//!     CommandComplete BEGIN
//!     CommandComplete UPDATE 1
//!     RowDescription, DataRow, DataRow, CommandComplete SELECT 2
//!     ReadyForQuery T                 → three results, status Open
//! ```
//!
//! Rows of a statement that fails half-way are dropped with it: how many of them had been sent is chance.

use std::io;

use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{DataRowBody, ErrorFields, Message, RowDescriptionBody};
use txloom_core::outcome::{Column, DbError, Notice, Outcome, Row, StatementResult, TxStatus};

use super::classify::classify;
use super::types;

/// What has been received of an answer.
#[derive(Default)]
pub(super) struct Answer {
    results: Vec<StatementResult>,
    notices: Vec<Notice>,
    error: Option<DbError>,
    /// The result whose rows are arriving.
    current: StatementResult,
    /// Whether the current statement is a COPY that sends data to us: it changes nothing.
    copies_out: bool,
    /// Columns whose type does not come with PostgreSQL.
    unnamed: Vec<UnnamedType>,
}

/// A column whose type is known by its number only.
struct UnnamedType {
    result: usize,
    column: usize,
    oid: u32,
}

/// What is to be done after a message.
pub(super) enum Next {
    /// Read on.
    Read,
    /// The server wants data to be copied: send them or refuse, then read on.
    WantsCopy,
    /// The answer is complete.
    Done(TxStatus),
}

impl Answer {
    /// Takes in one message.
    pub(super) fn take(&mut self, message: Message) -> io::Result<Next> {
        match message {
            Message::RowDescription(body) => self.begin_rows(&body)?,
            Message::DataRow(body) => self.current.rows.push(row(&body)?),
            Message::CommandComplete(body) => self.complete(body.tag()?),
            Message::ErrorResponse(body) => self.error = Some(Fields::read(body.fields())?.into_error()),
            Message::NoticeResponse(body) => self.notices.push(Fields::read(body.fields())?.into_notice()),
            Message::CopyInResponse(_) => return Ok(Next::WantsCopy),
            Message::CopyOutResponse(_) => self.copies_out = true,
            Message::ReadyForQuery(body) => return Ok(Next::Done(status(body.status())?)),
            // The data of a COPY to us, and what servers say at any time: settings that changed, notifications.
            _ => {}
        }
        Ok(Next::Read)
    }

    fn begin_rows(&mut self, body: &RowDescriptionBody) -> io::Result<()> {
        let mut fields = body.fields();
        let mut columns = Vec::new();
        while let Some(field) = fields.next()? {
            let name = types::built_in(field.type_oid());
            if name.is_none() {
                let (result, column) = (self.results.len(), columns.len());
                self.unnamed.push(UnnamedType { result, column, oid: field.type_oid() });
            }
            columns.push(Column { name: field.name().to_string(), type_name: name.unwrap_or_default().to_string() });
        }
        self.current = StatementResult { columns, ..StatementResult::default() };
        Ok(())
    }

    fn complete(&mut self, tag: &str) {
        let mut result = std::mem::take(&mut self.current);
        result.affected = affected(tag).filter(|_| !self.copies_out);
        result.tag = Some(tag.to_string());
        self.copies_out = false;
        self.results.push(result);
    }

    /// The error that has arrived so far.
    pub(super) fn error(&self) -> Option<&DbError> {
        self.error.as_ref()
    }

    /// The whole answer. `type_name` names the types that do not come with PostgreSQL.
    pub(super) fn finish(mut self, status: TxStatus, type_name: impl Fn(u32) -> String) -> Outcome {
        for unnamed in &self.unnamed {
            // A statement that failed after its description has no result.
            let column = self.results.get_mut(unnamed.result).and_then(|result| result.columns.get_mut(unnamed.column));
            if let Some(column) = column {
                column.type_name = type_name(unnamed.oid);
            }
        }
        Outcome { results: self.results, notices: self.notices, error: self.error, status }
    }
}

/// The status byte after an answer.
fn status(byte: u8) -> io::Result<TxStatus> {
    match byte {
        b'I' => Ok(TxStatus::Idle),
        b'T' => Ok(TxStatus::Open),
        b'E' => Ok(TxStatus::Failed),
        other => Err(io::Error::new(io::ErrorKind::InvalidData, format!("unknown transaction status {other}"))),
    }
}

/// The cells of a row.
pub(super) fn row(body: &DataRowBody) -> io::Result<Row> {
    let cell = |range: Option<std::ops::Range<usize>>| Ok(range.map(|range| body.buffer()[range].to_vec()));
    body.ranges().map(cell).collect()
}

/// The number of changed rows in `INSERT 0 3`, `UPDATE 3`; none for what changes no rows.
fn affected(tag: &str) -> Option<u64> {
    let mut words = tag.split(' ');
    match words.next() {
        Some("INSERT" | "UPDATE" | "DELETE" | "MERGE" | "COPY") => words.next_back()?.parse().ok(),
        _ => None,
    }
}

/// The fields of an error or a notice.
#[derive(Default)]
pub(super) struct Fields {
    severity: String,
    code: String,
    message: String,
    detail: Option<String>,
}

impl Fields {
    /// Reads them; bytes that are not UTF-8 (a session may choose another encoding) are replaced.
    pub(super) fn read(mut fields: ErrorFields<'_>) -> io::Result<Fields> {
        let mut read = Fields::default();
        while let Some(field) = fields.next()? {
            let value = String::from_utf8_lossy(field.value_bytes()).into_owned();
            match field.type_() {
                // The severity that is never translated comes after the one that may be.
                b'S' | b'V' => read.severity = value,
                b'C' => read.code = value,
                b'M' => read.message = value,
                b'D' => read.detail = Some(value),
                _ => {}
            }
        }
        Ok(read)
    }

    /// As an error.
    pub(super) fn into_error(self) -> DbError {
        DbError {
            class: classify(&self.code),
            code: self.code,
            native: None,
            message: self.message,
            detail: self.detail,
        }
    }

    fn into_notice(self) -> Notice {
        Notice { severity: self.severity, code: self.code, message: self.message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_tell_how_many_rows_were_changed() {
        for (tag, expected) in [
            ("INSERT 0 3", Some(3)),
            ("UPDATE 0", Some(0)),
            ("DELETE 12", Some(12)),
            ("MERGE 2", Some(2)),
            ("COPY 5", Some(5)),
            ("SELECT 3", None),
            ("FETCH 3", None),
            ("COMMIT", None),
            ("CREATE TABLE", None),
            ("UPDATE", None),
        ] {
            assert_eq!(affected(tag), expected, "{tag}");
        }
    }
}
