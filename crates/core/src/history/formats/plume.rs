//! Plume's text, which PolySI and IsoVista read, too: `w(key,value,session,txn)`, `r(…)`, one operation a line.
//!
//! Transactions of a session come in the order in which they are first mentioned. A transaction -1 is Plume's way to list a
//! write that was rolled back. The initial value is 0, unless somebody writes it.

#![warn(clippy::indexing_slicing)]

use std::collections::HashMap;

use super::super::build::{Builder, Head};
use super::super::{History, Op, Scalar, Status};
use super::numbers::{LineReader, number};
use super::settle;
use super::{Format, Read, ReadError};

/// Reads it.
#[derive(Debug, Default)]
pub(super) struct Plume {
    builder: Builder,
    heads: Vec<Head>,
    /// By session and number: the position of a transaction in `heads`.
    transactions: HashMap<(u32, i64), u32>,
    ops: Vec<(u32, Op)>,
}

/// How a line looks, for error messages.
const FORM: &str = "w(key,value,session,transaction)";

impl LineReader for Plume {
    fn line(&mut self, text: &str, line: usize) -> Result<(), ReadError> {
        let wrong = || ReadError::new(line, format!("expected `{FORM}` or `r(…)`, found `{text}`"));
        let (what, rest) = text.split_once('(').ok_or_else(wrong)?;
        let parts: Vec<&str> = rest.strip_suffix(')').ok_or_else(wrong)?.split(',').collect();
        let [key, value, session, transaction] = parts[..] else { return Err(wrong()) };
        let is_write = match what.trim() {
            "w" => true,
            "r" => false,
            other => return Err(ReadError::new(line, format!("unknown operation `{other}`; expected r or w"))),
        };
        let key = self.builder.key(key.trim());
        let value = Scalar(number(value, "a value", line)?);
        let session = number(session, "a session", line)?;
        let transaction: i64 = number(transaction, "a transaction", line)?;
        let op = if is_write { Op::Write(key, value) } else { Op::Read(key, Some(value)) };
        if transaction == -1 {
            if is_write {
                let at = self.head(session, Status::Aborted, line);
                self.ops.push((at, op));
            }
            return Ok(());
        }
        let known = self.transactions.get(&(session, transaction)).copied();
        let at = known.unwrap_or_else(|| {
            let at = self.head(session, Status::Committed, line);
            self.transactions.insert((session, transaction), at);
            at
        });
        self.ops.push((at, op));
        Ok(())
    }

    fn finish(mut self) -> Result<Read, ReadError> {
        // The operations of a transaction nearly always stand together; where they do not, their order is kept.
        self.ops.sort_by_key(|(transaction, _)| *transaction);
        let mut ops = self.ops.into_iter().peekable();
        for (at, head) in self.heads.into_iter().enumerate() {
            self.builder.begin(head);
            while let Some((_, op)) = ops.next_if(|(transaction, _)| *transaction == at as u32) {
                self.builder.push(op);
            }
        }
        let mut history = self.builder.finish();
        settle::zero_is_initial(&mut history);
        Ok(Read { history, format: Format::Plume })
    }
}

impl Plume {
    fn head(&mut self, session: u32, status: Status, line: usize) -> u32 {
        self.heads.push(Head { session, status, began: None, ended: None, line: line as u32 });
        self.heads.len() as u32 - 1
    }
}

/// Writes it; the error says what the format cannot hold.
pub(super) fn write(history: &History) -> Result<String, String> {
    super::write::check_plain(history, "Plume", |c| !c.is_whitespace() && !matches!(c, ',' | '(' | ')'))?;
    let mut text = String::new();
    for (id, transaction) in history.transactions() {
        if transaction.status == Status::Unknown {
            return Err("Plume's format cannot say that a transaction's end is unknown".to_string());
        }
        let number = if transaction.status == Status::Aborted { -1 } else { i64::from(id.0) };
        for op in history.ops(id) {
            let (what, value) = match op {
                Op::Write(_, value) => ("w", value.0),
                Op::Read(_, value) => ("r", value.map_or(0, |value| value.0)),
                Op::Unread(_) => continue,
                Op::Append(..) | Op::ReadList(..) => return Err("Plume's format has no lists".to_string()),
            };
            let key = history.key_name(op.key());
            text.push_str(&format!("{what}({key},{value},{},{number})\n", transaction.session));
        }
    }
    Ok(text)
}
