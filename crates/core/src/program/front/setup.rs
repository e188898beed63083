//! What a file says beside its procedures: definitions and rows to start with, and what must always be true.
//!
//! ```sql
//! CREATE TABLE flights (fltnum INT PRIMARY KEY, avail INT NOT NULL);
//! INSERT INTO flights VALUES (1, 2);
//! -- @assert each not_overbooked: SELECT * FROM flights WHERE avail < 0
//! ```

use super::{Source, Unit};
use crate::case::Assert;
use crate::program::diagnostic::Diagnostic;
use crate::program::ir::Span;

/// What a file states.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stated {
    /// The definitions of tables, indexes and views, in order.
    pub definitions: Vec<String>,
    /// The statements that insert rows, in order.
    pub rows: Vec<String>,
    /// The assertions, each with its place.
    pub asserts: Vec<(Span, Assert)>,
    /// How many statements there are outside procedures, of whatever kind.
    pub statements: usize,
    /// Assertions that cannot be read.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads what a file states.
pub fn stated(text: &str) -> Stated {
    let source = Source::new(text);
    let mut stated = Stated::default();
    for unit in source.units().iter().filter(|unit| !unit.is_routine()) {
        stated.statements += 1;
        let kept = unit.text.trim().trim_end_matches(';').trim_end().to_string();
        if defines(unit) {
            stated.definitions.push(kept);
        } else if unit.tokens.first().is_some_and(|token| token.is_word("INSERT")) {
            stated.rows.push(kept);
        }
    }
    read_asserts(text, &mut stated);
    stated
}

/// Whether a statement defines a table, an index or a view, or changes one.
fn defines(unit: &Unit<'_>) -> bool {
    let word = |at: usize, words: &[&str]| {
        unit.tokens.get(at).is_some_and(|token| words.iter().any(|word| token.is_word(word)))
    };
    let kinds = &["TABLE", "INDEX", "VIEW"];
    (word(0, &["CREATE"]) && (1..4).any(|at| word(at, kinds))) || (word(0, &["ALTER"]) && word(1, &["TABLE"]))
}

fn read_asserts(text: &str, stated: &mut Stated) {
    let mut start = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let said = line.trim_start().strip_prefix("--").map(str::trim).and_then(|it| it.strip_prefix("@assert "));
        if let Some(said) = said {
            let indent = line.len() - line.trim_start().len();
            let span = Span { start: start + indent, end: start + line.trim_end().len(), line: number + 1 };
            match Assert::parse(said) {
                Ok(assert) => stated.asserts.push((span, assert)),
                Err(usage) => stated.diagnostics.push(Diagnostic::error(span, usage)),
            }
        }
        start += line.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_rows_and_assertions_are_told_apart() {
        let stated = stated(
            "SET NAMES utf8;\nCREATE TABLE t (k INT);\nCREATE UNIQUE INDEX i ON t (k);\nINSERT INTO t VALUES (1);\n  -- @assert each \
             small: SELECT k FROM t WHERE k > 9;\n-- @assert sometimes\nCREATE PROCEDURE p()\nBEGIN\n  INSERT INTO t VALUES (2);\nEND;",
        );
        assert_eq!(stated.definitions, ["CREATE TABLE t (k INT)", "CREATE UNIQUE INDEX i ON t (k)"]);
        assert_eq!(stated.rows, ["INSERT INTO t VALUES (1)"]);
        assert_eq!(stated.asserts[0].1.to_string(), "each small: SELECT k FROM t WHERE k > 9");
        assert_eq!((stated.asserts[0].0.line, stated.diagnostics[0].span.line), (5, 6));
        assert_eq!(stated.statements, 4);
    }
}
