//! What isolation levels really mean: `txloom levels`.

use serde::{Deserialize, Serialize};

/// The matrices of some targets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelsReport {
    /// One matrix per target.
    pub targets: Vec<MatrixReport>,
}

/// One target: anomalies down, levels across.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixReport {
    /// The target, as it was asked for.
    pub target: String,
    /// Its version.
    pub version: String,
    /// The levels, weakest first; every row has a cell for each.
    pub levels: Vec<String>,
    /// One row per anomaly.
    pub rows: Vec<AnomalyReport>,
}

/// One anomaly at all levels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnomalyReport {
    /// Its canonical name.
    pub anomaly: String,
    /// What people call it.
    pub name: String,
    /// The case that provokes it.
    pub case: String,
    /// What each level does about it.
    pub cells: Vec<CellReport>,
}

/// One anomaly at one level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellReport {
    /// What was seen.
    #[serde(flatten)]
    pub reaction: ReactionReport,
    /// Whether this contradicts what txloom knew of the level.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub news: bool,
}

/// What a level does about an anomaly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reaction", rename_all = "kebab-case")]
pub enum ReactionReport {
    /// It happened.
    Allowed,
    /// Prevented: a transaction was refused.
    Refused {
        /// Whose.
        session: String,
        /// With which class of error.
        class: String,
    },
    /// Prevented: a session had to wait.
    Waited {
        /// Which one.
        session: String,
    },
    /// Prevented: what was read and written were other versions.
    Versions,
    /// The case could not be run.
    Failed {
        /// Why.
        why: String,
    },
}
