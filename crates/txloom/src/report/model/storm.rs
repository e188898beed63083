//! What a storm came to: `txloom storm`.

use serde::{Deserialize, Serialize};

use super::check::{StandingReport, VerdictReport, ViolationReport};
use super::hunt::TargetVersion;

/// A storm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StormReport {
    /// What was to be done.
    pub plan: StormPlan,
    /// The reason why it ended.
    pub ended: StormEnd,
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
    /// How valid it was; `None` if the workload keeps no picture of the database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validity: Option<ValidityReport>,
    /// What befell the server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultCount>,
    /// Faults after which everything was read and compared with what had been acknowledged.
    #[serde(default)]
    pub audited: u64,
    /// Whether everything was read and compared at the end, too.
    #[serde(default)]
    pub is_audited_at_end: bool,
    /// What was lost, or is half there, when nobody was at work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damage: Vec<DamageReport>,
    /// What became of the workload's invariants; `None` if it has none, or if nobody asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invariants: Option<InvariantsReport>,
    /// What the checker says of the recorded history; `None` if it was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<JudgementReport>,
    /// The file that the history was written to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<String>,
    /// The command that shows again what is wrong with the history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// What else went wrong, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub troubles: Vec<String>,
}

/// The reason why a storm ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StormEnd {
    /// Its budget was spent.
    Budget,
    /// The user stopped it.
    Interrupted,
    /// The output was closed.
    Stopped,
    /// The server died.
    Died,
    /// The server did not recover after a fault.
    NotRecovered,
    /// Acknowledged data was lost or damaged.
    Damaged,
    /// It could not go on.
    Failed,
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
    /// Whether statements were made and not sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub generate_only: bool,
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
    /// `kill`, `pause`, `restart`, `full-disk`, `partition`.
    pub kind: String,
    /// After how many seconds.
    pub every_seconds: f64,
}

/// How often something befell a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultCount {
    /// `kill`, `pause`, `restart`, `full-disk`, `partition`.
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
    /// Pairs of transactions of which one read what the other wrote.
    #[serde(default)]
    pub dependencies: u64,
}

/// How valid a storm was.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ValidityReport {
    /// α, by kind of operation.
    pub operations: Vec<OperationsReport>,
    /// β, by table and kind of operation.
    pub accesses: Vec<AccessesReport>,
    /// Δ, by attribute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<AttributeReport>,
    /// What predicate-reads were like; `None` if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicates: Option<PredicatesReport>,
}

/// What became of the operations of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperationsReport {
    /// `item-read`, `predicate-read`, `insert`, `update`, `delete`.
    pub kind: String,
    /// They touched a row.
    pub valid: u64,
    /// They did not, though nothing prevented it.
    pub invalid: u64,
    /// Concurrency control refused them.
    pub refused: u64,
    /// They were not run, as their transaction had ended before.
    pub skipped: u64,
    /// α of those that were run and not refused.
    pub alpha: f64,
    /// α of all.
    pub alpha_of_all: f64,
}

/// How well accesses to the keys that always exist fit the distribution that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AccessesReport {
    /// The table.
    pub table: String,
    /// The kind of operation.
    pub kind: String,
    /// How many there were.
    pub accesses: u64,
    /// Degrees of freedom of the χ² statistic.
    pub degrees: u64,
    /// β: the probability that chance fits worse.
    pub beta: f64,
    /// The decimal logarithm of 1 − β; `None` if β is 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log10_of_one_minus_beta: Option<f64>,
}

/// How far an attribute is from its distribution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttributeReport {
    /// The table.
    pub table: String,
    /// The attribute: its first column.
    pub attribute: String,
    /// Δ: the largest distance between the distribution functions.
    pub delta: f64,
    /// How large it may be; by chance it is larger once in a thousand times.
    pub bound: f64,
}

/// What predicate-reads were like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PredicatesReport {
    /// How many there were.
    pub count: u64,
    /// Those in which conditions are combined by AND.
    pub conjunctive: u64,
    /// The median share of the table that they returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_share: Option<f64>,
    /// How often a condition was made until one was as wanted, on average.
    pub attempts_each: f64,
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

/// What became of a workload's invariants. They are asked for when nobody is at work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvariantsReport {
    /// What kind of evidence this is: always `recorded`. It cannot be had again by another run.
    pub evidence: String,
    /// What the engine promises, as a level of the theory, or `nothing`; `None` if nobody has found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promised: Option<String>,
    /// How many were asked for.
    pub asked: usize,
    /// Those that were broken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<BreachReport>,
}

impl InvariantsReport {
    /// Whether one was broken that must hold.
    pub fn is_violated(&self) -> bool {
        self.broken.iter().any(|breach| !breach.is_allowed)
    }
}

/// An invariant that was broken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreachReport {
    /// Its name.
    pub name: String,
    /// What it says.
    pub says: String,
    /// The weakest level of the theory at which it must hold.
    pub from: String,
    /// Whether the isolation level allows that, as far as anybody knows: then it is an observation, and no finding.
    pub is_allowed: bool,
    /// After which fault it was seen first; `None`: at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<FaultCount>,
    /// The query that finds what is wrong.
    pub query: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// Its first rows.
    pub rows: Vec<Vec<String>>,
    /// How many rows there are.
    pub row_count: u64,
}

/// What the checker says of a recorded history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgementReport {
    /// What kind of evidence this is: always `recorded`. It is checked again, not run again.
    pub evidence: String,
    /// What the engine promises, as a level of the theory, or `nothing`; `None` if nobody has found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promised: Option<String>,
    /// True if the engine promises nothing that a history could break.
    #[serde(default)]
    pub promises_nothing: bool,
    /// Whether that is kept.
    #[serde(flatten)]
    pub verdict: VerdictReport,
    /// True for a stale read: a violation of real time that levels below read atomic do not name. Its evidence is the
    /// history of the transactions concerned, and not that of the whole storm.
    #[serde(default)]
    pub is_stale: bool,
    /// The level that shows the violation when the history is checked again; absent if nothing is violated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_by: Option<String>,
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
