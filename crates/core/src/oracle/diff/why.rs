//! Why do targets differ? Asked by running variants of the case.

use crate::finding::Finding;
use crate::oracle::diff::Diff;
use crate::oracle::{RunError, Runner};

/// The finding with what the variants show.
pub(super) fn explain(_oracle: &Diff, finding: Finding, _runner: &mut dyn Runner) -> Result<Finding, RunError> {
    Ok(finding)
}
