//! Marks in SQL text: where the values go.

use std::ops::Range;

use super::super::super::vocabulary::Marks;

/// Where we are in SQL text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Lexer {
    #[default]
    Code,
    /// Inside quotes of that kind.
    Quoted(char),
    LineComment,
    BlockComment,
}

/// A part of a text: as it is, or a mark, with its name if it has one.
pub(super) enum Marked {
    Text(Range<usize>),
    Mark(Range<usize>, Option<String>),
}

/// Cuts a text at its marks; quotes and comments hide them.
pub(super) fn split_marks(text: &str, marks: &[Marks], lexer: &mut Lexer) -> Vec<Marked> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < bytes.len() {
        let rest = &text[at..];
        let mut width = rest.chars().next().map_or(1, char::len_utf8);
        match *lexer {
            Lexer::Code => {
                if let Some((length, name)) = mark(rest, marks, text[..at].chars().next_back()) {
                    if start < at {
                        parts.push(Marked::Text(start..at));
                    }
                    parts.push(Marked::Mark(at..at + length, name));
                    at += length;
                    start = at;
                    continue;
                }
                if rest.starts_with("--") {
                    *lexer = Lexer::LineComment;
                } else if rest.starts_with("/*") {
                    *lexer = Lexer::BlockComment;
                    width = 2;
                } else if let Some(quote) = rest.chars().next().filter(|c| ['\'', '"', '`'].contains(c)) {
                    *lexer = Lexer::Quoted(quote);
                }
            }
            Lexer::Quoted(quote) if rest.starts_with(quote) => *lexer = Lexer::Code,
            Lexer::LineComment if rest.starts_with('\n') => *lexer = Lexer::Code,
            Lexer::BlockComment if rest.starts_with("*/") => {
                *lexer = Lexer::Code;
                width = 2;
            }
            _ => {}
        }
        at += width;
    }
    if start < text.len() {
        parts.push(Marked::Text(start..text.len()));
    }
    parts
}

/// The mark at the beginning of a text: its length and its name.
fn mark(rest: &str, marks: &[Marks], before: Option<char>) -> Option<(usize, Option<String>)> {
    let word = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').len();
    marks.iter().find_map(|kind| match kind {
        // Two of them are a list of values.
        Marks::Question if rest.starts_with("??") => Some((2, None)),
        Marks::Question if rest.starts_with('?') => Some((1, None)),
        Marks::Percent if rest.starts_with("%s") => Some((2, None)),
        Marks::Percent if rest.starts_with("%(") => {
            let length = word(&rest[2..]);
            rest[2 + length..].starts_with(")s").then(|| (length + 4, Some(rest[2..2 + length].to_string())))
        }
        Marks::Colon if rest.starts_with(':') && before != Some(':') => {
            let length = word(&rest[1..]);
            let is_name = rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            is_name.then(|| (length + 1, Some(rest[1..1 + length].to_string())))
        }
        _ => None,
    })
}
