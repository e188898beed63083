//! Whether what was recorded keeps what the engine promises.
//!
//! The promise is the engine's [guarantee](txloom_core::level::guarantees) at the level of the storm, as a level of the
//! theory. What a stronger level forbids is allowed here, and told as such.

use std::fmt;
use std::time::{Duration, Instant};

use txloom_core::engine::EngineInfo;
use txloom_core::history::History;
use txloom_core::history::check::{Checker, Verdict, Witness};
use txloom_core::history::survey::Survey;
use txloom_core::level::LevelName;
use txloom_core::level::formal::Level;
use txloom_core::level::guarantees;

use crate::interrupt;

/// What an engine promises at one of its levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// Nothing that a history of rows could break: not even that the writes of transactions do not interleave.
    Nothing,
    /// A level of the theory.
    Level(Level),
}

impl Promise {
    /// Whether a level is kept if this is.
    pub fn implies(self, level: Level) -> bool {
        matches!(self, Promise::Level(promised) if promised.implies(level))
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Promise::Nothing => f.write_str("nothing"),
            Promise::Level(level) => level.fmt(f),
        }
    }
}

/// What the checker says of a history.
#[derive(Debug)]
pub struct Judgement<'a> {
    /// The history with its facts, for explanations.
    pub checker: Checker<'a>,
    /// What the engine promises; `None` if nobody has found out.
    pub promised: Option<Promise>,
    /// Whether it is kept.
    pub verdict: Verdict,
    /// What holds beyond that, and what was seen that stronger levels forbid.
    pub survey: Survey,
    /// How long it took.
    pub time: Duration,
}

/// What an engine promises at a level; `None` if nobody has found out.
pub fn promise(engine: &EngineInfo, level: &LevelName) -> Option<Promise> {
    guarantees::of(engine, level).map(|guarantee| guarantee.formal().map_or(Promise::Nothing, Promise::Level))
}

/// Checks a history. After `limit`, what is not known stays undecided. `Err` if a version was written twice, which is a
/// defect of the workload.
pub fn judge(history: &History, promised: Option<Promise>, limit: Duration) -> Result<Judgement<'_>, String> {
    let start = Instant::now();
    // A Ctrl-C that ended the storm does not end the check of what there is; one that comes now does.
    let was_interrupted = interrupt::requested();
    let should_stop = || start.elapsed() >= limit || (interrupt::requested() && !was_interrupted);
    let checker =
        Checker::new(history).map_err(|error| format!("version {} of {} was written twice", error.value, error.key))?;
    let verdict = match promised {
        Some(Promise::Level(level)) => checker.check(level.into(), &should_stop),
        Some(Promise::Nothing) => Verdict::Holds(Witness::Nothing),
        None => Verdict::Undecided("nobody has found out what this level promises here".to_string()),
    };
    let survey = Survey::of(history, &checker, &should_stop);
    Ok(Judgement { checker, promised, verdict, survey, time: start.elapsed() })
}
