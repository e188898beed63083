//! AWDIT's test format: `w key value`, `r key value`, one operation a line; `-----` between the transactions of a session,
//! `=====` between sessions.
//!
//! There are no initial values: every value that is read is written somewhere in the file.

#![warn(clippy::indexing_slicing)]

use super::super::build::{Builder, Head};
use super::super::{History, Op, Scalar, Status};
use super::numbers::{LineReader, number};
use super::{Format, Read, ReadError};

/// Reads it.
#[derive(Debug, Default)]
pub(super) struct Awdit {
    builder: Builder,
    session: u32,
    is_open: bool,
}

impl LineReader for Awdit {
    fn line(&mut self, text: &str, line: usize) -> Result<(), ReadError> {
        if text.bytes().all(|byte| byte == b'-') {
            self.is_open = false;
            return Ok(());
        }
        if text.bytes().all(|byte| byte == b'=') {
            self.is_open = false;
            self.session += 1;
            return Ok(());
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let [what, key, value] = words[..] else {
            let message = format!("expected `w KEY VALUE`, `r KEY VALUE`, `-----` or `=====`, found `{text}`");
            return Err(ReadError::new(line, message));
        };
        let value = Scalar(number(value, "a value", line)?);
        let key = self.builder.key(key);
        let op = match what {
            "w" => Op::Write(key, value),
            "r" => Op::Read(key, Some(value)),
            other => return Err(ReadError::new(line, format!("unknown operation `{other}`; expected r or w"))),
        };
        if !self.is_open {
            let (session, line) = (self.session, line as u32);
            self.builder.begin(Head { session, status: Status::Committed, began: None, ended: None, line });
            self.is_open = true;
        }
        self.builder.push(op);
        Ok(())
    }

    fn finish(self) -> Result<Read, ReadError> {
        Ok(Read { history: self.builder.finish(), format: Format::Awdit })
    }
}

/// Writes it; the error says what the format cannot hold.
pub(super) fn write(history: &History) -> Result<String, String> {
    super::write::check_plain(history, "AWDIT", |c| !c.is_whitespace())?;
    let mut text = String::new();
    for (at, session) in super::write::sessions(history).into_iter().enumerate() {
        text.push_str(if at > 0 { "=====\n" } else { "" });
        for (place, id) in session.into_iter().enumerate() {
            if history.transaction(id).status != Status::Committed {
                return Err("AWDIT's format has committed transactions only".to_string());
            }
            text.push_str(if place > 0 { "-----\n" } else { "" });
            for op in history.ops(id) {
                let key = history.key_name(op.key());
                match op {
                    Op::Write(_, value) => text.push_str(&format!("w {key} {}\n", value.0)),
                    Op::Read(_, Some(value)) => text.push_str(&format!("r {key} {}\n", value.0)),
                    Op::Unread(_) => {}
                    Op::Read(_, None) => return Err("AWDIT's format has no initial values".to_string()),
                    Op::Append(..) | Op::ReadList(..) => return Err("AWDIT's format has no lists".to_string()),
                }
            }
        }
    }
    Ok(text)
}
