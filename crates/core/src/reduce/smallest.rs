//! From a finding to the finding of a smaller case.
//!
//! A smaller case may show the same kind of violation for quite another reason. Two things are done against that.
//!
//! *No new errors.* Without its table a statement fails, and two databases that fail in different ways differ. So no
//! class of error may appear on a target that was not there before.
//!
//! *Guards.* An oracle that compares (with a serial order, with another target) holds a smaller case to its own standard.
//! One that holds the engine to what the *case* states does not: take away a row or one half of a transfer, and "the sum
//! is 200" is violated by anything. So where the case that was given does not show the violation, the reduced one must
//! not show it, either:
//!
//! ```text
//!   as it is              violated      must stay so
//!   without its steps     not           so the setup keeps what the assertion speaks of
//!   one after the other   not           so each transaction by itself keeps the assertion
//! ```
//!
//! *Declarations.* An engine that breaks a constraint in a single session breaks the assertion about it one after the
//! other, too, and without the constraint anything does. Then the constraints of the tables that the assertion is about
//! stay.

use std::collections::BTreeSet;

use crate::case::{Case, Line};
use crate::engine::EngineErrorKind;
use crate::finding::Finding;
use crate::oracle::{Oracle, RunError, Runner, Verdict, invariant};
use crate::outcome::ErrorClass;
use crate::reduce::declared::constraint_count;
use crate::reduce::edit::without_steps;
use crate::reduce::{Reduced, Reproduction, Size, reduce_within};

/// The finding of the smallest case that shows the same kind of violation, and what it took.
///
/// The *kind* of the fingerprint is what must stay; the shapes in it change with every statement that goes. What is
/// returned has been judged once more: if the reduced case does not show it again, the finding is returned as it was
/// given. When the user asks to stop, what has been reached until then is returned.
///
/// `Err` means that a target cannot be reached any more, so that there is no point in going on.
pub fn smallest(
    finding: &Finding,
    oracle: &dyn Oracle,
    runner: &mut dyn Runner,
    tests_max: usize,
) -> Result<(Finding, Reduced), RunError> {
    let (kind, errors) = (finding.fingerprint.kind(), errors_of(finding));
    let mut hunted = Hunted { kind, errors, oracle, runner, guards: Vec::new(), constraints: None };
    hunted.guards = hunted.guards_for(finding)?;
    hunted.constraints = constraint_count(&finding.case, kind).filter(|_| hunted.guards.len() < GUARDS.len());
    let mut last = None;
    let mut failure = None;
    let mut test = |candidate: &Case| match hunted.find(candidate) {
        Ok(Found::Yes(found)) => {
            last = Some(*found);
            Reproduction::Reproduced
        }
        Ok(Found::No) => Reproduction::Gone,
        Ok(Found::CannotTell) => Reproduction::Unresolved,
        Err(error) if is_the_end(&error) => {
            failure = Some(error);
            Reproduction::Stopped
        }
        Err(_) => Reproduction::Unresolved,
    };
    let reduced = reduce_within(tests_max, &finding.case, &mut test);
    match failure.map_or_else(|| hunted.find(&reduced.case), Err) {
        Ok(Found::Yes(found)) => Ok((*found, reduced)),
        Err(error) if is_interruption(&error) => Ok(ended(finding, last, reduced)),
        Err(error) if is_the_end(&error) => Err(error),
        Ok(_) | Err(_) => Ok(ended(finding, None, reduced)),
    }
}

/// A variant of a case that must not show what the case shows.
type Guard = fn(&Case) -> Case;

/// Classes of errors, with the targets that they occurred on.
type Errors = BTreeSet<(String, ErrorClass)>;

fn errors_of(finding: &Finding) -> Errors {
    let traces = finding.traces();
    let of_steps = traces.iter().flat_map(|trace| trace.steps.iter().map(|step| (&trace.engine.target, step)));
    let classes =
        of_steps.map(|(target, step)| (target, step.outcome.as_ref().and_then(|outcome| outcome.error_class())));
    classes.filter_map(|(target, class)| Some((target.clone(), class?))).collect()
}

/// What is looked for, and where.
struct Hunted<'a> {
    kind: &'a str,
    /// The errors that may occur.
    errors: Errors,
    oracle: &'a dyn Oracle,
    runner: &'a mut dyn Runner,
    guards: Vec<Guard>,
    /// The number of constraints that must stay; `None`: the guards see what a missing constraint would do.
    constraints: Option<usize>,
}

enum Found {
    Yes(Box<Finding>),
    No,
    CannotTell,
}

impl Hunted<'_> {
    /// Whether a case shows it without new errors, and its guarded variants do not.
    fn find(&mut self, case: &Case) -> Result<Found, RunError> {
        if self.constraints.is_some() && constraint_count(case, self.kind) != self.constraints {
            return Ok(Found::No);
        }
        let found = self.judge(case)?;
        let Found::Yes(finding) = &found else { return Ok(found) };
        if !errors_of(finding).is_subset(&self.errors) {
            return Ok(Found::No);
        }
        for guard in self.guards.clone() {
            if matches!(self.judge(&guard(case))?, Found::Yes(_)) {
                return Ok(Found::No);
            }
        }
        Ok(found)
    }

    fn judge(&mut self, case: &Case) -> Result<Found, RunError> {
        Ok(match self.oracle.judge(case, self.runner)? {
            Verdict::Violated(findings) => {
                let of_kind = |finding: &Finding| finding.fingerprint.kind() == self.kind;
                findings.into_iter().find(of_kind).map_or(Found::No, |finding| Found::Yes(Box::new(finding)))
            }
            Verdict::Holds(_) | Verdict::Vacuous(_) => Found::No,
            Verdict::Unknown(_) | Verdict::Unstable(_) => Found::CannotTell,
        })
    }

    /// The variants that do not show the violation.
    fn guards_for(&mut self, finding: &Finding) -> Result<Vec<Guard>, RunError> {
        let mut guards: Vec<Guard> = Vec::new();
        if finding.oracle == invariant::NAME {
            for guard in GUARDS {
                match self.judge(&guard(&finding.case)) {
                    Ok(Found::Yes(_)) => {}
                    Err(error) if is_the_end(&error) && !is_interruption(&error) => return Err(error),
                    Ok(_) | Err(_) => guards.push(*guard),
                }
            }
        }
        Ok(guards)
    }
}

const GUARDS: &[Guard] = &[only_setup, one_after_the_other];

fn only_setup(case: &Case) -> Case {
    without_steps(case, &case.sessions().iter().flat_map(|session| session.entries.clone()).collect())
}

/// The case with all steps of one session after all steps of the other.
fn one_after_the_other(case: &Case) -> Case {
    let sessions = case.sessions();
    let steps = sessions.iter().flat_map(|session| &session.entries).map(|at| case.entries[*at].clone());
    let others = case.entries.iter().filter(|entry| !matches!(entry.line, Line::Step(..) | Line::Schedule(_)));
    Case { entries: others.cloned().chain(steps).collect(), ..case.clone() }
}

/// The smaller finding with its reduction; the given one, with nothing gained, if there is none.
fn ended(given: &Finding, smaller: Option<Finding>, reduced: Reduced) -> (Finding, Reduced) {
    match smaller {
        Some(smaller) => (smaller, reduced),
        None => {
            let case = given.case.clone();
            let (reproduced, complete, after) = (false, false, Size::of(&case));
            (given.clone(), Reduced { case, reproduced, complete, after, ..reduced })
        }
    }
}

/// Whether no run will succeed any more.
fn is_the_end(error: &RunError) -> bool {
    let RunError::Engine(error) = error else { return false };
    matches!(error.kind, EngineErrorKind::Interrupted | EngineErrorKind::Unreachable(_))
}

fn is_interruption(error: &RunError) -> bool {
    matches!(error, RunError::Engine(error) if matches!(error.kind, EngineErrorKind::Interrupted))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::engine::EngineError;
    use crate::finding::{Explanation, Fingerprint, Violation};
    use crate::oracle::serial::Serial;
    use crate::oracle::toy::{Rule, Toy, case};
    use crate::oracle::{Mode, RunRequest};
    use crate::reduce::TESTS_MAX;
    use crate::reduce::tests::text;
    use crate::schedule::Policy;

    const LOST: &str = "init CREATE TABLE t (id INT, v INT)
        init INSERT INTO t VALUES (1, 10), (2, 20)
        a BEGIN
        b BEGIN
        a UPDATE t SET v = v + 1 WHERE id = 1
        b UPDATE t SET v = v + 1 WHERE id = 1
        a COMMIT
        b COMMIT
        c SELECT v FROM t";

    /// Says what it is told to, by the text of the case.
    struct Scripted<F: Fn(&str) -> Option<&'static str>> {
        says: F,
        asked: Cell<usize>,
        asked_max: usize,
    }

    impl<F: Fn(&str) -> Option<&'static str>> Oracle for Scripted<F> {
        fn name(&self) -> &'static str {
            invariant::NAME
        }

        fn judge(&self, case: &Case, runner: &mut dyn Runner) -> Result<Verdict, RunError> {
            self.asked.set(self.asked.get() + 1);
            if self.asked.get() > self.asked_max {
                return Err(EngineError::new("toy", EngineErrorKind::Interrupted).into());
            }
            let Some(kind) = (self.says)(&text(case)) else { return Ok(Verdict::Holds(String::new())) };
            let violation = Violation {
                sentence: String::new(),
                explanation: Explanation::default(),
                fingerprint: Fingerprint::new(kind, &[text(case)]),
            };
            let plain = Case::default();
            let request = RunRequest { case: &plain, target: 0, policy: Policy::Skip, mode: Mode::Scheduled(None) };
            let trace = runner.run(&request)?;
            Ok(Verdict::Violated(vec![Finding::new(invariant::NAME, violation, case.clone(), trace)]))
        }
    }

    fn scripted<F: Fn(&str) -> Option<&'static str>>(says: F, asked_max: usize) -> Scripted<F> {
        Scripted { says, asked: Cell::new(0), asked_max }
    }

    fn finding(oracle: &dyn Oracle, given: &str) -> Finding {
        match oracle.judge(&case(given), &mut Toy::new(Rule::Blind)).unwrap() {
            Verdict::Violated(mut findings) => findings.remove(0),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_finding_is_that_of_the_reduced_case() {
        let found = finding(&Serial::default(), LOST);
        let mut toy = Toy::new(Rule::Blind);
        let (smaller, reduced) = smallest(&found, &Serial::default(), &mut toy, TESTS_MAX).unwrap();
        assert!(reduced.reproduced && reduced.complete);
        assert_eq!(smaller.case, reduced.case);
        assert_eq!(smaller.fingerprint.kind(), found.fingerprint.kind());
        assert!(reduced.after.statements <= 3, "{}", text(&smaller.case));
        assert_eq!(smaller.trace.steps.len(), reduced.after.items);
    }

    #[test]
    fn another_kind_of_violation_does_not_count() {
        // Without the second session something else is wrong.
        let says = |text: &str| if text.contains("b SELECT 2") { Some("one") } else { Some("other") };
        let oracle = scripted(says, usize::MAX);
        let found = finding(&oracle, "a SELECT 1\nb SELECT 2");
        let (smaller, _) = smallest(&found, &oracle, &mut Toy::new(Rule::Blind), TESTS_MAX).unwrap();
        assert_eq!(text(&smaller.case), "b SELECT 2");
    }

    #[test]
    fn no_new_errors_are_made() {
        // Whatever the text, it is wrong: then the table could go, and the statement would fail.
        struct Anything;
        impl Oracle for Anything {
            fn name(&self) -> &'static str {
                "anything"
            }

            fn judge(&self, case: &Case, runner: &mut dyn Runner) -> Result<Verdict, RunError> {
                let request = RunRequest { case, target: 0, policy: Policy::Skip, mode: Mode::Scheduled(None) };
                let trace = runner.run(&request)?;
                let violation = Violation {
                    sentence: String::new(),
                    explanation: Explanation::default(),
                    fingerprint: Fingerprint::new("anything", &[]),
                };
                let found = Finding::new("anything", violation, case.clone(), trace);
                let enough = text(case).contains("SELECT");
                Ok(if enough { Verdict::Violated(vec![found]) } else { Verdict::Holds(String::new()) })
            }
        }
        let reduced = |given: &str| {
            let found = finding(&Anything, given);
            let (smaller, _) = smallest(&found, &Anything, &mut Toy::new(Rule::Blind), TESTS_MAX).unwrap();
            text(&smaller.case)
        };
        let valid = "init CREATE TABLE t (v INT)\ninit INSERT INTO t VALUES (1)\na SELECT v FROM t";
        assert_eq!(reduced(valid), "init CREATE TABLE t (v INT)\na SELECT v FROM t");
        assert_eq!(reduced("init CREATE TABLE t (v INT)\na SELECT v FROM u"), "a SELECT v FROM u");
    }

    #[test]
    fn what_does_not_show_again_is_given_back() {
        let oracle = scripted(|_| Some("one"), usize::MAX);
        let found = finding(&oracle, "a SELECT 1\nb SELECT 2");
        let silent = scripted(|_| None, usize::MAX);
        let (same, reduced) = smallest(&found, &silent, &mut Toy::new(Rule::Blind), TESTS_MAX).unwrap();
        assert_eq!((same.case, reduced.case), (found.case.clone(), found.case));
        assert!(!reduced.reproduced && !reduced.complete && reduced.before == reduced.after);
    }

    #[test]
    fn an_interruption_ends_with_what_was_reached() {
        let needs_b = |text: &str| text.contains("b SELECT 2").then_some("one");
        let found = finding(&scripted(needs_b, usize::MAX), "a SELECT 1\nb SELECT 2\nc SELECT 3\nd SELECT 4");
        // Two guards, the case itself, all sessions at once, c and d; then the user asks to stop.
        let oracle = scripted(needs_b, 12);
        let (smaller, reduced) = smallest(&found, &oracle, &mut Toy::new(Rule::Blind), TESTS_MAX).unwrap();
        assert!(reduced.reproduced && !reduced.complete);
        assert!(reduced.after.sessions < 4 && text(&smaller.case).contains("b SELECT 2"), "{}", text(&smaller.case));
    }

    #[test]
    fn what_the_case_states_must_still_hold_without_the_interleaving() {
        // The sum is wrong unless both rows are there and both halves of the transfer are made, one after the other.
        let says = |text: &str| {
            let rows = text.contains("(1, 2)");
            let halves = [text.find("a HALF 1"), text.find("a HALF 2"), text.find("b READ 3")];
            match halves {
                [Some(_), Some(second), Some(read)] if rows => (read < second).then_some("sum"),
                [None, None, None] | [None, None, Some(_)] if rows => None,
                _ => Some("sum"),
            }
        };
        let oracle = scripted(says, usize::MAX);
        let found = finding(&oracle, "init INSERT (1, 2)\na HALF 1\nb READ 3\na HALF 2\nc BYSTANDER 4");
        let (smaller, _) = smallest(&found, &oracle, &mut Toy::new(Rule::Blind), TESTS_MAX).unwrap();
        assert_eq!(text(&smaller.case), "init INSERT (1, 2)\na HALF 1\nb READ 3\na HALF 2");
    }
}
