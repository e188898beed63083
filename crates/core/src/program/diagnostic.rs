//! What is wrong with a source, said at the place where it is wrong.
//!
//! Reading a program does not stop at the first mistake: what cannot be read or resolved becomes a diagnostic, and the
//! rest is still analysed.

use std::fmt;

use crate::program::ir::Span;
use crate::program::parse::ProgramSyntaxError;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing is missing from the analysis.
    Note,
    /// Probably not what was meant, or not followed in every detail.
    Warning,
    /// A part of the source could not be read or resolved, and is missing from the analysis.
    Error,
}

impl Severity {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A remark about a place in the source.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Where.
    pub span: Span,
    /// What was found.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// Something that could not be read or resolved.
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Error, span, message: message.into(), hint: None }
    }

    /// Something that is probably not meant, or not followed in every detail.
    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message) }
    }

    /// Something worth knowing.
    pub fn note(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Note, ..Diagnostic::error(span, message) }
    }

    /// The same, with advice; none if it is empty.
    pub fn with_hint(self, hint: impl Into<String>) -> Diagnostic {
        let hint = hint.into();
        Diagnostic { hint: (!hint.is_empty()).then_some(hint), ..self }
    }
}

impl From<ProgramSyntaxError> for Diagnostic {
    fn from(error: ProgramSyntaxError) -> Diagnostic {
        Diagnostic::error(error.span, error.message)
    }
}

/// `error: line 3: message (hint)`
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: line {}: {}", self.severity.name(), self.span.line, self.message)?;
        self.hint.iter().try_for_each(|hint| write!(f, " ({hint})"))
    }
}
