//! Other tools' formats: what can be read as a case, and what a case can be written as.
//!
//! | format | read | written | what it is |
//! |---|---|---|---|
//! | [`spec`] | yes | yes | PostgreSQL's isolation tests, and the transcripts of their runner |
//! | [`troc`] | yes | no | the text format of DT² and Troc, in which many published bugs are recorded |
//! | [`mtr`] | no | yes | the test language of MariaDB and MySQL |
//! | [`markdown`] | no | yes | for bug trackers |
//!
//! Everything here is a pure function from text to data or from data to text.

pub mod spec;
pub mod troc;
pub mod interleaving;
pub mod mtr;
pub mod markdown;

use std::path::Path;

use crate::case::{self, Case};
use crate::trace::Trace;
use interleaving::CannotExport;

/// A format in which cases are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Our own: SQL with labels.
    Case,
    /// PostgreSQL isolation test.
    Spec,
    /// DT² or Troc text.
    Troc,
}

/// Which format a file has. The name decides where it can (`.sql`, `.spec`); else the text does: labels or directives in
/// column 0 make a case, an `END` below a schedule makes DT² text, a session with steps makes a spec.
pub fn detect(path: &Path, text: &str) -> Format {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("sql") => return Format::Case,
        Some("spec") => return Format::Spec,
        _ => {}
    }
    if text.lines().any(crate::case::parse::is_structural) {
        Format::Case
    } else if troc::looks_like(text) {
        Format::Troc
    } else if spec::looks_like(text) {
        Format::Spec
    } else {
        Format::Case
    }
}

/// A case that was read from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The permutations of the spec that it stands for, counted from 1; empty if the file holds one case only.
    pub permutations: Vec<usize>,
    /// The case.
    pub case: Case,
}

/// What is wrong with a file, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ReadError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong, and what would be right.
    pub message: String,
    /// The line itself.
    pub text: String,
}

impl From<case::CaseError> for ReadError {
    fn from(error: case::CaseError) -> ReadError {
        let case::CaseError { line, column, message, text } = error;
        ReadError { line, column, message, text }
    }
}

impl From<spec::SpecError> for ReadError {
    fn from(error: spec::SpecError) -> ReadError {
        let spec::SpecError { line, column, message, text } = error;
        ReadError { line, column, message, text }
    }
}

/// Reads the cases of a file of any format. Only a spec may hold several.
pub fn read(path: &Path, text: &str) -> Result<Vec<Imported>, ReadError> {
    let only = |case: Case| vec![Imported { permutations: Vec::new(), case }];
    match detect(path, text) {
        Format::Case => Ok(only(case::parse(text)?)),
        Format::Troc => Ok(only(troc::parse(text)?)),
        Format::Spec => {
            let first_line = text.lines().next().unwrap_or("").to_string();
            let cases = spec::to_cases(&spec::parse(text)?);
            let cases = cases.map_err(|message| ReadError { line: 1, column: 1, message, text: first_line })?;
            let import = |case: spec::SpecCase| Imported { permutations: case.permutations, case: case.case };
            Ok(cases.into_iter().map(import).collect())
        }
    }
}

/// A format that a case can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// PostgreSQL isolation test.
    Spec,
    /// MariaDB or MySQL test.
    Mtr,
    /// Our own case format.
    Sql,
    /// For bug trackers.
    Markdown,
}

impl ExportFormat {
    /// All of them, with the name that the command line uses and the usual extension of a file.
    pub const ALL: &'static [(&'static str, ExportFormat, &'static str)] = &[
        ("spec", ExportFormat::Spec, "spec"),
        ("mtr", ExportFormat::Mtr, "test"),
        ("sql", ExportFormat::Sql, "sql"),
        ("markdown", ExportFormat::Markdown, "md"),
    ];

    /// Finds a format by its name.
    pub fn parse(name: &str) -> Option<ExportFormat> {
        ExportFormat::ALL.iter().find(|(known, ..)| *known == name).map(|(_, format, _)| *format)
    }

    /// The usual extension of a file in this format.
    pub fn extension(self) -> &'static str {
        ExportFormat::ALL.iter().find(|(_, format, _)| *format == self).map_or("", |(.., extension)| extension)
    }
}

/// Writes a case in a format. A trace, if there is one, tells who waited, who failed, and what was answered.
pub fn write(case: &Case, trace: Option<&Trace>, format: ExportFormat) -> Result<String, CannotExport> {
    match format {
        ExportFormat::Spec => spec::from_case(case, trace).map(|spec| spec::print(&spec)),
        ExportFormat::Mtr => mtr::print(case, trace),
        ExportFormat::Markdown => markdown::print(case, trace),
        ExportFormat::Sql => Ok(match trace {
            Some(trace) => case::print::print(&case::record::record(case, &[trace])),
            None => case::print::print(case),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_of_any_format_can_be_written_in_every_format() {
        let troc = "CREATE TABLE t(a INT)\n\nBEGIN\nCOMMIT\n\nSELECT 1\n\n1-2-1\nEND";
        let spec = "session a step x {SELECT 1} step y {SELECT 2} permutation x permutation x y";
        for (name, text, count) in [("a.txt", troc, 1), ("a.spec", spec, 2), ("a.sql", "/*a*/ SELECT 1;\n", 1)] {
            let cases = read(Path::new(name), text).unwrap();
            assert_eq!(cases.len(), count);
            for (format_name, format, _) in ExportFormat::ALL {
                assert_eq!(ExportFormat::parse(format_name), Some(*format));
                for imported in &cases {
                    let written = write(&imported.case, None, *format).unwrap();
                    let name = format!("x.{}", format.extension());
                    let can_be_read = matches!(format, ExportFormat::Spec | ExportFormat::Sql);
                    assert!(!can_be_read || read(Path::new(&name), &written).is_ok(), "{written}");
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_read_names_its_place() {
        let check = |name: &str, text: &str| read(Path::new(name), text).unwrap_err().to_string();
        assert!(check("a.spec", "session").starts_with("1:8: expected"));
        assert!(check("a.sql", "-- @finel x\n").starts_with("1:"));
        assert!(check("-", "SELECT 1\n\n1-2\nEND").starts_with("1:1: expected a setup"));
    }

    #[test]
    fn formats_are_told_apart() {
        let check = |path: &str, text: &str, expect: Format| {
            assert_eq!(detect(Path::new(path), text), expect, "{path}");
        };
        check("a.sql", "1-2\nEND", Format::Case);
        check("a.spec", "", Format::Spec);
        check("-", "-- a claim\n/*a*/ SELECT 1;\n", Format::Case);
        check("bug.txt", "CREATE TABLE t(a INT);\r\n\r\nBEGIN\r\n\r\nBEGIN\r\n\r\n1-2\r\nEND", Format::Troc);
        check("-", "# remark\nsession s1\nstep a { SELECT 1; }\n", Format::Spec);
        check("-", "SELECT 1", Format::Case);
        check("-", "", Format::Case);
    }
}
