//! The crash oracle: the server survives without complaint, and so do the connections.
//!
//! No statement that a client may send should bring the server down, have it close the connection, or make it complain
//! of itself: of an assertion that failed, or of what a sanitizer found. A server that died is told by the engine, with
//! the last lines of its log; the next reset starts it again. Complaints are read from the log, too, since not all of
//! them are deadly.
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

    fn is_thorough(&self) -> bool {
        false
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
    let asked = case.events().any(|event| *event == Event::Kill);
    asked
        || case.entries.iter().any(|entry| match &entry.line {
            Line::Init(sql, _) | Line::Step(_, Item::Sql(sql), _) => kills(sql.as_str()),
            _ => false,
        })
}

fn verdict(case: &Case, schedule: Option<&Schedule>, trace: Trace) -> Verdict {
    match violation(&trace) {
        Some(violation) => Verdict::Violated(vec![Finding::new(NAME, violation, scheduled(case, schedule), trace)]),
        None => Verdict::Holds("the server and its connections survived".to_string()),
    }
}

/// What is wrong with a run in which the server died, complained, or a connection was lost.
pub(super) fn violation(trace: &Trace) -> Option<Violation> {
    died(trace).or_else(|| complained(trace)).or_else(|| lost(trace))
}

/// The server is gone.
fn died(trace: &Trace) -> Option<Violation> {
    let death = trace.death.as_ref()?;
    let unanswered = |step: &StepRun| {
        step.outcome.as_ref().is_none_or(|outcome| outcome.error_class() == Some(ErrorClass::ConnectionLost))
    };
    let last = trace.steps.iter().position(unanswered).or_else(|| trace.steps.len().checked_sub(1)).map(StepId);
    let at = last.map(|id| format!(" at {}", named(trace, id))).unwrap_or_default();
    // A complaint says more than the last line does, which is often one of a back trace.
    let log = match (trace.alarms.first(), death.log.last()) {
        (Some(alarm), _) => format!("; it complained in its log: {}", headline(alarm)),
        (None, Some(line)) => format!("; the last line of its log: {}", line.trim()),
        (None, None) => String::new(),
    };
    let explanation = Explanation {
        lets: complaints(trace).chain(death.log.iter().map(|line| format!("log: {line}"))).collect(),
        thens: last.map(|id| format!("steps before {} were answered", named(trace, id))).into_iter().collect(),
        however: Vec::new(),
    };
    Some(Violation {
        sentence: format!("the server died ({}){at}{log}", death.how),
        explanation,
        fingerprint: Fingerprint::new(NAME, &shapes(trace, last)),
    })
}

/// The server is there, and not well.
fn complained(trace: &Trace) -> Option<Violation> {
    let first = headline(trace.alarms.first()?);
    let more = match trace.alarms.len() {
        1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    Some(Violation {
        sentence: format!("the server complained in its log: {first}{more}"),
        explanation: Explanation { lets: complaints(trace).collect(), ..Explanation::default() },
        fingerprint: Fingerprint::new("crash-alarm", &[without_numbers(first)]),
    })
}

/// The lines of all complaints.
fn complaints(trace: &Trace) -> impl Iterator<Item = String> {
    trace.alarms.iter().flat_map(|alarm| alarm.lines()).map(|line| format!("complaint: {line}"))
}

/// The first line of a complaint: what it is about.
fn headline(alarm: &str) -> &str {
    alarm.lines().next().unwrap_or(alarm).trim()
}

/// The text without what differs from run to run: times, processes, addresses.
fn without_numbers(text: &str) -> String {
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    let forget = |word: &str| match word.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("?{}", word.trim_start_matches(|c: char| c.is_ascii_alphanumeric())),
        false => word.to_string(),
    };
    words.map(forget).collect()
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
    format!("step {} ({})", trace.step_name(id), one_line(&trace.step(id).sql))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Death;
    use crate::oracle::toy::{Played, case};
    use crate::trace::sample::sample;

    fn judge(trace: Trace) -> Verdict {
        Crash::default().judge(&Case::default(), &mut Played::new(vec![trace])).unwrap()
    }

    #[track_caller]
    fn check(trace: Trace, kind: &str, sentence: &str) {
        let Verdict::Violated(findings) = judge(trace) else { panic!("nothing was found") };
        assert_eq!((findings[0].fingerprint.kind(), findings[0].sentence.as_str()), (kind, sentence));
    }

    #[test]
    fn a_server_that_died_is_found_with_its_last_words() {
        let mut trace = sample("a BEGIN > open; b SELECT 1 > idle; a UPDATE t > error connection-lost lost");
        trace.death = Some(Death { how: "signal 11".to_string(), log: vec!["up".to_string(), "panic! ".to_string()] });
        let sentence = "the server died (signal 11) at step a2 (UPDATE t); the last line of its log: panic!";
        check(trace.clone(), "crash", sentence);
        trace.steps[2].outcome = None;
        check(trace, "crash", sentence);
    }

    #[test]
    fn a_connection_may_be_lost_alone() {
        check(
            sample("a BEGIN > open; a UPDATE t > error connection-lost lost"),
            "crash-connection",
            "a lost its connection at step a2 (UPDATE t), and the server is still there: connection-lost",
        );
    }

    #[test]
    fn a_server_that_complains_is_found_dead_or_alive() {
        let race =
            |pid: u32| format!("WARNING: ThreadSanitizer: data race (pid={pid})\n  Write of size 8 at 0x7b{pid}");
        let mut trace = sample("a BEGIN > open; a UPDATE t > idle");
        trace.alarms = vec![race(71), "TRAP: failed Assert".to_string()];
        let sentence = "the server complained in its log: WARNING: ThreadSanitizer: data race (pid=71) (and 1 more)";
        check(trace.clone(), "crash-alarm", sentence);
        let lets = violation(&trace).unwrap().explanation.lets;
        assert_eq!(lets[1..], ["complaint:   Write of size 8 at 0x7b71", "complaint: TRAP: failed Assert"]);
        let again = Trace { alarms: vec![race(802)], ..trace.clone() };
        assert_eq!(violation(&again).unwrap().fingerprint, violation(&trace).unwrap().fingerprint);
        trace.death = Some(Death { how: "signal 6".to_string(), log: vec!["    #8 0x55 in main".to_string()] });
        let words = "it complained in its log: WARNING: ThreadSanitizer: data race (pid=71)";
        check(trace, "crash", &format!("the server died (signal 6) at step a2 (UPDATE t); {words}"));
    }

    #[test]
    fn numbers_of_a_complaint_are_forgotten_and_names_kept() {
        let forgotten = without_numbers("==71==ERROR: AddressSanitizer: x at 0x6020ef in item_func2.cc:12:3");
        assert_eq!(forgotten, "==?==ERROR: AddressSanitizer: x at ? in item_func2.cc:?:?");
    }

    #[test]
    fn errors_of_other_kinds_are_survived() {
        let verdict = judge(sample("a BEGIN > open; a UPDATE t > error deadlock idle"));
        assert!(matches!(&verdict, Verdict::Holds(words) if words == "the server and its connections survived"));
    }

    #[test]
    fn whoever_asks_for_it_gets_it() {
        for text in ["a KILL 3", "a SELECT pg_terminate_backend(1)"] {
            let mut runner = Played::new(vec![sample("a x > error connection-lost lost")]);
            let verdict = Crash::default().judge(&case(text), &mut runner).unwrap();
            assert!(matches!(verdict, Verdict::Unknown(_)), "{text}");
            assert_eq!(runner.runs, [0], "nothing is run in vain");
        }
        let verdict = Crash::default().judge(&case("a SELECT 'KILL'"), &mut Played::new(vec![sample("a x > idle")]));
        assert!(matches!(verdict, Ok(Verdict::Holds(_))));
    }
}
