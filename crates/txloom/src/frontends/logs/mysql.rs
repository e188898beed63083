//! The general log of MySQL and MariaDB.
//!
//! ```text
//!   2024-05-01T10:00:00.123456Z⇥    8 Query⇥SELECT 1        MySQL 5.7 and newer
//!   240501 10:00:00⇥     8 Query⇥SELECT 1                   MariaDB, and MySQL before
//!   ⇥⇥     8 Execute⇥SELECT 'a'                             the same second
//!     FROM t                                                more of the statement
//! ```
//!
//! Prepared statements are logged twice: `Prepare` with question marks, which counts for nothing, and `Execute` with the
//! values. What fails is not told: a statement that failed is taken to be done.

use super::event::{Event, Reader, Sent, SessionKey, Sink, session};
use super::lines::Place;
use super::message::find;

/// So much of a statement is kept.
const STATEMENT_MAX: usize = 16 << 20;

/// Every command that is known.
#[rustfmt::skip]
const COMMANDS: &[&[u8]] = &[
    b"Query", b"Execute", b"Prepare", b"Connect", b"Quit", b"Init DB", b"Change user", b"Close stmt", b"Reset stmt",
    b"Reset Connection", b"Reset connection", b"Field List", b"Ping", b"Statistics", b"Long Data", b"Fetch", b"Set option",
    b"Binlog Dump", b"Binlog Dump GTID", b"Register Slave", b"Register Replica", b"Shutdown", b"Sleep", b"Refresh",
    b"Processlist", b"Kill", b"Debug", b"Time", b"Delayed insert", b"Daemon", b"Error", b"Create DB", b"Drop DB",
    b"Connect Out", b"Table Dump", b"Bulk execute", b"Subscribe Group Replication Stream",
];

/// A line that begins an entry.
struct Entry<'a> {
    id: &'a [u8],
    command: &'a [u8],
    /// Where the text begins.
    text: usize,
}

/// Whether a line begins an entry.
pub(super) fn is_entry(line: &[u8]) -> bool {
    entry(line).is_some()
}

fn entry(line: &[u8]) -> Option<Entry<'_>> {
    let start = time_end(line)?;
    let rest = &line[start..];
    let blanks = rest.iter().take_while(|byte| **byte == b' ' || **byte == b'\t').count();
    let digits = rest[blanks..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let after = &rest[blanks + digits..];
    if digits == 0 || after.first() != Some(&b' ') {
        return None;
    }
    let end = after[1..].iter().position(|byte| *byte == b'\t').unwrap_or(after.len() - 1);
    let command = after[1..1 + end].trim_ascii_end();
    COMMANDS.contains(&command).then_some(())?;
    let text = (start + blanks + digits + 1 + end + 1).min(line.len());
    Some(Entry { id: &rest[blanks..blanks + digits], command, text })
}

/// Behind the time, or behind the tabs that stand for the same second.
fn time_end(line: &[u8]) -> Option<usize> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match (line.first()?, digits) {
        (b'\t', _) => (line.get(1) == Some(&b'\t')).then_some(2),
        (_, 4) if line.get(4) == Some(&b'-') && line.get(10) == Some(&b'T') => {
            line.iter().position(|byte| b"\t ".contains(byte))
        }
        (_, 6) if line.get(6) == Some(&b' ') => {
            let is_time = line.get(9) == Some(&b':') && line.get(12) == Some(&b':');
            is_time.then_some(15.min(line.len()))
        }
        _ => None,
    }
}

/// What a server writes when it starts.
fn is_header(line: &[u8]) -> bool {
    let is_table = line.starts_with(b"Time") && find(line, b"Id Command").is_some();
    line.ends_with(b"started with:") || line.starts_with(b"Tcp port:") || is_table
}

/// Reads the general log.
#[derive(Debug, Default)]
pub(super) struct General {
    open: Option<(SessionKey, Place, usize)>,
    line: Vec<u8>,
}

impl General {
    fn tell(&mut self, sink: &mut dyn Sink) {
        let Some((session, place, text)) = self.open.take() else { return };
        sink.event(Event::Sent(Sent {
            session,
            text: &self.line[text..],
            head: &self.line[..text],
            place,
            parameters: &[],
            may_fail: true,
        }));
    }
}

impl Reader for General {
    fn line(&mut self, place: Place, line: &[u8], sink: &mut dyn Sink) {
        let Some(entry) = entry(line) else {
            if is_header(line) {
                self.tell(sink);
            } else if self.open.is_some() {
                if self.line.len() + line.len() < STATEMENT_MAX {
                    self.line.push(b'\n');
                    self.line.extend_from_slice(line);
                }
            } else if !line.is_empty() {
                sink.unread(place, line);
            }
            return;
        };
        self.tell(sink);
        let session = session(entry.id);
        match entry.command {
            b"Query" | b"Execute" => {
                self.open = Some((session, place, entry.text));
                self.line.clear();
                self.line.extend_from_slice(line);
            }
            b"Connect" => sink.event(Event::Opened(session)),
            b"Quit" => sink.event(Event::Closed(session)),
            b"Change user" | b"Reset Connection" | b"Reset connection" => sink.event(Event::Opened(session)),
            _ => {}
        }
    }

    fn finish(&mut self, sink: &mut dyn Sink) {
        self.tell(sink);
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::tests::told;
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        assert_eq!(told(&mut General::default(), text.as_bytes()), expect, "{text}");
    }

    #[test]
    fn new_and_old_forms_are_read() {
        check(
            "/usr/sbin/mysqld, Version: 8.0.36 (x). started with:\nTcp port: 3306  Unix socket: x\n\
             Time                 Id Command    Argument\n\
             2024-05-01T10:00:00.123456Z\t    8 Connect\tu@localhost on d using Socket\n\
             2024-05-01T10:00:00.123457Z\t    8 Query\tSELECT a\n  FROM t\n\
             2024-05-01T10:00:00.123458Z\t    8 Quit\t\n",
            &["1 opened", "1 SELECT a\n  FROM t@5", "1 closed"],
        );
        check(
            "240501 10:00:00\t     8 Query\tSELECT 1\n\t\t     9 Prepare\tSELECT ?\n\t\t     9 Execute\tSELECT 2\n\
             240501  9:00:01\t     9 Close stmt\t\n",
            &["1 SELECT 1@1", "2 SELECT 2@3"],
        );
    }

    #[test]
    fn what_looks_like_an_entry_need_not_be_one() {
        check("\t\t 8 Query\tSELECT\n8 Query\tx\n\t\tquery 8\n", &["1 SELECT\n8 Query\tx\n\t\tquery 8@1"]);
        check("garbage\n", &["? 1"]);
        for line in ["", "\t", "\t\t", "\t\t8", "\t\t8 ", "240501", "240501 10:00:00", "2024-05-01T"] {
            assert!(!is_entry(line.as_bytes()), "{line}");
        }
    }
}
