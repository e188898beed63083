//! Which levels a history satisfies: `txloom check`.

use serde::{Deserialize, Serialize};

use super::ExplanationReport;

/// Histories that were checked.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CheckReport {
    /// One per file.
    pub histories: Vec<HistoryReport>,
}

/// One history.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct HistoryReport {
    /// Its file.
    pub file: String,
    /// The format that it is in.
    pub format: String,
    /// How many transactions there are, whatever became of them.
    pub transactions: usize,
    /// How many of them committed, or must have.
    #[serde(default)]
    pub committed: usize,
    /// How many operations.
    pub operations: usize,
    /// What was asked, and the answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<AnswerReport>,
    /// All levels, if none was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survey: Option<SurveyReport>,
    /// How long it took.
    pub timing: TimingReport,
}

/// How long a check took, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TimingReport {
    /// To read the file.
    pub read_ms: u64,
    /// To check what was read.
    pub check_ms: u64,
}

/// An answer to one question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerReport {
    /// The level, as the user wrote it.
    pub asked: String,
    /// What that means in the format of the file.
    pub level: String,
    /// Whether it holds.
    #[serde(flatten)]
    pub verdict: VerdictReport,
    /// What the name means elsewhere, where the verdict or the meaning differs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<StandingReport>,
    /// Why the name is taken in this sense, if it has another one, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// The smallest part of the history that violates the level in the same way, in the format of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest: Option<String>,
}

/// Whether a level holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum VerdictReport {
    /// It does.
    Holds,
    /// It does not.
    Violated {
        /// Why.
        violation: Box<ViolationReport>,
    },
    /// Nobody knows.
    Undecided {
        /// Why not.
        why: String,
    },
}

/// What stands in the way of a level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ViolationReport {
    /// The anomaly's canonical name.
    pub anomaly: String,
    /// What people call it.
    pub name: String,
    /// What it is, in one clause.
    pub what: String,
    /// Where it is defined.
    pub citation: String,
    /// How often it was found; there may be more.
    pub count: usize,
    /// Why it is one.
    pub explanation: ExplanationReport,
    /// The transactions that are concerned.
    pub transactions: Vec<TransactionReport>,
    /// The cycle, in order; empty if a single read is to blame.
    pub cycle: Vec<EdgeReport>,
}

impl ViolationReport {
    /// Its canonical name and what people call it, where that is not the same: `P4, lost update`, `write-skew`.
    pub fn title(&self) -> String {
        match self.anomaly.replace('-', " ") == self.name {
            true => self.anomaly.clone(),
            false => format!("{}, {}", self.anomaly, self.name),
        }
    }
}

/// A transaction of a violation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransactionReport {
    /// The name that the explanation uses.
    pub name: String,
    /// What it did.
    pub what: String,
    /// Where it stands in the file.
    pub line: u32,
}

/// Who is before whom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeReport {
    /// The earlier one.
    pub from: String,
    /// The later one.
    pub to: String,
    /// Why: `ww`, `wr`, `rw`, `so` (session), `rt` (real time), `co` (implied commit order).
    pub kind: String,
    /// Of which key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// A level, and whether it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingReport {
    /// The level.
    pub level: String,
    /// The order of transactions that it respects.
    pub order: StandingOrder,
    /// The verdict.
    pub verdict: StandingVerdict,
    /// The anomaly that stands in its way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anomaly: Option<String>,
}

/// The order of transactions that a level respects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StandingOrder {
    /// None.
    Free,
    /// The order of each session.
    Session,
    /// The order in real time.
    RealTime,
}

/// The verdict on one level of a survey.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StandingVerdict {
    /// It holds.
    Holds,
    /// It is violated.
    Violated,
    /// The budget was spent before it was decided.
    Undecided,
}

impl StandingVerdict {
    /// The name in JSON and text.
    pub fn name(self) -> &'static str {
        match self {
            StandingVerdict::Holds => "holds",
            StandingVerdict::Violated => "violated",
            StandingVerdict::Undecided => "undecided",
        }
    }
}

/// All levels.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SurveyReport {
    /// The strongest levels that hold; whatever they imply holds, too.
    pub strongest: Vec<String>,
    /// Every level with every order that makes a difference here, the strongest first.
    pub standings: Vec<StandingReport>,
    /// What was found.
    pub anomalies: Vec<ViolationReport>,
    /// What must be known to read this: sentences.
    pub remarks: Vec<String>,
}
