//! What the hunt is made of: the reducer, told what to look for, and the corpus.

use txloom_core::case::Case;
use txloom_core::finding::Finding;
use txloom_core::oracle::Runner;
use txloom_core::oracle::serial::Serial;
use txloom_core::reduce;

use super::super::cases::LoadedCase;
use super::super::failure::Failure;
use crate::contract;
use crate::corpus;

/// The finding of the smallest case that shows the same violation, and a sentence about the reduction.
pub(super) fn smallest(finding: &Finding, runner: &mut dyn Runner) -> Result<(Finding, String), Failure> {
    let (finding, reduced) = reduce::smallest(finding, &Serial::default(), runner, reduce::TESTS_MAX)?;
    let sentence = format!("{} tests reduce it from {} to {}:", reduced.tests, reduced.before, reduced.after);
    Ok((finding, sentence))
}

/// The cases of the corpus that are for engines of a dialect.
pub(super) fn corpus(dialect: &str) -> Vec<LoadedCase> {
    let cases = corpus::ANOMALIES.iter().chain(corpus::CONTRACT).filter(|case| contract::is_for(case, dialect));
    cases
        .map(|case| LoadedCase {
            file: format!("corpus/{}", case.path),
            case: case.parse(),
            lines: Vec::new(),
            is_foreign: false,
        })
        .collect()
}

/// The plain SQL of what was found.
pub(super) fn flatten(finding: &Finding) -> Case {
    finding.trace.to_case(&finding.case)
}
