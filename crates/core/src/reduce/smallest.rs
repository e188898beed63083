//! From a finding to the finding of a smaller case.

use crate::case::Case;
use crate::engine::EngineErrorKind;
use crate::finding::Finding;
use crate::oracle::{Oracle, RunError, Runner, Verdict};
use crate::reduce::{Reduced, Reproduction, Size, reduce_within};

/// The finding of the smallest case that shows the same kind of violation, and what it took.
///
/// The *kind* of the fingerprint is what must stay; the shapes in it change with every statement that goes. What is
/// returned has been judged once more: if the reduced case does not show it again, the finding is returned as it was
/// given. When the user asks to stop, what has been reached until then is returned.
///
/// `Err` means that a target cannot be reached any more, so that there is no point in going on.
pub fn smallest(
    finding: &Finding,
    oracle: &dyn Oracle,
    runner: &mut dyn Runner,
    tests_max: usize,
) -> Result<(Finding, Reduced), RunError> {
    let kind = finding.fingerprint.kind();
    let mut last = None;
    let mut failure = None;
    let mut test = |candidate: &Case| match oracle.judge(candidate, runner) {
        Ok(verdict) => {
            let answer = Reproduction::of(&Ok::<_, RunError>(verdict.clone()));
            match (answer, of_kind(verdict, kind)) {
                (Reproduction::Reproduced, Some(found)) => last = Some(found),
                (Reproduction::Reproduced, None) => return Reproduction::Gone,
                _ => {}
            }
            answer
        }
        Err(error) if is_the_end(&error) => {
            failure = Some(error);
            Reproduction::Stopped
        }
        Err(_) => Reproduction::Unresolved,
    };
    let reduced = reduce_within(tests_max, &finding.case, &mut test);
    match failure {
        Some(error) if !is_interruption(&error) => return Err(error),
        Some(_) => return Ok(ended(finding, last, reduced)),
        None => {}
    }
    match oracle.judge(&reduced.case, runner) {
        Ok(verdict) => Ok(ended(finding, of_kind(verdict, kind), reduced)),
        Err(error) if is_interruption(&error) => Ok(ended(finding, last, reduced)),
        Err(error) if is_the_end(&error) => Err(error),
        Err(_) => Ok(ended(finding, None, reduced)),
    }
}

/// The violation of that kind in a verdict.
fn of_kind(verdict: Verdict, kind: &str) -> Option<Finding> {
    let Verdict::Violated(findings) = verdict else { return None };
    findings.into_iter().find(|finding| finding.fingerprint.kind() == kind)
}

/// The smaller finding with its reduction; the given one, with nothing gained, if there is none.
fn ended(given: &Finding, smaller: Option<Finding>, reduced: Reduced) -> (Finding, Reduced) {
    match smaller {
        Some(smaller) => (smaller, reduced),
        None => {
            let case = given.case.clone();
            let (reproduced, complete, after) = (false, false, Size::of(&case));
            (given.clone(), Reduced { case, reproduced, complete, after, ..reduced })
        }
    }
}

/// Whether no run will succeed any more.
fn is_the_end(error: &RunError) -> bool {
    let RunError::Engine(error) = error else { return false };
    matches!(error.kind, EngineErrorKind::Interrupted | EngineErrorKind::Unreachable(_))
}

fn is_interruption(error: &RunError) -> bool {
    matches!(error, RunError::Engine(error) if matches!(error.kind, EngineErrorKind::Interrupted))
}
