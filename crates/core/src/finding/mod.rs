//! Findings: one violation, with its evidence.

use crate::case::Case;
use crate::trace::Trace;

/// One violation.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The oracle that found it.
    pub oracle: &'static str,
    /// What is wrong, in one sentence.
    pub sentence: String,
    /// Why it is wrong.
    pub explanation: Explanation,
    /// The case that shows it.
    pub case: Case,
    /// The run that shows it.
    pub trace: Trace,
}

/// Why something is wrong, as data: Let … Then … However … a contradiction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Explanation {
    /// The names that the rest uses.
    pub lets: Vec<String>,
    /// What follows from what was observed.
    pub thens: Vec<String>,
    /// Why that cannot be.
    pub however: Vec<String>,
}
