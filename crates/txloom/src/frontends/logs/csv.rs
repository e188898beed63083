//! PostgreSQL's csvlog: one record a message, fields in quotes that may hold line breaks.
//!
//! The columns have been the same since version 9; newer versions add some at the end.

use super::event::{Reader, Sink, session};
use super::lines::Place;
use super::message::{Message, Severity, interpret};

/// Positions of columns.
const PROCESS: usize = 3;
const SESSION: usize = 5;
const SEVERITY: usize = 11;
const MESSAGE: usize = 13;
const DETAIL: usize = 14;
const QUERY: usize = 19;
/// A record has at least so many columns.
const COLUMNS_MIN: usize = 22;
/// A record that is longer has lost its end.
const RECORD_MAX: usize = 16 << 20;

/// Reads csvlog.
#[derive(Debug, Default)]
pub(super) struct Csv {
    record: Vec<u8>,
    place: Place,
    /// Whether a quote is open at the end of the record.
    inside: bool,
    fields: Fields,
}

/// The fields of a record, one after the other.
#[derive(Debug, Default)]
struct Fields {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Fields {
    fn read(&mut self, record: &[u8]) {
        self.bytes.clear();
        self.ends.clear();
        let (mut inside, mut at) = (false, 0);
        while let Some(byte) = record.get(at) {
            match byte {
                b'"' if inside && record.get(at + 1) == Some(&b'"') => {
                    self.bytes.push(b'"');
                    at += 1;
                }
                b'"' => inside = !inside,
                b',' if !inside => self.ends.push(self.bytes.len()),
                byte => self.bytes.push(*byte),
            }
            at += 1;
        }
        self.ends.push(self.bytes.len());
    }

    fn get(&self, at: usize) -> &[u8] {
        let Some(end) = self.ends.get(at) else { return &[] };
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..*end]
    }

    fn severity(&self) -> Option<Severity> {
        Severity::parse(self.get(SEVERITY)).filter(|_| self.ends.len() >= COLUMNS_MIN)
    }
}

/// Whether a line begins with a time, as every record does.
fn begins_record(line: &[u8]) -> bool {
    let digit = |at: usize| line.get(at).is_some_and(u8::is_ascii_digit);
    digit(0) && digit(1) && digit(2) && digit(3) && line.get(4) == Some(&b'-') && line.get(10) == Some(&b' ')
}

/// Whether a line is a record, or the beginning of one.
pub(super) fn is_record(line: &[u8]) -> bool {
    let mut fields = Fields::default();
    fields.read(line);
    begins_record(line) && Severity::parse(fields.get(SEVERITY)).is_some()
}

impl Csv {
    fn tell(&mut self, sink: &mut dyn Sink) {
        if self.record.is_empty() {
            return;
        }
        self.fields.read(&self.record);
        let fields = &self.fields;
        match fields.severity() {
            Some(severity) => {
                let name = if fields.get(SESSION).is_empty() { fields.get(PROCESS) } else { fields.get(SESSION) };
                let message = Message {
                    session: session(name),
                    severity,
                    text: fields.get(MESSAGE),
                    head: &[],
                    detail: fields.get(DETAIL),
                    statement: fields.get(QUERY),
                    place: self.place,
                };
                interpret(&message, sink);
            }
            None => sink.unread(self.place, &self.record),
        }
        self.record.clear();
        self.inside = false;
    }
}

impl Reader for Csv {
    fn line(&mut self, place: Place, line: &[u8], sink: &mut dyn Sink) {
        let is_new = begins_record(line) && is_record(line);
        // A record that lost its end must not swallow all that follow.
        if !self.inside || is_new || self.record.len() + line.len() > RECORD_MAX {
            self.tell(sink);
            self.place = place;
        } else {
            self.record.push(b'\n');
        }
        self.record.extend_from_slice(line);
        let quotes = line.iter().filter(|byte| **byte == b'"').count();
        self.inside ^= quotes % 2 == 1;
        if !self.inside {
            self.tell(sink);
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

    fn record(severity: &str, message: &str, detail: &str, query: &str) -> String {
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        format!(
            "2024-05-01 10:00:00.123 UTC,\"u\",\"d\",77,\"[local]\",663.4d,1,\"SELECT\",2024-05-01 10:00:00 UTC,3/1,0,\
             {severity},00000,{},{},,,,,{},,,\"app\",\"client backend\",,0\n",
            quoted(message),
            quoted(detail),
            quoted(query)
        )
    }

    #[test]
    fn records_are_messages() {
        let text = [
            record("LOG", "execute <unnamed>: SELECT \"a\",\n $1", "parameters: $1 = '7'", ""),
            record("ERROR", "no", "", "SELECT \"a\""),
        ];
        let expect = ["1 SELECT \"a\",\n $1@1 with $1 = '7'", "1 failed: SELECT \"a\""];
        assert_eq!(told(&mut Csv::default(), text.concat().as_bytes()), expect);
        assert!(is_record(text[0].lines().next().unwrap().as_bytes()));
    }

    #[test]
    fn a_lost_end_costs_one_record() {
        let whole = record("LOG", "statement: SELECT 1", "", "");
        let text = format!("garbage\n{}\n{whole}{}", &whole[..whole.len() - 60], "2024,\"");
        assert_eq!(told(&mut Csv::default(), text.as_bytes()), ["? 1", "? 2", "1 SELECT 1@3", "? 4"]);
    }
}
