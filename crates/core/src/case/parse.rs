//! Parsing.
use crate::case::Case;

/// An error in a case file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CaseError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// The line itself.
    pub text: String,
}

/// Reads a case file.
pub fn parse(_text: &str) -> Result<Case, CaseError> {
    Ok(Case::default())
}

/// Splits comment lines off the end.
pub(crate) fn split_trailing_prose(text: &str) -> (&str, Vec<String>) {
    (text, Vec::new())
}

/// Whether a line is a label, directive or expectation.
pub(crate) fn is_structural(_line: &str) -> bool {
    false
}
