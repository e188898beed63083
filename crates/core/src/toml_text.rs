//! TOML files that people write: values with their places, and everything that is wrong with a file at once.
//!
//! A file is read by hand, value by value, not by a derived deserializer: so every complaint can say what was found,
//! what would be right, and where. A text that is no TOML ends at its first syntax error; one that is TOML is read to
//! its end, and all its problems are told together.

use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// One thing that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong, and what would be right.
    pub message: String,
    /// The line itself.
    pub text: String,
}

/// Everything that is wrong with a file, in the order of its lines. Prints as lines `FILE:LINE:COLUMN: message`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// The file, as the user named it.
    pub file: String,
    /// The problems; at least one.
    pub problems: Vec<Problem>,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, Problem { line, column, message, .. }) in self.problems.iter().enumerate() {
            let separator = if position == 0 { "" } else { "\n" };
            write!(f, "{separator}{}:{line}:{column}: {message}", self.file)?;
        }
        Ok(())
    }
}

impl std::error::Error for FileError {}

/// A value with its place.
pub(crate) type Value<'i> = Spanned<DeValue<'i>>;

/// A key with its place.
pub(crate) type Key<'i> = Spanned<DeString<'i>>;

/// A file that is being read: collects what is wrong with it.
#[derive(Debug)]
pub(crate) struct Reader<'i> {
    file: &'i str,
    text: &'i str,
    problems: Vec<Problem>,
}

impl<'i> Reader<'i> {
    /// Begins to read; `Err` if the text is no TOML.
    pub(crate) fn open(text: &'i str, file: &'i str) -> Result<(Reader<'i>, DeTable<'i>), FileError> {
        let mut reader = Reader { file, text, problems: Vec::new() };
        match DeTable::parse(text) {
            Ok(table) => Ok((reader, table.into_inner())),
            Err(error) => {
                let place = error.span().unwrap_or(text.len()..text.len());
                reader.complain(place, format!("this is not TOML: {}", error.message()));
                Err(FileError { file: file.to_string(), problems: reader.problems })
            }
        }
    }

    /// Notes a problem.
    pub(crate) fn complain(&mut self, place: Range<usize>, message: impl Into<String>) {
        let at = (0..=place.start.min(self.text.len())).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or(0);
        let before = &self.text[..at];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        self.problems.push(Problem {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.into(),
            text: self.text[line_start..].lines().next().unwrap_or("").to_string(),
        });
    }

    /// The text that a value must be.
    pub(crate) fn string<'v>(&mut self, value: &'v Value<'_>, what: &str) -> Option<&'v str> {
        let text = value.get_ref().as_str().filter(|text| !text.trim().is_empty());
        if text.is_none() {
            self.complain(value.span(), format!("expected {what}, in quotes, found {}", found(value)));
        }
        text
    }

    /// The value that was read, or everything that is wrong.
    pub(crate) fn finish<T>(mut self, value: T) -> Result<T, FileError> {
        if self.problems.is_empty() {
            return Ok(value);
        }
        self.problems.sort_by_key(|problem| (problem.line, problem.column));
        Err(FileError { file: self.file.to_string(), problems: self.problems })
    }
}

/// The entries of a table in the order of the file. (The table itself keeps them in the order of their names.)
pub(crate) fn entries<'t, 'i>(table: &'t DeTable<'i>) -> Vec<(&'t Key<'i>, &'t Value<'i>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// A whole number; `None` if the value is something else or does not fit.
pub(crate) fn integer(value: &Value<'_>) -> Option<i64> {
    let integer = value.get_ref().as_integer()?;
    i64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// What stands there, for messages.
pub(crate) fn found(value: &Value<'_>) -> String {
    match value.get_ref() {
        DeValue::String(text) if text.trim().is_empty() => "an empty text".to_string(),
        DeValue::String(text) => format!("the text \"{text}\""),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(_) => "a date".to_string(),
        DeValue::Array(_) => "a list".to_string(),
        DeValue::Table(_) => "a table".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_told_in_the_order_of_the_file() {
        let (mut reader, table) = Reader::open("'é' = 'ü'\nb = 1\r\nc = 2", "x.toml").unwrap();
        for (key, _) in entries(&table).into_iter().rev() {
            reader.complain(key.span(), key.get_ref().as_ref());
        }
        reader.complain(9..10, "within a character");
        let error = reader.finish(()).unwrap_err();
        assert_eq!(error.to_string(), "x.toml:1:1: é\nx.toml:1:8: within a character\nx.toml:2:1: b\nx.toml:3:1: c");
        assert_eq!(error.problems[2].text, "b = 1");
    }

    #[test]
    fn what_is_no_toml_is_told_with_its_place() {
        let error = Reader::open("a = 1\nb = = 2\n", "x.toml").map(|_| ()).unwrap_err();
        assert!(error.to_string().starts_with("x.toml:2:5: this is not TOML: "), "{error}");
    }
}
