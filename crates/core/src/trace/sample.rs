//! Traces for tests, in a language that fits on a line.
//!
//! ```text
//!   a BEGIN > open; b UPDATE t > waits open; a COMMIT > tag COMMIT idle; b > completes
//! ```
//!
//! Each part is a session, what it sends (a `,` stands for a `;`), and what comes back: `error CLASS`, `tag TAG`,
//! `notice CODE`, `rows (1,2)(3,4)` (or `rows ()`), `affected N`, `waits`, `died`, and the status. A step that waits
//! completes at its session's `> completes`.

use crate::case::SessionName;
use crate::dialect::Postgres;
use crate::engine::{Capabilities, EngineInfo, SessionId, Version};
use crate::level::LevelName;
use crate::outcome::{Column, DbError, ErrorClass, Notice, Outcome, StatementResult, TxStatus};
use crate::trace::{SessionRun, StepId, StepRun, Trace, TraceEvent};

/// An engine that exists only in tests.
pub(crate) fn engine() -> EngineInfo {
    let level = LevelName::custom("read committed");
    EngineInfo {
        target: "toy".to_string(),
        family: "toy",
        version: Version::parse("1.0"),
        settings: Vec::new(),
        dialect: &Postgres,
        levels: vec![level.clone()],
        default_level: level,
        capabilities: Capabilities::default(),
        client: None,
    }
}

/// A trace in which nothing has happened yet.
pub(crate) fn empty() -> Trace {
    Trace {
        engine: engine(),
        sessions: Vec::new(),
        setup: Vec::new(),
        steps: Vec::new(),
        events: Vec::new(),
        checks: Vec::new(),
        final_state: None,
        death: None,
        alarms: Vec::new(),
        calls: Vec::new(),
    }
}

/// Reads a trace.
pub(crate) fn sample(text: &str) -> Trace {
    let mut trace = empty();
    for part in text.split(';').map(str::trim) {
        let (sent, answer) = part.split_once('>').expect("`SESSION SQL > ANSWER`");
        let (session, sql) = sent.trim().split_once(' ').unwrap_or((sent.trim(), ""));
        let session = session_id(&mut trace, session);
        if answer.trim() == "completes" {
            let waiting = trace.steps.iter().rposition(|step| step.session == session).expect("a step that waits");
            trace.events.extend([TraceEvent::Resumed(StepId(waiting)), TraceEvent::Completed(StepId(waiting))]);
        } else {
            submit(&mut trace, session, &sql.replace(',', ";"), answer);
        }
    }
    trace
}

fn session_id(trace: &mut Trace, name: &str) -> SessionId {
    let found = trace.sessions.iter().position(|session| session.name.as_str() == name);
    SessionId(found.unwrap_or_else(|| {
        let name = SessionName::new(name).expect("a session name");
        let level = trace.engine.default_level.clone();
        trace.sessions.push(SessionRun { name, level, left_open: false });
        trace.sessions.len() - 1
    }))
}

fn submit(trace: &mut Trace, session: SessionId, sql: &str, answer: &str) {
    let id = StepId(trace.steps.len());
    let index = trace.steps.iter().filter(|step| step.session == session).count();
    let (outcome, waited) = outcome(answer);
    trace.events.push(TraceEvent::Submitted(id));
    if waited {
        trace.events.push(TraceEvent::Waiting { step: id, holders: Vec::new(), source: "sample" });
    } else if outcome.is_some() {
        trace.events.push(TraceEvent::Completed(id));
    }
    let sql = sql.to_string();
    trace.steps.push(StepRun { session, index, item: index, sql, outcome, waited, cancelled: None });
}

/// Rows of numbers, in columns `c1`, `c2`, …: `(1,2)(3,4)`; `()` is none. `N` is NULL.
pub(crate) fn table(text: &str) -> StatementResult {
    let cell = |cell: &str| (cell != "N").then(|| cell.as_bytes().to_vec());
    let tuples = text.split(')').map(|tuple| tuple.trim_start_matches('(')).filter(|tuple| !tuple.is_empty());
    let rows: Vec<Vec<Option<Vec<u8>>>> = tuples.map(|tuple| tuple.split(',').map(cell).collect()).collect();
    let column = |at: usize| Column { name: format!("c{}", at + 1), type_name: "int4".to_string() };
    let columns = (0..rows.first().map_or(1, Vec::len)).map(column).collect();
    StatementResult { columns, rows, ..StatementResult::default() }
}

/// The outcome, if there is one, and whether the step waits.
fn outcome(answer: &str) -> (Option<Outcome>, bool) {
    let mut outcome = Outcome::empty(TxStatus::Idle);
    let mut waited = false;
    let mut words = answer.split_whitespace();
    while let Some(word) = words.next() {
        let mut argument = || words.next().expect("an argument").to_string();
        match word {
            "open" => outcome.status = TxStatus::Open,
            "failed" => outcome.status = TxStatus::Failed,
            "idle" => outcome.status = TxStatus::Idle,
            "lost" => outcome.status = TxStatus::Lost,
            "waits" => waited = true,
            "died" => return (None, waited),
            "tag" => outcome.results.push(StatementResult { tag: Some(argument()), ..StatementResult::default() }),
            "rows" => outcome.results.push(table(&argument())),
            "affected" => {
                let affected = Some(argument().parse().expect("a number"));
                outcome.results.push(StatementResult { affected, ..StatementResult::default() });
            }
            "notice" => {
                let (severity, message) = ("WARNING".to_string(), String::new());
                outcome.notices.push(Notice { severity, code: argument(), message });
            }
            "error" => {
                let class = ErrorClass::parse(&argument()).expect("an error class");
                let (code, message) = (String::new(), class.name().to_string());
                outcome.error = Some(DbError { class, code, native: None, message, detail: None });
            }
            other => panic!("unknown word {other}"),
        }
    }
    (Some(outcome), waited)
}
