//! Engines.

#[cfg(feature = "postgres")]
pub mod postgres;
