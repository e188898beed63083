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

pub(crate) use run::reset;

use std::collections::BTreeSet;
use std::time::Duration;

use txloom_core::engine::{Engine, EngineInfo};
use txloom_core::oracle::{RunError, RunRequest, Runner};
use txloom_core::trace::Trace;

/// How long a private server lets a statement of a case go on before it ends it by itself: for when the executor, which
/// is earlier by far, cannot any more, because it hangs or its request was lost. To a server waiting is going on, too, and
/// a statement may rightly wait as long as all others of its case take together: so this is many limits of one statement.
pub const BACKSTOP: Duration = Duration::from_secs(600);

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

/// Runs cases on engines that it owns. Engines are not shared: one runs one case at a time, but several engines may run
/// at the same time ([`Runner::run_all`]).
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
        let engine = self.engines.get_mut(request.target).ok_or_else(|| no_target(request.target))?;
        run::execute(engine.as_mut(), request, &self.options)
    }

    /// Each target has a thread of its own, which executes the requests for it one after the other.
    fn run_all(&mut self, requests: &[RunRequest<'_>]) -> Vec<Result<Trace, RunError>> {
        let busy: BTreeSet<usize> = requests.iter().map(|request| request.target).collect();
        if busy.len() < 2 {
            return requests.iter().map(|request| self.run(request)).collect();
        }
        let options = &self.options;
        let mut results: Vec<Option<Result<Trace, RunError>>> = requests.iter().map(|_| None).collect();
        std::thread::scope(|scope| {
            let engines = self.engines.iter_mut().enumerate().filter(|(target, _)| busy.contains(target));
            let threads: Vec<_> = engines
                .map(|(target, engine)| scope.spawn(move || run_for(target, engine.as_mut(), requests, options)))
                .collect();
            for thread in threads {
                // A panic is a defect of ours, here as on the calling thread.
                let done = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                done.into_iter().for_each(|(position, result)| results[position] = Some(result));
            }
        });
        let missing = |request: &RunRequest<'_>| Err(no_target(request.target));
        requests.iter().zip(results).map(|(request, result)| result.unwrap_or_else(|| missing(request))).collect()
    }
}

/// Executes those of the requests that are for one target, in order; with their positions.
fn run_for(
    target: usize,
    engine: &mut dyn Engine,
    requests: &[RunRequest<'_>],
    options: &ExecuteOptions,
) -> Vec<(usize, Result<Trace, RunError>)> {
    let own = requests.iter().enumerate().filter(|(_, request)| request.target == target);
    own.map(|(position, request)| (position, run::execute(engine, request, options))).collect()
}

fn no_target(number: usize) -> RunError {
    RunError::Case(format!("there is no target number {number}"))
}
