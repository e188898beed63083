//! What a file of definitions says beside its procedures: statements that set a database up, and assertions.
//!
//! ```text
//!   CREATE TABLE accounts (…);                          ┐
//!   INSERT INTO accounts VALUES (1, 100);               ┴ setup, in the order of the file
//!   -- @assert each solvent: SELECT * FROM accounts …     an assertion: holds iff there are no rows
//!   CREATE PROCEDURE withdraw(…) …                        a routine, as its own server takes it
//! ```

use super::Source;
use crate::case::{Assert, AssertWhen};
use crate::program::diagnostic::Diagnostic;

/// The statements and assertions of a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Definitions {
    /// What is not a routine, in order, without semicolons.
    pub setup: Vec<String>,
    /// The text of each routine, in order, without what only clients understand.
    pub routines: Vec<String>,
    /// What must hold: `-- @assert start|each|end NAME: QUERY`, each on one line.
    pub asserts: Vec<Assert>,
    /// Assertions that cannot be read.
    pub diagnostics: Vec<Diagnostic>,
}

/// The line of an assertion, up to its moment.
const ASSERT: &str = "-- @assert";

impl Definitions {
    /// Reads a file.
    pub fn read(text: &str) -> Definitions {
        let source = Source::new(text);
        let mut definitions = Definitions::default();
        for unit in source.units() {
            let list = if unit.is_routine() { &mut definitions.routines } else { &mut definitions.setup };
            list.push(unit.text.to_string());
        }
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            if let Some(value) = line.strip_prefix(ASSERT) {
                match assertion(value) {
                    Some(assert) => definitions.asserts.push(assert),
                    None => {
                        let span = source.span(start, start + line.trim_end().len());
                        let complaint = Diagnostic::error(span, "this assertion cannot be read");
                        let hint = "write `-- @assert start|each|end NAME: SELECT …` on one line";
                        definitions.diagnostics.push(complaint.with_hint(hint));
                    }
                }
            }
            start += line.len();
        }
        definitions
    }
}

/// `each NAME: QUERY`
fn assertion(value: &str) -> Option<Assert> {
    let (when, rest) = value.trim().split_once(char::is_whitespace)?;
    let moments = [AssertWhen::Start, AssertWhen::Each, AssertWhen::End];
    let when = moments.into_iter().find(|moment| moment.name() == when)?;
    let (name, sql) = rest.split_once(':')?;
    let (name, sql) = (name.trim(), sql.trim().trim_end_matches(';').trim_end());
    let is_whole = !name.is_empty() && !sql.is_empty();
    is_whole.then(|| Assert { when, name: name.to_string(), sql: sql.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_routines_and_assertions_are_told_apart() {
        let text = "-- a bank\nCREATE TABLE t (a INT);\n-- @assert each small: SELECT * FROM t WHERE a > 9;\n\
                    INSERT INTO t VALUES (1);\nDELIMITER //\nCREATE PROCEDURE p() BEGIN\n  DELETE FROM t;\nEND //\n\
                    DELIMITER ;\n-- @assert end n: SELECT 1\n";
        let found = Definitions::read(text);
        assert_eq!(found.setup, ["CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)"]);
        assert_eq!(found.routines, ["CREATE PROCEDURE p() BEGIN\n  DELETE FROM t;\nEND"]);
        let asserts: Vec<_> = found.asserts.iter().map(|one| (one.when.name(), &*one.name, &*one.sql)).collect();
        assert_eq!(asserts, [("each", "small", "SELECT * FROM t WHERE a > 9"), ("end", "n", "SELECT 1")]);
        assert_eq!(found.diagnostics, []);
    }

    #[test]
    fn an_assertion_that_cannot_be_read_is_said_to_be() {
        for line in ["-- @assert", "-- @assert always x: SELECT 1", "-- @assert each x", "-- @assert each : SELECT 1"] {
            let text = format!("CREATE TABLE t (a INT);\n{line}\n");
            let found = Definitions::read(&text).diagnostics;
            assert_eq!(found.len(), 1, "{line}");
            assert_eq!((&text[found[0].span.start..found[0].span.end], found[0].span.line), (line, 2));
        }
    }
}
