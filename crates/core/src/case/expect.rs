//! Expectations: what a step should do, and where.
//!
//! What is not said is not checked; but a step that carries any expectation is checked for waiting both ways: it waits
//! iff a `blocked` applies, and it resumes exactly those that `resumes` names.

use std::fmt;

use crate::case::SessionName;
use crate::engine::{EngineInfo, Version};
use crate::level::{KNOWN_LEVELS, LevelName};
use crate::outcome::ErrorClass;
use crate::suggest;
use crate::value::Value;

/// One `-- >` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    /// Where it applies; everywhere if absent. A guarded expectation that applies replaces the unguarded ones of the
    /// same [`Aspect`].
    pub guard: Option<Guard>,
    /// What is expected.
    pub expect: Expect,
}

/// What is expected of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expect {
    /// It waits.
    Blocked,
    /// Its completion lets these sessions go on.
    Resumes(Vec<SessionName>),
    /// It completes without an error.
    Ok,
    /// It fails with an error of this class.
    Error(ErrorClass),
    /// It changes so many rows.
    Affected(u64),
    /// The server answers with this tag.
    Tag(String),
    /// It returns these rows, in any order.
    Rows(Rows),
    /// It returns these rows, in this order.
    Ordered(Rows),
    /// We had to cancel it: it was still blocked at the end, or exceeded its time limit.
    Cancelled,
}

/// Rows as a case file writes them: `(1, 'a') (2, NULL)`, or `(empty)`.
pub type Rows = Vec<Vec<Value>>;

/// The part of an outcome that an expectation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aspect {
    /// Whether it waits.
    Waiting,
    /// Whom it resumes.
    Resuming,
    /// What it answers.
    Answer,
    /// The command tag.
    Tag,
}

impl Expect {
    /// What the expectation is about.
    pub fn aspect(&self) -> Aspect {
        match self {
            Expect::Blocked => Aspect::Waiting,
            Expect::Resumes(_) => Aspect::Resuming,
            Expect::Tag(_) => Aspect::Tag,
            _ => Aspect::Answer,
        }
    }
}

/// Where an expectation applies: `[postgres>=14, model serializable]`; or that it is a mark, not a claim: `[anomaly]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guard {
    /// Not an expectation at all, but part of the description of the case's anomaly: it has happened iff all
    /// expectations marked so are met.
    Anomaly,
    /// Any of these terms suffices.
    Any(Vec<Term>),
}

/// One term of a guard: an engine, a level, or both. What is absent matches everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// The engine's family.
    pub engine: Option<String>,
    /// Bounds on its version; all must hold.
    pub bounds: Vec<Bound>,
    /// The level of the session (of any session, for `@final`).
    pub level: Option<LevelName>,
}

/// A bound on a version: `<10.8`, `>=15`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// The comparison.
    pub relation: Relation,
    /// The numbers to compare with; fewer numbers than the server's compare as a prefix.
    pub version: Vec<u32>,
}

/// A comparison of versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `=`
    Equal,
    /// `>=`
    GreaterEqual,
    /// `>`
    Greater,
}

impl Relation {
    /// All relations with their signs, longer signs first.
    pub const SIGNS: &'static [(&'static str, Relation)] = &[
        ("<=", Relation::LessEqual),
        (">=", Relation::GreaterEqual),
        ("<", Relation::Less),
        (">", Relation::Greater),
        ("=", Relation::Equal),
    ];

    fn sign(self) -> &'static str {
        Relation::SIGNS.iter().find(|(_, relation)| *relation == self).map_or("", |(sign, _)| sign)
    }
}

/// What is wrong with a guard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardError<'a> {
    /// The part that is wrong: a slice of what was read.
    pub part: &'a str,
    /// What is wrong with it.
    pub message: String,
}

impl Guard {
    /// Reads what stands between the brackets: `postgres>=14, model serializable`.
    pub fn parse(text: &str) -> Result<Guard, GuardError<'_>> {
        if text.trim() == "anomaly" {
            return Ok(Guard::Anomaly);
        }
        text.split(',').map(Term::parse).collect::<Result<Vec<_>, _>>().map(Guard::Any)
    }

    /// Whether the guard matches an engine and the level of a session on it. A mark matches nowhere.
    pub fn matches(&self, engine: &EngineInfo, level: &LevelName) -> bool {
        match self {
            Guard::Anomaly => false,
            Guard::Any(terms) => terms.iter().any(|term| term.matches(engine, level)),
        }
    }
}

impl Term {
    /// `mariadb<10.8`, `postgres>=14<16 serializable`, `repeatable read`.
    fn parse(text: &str) -> Result<Term, GuardError<'_>> {
        let error = |part, message: &str| GuardError { part, message: message.to_string() };
        let trimmed = text.trim();
        if let Some(level) = LevelName::parse(trimmed) {
            return Ok(Term { engine: None, bounds: Vec::new(), level: Some(level) });
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let name_end = trimmed.find(|c| !is_name(c)).unwrap_or(trimmed.len());
        let (engine, mut rest) = trimmed.split_at(name_end);
        if engine.is_empty() {
            return Err(error(text, "expected an engine, with a version range or a level, or a level"));
        }
        // Engines that we do not know may have any name, but hardly one that is nearly one of these.
        if let Some(known) = misspelt_engine(engine) {
            return Err(error(engine, &format!("unknown engine `{engine}`; did you mean {known}?")));
        }
        let mut bounds = Vec::new();
        while let Some((sign, relation)) = Relation::SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
            let after = &rest[sign.len()..];
            let end = after.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(after.len());
            let version: Result<Vec<u32>, _> = after[..end].split('.').map(str::parse).collect();
            let version = version.map_err(|_| error(after, "expected a version such as 10.8"))?;
            bounds.push(Bound { relation: *relation, version });
            rest = &after[end..];
        }
        let level = match rest.trim() {
            "" => None,
            name => Some(LevelName::parse(name).ok_or_else(|| error(name, &unknown_level(name)))?),
        };
        Ok(Term { engine: Some(engine.to_string()), bounds, level })
    }

    fn matches(&self, engine: &EngineInfo, level: &LevelName) -> bool {
        self.engine.as_ref().is_none_or(|family| family == engine.family)
            && self.bounds.iter().all(|bound| bound.holds(&engine.version))
            && self.level.as_ref().is_none_or(|wanted| wanted == level)
    }
}

impl Bound {
    /// Whether the version is within the bound. `=15` holds for 15.3, `<=15` too: the bound's numbers count.
    pub fn holds(&self, version: &Version) -> bool {
        let length = self.version.len().min(version.numbers.len());
        let prefix = version.numbers[..length].cmp(&self.version[..]);
        match self.relation {
            Relation::Less => prefix.is_lt(),
            Relation::LessEqual => prefix.is_le(),
            Relation::Equal => prefix.is_eq(),
            Relation::GreaterEqual => prefix.is_ge(),
            Relation::Greater => prefix.is_gt(),
        }
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Guard::Anomaly => f.write_str("[anomaly]"),
            Guard::Any(terms) => {
                let terms: Vec<String> = terms.iter().map(Term::to_string).collect();
                write!(f, "[{}]", terms.join(", "))
            }
        }
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(engine) = &self.engine {
            f.write_str(engine)?;
        }
        for bound in &self.bounds {
            let numbers: Vec<String> = bound.version.iter().map(u32::to_string).collect();
            write!(f, "{}{}", bound.relation.sign(), numbers.join("."))?;
        }
        match &self.level {
            Some(level) if self.engine.is_some() => write!(f, " {level}"),
            Some(level) => level.fmt(f),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(guard) = &self.guard {
            write!(f, "{guard} ")?;
        }
        self.expect.fmt(f)
    }
}

impl fmt::Display for Expect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expect::Blocked => f.write_str("blocked"),
            Expect::Resumes(names) => {
                f.write_str("resumes")?;
                names.iter().try_for_each(|name| write!(f, " {name}"))
            }
            Expect::Ok => f.write_str("ok"),
            Expect::Error(class) => write!(f, "error {class}"),
            Expect::Affected(count) => write!(f, "affected {count}"),
            Expect::Tag(tag) => write!(f, "tag {tag}"),
            Expect::Rows(rows) => write!(f, "rows {}", print_rows(rows)),
            Expect::Ordered(rows) => write!(f, "ordered {}", print_rows(rows)),
            Expect::Cancelled => f.write_str("cancelled"),
        }
    }
}

/// A message about a level that no engine has.
/// The families of engines that guards are usually about.
const KNOWN_ENGINES: &[&str] =
    &["sqlite", "model", "replicas", "postgres", "mariadb", "mysql", "h2", "duckdb", "tidb", "cockroachdb"];

/// The engine that this is probably meant to be, if it is none.
fn misspelt_engine(name: &str) -> Option<&'static str> {
    let is_long = name.len() > 3 && !KNOWN_ENGINES.contains(&name);
    is_long.then(|| suggest::nearest(name, KNOWN_ENGINES.iter().copied())).flatten()
}

pub(super) fn unknown_level(name: &str) -> String {
    let hint = suggest::hint(name, KNOWN_LEVELS.iter().copied());
    format!("unknown isolation level `{name}`{hint} (levels: {})", KNOWN_LEVELS.join(", "))
}

/// `(1, 'a') (2, NULL)`; no rows are `(empty)`.
pub fn print_rows(rows: &[Vec<Value>]) -> String {
    if rows.is_empty() {
        return "(empty)".to_string();
    }
    let row = |values: &Vec<Value>| {
        let values: Vec<String> = values.iter().map(Value::to_string).collect();
        format!("({})", values.join(", "))
    };
    rows.iter().map(row).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_bounds_compare_as_prefixes() {
        let bound = |relation, version: &[u32]| Bound { relation, version: version.to_vec() };
        let v15 = Version::parse("15.18");
        assert!(bound(Relation::Equal, &[15]).holds(&v15));
        assert!(bound(Relation::LessEqual, &[15]).holds(&v15));
        assert!(!bound(Relation::Less, &[15]).holds(&v15));
        assert!(bound(Relation::Less, &[15, 19]).holds(&v15));
        assert!(bound(Relation::GreaterEqual, &[9, 6]).holds(&v15));
        assert!(!bound(Relation::Greater, &[15]).holds(&v15));
    }
}
