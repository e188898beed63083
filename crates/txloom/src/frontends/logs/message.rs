//! What PostgreSQL's messages mean, in whichever format they were written.
//!
//! | message | what happened |
//! |---|---|
//! | `statement: …`, `execute NAME: …` | sent; with `log_statement`, before it is done |
//! | `duration: … ms  statement: …`, `… execute NAME: …` | done; with `log_min_duration_statement` |
//! | `… parse NAME: …`, `… bind NAME: …` | nothing yet: the execution follows |
//! | `execute fetch from NAME: …` | more rows of what was counted before |
//! | ERROR with its STATEMENT | that failed |
//! | `statement: EXECUTE NAME(…)` with `DETAIL:  prepare: PREPARE NAME AS …` | what was prepared was sent |
//! | `connection …`, `disconnection: …` | a session begins or ends |

use super::event::{Event, Sent, SessionKey, Sink};
use super::lines::Place;

/// How important a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Severity {
    /// LOG: what we are looking for.
    Log,
    /// ERROR: a statement failed.
    Error,
    /// FATAL, PANIC: a session ended.
    Fatal,
    /// WARNING, NOTICE, …
    Other,
}

impl Severity {
    /// By its word.
    pub(super) fn parse(word: &[u8]) -> Option<Severity> {
        match word {
            b"LOG" => Some(Severity::Log),
            b"ERROR" => Some(Severity::Error),
            b"FATAL" | b"PANIC" => Some(Severity::Fatal),
            b"WARNING" | b"NOTICE" | b"INFO" | b"DEBUG" | b"DEBUG1" | b"DEBUG2" | b"DEBUG3" | b"DEBUG4" | b"DEBUG5" => {
                Some(Severity::Other)
            }
            _ => None,
        }
    }
}

/// A whole message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message<'a> {
    pub(super) session: SessionKey,
    pub(super) severity: Severity,
    /// Its text, which is `skipped` bytes into the line.
    pub(super) text: &'a [u8],
    /// What stands before the text on its line.
    pub(super) head: &'a [u8],
    pub(super) detail: &'a [u8],
    /// The statement that led to it.
    pub(super) statement: &'a [u8],
    pub(super) place: Place,
}

/// Tells what a message means.
pub(super) fn interpret(message: &Message<'_>, sink: &mut dyn Sink) {
    let session = message.session;
    match message.severity {
        Severity::Log => log(message, sink),
        Severity::Error => {
            let statement = Some(message.statement).filter(|statement| !statement.is_empty());
            sink.event(Event::Failed { session, statement });
        }
        Severity::Fatal => sink.event(Event::Closed(session)),
        Severity::Other => {}
    }
}

fn log(message: &Message<'_>, sink: &mut dyn Sink) {
    let text = without_code(message.text);
    if let Some((statement, may_fail)) = sent(text) {
        if let Some((prepared, values)) = prepared(statement, message.detail) {
            let (session, place) = (message.session, message.place);
            let sent = Sent { session, text: prepared, head: &[], place, parameters: &values, may_fail };
            sink.event(Event::Sent(sent));
            return;
        }
        // The statement is the end of the message, so that what is before it is the head of its line.
        let before = message.text.len() - statement.len();
        let skipped = message.text.get(..before).unwrap_or_default();
        let head = [message.head, skipped].concat();
        sink.event(Event::Sent(Sent {
            session: message.session,
            text: statement,
            head: &head,
            place: message.place,
            parameters: parameters(message.detail),
            may_fail,
        }));
    } else if text.starts_with(b"connection ") {
        sink.event(Event::Opened(message.session));
    } else if text.starts_with(b"disconnection: ") {
        sink.event(Event::Closed(message.session));
    }
}

/// The statement of a message, and whether it may still fail.
fn sent(text: &[u8]) -> Option<(&[u8], bool)> {
    if let Some(rest) = text.strip_prefix(b"duration: ") {
        let unit = find(rest, b" ms")?;
        let statement = rest[unit + 3..].trim_ascii_start();
        return Some((named(statement)?, false));
    }
    Some((named(text)?, true))
}

fn named(text: &[u8]) -> Option<&[u8]> {
    if let Some(statement) = text.strip_prefix(b"statement: ") {
        return Some(statement);
    }
    let rest = text.strip_prefix(b"execute ")?;
    if rest.starts_with(b"fetch from ") {
        return None;
    }
    Some(&rest[find(rest, b": ")? + 2..])
}

/// What EXECUTE executes, and its arguments in the form of bound parameters.
fn prepared<'a>(statement: &[u8], detail: &'a [u8]) -> Option<(&'a [u8], Vec<u8>)> {
    let detail = detail.strip_prefix(b"prepare: ")?;
    if !statement.get(..8)?.eq_ignore_ascii_case(b"EXECUTE ") {
        return None;
    }
    let text = &detail[detail.windows(4).position(|word| word.eq_ignore_ascii_case(b" AS "))? + 4..];
    let text = text.strip_suffix(b";").unwrap_or(text);
    let mut values = Vec::new();
    if let (Some(open), Some(close)) = (find(statement, b"("), statement.iter().rposition(|byte| *byte == b')')) {
        for (at, argument) in arguments(statement.get(open + 1..close)?).iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            values.extend_from_slice(format!("{comma}${} = ", at + 1).as_bytes());
            values.extend_from_slice(argument.trim_ascii());
        }
    }
    Some((text, values))
}

/// What stands between commas outside of strings and parentheses.
fn arguments(text: &[u8]) -> Vec<&[u8]> {
    let (mut found, mut start, mut depth, mut inside) = (Vec::new(), 0, 0_usize, false);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'\'' => inside = !inside,
            b'(' if !inside => depth += 1,
            b')' if !inside => depth = depth.saturating_sub(1),
            b',' if !inside && depth == 0 => {
                found.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&text[start..]);
    found
}

/// `log_error_verbosity = verbose` puts a code before every message.
fn without_code(text: &[u8]) -> &[u8] {
    let is_code = text.len() > 7
        && text[..5].iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        && text[5..].starts_with(b": ");
    if is_code { &text[7..] } else { text }
}

fn parameters(detail: &[u8]) -> &[u8] {
    let detail = detail.strip_prefix(b"parameters: ").or(detail.strip_prefix(b"Parameters: "));
    detail.unwrap_or_default()
}

/// Where some bytes begin in others.
pub(super) fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = *wanted.first()?;
    let mut at = 0;
    while let Some(next) = text[at..].iter().position(|byte| *byte == first) {
        at += next;
        if text[at..].starts_with(wanted) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// The values of `$1 = 'a', $2 = NULL`, in order, as they stand there.
pub(super) fn split_parameters<'a>(text: &'a [u8], values: &mut Vec<&'a [u8]>) {
    values.clear();
    let mut rest = text;
    while let Some(sign) = find(rest, b" = ").filter(|_| rest.first() == Some(&b'$')) {
        let value = &rest[sign + 3..];
        let end = match value.first() {
            Some(b'\'') => quoted_end(value),
            _ => find(value, b", $").unwrap_or(value.len()),
        };
        values.push(&value[..end]);
        rest = value[end..].strip_prefix(b", ").unwrap_or_default();
    }
}

fn quoted_end(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\'' if text.get(at + 1) == Some(&b'\'') => at += 2,
            b'\'' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_told_apart() {
        for (text, expect) in [
            ("$1 = '5', $2 = NULL, $3 = 'it''s, $4 = 1'", &["'5'", "NULL", "'it''s, $4 = 1'"][..]),
            ("", &[]),
            ("$1 = '", &["'"]),
            ("$1 = 'a' x", &["'a'"]),
            ("none", &[]),
        ] {
            let mut values = Vec::new();
            split_parameters(text.as_bytes(), &mut values);
            let values: Vec<&str> = values.iter().map(|value| std::str::from_utf8(value).unwrap()).collect();
            assert_eq!(values, expect, "{text}");
        }
    }

    #[test]
    fn prepared_statements_are_what_they_execute() {
        let detail = b"prepare: PREPARE p (int) AS SELECT $1, $2;";
        let (text, values) = prepared(b"EXECUTE p(1, 'a, (b')", detail).unwrap();
        assert_eq!((text, values.as_slice()), (&b"SELECT $1, $2"[..], &b"$1 = 1, $2 = 'a, (b'"[..]));
        assert_eq!(prepared(b"EXECUTE p", detail).unwrap().1, b"");
        assert!(prepared(b"EXECUTE p", b"parameters: $1 = '1'").is_none());
        assert!(prepared(b"SELECT 1", detail).is_none());
    }

    #[test]
    fn statements_are_found_in_messages() {
        for (text, expect) in [
            ("statement: SELECT 1", Some("SELECT 1")),
            ("execute <unnamed>: SELECT $1", Some("SELECT $1")),
            ("execute S_1/C_2: SELECT 1", Some("SELECT 1")),
            ("execute fetch from S_1/C_2: SELECT 1", None),
            ("duration: 0.065 ms  bind x: SELECT 1", None),
            ("duration: 0.065 ms  execute x: SELECT 1", Some("SELECT 1")),
            ("duration: 1 ms  statement: SELECT 1", Some("SELECT 1")),
            ("duration: 0.065 ms", None),
            ("duration: ", None),
            ("checkpoint starting: time", None),
        ] {
            let found = sent(text.as_bytes()).map(|(statement, _)| std::str::from_utf8(statement).unwrap());
            assert_eq!(found, expect, "{text}");
        }
        assert_eq!(without_code(b"00000: statement: x"), b"statement: x");
    }
}
