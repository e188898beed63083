//! The rows that tables begin with: loaded after they were made, before the first session is opened.
//!
//! ```text
//!   this thread                         another thread
//!   ───────────                         ──────────────
//!   listens, tells the watcher          Engine::load ── row(0), row(1), … ──→ database
//!              ↑                                              │
//!              └────────────── rows so far ───────────────────┘
//! ```
//!
//! Millions of rows take a while. Whoever asks for a row is counted, which is all that progress needs; and when somebody
//! wants no more, there are no more rows, so that loading ends by itself, whatever the engine.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use txloom_core::bulk::{Bulk, Cells};
use txloom_core::engine::{Engine, EngineError, EngineErrorKind};

use super::watch::{Loading, Watcher};
use super::workload::Workload;
use crate::interrupt;

/// How often a watcher is told of progress.
const TICK: Duration = Duration::from_millis(200);

/// More connections than this do not make a server faster.
const THREADS_MAX: usize = 8;

/// Loads all rows of a workload, table by table in its order.
pub(super) fn populate(
    workload: &dyn Workload,
    engine: &mut dyn Engine,
    watcher: &mut dyn Watcher,
) -> Result<(), EngineError> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    workload.population().iter().try_for_each(|bulk| load(bulk.as_ref(), engine, threads, watcher))
}

fn load(
    bulk: &dyn Bulk,
    engine: &mut dyn Engine,
    threads: usize,
    watcher: &mut dyn Watcher,
) -> Result<(), EngineError> {
    let target = engine.info().target.clone();
    let watched = Watched { bulk, rows: AtomicU64::new(0), is_over: AtomicBool::new(false) };
    let start = Instant::now();
    let loaded = std::thread::scope(|scope| {
        let (done, ended) = channel();
        let loader = scope.spawn(|| {
            let loaded = engine.load(&watched, threads);
            drop(done);
            loaded
        });
        while ended.recv_timeout(TICK) == Err::<(), _>(RecvTimeoutError::Timeout) {
            let rows = watched.rows.load(Ordering::Relaxed);
            let loading = Loading { table: bulk.table(), rows, positions: bulk.positions(), elapsed: start.elapsed() };
            if interrupt::requested() || watcher.loading(&loading) == ControlFlow::Break(()) {
                watched.is_over.store(true, Ordering::Relaxed);
            }
        }
        loader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    match watched.is_over.into_inner() {
        true => Err(EngineError::new(&target, EngineErrorKind::Interrupted)),
        false => loaded.map(drop),
    }
}

/// Rows that are counted, and that can come to an end.
struct Watched<'a> {
    bulk: &'a dyn Bulk,
    rows: AtomicU64,
    is_over: AtomicBool,
}

impl Bulk for Watched<'_> {
    fn table(&self) -> &str {
        self.bulk.table()
    }

    fn columns(&self) -> &[String] {
        self.bulk.columns()
    }

    fn positions(&self) -> u64 {
        self.bulk.positions()
    }

    fn row(&self, position: u64, cells: &mut Cells) -> bool {
        let is_there = !self.is_over.load(Ordering::Relaxed) && self.bulk.row(position, cells);
        self.rows.fetch_add(u64::from(is_there), Ordering::Relaxed);
        is_there
    }
}
