//! Plans: who runs when, and who sees what.

use crate::flow::program::Given;
use crate::program::paths::Way;
use crate::search::conflicts::Conflicts;
use crate::search::cycles::Cycle;
use crate::search::level::Target;

/// Who runs when, and who sees what.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Plan {
    /// Statements and ends of transactions of all instances, in the order in which they are executed (arbitration).
    pub moves: Vec<Move>,
    /// For each move, which earlier moves of *other* instances it sees, ascending: those that write. Its own earlier ones
    /// are always seen.
    pub sees: Vec<Vec<usize>>,
    /// Pairs of moves that must not touch the same row of a table: one would wait, or be refused.
    pub apart: Vec<Apart>,
}

/// A step of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Move {
    /// The instance: a position in [`Cycle::visits`].
    pub instance: usize,
    /// The position in [`Way::nodes`]: of a statement, or of what ends a transaction.
    pub at: usize,
}

/// Two moves that must not touch the same row of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Apart {
    /// The earlier move: a position in [`Plan::moves`].
    pub first: usize,
    /// The later one, which would wait or be refused.
    pub second: usize,
    /// The table: a position in [`Conflicts::tables`]. If one of them does not mention it, it touches the row that its
    /// foreign key refers to, or rows that refer to its own.
    pub table: u16,
}

/// What plans are asked for.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The procedures.
    pub procedures: &'a [Given<'a>],
    /// Their conflicts.
    pub conflicts: &'a Conflicts,
    /// The cycle.
    pub cycle: &'a Cycle,
    /// For each visit of the cycle, a way that passes [its nodes](Cycle::passes).
    pub ways: &'a [&'a Way],
    /// For each visit, the rules that its transactions run under.
    pub levels: &'a [Target],
}

/// The plans under which the cycle's hops can hold, most promising first.
pub fn plans<'a>(_question: Question<'a>) -> impl Iterator<Item = Plan> + 'a {
    std::iter::empty()
}
