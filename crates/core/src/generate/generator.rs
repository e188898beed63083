//! The generator: from a model, targets and a seed to groups of cases.
//!
//! ```text
//!   group(n) ─→ schema ─→ ┌ transactions 0 ─→ order 0, order 1, …   each order is a case
//!                         └ transactions 1 ─→ order 0, order 1, …
//! ```
//!
//! Everything below a group is a function of the seed and of the group's number.

use crate::engine::EngineInfo;
use crate::level::LevelName;

use super::language::Language;
use super::model::Model;
use super::{Demands, Group};

/// Makes cases for some targets.
#[derive(Debug, Clone)]
pub struct Generator {
    model: Model,
    language: Language,
    levels: Vec<LevelName>,
    demands: Demands,
    seed: u64,
}

/// Why nothing can be generated for some targets: the user must choose others.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// No target was given.
    #[error("there is no target to generate cases for")]
    NoTarget,
    /// No level is common to all targets.
    #[error("the targets have no isolation level in common ({0}); choose other targets")]
    NoLevel(String),
    /// A level was asked for that a target lacks.
    #[error("not every target has the isolation level `{wanted}` ({have}); choose another level or other targets")]
    LevelNotShared {
        /// The level.
        wanted: LevelName,
        /// What each target has.
        have: String,
    },
    /// The targets lack something that every case needs.
    #[error("the targets have too little of their languages in common: {0}; choose other targets")]
    TooLittle(String),
}

impl Generator {
    /// A generator of cases that all targets understand. `levels` are those that cases may ask for; empty means all that
    /// the targets share.
    pub fn new(
        model: Model,
        targets: &[EngineInfo],
        demands: Demands,
        levels: &[LevelName],
        seed: u64,
    ) -> Result<Generator, GenerateError> {
        let levels = shared_levels(targets, levels)?;
        Ok(Generator { model, language: Language::of(targets), levels, demands, seed })
    }

    /// The cases of a group: a function of what [`Generator::new`] was given, and of the number.
    pub fn group(&self, number: u64) -> Group {
        Group { number, cases: Vec::new() }
    }
}

/// The levels that cases may ask for, in the order of the first target.
fn shared_levels(targets: &[EngineInfo], wanted: &[LevelName]) -> Result<Vec<LevelName>, GenerateError> {
    let Some((first, others)) = targets.split_first() else { return Err(GenerateError::NoTarget) };
    let has_all = |level: &LevelName| others.iter().all(|target| target.levels.contains(level));
    let shared: Vec<LevelName> = first.levels.iter().filter(|level| has_all(level)).cloned().collect();
    let have = || {
        let names = |target: &EngineInfo| target.levels.iter().map(LevelName::as_str).collect::<Vec<_>>().join(", ");
        targets.iter().map(|target| format!("{}: {}", target.target, names(target))).collect::<Vec<_>>().join("; ")
    };
    if let Some(missing) = wanted.iter().find(|level| !shared.contains(level)) {
        return Err(GenerateError::LevelNotShared { wanted: missing.clone(), have: have() });
    }
    match (wanted, shared.is_empty()) {
        ([], true) => Err(GenerateError::NoLevel(have())),
        ([], false) => Ok(shared),
        (wanted, _) => Ok(wanted.to_vec()),
    }
}
