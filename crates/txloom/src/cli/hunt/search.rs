//! Looking for a schedule that an oracle objects to.
//!
//! Most concurrency bugs need few switches between sessions, so schedules with few switches come first: one session is
//! interrupted once, at every place where it can be, by all of another.
//!
//! ```text
//!   a · · ·            · · a      for every number of steps before the interruption
//!           b · · · b
//! ```

use txloom_core::case::Case;
use txloom_core::finding::Finding;
use txloom_core::oracle::{Mode, Oracle, RunError, RunRequest, Runner, Verdict};
use txloom_core::schedule::{Policy, Schedule, ScheduleEntry};

/// What a search came to.
pub(super) enum Outcome {
    /// The oracle objected.
    Caught(Box<Catch>),
    /// The oracle could not decide, and objected to nothing.
    Undecided(String),
    /// All of so many schedules are right.
    NothingFound(usize),
}

/// What was found, and how long it took.
pub(super) struct Catch {
    /// The violation.
    pub(super) finding: Finding,
    /// How many schedules were tried.
    pub(super) schedule_count: usize,
}

/// Tries schedules until the oracle objects to one.
pub(super) fn search(oracle: &dyn Oracle, case: &Case, runner: &mut dyn Runner) -> Result<Outcome, RunError> {
    let mode = Mode::Scheduled(None);
    let in_line_order = runner.run(&RunRequest { case, target: 0, policy: Policy::default(), mode })?.schedule();
    let schedules = interruptions(&in_line_order);
    let mut undecided = None;
    for (at, schedule) in schedules.iter().enumerate() {
        let mut scheduled = case.clone();
        scheduled.set_schedule(schedule.clone());
        match oracle.judge(&scheduled, runner)? {
            Verdict::Violated(findings) => {
                if let Some(finding) = findings.into_iter().next() {
                    return Ok(Outcome::Caught(Box::new(Catch { finding, schedule_count: at + 1 })));
                }
            }
            Verdict::Unknown(reason) | Verdict::Unstable(reason) => undecided = undecided.or(Some(reason)),
            Verdict::Holds(_) | Verdict::Vacuous(_) => {}
        }
    }
    Ok(undecided.map_or(Outcome::NothingFound(schedules.len()), Outcome::Undecided))
}

/// Every schedule in which the first session of a serial schedule is interrupted once by all the others. Events come
/// with the others; but those before everything else stay there.
fn interruptions(serial: &Schedule) -> Vec<Schedule> {
    let Some(start) = serial.0.iter().position(|entry| entry.session().is_some()) else { return Vec::new() };
    let (events, turns) = serial.0.split_at(start);
    let (own, others): (Vec<&ScheduleEntry>, Vec<&ScheduleEntry>) = turns.iter().partition(|turn| **turn == turns[0]);
    let interrupted = |at: usize| {
        let (before, after) = own.split_at(at);
        events.iter().chain(before.iter().chain(&others).chain(after).copied()).cloned().collect()
    };
    (1..own.len()).map(interrupted).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use txloom_core::engine::EngineInfo;
    use txloom_core::trace::Trace;

    use super::*;
    use crate::report::fixtures::{Play, ok};

    struct Serially;

    impl Runner for Serially {
        fn targets(&self) -> Vec<EngineInfo> {
            Vec::new()
        }

        fn run(&mut self, _: &RunRequest<'_>) -> Result<Trace, RunError> {
            let steps = [("a", "1"), ("a", "2"), ("a", "3"), ("b", "1"), ("b", "2")];
            let play = steps.iter().fold(Play::new("a b"), |play, (name, sql)| play.done(name, sql, ok()));
            Ok(play.end())
        }
    }

    /// Cannot decide anything, and writes down what it is asked.
    #[derive(Default)]
    struct Doubter {
        asked: RefCell<Vec<String>>,
    }

    impl Oracle for Doubter {
        fn name(&self) -> &'static str {
            "doubter"
        }

        fn judge(&self, case: &Case, _: &mut dyn Runner) -> Result<Verdict, RunError> {
            self.asked.borrow_mut().push(case.schedules()[0].to_string());
            Ok(Verdict::Unknown("who knows".to_string()))
        }
    }

    #[test]
    fn events_before_everything_stay_there() {
        let case = txloom_core::case::parse("-- @schedule [kill] a a [heal] b\n/*a*/ x\n/*a*/ y\n/*b*/ z").unwrap();
        let found: Vec<String> = interruptions(case.schedules()[0]).iter().map(Schedule::to_string).collect();
        assert_eq!(found, ["[kill] a [heal] b a"]);
    }

    #[test]
    fn a_session_is_interrupted_everywhere() {
        let doubter = Doubter::default();
        let outcome = search(&doubter, &Case::default(), &mut Serially).unwrap();
        assert!(matches!(outcome, Outcome::Undecided(reason) if reason == "who knows"));
        assert_eq!(*doubter.asked.borrow(), ["a b b a a", "a a b b a"]);
    }
}
