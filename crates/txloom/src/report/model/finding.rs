//! Violations: what oracles found, and what they say of cases that they were asked about.

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
    /// The runs on other targets that it is compared with, in order; empty where one run says it all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OtherRun>,
    /// How the runs compare; absent where one run says it all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<ComparisonReport>,
    /// Drawings and tables that make the point.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exhibits: Vec<ExhibitReport>,
    /// The case that shows it, as the text of a case file.
    pub case: String,
    /// The command that shows it again.
    pub replay: String,
}

/// A drawing or a table in text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExhibitReport {
    /// What it shows.
    pub title: String,
    /// Its lines.
    pub lines: Vec<String>,
}

/// A run on another target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OtherRun {
    /// The target.
    pub target: String,
    /// Its version.
    pub version: String,
    /// What happened there.
    pub trace: TraceReport,
}

/// How the runs of a finding compare. Runs are counted from 0: the first is `trace`, then come the `others`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ComparisonReport {
    /// What each run's target is called: by its name, numbered where two have the same.
    pub labels: Vec<String>,
    /// The runs that agree in everything; the norm comes first.
    pub groups: Vec<Vec<usize>>,
    /// The step at which they differ first; absent if only the final states differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// For each run, how many of its events went the same way on all targets, step for step, whatever was answered.
    pub shared_events: Vec<usize>,
    /// The steps among these that were not answered alike.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unlike_steps: Vec<usize>,
    /// The tables that do not hold the same at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<String>,
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

/// What an oracle says of cases: `txloom run --oracle`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct JudgedReport {
    /// The oracle.
    pub oracle: String,
    /// One entry per case, in the order in which they were judged.
    pub cases: Vec<JudgedCase>,
}

/// One case that was judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedCase {
    /// The file that it was read from; `-` is the standard input.
    pub file: String,
    /// What the oracle says.
    #[serde(flatten)]
    pub verdict: VerdictReport,
}

/// What an oracle says of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum VerdictReport {
    /// Nothing is wrong.
    Holds {
        /// Why that is so.
        witness: String,
    },
    /// There is nothing to judge.
    Vacuous {
        /// Why not.
        reason: String,
    },
    /// Something is wrong.
    Violated {
        /// What.
        findings: Vec<FindingReport>,
    },
    /// The oracle cannot tell.
    Unknown {
        /// Why not.
        reason: String,
    },
    /// Judged twice, it said something else the second time.
    Unstable {
        /// What it said first, in a few words.
        first: String,
        /// What it said then.
        second: String,
    },
    /// The case could not be run.
    Failed {
        /// Why.
        failure: String,
    },
}
