//! Why a command ended early.

use std::fmt::Display;

use txloom_core::engine::{EngineError, EngineErrorKind};
use txloom_core::oracle::RunError;

use crate::exit::Exit;
use crate::files::FileError;
use crate::hunt::findings::FindingsError;

/// A message for the user, complete with what to do next, and the exit code that goes with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What the process ends with.
    pub exit: Exit,
    /// What is printed.
    pub message: String,
}

impl Failure {
    /// The command line or a file is wrong.
    pub fn bad_input(message: impl Display) -> Failure {
        Failure { exit: Exit::BadInput, message: format!("txloom: {message}") }
    }

    /// The user asked to stop.
    pub fn interrupted() -> Failure {
        Failure { exit: Exit::Interrupted, message: "txloom: interrupted".to_string() }
    }

    /// A place in a file: `file:line:column: message`, the line, and a caret below the column (from 1).
    pub fn in_file(file: &str, line: usize, column: usize, message: &str, text: &str) -> Failure {
        let column_in_file = column;
        let (text, column) = excerpt(text, column);
        // Tabs are kept, so that the caret stands below its character however wide they are shown.
        let before = text.chars().take(column.saturating_sub(1)).map(|c| if c == '\t' { '\t' } else { ' ' });
        let caret: String = before.chain(['^']).collect();
        let (message, _) = excerpt(message, 1);
        let message = format!("{file}:{line}:{column_in_file}: {message}\n  {text}\n  {caret}");
        Failure { exit: Exit::BadInput, message }
    }

    /// Several failures, each on its own paragraph.
    pub fn all(failures: &[Failure]) -> Failure {
        let exit = failures.iter().fold(Exit::Clean, |worst, failure| worst.or(failure.exit));
        let messages: Vec<&str> = failures.iter().map(|failure| failure.message.as_str()).collect();
        Failure { exit, message: messages.join("\n") }
    }
}

/// The most characters of a line that are shown.
const EXCERPT_MAX: usize = 300;

/// The part of a line around a column, and the column in it.
fn excerpt(line: &str, column: usize) -> (String, usize) {
    let length = line.chars().take(column + EXCERPT_MAX).count();
    if length <= EXCERPT_MAX {
        return (line.to_string(), column);
    }
    let start = column.saturating_sub(EXCERPT_MAX / 2);
    let shown: String = line.chars().skip(start).take(EXCERPT_MAX).collect();
    let (before, after) = (if start > 0 { "…" } else { "" }, if start + EXCERPT_MAX < length { "…" } else { "" });
    (format!("{before}{shown}{after}"), column - start + before.chars().count())
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Failure {
        let exit = if error.is_bad_input() { Exit::BadInput } else { Exit::FileFailed };
        Failure { exit, message: format!("txloom: {error}") }
    }
}

impl From<FindingsError> for Failure {
    fn from(error: FindingsError) -> Failure {
        let exit = if error.is_bad_input { Exit::BadInput } else { Exit::FileFailed };
        Failure { exit, message: format!("txloom: {error}") }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Failure {
        match error.kind {
            EngineErrorKind::Interrupted => Failure::interrupted(),
            _ => Failure { exit: engine_exit(&error), message: format!("txloom: {error}") },
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        match error {
            RunError::Engine(error) => error.into(),
            other => Failure::bad_input(other),
        }
    }
}

/// Who has to act on an engine's error.
fn engine_exit(error: &EngineError) -> Exit {
    match error.kind {
        EngineErrorKind::Unsupported(_) | EngineErrorKind::Refused(_) => Exit::BadInput,
        EngineErrorKind::Unreachable(_) | EngineErrorKind::Lost(_) | EngineErrorKind::Protocol(_) => Exit::Unreachable,
        EngineErrorKind::Interrupted => Exit::Interrupted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caret_points_at_the_place() {
        let failure = Failure::in_file("x.sql", 3, 5, "unknown directive", "\t-- @finel t");
        assert_eq!(failure.message, "x.sql:3:5: unknown directive\n  \t-- @finel t\n  \t   ^");
        let beyond = Failure::in_file("x.sql", 1, 9, "more is missing", "-- @");
        let long = Failure::in_file("x.sql", 1, 5_001, "wrong", &"x".repeat(100_000)).message;
        let lines: Vec<&str> = long.lines().collect();
        assert_eq!((lines[1].chars().count(), lines[2]), (2 + 302, format!("{}^", " ".repeat(2 + 150)).as_str()));
        assert!(beyond.message.ends_with("\n  -- @\n      ^"), "{}", beyond.message);
    }
}
