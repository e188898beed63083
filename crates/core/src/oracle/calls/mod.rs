//! The calls oracle: what an application's calls did together, they could have done one after the other.
//!
//! The [serial](super::serial) oracle arranges *transactions*: that is what an engine promises. An application wants
//! more. A call that commits in the middle and goes on with what it has read is two transactions to the engine, and one
//! purpose to whoever calls it:
//!
//! ```text
//!   the run     a: SELECT avail→5  COMMIT                          UPDATE … SET avail = 4  COMMIT
//!               b:                        SELECT→5 … UPDATE … 4 COMMIT                                 flights: (1, 4)
//!
//!   a, then b   flights: (1, 3)      b, then a   flights: (1, 3)      no order of the calls: violated
//! ```
//!
//! 1. The case is run by its schedule.
//! 2. Its calls are run one after the other, in every order that keeps those of a session in sequence, and those of a
//!    session that is to be `@first` before all others.
//! 3. Compared are what the calls gave back, whether they failed, and the data that they left. What a call only looked at
//!    on its way is its own business.
//! 4. An assertion about states that the run breaks and no serial order does is a violation as well, whatever the data
//!    at the end: somebody could have seen that state. So is one about what is left of calls at the end (`@assert kept`).
//!    One about calls that is asked when they are over (`@assert after`) does not count here by itself: by then others may
//!    have come that a serial order would place behind it.
//!
//! # Limits
//!
//! * A call that failed because of others (a deadlock, a serialization failure) and committed nothing is left out, as its
//!   caller would try again. If it had committed a part, nothing is concluded.
//! * Clocks and random numbers differ from run to run: what they are written to is [not compared](chance). An order that
//!   does not agree with itself in other things, either, is noticed.

mod chance;
mod orders;
mod words;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::case::{AssertWhen, Case, Item, Line};
use crate::finding::Finding;
use crate::oracle::observe::{Difference, Observations};
use crate::oracle::{Mode, Oracle, RunError, RunRequest, Runner, Verdict, scheduled, schedules, together, unobserved};
use crate::outcome::ErrorClass;
use crate::program::interpret::{CallEnd, CallFailure};
use crate::schedule::{Policy, Schedule};
use crate::script::EndedCall;
use crate::trace::transactions::transactions;
use crate::trace::{CallRun, Check, Trace};
use crate::value::Value;
use chance::Chance;

/// The oracle's name.
pub const NAME: &str = "calls";

/// So many calls have few enough orders to try them all: 6! = 720.
const CALLS_MAX: usize = 6;

/// Judges by serial orders of calls.
#[derive(Debug, Clone, Default)]
pub struct Calls {
    /// What to do when a session waits.
    pub policy: Policy,
    /// Errors that a call may end with because of others, beside those of concurrency: who relies on a unique key or a
    /// check for what is to be refused lets a call be refused.
    pub excused: &'static [ErrorClass],
}

impl Oracle for Calls {
    fn name(&self) -> &'static str {
        NAME
    }

    fn judge(&self, case: &Case, runner: &mut dyn Runner) -> Result<Verdict, RunError> {
        let calls = case.entries.iter().filter(|entry| matches!(entry.line, Line::Step(_, Item::Call(_), _))).count();
        let steps = case.entries.iter().filter(|entry| matches!(entry.line, Line::Step(..))).count();
        if calls < steps {
            return Ok(Verdict::Unknown("the case sends statements that belong to no call".to_string()));
        }
        if calls > CALLS_MAX {
            return Ok(Verdict::Unknown(format!("{calls} calls have too many orders; {CALLS_MAX} can be tried")));
        }
        let mut verdicts = Vec::new();
        for target in 0..runner.targets().len() {
            for schedule in schedules(case) {
                let mut trial =
                    Trial { policy: &self.policy, excused: self.excused, case, target, runner: &mut *runner };
                verdicts.push(trial.judge(schedule)?);
            }
        }
        Ok(together(verdicts))
    }
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::oracle) struct Ended {
    /// The session, and which of its calls, from 0.
    call: (String, usize),
    /// Its procedure.
    procedure: String,
    /// What it gave back, or how it failed.
    result: Result<Vec<Value>, String>,
}

/// What a run of calls came to.
struct Outcome {
    ended: Vec<Ended>,
    state: Observations,
    /// The assertions that did not hold.
    broken: BTreeSet<String>,
}

/// What is different in another order.
pub(in crate::oracle) enum Unlike {
    /// A call would have come to something else, or not have ended.
    Call {
        /// What it came to in the run; `None` if it did not end.
        did: Option<Ended>,
        /// What it would have come to.
        would: Option<Ended>,
    },
    /// A table would have held something else.
    State(Difference),
}

/// An order of calls, by their positions among the case's entries, and why it does not explain the run.
struct Refuted {
    order: Vec<usize>,
    unlike: Unlike,
}

/// One run that is judged.
struct Trial<'a> {
    policy: &'a Policy,
    excused: &'static [ErrorClass],
    case: &'a Case,
    target: usize,
    runner: &'a mut dyn Runner,
}

impl Trial<'_> {
    fn judge(&mut self, schedule: Option<&Schedule>) -> Result<Verdict, RunError> {
        let trace = self.run(self.case, Mode::Scheduled(schedule.cloned()))?;
        let kept = match unclean(&trace).map_or_else(|| kept(self.case, &trace, self.excused), Err) {
            Ok(kept) => kept,
            Err(reason) => return Ok(Verdict::Unknown(reason)),
        };
        let mut serial = Vec::new();
        for order in orders::all(self.case, &kept) {
            match self.serial(&order)? {
                Ok(trace) => serial.push((order, trace)),
                Err(reason) => return Ok(Verdict::Unknown(reason)),
            }
        }
        let mut chance = Chance::of(self.case, &trace);
        let mut explained = Explained::new(&trace, &serial, &chance, self.excused);
        if explained.is_violation() {
            match self.differences(&serial, &mut chance)? {
                Ok(false) => {}
                Ok(true) => explained = Explained::new(&trace, &serial, &chance, self.excused),
                Err(reason) => return Ok(Verdict::Unknown(reason)),
            }
        }
        let violation = match (explained.witness, explained.broken.first()) {
            (_, Some(name)) => words::broken(self.case, &trace, name),
            (Some(order), None) => return Ok(Verdict::Holds(words::witness(self.case, &order))),
            (None, None) => words::violation(self.case, &kept, &explained.refuted),
        };
        let finding = Finding::new(NAME, violation, scheduled(self.case, schedule), trace);
        Ok(Verdict::Violated(vec![Finding { breaks: explained.broken, ..finding }]))
    }

    fn run(&mut self, case: &Case, mode: Mode) -> Result<Trace, RunError> {
        self.runner.run(&RunRequest { case, target: self.target, policy: self.policy.clone(), mode })
    }

    /// The run of an order of the calls, or why that cannot be told.
    fn serial(&mut self, order: &[usize]) -> Result<Result<Trace, String>, RunError> {
        let case = orders::arranged(self.case, order);
        let trace = self.runner.run(&RunRequest {
            case: &case,
            target: self.target,
            policy: Policy::default(),
            mode: Mode::Scheduled(None),
        })?;
        Ok(match unclean(&trace) {
            Some(reason) => Err(format!("in a serial run, {reason}")),
            None => Ok(trace),
        })
    }

    /// Runs one order again, and adds what is different by chance. Whether there was something; or why the case cannot be
    /// judged by comparing.
    fn differences(
        &mut self,
        serial: &[(Vec<usize>, Trace)],
        chance: &mut Chance,
    ) -> Result<Result<bool, String>, RunError> {
        let Some((order, first)) = serial.first() else { return Ok(Ok(false)) };
        let second = match self.serial(order)? {
            Ok(trace) => trace,
            Err(reason) => return Ok(Err(reason)),
        };
        let is_more = chance.add_differences(first, &second);
        let outcome = |trace: &Trace| Outcome::of(trace, chance, self.excused);
        if outcome(first).unlike(&outcome(&second)).is_none() {
            return Ok(Ok(is_more));
        }
        let reason = "the same order of calls gives something else each time: clocks, random numbers, unordered LIMIT?";
        Ok(Err(reason.to_string()))
    }
}

/// How serial orders explain a run.
struct Explained {
    /// An order that comes to the same.
    witness: Option<Vec<usize>>,
    /// The orders that do not.
    refuted: Vec<Refuted>,
    /// The assertions that only the run breaks.
    broken: Vec<String>,
}

impl Explained {
    fn new(run: &Trace, serial: &[(Vec<usize>, Trace)], chance: &Chance, excused: &[ErrorClass]) -> Explained {
        let run = Outcome::of(run, chance, excused);
        let (mut refuted, mut witness, mut broken) = (Vec::new(), None, BTreeSet::new());
        for (order, trace) in serial {
            let serial = Outcome::of(trace, chance, excused);
            match run.unlike(&serial) {
                None => witness = witness.or_else(|| Some(order.clone())),
                Some(unlike) => refuted.push(Refuted { order: order.clone(), unlike }),
            }
            broken.extend(serial.broken);
        }
        Explained { witness, refuted, broken: run.broken.difference(&broken).cloned().collect() }
    }

    fn is_violation(&self) -> bool {
        self.witness.is_none() && self.broken.is_empty()
    }
}

fn unclean(trace: &Trace) -> Option<String> {
    let died = trace.death.as_ref().map(|death| format!("the server died ({})", death.how));
    died.or_else(|| unobserved(trace))
}

/// The entries of the calls that have a place in a serial order.
fn kept(case: &Case, trace: &Trace, excused: &[ErrorClass]) -> Result<Vec<usize>, String> {
    let mut kept = orders::entries(case);
    for run in trace.calls.iter().filter(|run| failed_by_others(&run.call, excused)) {
        let mine = transactions(trace).into_iter().filter(|transaction| {
            transaction.session == run.session
                && transaction.steps.iter().any(|id| trace.step(*id).item == run.call.item)
        });
        let name = trace.name(run.session);
        if mine.into_iter().any(|transaction| transaction.is_committed()) {
            return Err(format!("a call of {name} had committed a part of its work when others made it fail"));
        }
        let session = case.sessions().into_iter().find(|session| session.name == *name);
        let entry = session.and_then(|session| session.entries.get(run.call.item).copied());
        kept.retain(|at| Some(*at) != entry);
    }
    Ok(kept)
}

fn failed_by_others(call: &EndedCall, excused: &[ErrorClass]) -> bool {
    let is_by_others =
        |class: ErrorClass| class.is_concurrency() || class == ErrorClass::Cancelled || excused.contains(&class);
    match &call.end {
        CallEnd::Failed(CallFailure::Database(error)) => is_by_others(error.class),
        CallEnd::Failed(CallFailure::CommitRefused) => true,
        _ => false,
    }
}

impl Outcome {
    /// What a run came to; calls that others made fail are left out, and so is what comes by chance.
    fn of(trace: &Trace, chance: &Chance, excused: &[ErrorClass]) -> Outcome {
        let runs = trace.calls.iter().filter(|run| !failed_by_others(&run.call, excused));
        let mut ended: Vec<Ended> = runs.map(|run| Ended::of(trace, run, chance)).collect();
        ended.sort_by(|a, b| a.call.cmp(&b.call));
        // Calls are counted among those that are left.
        let mut last: Option<(String, usize)> = None;
        for one in &mut ended {
            let number = last.filter(|(session, _)| *session == one.call.0).map_or(0, |(_, number)| number + 1);
            one.call.1 = number;
            last = Some(one.call.clone());
        }
        let is_broken = |check: &&Check| !check.holds() && check.outcome.error.is_none();
        let broken = trace.checks.iter().filter(is_broken).filter(|check| check.when != AssertWhen::After);
        Outcome {
            ended,
            state: Observations::of_state(trace, |table, column| chance.has_column(table, column)),
            broken: broken.map(|check| check.name.clone()).collect(),
        }
    }

    fn unlike(&self, other: &Outcome) -> Option<Unlike> {
        let find = |ended: &[Ended], call: &(String, usize)| ended.iter().find(|one| one.call == *call).cloned();
        for did in &self.ended {
            let would = find(&other.ended, &did.call);
            if would.as_ref() != Some(did) {
                return Some(Unlike::Call { did: Some(did.clone()), would });
            }
        }
        let extra = other.ended.iter().find(|would| find(&self.ended, &would.call).is_none());
        if let Some(would) = extra {
            return Some(Unlike::Call { did: None, would: Some(would.clone()) });
        }
        self.state.difference(&other.state).map(Unlike::State)
    }
}

impl Ended {
    fn of(trace: &Trace, run: &CallRun, chance: &Chance) -> Ended {
        let output = |(at, value): (usize, &Value)| match chance.has_output(&run.call.procedure, at) {
            true => Value::text("…"),
            false => value.clone(),
        };
        let result = match &run.call.end {
            CallEnd::Returned => Ok(run.call.outputs.iter().enumerate().map(output).collect()),
            CallEnd::Failed(CallFailure::Database(error)) => Err(format!("the error {}", error.class)),
            CallEnd::Failed(failure) => Err(failure.to_string()),
        };
        let session = trace.name(run.session).to_string();
        Ended { call: (session, run.call.item), procedure: run.call.procedure.clone(), result }
    }
}
