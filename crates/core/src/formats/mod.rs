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

#[cfg(test)]
mod tests {
    use super::*;

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
