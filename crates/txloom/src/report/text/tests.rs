//! How reports look: golden files in `golden/`, made from traces that are written by hand.
//!
//! Contents: [`plays`] the stories · [`interleavings`] one case on one target · [`targets`] several targets · [`others`]
//! findings, doctor, one-liners · [`compared`] findings of several targets.

mod plays;
mod interleavings;
mod targets;
mod others;
mod compared;
