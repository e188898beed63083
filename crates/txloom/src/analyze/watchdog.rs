//! Cancels a statement that takes too long: a forced schedule has nobody to wait for, but a statement may be slow.
//!
//! One thread watches all statements of the process. Telling it of each one costs a write to memory: it looks for itself,
//! now and then. Nobody wakes it up to say that there is one session more, since that would be at the very moment when the
//! session begins; so it stays for a while when there is nothing to watch, and only then ends.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use txloom_core::engine::Cancel;

/// How often it looks.
const INTERVAL: Duration = Duration::from_millis(250);
/// How often it looks in vain before it ends.
const IDLE_LOOKS_MAX: usize = 40;

/// Watches the statements of one session, as long as it lives.
pub(super) struct Watchdog(Arc<Watched>);

struct Watched {
    /// How often a statement has begun or ended: odd while one is under way.
    changes: AtomicU64,
    cancel: Mutex<Box<dyn Cancel>>,
    limit: Duration,
}

impl Watchdog {
    pub(super) fn new(cancel: Box<dyn Cancel>, limit: Duration) -> Watchdog {
        let watched = Arc::new(Watched { changes: AtomicU64::new(0), cancel: Mutex::new(cancel), limit });
        let watch = Watch { watched: Arc::downgrade(&watched), seen: 0, since: Instant::now() };
        let mut watcher = watcher();
        watcher.watches.push(watch);
        if !watcher.is_running {
            watcher.is_running = true;
            thread::spawn(run);
        }
        Watchdog(watched)
    }

    /// A statement begins or ends.
    pub(super) fn note(&self) {
        self.0.changes.fetch_add(1, Ordering::AcqRel);
    }
}

/// What the watcher knows of a session.
struct Watch {
    watched: Weak<Watched>,
    /// How many changes there were, and since when.
    seen: u64,
    since: Instant,
}

/// All that is watched, and whether somebody does.
struct Watcher {
    watches: Vec<Watch>,
    is_running: bool,
}

fn watcher() -> MutexGuard<'static, Watcher> {
    static WATCHER: Mutex<Watcher> = Mutex::new(Watcher { watches: Vec::new(), is_running: false });
    WATCHER.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run() {
    let mut idle_looks = 0;
    while idle_looks < IDLE_LOOKS_MAX || !may_end() {
        thread::sleep(INTERVAL);
        // Whoever comes meanwhile need not wait until a statement has been cancelled.
        let mut watches = std::mem::take(&mut watcher().watches);
        watches.retain_mut(Watch::look);
        idle_looks = if watches.is_empty() { idle_looks + 1 } else { 0 };
        watcher().watches.append(&mut watches);
    }
}

/// Ends the watch, unless somebody has come.
fn may_end() -> bool {
    let mut watcher = watcher();
    watcher.is_running = !watcher.watches.is_empty();
    !watcher.is_running
}

impl Watch {
    /// Cancels the statement if it is the same as long ago; false if nobody needs this any more.
    fn look(&mut self) -> bool {
        let Some(watched) = self.watched.upgrade() else { return false };
        let now = watched.changes.load(Ordering::Acquire);
        if now != self.seen {
            (self.seen, self.since) = (now, Instant::now());
        } else if now % 2 == 1 && self.since.elapsed() >= watched.limit {
            // What cannot be cancelled, the server's own limit ends.
            let _ = watched.cancel.lock().unwrap_or_else(PoisonError::into_inner).cancel();
            self.since = Instant::now();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use txloom_core::engine::EngineError;

    use super::*;

    /// Counts how often somebody asks for a cancellation.
    struct Counter(Arc<AtomicU64>);

    impl Cancel for Counter {
        fn cancel(&self) -> Result<(), EngineError> {
            self.0.fetch_add(1, Ordering::AcqRel);
            Ok(())
        }
    }

    #[test]
    fn only_a_statement_that_takes_long_is_cancelled() {
        let watchdog = |limit: Duration| {
            let count = Arc::new(AtomicU64::new(0));
            (Watchdog::new(Box::new(Counter(Arc::clone(&count))), limit), count)
        };
        let (slow, cancelled) = watchdog(Duration::from_millis(1));
        let (patient, patience) = watchdog(Duration::from_secs(3600));
        let (idle, idleness) = watchdog(Duration::from_millis(1));
        slow.note();
        patient.note();
        idle.note();
        idle.note();
        let start = Instant::now();
        while cancelled.load(Ordering::Acquire) == 0 && start.elapsed() < Duration::from_secs(30) {
            thread::sleep(Duration::from_millis(10));
        }
        let counts = [cancelled, patience, idleness].map(|count| count.load(Ordering::Acquire) > 0);
        assert_eq!(counts, [true, false, false]);
    }
}
