//! What the hunt is made of: the oracle, the program, the reducer, the corpus.
//!
//! STAND-INS, until these are merged: each body becomes what its comment says.

use std::sync::Arc;

use txloom_core::case::Case;
use txloom_core::finding::Finding;
use txloom_core::oracle::{Oracle, RunError, Runner, Verdict};
use txloom_core::program::Program;

use super::super::cases::LoadedCase;
use super::super::failure::Failure;

struct NotYet;

impl Oracle for NotYet {
    fn name(&self) -> &'static str {
        "none"
    }

    fn judge(&self, _: &Case, _: &mut dyn Runner) -> Result<Verdict, RunError> {
        Ok(Verdict::Unknown("the serial oracle is not part of this build".to_string()))
    }
}

/// `Box::new(Serial::default())`
pub(super) fn oracle() -> Box<dyn Oracle> {
    Box::new(NotYet)
}

/// `corpus::withdraw()`
pub(super) fn program() -> Arc<Program> {
    Arc::new(Program {})
}

/// The finding of the smallest case that `reduce` leaves, and a sentence about the reduction.
pub(super) fn reduce(finding: Finding, _: &mut dyn Runner) -> Result<(Finding, String), Failure> {
    Ok((finding, String::new()))
}

/// `finding.trace.to_case(&finding.case)`
pub(super) fn flatten(finding: &Finding) -> Case {
    finding.case.clone()
}

/// `finding.replay_command(file)`
pub(super) fn replay_command(finding: &Finding, file: &str) -> String {
    format!("txloom run {file} --on {}", finding.trace.engine.target)
}

/// `corpus::ANOMALIES`, and those of `corpus::CONTRACT` that are for the dialect
pub(super) fn corpus(_dialect: &str) -> Vec<LoadedCase> {
    Vec::new()
}
