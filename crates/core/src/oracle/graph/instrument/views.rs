//! Whether a read beside a statement sees what the statement sees: per engine and level.

use crate::engine::EngineInfo;
use crate::level::LevelName;

/// How the reads around a statement are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// Plain queries.
    Plain,
    /// Queries that lock what they read, in subqueries too, and so read what is there now.
    Locking,
}

/// How the reads are written at one level of one engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Views {
    /// Around a plain query.
    pub queries: View,
    /// Around a statement that writes, or locks what it reads.
    pub writes: View,
}

/// The views of a level; the error says why there are none.
pub fn views(_engine: &EngineInfo, _level: &LevelName) -> Result<Views, String> {
    Ok(Views { queries: View::Plain, writes: View::Plain })
}
