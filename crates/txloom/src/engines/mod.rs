//! Engines.

#[cfg(feature = "sqlite")]
mod embedded;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(feature = "sqlite")]
pub mod model;
