//! Storms between the cases of a hunt.
//!
//! A case is one interleaving, chosen and repeated at will; a [storm] is many sessions at once, and
//! nobody knows which of them meet. The one finds bugs of logic, the other races. A hunt that does both goes on like
//! this:
//!
//! ```text
//!   group 0 … group 4   storm 0 (registers)   group 5 … group 9   storm 1 (list-append)   group 10 …
//! ```
//!
//! Workload, level, target and seed of a storm follow from its number; what happens in it does not. So what it finds is
//! *recorded*: the history is the evidence, is checked again and never run again. One finding of a kind, target and
//! level is told; the others are counted.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

use txloom_core::engine::{Engine, EngineError, EngineErrorKind};
use txloom_core::history::History;
use txloom_core::level::{LevelName, guarantees};

use crate::report::model::StormReport;
use crate::report::model::check::VerdictReport;
use crate::storm::judge::{judge, promise};
use crate::storm::report::{check_command, judgement_report, storm_report};
use crate::storm::workload::{Profile, Shape};
use crate::storm::{self, Budget, Ended, PROFILES, Progress, Scale, Storm, Summary, Watcher};

/// The workloads that take turns. Others take longer to set up than a storm is to last.
const WORKLOADS: &[&str] = &["registers", "list-append", "smallbank", "ycsb-sql"];

/// How many keys there are: few, so that transactions meet.
const KEYS: usize = 20;

/// How long the check of one storm may take.
const CHECK_LIMIT: Duration = Duration::from_secs(10);

/// How long a statement may take; here, waiting counts.
const STATEMENT_LIMIT: Duration = Duration::from_secs(10);

/// How storms and cases alternate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Storms {
    /// A storm comes after so many groups of cases.
    pub every: u64,
    /// How long it lasts.
    pub time: Duration,
}

impl Default for Storms {
    fn default() -> Storms {
        Storms { every: 5, time: Duration::from_secs(2) }
    }
}

impl Storms {
    /// The number of the storm that comes after a group, if one does.
    pub(super) fn after(&self, group: u64) -> Option<u64> {
        let groups = group + 1;
        groups.is_multiple_of(self.every.max(1)).then(|| groups / self.every.max(1) - 1)
    }
}

/// Something that a storm found.
#[derive(Debug)]
pub struct StormFound {
    /// What kind of violation it is: `storm-write-skew`, `storm-lost`, `storm-died`.
    pub kind: String,
    /// What is wrong, in one sentence.
    pub sentence: String,
    /// What the storm came to.
    pub report: StormReport,
    /// What was recorded: the evidence.
    pub history: Option<History>,
}

impl StormFound {
    /// The command that checks the evidence again, once it is in a file; `None` if the history is no evidence.
    pub fn replay_command(&self, file: &str) -> Option<String> {
        check_command(&self.report, file)
    }

    /// What tells it from others.
    pub(super) fn fingerprint(&self) -> String {
        let plan = &self.report.plan;
        format!("{} {} {}", self.kind, plan.target.target, plan.level)
    }
}

/// What was found so far, and how often.
#[derive(Debug, Default)]
pub(super) struct Recorded(BTreeMap<String, u64>);

impl Recorded {
    /// Whether it is new.
    pub(super) fn is_new(&mut self, found: &StormFound) -> bool {
        let count = self.0.entry(found.fingerprint()).or_default();
        *count += 1;
        *count == 1
    }
}

/// What one storm came to.
pub(super) struct Weathered {
    /// How many transactions it had.
    pub(super) transactions: u64,
    /// What is wrong.
    pub(super) found: Option<StormFound>,
}

/// Runs the storm of a number on an engine; `is_over` ends it early.
pub(super) fn run(
    number: u64,
    seed: u64,
    time: Duration,
    levels: &[LevelName],
    engine: &mut dyn Engine,
    is_over: &dyn Fn() -> bool,
) -> Result<Weathered, EngineError> {
    let info = engine.info().clone();
    let profile = profile(number);
    let scale = Scale { keys: KEYS.max(profile.keys / 10), ..Scale::default() };
    let seed = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let made = (profile.make)(&Shape { seed, ..Shape::new(scale) }, &info);
    let workload = made.map_err(|lack| EngineError::new(&info.target, EngineErrorKind::Protocol(lack)))?;
    let candidates: Vec<&LevelName> =
        if levels.is_empty() { info.levels.iter().collect() } else { levels.iter().collect() };
    // What nobody has promised cannot be broken.
    let promised: Vec<&LevelName> =
        candidates.into_iter().filter(|level| guarantees::of(&info, level).is_some()).collect();
    let level = promised.get(number as usize / WORKLOADS.len() % promised.len().max(1)).map(|level| (*level).clone());
    let storm = Storm {
        seed,
        level,
        budget: Budget::time(time),
        statement_limit: STATEMENT_LIMIT,
        ..Storm::new(&*workload, scale)
    };
    let summary = storm.run(engine, &mut Until(is_over))?;
    weathered(summary, &*workload)
}

fn profile(number: u64) -> &'static Profile {
    let name = WORKLOADS[number as usize % WORKLOADS.len()];
    PROFILES.iter().find(|profile| profile.name == name).expect("the workloads that take turns exist")
}

fn weathered(summary: Summary, workload: &dyn storm::Workload) -> Result<Weathered, EngineError> {
    let promised = promise(&summary.plan.engine, &summary.plan.level);
    let judgement = match &summary.history {
        None => None,
        Some(history) => {
            let judged = judge(history, promised, CHECK_LIMIT);
            let target = &summary.plan.engine.target;
            let mut judged = judged.map_err(|what| EngineError::new(target, EngineErrorKind::Protocol(what)))?;
            judged.survey(history, CHECK_LIMIT);
            Some(judgement_report(history, &judged))
        }
    };
    let report = storm_report(&summary, judgement, workload);
    let transactions = report.counts.transactions;
    let told = wrong(&summary, &report);
    let Summary { history, ended, .. } = summary;
    if let Ended::Failed(error) = ended {
        return Err(error);
    }
    let found = told.map(|(kind, what)| {
        let (profile, level) = (&report.plan.profile, &report.plan.level);
        let sentence = format!("in a storm of {profile} at {level}, {what} (recorded)");
        StormFound { kind: format!("storm-{kind}"), sentence, report, history }
    });
    Ok(Weathered { transactions, found })
}

/// What is wrong: its kind, and a sentence.
fn wrong(summary: &Summary, report: &StormReport) -> Option<(String, String)> {
    if let Ended::Died(death) = &summary.ended {
        return Some(("died".to_string(), format!("the server died ({})", death.how)));
    }
    if let Some(VerdictReport::Violated { violation }) = report.judgement.as_ref().map(|judgement| &judgement.verdict) {
        let promised =
            report.judgement.as_ref().and_then(|judgement| judgement.promised.as_deref()).unwrap_or_default();
        return Some((violation.anomaly.to_lowercase(), format!("{promised} is violated: {}", violation.title())));
    }
    if let Some(loss) = report.damage.iter().flat_map(|damage| &damage.losses).next() {
        return Some(("lost".to_string(), loss.clone()));
    }
    let is_broken = summary.breaches.iter().any(|breach| !breach.is_allowed());
    is_broken.then(|| ("invariant".to_string(), "what must hold at the end does not".to_string()))
}

/// A watcher who ends a storm when the hunt is over.
struct Until<'a>(&'a dyn Fn() -> bool);

impl Watcher for Until<'_> {
    fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
        if (self.0)() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storms_come_after_groups() {
        let storms = Storms { every: 3, ..Storms::default() };
        let after: Vec<Option<u64>> = (0..7).map(|group| storms.after(group)).collect();
        assert_eq!(after, [None, None, Some(0), None, None, Some(1), None]);
    }

    #[test]
    fn workloads_take_turns() {
        let names: Vec<&str> = (0..5).map(|number| profile(number).name).collect();
        assert_eq!(names, ["registers", "list-append", "smallbank", "ycsb-sql", "registers"]);
    }
}
