//! Ctrl-C and its like: one flag that long work looks at.

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Asks everything to stop at the next safe point. Safe to call from a signal handler.
pub fn request() {
    REQUESTED.store(true, Ordering::SeqCst);
}

/// Whether somebody asked to stop.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}
