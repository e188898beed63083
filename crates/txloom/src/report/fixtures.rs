//! Traces for tests, written by hand: no engine is needed to see how a report looks.
//!
//! ```ignore
//! Play::new("a b").done("a", "BEGIN", ok()).waits("b", "UPDATE …", "a").done("a", "COMMIT", ok()).goes_on("b", changed(1))
//! ```

use std::collections::BTreeMap;

use txloom_core::case::{Event, SessionName};
use txloom_core::dialect;
use txloom_core::engine::{Capabilities, Death, EngineInfo, Holder, SessionId, State, Version};
use txloom_core::level::LevelName;
use txloom_core::outcome::{Column, DbError, ErrorClass, Notice, Outcome, StatementResult, TxStatus};
use txloom_core::sql::StatementKind;
use txloom_core::trace::{CancelReason, Check, SessionRun, StepId, StepRun, Trace, TraceEvent};

/// Where waits are known from.
const SOURCE: &str = "test";

/// A trace in the making.
pub(crate) struct Play {
    trace: Trace,
}

/// An engine that answers like PostgreSQL, whatever it is called.
pub(crate) fn engine(target: &str, version: &str) -> EngineInfo {
    let families = ["mariadb", "mysql", "model", "sqlite"];
    let family = families.into_iter().find(|name| target.starts_with(name)).unwrap_or("postgres");
    let levels = ["read committed", "repeatable read", "serializable"];
    EngineInfo {
        target: target.to_string(),
        family,
        version: Version::parse(version),
        settings: Vec::new(),
        dialect: &dialect::Postgres,
        levels: levels.iter().map(|level| LevelName::custom(level)).collect(),
        default_level: LevelName::custom(levels[0]),
        capabilities: Capabilities::default(),
        client: None,
    }
}

impl Play {
    /// Sessions by name, all at READ COMMITTED on PostgreSQL 15.18.
    pub(crate) fn new(sessions: &str) -> Play {
        let session = |name: &str| SessionRun {
            name: SessionName::new(name).unwrap(),
            level: LevelName::custom("read committed"),
            left_open: false,
        };
        Play {
            trace: Trace {
                engine: engine("postgres", "15.18 (Debian 15.18-0+deb12u1)"),
                sessions: sessions.split(' ').map(session).collect(),
                setup: Vec::new(),
                steps: Vec::new(),
                events: Vec::new(),
                checks: Vec::new(),
                final_state: Some(State::default()),
                calls: Vec::new(),
                death: None,
                alarms: Vec::new(),
            },
        }
    }

    /// Runs on another target.
    pub(crate) fn on(mut self, target: &str, version: &str) -> Play {
        self.trace.engine = engine(target, version);
        self
    }

    /// One session runs at another level.
    pub(crate) fn level(mut self, session: &str, level: &str) -> Play {
        let id = self.session(session);
        self.trace.sessions[id.0].level = LevelName::custom(level);
        self
    }

    /// A step that completes at once. A status that is not said follows from the text.
    pub(crate) fn done(mut self, session: &str, sql: &str, outcome: Outcome) -> Play {
        let id = self.submit(session, sql);
        self.complete(id, outcome)
    }

    /// A step that starts to wait for somebody (several: `a c`; nobody known: an empty text).
    pub(crate) fn waits(mut self, session: &str, sql: &str, holders: &str) -> Play {
        let step = self.submit(session, sql);
        self.trace.steps[step.0].waited = true;
        self.wait_event(step, holders)
    }

    /// The waiting step of a session now waits for others.
    pub(crate) fn now_waits(self, session: &str, holders: &str) -> Play {
        let step = self.last_of(session);
        self.wait_event(step, holders)
    }

    /// The waiting step of a session goes on.
    pub(crate) fn goes_on(mut self, session: &str, outcome: Outcome) -> Play {
        let step = self.last_of(session);
        self.trace.events.push(TraceEvent::Resumed(step));
        self.complete(step, outcome)
    }

    /// The waiting step of a session is cancelled by us.
    pub(crate) fn cancelled(mut self, session: &str, reason: CancelReason, outcome: Outcome) -> Play {
        let step = self.last_of(session);
        self.trace.steps[step.0].cancelled = Some(reason);
        self.trace.events.extend([TraceEvent::Cancelled(step, reason), TraceEvent::Resumed(step)]);
        self.complete(step, outcome)
    }

    /// A step that is never answered, since the server dies.
    pub(crate) fn dies(mut self, session: &str, sql: &str, how: &str, log: &[&str]) -> Play {
        let step = self.submit(session, sql);
        self.trace.events.push(TraceEvent::Completed(step));
        self.trace.death = Some(Death { how: how.to_string(), log: log.iter().map(ToString::to_string).collect() });
        self.trace.final_state = None;
        self
    }

    /// A positioned event.
    pub(crate) fn event(mut self, event: Event) -> Play {
        self.trace.events.push(TraceEvent::Happened(event));
        self
    }

    /// The step that was submitted last belongs to this item of its session.
    pub(crate) fn of_item(mut self, item: usize) -> Play {
        self.trace.steps.last_mut().unwrap().item = item;
        self
    }

    /// A session ends inside a transaction.
    pub(crate) fn left_open(mut self, session: &str) -> Play {
        let id = self.session(session);
        self.trace.sessions[id.0].left_open = true;
        self
    }

    /// The final contents of a table.
    pub(crate) fn ends_with(mut self, table: &str, contents: StatementResult) -> Play {
        let state = self.trace.final_state.get_or_insert_default();
        state.tables.insert(table.to_string(), contents);
        self
    }

    /// An assertion that was evaluated.
    pub(crate) fn check(mut self, check: Check) -> Play {
        self.trace.checks.push(check);
        self
    }

    /// The trace.
    pub(crate) fn end(self) -> Trace {
        self.trace
    }

    fn session(&self, name: &str) -> SessionId {
        SessionId(self.trace.sessions.iter().position(|session| session.name.as_str() == name).unwrap())
    }

    fn last_of(&self, session: &str) -> StepId {
        let id = self.session(session);
        StepId(self.trace.steps.iter().rposition(|step| step.session == id).unwrap())
    }

    fn submit(&mut self, session: &str, sql: &str) -> StepId {
        let session = self.session(session);
        let index = self.trace.steps.iter().filter(|step| step.session == session).count();
        let step = StepRun {
            session,
            index,
            item: index,
            sql: sql.to_string(),
            outcome: None,
            waited: false,
            cancelled: None,
        };
        self.trace.steps.push(step);
        let id = StepId(self.trace.steps.len() - 1);
        self.trace.events.push(TraceEvent::Submitted(id));
        id
    }

    fn wait_event(mut self, step: StepId, holders: &str) -> Play {
        let holder = |name: &str| Holder::Session(self.session(name));
        let holders = holders.split_whitespace().map(holder).collect();
        self.trace.events.push(TraceEvent::Waiting { step, holders, source: SOURCE });
        self
    }

    /// Begin opens a transaction, commit and rollback end it, an error makes it fail, everything else leaves it.
    fn complete(mut self, id: StepId, mut outcome: Outcome) -> Play {
        let session = self.trace.steps[id.0].session;
        let completed = |step: &StepRun| step.session == session && step.outcome.is_some();
        let before = self.trace.steps.iter().rfind(|step| completed(step));
        let before = before.and_then(|step| step.outcome.as_ref()).map_or(TxStatus::Idle, |last| last.status);
        outcome.status = match StatementKind::of(&self.trace.steps[id.0].sql) {
            _ if outcome.status == TxStatus::Lost => TxStatus::Idle,
            StatementKind::Begin => TxStatus::Open,
            StatementKind::Commit | StatementKind::Rollback => TxStatus::Idle,
            _ if outcome.error.is_some() && before == TxStatus::Open => TxStatus::Failed,
            _ => before,
        };
        self.trace.steps[id.0].outcome = Some(outcome);
        self.trace.events.push(TraceEvent::Completed(id));
        self
    }
}

/// An answer without contents.
pub(crate) fn ok() -> Outcome {
    Outcome::empty(TxStatus::Idle)
}

/// Some rows were changed.
pub(crate) fn changed(count: u64) -> Outcome {
    let result = StatementResult { affected: Some(count), ..StatementResult::default() };
    Outcome { results: vec![result], ..ok() }
}

/// A result: columns as `name:type`, cells as text, `NULL` as it reads.
pub(crate) fn table(columns: &str, rows: &[&[&str]]) -> StatementResult {
    let column = |column: &str| {
        let (name, type_name) = column.split_once(':').unwrap_or((column, "int4"));
        Column { name: name.to_string(), type_name: type_name.to_string() }
    };
    let cell = |cell: &&str| (*cell != "NULL").then(|| cell.as_bytes().to_vec());
    StatementResult {
        columns: columns.split(' ').map(column).collect(),
        rows: rows.iter().map(|row| row.iter().map(cell).collect()).collect(),
        ..StatementResult::default()
    }
}

/// Rows were returned.
pub(crate) fn rows(columns: &str, rows: &[&[&str]]) -> Outcome {
    Outcome { results: vec![table(columns, rows)], ..ok() }
}

/// The server answers with a tag that is worth a word.
pub(crate) fn tagged(tag: &str) -> Outcome {
    let result = StatementResult { tag: Some(tag.to_string()), ..StatementResult::default() };
    Outcome { results: vec![result], ..ok() }
}

/// An error; the transaction that is open fails.
pub(crate) fn error(class: ErrorClass, code: &str, message: &str) -> Outcome {
    let error = DbError { class, code: code.to_string(), native: None, message: message.to_string(), detail: None };
    Outcome::failed(error, TxStatus::Idle)
}

/// The outcome with a detail of its error.
pub(crate) fn detailed(mut outcome: Outcome, detail: &str) -> Outcome {
    outcome.error.as_mut().unwrap().detail = Some(detail.to_string());
    outcome
}

/// The outcome with a warning.
pub(crate) fn warned(mut outcome: Outcome, message: &str) -> Outcome {
    let code = "01000".to_string();
    outcome.notices.push(Notice { severity: "WARNING".to_string(), code, message: message.to_string() });
    outcome
}

/// The outcome of a step that ends the open transaction, whatever its text says.
pub(crate) fn ending(outcome: Outcome) -> Outcome {
    Outcome { status: TxStatus::Lost, ..outcome }
}

/// The final state of no tables at all.
pub(crate) fn no_tables() -> State {
    State { tables: BTreeMap::new() }
}
