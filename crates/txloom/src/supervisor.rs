//! Limits of long work: a thread looks at the clock, the memory and Ctrl-C, and spends a budget that all loops look
//! at.
//!
//! ```text
//!   time up, too much memory, Ctrl-C ──→ the budget is spent ──→ loops stop ──→ the command reports what it found
//!                                             └── GRACE later, still not done ──→ last words, and the process ends
//! ```
//!
//! Not every loop looks at a budget: parsers and drivers are other people's. So a command leaves *last words* at each
//! stage: what to report if the stage does not stop in time. They are said at most once, and never beside the command's
//! own report.

use std::fs;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use txloom_core::budget::{SpentCause, WorkBudget};

use crate::interrupt;

/// How often the limits are looked at.
const INTERVAL: Duration = Duration::from_millis(20);
/// The time that work has to stop by itself.
const GRACE: Duration = Duration::from_millis(1_200);

/// How long work may take, and how much memory.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkLimits {
    /// The time, from now on.
    pub time: Option<Duration>,
    /// The memory of the process, in bytes.
    pub memory: Option<u64>,
}

/// Reports what is known although a stage has not come to its end, and says how the process ends.
pub type LastWords = Box<dyn FnOnce(&'static str, SpentCause) -> i32 + Send>;

/// Watches over the limits as long as it lives.
pub struct Supervisor {
    budget: WorkBudget,
    watched: Arc<Watched>,
}

#[derive(Default)]
struct Watched {
    stage: Mutex<Stage>,
    changed: Condvar,
}

#[derive(Default)]
struct Stage {
    name: &'static str,
    last_words: Option<LastWords>,
    is_over: bool,
}

impl Supervisor {
    /// Begins to watch.
    pub fn start(limits: WorkLimits) -> Supervisor {
        let supervisor = Supervisor { budget: WorkBudget::unlimited(), watched: Arc::default() };
        let (budget, watched) = (supervisor.budget.clone(), Arc::clone(&supervisor.watched));
        let deadline = limits.time.map(|time| Instant::now() + time);
        std::thread::spawn(move || watch(&watched, &budget, deadline, limits.memory));
        supervisor
    }

    /// The budget that is spent once a limit is reached.
    pub fn budget(&self) -> &WorkBudget {
        &self.budget
    }

    /// A stage begins. The last words of the one before hold until there are others.
    pub fn begin(&self, name: &'static str) {
        self.watched.lock().name = name;
    }

    /// The stage that is under way.
    pub fn stage(&self) -> &'static str {
        self.watched.lock().name
    }

    /// Leaves last words for this stage and those behind it.
    pub fn leave(&self, words: LastWords) {
        self.watched.lock().last_words = Some(words);
    }

    /// From now on, the command itself reports. Does not return if last words are being said.
    pub fn finish(&self) {
        let mut stage = self.watched.lock();
        stage.is_over = true;
        stage.last_words = None;
        self.watched.changed.notify_all();
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Watched {
    fn lock(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a while; true if the work is over.
    fn is_over_within(&self, time: Duration) -> bool {
        let until = |stage: &mut Stage| !stage.is_over;
        let waited = self.changed.wait_timeout_while(self.lock(), time, until);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_over
    }
}

fn watch(watched: &Watched, budget: &WorkBudget, deadline: Option<Instant>, memory: Option<u64>) {
    let cause = loop {
        if watched.is_over_within(INTERVAL) {
            return;
        }
        if interrupt::requested() {
            break SpentCause::Interrupt;
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            break SpentCause::Time;
        }
        if memory.is_some_and(|most| resident_bytes().is_some_and(|used| used > most)) {
            break SpentCause::Memory;
        }
    };
    budget.spend(cause);
    if watched.is_over_within(GRACE) {
        return;
    }
    let mut stage = watched.lock();
    if let Some(words) = stage.last_words.take().filter(|_| !stage.is_over) {
        std::process::exit(words(stage.name, cause));
    }
}

/// The memory of this process that is in use, where the system tells.
fn resident_bytes() -> Option<u64> {
    let told = fs::read_to_string("/proc/self/status").ok()?;
    let line = told.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_is_reached_spends_the_budget() {
        let supervisor = Supervisor::start(WorkLimits { time: None, memory: Some(1) });
        while !supervisor.budget().is_spent() {
            std::thread::yield_now();
        }
        assert_eq!(supervisor.budget().cause(), Some(SpentCause::Memory));
    }

    #[test]
    fn what_is_finished_has_no_last_words() {
        let supervisor = Supervisor::start(WorkLimits { time: Some(Duration::from_millis(1)), memory: None });
        supervisor.begin("testing");
        supervisor.leave(Box::new(|_, _| 99));
        supervisor.finish();
        assert!(supervisor.watched.lock().last_words.is_none());
        assert_eq!(supervisor.stage(), "testing");
    }
}
