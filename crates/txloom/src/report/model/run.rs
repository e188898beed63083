//! Cases that were run: `txloom run`.

use std::fmt;

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
    /// How many expectations, final states and assertions apply to this target and were compared.
    #[serde(default)]
    pub checked: usize,
    /// What differs from the expectations, and statements that the target did not understand.
    pub mismatches: Vec<MismatchReport>,
    /// What could not be compared, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
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
    /// The line of the file that states or sends it, from 1; absent where the file is in another format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The class of the error, if the target did not understand the statement and the case does not expect that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misunderstood: Option<String>,
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
    /// What differs, e.g. `step b2 (COMMIT)`.
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

/// How an execution stands to what its case states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseStanding {
    /// Something was compared, and all of it is as expected.
    AsExpected,
    /// The case states nothing, and describes an anomaly: whether it happened.
    Provoked(bool),
    /// It ran, and nothing was compared: the case states nothing that applies to this target.
    NothingChecked,
    /// An expectation is not met, a statement was not understood, or the server died.
    Unmet,
    /// Something could not be compared, and the rest is as expected.
    Open,
    /// It came out differently the second time.
    Diverged,
    /// It could not be run.
    Failed,
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
    /// Executions of cases that state nothing, in which their anomaly happened.
    pub happened: usize,
    /// Executions of cases that state nothing, in which their anomaly did not happen.
    pub prevented: usize,
    /// Executions in which nothing was compared.
    pub nothing_checked: usize,
    /// Executions that did not.
    pub unmet: usize,
    /// Executions in which something could not be compared.
    pub open: usize,
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
        let count = match target.standing() {
            CaseStanding::AsExpected => &mut self.as_expected,
            CaseStanding::Provoked(true) => &mut self.happened,
            CaseStanding::Provoked(false) => &mut self.prevented,
            CaseStanding::NothingChecked => &mut self.nothing_checked,
            CaseStanding::Unmet => &mut self.unmet,
            CaseStanding::Open => &mut self.open,
            CaseStanding::Diverged => &mut self.diverged,
            CaseStanding::Failed => &mut self.failed,
        };
        *count += 1;
    }
}

impl Totals {
    /// True if every execution took place, the same way every time, and nothing is unmet.
    pub fn is_good(&self) -> bool {
        self.unmet + self.open + self.diverged + self.failed == 0
    }
}

/// `12 cases on 2 targets: 23 as expected, 1 not as expected`.
impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
        write!(f, "{} on {}", plural(self.cases, "case"), plural(self.targets, "target"))?;
        let parts = [
            (self.as_expected, "as expected"),
            (self.prevented, "in which the anomaly did not happen"),
            (self.happened, "in which the anomaly happened"),
            (self.nothing_checked, "in which nothing was checked"),
            (self.unmet, "not as expected"),
            (self.open, "undecided"),
            (self.diverged, "different the second time"),
            (self.failed, "failed"),
        ];
        for (at, (count, words)) in parts.into_iter().filter(|(count, _)| *count > 0).enumerate() {
            write!(f, "{}{count} {words}", if at == 0 { ": " } else { ", " })?;
        }
        Ok(())
    }
}

impl CaseReport {
    /// True if every execution took place, the same way every time, and nothing is unmet.
    pub fn is_good(&self) -> bool {
        let mut totals = Totals::default();
        totals.add(self);
        totals.is_good()
    }

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

    /// How it stands to what its case states.
    pub fn standing(&self) -> CaseStanding {
        let Some(seen) = self.observed() else { return CaseStanding::Failed };
        match seen.anomaly_happened {
            _ if seen.divergence.is_some() => CaseStanding::Diverged,
            _ if !seen.is_as_expected() => CaseStanding::Unmet,
            _ if !seen.open.is_empty() => CaseStanding::Open,
            _ if seen.checked > 0 => CaseStanding::AsExpected,
            Some(happened) => CaseStanding::Provoked(happened),
            None => CaseStanding::NothingChecked,
        }
    }
}

impl Observed {
    /// Whether no expectation is unmet, every statement was understood, and the server survived.
    pub fn is_as_expected(&self) -> bool {
        self.mismatches.is_empty() && self.trace.death.is_none()
    }
}
