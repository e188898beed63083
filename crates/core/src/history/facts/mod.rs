//! What a history says for certain: who wrote which version, who read it, and which reads make no sense.
//!
//! Every question about levels begins here. Transactions become *nodes* (those that committed; node 0 is the imaginary
//! transaction that wrote everything initial). Each key has a *chain* of versions whose order was observed, beginning with
//! the initial one, and *loose* versions, which come later in an order that nobody saw:
//!
//! ```text
//!   list x:      chain  initial  1  2  5     loose  8        (8 was appended, and nobody ever read it)
//!   register y:  chain  initial              loose  3  4  9  (a read tells a version, but not what it overwrote)
//! ```
//!
//! What cannot be part of any such picture is an [`Oddity`]: a read of what was rolled back, of what nobody wrote, two
//! lists of which neither is the beginning of the other, and so on. Which levels forbid which oddity is a table.
//!
//! A transaction of unknown fate counts as committed if somebody who committed saw one of its writes.

mod writes;
mod collect;

use super::{KeyId, Scalar, TxnId};
use crate::level::formal::Level;

pub(crate) use collect::seen_unknown;
pub use collect::{DuplicateWrite, collect};

/// A committed transaction; 0 is the initial one.
pub type Node = u32;

/// The initial transaction.
pub const INITIAL: Node = 0;

/// Stands for the writer of a version that did not commit.
pub const NOBODY: Node = u32::MAX;

/// What a history says for certain.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The transaction of each node but the first.
    pub committed: Vec<TxnId>,
    /// By key.
    pub keys: Vec<KeyFacts>,
    /// Reads of committed transactions that tell a version of somebody else's, by reader, in the reader's order.
    pub reads: Vec<Read>,
    /// What makes no sense.
    pub oddities: Vec<Oddity>,
}

/// The versions of a key.
#[derive(Debug, Clone, Default)]
pub struct KeyFacts {
    /// The writers of the versions whose order was observed; the first is the initial one. A version of somebody who did
    /// not commit has the writer [`NOBODY`].
    pub chain: Vec<Node>,
    /// The writers of the other versions.
    pub loose: Vec<Node>,
}

/// A version of a key: a position in the chain, or behind its end, among the loose ones.
pub type Version = u32;

/// A read of another transaction's version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read {
    /// Who read.
    pub reader: Node,
    /// Which of its operations, from 0.
    pub op: u32,
    /// Of what.
    pub key: KeyId,
    /// Which version.
    pub version: Version,
}

impl KeyFacts {
    /// Who wrote a version.
    pub fn writer(&self, version: Version) -> Node {
        let at = version as usize;
        if at < self.chain.len() { self.chain[at] } else { self.loose[at - self.chain.len()] }
    }

    /// Every node that wrote the key, the initial one included; one that appended twice comes twice.
    pub fn writers(&self) -> impl Iterator<Item = Node> + '_ {
        self.chain.iter().chain(&self.loose).copied().filter(|node| *node != NOBODY)
    }
}

impl Facts {
    /// How many nodes there are.
    pub fn node_count(&self) -> usize {
        self.committed.len() + 1
    }

    /// The transaction of a node; `None` for the initial one.
    pub fn transaction(&self, node: Node) -> Option<TxnId> {
        self.committed.get((node as usize).wrapping_sub(1)).copied()
    }

    /// Who wrote what a read saw.
    pub fn writer_of(&self, read: &Read) -> Node {
        self.keys[read.key.0 as usize].writer(read.version)
    }

    /// The oddities that a level forbids.
    pub fn forbidden(&self, level: Level) -> impl Iterator<Item = &Oddity> {
        self.oddities.iter().filter(move |oddity| level.implies(oddity.kind.forbidden_from()))
    }
}

/// What makes no sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Oddity {
    /// In which way.
    pub kind: OddityKind,
    /// Whose operation.
    pub transaction: TxnId,
    /// Which of its operations, from 0.
    pub op: u32,
    /// Of which key.
    pub key: KeyId,
    /// The value in question, where there is one.
    pub value: Option<Scalar>,
    /// Who wrote it, where that is known.
    pub writer: Option<TxnId>,
}

/// In which way something makes no sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OddityKind {
    /// A value was read that nobody wrote.
    ThinAirRead,
    /// A list holds an element twice.
    DuplicateElement,
    /// Two lists were read of which neither is the beginning of the other.
    IncompatibleOrder,
    /// A value was read whose writer rolled back.
    AbortedRead,
    /// A value was read that its writer overwrote in the same transaction.
    IntermediateRead,
    /// A transaction read a value that it wrote only later.
    FutureRead,
    /// A committed write was made on top of one that was rolled back.
    DirtyUpdate,
    /// A read contradicts what the transaction itself did before.
    Internal,
    /// A list changed under a transaction: its own appends stand behind more than it had read.
    Unrepeatable,
}

impl OddityKind {
    /// All of them.
    pub const ALL: &[OddityKind] = &[
        OddityKind::ThinAirRead,
        OddityKind::DuplicateElement,
        OddityKind::IncompatibleOrder,
        OddityKind::AbortedRead,
        OddityKind::IntermediateRead,
        OddityKind::FutureRead,
        OddityKind::DirtyUpdate,
        OddityKind::Internal,
        OddityKind::Unrepeatable,
    ];

    /// The weakest level that forbids it; all stronger ones do, too.
    pub fn forbidden_from(self) -> Level {
        match self {
            // No database at all can have done this.
            OddityKind::ThinAirRead | OddityKind::DuplicateElement | OddityKind::IncompatibleOrder => {
                Level::ReadUncommitted
            }
            OddityKind::AbortedRead
            | OddityKind::IntermediateRead
            | OddityKind::FutureRead
            | OddityKind::DirtyUpdate => Level::ReadCommitted,
            OddityKind::Internal => Level::MonotonicAtomicView,
            // What others commit may show, but not to somebody who sees all or nothing of them.
            OddityKind::Unrepeatable => Level::ReadAtomic,
        }
    }
}
