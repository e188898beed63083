//! What the hunt is made of: the reducer, told what to look for, and the corpus.

use txloom_core::case::Case;
use txloom_core::finding::Finding;
use txloom_core::oracle::serial::Serial;
use txloom_core::oracle::{Oracle, Runner, Verdict};
use txloom_core::reduce::{Reproduction, reduce};

use super::super::cases::LoadedCase;
use super::super::failure::Failure;
use crate::contract;
use crate::corpus;

/// The finding of the smallest case that shows the same violation, and a sentence about the reduction.
pub(super) fn smallest(finding: Finding, runner: &mut dyn Runner) -> Result<(Finding, String), Failure> {
    let oracle = Serial::default();
    let same_kind = |verdict: Verdict| match verdict {
        Verdict::Violated(found) => {
            found.into_iter().find(|other| other.fingerprint.kind() == finding.fingerprint.kind())
        }
        Verdict::Holds(_) | Verdict::Unknown(_) => None,
    };
    let reduced = reduce(&finding.case, &mut |candidate| match oracle.judge(candidate, runner) {
        Ok(Verdict::Unknown(_)) | Err(_) => Reproduction::Unresolved,
        Ok(verdict) => same_kind(verdict).map_or(Reproduction::Gone, |_| Reproduction::Reproduced),
    });
    let sentence = format!("{} tests reduce it from {} to {}:", reduced.tests, reduced.before, reduced.after);
    let smallest = same_kind(oracle.judge(&reduced.case, runner)?);
    Ok((smallest.unwrap_or(finding), sentence))
}

/// The cases of the corpus that are for engines of a dialect.
pub(super) fn corpus(dialect: &str) -> Vec<LoadedCase> {
    let cases = corpus::ANOMALIES.iter().chain(corpus::CONTRACT).filter(|case| contract::is_for(case, dialect));
    cases
        .map(|case| LoadedCase { file: format!("corpus/{}", case.path), case: case.parse(), is_foreign: false })
        .collect()
}

/// The plain SQL of what was found.
pub(super) fn flatten(finding: &Finding) -> Case {
    finding.trace.to_case(&finding.case)
}
