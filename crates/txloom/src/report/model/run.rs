//! Cases that were run: `txloom run`.

use serde::{Deserialize, Serialize};

use super::trace::TraceReport;

/// What `txloom run` did.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunReport {
    /// One entry per case, in the order in which they ran.
    pub cases: Vec<CaseReport>,
}

/// One case on all targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseReport {
    /// The file that it was read from; `-` is the standard input.
    pub file: String,
    /// What it claims: its first paragraph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
    /// The anomaly that it provokes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anomaly: Option<String>,
    /// How many expectations, final states and assertions it states, for whatever target.
    pub expectations: usize,
    /// One entry per schedule.
    pub runs: Vec<ScheduledRun>,
}

/// One case under one schedule on all targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScheduledRun {
    /// The schedule that was asked for; absent if the line order is the schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// What was done when a session waited: `skip` (go on with the others), `wait` (for that session), or `partial`.
    pub policy: String,
    /// One entry per target, in the order in which they were asked for.
    pub targets: Vec<TargetRun>,
    /// How targets differ from the first one that could be observed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<TargetDifference>,
}

/// One execution (with `--twice`: two, of which the first is told).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetRun {
    /// The target, as it was asked for; without a password.
    pub target: String,
    /// Its version.
    pub version: String,
    /// What came of it.
    #[serde(flatten)]
    pub result: RunResult,
}

/// What came of an execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum RunResult {
    /// It ran, and was observed.
    Observed(Box<Observed>),
    /// It could not be run there.
    Failed {
        /// Why.
        failure: String,
    },
}

/// An execution that was observed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// What happened.
    pub trace: TraceReport,
    /// What differs from the expectations.
    pub mismatches: Vec<MismatchReport>,
    /// Whether the case's anomaly happened; absent if the case names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anomaly_happened: Option<bool>,
    /// The earlier target on which exactly the same happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// Where a second execution differed from the first (`--twice`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divergence: Option<Difference>,
}

/// An expectation that was not met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MismatchReport {
    /// What the expectation is about.
    pub at: MismatchPlace,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
}

/// What an expectation is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MismatchPlace {
    /// A message of the setup, by its number (from 1).
    Setup(usize),
    /// A step, by its number.
    Step(usize),
    /// An item that was never submitted.
    Missing {
        /// The session that it belongs to.
        session: String,
        /// Its number among the items of that session, from 1.
        item: usize,
    },
    /// The final contents of a table.
    Final(String),
    /// An assertion.
    Assert(String),
}

/// Where two executions differ first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// What differs, e.g. `step 4 (b: COMMIT)`.
    pub at: String,
    /// What the first execution shows there.
    pub first: String,
    /// What the other one shows.
    pub other: String,
}

/// How a target differs from another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetDifference {
    /// The target that is compared with.
    pub first_target: String,
    /// The target that differs from it.
    pub other_target: String,
    /// Where they differ first.
    #[serde(flatten)]
    pub difference: Difference,
}

/// How many executions ended in which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Cases.
    pub cases: usize,
    /// Targets.
    pub targets: usize,
    /// Executions that met their expectations.
    pub as_expected: usize,
    /// Executions that did not.
    pub unmet: usize,
    /// Executions that came out differently the second time.
    pub diverged: usize,
    /// Executions that failed.
    pub failed: usize,
}

impl RunReport {
    /// Counts the executions.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        self.cases.iter().for_each(|case| totals.add(case));
        totals
    }
}

impl Totals {
    /// Counts the executions of one more case. All cases of a run have the same targets.
    pub fn add(&mut self, case: &CaseReport) {
        self.cases += 1;
        for run in &case.runs {
            self.targets = self.targets.max(run.targets.len());
            run.targets.iter().for_each(|target| self.add_run(target));
        }
    }

    fn add_run(&mut self, target: &TargetRun) {
        match &target.result {
            RunResult::Failed { .. } => self.failed += 1,
            RunResult::Observed(seen) if seen.divergence.is_some() => self.diverged += 1,
            RunResult::Observed(seen) if seen.is_as_expected() => self.as_expected += 1,
            RunResult::Observed(_) => self.unmet += 1,
        }
    }
}

impl CaseReport {
    /// Whether it could be run nowhere.
    pub fn is_lost(&self) -> bool {
        self.runs.iter().flat_map(|run| &run.targets).all(|target| target.observed().is_none())
    }
}

impl TargetRun {
    /// What was observed, if it could be run.
    pub fn observed(&self) -> Option<&Observed> {
        match &self.result {
            RunResult::Observed(seen) => Some(seen),
            RunResult::Failed { .. } => None,
        }
    }

    /// Whether it ran, the same way every time, and met its expectations.
    pub fn is_good(&self) -> bool {
        self.observed().is_some_and(|seen| seen.divergence.is_none() && seen.is_as_expected())
    }
}

impl Observed {
    /// Whether every expectation was met and the server survived.
    pub fn is_as_expected(&self) -> bool {
        self.mismatches.is_empty() && self.trace.death.is_none()
    }
}
