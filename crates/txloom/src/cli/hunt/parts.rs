//! What the hunt is made of: the oracle, the program, the reducer, the corpus.

use std::sync::Arc;

use txloom_core::case::Case;
use txloom_core::finding::Finding;
use txloom_core::oracle::serial::Serial;
use txloom_core::oracle::{Oracle, Runner, Verdict};
use txloom_core::program::Program;
use txloom_core::reduce::{self, Reproduction};

use super::super::cases::LoadedCase;
use super::super::failure::Failure;
use crate::contract;
use crate::corpus::{self, CorpusCase};

/// The oracle that judges the schedules.
pub(super) fn oracle() -> Box<dyn Oracle> {
    Box::new(Serial::default())
}

/// The program that the case calls.
pub(super) fn program() -> Arc<Program> {
    corpus::withdraw()
}

/// The finding of the smallest case that shows the same kind of violation, and a sentence about the way there.
pub(super) fn reduce(finding: Finding, runner: &mut dyn Runner) -> Result<(Finding, String), Failure> {
    let oracle = oracle();
    let same_kind = |verdict: Verdict| match verdict {
        Verdict::Violated(found) => found.into_iter().find(|other| other.fingerprint == finding.fingerprint),
        Verdict::Holds(_) | Verdict::Unknown(_) => None,
    };
    let reduced = reduce::reduce(&finding.case, &mut |case| match oracle.judge(case, runner) {
        Ok(Verdict::Unknown(_)) | Err(_) => Reproduction::Unresolved,
        Ok(verdict) => same_kind(verdict).map_or(Reproduction::Gone, |_| Reproduction::Reproduced),
    });
    let sentence = format!("{} tests reduce it from {} to {}:", reduced.tests, reduced.before, reduced.after);
    let smallest = same_kind(oracle.judge(&reduced.case, runner)?);
    Ok((smallest.unwrap_or(finding), sentence))
}

/// What really was sent, as plain SQL.
pub(super) fn flatten(finding: &Finding) -> Case {
    finding.trace.to_case(&finding.case)
}

/// The command that shows the finding again.
pub(super) fn replay_command(finding: &Finding, file: &str) -> String {
    finding.replay_command(file)
}

/// The anomalies, and what every engine of a dialect must do.
pub(super) fn corpus(dialect: &str) -> Vec<LoadedCase> {
    let contract = corpus::CONTRACT.iter().filter(|case| contract::is_for(case, dialect));
    let load = |found: &CorpusCase| LoadedCase { file: found.path.to_string(), case: found.parse() };
    corpus::ANOMALIES.iter().chain(contract).map(load).collect()
}
