//! A worker: takes groups, judges their cases, brings what is wrong to the ledger.

use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use txloom_core::case::Case;
use txloom_core::engine::Engine;
use txloom_core::finding::Finding;
use txloom_core::generate::Group;
use txloom_core::oracle::{Oracle, RunError, Runner as _};
use txloom_core::reduce::{Reduced, smallest};

use super::judge::{self, Violation};
use super::ledger::{Entry, Ledger};
use super::storms::{self, Recorded, StormFound};
use super::turns::Turns;
use super::{Cases, Counts, Ended, Found, Heard, Hunt, HuntError, Origin, Plan, SAMPLE_EVERY, Summary};
use crate::execute::{EngineRunner, ExecuteOptions};
use crate::interrupt;

/// So many cases in a row that cannot be observed end the hunt.
const FAILURES_MAX: u32 = 5;

/// What a worker tells.
pub(super) enum Message {
    /// What it did since it last told.
    Counts(Box<Counts>),
    /// Something new.
    Found(Box<Found>),
    /// Something new that a storm found.
    Recorded(Box<StormFound>),
}

/// What the workers of a hunt share.
pub(super) struct Shared<'a> {
    cases: &'a dyn Cases,
    cases_max: Option<u64>,
    /// The only group to judge, if there is one.
    only: Option<u64>,
    deadline: Option<Instant>,
    taken: Mutex<Taken>,
    turns: Turns,
    ledger: Mutex<Ledger>,
    recorded: Mutex<Recorded>,
    ended: Mutex<Option<Ended>>,
}

/// What has been given to workers.
#[derive(Default)]
struct Taken {
    groups: u64,
    cases: u64,
}

impl<'a> Shared<'a> {
    /// Nothing has been taken yet.
    pub(super) fn new(hunt: &Hunt<'_>, cases: &'a dyn Cases, start: Instant) -> Shared<'a> {
        Shared {
            cases,
            cases_max: hunt.budget.cases,
            only: hunt.group,
            deadline: hunt.budget.time.and_then(|time| start.checked_add(time)),
            taken: Mutex::default(),
            turns: Turns::default(),
            ledger: Mutex::default(),
            recorded: Mutex::default(),
            ended: Mutex::default(),
        }
    }

    /// Ends the hunt at the next safe point. The first reason counts.
    pub(super) fn stop(&self, reason: Ended) {
        locked(&self.ended).get_or_insert(reason);
    }

    /// Why the hunt ended.
    pub(super) fn ended(&self) -> Ended {
        locked(&self.ended).take().unwrap_or(Ended::Budget)
    }

    /// Whether the hunt was for one finding, and has it.
    fn has_found_first(&self) -> bool {
        matches!(*locked(&self.ended), Some(Ended::FirstFound))
    }

    /// Whether nothing more is to be begun.
    fn is_over(&self) -> bool {
        if interrupt::requested() {
            self.stop(Ended::Interrupted);
        }
        locked(&self.ended).is_some() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// The next group and its position; the last one is cut so that the number of cases is what was asked for.
    fn take(&self) -> Option<(u64, Group)> {
        // A group is made under the lock: only then is it known how many cases are left for the next one.
        let mut taken = locked(&self.taken);
        let left = self.cases_max.map_or(u64::MAX, |max| max.saturating_sub(taken.cases));
        if left == 0 || self.is_over() {
            return None;
        }
        let position = taken.groups;
        let number = match self.only {
            None => position,
            Some(only) if position == 0 => only,
            Some(_) => return None,
        };
        let mut group = self.cases.group(number);
        if group.cases.is_empty() {
            return None;
        }
        group.cases.truncate(usize::try_from(left).unwrap_or(usize::MAX));
        taken.groups += 1;
        taken.cases += group.cases.len() as u64;
        Some((position, group))
    }

    /// What the hunt came to.
    pub(super) fn summary(&self, plan: Plan, heard: Heard, elapsed: Duration, ended: Ended) -> Summary {
        let Heard { counts, mut found, recorded } = heard;
        let ledger = locked(&self.ledger);
        found.iter_mut().enumerate().for_each(|(position, found)| found.repeats = ledger.repeats(position));
        Summary { plan, counts, found, recorded, elapsed, ended }
    }
}

/// A worker that panicked has spoiled nothing that others use: every change under a lock is a single assignment.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One worker, with engines of its own.
pub(super) struct Worker<'a> {
    hunt: &'a Hunt<'a>,
    shared: &'a Shared<'a>,
    runner: EngineRunner,
    oracles: Vec<Box<dyn Oracle>>,
    sender: Sender<Message>,
    /// What has not been told yet.
    counts: Counts,
    failures_in_a_row: u32,
}

impl<'a> Worker<'a> {
    /// Opens its engines, unless it is given some.
    pub(super) fn start(
        hunt: &'a Hunt<'a>,
        shared: &'a Shared<'a>,
        engines: Option<Vec<Box<dyn Engine>>>,
        sender: Sender<Message>,
    ) -> Result<Worker<'a>, HuntError> {
        let engines = match engines {
            Some(engines) => engines,
            None => (hunt.engines)().inspect_err(|_| shared.stop(Ended::Budget))?,
        };
        let options = ExecuteOptions { statement_limit: hunt.statement_limit };
        let runner = EngineRunner::new(engines).with_options(options);
        let oracles = (hunt.oracles)(&runner.targets());
        Ok(Worker { hunt, shared, runner, oracles, sender, counts: Counts::default(), failures_in_a_row: 0 })
    }

    /// Works until nothing is left to do.
    pub(super) fn work(mut self) -> Result<(), HuntError> {
        let result = self.work_off();
        self.tell();
        if result.is_err() {
            // The others need not go on: the caller will hear of the error.
            self.shared.stop(Ended::Budget);
        }
        result
    }

    fn work_off(&mut self) -> Result<(), HuntError> {
        while let Some((position, group)) = self.shared.take() {
            let turn = self.shared.turns.take(position);
            let violations = self.judge_group(&group)?;
            self.tell();
            if !violations.is_empty() {
                turn.wait();
            }
            for (origin, violation) in violations {
                self.settle(origin, violation);
            }
            // Others need not wait until a storm is over.
            drop(turn);
            self.storm_after(group.number)?;
            self.tell();
        }
        Ok(())
    }

    /// The storm that comes after a group, if one does.
    fn storm_after(&mut self, group: u64) -> Result<(), HuntError> {
        let Some(storms) = self.hunt.storms else { return Ok(()) };
        let Some(number) = storms.after(group).filter(|_| !self.shared.is_over()) else { return Ok(()) };
        let engines = self.runner.engines_mut();
        let target = number as usize % engines.len();
        let (shared, hunt) = (self.shared, self.hunt);
        let is_over = || shared.is_over();
        let result = storms::run(number, hunt.seed, storms.time, &hunt.levels, engines[target].as_mut(), &is_over);
        let Some(weathered) = self.observed(result.map_err(RunError::Engine))? else { return Ok(()) };
        self.counts.storms += 1;
        self.counts.storm_transactions += weathered.transactions;
        let Some(found) = weathered.found.filter(|_| !shared.has_found_first()) else { return Ok(()) };
        if !locked(&shared.recorded).is_new(&found) {
            self.counts.repeated += 1;
            return Ok(());
        }
        self.report(Message::Recorded(Box::new(found)));
        Ok(())
    }

    /// Judges the cases of a group; gives what is wrong with them each time that they are looked at.
    fn judge_group(&mut self, group: &Group) -> Result<Vec<(Origin, Violation)>, HuntError> {
        let mut believed = Vec::new();
        for (position, case) in group.cases.iter().enumerate() {
            if self.shared.is_over() {
                break;
            }
            let judged = judge::judge(case, group.number, &self.oracles, &mut self.runner, &mut self.counts);
            for violation in self.observed(judged)?.unwrap_or_default() {
                let oracle = self.oracles[violation.oracle].as_ref();
                let again = judge::is_reproducible(&violation.finding, oracle, &mut self.runner);
                let origin = Origin { seed: self.hunt.seed, group: group.number, case: position };
                match self.observed(again)? {
                    Some(true) => believed.push((origin, violation)),
                    Some(false) => self.note_unreproducible(origin, &violation),
                    None => {}
                }
            }
            self.sample(group.number, position, case)?;
        }
        Ok(believed)
    }

    fn note_unreproducible(&mut self, origin: Origin, violation: &Violation) {
        self.counts.unreproducible += 1;
        let (Origin { seed, group, case }, sentence) = (origin, &violation.finding.sentence);
        let place = format!("seed {seed}, group {group}, case {case}");
        self.counts.note_trouble(format!("did not come again: {sentence} ({place})"));
    }

    fn sample(&mut self, group: u64, position: usize, case: &Case) -> Result<(), HuntError> {
        // Which cases are looked at depends on nothing but their numbers.
        if !(group + position as u64).is_multiple_of(SAMPLE_EVERY) || self.shared.is_over() {
            return Ok(());
        }
        match judge::sample(case, &mut self.runner, &mut self.counts) {
            // What was written to see more may be refused where the case itself was not.
            Ok(()) | Err(RunError::Setup { .. } | RunError::Case(_) | RunError::Program(_)) => Ok(()),
            Err(error) => self.observed(Err::<(), _>(error)).map(|_| ()),
        }
    }

    /// What was observed; `None` if it could not be. An error means that there is no point in going on.
    fn observed<T>(&mut self, result: Result<T, RunError>) -> Result<Option<T>, HuntError> {
        let error = match result {
            Ok(value) => {
                self.failures_in_a_row = 0;
                return Ok(Some(value));
            }
            Err(error) => error,
        };
        if judge::is_interruption(&error) {
            self.shared.stop(Ended::Interrupted);
            return Ok(None);
        }
        self.counts.note_trouble(error.to_string());
        match error {
            RunError::Engine(error) => {
                self.counts.unobserved += 1;
                self.failures_in_a_row += 1;
                // A server that refuses one connection may accept the next one.
                let is_hopeless = error.kind.is_users();
                if is_hopeless || self.failures_in_a_row >= FAILURES_MAX { Err(error.into()) } else { Ok(None) }
            }
            RunError::Setup { .. } | RunError::Program(_) | RunError::Case(_) => {
                self.counts.refused += 1;
                Ok(None)
            }
        }
    }

    /// Decides what a violation is: new, known, or one more of the same. Only whose turn it is comes here.
    fn settle(&mut self, origin: Origin, violation: Violation) {
        if self.shared.has_found_first() {
            return;
        }
        let Violation { oracle, finding } = violation;
        let mut ledger = locked(&self.shared.ledger);
        let is_worth_it = ledger.is_worth_reducing(&finding);
        if let Some(entry) = ledger.again(&finding.fingerprint) {
            self.counts.note_again(&entry);
            return;
        }
        if !is_worth_it {
            self.counts.repeated += 1;
            return;
        }
        let (smallest, reduced) = self.reduce(&finding, oracle);
        if let Some(entry) = ledger.again(&smallest.fingerprint) {
            ledger.note_repeat(&smallest);
            self.counts.note_again(&entry);
            return;
        }
        let known = self.hunt.known.matching(&smallest).map(|entry| entry.id.clone());
        match ledger.note_new(&smallest, known, finding.fingerprint.clone()) {
            Entry::Known(id) => *self.counts.known.entry(id).or_default() += 1,
            Entry::Found(position) => {
                drop(ledger);
                let (number, original) = (position + 1, finding.case);
                let finding = self.explained(smallest, oracle);
                let found = Found { number, finding, original, reduced, origin, repeats: 0 };
                self.report(Message::Found(Box::new(found)));
            }
        }
    }

    fn report(&mut self, found: Message) {
        self.counts.new += 1;
        if self.hunt.stop_on_first {
            self.shared.stop(Ended::FirstFound);
        }
        self.tell();
        // If nobody listens any more, the hunt is over anyway.
        let _ = self.sender.send(found);
    }

    /// Makes a finding smaller. What is smaller is believed only if it, too, appears each time; otherwise, or if the
    /// engine fails on the way, the finding stays as it is: it has been confirmed.
    fn reduce(&mut self, finding: &Finding, oracle: usize) -> (Finding, Option<Reduced>) {
        let oracle = self.oracles[oracle].as_ref();
        let reduced = smallest(finding, oracle, &mut self.runner, self.hunt.reduce_tests);
        let believed = reduced.and_then(|(smallest, reduced)| {
            let is_believed = judge::is_reproducible(&smallest, oracle, &mut self.runner)?;
            Ok(is_believed.then_some((smallest, reduced)))
        });
        match believed {
            Ok(Some((smallest, reduced))) => (smallest, Some(reduced)),
            Ok(None) | Err(_) => (finding.clone(), None),
        }
    }

    /// What the oracle finds out about something new before somebody reads it.
    fn explained(&mut self, finding: Finding, oracle: usize) -> Finding {
        let explained = self.oracles[oracle].explain(finding.clone(), &mut self.runner);
        explained.unwrap_or(finding)
    }

    /// Tells what was done since the last time.
    fn tell(&mut self) {
        let counts = std::mem::take(&mut self.counts);
        // If nobody listens any more, the hunt is over anyway.
        let _ = self.sender.send(Message::Counts(Box::new(counts)));
    }
}

impl Counts {
    fn note_again(&mut self, entry: &Entry) {
        match entry {
            Entry::Found(_) => self.repeated += 1,
            Entry::Known(id) => *self.known.entry(id.clone()).or_default() += 1,
        }
    }
}
