//! Programs.
pub mod interpret;

/// A program.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {}
