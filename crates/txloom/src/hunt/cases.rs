//! Where cases come from.

use txloom_core::generate::{Generator, Group};

/// A source of cases: a function of the number of the group.
///
/// The same number must give the same group, on whatever thread it is asked for, and whatever was asked for before.
pub trait Cases: Sync {
    /// The group of that number, from 0. A group without cases ends the hunt.
    fn group(&self, number: u64) -> Group;
}

impl Cases for Generator {
    fn group(&self, number: u64) -> Group {
        Generator::group(self, number)
    }
}
