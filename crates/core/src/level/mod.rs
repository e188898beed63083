//! Isolation levels: what engines call them.
//!
//! A *level* of the theory (what anomalies are proscribed) and the *name* that an engine gives to one of its settings
//! are two things: `REPEATABLE READ` means snapshot isolation to PostgreSQL and something weaker to InnoDB. This module
//! holds the names; [`guarantees`] says what they are worth.

pub mod formal;
pub mod guarantees;
pub mod matrix;

use std::fmt;

/// The name of an isolation level in canonical form: lower-case words, separated by single spaces.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LevelName(String);

/// The names that people use, short forms first, with what they stand for.
const ALIASES: &[(&str, &str)] = &[
    ("ru", "read uncommitted"),
    ("rc", "read committed"),
    ("rr", "repeatable read"),
    ("si", "snapshot isolation"),
    ("snapshot", "snapshot isolation"),
    ("ser", "serializable"),
    ("serialisable", "serializable"),
];

/// The names that some engine of ours gives to a level. Guards tell levels from engines by this list.
pub const KNOWN_LEVELS: &[&str] =
    &["read uncommitted", "read committed", "repeatable read", "snapshot isolation", "serializable", "eventual"];

impl LevelName {
    /// Reads a level name: case, hyphens, underscores and repeated spaces do not matter; short forms are expanded.
    /// `None` for a name that no engine uses.
    pub fn parse(text: &str) -> Option<LevelName> {
        let canonical = LevelName::canonical(text);
        KNOWN_LEVELS.contains(&canonical.as_str()).then_some(LevelName(canonical))
    }

    /// A name that an engine of somebody else's may use; brought into canonical form, otherwise unchecked.
    pub fn custom(text: &str) -> LevelName {
        LevelName(LevelName::canonical(text))
    }

    fn canonical(text: &str) -> String {
        let lower = text.to_lowercase().replace(['-', '_'], " ");
        let words = lower.split_whitespace().collect::<Vec<_>>().join(" ");
        ALIASES.iter().find(|(alias, _)| *alias == words).map_or(words, |(_, name)| (*name).to_string())
    }

    /// The canonical name, e.g. `repeatable read`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LevelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_any_spelling() {
        for spelling in ["repeatable read", "REPEATABLE-READ", "Repeatable_Read", "  repeatable   read ", "RR"] {
            assert_eq!(LevelName::parse(spelling).unwrap().as_str(), "repeatable read");
        }
        assert_eq!(LevelName::parse("chaos"), None);
    }
}
