//! The disk types of reports: what the JSON form looks like, field by field.
//!
//! These types are a promise to scripts that read them, so they are kept apart from the runtime types of the core, which
//! may change as they please. A field may be added under the same [`FORMAT_VERSION`]; renaming, removing or changing
//! the meaning of one needs a new version.
//!
//! ```text
//! Report { txloom_report: 1, kind, conclusion }
//! ├── run       RunReport      → cases → schedules → targets → trace
//! ├── findings  FindingsReport → findings → trace
//! ├── judged    JudgedReport   → cases → findings
//! ├── reduced   ReducedReport  → cases → finding
//! ├── doctor    DoctorReport   → targets
//! ├── levels    LevelsReport   → targets → anomalies → levels
//! ├── check     CheckReport    → histories → answers, or levels and anomalies
//! ├── hunt      HuntReport     → counts, findings → trace
//! ├── storm     StormReport    → counts, judgement of the recorded history
//! └── analysis  AnalysisReport → schedules and commit points of a program, what became of them
//! ```
//!
//! Steps are counted from 1, in order of submission, as people read them.

pub mod cell;
pub mod finding;
pub mod reduced;
pub mod run;
pub mod trace;
pub mod doctor;
pub mod levels;
pub mod check;
pub mod hunt;
pub mod storm;
pub mod analysis;
pub mod conclusion;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use txloom_core::conclusion::Conclusion;

pub use analysis::AnalysisReport;
pub use doctor::{DoctorReport, TargetStatus};
pub use finding::{
    ComparisonReport, ExhibitReport, ExplanationReport, FindingReport, FindingsReport, JudgedCase, JudgedReport,
    OtherRun, VerdictReport,
};
pub use hunt::HuntReport;
pub use reduced::{ReducedCase, ReducedReport, SizeReport};
pub use run::{
    CaseReport, CaseStanding, Difference, MismatchPlace, MismatchReport, Observed, RunReport, RunResult, ScheduledRun,
    TargetDifference, TargetRun, Totals,
};
pub use storm::StormReport;

/// The version of the JSON form that this library writes, and the only one that it reads.
pub const FORMAT_VERSION: u32 = 1;

/// One report: the document that `--format json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The version of the form: [`FORMAT_VERSION`].
    pub txloom_report: FormatVersion,
    /// The version of txloom that wrote it.
    pub written_by: String,
    /// The conclusion, of commands that reach one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conclusion: Option<conclusion::ConclusionReport>,
    /// What it tells.
    #[serde(flatten)]
    pub body: Body,
}

impl Report {
    /// A report in the current version of the form.
    pub fn new(body: Body) -> Report {
        let written_by = env!("CARGO_PKG_VERSION").to_string();
        Report { txloom_report: FormatVersion, written_by, conclusion: None, body }
    }

    /// A report with the conclusion of its command.
    pub fn concluded(body: Body, conclusion: &Conclusion) -> Report {
        Report { conclusion: Some(conclusion.into()), ..Report::new(body) }
    }
}

/// What a report tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Body {
    /// Cases that were run, and whether they met their expectations.
    Run(RunReport),
    /// Violations.
    Findings(FindingsReport),
    /// What an oracle says of cases.
    Judged(JudgedReport),
    /// Cases that were made smaller.
    Reduced(ReducedReport),
    /// The targets of this machine.
    Doctor(DoctorReport),
    /// What isolation levels really mean.
    Levels(levels::LevelsReport),
    /// Which levels histories satisfy.
    Check(check::CheckReport),
    /// What a hunt came to.
    Hunt(Box<hunt::HuntReport>),
    /// What a storm came to.
    Storm(Box<storm::StormReport>),
    /// What can go wrong in an application.
    Analysis(Box<analysis::AnalysisReport>),
}

/// Stands for [`FORMAT_VERSION`]: any other number is refused when a report is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatVersion;

impl Serialize for FormatVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        FORMAT_VERSION.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for FormatVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FormatVersion, D::Error> {
        let found = u32::deserialize(deserializer)?;
        if found == FORMAT_VERSION {
            return Ok(FormatVersion);
        }
        let message = format!("the report has format version {found}; this txloom reads version {FORMAT_VERSION}");
        Err(serde::de::Error::custom(message))
    }
}
