//! dbcop's histories, as text and as JSON.
//!
//! ```text
//!   // two sessions                          [x:=1 y==2]   a transaction: writes version 1 of x, reads version 2 of y
//!   [x:=1 y:=1] [z==?]                       [z==?]        reads what nobody wrote
//!   ---                                      […]!          did not commit
//!   [x==1]!
//! ```
//!
//! Version 0 is initial, too, unless somebody writes it.

#![warn(clippy::indexing_slicing)]

use super::super::build::{Builder, Head};
use super::super::{History, Op, Scalar, Status};
use super::numbers::LineReader;
use super::scan::{Scan, Stop, Syntax, Token, show};
use super::write::check_plain;
use super::{Decoder, Format, Read, ReadError, settle};

/// Reads the text.
#[derive(Debug, Default)]
pub(super) struct Text {
    builder: Builder,
    session: u32,
}

impl LineReader for Text {
    fn line(&mut self, text: &str, line: usize) -> Result<(), ReadError> {
        if text.starts_with("//") {
            return Ok(());
        }
        if text.bytes().all(|byte| byte == b'-') {
            self.session += 1;
            return Ok(());
        }
        let mut rest = text;
        while !rest.is_empty() {
            let (inside, behind) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).ok_or_else(|| {
                ReadError::new(line, format!("expected a transaction like `[x:=1 y==2]`, found `{rest}`"))
            })?;
            let (status, behind) = match behind.strip_prefix('!') {
                Some(behind) => (Status::Aborted, behind),
                None => (Status::Committed, behind),
            };
            self.builder.begin(Head { session: self.session, status, began: None, ended: None, line: line as u32 });
            inside.split_whitespace().try_for_each(|event| self.event(event, line))?;
            rest = behind.trim_start();
        }
        Ok(())
    }

    fn finish(self) -> Result<Read, ReadError> {
        let mut history = self.builder.finish();
        settle::zero_is_initial(&mut history);
        Ok(Read { history, format: Format::DbcopText })
    }
}

impl Text {
    fn event(&mut self, event: &str, line: usize) -> Result<(), ReadError> {
        let wrong = || ReadError::new(line, format!("expected `x:=1`, `x==1` or `x==?`, found `{event}`"));
        let version = |text: &str| text.parse().map(Scalar).map_err(|_| wrong());
        let (name, op) = match (event.split_once(":="), event.split_once("==")) {
            (Some((name, value)), _) => (name, Op::Write(self.builder.key(name), version(value)?)),
            (None, Some((name, "?"))) => (name, Op::Read(self.builder.key(name), None)),
            (None, Some((name, value))) => (name, Op::Read(self.builder.key(name), Some(version(value)?))),
            (None, None) => return Err(wrong()),
        };
        if name.is_empty() || !name.chars().all(is_part) {
            return Err(wrong());
        }
        self.builder.push(op);
        Ok(())
    }
}

/// Whether names of the text may have this character.
fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Reads the JSON, at its end: `{"params": …, "data": [[{"events": […], "committed": true}]]}`, or `data` alone.
#[derive(Debug, Default)]
pub(super) struct Json {
    builder: Builder,
}

impl Decoder for Json {
    fn decode(&mut self, text: &[u8], line: usize, is_last: bool) -> Result<usize, ReadError> {
        if !is_last {
            return Ok(0);
        }
        let mut scan = Scan::new(text, 0, Syntax::Json);
        match self.whole(&mut scan, line) {
            Ok(()) => Ok(text.len()),
            Err(Stop::End) => {
                let last = line + newlines(text.trim_ascii_end());
                Err(ReadError::new(last, "the file ends in the middle of a value"))
            }
            Err(Stop::Wrong(at, message)) => {
                Err(ReadError::new(line + newlines(text.get(..at).unwrap_or(text)), message))
            }
        }
    }

    fn finish(self: Box<Self>) -> Result<Read, ReadError> {
        let mut history = self.builder.finish();
        settle::zero_is_initial(&mut history);
        Ok(Read { history, format: Format::DbcopJson })
    }
}

impl Json {
    fn whole(&mut self, scan: &mut Scan<'_>, line: usize) -> Result<(), Stop> {
        scan.blanks()?;
        if scan.peek() == Some(b'{') {
            let mut data = None;
            fields(scan, &mut |key, at| {
                data = data.or((key == b"data").then_some(at));
            })?;
            let Some(data) = data else {
                return Err(Stop::Wrong(0, "there is no \"data\" in this object".to_string()));
            };
            end(scan)?;
            scan.at = data;
            return self.sessions(scan, line);
        }
        self.sessions(scan, line)?;
        end(scan)
    }

    fn sessions(&mut self, scan: &mut Scan<'_>, line: usize) -> Result<(), Stop> {
        let mut session = 0;
        let (mut counted, mut line) = (0, line);
        elements(scan, "an array of sessions", &mut |scan| {
            elements(scan, "a session: an array of transactions", &mut |scan| {
                line += newlines(scan.between(counted, scan.at));
                counted = scan.at;
                self.transaction(scan, session, line)
            })?;
            session += 1;
            Ok(())
        })
    }

    fn transaction(&mut self, scan: &mut Scan<'_>, session: u32, line: usize) -> Result<(), Stop> {
        let (mut events, mut is_committed, start) = (None, true, scan.at);
        let text = scan.text;
        fields(scan, &mut |key, at| match key {
            b"events" => events = Some(at),
            b"committed" => is_committed = !text.get(at..).unwrap_or_default().starts_with(b"false"),
            _ => {}
        })?;
        let status = if is_committed { Status::Committed } else { Status::Aborted };
        self.builder.begin(Head { session, status, began: None, ended: None, line: line as u32 });
        let Some(events) = events else {
            return Err(Stop::Wrong(start, "this transaction has no \"events\"".to_string()));
        };
        let mut inner = Scan::new(scan.text, events, Syntax::Json);
        elements(&mut inner, "an array of events", &mut |scan| self.event(scan))
    }

    /// `{"Write": {"variable": 0, "version": 1}}`
    fn event(&mut self, scan: &mut Scan<'_>) -> Result<(), Stop> {
        let start = scan.at;
        let mut found = None;
        fields(scan, &mut |key, at| {
            found = Some((key == b"Write", key == b"Read", at));
        })?;
        let Some((is_write, is_read, at)) = found else {
            return Err(Stop::Wrong(start, "expected an event like {\"Write\": …}, found an empty one".to_string()));
        };
        if !is_write && !is_read {
            let message =
                format!("unknown event `{}`; expected Write or Read", show(scan.between(start, scan.text.len())));
            return Err(Stop::Wrong(start, message));
        }
        let (mut variable, mut version) = (None, None);
        let mut inner = Scan::new(scan.text, at, Syntax::Json);
        let text = scan.text;
        fields(&mut inner, &mut |key, at| match key {
            b"variable" => variable = Some(at),
            b"version" => version = Scan::new(text, at, Syntax::Json).token().ok(),
            _ => {}
        })?;
        let wrong = |what: &str| Err(Stop::Wrong(start, format!("this event has no {what}")));
        let Some(variable) = variable else { return wrong("\"variable\"") };
        let name = Scan::new(text, variable, Syntax::Json).value()?;
        let name = name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\"")).unwrap_or(name);
        let key = self.builder.key(&String::from_utf8_lossy(name));
        self.builder.push(match (version, is_write) {
            (Some(Token::Number(version)), true) => Op::Write(key, Scalar(version)),
            (Some(Token::Number(version)), false) => Op::Read(key, Some(Scalar(version))),
            (Some(Token::Nil) | None, false) => Op::Read(key, None),
            _ => return wrong("\"version\" that is a number"),
        });
        Ok(())
    }
}

/// Calls with every key of an object and the place of its value.
fn fields(scan: &mut Scan<'_>, with: &mut dyn FnMut(&[u8], usize)) -> Result<(), Stop> {
    scan.blanks()?;
    match scan.peek() {
        None => return Err(Stop::End),
        Some(b'{') => scan.at += 1,
        Some(_) => return scan.wrong(format!("expected an object, found `{}`", scan.found())),
    }
    loop {
        scan.blanks()?;
        match scan.peek() {
            None => return Err(Stop::End),
            Some(b'}') => break,
            Some(_) => {}
        }
        let key = scan.value()?;
        let key = key.strip_prefix(b"\"").and_then(|key| key.strip_suffix(b"\"")).unwrap_or(key);
        let value = scan.value()?;
        with(key, scan.at - value.len());
    }
    scan.at += 1;
    Ok(())
}

/// Calls at the beginning of every element of an array; the call moves behind it.
fn elements(
    scan: &mut Scan<'_>,
    what: &str,
    with: &mut dyn FnMut(&mut Scan<'_>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    scan.blanks()?;
    match scan.peek() {
        None => return Err(Stop::End),
        Some(b'[') => scan.at += 1,
        Some(_) => return scan.wrong(format!("expected {what}, found `{}`", scan.found())),
    }
    loop {
        scan.blanks()?;
        match scan.peek() {
            None => return Err(Stop::End),
            Some(b']') => break,
            Some(_) => with(scan)?,
        }
    }
    scan.at += 1;
    Ok(())
}

fn end(scan: &mut Scan<'_>) -> Result<(), Stop> {
    scan.blanks()?;
    match scan.peek() {
        None => Ok(()),
        Some(_) => scan.wrong(format!("expected the end of the file, found `{}`", scan.found())),
    }
}

fn newlines(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte == b'\n').count()
}

/// Writes the text; the error says what the format cannot hold.
pub(super) fn write_text(history: &History) -> Result<String, String> {
    check_plain(history, "dbcop", is_part)?;
    let mut text = String::new();
    for (at, session) in super::write::sessions(history).into_iter().enumerate() {
        text.push_str(if at > 0 { "---\n" } else { "" });
        for id in session {
            let known = history.ops(id).iter().filter(|op| !matches!(op, Op::Unread(_)));
            let events: Result<Vec<String>, String> = known.map(|op| event(history, op)).collect();
            let bang = mark(history.transaction(id).status)?;
            text.push_str(&format!("[{}]{bang}\n", events?.join(" ")));
        }
    }
    Ok(text)
}

fn mark(status: Status) -> Result<&'static str, String> {
    match status {
        Status::Committed => Ok(""),
        Status::Aborted => Ok("!"),
        Status::Unknown => Err("dbcop's format cannot say that a transaction's end is unknown".to_string()),
    }
}

fn event(history: &History, op: &Op) -> Result<String, String> {
    let key = history.key_name(op.key());
    match op {
        Op::Write(_, value) => Ok(format!("{key}:={}", value.0)),
        Op::Read(_, Some(value)) => Ok(format!("{key}=={}", value.0)),
        Op::Read(_, None) | Op::Unread(_) => Ok(format!("{key}==?")),
        Op::Append(..) | Op::ReadList(..) => Err("dbcop's format has no lists".to_string()),
    }
}

/// Writes the JSON; the error says what the format cannot hold.
pub(super) fn write_json(history: &History) -> Result<String, String> {
    check_plain(history, "dbcop", |c| !matches!(c, '"' | '\\') && !c.is_control())?;
    let mut sessions = Vec::new();
    for session in super::write::sessions(history) {
        let mut transactions = Vec::new();
        for id in session {
            let is_committed = mark(history.transaction(id).status)?.is_empty();
            let mut events = Vec::new();
            for op in history.ops(id) {
                let (what, value) = match op {
                    Op::Write(_, value) => ("Write", value.0.to_string()),
                    Op::Read(_, Some(value)) => ("Read", value.0.to_string()),
                    Op::Read(_, None) => ("Read", "null".to_string()),
                    Op::Unread(_) => continue,
                    Op::Append(..) | Op::ReadList(..) => return Err("dbcop's format has no lists".to_string()),
                };
                let key = history.key_name(op.key());
                let key = if key.parse::<i64>().is_ok() { key.to_string() } else { format!("\"{key}\"") };
                events.push(format!("{{\"{what}\":{{\"variable\":{key},\"version\":{value}}}}}"));
            }
            transactions.push(format!("  {{\"events\":[{}],\"committed\":{is_committed}}}", events.join(",")));
        }
        sessions.push(format!(" [\n{}\n ]", transactions.join(",\n")));
    }
    Ok(format!("{{\"params\":{{}},\"info\":\"txloom\",\"data\":[\n{}\n]}}\n", sessions.join(",\n")))
}
