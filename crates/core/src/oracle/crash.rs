//! The crash oracle: the server survives, and so do the connections.
//!
//! No statement that a client may send should bring the server down, or have it close the connection. A server that died
//! is told by the engine, with the last lines of its log; the next reset starts it again.
//!
//! # Limits
//!
//! * Only private servers are watched: of a server that we did not start we see at most that a connection is lost.
//! * Somebody who asks for it gets it: a case that kills the server (`@kill`), or a connection in so many words (`KILL`,
//!   `pg_terminate_backend`), is not judged by this.

use crate::case::{Case, Event, Item, Line};
use crate::finding::{Explanation, Finding, Fingerprint, Violation, shape};
use crate::oracle::{Mode, Oracle, RunError, RunRequest, Runner, Verdict, scheduled, schedules, together};
use crate::outcome::{ErrorClass, TxStatus};
use crate::schedule::{Policy, Schedule};
use crate::sql::{one_line, tokens};
use crate::trace::{StepId, StepRun, Trace};

/// The oracle's name.
pub const NAME: &str = "crash";

/// Judges by whether everybody is still there.
#[derive(Debug, Clone, Default)]
pub struct Crash {
    /// What to do when a session waits.
    pub policy: Policy,
}

impl Oracle for Crash {
    fn name(&self) -> &'static str {
        NAME
    }

    /// Judges every schedule of the case on every target.
    fn judge(&self, case: &Case, runner: &mut dyn Runner) -> Result<Verdict, RunError> {
        if is_asked_for(case) {
            return Ok(Verdict::Unknown("the case itself ends servers or connections".to_string()));
        }
        let mut verdicts = Vec::new();
        for target in 0..runner.targets().len() {
            for schedule in schedules(case) {
                let mode = Mode::Scheduled(schedule.cloned());
                let trace = runner.run(&RunRequest { case, target, policy: self.policy.clone(), mode })?;
                verdicts.push(verdict(case, schedule, trace));
            }
        }
        Ok(together(verdicts))
    }
}

/// Whether the case ends servers or connections on purpose.
fn is_asked_for(case: &Case) -> bool {
    let kills = |text: &str| {
        let words = ["KILL", "SHUTDOWN", "pg_terminate_backend"];
        tokens(text).iter().any(|token| words.iter().any(|word| token.is_word(word)))
    };
    case.entries.iter().any(|entry| match &entry.line {
        Line::Event(event) => *event == Event::Kill,
        Line::Init(sql, _) | Line::Step(_, Item::Sql(sql), _) => kills(sql.as_str()),
        _ => false,
    })
}

fn verdict(case: &Case, schedule: Option<&Schedule>, trace: Trace) -> Verdict {
    let violation = died(&trace).or_else(|| lost(&trace));
    match violation {
        Some(violation) => Verdict::Violated(vec![Finding::new(NAME, violation, scheduled(case, schedule), trace)]),
        None => Verdict::Holds(format!("the server and {} connections survived", trace.sessions.len())),
    }
}

/// The server is gone.
fn died(trace: &Trace) -> Option<Violation> {
    let death = trace.death.as_ref()?;
    let unanswered = |step: &StepRun| {
        step.outcome.as_ref().is_none_or(|outcome| outcome.error_class() == Some(ErrorClass::ConnectionLost))
    };
    let last = trace.steps.iter().position(unanswered).or_else(|| trace.steps.len().checked_sub(1)).map(StepId);
    let at = last.map(|id| format!(" at {}", named(trace, id))).unwrap_or_default();
    let log = death.log.last().map(|line| format!("; the last line of its log: {}", line.trim())).unwrap_or_default();
    let explanation = Explanation {
        lets: death.log.iter().map(|line| format!("log: {line}")).collect(),
        thens: last.map(|id| format!("steps before {} were answered", named(trace, id))).into_iter().collect(),
        however: Vec::new(),
    };
    Some(Violation {
        sentence: format!("the server died ({}){at}{log}", death.how),
        explanation,
        fingerprint: Fingerprint::new(NAME, &shapes(trace, last)),
    })
}

/// The server is there, but one of its connections is not.
fn lost(trace: &Trace) -> Option<Violation> {
    let is_lost = |step: &StepRun| {
        step.outcome.as_ref().is_some_and(|outcome| {
            outcome.status == TxStatus::Lost || outcome.error_class() == Some(ErrorClass::ConnectionLost)
        })
    };
    let id = StepId(trace.steps.iter().position(is_lost)?);
    let step = trace.step(id);
    let error = step.outcome.as_ref().and_then(|outcome| outcome.error.as_ref());
    let said = error.map(|error| format!(": {}", error.message)).unwrap_or_default();
    let name = trace.name(step.session);
    Some(Violation {
        sentence: format!("{name} lost its connection at {}, and the server is still there{said}", named(trace, id)),
        explanation: Explanation::default(),
        fingerprint: Fingerprint::new("crash-connection", &shapes(trace, Some(id))),
    })
}

/// What a crash is known by: the statement that it happened at.
fn shapes(trace: &Trace, id: Option<StepId>) -> Vec<String> {
    id.map(|id| shape([trace.step(id).sql.as_str()])).into_iter().collect()
}

fn named(trace: &Trace, id: StepId) -> String {
    let step = trace.step(id);
    format!("step {} ({}: {})", id.0 + 1, trace.name(step.session), one_line(&step.sql))
}
