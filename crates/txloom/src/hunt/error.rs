//! Why a hunt could not begin, or had to end.

use txloom_core::engine::{EngineError, EngineErrorKind};
use txloom_core::generate::GenerateError;

/// Why a hunt could not begin, or had to end.
#[derive(Debug, thiserror::Error)]
pub enum HuntError {
    /// There is nothing to hunt in, or nothing to hunt with: the caller must name some.
    #[error("there is nothing to hunt with: name at least one {0}")]
    Nothing(&'static str),
    /// An engine cannot be started or reached, or failed several times in a row.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// No case can be generated for these targets: others must be named.
    #[error(transparent)]
    Generate(#[from] GenerateError),
}

impl HuntError {
    /// Whether the user asked to stop.
    pub(super) fn is_interruption(&self) -> bool {
        matches!(self, HuntError::Engine(error) if matches!(error.kind, EngineErrorKind::Interrupted))
    }
}
