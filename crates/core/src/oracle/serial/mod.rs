//! The serial oracle: results and state equal those of some serial order.
//!
//! A run is serializable if its committed transactions, run one after the other in *some* order, give the same answers
//! and leave the same data. For the handful of transactions of a case all orders can simply be tried:
//!
//! ```text
//!   the run          a: BEGIN SELECT→100 UPDATE 20 COMMIT
//!                    b:         BEGIN SELECT→100       UPDATE 20 COMMIT        state: 20
//!
//!   a before b       a: SELECT→100 UPDATE 20    b: SELECT→20 …                 b saw 100: differs
//!   b before a       b: SELECT→100 UPDATE 20    a: SELECT→20 …                 a saw 100: differs
//!
//!   no order is left: violated
//! ```
//!
//! 1. The case is run by its schedule, and its transactions are derived from the trace.
//! 2. A case is built of what committed (`committed`): rolled-back transactions have no place in a serial order.
//!    Calls stay calls: in another order they may take another branch.
//! 3. Orders are tried, likely ones first (`orders`), each compared with the run ([`super::observe`]). One that agrees
//!    is the witness; if none does, each is refuted by the first observation that differs (`explain`).
//!
//! # Limits
//!
//! * What depends on more than the data differs for other reasons: clocks, random numbers, sequences (rolled-back
//!   transactions use up their numbers), LIMIT without a total order. A serial order that does not even agree with
//!   itself is noticed.
//! * ORDER BY with ties counts as an order.
//! * A serializable level promises this, and weaker levels do not: whether a violation is the engine's bug or the
//!   application's depends on the level, which the finding tells. A hunt asks only where it is promised
//!   ([`Serial::only_where_promised`]).

mod committed;
mod explain;
mod orders;
mod promise;
#[cfg(test)]
mod tests;

use crate::case::{Case, SessionName};
use crate::finding::Finding;
use crate::oracle::observe::{Difference, Observations};
use crate::oracle::{Mode, Oracle, RunError, RunRequest, Runner, Verdict, scheduled, schedules, together, unobserved};
use crate::schedule::{Policy, Schedule};
use crate::trace::Trace;
use committed::Committed;

/// The oracle's name.
pub const NAME: &str = "serial";

/// Judges by serial orders.
#[derive(Debug, Clone)]
pub struct Serial {
    /// How many orders are tried at most; a case with more of them is not decided unless a likely order explains it.
    pub orders_max: usize,
    /// What to do when a session waits.
    pub policy: Policy,
    /// Judge only where somebody promises a serial order: at a level that the table of
    /// [guarantees](crate::level::guarantees) calls serializable, or for the calls of a program, which ought to work at
    /// the level that they run at. Elsewhere nothing is run, and the verdict is *unknown*.
    pub only_where_promised: bool,
}

impl Default for Serial {
    /// Seven transactions of seven sessions are still decided: 7! = 5,040.
    fn default() -> Serial {
        Serial { orders_max: 5_040, policy: Policy::default(), only_where_promised: false }
    }
}

impl Oracle for Serial {
    fn name(&self) -> &'static str {
        NAME
    }

    /// Judges every schedule of the case on every target. One violation suffices to violate, and one undecided run to
    /// leave the case undecided.
    fn judge(&self, case: &Case, runner: &mut dyn Runner) -> Result<Verdict, RunError> {
        let mut verdicts = Vec::new();
        for (target, engine) in runner.targets().iter().enumerate() {
            let weaker = promise::weakest(case, engine).filter(|_| self.only_where_promised && case.program.is_none());
            if let Some(level) = weaker {
                let target = &engine.target;
                verdicts.push(Verdict::Unknown(format!("{level} does not promise a serial order on {target}")));
                continue;
            }
            for schedule in schedules(case) {
                let mut trial = Trial { oracle: self, case, target, runner: &mut *runner };
                verdicts.push(trial.judge(schedule)?);
            }
        }
        Ok(together(verdicts))
    }
}

/// A serial order: each entry is the next committed transaction of that session.
type Order = Vec<SessionName>;

/// An order that does not explain the run, and why.
struct Refuted {
    order: Order,
    difference: Difference,
}

/// One run that is judged.
struct Trial<'a> {
    oracle: &'a Serial,
    case: &'a Case,
    target: usize,
    runner: &'a mut dyn Runner,
}

impl Trial<'_> {
    fn judge(&mut self, schedule: Option<&Schedule>) -> Result<Verdict, RunError> {
        let trace = self.run(self.case, Mode::Scheduled(schedule.cloned()))?;
        let committed = match unclean(&trace).map_or_else(|| Committed::of(self.case, &trace), Err) {
            Ok(committed) => committed,
            Err(reason) => return Ok(Verdict::Unknown(reason)),
        };
        let observed = committed.observations(&trace);
        let mut refuted: Vec<Refuted> = Vec::new();
        let mut undecided = None;
        let candidates = orders::candidates(&committed, self.oracle.orders_max);
        for order in candidates.orders {
            match self.serial(&committed.case, &order)? {
                Err(reason) => undecided = undecided.or(Some(reason)),
                Ok(serial) => match observed.difference(&serial) {
                    None => return Ok(explain::witness(&committed, &order)),
                    Some(difference) => refuted.push(Refuted { order, difference }),
                },
            }
        }
        if let Some(reason) = undecided.or(candidates.incomplete) {
            return Ok(Verdict::Unknown(reason));
        }
        if let Some(reason) = self.unstable(&committed, &refuted)? {
            return Ok(Verdict::Unknown(reason));
        }
        let mut violation = explain::violation(&committed, &refuted);
        violation.explanation.thens.extend(promise::of_run(&trace));
        let case = scheduled(self.case, schedule);
        Ok(Verdict::Violated(vec![Finding::new(NAME, violation, case, trace)]))
    }

    fn run(&mut self, case: &Case, mode: Mode) -> Result<Trace, RunError> {
        let policy = self.oracle.policy.clone();
        self.runner.run(&RunRequest { case, target: self.target, policy, mode })
    }

    /// What is observed in a serial order, or why that cannot be told.
    fn serial(&mut self, case: &Case, order: &Order) -> Result<Result<Observations, String>, RunError> {
        let trace = match self.run(case, Mode::Serial(order.clone())) {
            Ok(trace) => trace,
            Err(error @ RunError::Setup { .. }) => return Ok(Err(format!("in a serial run, {error}"))),
            Err(error) => return Err(error),
        };
        let cancelled = trace.steps.iter().any(|step| step.cancelled.is_some());
        Ok(match unclean(&trace) {
            Some(reason) => Err(format!("in a serial run, {reason}")),
            None if cancelled => Err("in a serial run, a statement was cancelled".to_string()),
            None => Ok(Observations::of_serial(&trace)),
        })
    }

    /// Runs one order again: a case that gives something else each time cannot be judged by comparing.
    fn unstable(&mut self, committed: &Committed, refuted: &[Refuted]) -> Result<Option<String>, RunError> {
        let Some(Refuted { order, .. }) = refuted.first() else { return Ok(None) };
        let (first, second) = (self.serial(&committed.case, order)?, self.serial(&committed.case, order)?);
        let stable = matches!((first, second), (Ok(first), Ok(second)) if first.difference(&second).is_none());
        let reason = "the same serial order gives something else each time: clocks, random numbers, unordered LIMIT?";
        Ok((!stable).then(|| reason.to_string()))
    }
}

/// Why nothing can be concluded from a run, if nothing can.
fn unclean(trace: &Trace) -> Option<String> {
    let died = trace.death.as_ref().map(|death| format!("the server died ({})", death.how));
    died.or_else(|| unobserved(trace))
}
