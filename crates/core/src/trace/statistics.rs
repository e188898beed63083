//! What many traces have in common: figures by which a person sees whether a hunt does anything useful.
//!
//! A generator whose statements are refused, or whose transactions never meet, finds nothing, and looks just like one
//! that has nothing to find. So every run is counted: how many of its statements the engine *accepted*, whether
//! somebody waited, whether an engine had to defend its isolation level.
//!
//! A statement is accepted if the engine understood it and began to execute it. That a row violates a constraint, that
//! a transaction is chosen to break a deadlock, that a failed transaction refuses to go on: all these are answers about
//! the data and about other transactions, and exactly what is looked for. A syntax error, a missing column or a value
//! that does not fit its type are mistakes of who wrote the statement.

use std::collections::BTreeMap;

use crate::outcome::{DbError, ErrorClass};
use crate::sql;
use crate::trace::transactions::transactions;
use crate::trace::{CancelReason, StepRun, Trace};

/// More different messages than this are not told apart.
const REJECTIONS_MAX: usize = 40;

/// Figures about runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Statistics {
    /// How many runs were counted.
    pub runs: u64,
    /// How many cases these runs belong to. A trace does not say so: see [`Statistics::add_case`].
    pub cases: u64,
    /// How many statements were submitted.
    pub statements: u64,
    /// How many of them were accepted.
    pub accepted: u64,
    /// How many transactions committed, statements outside transactions included.
    pub committed: u64,
    /// How many runs had a statement that waited.
    pub with_wait: u64,
    /// How many runs had a deadlock.
    pub with_deadlock: u64,
    /// How many runs had a serialization failure.
    pub with_serialization_failure: u64,
    /// How many cases were examined for rows that two transactions write (see [`contention`](super::contention)).
    pub examined: u64,
    /// How many of those had one.
    pub contended: u64,
    rejections: BTreeMap<String, Rejection>,
    /// How many statements were rejected with messages that are not among the rejections.
    pub rejected_otherwise: u64,
}

/// Statements that were not accepted, for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// How often.
    pub count: u64,
    /// One of the statements, on one line.
    pub example: String,
}

impl Statistics {
    /// Counts a run.
    pub fn add(&mut self, trace: &Trace) {
        self.runs += 1;
        for step in &trace.steps {
            self.statements += 1;
            match rejection(step) {
                None => self.accepted += 1,
                Some(error) => self.note_rejection(shape(&error.message), 1, || sql::one_line(&step.sql)),
            }
        }
        let failed = |class| trace.steps.iter().any(|step| error_class(step) == Some(class));
        self.with_wait += u64::from(trace.steps.iter().any(|step| step.waited));
        self.with_deadlock += u64::from(failed(ErrorClass::Deadlock));
        self.with_serialization_failure += u64::from(failed(ErrorClass::SerializationFailure));
        self.committed += transactions(trace).iter().filter(|transaction| transaction.is_committed()).count() as u64;
    }

    /// Counts a case: one or more runs of it have been or will be added.
    pub fn add_case(&mut self) {
        self.cases += 1;
    }

    /// Counts a case that was examined for rows that two transactions write.
    pub fn add_examined(&mut self, contended: bool) {
        self.examined += 1;
        self.contended += u64::from(contended);
    }

    /// Adds the figures of others, e.g. of another worker.
    pub fn merge(&mut self, other: &Statistics) {
        self.runs += other.runs;
        self.cases += other.cases;
        self.statements += other.statements;
        self.accepted += other.accepted;
        self.committed += other.committed;
        self.with_wait += other.with_wait;
        self.with_deadlock += other.with_deadlock;
        self.with_serialization_failure += other.with_serialization_failure;
        self.examined += other.examined;
        self.contended += other.contended;
        self.rejected_otherwise += other.rejected_otherwise;
        for (message, rejection) in &other.rejections {
            self.note_rejection(message.clone(), rejection.count, || rejection.example.clone());
        }
    }

    /// The share of statements that were accepted.
    pub fn accepted_share(&self) -> f64 {
        share(self.accepted, self.statements)
    }

    /// The share of runs in which somebody waited.
    pub fn wait_share(&self) -> f64 {
        share(self.with_wait, self.runs)
    }

    /// The share of runs with a deadlock.
    pub fn deadlock_share(&self) -> f64 {
        share(self.with_deadlock, self.runs)
    }

    /// The share of runs with a serialization failure.
    pub fn serialization_failure_share(&self) -> f64 {
        share(self.with_serialization_failure, self.runs)
    }

    /// The share of the examined cases in which two transactions wrote a row.
    pub fn contended_share(&self) -> f64 {
        share(self.contended, self.examined)
    }

    /// Why statements were not accepted, the most frequent reason first. Numbers and quoted parts of the messages are
    /// left out, so that one mistake is one reason.
    pub fn rejections(&self) -> Vec<(&str, &Rejection)> {
        let mut rejections: Vec<(&str, &Rejection)> = self.rejections.iter().map(|(m, r)| (m.as_str(), r)).collect();
        rejections.sort_by_key(|(_, rejection)| std::cmp::Reverse(rejection.count));
        rejections
    }

    fn note_rejection(&mut self, message: String, count: u64, example: impl FnOnce() -> String) {
        if let Some(known) = self.rejections.get_mut(&message) {
            known.count += count;
        } else if self.rejections.len() < REJECTIONS_MAX {
            self.rejections.insert(message, Rejection { count, example: example() });
        } else {
            self.rejected_otherwise += count;
        }
    }
}

/// The part of a whole, between 0 and 1; 0 of nothing.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn error_class(step: &StepRun) -> Option<ErrorClass> {
    step.outcome.as_ref()?.error_class()
}

/// The error with which a statement was rejected, if it was.
fn rejection(step: &StepRun) -> Option<&DbError> {
    let error = step.outcome.as_ref()?.error.as_ref()?;
    let accepted = match error.class {
        ErrorClass::Unique | ErrorClass::ForeignKey | ErrorClass::Check | ErrorClass::NotNull => true,
        ErrorClass::Deadlock | ErrorClass::SerializationFailure | ErrorClass::LockTimeout => true,
        // Not the statement's fault: what came before it is.
        ErrorClass::TransactionAborted | ErrorClass::ConnectionLost | ErrorClass::DiskFull => true,
        // A statement that waits to the end is a good one; one that works without end is not.
        ErrorClass::Cancelled => step.cancelled != Some(CancelReason::TimeLimit),
        ErrorClass::OutOfRange | ErrorClass::Conversion | ErrorClass::DivisionByZero => false,
        ErrorClass::Syntax | ErrorClass::UnknownObject | ErrorClass::Other => false,
    };
    (!accepted).then_some(error)
}

/// A message without the values in it: `invalid value '12x'` → `invalid value '…'`.
fn shape(message: &str) -> String {
    let mut shape = String::new();
    let mut rest = message;
    while let Some(c) = rest.chars().next() {
        let end = match c {
            '\'' | '"' | '`' => rest[1..].find(c).map(|at| at + 2),
            c if c.is_ascii_digit() => Some(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())),
            _ => None,
        };
        match end {
            Some(end) if c.is_ascii_digit() => {
                shape.push('#');
                rest = &rest[end..];
            }
            Some(end) => {
                shape.extend([c, '…', c]);
                rest = &rest[end..];
            }
            None => {
                shape.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::sample::sample;

    #[test]
    fn answers_about_data_are_accepted_and_mistakes_are_not() {
        let mut statistics = Statistics::default();
        for class in ErrorClass::ALL {
            statistics.add(&sample(&format!("a SELECT 1 > error {class} idle")));
        }
        let mut rejected: Vec<&str> = statistics.rejections().iter().map(|(message, _)| *message).collect();
        rejected.sort_unstable();
        let expect = ["conversion", "division-by-zero", "other", "out-of-range", "syntax", "unknown-object"];
        assert_eq!(rejected, expect);
        assert_eq!(statistics.statements - statistics.accepted, expect.len() as u64);
        assert_eq!((statistics.with_deadlock, statistics.with_serialization_failure), (1, 1));
    }

    #[test]
    fn a_statement_without_end_is_not_accepted() {
        let mut trace = sample("a SELECT 1 > error cancelled idle");
        for (reason, accepted) in [(CancelReason::StillBlocked, 1), (CancelReason::TimeLimit, 0)] {
            trace.steps[0].cancelled = Some(reason);
            let mut statistics = Statistics::default();
            statistics.add(&trace);
            assert_eq!(statistics.accepted, accepted, "{reason:?}");
        }
    }

    #[test]
    fn runs_are_counted_and_merged() {
        let mut one = Statistics::default();
        one.add(&sample(
            "a BEGIN > open; a UPDATE t > open; b UPDATE t > waits idle; a COMMIT > idle; b > completes; \
             c SELEC > error syntax idle; c DELETE > died",
        ));
        one.add_case();
        one.add_examined(true);
        let mut two = Statistics::default();
        two.add(&sample("a SELEC 2 > error syntax idle; a BEGIN > open; a ROLLBACK > idle"));
        two.add_examined(false);
        two.merge(&one);
        assert_eq!((two.runs, two.cases, two.statements, two.accepted), (2, 1, 9, 7));
        assert_eq!((two.with_wait, two.committed), (1, 2));
        assert_eq!((two.wait_share(), two.contended_share()), (0.5, 0.5));
        assert_eq!(two.accepted_share(), 7.0 / 9.0);
        let rejection = Rejection { count: 2, example: "SELEC 2".to_string() };
        assert_eq!(two.rejections(), [("syntax", &rejection)]);
        assert_eq!(Statistics::default().accepted_share(), 0.0);
    }

    #[test]
    fn messages_are_bounded_and_without_values() {
        assert_eq!(shape("bad value '12''x' at 123: it's"), "bad value '…''…' at #: it's");
        assert_eq!(shape("\"é\" …é 1"), "\"…\" …é #");
        let mut statistics = Statistics::default();
        let mut trace = sample("a SELECT 1 > error other idle");
        for letters in 0..REJECTIONS_MAX + 3 {
            let error = trace.steps[0].outcome.as_mut().unwrap().error.as_mut().unwrap();
            error.message = "x".repeat(letters + 1);
            statistics.add(&trace);
        }
        assert_eq!((statistics.rejections().len(), statistics.rejected_otherwise), (REJECTIONS_MAX, 3));
    }
}
