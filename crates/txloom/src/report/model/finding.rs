//! Violations: what oracles found.

use serde::{Deserialize, Serialize};

use super::trace::TraceReport;

/// What a search found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FindingsReport {
    /// The violations.
    pub findings: Vec<FindingReport>,
}

/// One violation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingReport {
    /// What is wrong, in one sentence.
    pub sentence: String,
    /// The oracle that found it.
    pub oracle: String,
    /// What kind of violation it is: findings of one kind have the same fingerprint.
    pub fingerprint: String,
    /// The target that it was found on.
    pub target: String,
    /// The target's version.
    pub version: String,
    /// The bugs that we planted in the target: the finding is then ours, not the database's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub planted: Vec<String>,
    /// Why it is wrong.
    pub explanation: ExplanationReport,
    /// The run that shows it.
    pub trace: TraceReport,
    /// The case that shows it, reduced, as the text of a case file.
    pub case: String,
    /// The command that shows it again.
    pub replay: String,
}

/// Let … Then … However … a contradiction.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ExplanationReport {
    /// The names that the rest uses.
    #[serde(rename = "let")]
    pub lets: Vec<String>,
    /// What follows from what was observed.
    #[serde(rename = "then")]
    pub thens: Vec<String>,
    /// Why that cannot be.
    pub however: Vec<String>,
}
