//! What a file of definitions says beside its procedures: statements that set a database up, and assertions.
//!
//! ```text
//!   CREATE TABLE accounts (…);                          ┐
//!   INSERT INTO accounts VALUES (1, 100);               ┴ setup, in the order of the file
//!   -- @assert each solvent: SELECT * FROM accounts …     an assertion: holds iff there are no rows
//!   CREATE PROCEDURE withdraw(…) …                        a routine, as its own server takes it
//! ```

use super::{Source, copy};
use crate::case::Assert;
use crate::program::diagnostic::Diagnostic;
use crate::program::ir::Span;
use crate::sql::tokens;

/// The statements and assertions of a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Definitions {
    /// What is not a routine, in order, without semicolons.
    pub setup: Vec<String>,
    /// The rows that `COPY … FROM stdin` brings, as statements that insert them. A dump of a large database has more than
    /// anybody wants to set up: they are not among the setup.
    pub copied: Vec<String>,
    /// The text of each routine, in order, without what only clients understand.
    pub routines: Vec<String>,
    /// What must hold: `-- @assert start|each|end NAME: QUERY`, `-- @assert after|kept PROCEDURE NAME: QUERY`, each on one
    /// line.
    pub asserts: Vec<Assert>,
    /// Where each of them stands.
    pub places: Vec<Span>,
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
            definitions.copied.extend(copy::inserts(unit.text, text.get(unit.span.end..).unwrap_or_default()));
            let list = if unit.is_routine() { &mut definitions.routines } else { &mut definitions.setup };
            list.push(unit.text.to_string());
        }
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let indent = line.len() - line.trim_start().len();
            if let Some(value) = line.trim_start().strip_prefix(ASSERT) {
                let span = source.span(start + indent, start + line.trim_end().len());
                match Assert::parse(value) {
                    Ok(assert) => {
                        definitions.asserts.push(assert);
                        definitions.places.push(span);
                    }
                    Err(usage) => {
                        let complaint = Diagnostic::error(span, "this assertion cannot be read");
                        definitions.diagnostics.push(complaint.with_hint(format!("{usage}, on one line")));
                    }
                }
            }
            start += line.len();
        }
        definitions
    }

    /// The statements that define tables, indexes, views and what these need, in order. What else clients and dump tools
    /// write (SET, LOCK TABLES, …) is none; nor is whom a table belongs to.
    pub fn tables(&self) -> impl Iterator<Item = &String> {
        self.setup.iter().filter(|sql| {
            let tokens = tokens(sql);
            let words: Vec<String> = tokens.iter().take(4).map(|token| token.text.to_uppercase()).collect();
            let creates = |kind: &&str| words.iter().skip(1).any(|word| word == kind);
            let is_of_owner = || tokens.windows(2).any(|pair| pair[0].is_word("OWNER") && pair[1].is_word("TO"));
            match words.first().map(String::as_str) {
                Some("CREATE") => ["TABLE", "INDEX", "VIEW", "SEQUENCE", "TYPE", "DOMAIN"].iter().any(creates),
                Some("ALTER") => ["TABLE", "SEQUENCE"].iter().any(creates) && !is_of_owner(),
                _ => false,
            }
        })
    }

    /// The statements that insert rows, in order.
    pub fn rows(&self) -> impl Iterator<Item = &String> {
        self.setup.iter().filter(|sql| tokens(sql).first().is_some_and(|token| token.is_word("INSERT")))
    }
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
        assert_eq!(found.tables().collect::<Vec<_>>(), [&found.setup[0]]);
        assert_eq!(found.rows().collect::<Vec<_>>(), [&found.setup[1]]);
        assert_eq!(found.places.iter().map(|place| place.line).collect::<Vec<_>>(), [3, 10]);
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
