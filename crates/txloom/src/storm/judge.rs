//! Whether what was recorded keeps what the engine promises.
//!
//! The promise is the engine's [guarantee](txloom_core::level::guarantees) at the level of the storm, as a level of the
//! theory. What a stronger level forbids is allowed here, and told as such.

use std::time::{Duration, Instant};

use txloom_core::engine::EngineInfo;
use txloom_core::history::History;
use txloom_core::history::check::{Checker, Verdict};
use txloom_core::history::survey::Survey;
use txloom_core::level::LevelName;
use txloom_core::level::formal::Level;
use txloom_core::level::guarantees;

use crate::interrupt;

/// What the checker says of a history.
#[derive(Debug)]
pub struct Judgement<'a> {
    /// The history with its facts, for explanations.
    pub checker: Checker<'a>,
    /// What the engine promises; `None` if nobody has found out.
    pub promised: Option<Level>,
    /// Whether it is kept.
    pub verdict: Verdict,
    /// What holds beyond that, and what was seen that stronger levels forbid.
    pub survey: Survey,
    /// How long it took.
    pub time: Duration,
}

/// What an engine promises at a level, as a level of the theory.
pub fn promise(engine: &EngineInfo, level: &LevelName) -> Option<Level> {
    guarantees::of(engine, level).map(guarantees::Guarantee::formal)
}

/// Checks a history. After `limit`, what is not known stays undecided. `Err` if a version was written twice, which is a
/// defect of the workload.
pub fn judge(history: &History, promised: Option<Level>, limit: Duration) -> Result<Judgement<'_>, String> {
    let start = Instant::now();
    // A Ctrl-C that ended the storm does not end the check of what there is; one that comes now does.
    let was_interrupted = interrupt::requested();
    let should_stop = || start.elapsed() >= limit || (interrupt::requested() && !was_interrupted);
    let checker =
        Checker::new(history).map_err(|error| format!("version {} of {} was written twice", error.value, error.key))?;
    let verdict = match promised {
        Some(level) => checker.check(level.into(), &should_stop),
        None => Verdict::Undecided("nobody has found out what this level promises here".to_string()),
    };
    let survey = Survey::of(history, &checker, &should_stop);
    Ok(Judgement { checker, promised, verdict, survey, time: start.elapsed() })
}
