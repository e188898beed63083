//! Who promises a serial order?

use crate::anomaly;
use crate::case::Case;
use crate::engine::EngineInfo;
use crate::level::LevelName;
use crate::level::guarantees::{self, Guarantee};
use crate::trace::Trace;

/// The first level among those of the case's sessions that does not promise a serial order on this engine. A level that
/// nobody has looked into promises nothing.
pub(super) fn weakest(case: &Case, engine: &EngineInfo) -> Option<LevelName> {
    let sessions = case.sessions();
    let mut levels = sessions.iter().map(|session| case.level_of(&session.name).unwrap_or(&engine.default_level));
    levels.find(|level| !guarantees::of(engine, level).is_some_and(Guarantee::is_serializable)).cloned()
}

/// What has to be said of a run at a level that is known to promise less.
pub(super) fn of_run(trace: &Trace) -> Option<String> {
    let promises = trace.sessions.iter().filter_map(|session| guarantees::of(&trace.engine, &session.level));
    let weak = promises.into_iter().find(|promise| !promise.is_serializable())?;
    let allowed: Vec<&str> = anomaly::ALL.iter().filter(|one| !weak.prevents(one)).map(|one| one.name).collect();
    Some(format!(
        "{} of {} does not promise that there is such an order: it allows {}",
        weak.level,
        trace.engine.target,
        allowed.join(", ")
    ))
}
