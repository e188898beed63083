//! Oracles: they judge a case by running it.
//!
//! An oracle knows no database. It is given a case and a [`Runner`], may have the case executed as often and in as many
//! ways as it likes, and answers with a [`Verdict`].

pub mod serial;
#[cfg(test)]
pub(crate) mod toy;

use crate::case::Case;
use crate::engine::{EngineError, EngineInfo};
use crate::finding::Finding;
use crate::schedule::{Policy, Schedule, StepRef};
use crate::trace::Trace;
use crate::{case::SessionName, program::interpret::ProgramError};

/// Judges cases.
pub trait Oracle {
    /// The name that the command line and reports use.
    fn name(&self) -> &'static str;

    /// Runs the case as needed and says whether it shows a violation. `Err` means that it could not be observed.
    fn judge(&self, case: &Case, runner: &mut dyn Runner) -> Result<Verdict, RunError>;
}

/// What an oracle says.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// Nothing is wrong, and this is why: e.g. the serial order that explains the run.
    Holds(String),
    /// Something is wrong.
    Violated(Vec<Finding>),
    /// The oracle cannot tell, and this is why.
    Unknown(String),
}

/// Executes cases on one or more targets.
pub trait Runner {
    /// The targets; [`RunRequest::target`] is a position here.
    fn targets(&self) -> Vec<EngineInfo>;

    /// Executes a case once.
    fn run(&mut self, request: &RunRequest<'_>) -> Result<Trace, RunError>;

    /// Executes several requests; those for different targets may run at the same time.
    fn run_all(&mut self, requests: &[RunRequest<'_>]) -> Vec<Result<Trace, RunError>> {
        requests.iter().map(|request| self.run(request)).collect()
    }
}

/// One execution that is asked for.
#[derive(Debug, Clone)]
pub struct RunRequest<'a> {
    /// What to run.
    pub case: &'a Case,
    /// On which of the runner's targets.
    pub target: usize,
    /// What to do when a session waits.
    pub policy: Policy,
    /// In which way.
    pub mode: Mode,
}

/// In which way a case is executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    /// Interleaved: by this schedule, or in line order.
    Scheduled(Option<Schedule>),
    /// One transaction at a time; each entry means "the next transaction of that session" (by the status that the
    /// server reports, not by what the text says). What is left when the order is over runs in session order.
    Serial(Vec<SessionName>),
    /// Statement by statement, without transactions: statements that control transactions are left out, and every
    /// other step is submitted in this order. Only for cases without calls.
    Autocommit(Vec<StepRef>),
}

/// Why a run could not be carried out or observed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The engine failed us.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A statement of the setup failed: the case is not for this engine.
    #[error("{target}: the setup failed at step {step}: {sql}\n  {error}")]
    Setup {
        /// The target.
        target: String,
        /// Which message of the setup, from 1.
        step: usize,
        /// Its text.
        sql: String,
        /// What the engine said.
        error: String,
    },
    /// A call does not fit the program.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The case asks for something that cannot be done, e.g. a schedule that names a session without steps.
    #[error("{0}")]
    Case(String),
}
