//! Engines: the database systems that txloom drives, and the names by which people ask for them.
//!
//! ```text
//!  "model+lost-update" ──Target::parse──→ Target { family: model, bugs: [lost-update] } ──open──→ Box<dyn Engine>
//! ```
//!
//! * [`registry`]: the families of targets, one entry each; help, doctor and documentation derive from it
//! * [`target`]: the text that `--on` takes → a [`Target`]
//!
//! A new engine is one module here and one entry in the registry.

pub mod registry;
pub mod target;
#[cfg(feature = "sqlite")]
mod embedded;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(feature = "sqlite")]
pub mod model;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "mysql")]
pub mod mysql;

pub use registry::{FAMILIES, Family};
pub use target::{Place, Target, TargetError};

use txloom_core::engine::{Engine, EngineError};

use crate::servers::ServerOptions;

/// Starts or reaches a target.
pub fn open(target: &Target) -> Result<Box<dyn Engine>, EngineError> {
    open_with(target, &ServerOptions::default())
}

/// Starts or reaches a target; if that starts a private server, with these options.
pub fn open_with(target: &Target, options: &ServerOptions) -> Result<Box<dyn Engine>, EngineError> {
    (target.family.open)(target, options)
}
