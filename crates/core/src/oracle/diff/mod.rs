//! The differential oracle: the same case on several targets must go the same way (DT², section 4.3).
//!
//! Engines that claim to be compatible, versions of one engine, one engine under two settings: whatever is submitted in
//! the same order should wait, fail and answer in the same way, and leave the same data. Which of the two is right, the
//! oracle does not know; that they differ is worth a look.
//!
//! ```text
//!              a                         b                    mariadb           mysql
//!   a1         UPDATE t SET c = 2                             1 row changed     1 row changed    the same
//!   b1                                   DELETE FROM t        waits             waits            the same
//!   a2         COMMIT                                         b1 goes on        b1 goes on       the same
//!   b2                                   SELECT * FROM t      (1)               (empty)          diff-rows
//!   the end                                                   t = (1)           t = (empty)      the state as well
//! ```
//!
//! 1. The case runs on all targets, at the same time.
//! 2. Traces are cut into *rounds*, from one submission to the next (`rounds`), and compared round by round: deadlocks
//!    and their victims, who waits and who goes on, errors, warnings, rows, counts (`compare`, `answers`). The first
//!    discrepancy ends this: what follows from it is no news. The final state is compared in any case.
//! 3. Targets that agree form a group; the largest is the norm, and who does not belong to it is the odd one out.
//! 4. A discrepancy is a finding only if every target does the same again.
//! 5. [`Oracle::explain`] then asks *why*, by running variants of the case (`why`): one session alone, one after the
//!    other, at other levels, without one of the sessions.
//!
//! # What is noise
//!
//! Texts and codes of errors, and their classes as long as they mean the same fate; names of types and columns; the order
//! of rows, unless the query leaves no choice (`order`); counts of rows between engines that count otherwise; whom a
//! session waits for, since some engines do not tell. Each rule has a test where it hides noise and one where it must
//! not hide a bug.
//!
//! # Limits
//!
//! * Bugs that all targets share are not seen.
//! * A query with LIMIT is compared by the number of its rows: which of them it returns may be the engine's choice.
//! * What one engine warns of, another may not know: warnings are compared within one dialect only.

mod rounds;
mod answers;
mod order;
mod compare;
mod words;
mod why;
#[cfg(test)]
mod tests;

pub use compare::{Comparison, Discrepancy, Kind, Shared};

use crate::case::Case;
use crate::finding::{Finding, Fingerprint, Violation, shape};
use crate::oracle::{Mode, Oracle, RunError, RunRequest, Runner, Verdict, scheduled, schedules, together, unobserved};
use crate::schedule::{Policy, Schedule};
use crate::sql;
use crate::trace::Trace;
use crate::trace::race::first_race;
use crate::trace::transactions::transactions;

/// The oracle's name.
pub const NAME: &str = "diff";

/// How the reason of a verdict begins if targets part where the engine had the choice.
pub const RACED: &str = "two statements were set free at once";

/// Judges by comparing targets.
#[derive(Debug, Clone)]
pub struct Diff {
    /// What to do when a session waits.
    pub policy: Policy,
    /// Whether a discrepancy is looked at a second time, so that what differs from run to run (clocks, random numbers)
    /// is not taken for a difference between targets.
    pub confirm: bool,
}

impl Default for Diff {
    fn default() -> Diff {
        Diff { policy: Policy::default(), confirm: true }
    }
}

impl Oracle for Diff {
    fn name(&self) -> &'static str {
        NAME
    }

    /// Judges every schedule of the case: at most one finding for each.
    fn judge(&self, case: &Case, runner: &mut dyn Runner) -> Result<Verdict, RunError> {
        if runner.targets().len() < 2 {
            return Ok(Verdict::Unknown("there is only one target, and nothing to compare it with".to_string()));
        }
        let judge = |schedule: Option<&Schedule>| self.judge_schedule(case, schedule, runner);
        Ok(together(schedules(case).into_iter().map(judge).collect::<Result<Vec<_>, _>>()?))
    }

    fn explain(&self, finding: Finding, runner: &mut dyn Runner) -> Result<Finding, RunError> {
        why::explain(self, finding, runner)
    }
}

impl Diff {
    fn judge_schedule(
        &self,
        case: &Case,
        schedule: Option<&Schedule>,
        runner: &mut dyn Runner,
    ) -> Result<Verdict, RunError> {
        let mode = Mode::Scheduled(schedule.cloned());
        let traces = self.run(case, &mode, runner)?;
        if let Some(reason) = traces.iter().find_map(unobserved) {
            return Ok(Verdict::Unknown(reason));
        }
        let comparison = Comparison::of(&traces.iter().collect::<Vec<_>>());
        if comparison.agrees() {
            return Ok(Verdict::Holds(words::witness(&traces)));
        }
        if let Some(reason) = traces.iter().find_map(|trace| raced(trace, &comparison)) {
            return Ok(Verdict::Unknown(reason));
        }
        if self.confirm {
            let again = self.run(case, &mode, runner)?;
            let pairs = traces.iter().zip(&again);
            let parted = comparison.first.map(|first| first.round);
            if let Some(reason) = pairs.into_iter().find_map(|(first, second)| unstable(first, second, parted)) {
                return Ok(Verdict::Unstable(reason));
            }
        }
        let finding = finding(scheduled(case, schedule), traces, &comparison);
        Ok(Verdict::Violated(finding.into_iter().collect()))
    }

    /// Runs a case on all targets; an error on one of them is an error of all.
    fn run(&self, case: &Case, mode: &Mode, runner: &mut dyn Runner) -> Result<Vec<Trace>, RunError> {
        let request = |target: usize| RunRequest { case, target, policy: self.policy.clone(), mode: mode.clone() };
        let requests: Vec<RunRequest<'_>> = (0..runner.targets().len()).map(request).collect();
        runner.run_all(&requests).into_iter().collect()
    }
}

/// Why a difference means nothing: before it, two statements were set free by one step, and what came of that was for the
/// engine to choose. (A server that died did not choose to.)
fn raced(trace: &Trace, comparison: &Comparison) -> Option<String> {
    let (at, step) = first_race(trace)?;
    let parted = comparison.first.map(|first| first.round);
    let is_before = parted.is_none_or(|round| rounds::rounds(trace).get(round).is_none_or(|round| at < round.end));
    let counts = is_before && comparison.kind() != Kind::Death;
    counts.then(|| {
        let (target, name) = (&trace.engine.target, trace.step_name(step));
        format!("{RACED}, on {target}, by step {name}: what follows is the engine's choice")
    })
}

/// Why a target cannot be compared with others: it does not even agree with itself. What it does after the round in which
/// targets parted does not matter: one of them has taken another way by then, and that way may end in a race.
fn unstable(first: &Trace, second: &Trace, parted: Option<usize>) -> Option<String> {
    let target = &first.engine.target;
    let own = Comparison::of(&[first, second]);
    let is_later = parted.zip(own.first).is_some_and(|(parted, own)| own.round > parted);
    let differs = unobserved(second).is_some() || (own.groups.len() > 1 && !is_later);
    differs.then(|| {
        format!(
            "a run came out differently the second time, on {target}: clocks, random numbers, a choice of the engine?"
        )
    })
}

/// The finding; `None` if there is no trace.
fn finding(case: Case, mut traces: Vec<Trace>, comparison: &Comparison) -> Option<Finding> {
    let labelled = words::Labelled::new(&traces);
    let violation = Violation {
        sentence: words::sentence(&labelled, comparison),
        explanation: words::explanation(&labelled, comparison),
        fingerprint: fingerprint(traces.first()?, comparison),
    };
    let others = traces.split_off(1);
    let mut finding = Finding::new(NAME, violation, case, traces.pop()?);
    finding.others = others;
    Some(finding)
}

/// The kind of the discrepancy, the shapes of the transactions and the levels that they ran at.
fn fingerprint(trace: &Trace, comparison: &Comparison) -> Fingerprint {
    let text = |id: &crate::trace::StepId| sql::one_line(&trace.step(*id).sql);
    let shapes = transactions(trace).into_iter().map(|transaction| {
        let statements: Vec<String> = transaction.steps.iter().map(text).collect();
        shape(statements.iter().map(String::as_str))
    });
    let mut levels: Vec<String> = trace.sessions.iter().map(|session| format!("at {}", session.level)).collect();
    levels.sort();
    levels.dedup();
    Fingerprint::new(comparison.kind().name(), &shapes.chain(levels).collect::<Vec<_>>())
}
