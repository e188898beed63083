//! The conclusion of a command: `conclusion` in every report of a command that concludes something.

use serde::{Deserialize, Serialize};
use txloom_core::conclusion::{Conclusion, ConclusionKind, CoverageCount, Gap};

use crate::exit::Exit;

/// A conclusion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConclusionReport {
    /// The verdict.
    pub verdict: ConclusionVerdict,
    /// The last line of the text form.
    pub sentence: String,
    /// The exit code of the command.
    pub exit_code: u8,
    /// The number of violations.
    pub violations: u64,
    /// The counts of what was looked at.
    pub covered: Vec<CoveredReport>,
    /// The parts of the scope that were not covered.
    pub gaps: Vec<GapReport>,
}

/// The verdict of a conclusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConclusionVerdict {
    /// No check was asked for.
    NothingChecked,
    /// The claim holds for its whole scope.
    Holds,
    /// Something is violated.
    Violated,
    /// Part of the scope was not covered.
    Unknown,
    /// The user stopped the command.
    Interrupted,
}

/// A count of what was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoveredReport {
    /// The unit: `cases`, `transactions`.
    pub unit: String,
    /// The number that was looked at.
    pub done: u64,
    /// The number that was to be looked at, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<u64>,
}

/// A part of the scope that was not covered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GapReport {
    /// `not-read`, `not-searched`, `out-of-budget`, `not-judged`, `environment`, `unstable`, `bad-input`, `file-failed`,
    /// `unreachable`.
    pub cause: String,
    /// The file and line, the case or the target.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// What was not covered.
    pub what: String,
    /// What can be done about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub advice: String,
    /// The number of times that it was met.
    pub count: u64,
}

impl From<&Conclusion> for ConclusionReport {
    fn from(conclusion: &Conclusion) -> ConclusionReport {
        ConclusionReport {
            verdict: conclusion.kind().into(),
            sentence: conclusion.sentence(),
            exit_code: Exit::from(conclusion).code(),
            violations: conclusion.violations,
            covered: conclusion.covered.iter().map(CoveredReport::from).collect(),
            gaps: conclusion.gaps.iter().map(GapReport::from).collect(),
        }
    }
}

impl From<ConclusionKind> for ConclusionVerdict {
    fn from(kind: ConclusionKind) -> ConclusionVerdict {
        match kind {
            ConclusionKind::NothingChecked => ConclusionVerdict::NothingChecked,
            ConclusionKind::Holds => ConclusionVerdict::Holds,
            ConclusionKind::Violated => ConclusionVerdict::Violated,
            ConclusionKind::Unknown => ConclusionVerdict::Unknown,
            ConclusionKind::Interrupted => ConclusionVerdict::Interrupted,
        }
    }
}

impl From<&CoverageCount> for CoveredReport {
    fn from(count: &CoverageCount) -> CoveredReport {
        CoveredReport { unit: count.unit.clone(), done: count.done, planned: count.planned }
    }
}

impl From<&Gap> for GapReport {
    fn from(gap: &Gap) -> GapReport {
        GapReport {
            cause: gap.cause.name().to_string(),
            place: gap.place.clone(),
            what: gap.what.clone(),
            advice: gap.advice.clone(),
            count: gap.count,
        }
    }
}
