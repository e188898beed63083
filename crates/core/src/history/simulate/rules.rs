//! How a store keeps a level: one row per level.

use crate::level::formal::{Level, Order};

/// Which version a read sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// The newest one that the transaction's site knew when the transaction began.
    Snapshot,
    /// The newest committed one, at each read anew.
    Newest,
    /// One of the last committed ones: replicas that lag behind answer in turn.
    Stale,
    /// The newest one, committed or not.
    Dirty,
}

/// How what was committed reaches others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sites {
    /// There is one site: everybody sees it at once.
    One,
    /// Behind everything that it depends on.
    InCausalOrder,
    /// Each transaction as a whole, but in any order.
    InAnyOrder,
}

/// What keeps two writers apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    /// Nothing: who commits later is newer.
    Free,
    /// A commit is refused if there is a version of something written that the snapshot does not hold.
    FirstCommitterWins,
    /// A commit is refused if there is a newer version of something read.
    Validated,
    /// What is written is locked until the end.
    Locked,
    /// The same, and who has read a version writes only while it is the newest.
    LockedCursor,
}

/// How a store keeps a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// The level.
    pub level: Level,
    /// Which version a read sees.
    pub reads: Reads,
    /// How commits spread.
    pub sites: Sites,
    /// What keeps writers apart.
    pub writes: Writes,
    /// The strongest order that is respected as well.
    pub order: Order,
    /// Whether it makes sense for lists.
    pub has_lists: bool,
}

const fn row(level: Level, reads: Reads, sites: Sites, writes: Writes) -> Rules {
    let order = if matches!(sites, Sites::One) { Order::RealTime } else { Order::Session };
    // Several sites have one order of appends only if somebody refuses concurrent ones.
    let has_lists = matches!(sites, Sites::One) || matches!(writes, Writes::FirstCommitterWins);
    Rules { level, reads, sites, writes, order, has_lists }
}

/// The rules of every level.
pub const RULES: &[Rules] = &[
    row(Level::ReadUncommitted, Reads::Dirty, Sites::One, Writes::Locked),
    row(Level::ReadCommitted, Reads::Stale, Sites::One, Writes::Locked),
    row(Level::CursorStability, Reads::Stale, Sites::One, Writes::LockedCursor),
    row(Level::MonotonicAtomicView, Reads::Newest, Sites::One, Writes::Locked),
    row(Level::ReadAtomic, Reads::Snapshot, Sites::InAnyOrder, Writes::Free),
    row(Level::Causal, Reads::Snapshot, Sites::InCausalOrder, Writes::Free),
    row(Level::Prefix, Reads::Snapshot, Sites::One, Writes::Free),
    row(Level::ParallelSnapshotIsolation, Reads::Snapshot, Sites::InCausalOrder, Writes::FirstCommitterWins),
    row(Level::SnapshotIsolation, Reads::Snapshot, Sites::One, Writes::FirstCommitterWins),
    row(Level::RepeatableRead, Reads::Snapshot, Sites::One, Writes::Validated),
    row(Level::Serializable, Reads::Snapshot, Sites::One, Writes::Validated),
];

/// The rules of a level.
pub fn of(level: Level) -> &'static Rules {
    RULES.iter().find(|rules| rules.level == level).expect("every level has its rules")
}
