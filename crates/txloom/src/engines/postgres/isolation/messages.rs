//! From the messages of the wire to those of a test.

use std::io;

use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{ErrorFields, Message as Wire, RowDescriptionBody};
use txloom_core::formats::spec::tester::Message;
use txloom_core::formats::spec::transcript::{Notification, Report};
use txloom_core::outcome::{Column, StatementResult};

use super::super::answer::row;

/// What one connection is in the middle of saying.
#[derive(Default)]
pub(super) struct Decoder {
    /// The result whose rows are arriving.
    current: StatementResult,
}

impl Decoder {
    /// Takes in one message. Rows are only told of when their statement is over; what nobody sees is not told at all.
    /// `sender` names the session of a process.
    pub(super) fn take(&mut self, wire: Wire, sender: impl Fn(i32) -> String) -> io::Result<Option<Message>> {
        Ok(match wire {
            Wire::RowDescription(body) => {
                self.current.columns = columns(&body)?;
                None
            }
            Wire::DataRow(body) => {
                self.current.rows.push(row(&body)?);
                None
            }
            Wire::CommandComplete(_) | Wire::EmptyQueryResponse => {
                Some(Message::Result(std::mem::take(&mut self.current)))
            }
            Wire::ErrorResponse(body) => {
                self.current = StatementResult::default();
                Some(Message::Error(report(body.fields())?))
            }
            Wire::NoticeResponse(body) => Some(Message::Notice(report(body.fields())?)),
            Wire::NotificationResponse(body) => Some(Message::Notification(Notification {
                channel: body.channel()?.to_string(),
                payload: body.message()?.to_string(),
                sender: sender(body.process_id()),
            })),
            Wire::CopyInResponse(_) => Some(Message::Copy("PGRES_COPY_IN")),
            Wire::CopyOutResponse(_) => Some(Message::Copy("PGRES_COPY_OUT")),
            Wire::ReadyForQuery(_) => Some(Message::Ready),
            _ => None,
        })
    }
}

fn columns(body: &RowDescriptionBody) -> io::Result<Vec<Column>> {
    let column = |name: &str| Column { name: name.to_string(), type_name: String::new() };
    body.fields().map(|field| Ok(column(field.name()))).collect()
}

fn report(mut fields: ErrorFields<'_>) -> io::Result<Report> {
    let mut report = Report::default();
    while let Some(field) = fields.next()? {
        let value = String::from_utf8_lossy(field.value_bytes()).into_owned();
        match field.type_() {
            b'S' => report.severity = value,
            b'M' => report.message = value,
            b'D' => report.detail = Some(value),
            b'H' => report.hint = Some(value),
            _ => {}
        }
    }
    Ok(report)
}
