//! Isolation levels of the theory: what a history must not contain.
//!
//! All of them are defined over the same relations between committed transactions:
//!
//! ```text
//!   T wr U    U reads a version that T wrote
//!   T ww U    T and U write the same key, U later (in the version order, which may be unknown: then *some* order must do)
//!   T rw U    T reads a version of a key, and U writes a later one
//!   T so U    T is before U in one session              T rt U    T had ended when U began
//! ```
//!
//! A history satisfies a level if there is a version order under which the level's relation has no cycle. Read
//! uncommitted asks that of `ww` alone, serializability of all relations together; what lies between differs in how many
//! `rw` a cycle may have, and where. Read committed and below say nothing of sessions and clocks; each level has a
//! variant that does: *strong session* adds `so` to the relations, *strong* adds `rt` as well.
//!
//! # Limits
//!
//! Histories have no predicates. Repeatable read (PL-2.99) differs from serializability only in what it says of
//! predicates, so that here the two are one.

use std::fmt;

/// An isolation level of the theory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Adya's PL-1: writes of two transactions do not interleave.
    ReadUncommitted,
    /// Adya's PL-2: nobody sees what was rolled back, what is intermediate, or what depends on itself.
    ReadCommitted,
    /// Adya's PL-CS: and no update of a single key is lost.
    CursorStability,
    /// What was seen of a transaction once is never unseen.
    MonotonicAtomicView,
    /// Of a transaction that it sees, a transaction sees everything.
    ReadAtomic,
    /// And of everything that this one had seen.
    Causal,
    /// Everybody sees a beginning of one common order.
    Prefix,
    /// Adya's PL-2+: a transaction sees a snapshot, and no two that write the same key are concurrent.
    ParallelSnapshotIsolation,
    /// Both: snapshots of one common order, and no concurrent writers of one key.
    SnapshotIsolation,
    /// Adya's PL-2.99: serializable but for predicates.
    RepeatableRead,
    /// Adya's PL-3: as if one after the other.
    Serializable,
}

/// Which order of transactions, beside what they read and write, a level must respect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Order {
    /// None.
    #[default]
    Free,
    /// The order of each session: "strong session".
    Session,
    /// Real time, and with it the order of each session: "strong".
    RealTime,
}

/// A level and the order that it must respect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Requirement {
    /// The level.
    pub level: Level,
    /// The order.
    pub order: Order,
}

impl From<Level> for Requirement {
    fn from(level: Level) -> Requirement {
        level.with(Order::Free)
    }
}

/// A level's row in the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The level.
    pub level: Level,
    /// Its name.
    pub name: &'static str,
    /// Other names, all lower-case with spaces.
    pub aliases: &'static [&'static str],
    /// The condition, in the notation of the module's essay.
    pub condition: &'static str,
    /// The next weaker levels: whatever satisfies this one satisfies them.
    pub implies: &'static [Level],
    /// Where it is defined.
    pub citation: &'static str,
}

const ADYA: &str = "A. Adya: Weak Consistency, PhD thesis, MIT, 1999";
const BISWAS: &str = "R. Biswas, C. Enea: On the Complexity of Checking Transactional Consistency, OOPSLA 2019";
const CERONE_SI: &str = "A. Cerone, A. Gotsman: Analysing Snapshot Isolation, PODC 2016";
const CERONE_LAWS: &str = "A. Cerone, A. Gotsman, H. Yang: Algebraic Laws for Weak Consistency, CONCUR 2017";

/// Every level, weaker ones before stronger ones.
pub const LEVELS: &[Row] = &[
    Row {
        level: Level::ReadUncommitted,
        name: "read uncommitted",
        aliases: &["ru", "pl 1"],
        condition: "ww⁺ irreflexive",
        implies: &[],
        citation: ADYA,
    },
    Row {
        level: Level::ReadCommitted,
        name: "read committed",
        aliases: &["rc", "pl 2"],
        condition: "(ww ∪ wr)⁺ irreflexive; no aborted or intermediate reads",
        implies: &[Level::ReadUncommitted],
        citation: ADYA,
    },
    Row {
        level: Level::CursorStability,
        name: "cursor stability",
        aliases: &["cs", "pl cs"],
        condition: "read committed, and for each key x: wwₓ⁺ ; rwₓ irreflexive",
        implies: &[Level::ReadCommitted],
        citation: ADYA,
    },
    Row {
        level: Level::MonotonicAtomicView,
        name: "monotonic atomic view",
        aliases: &["mav"],
        condition: "T reads from U, then x from V; U writes x: then U before V, without a cycle with wr",
        implies: &[Level::ReadCommitted],
        citation: "P. Bailis et al.: Highly Available Transactions, VLDB 2013; as `read committed` in: R. Biswas, C. Enea, \
                   OOPSLA 2019",
    },
    Row {
        level: Level::ReadAtomic,
        name: "read atomic",
        aliases: &["ra"],
        condition: "U wr T, T reads x from V, U writes x: then U before V, without a cycle with wr",
        implies: &[Level::MonotonicAtomicView],
        citation: BISWAS,
    },
    Row {
        level: Level::Causal,
        name: "causal",
        aliases: &["cc", "causal consistency", "tcc", "transactional causal consistency"],
        condition: "U wr⁺ T, T reads x from V, U writes x: then U before V, without a cycle with wr",
        implies: &[Level::ReadAtomic],
        citation: BISWAS,
    },
    Row {
        level: Level::Prefix,
        name: "prefix",
        aliases: &["pc", "prefix consistency"],
        condition: "(wr ; rw? ∪ ww)⁺ irreflexive",
        implies: &[Level::Causal],
        citation: CERONE_LAWS,
    },
    Row {
        level: Level::ParallelSnapshotIsolation,
        name: "parallel snapshot isolation",
        aliases: &["psi", "parallel si", "pl 2+", "consistent view"],
        condition: "(wr ∪ ww)⁺ ; rw? irreflexive",
        implies: &[Level::Causal, Level::CursorStability],
        citation: CERONE_SI,
    },
    Row {
        level: Level::SnapshotIsolation,
        name: "snapshot isolation",
        aliases: &["si", "snapshot", "pl si"],
        condition: "((wr ∪ ww) ; rw?)⁺ irreflexive",
        implies: &[Level::Prefix, Level::ParallelSnapshotIsolation],
        citation: CERONE_SI,
    },
    Row {
        level: Level::RepeatableRead,
        name: "repeatable read",
        aliases: &["rr", "pl 2.99"],
        condition: "(wr ∪ ww ∪ rw)⁺ irreflexive",
        implies: &[Level::SnapshotIsolation],
        citation: ADYA,
    },
    Row {
        level: Level::Serializable,
        name: "serializable",
        aliases: &["ser", "serialisable", "pl 3"],
        condition: "(wr ∪ ww ∪ rw)⁺ irreflexive",
        implies: &[Level::RepeatableRead],
        citation: ADYA,
    },
];

impl Level {
    /// The level's row.
    pub fn row(self) -> &'static Row {
        LEVELS.iter().find(|row| row.level == self).expect("every level has a row")
    }

    /// The level, respecting an order.
    pub fn with(self, order: Order) -> Requirement {
        Requirement { level: self, order }
    }

    /// Whether every history that satisfies this level satisfies the other one.
    pub fn implies(self, other: Level) -> bool {
        self == other || self.row().implies.iter().any(|weaker| weaker.implies(other))
    }
}

impl Requirement {
    /// Every level with every order.
    pub fn all() -> impl Iterator<Item = Requirement> {
        let orders = [Order::Free, Order::Session, Order::RealTime];
        LEVELS.iter().flat_map(move |row| orders.map(|order| row.level.with(order)))
    }

    /// Whether every history that satisfies this one satisfies the other one.
    pub fn implies(self, other: Requirement) -> bool {
        self.order >= other.order && self.level.implies(other.level)
    }

    /// Reads a name, e.g. `snapshot-isolation`, `Strong Session SI`, `strict-serializable`: case, hyphens and underscores
    /// do not matter.
    pub fn parse(text: &str) -> Option<Requirement> {
        let lower = text.to_lowercase().replace(['-', '_'], " ");
        let name_given = lower.split_whitespace().collect::<Vec<_>>().join(" ");
        if name_given == "strict serializable" || name_given == "strict serialisable" {
            return Some(Level::Serializable.with(Order::RealTime));
        }
        let prefixes =
            [("strong session ", Order::Session), ("session ", Order::Session), ("strong ", Order::RealTime)];
        let (order, name) = prefixes
            .iter()
            .find_map(|(prefix, order)| name_given.strip_prefix(prefix).map(|name| (*order, name)))
            .unwrap_or((Order::Free, name_given.as_str()));
        let row = LEVELS.iter().find(|row| row.name == name || row.aliases.contains(&name))?;
        Some(row.level.with(order))
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.row().name)
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.level.row().name;
        match self.order {
            Order::Free => f.pad(name),
            Order::Session => f.pad(&format!("strong session {name}")),
            Order::RealTime => f.pad(&format!("strong {name}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_any_spelling_and_printed_back() {
        for requirement in Requirement::all() {
            let name = requirement.to_string();
            assert_eq!(Requirement::parse(&name), Some(requirement), "{name}");
            assert_eq!(Requirement::parse(&name.to_uppercase().replace(' ', "-")), Some(requirement), "{name}");
        }
        assert_eq!(Requirement::parse("SI"), Some(Level::SnapshotIsolation.into()));
        assert_eq!(Requirement::parse("strict-serializable"), Some(Level::Serializable.with(Order::RealTime)));
        assert_eq!(Requirement::parse("strong chaos"), None);
    }

    #[test]
    fn implications_go_from_later_rows_to_earlier_ones() {
        for (at, row) in LEVELS.iter().enumerate() {
            for weaker in row.implies {
                assert!(LEVELS[..at].iter().any(|earlier| earlier.level == *weaker), "{}", row.name);
            }
        }
        assert!(Level::SnapshotIsolation.implies(Level::CursorStability));
        assert!(!Level::Prefix.implies(Level::CursorStability) && !Level::CursorStability.implies(Level::Causal));
    }

    #[test]
    fn names_and_aliases_are_unique() {
        let mut names: Vec<&str> =
            LEVELS.iter().flat_map(|row| row.aliases.iter().copied().chain([row.name])).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
