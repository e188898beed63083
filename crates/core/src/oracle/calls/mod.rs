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
//! 3. Compared are what the calls gave back and the data that they left. What a call only looked at on its way is its own
//!    business. A call that was [refused](refusal) is left out of both: it was not made.
//! 4. An assertion about states that the run breaks and no serial order does is a violation as well, whatever the data
//!    at the end: somebody could have seen that state. So is one about what is left of calls at the end (`@assert kept`).
//!    One about calls that is asked when they are over (`@assert after`) does not count here by itself: by then others may
//!    have come that a serial order would place behind it.
//!
//! # Limits
//!
//! * Nothing holds of a call that is refused in every serial order as well: it was never seen to work.
//! * Clocks and random numbers differ from run to run: what they are written to is [not compared](chance). An order that
//!   does not agree with itself in other things, either, is noticed.

mod chance;
mod orders;
mod refusal;
mod words;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::case::{AssertWhen, Case, Item, Line};
use crate::finding::Finding;
use crate::oracle::observe::{Difference, Observations};
use crate::oracle::{Mode, Oracle, RunError, RunRequest, Runner, Verdict, scheduled, schedules, together, unobserved};
use crate::program::interpret::{CallEnd, CallFailure};
use crate::schedule::{Policy, Schedule};
use crate::trace::{CallRun, Check, Trace};
use crate::value::Value;
use chance::Chance;
use refusal::CallFate;

/// The oracle's name.
pub const NAME: &str = "calls";

/// So many calls have few enough orders to try them all: 6! = 720.
const CALLS_MAX: usize = 6;

/// Judges by serial orders of calls.
#[derive(Debug, Clone, Default)]
pub struct Calls {
    /// What to do when a session waits.
    pub policy: Policy,
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
                let mut trial = Trial { policy: &self.policy, case, target, runner: &mut *runner };
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
    case: &'a Case,
    target: usize,
    runner: &'a mut dyn Runner,
}

impl Trial<'_> {
    fn judge(&mut self, schedule: Option<&Schedule>) -> Result<Verdict, RunError> {
        let trace = self.run(self.case, Mode::Scheduled(schedule.cloned()))?;
        if let Some(reason) = unclean(&trace) {
            return Ok(Verdict::Unknown(reason));
        }
        let fates = refusal::fates(self.case, &trace);
        let refused = refused(self.case, &trace, &fates);
        let kept: Vec<usize> = orders::entries(self.case).into_iter().filter(|at| !refused.contains_key(at)).collect();
        let mut serial = Vec::new();
        for order in orders::all(self.case, &kept) {
            match self.serial(&order)? {
                Ok(trace) => serial.push((order, trace)),
                Err(reason) => return Ok(Verdict::Unknown(reason)),
            }
        }
        let mut chance = Chance::of(self.case, &trace);
        let mut explained = Explained::new(&trace, &fates, &serial, &chance);
        if explained.is_violation() {
            match self.differences(&serial, &mut chance)? {
                Ok(false) => {}
                Ok(true) => explained = Explained::new(&trace, &fates, &serial, &chance),
                Err(reason) => return Ok(Verdict::Unknown(reason)),
            }
        }
        let violation = match (explained.witness, explained.broken.first()) {
            (_, Some(name)) => words::broken(self.case, &trace, name),
            (Some(order), None) => {
                let never = self.never_made(&refused)?;
                let witness = || Verdict::Holds(words::witness(self.case, &order));
                return Ok(never.map_or_else(witness, Verdict::Unknown));
            }
            (None, None) => words::violation(self.case, &kept, &explained.refuted),
        };
        let finding = Finding::new(NAME, violation, scheduled(self.case, schedule), trace);
        Ok(Verdict::Violated(vec![Finding { breaks: explained.broken, ..finding }]))
    }

    /// The reason why a refused call has never been seen to work: it is refused in every serial order, too.
    fn never_made(&mut self, refused: &BTreeMap<usize, String>) -> Result<Option<String>, RunError> {
        let mut left = refused.clone();
        if left.is_empty() {
            return Ok(None);
        }
        for order in orders::all(self.case, &orders::entries(self.case)) {
            let Ok(trace) = self.serial(&order)? else { continue };
            let arranged = orders::arranged(self.case, &order);
            let fates = refusal::fates(&arranged, &trace);
            for (run, _) in trace.calls.iter().zip(&fates).filter(|(_, fate)| !fate.is_refused()) {
                let made = orders::entry(&arranged, &trace, run).and_then(|at| orders::nth(&arranged, at));
                made.and_then(|nth| order.get(nth)).map(|entry| left.remove(entry));
            }
            if left.is_empty() {
                return Ok(None);
            }
        }
        Ok(left.iter().next().map(|(at, why)| words::never_made(self.case, *at, why)))
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
        let outcome = |trace: &Trace| Outcome::of(trace, &[], chance);
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
    fn new(run: &Trace, fates: &[CallFate], serial: &[(Vec<usize>, Trace)], chance: &Chance) -> Explained {
        let run = Outcome::of(run, fates, chance);
        let (mut refuted, mut witness, mut broken) = (Vec::new(), None, BTreeSet::new());
        for (order, trace) in serial {
            let serial = Outcome::of(trace, &[], chance);
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

/// The entries of the calls that were refused, with the reasons.
fn refused(case: &Case, trace: &Trace, fates: &[CallFate]) -> BTreeMap<usize, String> {
    let entry = |(run, fate): (&CallRun, &CallFate)| match fate {
        CallFate::Made => None,
        CallFate::Refused(why) => Some((orders::entry(case, trace, run)?, why.clone())),
    };
    trace.calls.iter().zip(fates).filter_map(entry).collect()
}

impl Outcome {
    /// What a run came to, without the calls that were refused and what comes by chance. Calls without a fate count.
    fn of(trace: &Trace, fates: &[CallFate], chance: &Chance) -> Outcome {
        let counts = |(at, _): &(usize, &CallRun)| !fates.get(*at).is_some_and(CallFate::is_refused);
        let runs = trace.calls.iter().enumerate().filter(counts);
        let mut ended: Vec<Ended> = runs.map(|(_, run)| Ended::of(trace, run, chance)).collect();
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
