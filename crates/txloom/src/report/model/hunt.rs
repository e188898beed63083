//! What a hunt came to: `txloom hunt`.

use serde::{Deserialize, Serialize};

use super::{FindingReport, StormReport};

/// A hunt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HuntReport {
    /// What was to be done.
    pub plan: PlanReport,
    /// The reason why it ended.
    pub ended: HuntEnd,
    /// Why it failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// How long it took.
    pub seconds: f64,
    /// What was done.
    pub counts: CountsReport,
    /// Known behaviours that were met.
    pub known: Vec<KnownReport>,
    /// Why statements were not accepted, the most frequent reason first.
    pub rejections: Vec<RejectionReport>,
    /// The first few refusals of a setup, failures to observe and violations that did not come again, in words.
    pub troubles: Vec<String>,
    /// Why judgements were not possible, most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<UndecidedReport>,
    /// What was found, in order.
    pub findings: Vec<HuntFinding>,
    /// What storms found, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recorded: Vec<RecordedFinding>,
}

/// The reason why a hunt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HuntEnd {
    /// Its budget was spent.
    Budget,
    /// It was to end with the first finding.
    FirstFound,
    /// The output was closed.
    Stopped,
    /// The user stopped it.
    Interrupted,
    /// It could not go on.
    Failed,
}

/// What was to be done.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PlanReport {
    /// What is hunted in.
    pub targets: Vec<TargetVersion>,
    /// At which isolation levels.
    pub levels: Vec<String>,
    /// With which oracles.
    pub oracles: Vec<String>,
    /// The name of the profile that describes the cases.
    pub profile: String,
    /// What all random choices follow from.
    pub seed: u64,
    /// The only group to judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u64>,
    /// How many cases are judged at the same time.
    pub workers: usize,
    /// After how many seconds it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_max: Option<f64>,
    /// After how many cases it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cases_max: Option<u64>,
    /// How storms come between the cases; absent: they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storms: Option<StormsReport>,
}

/// How storms and cases alternate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StormsReport {
    /// After how many groups of cases a storm comes.
    pub every_groups: u64,
    /// How long it lasts.
    pub seconds: f64,
}

/// A target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetVersion {
    /// The target, as it was asked for.
    pub target: String,
    /// Its version.
    pub version: String,
}

/// What was done, in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CountsReport {
    /// Cases that were judged.
    pub cases: u64,
    /// Scheduled runs of these cases, on all targets together.
    pub runs: u64,
    /// Statements of these runs.
    pub statements: u64,
    /// Statements that were accepted.
    pub accepted: u64,
    /// Runs in which somebody waited.
    pub with_wait: u64,
    /// Runs with a deadlock.
    pub with_deadlock: u64,
    /// Runs with a serialization failure.
    pub with_serialization_failure: u64,
    /// Cases of the sample that was examined for rows that two transactions write.
    pub examined: u64,
    /// Those of the sample that have such a row.
    pub contended: u64,
    /// Judgements that an oracle could not reach.
    pub undecided: u64,
    /// Cases that no thorough oracle could judge.
    #[serde(default)]
    pub undecided_cases: u64,
    /// Cases whose setup a target refused.
    pub refused: u64,
    /// Cases that could not be observed.
    pub unobserved: u64,
    /// Storms.
    #[serde(default)]
    pub storms: u64,
    /// Their transactions.
    #[serde(default)]
    pub storm_transactions: u64,
    /// New findings.
    pub new: u64,
    /// Violations that are of the kind of an earlier finding.
    pub repeated: u64,
    /// Violations that are known behaviours.
    pub known: u64,
    /// Violations that did not appear each time they were looked at.
    pub unreproducible: u64,
}

/// A known behaviour that was met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownReport {
    /// Its public id.
    pub id: String,
    /// How often it was met.
    pub count: u64,
}

/// Judgements that were not possible, for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndecidedReport {
    /// The oracle, and what it says.
    pub reason: String,
    /// How often.
    pub count: u64,
    /// The first group that it was met in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u64>,
}

/// Statements that were not accepted, for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectionReport {
    /// What the engine said, without numbers and quoted parts.
    pub message: String,
    /// How often.
    pub count: u64,
    /// One of the statements.
    pub example: String,
}

/// A finding of a hunt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HuntFinding {
    /// Its number in the hunt, from 1.
    pub number: usize,
    /// The number of the group that its case belongs to, from 0.
    pub group: u64,
    /// The command that generates this group again and judges it.
    #[serde(default)]
    pub generate: String,
    /// The position of the case in its group, from 0.
    pub case_index: usize,
    /// How often it was seen again.
    pub repeats: u64,
    /// How many steps the reduced case has.
    pub steps: usize,
    /// The file that the reduced case was written to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What was found.
    pub finding: FindingReport,
}

/// A finding of a storm in a hunt. Its evidence is the recorded history: it is checked again, not run again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedFinding {
    /// Its number in the hunt, from 1; all findings are counted together.
    pub number: usize,
    /// What kind of violation it is.
    pub kind: String,
    /// What is wrong, in one sentence.
    pub sentence: String,
    /// The file that the history was written to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The command that checks the history again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// The storm.
    pub storm: Box<StormReport>,
}
