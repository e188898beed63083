//! Cancels a statement that takes too long: a forced schedule has nobody to wait for, but a statement may be slow.
//!
//! One thread watches all statements of the process. Telling it of each one costs a write to memory: it looks for itself,
//! now and then, and not at all while there is nothing to watch.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use txloom_core::engine::Cancel;

/// How often it looks.
const INTERVAL: Duration = Duration::from_millis(250);

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
        // The thread never ends; if it could not be started, the server's own limit ends statements.
        let _ = watcher().lock().unwrap_or_else(PoisonError::into_inner).send(Arc::downgrade(&watched));
        Watchdog(watched)
    }

    /// A statement begins or ends.
    pub(super) fn note(&self) {
        self.0.changes.fetch_add(1, Ordering::AcqRel);
    }
}

fn watcher() -> &'static Mutex<Sender<Weak<Watched>>> {
    static WATCHER: OnceLock<Mutex<Sender<Weak<Watched>>>> = OnceLock::new();
    WATCHER.get_or_init(|| {
        let (tell, told) = channel();
        std::thread::spawn(move || watch(&told));
        Mutex::new(tell)
    })
}

fn watch(told: &Receiver<Weak<Watched>>) {
    let mut all: Vec<(Weak<Watched>, u64, Instant)> = Vec::new();
    loop {
        let heard = if all.is_empty() {
            told.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            told.recv_timeout(INTERVAL)
        };
        match heard {
            Ok(watched) => all.push((watched, 0, Instant::now())),
            Err(RecvTimeoutError::Timeout) => all.retain_mut(|(watched, seen, since)| look(watched, seen, since)),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Cancels the statement if it is the same as long ago; false if nobody needs this any more.
fn look(watched: &Weak<Watched>, seen: &mut u64, since: &mut Instant) -> bool {
    let Some(watched) = watched.upgrade() else { return false };
    let now = watched.changes.load(Ordering::Acquire);
    if now != *seen {
        (*seen, *since) = (now, Instant::now());
    } else if now % 2 == 1 && since.elapsed() >= watched.limit {
        // What cannot be cancelled, the server's own limit ends.
        let _ = watched.cancel.lock().unwrap_or_else(PoisonError::into_inner).cancel();
        *since = Instant::now();
    }
    true
}
