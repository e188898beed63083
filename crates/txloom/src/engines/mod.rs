//! Engines: the database systems that txloom drives, and the names by which people ask for them.
//!
//! ```text
//!  "model+lost-update" ──Target::parse──→ Target { family: model, bugs: [lost-update] } ──open──→ Box<dyn Engine>
//! ```
//!
//! * [`registry`]: the families of targets, one entry each; help, doctor and documentation derive from it
//! * [`target`]: the text that `--on` takes → a [`Target`]
//! * [`access`]: what a user allows on servers that were running before
//! * [`planted`]: bugs that can be planted in any of them
//!
//! A new engine is one module here and one entry in the registry.

pub mod registry;
pub mod target;
pub mod planted;
pub mod access;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod wire;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod guard;
#[cfg(test)]
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod testing;
#[cfg(any(feature = "sqlite", feature = "mysql"))]
// The ring alone does not need all of it.
#[cfg_attr(not(feature = "sqlite"), allow(dead_code))]
mod nodes;
#[cfg(feature = "sqlite")]
mod embedded;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(feature = "sqlite")]
pub mod model;
#[cfg(feature = "sqlite")]
pub mod replicas;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "postgres")]
pub mod h2;
#[cfg(feature = "mysql")]
pub mod mysql;

pub use access::{AccessOptions, AccessReport};
pub use registry::{FAMILIES, Family};
pub use target::{Place, Target, TargetError};

use txloom_core::engine::{Engine, EngineError};
use txloom_core::planted::Place as BugPlace;

/// Logs in to a running server and says what the user can do there; drops what dead processes left, if that is asked
/// for. `None` for targets that are no running servers.
pub fn examine_access(target: &Target, sweeps: bool) -> Option<Result<AccessReport, EngineError>> {
    let Place::Running(url) = &target.place else { return None };
    let _ = (url, sweeps);
    match target.family.name {
        #[cfg(feature = "postgres")]
        "postgres" => Some(postgres::PostgresEngine::examine_access(target.name(), url, &target.access, sweeps)),
        #[cfg(feature = "mysql")]
        "mysql" => Some(mysql::MySqlEngine::examine_access(target.name(), url, &target.access, sweeps)),
        _ => None,
    }
}

/// Starts or reaches a target, with its planted bugs.
pub fn open(target: &Target) -> Result<Box<dyn Engine>, EngineError> {
    let engine = (target.family.open)(target)?;
    let bugs = target.bugs_in(BugPlace::AnyEngine);
    Ok(if bugs.is_empty() { engine } else { Box::new(planted::Planted::new(engine, &bugs)) })
}
