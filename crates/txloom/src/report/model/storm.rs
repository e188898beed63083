//! What a storm came to: `txloom storm`.

use serde::{Deserialize, Serialize};

use super::check::{StandingReport, VerdictReport, ViolationReport};
use super::hunt::TargetVersion;

/// A storm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StormReport {
    /// What was to be done.
    pub plan: StormPlan,
    /// Why it ended: `budget`, `interrupted`, `stopped`, `died`, `not-recovered`, `damaged`, `failed`.
    pub ended: String,
    /// How the server died, why it did not recover, or what could not be observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// How long it took, without the check.
    pub seconds: f64,
    /// What was done.
    pub counts: StormCounts,
    /// How long transactions took that committed; `None` if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<LatencyReport>,
    /// How much transactions met; `None` if nothing was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contention: Option<ContentionReport>,
    /// What befell the server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultCount>,
    /// What was lost, or is half there, when nobody was at work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damage: Vec<DamageReport>,
    /// What the checker says of the recorded history; `None` if it was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<JudgementReport>,
    /// The file that the history was written to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<String>,
    /// What else went wrong, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub troubles: Vec<String>,
}

/// What was to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StormPlan {
    /// Where.
    pub target: TargetVersion,
    /// At which isolation level, by the engine's own name.
    pub level: String,
    /// The name of the workload.
    pub profile: String,
    /// How many sessions work at once.
    pub sessions: usize,
    /// How many items there are.
    pub keys: usize,
    /// What all random choices follow from.
    pub seed: u64,
    /// After how many transactions it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions_max: Option<u64>,
    /// After how many seconds it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_max: Option<f64>,
    /// How many transactions a second are begun at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<u32>,
    /// What befalls the server, again and again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultPlan>,
}

/// Something that befalls a server again and again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FaultPlan {
    /// `kill`, `pause`, `restart`, `full-disk`.
    pub kind: String,
    /// After how many seconds.
    pub every_seconds: f64,
}

/// How often something befell a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultCount {
    /// `kill`, `pause`, `restart`, `full-disk`.
    pub kind: String,
    /// How often.
    pub count: u64,
}

/// What was done, in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StormCounts {
    /// Transactions, whatever became of them.
    pub transactions: u64,
    /// Those that committed.
    pub committed: u64,
    /// Those that were rolled back, by the class of the error, the most frequent first; `choice`: by themselves.
    pub rolled_back: Vec<ClassCount>,
    /// Those whose COMMIT was never answered.
    pub unknown: u64,
    /// Statements, without those that begin and end transactions.
    pub statements: u64,
}

/// How often something happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassCount {
    /// The class of the error.
    pub class: String,
    /// How often.
    pub count: u64,
}

/// How long transactions took, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LatencyReport {
    /// Half of them took no longer.
    pub p50_ms: f64,
    /// 95 % took no longer.
    pub p95_ms: f64,
    /// 99 % took no longer.
    pub p99_ms: f64,
    /// The longest.
    pub max_ms: f64,
}

/// How much transactions met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentionReport {
    /// Operations of all transactions.
    pub operations: u64,
    /// Those on an item that a concurrent transaction wrote.
    pub contended: u64,
}

/// What was not as it must be when nobody was at work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DamageReport {
    /// After what, and the how-many-eth of its kind; nothing: at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<FaultCount>,
    /// Sentences, one per item.
    pub losses: Vec<String>,
}

/// What the checker says of a recorded history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgementReport {
    /// What kind of evidence this is: always `recorded`. It is checked again, not run again.
    pub evidence: String,
    /// What the engine promises, as a level of the theory; `None` if nobody has found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promised: Option<String>,
    /// Whether that is kept.
    #[serde(flatten)]
    pub verdict: VerdictReport,
    /// The strongest levels that hold.
    pub strongest: Vec<String>,
    /// Levels that are stronger than what is promised, the strongest first.
    pub stronger: Vec<StandingReport>,
    /// What else was seen that some level forbids. If the promise is kept, it allows all of this.
    pub anomalies: Vec<ViolationReport>,
    /// How many transactions were recorded, whatever became of them.
    pub transactions: usize,
    /// How many operations.
    pub operations: usize,
    /// How long the check took.
    pub check_ms: u64,
}
