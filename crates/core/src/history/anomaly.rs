//! Anomalies of histories: what a forbidden cycle, or an odd read, is called.
//!
//! Names are Adya's where he has one. A cycle that needs the order of sessions or real time carries that in its name, as
//! Elle's do: `G-single-process`, `G1c-realtime`.

use std::fmt;

use super::check::Reason;
use super::check::graph::EdgeKind;
use super::check::walk::Cycle;
use super::facts::OddityKind;
use crate::level::formal::Order;

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anomaly {
    /// The canonical name.
    pub id: &'static str,
    /// What people call it.
    pub name: &'static str,
    /// What it is, in one clause.
    pub what: &'static str,
    /// Where it is defined.
    pub citation: &'static str,
}

const ADYA: &str = "A. Adya: Weak Consistency, PhD thesis, MIT, 1999";
const BAILIS: &str = "P. Bailis et al.: Highly Available Transactions, VLDB 2013";
const BERENSON: &str = "H. Berenson et al.: A Critique of ANSI SQL Isolation Levels, SIGMOD 1995";
const BISWAS: &str = "R. Biswas, C. Enea: On the Complexity of Checking Transactional Consistency, OOPSLA 2019";
const ELLE: &str = "K. Kingsbury, P. Alvaro: Elle, VLDB 2020";
const SOVRAN: &str = "Y. Sovran et al.: Transactional Storage for Geo-Replicated Systems, SOSP 2011";

const fn row(id: &'static str, name: &'static str, what: &'static str, citation: &'static str) -> Anomaly {
    Anomaly { id, name, what, citation }
}

const G0: Anomaly = row("G0", "dirty write", "a cycle of ww: writes of two transactions interleave", ADYA);
const G1A: Anomaly = row("G1a", "aborted read", "a read of what was rolled back", ADYA);
const G1B: Anomaly = row("G1b", "intermediate read", "a read of what its writer overwrote before it committed", ADYA);
const G1C: Anomaly = row("G1c", "circular information flow", "a cycle of ww and wr", ADYA);
const LOST_UPDATE: Anomaly =
    row("P4", "lost update", "a transaction reads a key and writes it, and another writer came between", BERENSON);
const G_SINGLE: Anomaly = row("G-single", "read skew", "a cycle with exactly one rw", ADYA);
const G_NONADJACENT: Anomaly =
    row("G-nonadjacent", "non-adjacent anti-dependencies", "a cycle with several rw, no two of them neighbours", ELLE);
const LONG_FORK: Anomaly =
    row("long-fork", "long fork", "two readers see two independent writes in opposite orders", SOVRAN);
const WRITE_SKEW: Anomaly =
    row("write-skew", "write skew", "two transactions each read what the other writes, and neither sees it", BERENSON);
const G2_ITEM: Anomaly = row("G2-item", "anti-dependency cycle", "a cycle with two rw in a row", ADYA);
const G_SIA: Anomaly =
    row("G-SIa", "interference", "a transaction depends on one that had not begun when it ended", ADYA);
const G_SIB: Anomaly =
    row("G-SIb", "missed effects", "a cycle of dependencies and real time with exactly one rw", ADYA);
const COMMIT_ORDER: Anomaly = row(
    "commit-order",
    "fractured view",
    "what was seen cannot have been committed in any order: somebody saw a part of what they had to see",
    BISWAS,
);
const OTV: Anomaly =
    row("OTV", "observed transaction vanishes", "what was seen of a transaction is unseen later", BAILIS);
const INTERNAL: Anomaly =
    row("internal", "internal inconsistency", "a read contradicts what the transaction itself did before", ELLE);
const DIRTY_UPDATE: Anomaly =
    row("dirty-update", "dirty update", "a committed write is made on top of one that was rolled back", ELLE);
const INCOMPATIBLE: Anomaly = row(
    "incompatible-order",
    "incompatible order",
    "two lists were read, neither of them the beginning of the other",
    ELLE,
);
const DUPLICATE: Anomaly = row("duplicate-elements", "duplicate elements", "a list holds one element twice", ELLE);
const FUTURE: Anomaly =
    row("future-read", "future read", "a transaction reads a value that it writes only later", ELLE);
const THIN_AIR: Anomaly = row("garbage-read", "garbage read", "a read of what nobody wrote", ELLE);

/// All of them.
pub const ALL: &[Anomaly] = &[
    THIN_AIR,
    DUPLICATE,
    INCOMPATIBLE,
    G0,
    G1A,
    G1B,
    G1C,
    DIRTY_UPDATE,
    FUTURE,
    INTERNAL,
    OTV,
    COMMIT_ORDER,
    LOST_UPDATE,
    G_SINGLE,
    G_SIA,
    G_SIB,
    G_NONADJACENT,
    LONG_FORK,
    WRITE_SKEW,
    G2_ITEM,
];

/// An anomaly, and what else its cycle needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// The anomaly.
    pub anomaly: &'static Anomaly,
    /// Which order takes part.
    pub order: Suffix,
}

/// Which order of transactions a cycle needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suffix {
    /// None.
    None,
    /// The order of a session.
    Process,
    /// Real time.
    RealTime,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.order {
            Suffix::None => "",
            Suffix::Process => "-process",
            Suffix::RealTime => "-realtime",
        };
        f.pad(&format!("{}{suffix}", self.anomaly.id))
    }
}

impl Named {
    /// What a reason is called.
    pub fn of(reason: &Reason) -> Named {
        match reason {
            Reason::Odd(oddity) => Named { anomaly: of_oddity(oddity.kind), order: Suffix::None },
            Reason::Cycle { cycle, .. } => {
                let has = |kind: EdgeKind| cycle.iter().any(|(_, edge)| edge.kind == kind);
                let needs = |kind: EdgeKind, order: Order| has(kind) || has(EdgeKind::Implied(order));
                let order = match (needs(EdgeKind::Time, Order::RealTime), needs(EdgeKind::Session, Order::Session)) {
                    (true, _) => Suffix::RealTime,
                    (false, true) => Suffix::Process,
                    (false, false) => Suffix::None,
                };
                Named { anomaly: of_cycle(cycle), order }
            }
        }
    }
}

fn of_oddity(kind: OddityKind) -> &'static Anomaly {
    match kind {
        OddityKind::ThinAirRead => &THIN_AIR,
        OddityKind::DuplicateElement => &DUPLICATE,
        OddityKind::IncompatibleOrder => &INCOMPATIBLE,
        OddityKind::AbortedRead => &G1A,
        OddityKind::IntermediateRead => &G1B,
        OddityKind::FutureRead => &FUTURE,
        OddityKind::DirtyUpdate => &DIRTY_UPDATE,
        OddityKind::Internal | OddityKind::Unrepeatable => &INTERNAL,
    }
}

fn of_cycle(cycle: &Cycle) -> &'static Anomaly {
    let kinds: Vec<EdgeKind> = cycle.iter().map(|(_, edge)| edge.kind).collect();
    let has = |kind: EdgeKind| kinds.contains(&kind);
    let rw_count = kinds.iter().filter(|kind| **kind == EdgeKind::Rw).count();
    let at = |position: usize| kinds[position % kinds.len()];
    let adjacent = (0..kinds.len()).any(|position| at(position) == EdgeKind::Rw && at(position + 1) == EdgeKind::Rw);
    match rw_count {
        _ if has(EdgeKind::Vanished) => &OTV,
        _ if kinds.iter().any(|kind| kind.is_implied()) => &COMMIT_ORDER,
        0 if has(EdgeKind::Time) && cycle.len() == 2 => &G_SIA,
        0 if has(EdgeKind::Wr) => &G1C,
        0 => &G0,
        1 if has(EdgeKind::Time) => &G_SIB,
        1 if is_lost_update(cycle) => &LOST_UPDATE,
        1 => &G_SINGLE,
        2 if cycle.len() == 2 && cycle[0].1.key == cycle[1].1.key => &LOST_UPDATE,
        2 if cycle.len() == 2 => &WRITE_SKEW,
        _ if adjacent => &G2_ITEM,
        _ if is_long_fork(&kinds) => &LONG_FORK,
        _ => &G_NONADJACENT,
    }
}

/// `T rw U ww T`, both of one key.
fn is_lost_update(cycle: &Cycle) -> bool {
    let one_key = cycle.iter().all(|(_, edge)| edge.key == cycle[0].1.key);
    one_key && cycle.iter().all(|(_, edge)| matches!(edge.kind, EdgeKind::Rw | EdgeKind::Ww))
}

/// `wr rw wr rw`: two readers, two writers.
fn is_long_fork(kinds: &[EdgeKind]) -> bool {
    let alternates = |first: EdgeKind, second: EdgeKind| {
        kinds.iter().enumerate().all(|(at, kind)| *kind == if at % 2 == 0 { first } else { second })
    };
    kinds.len() == 4 && (alternates(EdgeKind::Wr, EdgeKind::Rw) || alternates(EdgeKind::Rw, EdgeKind::Wr))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::check::{Verdict, check};
    use crate::history::micro::micro;
    use crate::level::formal::Requirement;

    /// What the history is found guilty of at a level; an empty name means that the level holds.
    fn check_name(text: &str, level: &str, name: &str) {
        let requirement = Requirement::parse(level).unwrap();
        let found = match check(&micro(text).unwrap(), requirement).unwrap() {
            Verdict::Violated(reason) => Named::of(&reason).to_string(),
            Verdict::Holds(_) => String::new(),
            Verdict::Undecided(reason) => reason,
        };
        assert_eq!(found, name, "{text}: {level}");
    }

    #[test]
    fn every_anomaly_has_its_name_and_its_level() {
        check_name("ax1 ay1 / ax2 ay2 / rx12 ry21", "read uncommitted", "G0");
        check_name("ax1 ay1 / ax2 ay2 / rx12 ry12", "serializable", "");
        check_name("wx1 ! / rx1", "read committed", "G1a");
        check_name("wx1 ! / rx1", "read uncommitted", "");
        check_name("wx1 wx2 / rx1", "read committed", "G1b");
        check_name("wx1 ry1 / wy1 rx1", "read committed", "G1c");
        check_name("wx1 ry1 / wy1 rx1", "read uncommitted", "");
        check_name("rx_ wx1 / rx_ wx2", "cursor stability", "P4");
        check_name("rx_ wx1 / rx_ wx2", "serializable", "P4");
        check_name("rx_ wx1 / rx_ wx2", "causal", "");
        check_name("wx1 wy1 / rx1 ry_", "parallel snapshot isolation", "G-single");
        check_name("wx1 wy1 / ry_ rx1", "monotonic atomic view", "");
        check_name("wx1 / wy1 / rx1 ry_ / ry1 rx_", "snapshot isolation", "long-fork");
        check_name("wx1 / wy1 / rx1 ry_ / ry1 rx_", "parallel snapshot isolation", "");
        check_name("wx1 ry_ / wy1 rx_", "serializable", "write-skew");
        check_name("wx1 ry_ / wy1 rx_", "snapshot isolation", "");
        check_name("wx1 ry_ / wy1 rz_ / wz1 rx_", "repeatable read", "G2-item");
        check_name("ax1 ! / ax2 / rx12", "read committed", "dirty-update");
        check_name("ax1 / ax2 / rx12 / rx2", "read uncommitted", "incompatible-order");
        check_name("ax1 / rx11", "read uncommitted", "duplicate-elements");
        check_name("rx1 wx1", "read committed", "future-read");
        check_name("rx7", "read uncommitted", "garbage-read");
        check_name("wx1 / wx2 rx1", "read atomic", "internal");
        check_name("wx1 / wx2 rx1", "read committed", "");
        check_name("ax1 / rx ax2 rx12", "read atomic", "internal");
        check_name("ax1 / rx ax2 rx12", "monotonic atomic view", "");
    }

    #[test]
    fn orders_are_part_of_the_name() {
        check_name("wx1 | rx_", "strong session serializable", "G-single-process");
        check_name("wx1 | rx_", "serializable", "");
        check_name("@1-2 wx1 / @3-4 rx_", "strong serializable", "G-SIb-realtime");
        check_name("@1-2 wx1 / @3-4 rx_", "strong session serializable", "");
        check_name("@1-2 rx1 / @3-4 wx1", "strong read committed", "G-SIa-realtime");
    }

    #[test]
    fn fractured_views_are_found_without_versions() {
        check_name("wx1 wy1 / rx1 ry_", "monotonic atomic view", "OTV");
        check_name("wx1 wy1 / rx1 ry_", "read atomic", "commit-order");
        check_name("wx1 wy1 / wx2 wy2 / rx1 ry2", "monotonic atomic view", "");
        check_name("wx1 wy1 / wx2 wy2 / rx1 ry2", "read atomic", "commit-order");
    }

    #[test]
    fn a_commit_order_may_rest_on_another_order() {
        check_name("wx1 | rx_", "strong session read atomic", "commit-order-process");
        check_name("wx1 | rx_", "strong session causal", "commit-order-process");
        check_name("wx1 | rx_", "causal", "");
        check_name("wx1 | wy1 / ry1 rx_", "strong session causal", "commit-order-process");
        check_name("wx1 | wy1 / ry1 rx_", "strong session read atomic", "");
        check_name("wx1 / rx1 wy1 / ry1 rx_", "strong session causal", "commit-order");
        check_name("wx1 wy1 | rx1 ry_", "strong session read atomic", "commit-order");
        check_name("wx1 | rx_ / rz_ rx1 rx_", "strong session causal", "commit-order");
        check_name("@1-2 wx1 / @3-4 rx_", "strong causal", "commit-order-realtime");
        check_name("@1-2 wx1 / @3-4 rx_", "strong read atomic", "commit-order-realtime");
    }
}
