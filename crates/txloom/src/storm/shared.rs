//! What the sessions of a storm share: numbers, and nothing else.
//!
//! No session ever waits for another one here. Everything that sessions have in common is an atomic number; what is longer
//! than a number stays with its session until the storm is over.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use txloom_core::outcome::ErrorClass;

use super::Budget;
use super::environment::EnvironmentCounts;
use super::latency::Latency;

/// How long a session sleeps at most before it looks whether the storm is over.
const NAP: Duration = Duration::from_millis(20);

/// The numbers.
pub(super) struct Shared {
    start: Instant,
    budget: Budget,
    rate: Option<u32>,
    /// How many transactions of the budget are taken.
    taken: AtomicU64,
    /// How many have begun; with a rate, this says when the next one may.
    begun: AtomicU64,
    /// A common order of beginnings and ends.
    clock: AtomicU64,
    is_over: AtomicBool,
    /// How often everybody was called back.
    calls: AtomicU64,
    /// How many injected faults have begun and ended: odd while there is one.
    faults: AtomicU64,
    pub(super) committed: AtomicU64,
    pub(super) rolled_back: AtomicU64,
    /// By session: since when a statement is being executed, in microseconds after the start; 0: none.
    busy: Vec<AtomicU64>,
}

/// Leave to begin a transaction.
pub(super) enum Leave {
    /// Granted.
    Begin,
    /// Everybody is called back: the connection is given up.
    CalledBack,
    /// The storm is over.
    Over,
}

impl Shared {
    pub(super) fn new(budget: Budget, rate: Option<u32>, sessions: usize) -> Shared {
        Shared {
            start: Instant::now(),
            budget,
            rate,
            taken: AtomicU64::new(0),
            begun: AtomicU64::new(0),
            clock: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            calls: AtomicU64::new(0),
            faults: AtomicU64::new(0),
            committed: AtomicU64::new(0),
            rolled_back: AtomicU64::new(0),
            busy: (0..sessions).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    pub(super) fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    pub(super) fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    /// Has everybody end the present transaction, hand over what was logged, and wait for a new connection.
    pub(super) fn call_back(&self) {
        self.calls.fetch_add(1, Ordering::SeqCst);
    }

    /// A fault begins, unless there is one.
    pub(super) fn begin_fault(&self) {
        self.faults.fetch_add(1 - self.faults.load(Ordering::SeqCst) % 2, Ordering::SeqCst);
    }

    /// The fault has ended, if there was one.
    pub(super) fn end_fault(&self) {
        self.faults.fetch_add(self.faults.load(Ordering::SeqCst) % 2, Ordering::SeqCst);
    }

    /// The number of faults that have begun and ended, for [`Shared::is_disturbed`].
    pub(super) fn faults(&self) -> u64 {
        self.faults.load(Ordering::SeqCst)
    }

    /// True if there was an injected fault at some time since.
    pub(super) fn is_disturbed(&self, since: u64) -> bool {
        since % 2 == 1 || self.faults() != since
    }

    /// Takes one transaction of the budget, and sleeps until its time has come.
    pub(super) fn ask_leave(&self, calls_known: u64) -> Leave {
        if self.is_over() {
            return Leave::Over;
        }
        let tries = self.begun.load(Ordering::SeqCst);
        if self.budget.tries_max().is_some_and(|limit| tries >= limit) || !self.take() {
            return Leave::Over;
        }
        let number = self.begun.fetch_add(1, Ordering::SeqCst);
        let time = self.rate.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(number as f64 / f64::from(rate)));
        loop {
            match time.checked_sub(self.elapsed()) {
                _ if self.is_over() => return Leave::Over,
                _ if self.calls() > calls_known => {
                    self.give_back();
                    return Leave::CalledBack;
                }
                None | Some(Duration::ZERO) => return Leave::Begin,
                Some(left) => std::thread::sleep(left.min(NAP)),
            }
        }
    }

    /// Takes one transaction of the budget, if there is one left.
    fn take(&self) -> bool {
        let one_more = |taken: u64| self.budget.transactions.is_none_or(|limit| taken < limit).then_some(taken + 1);
        self.taken.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more).is_ok()
    }

    /// A transaction that does not count. Whoever gives back is still there to take again, so none is lost.
    pub(super) fn give_back(&self) {
        self.taken.fetch_sub(1, Ordering::SeqCst);
    }

    /// Whether transactions that were rolled back do not count.
    pub(super) fn counts_commits(&self) -> bool {
        self.budget.only_commits
    }

    pub(super) fn set_busy(&self, session: usize, is_busy: bool) {
        let since = if is_busy { (self.elapsed().as_micros() as u64).max(1) } else { 0 };
        self.busy[session].store(since, Ordering::SeqCst);
    }

    /// How long a session's statement has been running.
    pub(super) fn busy_for(&self, session: usize) -> Option<Duration> {
        let since = self.busy[session].load(Ordering::SeqCst);
        (since > 0).then(|| self.elapsed().saturating_sub(Duration::from_micros(since)))
    }
}

/// What one session did, in numbers; and, put together, what all did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Transactions that committed.
    pub committed: u64,
    /// Transactions that were rolled back, by the error that made them; `None`: by their own choice.
    pub rolled_back: BTreeMap<Option<ErrorClass>, u64>,
    /// Transactions whose COMMIT was sent and never answered.
    pub unknown: u64,
    /// Rollbacks to a savepoint; their transactions went on.
    pub to_savepoint: u64,
    /// Transactions that failed by the environment while no fault was injected; see [`environment`](super::environment).
    pub environment: EnvironmentCounts,
    /// Transactions that failed by the environment while a fault was injected.
    pub injected: u64,
    /// Statements, without those that begin and end transactions.
    pub statements: u64,
    /// How long transactions took that committed.
    pub latency: Latency,
}

impl Tally {
    /// All transactions.
    pub fn transactions(&self) -> u64 {
        self.committed + self.unknown + self.rolled_back.values().sum::<u64>()
    }

    /// Adds what another session did.
    pub fn merge(&mut self, other: &Tally) {
        self.committed += other.committed;
        self.unknown += other.unknown;
        self.to_savepoint += other.to_savepoint;
        self.injected += other.injected;
        for (class, count) in &other.environment {
            *self.environment.entry(*class).or_default() += count;
        }
        self.statements += other.statements;
        for (class, count) in &other.rolled_back {
            *self.rolled_back.entry(*class).or_default() += count;
        }
        self.latency.merge(&other.latency);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granted(shared: &Shared) -> usize {
        std::iter::from_fn(|| matches!(shared.ask_leave(0), Leave::Begin).then_some(())).count()
    }

    #[test]
    fn a_budget_is_spent_and_not_more() {
        let shared = Shared::new(Budget::transactions(7), None, 1);
        assert_eq!(granted(&shared), 7);
        let shared = Shared::new(Budget { only_commits: true, ..Budget::transactions(2) }, None, 1);
        let tries = std::iter::from_fn(|| matches!(shared.ask_leave(0), Leave::Begin).then(|| shared.give_back()));
        assert_eq!(tries.count(), 2 * 20, "who never commits gives up");
    }

    #[test]
    fn a_rate_is_kept() {
        let shared = Shared::new(Budget::transactions(5), Some(100), 1);
        assert_eq!(granted(&shared), 5);
        assert!(shared.elapsed() >= Duration::from_millis(40));
    }

    #[test]
    fn a_transaction_is_disturbed_by_a_fault_at_any_time() {
        let shared = Shared::new(Budget::default(), None, 1);
        let before = shared.faults();
        assert!(!shared.is_disturbed(before));
        shared.begin_fault();
        shared.begin_fault();
        let during = shared.faults();
        assert!(shared.is_disturbed(before) && shared.is_disturbed(during));
        shared.end_fault();
        shared.end_fault();
        assert!(shared.is_disturbed(before) && shared.is_disturbed(during) && !shared.is_disturbed(shared.faults()));
    }

    #[test]
    fn whoever_sleeps_hears_the_call() {
        let shared = Shared::new(Budget::transactions(5), Some(1), 1);
        assert!(matches!(shared.ask_leave(0), Leave::Begin));
        shared.call_back();
        assert!(matches!(shared.ask_leave(0), Leave::CalledBack));
        shared.end();
        assert!(matches!(shared.ask_leave(1), Leave::Over));
    }
}
