//! Whether what was recorded keeps what the engine promises.
//!
//! The promise is the engine's [guarantee](txloom_core::level::guarantees) at the level of the storm, as a level of the
//! theory. What a stronger level forbids is allowed here, and told as such.
//!
//! **Real time.** A transaction lies between two numbers of one common clock, taken before its BEGIN is sent and after its
//! end is acknowledged. Its snapshot, whenever it is taken, lies between them; so whoever ended before another began is
//! seen by that other one on an engine that keeps to real time. Nothing is concluded from transactions that overlap.

use std::fmt;
use std::time::{Duration, Instant};

use txloom_core::engine::EngineInfo;
use txloom_core::history::History;
use txloom_core::history::check::budget::CheckBudget;
use txloom_core::history::check::{Checker, Verdict, Witness};
use txloom_core::history::survey::Survey;
use txloom_core::level::LevelName;
use txloom_core::level::formal::{Level, Order, Requirement};
use txloom_core::level::guarantees;

use super::fresh::{StaleRead, stale_read};
use crate::interrupt;
use crate::memory::affordable_bytes;

/// What an engine promises at one of its levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// Nothing that a history of rows could break: not even that the writes of transactions do not interleave.
    Nothing,
    /// A level of the theory, and the order that it respects.
    Level(Requirement),
}

impl Promise {
    /// Whether a level is kept if this is.
    pub fn implies(self, level: Level) -> bool {
        matches!(self, Promise::Level(promised) if promised.level.implies(level))
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
    /// A read that does not see what was acknowledged before its transaction began, where that is promised.
    pub stale: Option<StaleRead>,
    /// What holds beyond that, and what was seen that stronger levels forbid; `None` until it was asked for.
    pub survey: Option<Survey>,
    /// How long it took.
    pub time: Duration,
}

/// What an engine promises at a level; `None` if nobody has found out.
pub fn promise(engine: &EngineInfo, level: &LevelName) -> Option<Promise> {
    guarantees::of(engine, level).map(|guarantee| {
        let level = guarantee.formal().map(|level| level.with(guarantee.order(engine)));
        level.map_or(Promise::Nothing, Promise::Level)
    })
}

/// How long the verdict and the survey of other levels may take together. The verdict takes as long as it takes.
const SURVEY_TIME: Duration = Duration::from_secs(10);

/// How long the verdict, and the survey, may each take after a Ctrl-C.
const INTERRUPTED_TIME: Duration = Duration::from_millis(300);
/// How many bytes the survey may allocate.
const SURVEY_BYTES: u64 = 1 << 30;

/// Checks a history against the promise, and nothing else. After `limit` it stays undecided. `Err` if a version was written
/// twice, which is a defect of the workload.
pub fn judge(history: &History, promised: Option<Promise>, limit: Duration) -> Result<Judgement<'_>, String> {
    let start = Instant::now();
    let should_stop = over(start, limit);
    let checker =
        Checker::new(history).map_err(|error| format!("version {} of {} was written twice", error.value, error.key))?;
    let budget = CheckBudget { should_stop: &should_stop, bytes_max: affordable_bytes() };
    let verdict = match promised {
        Some(Promise::Level(level)) => checker.check_within(level, budget),
        Some(Promise::Nothing) => Verdict::Holds(Witness::Nothing),
        None => Verdict::Undecided("nobody has found out what this level promises here".to_string()),
    };
    let is_timely = matches!(promised, Some(Promise::Level(level)) if level.order == Order::RealTime);
    let stale = if is_timely { stale_read(history, &checker.facts) } else { None };
    Ok(Judgement { checker, promised, verdict, stale, survey: None, time: start.elapsed() })
}

impl Judgement<'_> {
    /// Asks for all other levels, within a budget of its own. The verdict stays as it is.
    pub fn survey(&mut self, history: &History, limit: Duration) {
        let start = Instant::now();
        let should_stop = over(start, limit.min(SURVEY_TIME.saturating_sub(self.time)));
        let bytes_max = affordable_bytes().min(SURVEY_BYTES);
        let budget = CheckBudget { should_stop: &should_stop, bytes_max };
        self.survey = Some(Survey::of(history, &self.checker, budget));
        self.time += start.elapsed();
    }
}

/// Tells when the time is over. A Ctrl-C that ended the storm leaves little time for the check of what there is; one that
/// comes now ends it.
fn over(start: Instant, limit: Duration) -> impl Fn() -> bool {
    let was_interrupted = interrupt::requested();
    let limit = if was_interrupted { limit.min(INTERRUPTED_TIME) } else { limit };
    move || start.elapsed() >= limit || (interrupt::requested() && !was_interrupted)
}
