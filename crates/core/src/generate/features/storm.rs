//! The features of transaction templates: what storms of random transactions are made of.

use super::{flag, number};
use crate::generate::model::Feature;

/// How many templates a workload has.
pub const STORM_TEMPLATES: Feature =
    number("storm.templates", (1, 16), (3, 6), "how many transaction templates a storm has");
/// Whether an operation is repeated.
pub const STORM_LOOP: Feature = flag("storm.loop", 15, "whether an operation of a template is repeated");
/// How often at most.
pub const STORM_ROUNDS: Feature = number("storm.rounds", (1, 8), (2, 3), "how often an operation is repeated at most");
/// Whether an operation depends on what was read.
pub const STORM_BRANCH: Feature =
    flag("storm.branch", 15, "whether what was read decides between two operations of a template");
