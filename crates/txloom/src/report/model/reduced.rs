//! Cases that were made smaller: `txloom reduce`.

use serde::{Deserialize, Serialize};

use super::finding::FindingReport;

/// What reductions came to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ReducedReport {
    /// One entry per case, in the order in which they were reduced.
    pub cases: Vec<ReducedCase>,
}

/// One case that was reduced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReducedCase {
    /// The file that it was read from; `-` is the standard input.
    pub file: String,
    /// How many tests were run.
    pub tests: usize,
    /// Whether nothing more can be taken away; false if the tests ran out, or the user asked to stop.
    pub complete: bool,
    /// How large the case was.
    pub before: SizeReport,
    /// How large it is now.
    pub after: SizeReport,
    /// What it shows, with the reduced case.
    pub finding: FindingReport,
}

/// How large a case is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SizeReport {
    /// Sessions.
    pub sessions: usize,
    /// Items of all sessions.
    pub items: usize,
    /// Those of them that do not merely begin or end a transaction.
    pub statements: usize,
    /// Statements of the setup.
    pub setup: usize,
    /// Rows that the setup inserts.
    pub rows: usize,
    /// Switches from one session to another.
    pub switches: usize,
    /// Characters of SQL.
    pub characters: usize,
}
