//! What the hunt is made of: the parts of the core that it brings together.

use txloom_core::case::Case;
use txloom_core::engine::EngineInfo;
use txloom_core::finding::Finding;
use txloom_core::oracle::serial::Serial;
use txloom_core::oracle::{Oracle, RunError, Runner, Verdict};
use txloom_core::reduce::{Reduced, Reproduction, reduce_within};
use txloom_core::trace::Trace;

pub use txloom_core::generate::{GenerateError, Generator};

/// What runs look like, in numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Statistics {
    /// How many runs.
    pub runs: u64,
}

impl Statistics {
    /// Adds a run.
    pub fn add(&mut self, _trace: &Trace) {
        self.runs += 1;
    }

    /// Adds what somebody else counted.
    pub fn merge(&mut self, other: &Statistics) {
        self.runs += other.runs;
    }
}

/// Behaviours that are known.
#[derive(Debug, Clone, Default)]
pub struct Known;

/// One of them.
pub struct Entry {
    /// Its public id.
    pub id: String,
}

impl Known {
    /// Those that are shipped.
    pub fn shipped() -> Known {
        Known
    }

    /// The entry that a finding is an instance of.
    pub fn matching(&self, _finding: &Finding) -> Option<&Entry> {
        None
    }
}

/// The oracles that suit these targets.
pub fn usual(_targets: &[EngineInfo]) -> Vec<Box<dyn Oracle>> {
    vec![Box::new(Serial::default())]
}

/// The case, written so that its run tells who wrote which row.
pub(super) fn instrument(case: &Case) -> Case {
    case.clone()
}

/// Whether a row was written by two transactions.
pub(super) fn is_contended(_case: &Case, _trace: &Trace) -> bool {
    false
}

/// The smallest finding of the same kind.
pub(super) fn smallest(
    finding: &Finding,
    oracle: &dyn Oracle,
    runner: &mut dyn Runner,
    tests_max: usize,
) -> Result<(Finding, Reduced), RunError> {
    let same = |verdict: Verdict| match verdict {
        Verdict::Violated(found) => {
            found.into_iter().find(|other| other.fingerprint.kind() == finding.fingerprint.kind())
        }
        _ => None,
    };
    let reduced = reduce_within(tests_max, &finding.case, &mut |case| match oracle.judge(case, runner) {
        Ok(Verdict::Unknown(_)) | Err(_) => Reproduction::Unresolved,
        Ok(verdict) => same(verdict).map_or(Reproduction::Gone, |_| Reproduction::Reproduced),
    });
    let smallest = same(oracle.judge(&reduced.case, runner)?);
    Ok((smallest.unwrap_or_else(|| finding.clone()), reduced))
}
