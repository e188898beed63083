//! Changes of source text.

use std::ops::Range;

use crate::sql::tokens;

/// Which of the files a place is in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Home {
    /// That of a procedure.
    Procedure(u16),
    /// That where a table is created.
    Table(String),
}

/// A piece of source text that is replaced by another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The file.
    pub home: Home,
    /// The bytes that go.
    pub range: Range<usize>,
    /// What comes.
    pub text: String,
    /// What else goes, or where it comes.
    shape: Shape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Exactly that.
    Bytes,
    /// Its semicolon goes as well, and the line if nothing else is there.
    Statement,
    /// It comes as a line of its own before that place.
    LineBefore,
    /// It comes as a line of its own behind the statement that the place is in.
    LineAfter,
}

impl Edit {
    /// Other text for these bytes.
    pub fn replace(home: Home, range: Range<usize>, text: &str) -> Edit {
        Edit { home, range, text: text.to_string(), shape: Shape::Bytes }
    }

    /// A statement goes.
    pub fn remove_statement(home: Home, range: Range<usize>) -> Edit {
        Edit { home, range, text: String::new(), shape: Shape::Statement }
    }

    /// A line before the one of a statement, with the same indentation.
    pub fn line_before(home: Home, at: usize, text: &str) -> Edit {
        Edit { home, range: at..at, text: text.to_string(), shape: Shape::LineBefore }
    }

    /// A line behind the statement around a place.
    pub fn line_after_statement(home: Home, at: usize, text: &str) -> Edit {
        Edit { home, range: at..at, text: text.to_string(), shape: Shape::LineAfter }
    }

    /// Whether it is about whole statements, which only a file of SQL has; not about a part of one.
    pub fn is_of_statements(&self) -> bool {
        self.shape != Shape::Bytes
    }

    /// The bytes that go, and what comes instead.
    fn settle(&self, source: &str) -> Option<(Range<usize>, String)> {
        let Range { start, end } = self.range;
        source.get(start..end)?;
        let line = source[..start].rfind('\n').map_or(0, |at| at + 1);
        let indent = &source[line..start];
        let is_first = indent.trim().is_empty();
        Some(match self.shape {
            Shape::Bytes => (start..end, self.text.clone()),
            Shape::LineBefore if is_first => (start..start, format!("{}\n{indent}", self.text)),
            Shape::LineBefore => (start..start, format!("{} ", self.text)),
            Shape::LineAfter => {
                let at = end_of_statement(source, start)?;
                (at..at, format!("\n{}", self.text))
            }
            Shape::Statement => {
                let end = end_of_statement(source, end)?;
                let rest = &source[end..];
                let newline = rest.find('\n').filter(|at| is_first && rest[..*at].trim().is_empty());
                newline.map_or((start..end, String::new()), |at| (line..end + at + 1, String::new()))
            }
        })
    }
}

/// The byte behind the next semicolon.
fn end_of_statement(source: &str, from: usize) -> Option<usize> {
    let rest = source.get(from..)?;
    tokens(rest).iter().find(|token| token.is_symbol(";")).map(|token| from + token.span.end)
}

/// A source with all of these changes; `None` if two of them are about the same text.
pub fn apply(source: &str, edits: &[&Edit]) -> Option<String> {
    let mut settled = edits.iter().map(|edit| edit.settle(source)).collect::<Option<Vec<_>>>()?;
    settled.sort_by_key(|(range, _)| (range.start, range.end));
    settled.dedup();
    let mut text = String::new();
    let mut at = 0;
    for (range, new) in settled {
        text += source.get(at..range.start)?;
        text += &new;
        at = range.end;
    }
    text += source.get(at..)?;
    Some(text)
}
