//! Tests of engines as transcripts: what is submitted and what is expected to come of it, in one text.
//!
//! ```text
//!   a BEGIN -> ok
//!   a UPDATE t SET v = 11 WHERE id = 1 -> 1 changed
//!   b UPDATE t SET v = 12 WHERE id = 1 -> waits for a
//!   a COMMIT -> ok; b: 1 changed
//!   * t -> (1, 12)
//! ```
//!
//! Each line is a step of a session (a letter); after the arrow stands what happens until the engine is quiet again:
//! the step's own outcome, then those of the sessions that it resumed. `a @LEVEL` opens a session at a level of its
//! own, `a !cancel` cancels, `a !close` closes, `* TABLE` shows committed rows, `? QUERY` probes, `! EVENT` is an event.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use txloom_core::case::{Event, SessionName};
use txloom_core::engine::{Cancel, Engine, Holder, KnownWaits, SessionId, SessionSpec};
use txloom_core::level::LevelName;
use txloom_core::outcome::{ErrorClass, Outcome, StatementResult, TxStatus};
use txloom_core::value::Value;

/// No statement of a test takes that long.
const TIME_LIMIT: Duration = Duration::from_secs(120);
/// Between two looks at who waits.
const LOOK_AGAIN: Duration = Duration::from_micros(100);

/// Resets the engine, plays the transcript, and compares what happened with what it says.
#[track_caller]
pub(crate) fn check(engine: &mut dyn Engine, level: &str, setup: &[&str], transcript: &str) {
    let lines: Vec<&str> = transcript.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let steps: Vec<&str> = lines.iter().map(|line| line.split_once(" -> ").expect("an arrow on each line").0).collect();
    let played = play(engine, level, setup, &steps);
    let shown: Vec<String> = steps.iter().zip(&played).map(|(step, result)| format!("{step} -> {result}")).collect();
    assert_eq!(lines.join("\n"), shown.join("\n"), "expected, and what happened:\n{}\n", shown.join("\n"));
}

/// Resets the engine, executes the steps in order and says what came of each.
pub(crate) fn play(engine: &mut dyn Engine, level: &str, setup: &[&str], steps: &[&str]) -> Vec<String> {
    let setup: Vec<String> = setup.iter().map(ToString::to_string).collect();
    for outcome in engine.reset(&setup).expect("reset") {
        assert_eq!(outcome.error, None, "setup");
    }
    let mut stage = Stage::new(engine, level);
    steps.iter().map(|step| stage.play(step)).collect()
}

/// An engine with its sessions, each on a thread of its own.
pub(crate) struct Stage<'a> {
    engine: &'a mut dyn Engine,
    level: LevelName,
    actors: BTreeMap<SessionId, Actor>,
    completed: Receiver<(SessionId, Outcome)>,
    report: Sender<(SessionId, Outcome)>,
    in_flight: Vec<SessionId>,
}

struct Actor {
    submit: Sender<String>,
    canceller: Box<dyn Cancel>,
    thread: JoinHandle<()>,
}

impl<'a> Stage<'a> {
    pub(crate) fn new(engine: &'a mut dyn Engine, level: &str) -> Stage<'a> {
        let (report, completed) = channel();
        let level = LevelName::parse(level).expect("a level");
        Stage { engine, level, actors: BTreeMap::new(), completed, report, in_flight: Vec::new() }
    }

    /// One line of a transcript.
    fn play(&mut self, step: &str) -> String {
        let (who, what) = step.split_once(' ').expect("who and what");
        match who {
            "*" => {
                let state = self.engine.snapshot().expect("snapshot");
                let mut rows = self.engine.info().dialect.values(&state.tables[what]);
                rows.sort();
                return tuples(&rows);
            }
            "!" => {
                let event = Event::parse(what).expect("an event");
                return self.engine.event(&event).map_or_else(|error| error.to_string(), |()| "ok".to_string());
            }
            "?" => {
                let outcome = self.engine.probe(what).expect("probe");
                return self.show(&outcome);
            }
            _ => {}
        }
        let id = SessionId(usize::from(who.as_bytes()[0] - b'a'));
        let completed = match what {
            "!cancel" => {
                self.actors[&id].canceller.cancel().expect("cancel");
                self.settle()
            }
            "!close" => {
                self.close(id);
                self.settle()
            }
            _ => match what.strip_prefix('@') {
                Some(level) => {
                    self.open(id, LevelName::parse(level).expect("a level"));
                    Vec::new()
                }
                None => self.submit(id, what),
            },
        };
        self.tell(id, &completed)
    }

    /// Submits a statement and returns what has completed when the engine is quiet again, in session order.
    pub(crate) fn submit(&mut self, id: SessionId, sql: &str) -> Vec<(SessionId, Outcome)> {
        if !self.actors.contains_key(&id) {
            self.open(id, self.level.clone());
        }
        assert!(!self.in_flight.contains(&id), "the session still waits: {sql}");
        self.in_flight.push(id);
        self.actors[&id].submit.send(sql.to_string()).expect("the thread lives");
        self.settle()
    }

    /// Whether the session has a statement in flight.
    pub(crate) fn waits(&self, id: SessionId) -> bool {
        self.in_flight.contains(&id)
    }

    fn open(&mut self, id: SessionId, level: LevelName) {
        let name = SessionName::new(&letter(id)).expect("a letter");
        let mut session = self.engine.open(&SessionSpec { id, name, node: None, level: Some(level) }).expect("open");
        let (submit, submitted) = channel::<String>();
        let (canceller, report) = (session.canceller(), self.report.clone());
        let thread = std::thread::spawn(move || {
            for sql in submitted {
                let outcome = session.execute(&sql).expect("execute");
                if report.send((id, outcome)).is_err() {
                    break;
                }
            }
        });
        self.actors.insert(id, Actor { submit, canceller, thread });
    }

    fn close(&mut self, id: SessionId) {
        let actor = self.actors.remove(&id).expect("the session is open");
        drop(actor.submit);
        actor.thread.join().expect("the session ends");
    }

    /// Collects completions until every session in flight waits.
    fn settle(&mut self) -> Vec<(SessionId, Outcome)> {
        let start = Instant::now();
        let mut all = Vec::new();
        while !self.quiet() {
            match self.completed.recv_timeout(LOOK_AGAIN) {
                Ok((id, outcome)) => {
                    self.in_flight.retain(|other| *other != id);
                    all.push((id, outcome));
                }
                Err(RecvTimeoutError::Timeout) => {
                    assert!(start.elapsed() < TIME_LIMIT, "timed out: no quiet; in flight: {:?}", self.in_flight);
                }
                Err(RecvTimeoutError::Disconnected) => unreachable!("the stage holds a sender"),
            }
        }
        all.sort_by_key(|(id, _)| *id);
        all
    }

    fn quiet(&mut self) -> bool {
        self.in_flight.is_empty() || self.edges().len() == self.in_flight.len()
    }

    fn edges(&mut self) -> BTreeMap<SessionId, Vec<Holder>> {
        match self.engine.waits(&self.in_flight).expect("waits").known {
            KnownWaits::Edges(edges) => edges,
            KnownWaits::Count(_) => unreachable!("embedded engines know who waits for whom"),
        }
    }

    fn tell(&mut self, id: SessionId, completed: &[(SessionId, Outcome)]) -> String {
        let mut parts = Vec::new();
        match completed.iter().find(|(other, _)| *other == id) {
            Some((_, outcome)) => parts.push(self.show(outcome)),
            None if self.waits(id) => {
                let holders: Vec<String> = self.edges()[&id].iter().map(holder).collect();
                parts.push(format!("waits for {}", holders.join(", ")));
            }
            None => parts.push("ok".to_string()),
        }
        let others = completed.iter().filter(|(other, _)| *other != id);
        parts.extend(others.map(|(other, outcome)| format!("{}: {}", letter(*other), self.show(outcome))));
        parts.join("; ")
    }

    fn show(&self, outcome: &Outcome) -> String {
        if let Some(error) = &outcome.error {
            let status = if outcome.status == TxStatus::Open { "open" } else { "idle" };
            return format!("error {}, {status}", error.class);
        }
        let results: Vec<String> = outcome.results.iter().map(|result| self.result(result)).collect();
        if results.is_empty() { "ok".to_string() } else { results.join(" / ") }
    }

    fn result(&self, result: &StatementResult) -> String {
        match result.affected {
            _ if !result.columns.is_empty() => self.rows(result),
            Some(count) => format!("{count} changed"),
            None => "ok".to_string(),
        }
    }

    fn rows(&self, result: &StatementResult) -> String {
        tuples(&self.engine.info().dialect.values(result))
    }
}

fn tuples(rows: &[Vec<Value>]) -> String {
    let tuple = |row: &Vec<Value>| format!("({})", row.iter().map(Value::to_string).collect::<Vec<_>>().join(", "));
    let tuples: Vec<String> = rows.iter().map(tuple).collect();
    if tuples.is_empty() { "(empty)".to_string() } else { tuples.join(" ") }
}

impl Drop for Stage<'_> {
    /// Waiting statements are cancelled, so that every thread ends.
    fn drop(&mut self) {
        for id in std::mem::take(&mut self.in_flight) {
            let _ = self.actors[&id].canceller.cancel();
        }
        for (_, actor) in std::mem::take(&mut self.actors) {
            drop(actor.submit);
            let _ = actor.thread.join();
        }
    }
}

fn letter(id: SessionId) -> String {
    char::from(b'a' + u8::try_from(id.0).expect("few sessions")).to_string()
}

fn holder(holder: &Holder) -> String {
    match holder {
        Holder::Session(id) => letter(*id),
        Holder::Outside(name) => name.clone(),
    }
}

/// Cancels a query and a change that would run for ever, and sees the session alive afterwards.
pub(crate) fn cancels_running_statements(engine: &mut dyn Engine, level: &str) {
    cancels_running_statements_of(engine, level, "CREATE TABLE t (x)");
}

/// The same with a table `t` of one's own, whose column is `x`.
pub(crate) fn cancels_running_statements_of(engine: &mut dyn Engine, level: &str, table: &str) {
    engine.reset(&[table.to_string()]).expect("reset");
    let numbers = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT";
    let query = cancel_one(engine, level, &format!("{numbers} count(*) FROM n"));
    assert_eq!(query.status, TxStatus::Open, "a query that is cancelled leaves its transaction alone");
    // SQLite rolls the transaction of a cancelled change back; unless it was cancelled before it began.
    cancel_one(engine, level, &format!("INSERT INTO t {numbers} 1 FROM n WHERE x % 1000 = 0"));
    assert!(engine.snapshot().expect("snapshot").tables["t"].rows.is_empty());
}

fn cancel_one(engine: &mut dyn Engine, level: &str, endless: &str) -> Outcome {
    let name = SessionName::new("a").expect("a letter");
    let spec = SessionSpec { id: SessionId(0), name, node: None, level: LevelName::parse(level) };
    let mut session = engine.open(&spec).expect("open");
    let canceller = session.canceller();
    let (report, completed) = channel();
    let statements = ["BEGIN".to_string(), endless.to_string(), "SELECT 1".to_string()];
    let thread = std::thread::spawn(move || {
        for sql in statements {
            report.send(session.execute(&sql).expect("execute")).expect("the test listens");
        }
    });
    let answer = || completed.recv_timeout(TIME_LIMIT).expect("an answer in time");
    assert_eq!(answer().error, None);
    // A cancellation that comes before the statement is no cancellation; so it is repeated until the statement ends.
    let outcome = loop {
        canceller.cancel().expect("cancel");
        let waits = engine.waits(&[SessionId(0)]).expect("the engine answers while a statement runs");
        assert_eq!(waits.known, KnownWaits::Edges(BTreeMap::new()));
        if let Ok(outcome) = completed.recv_timeout(LOOK_AGAIN) {
            break outcome;
        }
    };
    assert_eq!(outcome.error_class(), Some(ErrorClass::Cancelled));
    assert_eq!(answer().error, None);
    thread.join().expect("the session ends");
    outcome
}
