//! Calls that were over before a plan begins.
//!
//! Where the rows at the start are given, a cycle may need rows that only other calls make: nobody can withdraw from an
//! account that nobody has opened. So a plan can be put behind some calls that run one after the other (the paper's §5:
//! a serial history, and then one that is not serializable):
//!
//! ```text
//!   moves:  0 C.insert   1 C.commit │ 2 A.select   3 B.select   …      before: 2, sees: all of them see 0
//! ```
//!
//! They take part in nothing: what they did is there for everybody, and in every serial order they come first.

use super::steps::Walk;
use super::{Apart, Move, Plan};
use crate::flow::program::Given;
use crate::program::paths::Way;
use crate::search::conflicts::Conflicts;
use crate::search::level::Target;

/// A call that was over before.
#[derive(Debug, Clone, Copy)]
pub struct Earlier<'a> {
    /// Its procedure.
    pub procedure: Given<'a>,
    /// The procedure's number.
    pub number: usize,
    /// The way that it took.
    pub way: &'a Way,
    /// The rules that it ran under.
    pub level: Target,
}

impl Plan {
    /// This plan behind some calls, which are the instances from `instance` on.
    #[must_use]
    pub fn behind(&self, earlier: &[Earlier<'_>], instance: usize, conflicts: &Conflicts) -> Plan {
        let calls = earlier.iter().zip(instance..);
        let mut moves: Vec<Move> = calls.flat_map(|(call, instance)| call.moves(instance, conflicts)).collect();
        let before = moves.len();
        let mut sees: Vec<Vec<usize>> = (0..before).map(|number| (0..number).collect()).collect();
        moves.extend(&self.moves);
        sees.extend(self.sees.iter().map(|own| (0..before).chain(own.iter().map(|seen| seen + before)).collect()));
        let later = |apart: &Apart| Apart { first: apart.first + before, second: apart.second + before, ..*apart };
        Plan { moves, sees, apart: self.apart.iter().map(later).collect(), before, ..*self }
    }
}

impl Earlier<'_> {
    fn moves(&self, instance: usize, conflicts: &Conflicts) -> Vec<Move> {
        let call = Walk::new(self.procedure, self.number, conflicts, self.level).along(self.way);
        call.steps.iter().map(|step| Move { instance, at: step.at }).collect()
    }
}
