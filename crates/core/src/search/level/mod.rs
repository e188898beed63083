//! What stores and engines let happen.
//!
//! A *store* is replicated: every call has a copy of the data, and what others write arrives some day. Its levels are
//! [axioms] over who sees whom, CLOTHO's Table 1 and a few more. An *engine* is one node with locks and snapshots; what
//! it does at its levels is a table of [rules](engines). `store:read-committed` is Table 1's level, and a promise about
//! visibility alone; `read committed` on PostgreSQL is PostgreSQL's.

pub mod axioms;
pub mod closure;
pub mod engines;

use std::fmt;

pub use axioms::Axioms;
pub use engines::EngineRules;

use crate::level::LevelName;
use crate::suggest;

/// Whose rules decide what can happen.
#[derive(Debug, Clone, Copy)]
pub enum Target {
    /// A replicated store: axioms over visibility and arbitration.
    Store(&'static Axioms),
    /// One node of an engine, at one of its levels.
    Engine(&'static EngineRules),
}

/// What precedes the name of a store's level.
const STORE: &str = "store:";

/// Why a level could not be found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LevelError {
    /// No store has a level of that name.
    #[error("there is no level `{name}` of stores{hint}")]
    Store {
        /// What was asked for.
        name: String,
        /// `; did you mean …?`
        hint: String,
    },
    /// The engine has no level of that name.
    #[error("what {engine} does at `{name}` is not known{hint}")]
    Engine {
        /// The engine's family.
        engine: String,
        /// What was asked for.
        name: String,
        /// `; did you mean …?`
        hint: String,
    },
}

impl Target {
    /// Whether anything may be seen, or not: the level promises nothing.
    pub fn is_open(&self) -> bool {
        matches!(self, Target::Store(axioms) if axioms.is_free())
    }

    /// The same level where each call stays on its node; an engine has one node.
    #[must_use]
    pub fn staying(self) -> Target {
        match self {
            Target::Store(axioms) => Target::Store(axioms.staying()),
            engine @ Target::Engine(_) => engine,
        }
    }

    /// Reads a level. `store:NAME` is a store's. Any other name is one of the engine's (its family and settings), or a
    /// store's if the target is one. Case, hyphens and underscores do not matter.
    pub fn parse(text: &str, engine: Option<(&str, &[String])>) -> Result<Target, LevelError> {
        let trimmed = text.trim();
        let prefix = trimmed.get(..STORE.len()).filter(|prefix| prefix.eq_ignore_ascii_case(STORE));
        match (prefix, engine) {
            (Some(prefix), _) => Target::store(&trimmed[prefix.len()..]),
            (None, None) => Target::store(trimmed),
            (None, Some((family, settings))) => Target::engine(trimmed, family, settings),
        }
    }

    fn store(name: &str) -> Result<Target, LevelError> {
        let words = words(name);
        Axioms::named(&words).map(Target::Store).ok_or_else(|| {
            let names = axioms::LEVELS.iter().map(|level| level.name);
            LevelError::Store { name: name.to_string(), hint: suggest::hint(&words, names) }
        })
    }

    fn engine(name: &str, family: &str, settings: &[String]) -> Result<Target, LevelError> {
        let level = LevelName::custom(name);
        EngineRules::of(family, settings, &level).map(Target::Engine).ok_or_else(|| {
            let names = engines::RULES.iter().filter(|rules| rules.engine == family).map(|rules| rules.level);
            let hint = match Axioms::named(&words(name)) {
                Some(store) => format!("; the level of stores is written {}", Target::Store(store)),
                None => suggest::hint(level.as_str(), names),
            };
            LevelError::Engine { engine: family.to_string(), name: name.to_string(), hint }
        })
    }
}

/// In lower case, with single spaces.
fn words(text: &str) -> String {
    text.to_lowercase().replace(['-', '_'], " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `store:read committed`, `postgres read committed`
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Store(axioms) => {
                let sticky = if axioms.sticky { " (sticky)" } else { "" };
                write!(f, "{STORE}{}{sticky}", axioms.name.replace(' ', "-"))
            }
            Target::Engine(rules) => rules.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_read_in_any_spelling() {
        for level in axioms::LEVELS {
            for name in level.aliases.iter().chain([&level.name]) {
                for text in [(*name).to_string(), format!("STORE:{}", name.to_uppercase().replace(' ', "-"))] {
                    let Ok(Target::Store(found)) = Target::parse(&text, None) else { panic!("{text}") };
                    assert_eq!(found.name, level.name, "{text}");
                }
            }
            let shown = Target::Store(level).to_string();
            assert!(matches!(Target::parse(&shown, None), Ok(Target::Store(found)) if found.name == level.name));
        }
    }

    #[test]
    fn an_engine_has_levels_of_its_own() {
        let postgres = Some(("postgres", &[][..]));
        let shown = |text: &str, engine| Target::parse(text, engine).map(|target| target.to_string());
        assert_eq!(shown("Read-Committed", postgres).unwrap(), "postgres read committed");
        assert_eq!(shown("rr", postgres).unwrap(), "postgres repeatable read");
        assert_eq!(shown("store:rr", postgres).unwrap(), "store:repeatable-read");
        assert_eq!(shown("read committed", None).unwrap(), "store:read-committed");
    }

    #[test]
    fn wrong_names_are_told_with_the_nearest_one() {
        let error = |text: &str, engine| Target::parse(text, engine).unwrap_err().to_string();
        assert_eq!(error("eventuel", None), "there is no level `eventuel` of stores; did you mean eventual?");
        assert_eq!(
            error("read-comitted", Some(("postgres", &[][..]))),
            "what postgres does at `read-comitted` is not known; did you mean read committed?"
        );
        let snapshot = error("snapshot", Some(("postgres", &[][..])));
        assert!(
            snapshot.ends_with("is not known; the level of stores is written store:snapshot-isolation"),
            "{snapshot}"
        );
    }

    #[test]
    fn names_are_unique_and_definitions_are_told() {
        let mut names: Vec<&str> =
            axioms::LEVELS.iter().flat_map(|level| level.aliases.iter().chain([&level.name])).copied().collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        let table = Axioms::table();
        assert!(table.contains("st(a, b) ∧ vis(a, c) ∧ ¬st(a, c) ⇒ vis(b, c)"), "{table}");
        assert_eq!(table.lines().count(), axioms::LEVELS.len() + 2);
    }
}
