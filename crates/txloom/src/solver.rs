//! Another solver, as a program: `z3`.
//!
//! The embedded solver needs nothing, and answers what the analysis asks. Where z3 is installed, the same [`Problem`] can
//! be asked of it: because it knows how to multiply, or because two solvers that agree are more believable than one.
//!
//! ```text
//!   Problem ──smt::print──→ z3 -in ──smt::read_answer──→ Answer
//!                             │ limit
//!                             └ killed: Unknown
//! ```
//!
//! The program is a child that reads the question and is gone. One that takes longer than its limit is killed, and the
//! answer is *unknown*, as is that of a solver which gives up by itself.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use txloom_core::solve::smt::{self, Ask, SmtError};
use txloom_core::solve::{Answer, Problem};

/// How long z3 may think if nothing else is said.
const LIMIT: Duration = Duration::from_secs(10);

/// What z3 is given beyond that to say that it gives up.
const GRACE: Duration = Duration::from_secs(1);

/// Where a solver is, and how long it may think.
#[derive(Debug, Clone)]
pub struct Solver {
    program: PathBuf,
    limit: Duration,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum SolverError {
    /// The program could not be run.
    #[error("cannot run {}: {source}", program.display())]
    NotRun {
        /// The program.
        program: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// What it said is no answer.
    #[error("{}: {source}", program.display())]
    NotUnderstood {
        /// The program.
        program: PathBuf,
        /// What is wrong with it.
        source: SmtError,
    },
}

impl Solver {
    /// The `z3` of the search path, if there is one.
    pub fn find() -> Option<Solver> {
        let path: OsString = std::env::var_os("PATH")?;
        let program = std::env::split_paths(&path).map(|dir| dir.join("z3")).find(|program| program.is_file())?;
        Some(Solver::at(program))
    }

    /// The z3 at that path.
    pub fn at(program: impl Into<PathBuf>) -> Solver {
        Solver { program: program.into(), limit: LIMIT }
    }

    /// Sets how long it may think about one question.
    #[must_use]
    pub fn with_limit(mut self, limit: Duration) -> Solver {
        self.limit = limit;
        self
    }

    /// Where it is.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Looks for values. Preferences are not told; so a model is as good as any other.
    pub fn solve(&self, problem: &Problem) -> Result<Answer, SolverError> {
        match self.ask(smt::print(problem, Ask::Values))? {
            Some(said) => smt::read_answer(problem, &said).map_err(|source| self.not_understood(source)),
            None => Ok(Answer::Unknown),
        }
    }

    /// The numbers of demands that are impossible together, not necessarily the fewest; `None` if that is not certain.
    pub fn conflict(&self, problem: &Problem) -> Result<Option<Vec<usize>>, SolverError> {
        match self.ask(smt::print(problem, Ask::Conflict))? {
            Some(said) => smt::read_conflict(problem, &said).map_err(|source| self.not_understood(source)),
            None => Ok(None),
        }
    }

    fn not_understood(&self, source: SmtError) -> SolverError {
        SolverError::NotUnderstood { program: self.program.clone(), source }
    }

    /// What it says to a text; `None` if the time was over before.
    fn ask(&self, text: String) -> Result<Option<String>, SolverError> {
        self.start()
            .and_then(|child| hear(child, text, self.limit + GRACE))
            .map_err(|source| SolverError::NotRun { program: self.program.clone(), source })
    }

    fn start(&self) -> io::Result<Child> {
        let mut command = Command::new(&self.program);
        // The soft limit, in milliseconds: z3 then says `unknown`.
        command.arg("-in").arg(format!("-t:{}", self.limit.as_millis().max(1)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
    }
}

/// Gives the child a text to read, and hears what it says; `None` if it had to be killed.
fn hear(mut child: Child, text: String, limit: Duration) -> io::Result<Option<String>> {
    let (mut input, mut output) = (child.stdin.take(), child.stdout.take());
    // Whoever reads and writes at once must not wait for itself. Who does not want to hear all has a reason, which it
    // tells.
    // Both end with the child, since the other ends of their pipes are closed then.
    thread::spawn(move || input.as_mut().map(|input| input.write_all(text.as_bytes())));
    let (tell, told) = channel();
    thread::spawn(move || {
        let mut said = Vec::new();
        let heard = output.as_mut().map_or(Ok(0), |output| output.read_to_end(&mut said));
        let _ = tell.send(heard.map(|_| said));
    });
    let heard = told.recv_timeout(limit);
    if heard.is_err() {
        child.kill()?;
    }
    child.wait()?;
    match heard {
        Ok(said) => Ok(Some(String::from_utf8_lossy(&said?).into_owned())),
        Err(_) => Ok(None),
    }
}
