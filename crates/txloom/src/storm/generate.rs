//! Generation alone: statements are made as fast as possible, and thrown away.
//!
//! How much a generator costs shows without a database. Every transaction is taken to commit at once, so that rows come
//! and go in the shadow as they would in the database; sessions still compete for keys, each on a thread of its own.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use txloom_core::engine::{Engine, EngineError, EngineErrorKind};
use txloom_core::history::Status;

use super::workload::Next;
use super::{Ended, FaultCounts, Plan, Storm, Summary, Tally, Watcher};
use crate::interrupt;

/// So many transactions are made before anybody looks at the clock.
const BATCH: u64 = 256;

impl Storm<'_> {
    /// Makes the transactions of the storm and sends none of them. The engine only says in which language.
    pub fn generate(&self, engine: &dyn Engine, watcher: &mut dyn Watcher) -> Result<Summary, EngineError> {
        let plan = Plan { generate_only: true, ..self.plan(engine)? };
        if self.workload.figures().is_none() {
            let what = format!("statements of `{}` without answers: they depend on them", self.workload.name());
            return Err(EngineError::new(&plan.engine.target, EngineErrorKind::Unsupported(what)));
        }
        let is_stopped = watcher.started(&plan) == ControlFlow::Break(());
        let (taken, start) = (AtomicU64::new(0), Instant::now());
        let mut tally = Tally::default();
        if !is_stopped {
            std::thread::scope(|scope| {
                let work = |session| self.generate_session(session, &taken, start);
                let threads: Vec<_> = (0..self.scale.sessions).map(|at| scope.spawn(move || work(at))).collect();
                threads.into_iter().filter_map(|thread| thread.join().ok()).for_each(|made| tally.merge(&made));
            });
        }
        Ok(Summary {
            plan,
            tally,
            elapsed: start.elapsed(),
            ended: if interrupt::requested() { Ended::Interrupted } else { Ended::Budget },
            faults: FaultCounts::default(),
            history: None,
            contention: None,
            figures: self.workload.figures(),
            breaches: Vec::new(),
            invariants: 0,
            audited: 0,
            is_audited_at_end: false,
            damage: Vec::new(),
            troubles: Vec::new(),
        })
    }

    fn generate_session(&self, session: usize, taken: &AtomicU64, start: Instant) -> Tally {
        let mut transactions = self.workload.session(self.seed, session);
        let mut tally = Tally::default();
        let limit = self.budget.transactions.unwrap_or(u64::MAX);
        let time = self.budget.time.unwrap_or(Duration::MAX);
        while start.elapsed() < time && !interrupt::requested() {
            let from = taken.fetch_add(BATCH, Ordering::Relaxed);
            for _ in from..limit.min(from.saturating_add(BATCH)) {
                transactions.begin();
                while let Next::Execute(statement) = transactions.next() {
                    std::hint::black_box(statement);
                    tally.statements += 1;
                }
                transactions.ended(Status::Committed);
                tally.committed += 1;
            }
            if from.saturating_add(BATCH) >= limit {
                break;
            }
        }
        tally
    }
}
