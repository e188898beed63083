//! What a check may take: time and memory.
//!
//! A check that would need more ends undecided; it never ends the process. Memory is known before it is asked for: edges
//! are counted before they are stored, and what walks and rules take is estimated from above.

use std::fmt;

/// What a check may take.
#[derive(Clone, Copy)]
pub struct CheckBudget<'a> {
    /// Returns true when the time is over.
    pub should_stop: &'a dyn Fn() -> bool,
    /// How many bytes may be allocated for graphs, walks and rules.
    pub bytes_max: u64,
}

/// Why a check ended without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spent {
    /// The time is over.
    Time,
    /// It would take more memory than this many bytes.
    Memory(u64),
}

/// Bytes that an edge takes.
const EDGE_BYTES: u64 = 20;
/// Bytes that a node takes in a graph and in a walk of three states with its search for a cycle.
const NODE_BYTES: u64 = 8 + 3 * 88;
/// Bytes that a literal of a rule takes, with its share of the solver's tables.
const LITERAL_BYTES: u64 = 64;

impl<'a> CheckBudget<'a> {
    /// A budget of time only.
    pub fn time(should_stop: &'a dyn Fn() -> bool) -> CheckBudget<'a> {
        CheckBudget { should_stop, bytes_max: u64::MAX }
    }

    /// `Err` if the time is over.
    pub(super) fn tick(&self) -> Result<(), Spent> {
        if (self.should_stop)() { Err(Spent::Time) } else { Ok(()) }
    }

    /// `Err` if so many bytes are too many.
    pub(super) fn afford(&self, bytes: u64) -> Result<(), Spent> {
        if bytes > self.bytes_max { Err(Spent::Memory(self.bytes_max)) } else { Ok(()) }
    }

    /// How many edges a graph of so many nodes may have.
    pub(super) fn edges_max(&self, nodes: usize) -> usize {
        let left = self.bytes_max.saturating_sub((nodes as u64).saturating_mul(NODE_BYTES));
        // Edges are counted in 32 bits.
        usize::try_from(left / EDGE_BYTES).unwrap_or(usize::MAX).min(u32::MAX as usize)
    }

    /// `Err` if rules with so many literals in all are too many.
    pub(super) fn afford_literals(&self, count: usize) -> Result<(), Spent> {
        self.afford((count as u64).saturating_mul(LITERAL_BYTES))
    }
}

impl fmt::Debug for CheckBudget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckBudget").field("bytes_max", &self.bytes_max).finish_non_exhaustive()
    }
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spent::Time => f.write_str("the time is over"),
            Spent::Memory(bytes) => write!(f, "it needs more than {} MiB of memory", bytes >> 20),
        }
    }
}
