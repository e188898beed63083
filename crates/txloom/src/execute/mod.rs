//! The executor: runs a case on an engine and writes down exactly what happened.
//!
//! It alone decides what runs next. Each session lives on a thread of its own ([`worker`]), because a statement blocks
//! as long as the server does; the executor's thread submits one step at a time, and the next one only when the engine
//! is [quiet](txloom_core::schedule::quiet).
//!
//! ```text
//!   reset ─→ open sessions ─→ ┌─ choose the next step  (plan.rs: schedule, policy, mode) ─┐
//!                             │  submit it             (run.rs)                           │ until nothing is left
//!                             └─ settle: wait for quiet, collect completions (settle.rs) ─┘
//!            ─→ roll back what is open ─→ snapshot ─→ Trace
//! ```
//!
//! Determinism: what is recorded is only what holds at quiet points. Completions that arrive between two quiet points
//! are put in order of submission; a wait that begins and ends between them (the closer of a deadlock waits for a
//! moment, too) is not recorded. So a trace does not depend on thread scheduling.

mod plan;
mod run;
mod settle;
mod worker;

use std::time::Duration;

use txloom_core::engine::{Engine, EngineInfo};
use txloom_core::oracle::{RunError, RunRequest, Runner};
use txloom_core::trace::Trace;

/// What may be set about every run.
#[derive(Debug, Clone)]
pub struct ExecuteOptions {
    /// How long one statement may run (not: wait) before it is cancelled.
    pub statement_limit: Duration,
}

impl Default for ExecuteOptions {
    fn default() -> ExecuteOptions {
        ExecuteOptions { statement_limit: Duration::from_secs(10) }
    }
}

/// Runs cases on engines that it owns. One runner, one thread: engines are not shared.
pub struct EngineRunner {
    engines: Vec<Box<dyn Engine>>,
    options: ExecuteOptions,
}

impl EngineRunner {
    /// A runner with default options.
    pub fn new(engines: Vec<Box<dyn Engine>>) -> EngineRunner {
        EngineRunner { engines, options: ExecuteOptions::default() }
    }

    /// The same runner with other options.
    pub fn with_options(self, options: ExecuteOptions) -> EngineRunner {
        EngineRunner { options, ..self }
    }

    /// The engines, to talk to them directly between runs.
    pub fn engines_mut(&mut self) -> &mut [Box<dyn Engine>] {
        &mut self.engines
    }
}

impl Runner for EngineRunner {
    fn targets(&self) -> Vec<EngineInfo> {
        self.engines.iter().map(|engine| engine.info().clone()).collect()
    }

    fn run(&mut self, request: &RunRequest<'_>) -> Result<Trace, RunError> {
        let engine = self
            .engines
            .get_mut(request.target)
            .ok_or_else(|| RunError::Case(format!("there is no target number {}", request.target)))?;
        run::execute(engine.as_mut(), request, &self.options)
    }

    /// Each target has a thread of its own for as long as this takes; the requests for one target run one by one.
    fn run_all(&mut self, requests: &[RunRequest<'_>]) -> Vec<Result<Trace, RunError>> {
        let first = requests.first().map_or(0, |request| request.target);
        let is_sound = requests.iter().all(|request| request.target < self.engines.len());
        if requests.iter().all(|request| request.target == first) || !is_sound {
            return requests.iter().map(|request| self.run(request)).collect();
        }
        let options = &self.options;
        let mut done: Vec<(usize, Result<Trace, RunError>)> = std::thread::scope(|scope| {
            let of_target = |target: usize| requests.iter().enumerate().filter(move |(_, r)| r.target == target);
            let threads: Vec<_> = (self.engines.iter_mut().enumerate())
                .map(|(target, engine)| {
                    let mut run = move |request| run::execute(engine.as_mut(), request, options);
                    scope.spawn(move || of_target(target).map(|(at, request)| (at, run(request))).collect::<Vec<_>>())
                })
                .collect();
            let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().flat_map(join).collect()
        });
        done.sort_by_key(|(at, _)| *at);
        done.into_iter().map(|(_, result)| result).collect()
    }
}
