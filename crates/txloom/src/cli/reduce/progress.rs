//! What is shown while a case is reduced, and how the user's wish to stop reaches the reducer.
//!
//! The reducer asks an oracle, again and again; so an oracle that passes the question on is the place to count, to tell,
//! and to refuse when the user has asked to stop.

use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};

use txloom_core::case::Case;
use txloom_core::engine::{EngineError, EngineErrorKind};
use txloom_core::oracle::{Oracle, RunError, Runner, Verdict};
use txloom_core::reduce::Size;

use crate::interrupt;

/// Without a terminal, a line appears every so many tests.
const PLAIN_EVERY: usize = 50;

/// An oracle, watched.
pub(super) struct Watched<'a> {
    oracle: &'a dyn Oracle,
    kind: &'a str,
    meter: RefCell<Meter>,
}

impl<'a> Watched<'a> {
    /// Watches an oracle that looks for violations of one kind.
    pub(super) fn new(oracle: &'a dyn Oracle, kind: &'a str, meter: Meter) -> Watched<'a> {
        Watched { oracle, kind, meter: RefCell::new(meter) }
    }

    /// Nothing more is asked.
    pub(super) fn finish(&self) {
        self.meter.borrow_mut().finish();
    }
}

impl Oracle for Watched<'_> {
    fn name(&self) -> &'static str {
        self.oracle.name()
    }

    fn judge(&self, case: &Case, runner: &mut dyn Runner) -> Result<Verdict, RunError> {
        if interrupt::requested() {
            return Err(EngineError::new("txloom", EngineErrorKind::Interrupted).into());
        }
        let verdict = self.oracle.judge(case, runner);
        let shows = match &verdict {
            Ok(Verdict::Violated(findings)) => findings.iter().any(|found| found.fingerprint.kind() == self.kind),
            _ => false,
        };
        self.meter.borrow_mut().note(shows.then(|| Size::of(case)));
        verdict
    }
}

/// Counts tests and tells of them, on a terminal in one line that is written again and again.
pub(super) struct Meter {
    file: String,
    tests: usize,
    smallest: Option<Size>,
    is_terminal: bool,
}

impl Meter {
    /// A meter for the reduction of a file.
    pub(super) fn new(file: &str) -> Meter {
        Meter { file: file.to_string(), tests: 0, smallest: None, is_terminal: io::stderr().is_terminal() }
    }

    fn note(&mut self, shown: Option<Size>) {
        self.tests += 1;
        self.smallest = shown.or(self.smallest);
        // Where nobody can be told, there is nothing to do about it.
        if self.is_terminal {
            let _ = write!(io::stderr(), "\r\x1b[K{}", self.line());
        } else if self.tests.is_multiple_of(PLAIN_EVERY) {
            let _ = writeln!(io::stderr(), "{}", self.line());
        }
    }

    fn line(&self) -> String {
        let now = self
            .smallest
            .map_or(String::new(), |size| format!(", down to {} steps and {} characters", size.items, size.characters));
        format!("txloom: {}: {} tests{now}", self.file, self.tests)
    }

    fn finish(&mut self) {
        if self.is_terminal {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_it_is() {
        let mut meter = Meter { file: "x.sql".to_string(), tests: 0, smallest: None, is_terminal: false };
        meter.note(None);
        assert_eq!(meter.line(), "txloom: x.sql: 1 tests");
        meter.note(Some(Size { items: 7, characters: 90, ..Size::default() }));
        meter.note(None);
        assert_eq!(meter.line(), "txloom: x.sql: 3 tests, down to 7 steps and 90 characters");
    }
}
