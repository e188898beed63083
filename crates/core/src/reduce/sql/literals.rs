//! The literals of a statement, found without a parser.

use std::ops::Range;

use crate::sql::{self, TokenKind};

/// A literal and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Literal<'a> {
    /// Its text, with quotes, and with what belongs to it: `X'00'`, `DATE '2000-01-01'`.
    pub(super) text: &'a str,
    span: Range<usize>,
}

/// The words before a string that say what it is, though they stand apart from it.
const TYPES: [&str; 4] = ["DATE", "TIME", "TIMESTAMP", "DATETIME"];

/// The literals of a statement, from left to right.
pub(super) fn literals(text: &str) -> Vec<Literal<'_>> {
    let tokens = sql::tokens(text);
    let literal = |at: usize| {
        let token = &tokens[at];
        let mut start = token.span.start;
        match token.kind {
            TokenKind::Number => {}
            TokenKind::String => {
                let before = at.checked_sub(1).map(|at| &tokens[at]).filter(|before| before.kind == TokenKind::Word);
                let belongs = |before: &&sql::Token<'_>| {
                    before.span.end == start || TYPES.iter().any(|word| before.is_word(word))
                };
                start = before.filter(belongs).map_or(start, |before| before.span.start);
            }
            _ => return None,
        }
        Some(Literal { text: &text[start..token.span.end], span: start..token.span.end })
    };
    (0..tokens.len()).filter_map(literal).collect()
}

/// The statement with some of its literals replaced.
pub(super) fn replace(text: &str, new: impl Fn(&str) -> Option<String>) -> String {
    let mut changed = String::new();
    let mut end = 0;
    for literal in literals(text) {
        if let Some(new) = new(literal.text) {
            changed.push_str(&text[end..literal.span.start]);
            changed.push_str(&new);
            end = literal.span.end;
        }
    }
    changed.push_str(&text[end..]);
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_found_with_what_belongs_to_them() {
        let found = |text: &str| literals(text).iter().map(|literal| literal.text.to_string()).collect::<Vec<_>>();
        assert_eq!(found("SELECT 1, 'it''s', X'00', c0 FROM t2"), ["1", "'it''s'", "X'00'"]);
        assert_eq!(found("SELECT DATE '2000-01-01', a LIKE 'x%' -- 5"), ["DATE '2000-01-01'", "'x%'"]);
        assert_eq!(replace("f(1, 11, 1)", |text| (text == "1").then(|| "0".to_string())), "f(0, 11, 0)");
    }
}
