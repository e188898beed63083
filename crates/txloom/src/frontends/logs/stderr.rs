//! PostgreSQL's log as text.
//!
//! A message is a line with a label (`LOG:`), more lines that begin with a tab, and perhaps lines with the same prefix
//! and another label (`DETAIL:`, `STATEMENT:`). Messages of other sessions may come in between. So the last few
//! messages wait for what belongs to them; they are told in the order in which they began.

use std::collections::VecDeque;

use super::event::{Reader, SessionKey, Sink, session};
use super::lines::Place;
use super::message::{Message, Severity, interpret};
use super::prefix::{Label, Style, split};

/// So many messages wait.
const WAITING: usize = 8;
/// So much of a message is kept.
const MESSAGE_MAX: usize = 16 << 20;

/// What a line that begins with a tab belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Text,
    Detail,
    Statement,
    Nothing,
}

#[derive(Debug, Default)]
struct Waiting {
    session: SessionKey,
    severity: Option<Severity>,
    place: Place,
    /// Where the text begins in the line.
    head: usize,
    line: Vec<u8>,
    detail: Vec<u8>,
    statement: Vec<u8>,
}

/// Reads PostgreSQL's log as text.
pub(super) struct Stderr {
    style: Style,
    waiting: VecDeque<Waiting>,
    spare: Vec<Waiting>,
    /// The message that a tab continues, and what of it.
    open: (usize, Part),
}

impl Stderr {
    pub(super) fn new(style: Style) -> Stderr {
        Stderr { style, waiting: VecDeque::new(), spare: Vec::new(), open: (0, Part::Nothing) }
    }

    fn begin(
        &mut self,
        session: SessionKey,
        severity: Severity,
        place: Place,
        head: usize,
        line: &[u8],
        sink: &mut dyn Sink,
    ) {
        if self.waiting.len() >= WAITING {
            self.tell(sink);
        }
        let mut message = self.spare.pop().unwrap_or_default();
        (message.session, message.severity, message.place, message.head) = (session, Some(severity), place, head);
        message.line.clear();
        message.line.extend_from_slice(line);
        message.detail.clear();
        message.statement.clear();
        self.waiting.push_back(message);
        self.open = (self.waiting.len() - 1, Part::Text);
    }

    /// Tells the oldest message.
    fn tell(&mut self, sink: &mut dyn Sink) {
        let Some(message) = self.waiting.pop_front() else { return };
        if let Some(severity) = message.severity {
            let told = Message {
                session: message.session,
                severity,
                text: &message.line[message.head..],
                head: &message.line[..message.head],
                detail: &message.detail,
                statement: &message.statement,
                place: message.place,
            };
            interpret(&told, sink);
        }
        self.open.0 = self.open.0.saturating_sub(1);
        self.spare.push(message);
    }

    /// A line that belongs to a message of the same session.
    fn add(&mut self, session: SessionKey, part: Part, text: &[u8]) -> bool {
        let Some(at) = self.waiting.iter().rposition(|message| message.session == session) else {
            self.open = (0, Part::Nothing);
            return false;
        };
        self.open = (at, part);
        match part {
            Part::Detail => self.waiting[at].detail.extend_from_slice(text),
            Part::Statement => self.waiting[at].statement.extend_from_slice(text),
            Part::Text | Part::Nothing => {}
        }
        true
    }

    fn go_on(&mut self, line: &[u8]) -> bool {
        let (at, part) = self.open;
        let Some(message) = self.waiting.get_mut(at) else { return part == Part::Nothing };
        // In the text itself the tab stays, so that every place is where it is in the file.
        let (buffer, line) = match part {
            Part::Text => (&mut message.line, line),
            Part::Detail => (&mut message.detail, &line[1..]),
            Part::Statement => (&mut message.statement, line),
            Part::Nothing => return true,
        };
        if buffer.len() + line.len() < MESSAGE_MAX {
            buffer.push(b'\n');
            buffer.extend_from_slice(line);
        }
        true
    }
}

impl Reader for Stderr {
    fn line(&mut self, place: Place, line: &[u8], sink: &mut dyn Sink) {
        if line.first() == Some(&b'\t') {
            if !self.go_on(line) {
                sink.unread(place, line);
            }
            return;
        }
        let found = split(line).and_then(|split| Some((split, self.style.session(split.prefix)?)));
        let Some((split, name)) = found else {
            if !line.is_empty() {
                sink.unread(place, line);
            }
            return;
        };
        let session = session(name);
        let text = &line[split.text.min(line.len())..];
        match split.label {
            Label::Message(severity) => self.begin(session, severity, place, split.text.min(line.len()), line, sink),
            Label::Detail => {
                self.add(session, Part::Detail, text);
            }
            Label::Statement => {
                self.add(session, Part::Statement, text);
            }
            Label::Aside => self.open = (0, Part::Nothing),
        }
    }

    fn finish(&mut self, sink: &mut dyn Sink) {
        while !self.waiting.is_empty() {
            self.tell(sink);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::tests::told;
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        assert_eq!(told(&mut Stderr::new(Style::Bracket), text.as_bytes()), expect, "{text}");
    }

    #[test]
    fn statements_come_with_their_parameters() {
        check(
            "t [7] LOG:  execute <unnamed>: SELECT $1\nt [7] DETAIL:  parameters: $1 = 'a\n\tb'\n",
            &["1 SELECT $1@1 with $1 = 'a\nb'"],
        );
        check(
            "t [7] LOG:  statement: SELECT\n\t  1\n\nt [8] LOG:  connection received: host=x\n",
            &["1 SELECT\n\t  1@1", "2 opened"],
        );
    }

    #[test]
    fn what_belongs_together_finds_together() {
        check(
            "t [7] LOG:  execute a: X\nt [8] LOG:  execute b: Y\nt [7] DETAIL:  parameters: $1 = '1'\n\
             t [8] DETAIL:  parameters: $1 = '2'\n",
            &["1 X@1 with $1 = '1'", "2 Y@2 with $1 = '2'"],
        );
    }

    #[test]
    fn failures_name_their_statement() {
        check(
            "t [7] ERROR:  no\nt [7] HINT:  x\n\ty\nt [7] STATEMENT:  SELECT\n\t1\ngarbage\n",
            &["? 6", "1 failed: SELECT\n\t1"],
        );
    }
}
