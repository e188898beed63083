//! PostgreSQL's jsonlog: one object a line.

use std::borrow::Cow;

use serde::Deserialize;

use super::event::{Reader, Sink, session};
use super::lines::Place;
use super::message::{Message, Severity, interpret};

/// What we need of a record.
#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow, default)]
    session_id: Option<Cow<'a, str>>,
    #[serde(default)]
    pid: Option<u64>,
    #[serde(borrow)]
    error_severity: Cow<'a, str>,
    #[serde(borrow, default)]
    message: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    detail: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    statement: Option<Cow<'a, str>>,
}

/// Whether a line is a record.
pub(super) fn is_record(line: &[u8]) -> bool {
    line.first() == Some(&b'{') && serde_json::from_slice::<Record<'_>>(line).is_ok()
}

/// Reads jsonlog.
pub(super) struct Json;

impl Reader for Json {
    fn line(&mut self, place: Place, line: &[u8], sink: &mut dyn Sink) {
        // Bytes that are no text would cost the whole line.
        let readable;
        let text = match std::str::from_utf8(line) {
            Ok(text) => text,
            Err(_) => {
                readable = String::from_utf8_lossy(line).into_owned();
                &readable
            }
        };
        let record = serde_json::from_str::<Record<'_>>(text).ok();
        let known = record.and_then(|record| Some((Severity::parse(record.error_severity.as_bytes())?, record)));
        let Some((severity, record)) = known else {
            if !line.is_empty() {
                sink.unread(place, line);
            }
            return;
        };
        let name = record.session_id.map(Cow::into_owned).or(record.pid.map(|pid| pid.to_string())).unwrap_or_default();
        let bytes =
            |text: &Option<Cow<'_, str>>| text.as_ref().map(|text| text.as_bytes().to_vec()).unwrap_or_default();
        let (text, detail, statement) = (bytes(&record.message), bytes(&record.detail), bytes(&record.statement));
        let message = Message {
            session: session(name.as_bytes()),
            severity,
            text: &text,
            head: &[],
            detail: &detail,
            statement: &statement,
            place,
        };
        interpret(&message, sink);
    }

    fn finish(&mut self, _: &mut dyn Sink) {}
}

#[cfg(test)]
mod tests {
    use super::super::event::tests::told;
    use super::*;

    #[test]
    fn records_are_messages() {
        let text = r#"{"timestamp":"x","pid":7,"session_id":"a.b","error_severity":"LOG","message":"execute <unnamed>: SELECT \"a\",\n $1","detail":"parameters: $1 = '7'"}
{"pid":7,"session_id":"a.b","error_severity":"ERROR","state_code":"40001","message":"no","statement":"SELECT 1"}
{"pid":7,"error_sev
{"pid":8,"error_severity":"LOG","message":"statement: SELECT 2"}
"#;
        let expect = ["1 SELECT \"a\",\n $1@1 with $1 = '7'", "1 failed: SELECT 1", "? 3", "2 SELECT 2@4"];
        assert_eq!(told(&mut Json, text.as_bytes()), expect);
    }
}
