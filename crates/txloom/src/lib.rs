//! The effects of txloom: engines, private servers, the executor, reports, the command line.

pub mod interrupt;
pub mod files;
pub mod memory;
pub mod supervisor;
pub mod servers;
pub mod engines;
pub mod execute;
pub mod corpus;
pub mod contract;
pub mod levels;
pub mod matrix;
pub mod truth;
pub mod report;
pub mod hunt;
pub mod storm;
pub mod solver;
pub mod frontends;
pub mod analyze;
pub mod record;
pub mod exit;
#[cfg(feature = "cli")]
pub mod cli;
