//! What engines' level names are worth: engine, version, settings, name → the anomalies that cannot
//! happen.
//!
//! Every row is backed by runs of `corpus/anomalies/` (but for one, which says so): a test fails when a run and this table
//! disagree, in either direction. Oracles ask for guarantees, never for names.

use crate::anomaly::{self, Anomaly};
use crate::case::expect::Bound;
use crate::engine::EngineInfo;
use crate::level::LevelName;
use crate::level::formal::{Level, Order};

/// What one level of one engine guarantees.
#[derive(Debug, Clone, Copy)]
pub struct Guarantee {
    /// The engine's family.
    pub engine: &'static str,
    /// The bounds on its version; empty for all versions.
    pub versions: &'static [Bound],
    /// The settings that it must have ([`EngineInfo::settings`]); rows that ask for more stand before those that ask for
    /// less.
    pub settings: &'static [&'static str],
    /// The level, by the engine's own name.
    pub level: &'static str,
    /// The anomalies that can happen; all others of [`anomaly::ALL`] cannot.
    pub allows: &'static [&'static str],
    /// Where a transaction sees everything that was acknowledged before it began.
    pub real_time: RealTime,
}

/// Where an engine keeps to real time: a transaction (or, where each statement sees what is committed, a statement) sees
/// everything that was acknowledged before it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RealTime {
    /// Nobody has found out, or it is not promised.
    Unknown,
    /// Everywhere: the engine runs in this process.
    Always,
    /// On a single server that is known to be one: others speak its protocol, or stand in front of several servers.
    OwnServer,
}

/// What read committed leaves open on engines that read committed versions without locking.
const READ_COMMITTED_ALLOWS: &[&str] =
    &["A2", "A3", "PMP", "PMP-write", "P4", "G-single", "G-single-write", "G2-item", "G2-read-only", "G2"];
/// What snapshot isolation leaves open.
const SNAPSHOT_ALLOWS: &[&str] = &["G2-item", "G2-read-only", "G2"];

/// What InnoDB's repeatable read leaves open: plain reads come from a snapshot, but writes and locking reads act on what is
/// there now, seen or not.
const INNODB_REPEATABLE_READ_ALLOWS: &[&str] = &["PMP-write", "P4", "G-single-write", "G2-item", "G2-read-only", "G2"];
/// What dirty reads leave open: everything but dirty writes.
const READ_UNCOMMITTED_ALLOWS: &[&str] = &[
    "G1a",
    "G1b",
    "G1c",
    "A1",
    "OTV",
    "A2",
    "A3",
    "PMP",
    "PMP-write",
    "P4",
    "G-single",
    "G-single-write",
    "G2-item",
    "G2-read-only",
    "G2",
];

/// What stores without isolation leave open: everything.
const EVENTUAL_ALLOWS: &[&str] = &[
    "G0",
    "G1a",
    "G1b",
    "G1c",
    "A1",
    "OTV",
    "A2",
    "A3",
    "PMP",
    "PMP-write",
    "P4",
    "G-single",
    "G-single-write",
    "G2-item",
    "G2-read-only",
    "G2",
];

/// The table.
pub const TABLE: &[Guarantee] = &[
    embedded("sqlite", "serializable", &[]),
    embedded("model", "read committed", READ_COMMITTED_ALLOWS),
    embedded("model", "snapshot isolation", SNAPSHOT_ALLOWS),
    embedded("model", "serializable", &[]),
    row("replicas", "eventual", EVENTUAL_ALLOWS),
    // PostgreSQL accepts the name and gives read committed.
    server("postgres", "read uncommitted", READ_COMMITTED_ALLOWS),
    server("postgres", "read committed", READ_COMMITTED_ALLOWS),
    server("postgres", "repeatable read", SNAPSHOT_ALLOWS),
    server("postgres", "serializable", &[]),
    server("mariadb", "read uncommitted", READ_UNCOMMITTED_ALLOWS),
    server("mariadb", "read committed", READ_COMMITTED_ALLOWS),
    // The usual setting since 11.6.2: a write of a row that changed after the snapshot is refused.
    Guarantee { settings: &["innodb_snapshot_isolation=ON"], ..server("mariadb", "repeatable read", SNAPSHOT_ALLOWS) },
    server("mariadb", "repeatable read", INNODB_REPEATABLE_READ_ALLOWS),
    server("mariadb", "serializable", &[]),
    server("mysql", "read uncommitted", READ_UNCOMMITTED_ALLOWS),
    server("mysql", "read committed", READ_COMMITTED_ALLOWS),
    server("mysql", "repeatable read", INNODB_REPEATABLE_READ_ALLOWS),
    server("mysql", "serializable", &[]),
    row("h2", "read uncommitted", READ_UNCOMMITTED_ALLOWS),
    row("h2", "read committed", READ_COMMITTED_ALLOWS),
    row("h2", "repeatable read", SNAPSHOT_ALLOWS),
    row("h2", "snapshot isolation", SNAPSHOT_ALLOWS),
    // The one row that runs do not back: it is what the name claims. H2 2.1 commits write skew here, as its manual admits,
    // and whoever looks for it shall find it.
    row("h2", "serializable", &[]),
];

const fn row(engine: &'static str, level: &'static str, allows: &'static [&'static str]) -> Guarantee {
    Guarantee { engine, versions: &[], settings: &[], level, allows, real_time: RealTime::Unknown }
}

/// An engine that runs in this process, on one copy of the data.
const fn embedded(engine: &'static str, level: &'static str, allows: &'static [&'static str]) -> Guarantee {
    Guarantee { real_time: RealTime::Always, ..row(engine, level, allows) }
}

/// A server. PostgreSQL takes snapshots after BEGIN was received, and a commit is visible before it is acknowledged; so
/// does InnoDB with its read views, and its locks are held until then.
const fn server(engine: &'static str, level: &'static str, allows: &'static [&'static str]) -> Guarantee {
    Guarantee { real_time: RealTime::OwnServer, ..row(engine, level, allows) }
}

impl Guarantee {
    /// Whether the level rules the anomaly out.
    pub fn prevents(&self, anomaly: &Anomaly) -> bool {
        !self.allows.contains(&anomaly.id)
    }

    /// Whether every anomaly is ruled out.
    pub fn is_serializable(&self) -> bool {
        anomaly::ALL.iter().all(|anomaly| self.prevents(anomaly))
    }

    /// The order that histories of an engine must respect.
    pub fn order(&self, engine: &EngineInfo) -> Order {
        let is_kept = match self.real_time {
            RealTime::Unknown => false,
            RealTime::Always => true,
            RealTime::OwnServer => engine.capabilities.kill && engine.capabilities.nodes < 2,
        };
        if is_kept { Order::RealTime } else { Order::Free }
    }

    /// The strongest level of the theory that every history of rows read and written must satisfy, as far as what is
    /// prevented implies it. What satisfies a stronger one by chance is nobody's promise. `None` if not even the weakest is
    /// promised, because writes of transactions may interleave.
    ///
    /// InnoDB's repeatable read is worth no more than read committed here. Plain queries come from a snapshot, writes and
    /// locking reads from what is there now, and one transaction may mix them: with `SELECT … FOR UPDATE` it sees what
    /// another one has just committed, and its next plain query sees from before that. What was seen is unseen, which even
    /// monotonic atomic view forbids. Read committed asks only that what a transaction sees and writes over was committed
    /// before, in one common order, and both kinds of reads keep to the order of commits.
    pub fn formal(&self) -> Option<Level> {
        let allows = |id: &str| self.allows.contains(&id);
        let has_dirty_reads = ["G1a", "G1b", "G1c", "A1"].into_iter().any(allows);
        let mixes_views = !allows("G-single") && allows("G-single-write");
        if allows("G0") {
            return None;
        }
        Some(if self.is_serializable() {
            Level::Serializable
        } else if self.allows.iter().all(|id| SNAPSHOT_ALLOWS.contains(id)) {
            Level::SnapshotIsolation
        } else if has_dirty_reads {
            Level::ReadUncommitted
        } else if allows("OTV") || mixes_views {
            Level::ReadCommitted
        } else {
            Level::MonotonicAtomicView
        })
    }
}

/// What an engine guarantees at one of its levels; `None` if nobody has found out.
pub fn of(engine: &EngineInfo, level: &LevelName) -> Option<&'static Guarantee> {
    TABLE.iter().find(|row| {
        row.engine == engine.family
            && row.level == level.as_str()
            && row.versions.iter().all(|bound| bound.holds(&engine.version))
            && row.settings.iter().all(|setting| engine.settings.iter().any(|other| other == setting))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_allowed_anomaly_exists() {
        for row in TABLE {
            for id in row.allows {
                assert!(anomaly::by_id(id).is_some(), "{} {}: {id}", row.engine, row.level);
            }
            assert!(LevelName::parse(row.level).is_some(), "{}", row.level);
        }
    }

    #[test]
    fn every_row_is_worth_a_level_of_the_theory() {
        let formal = |engine: &str, level: &str, settings: &[&str]| {
            let is_it = |row: &&Guarantee| row.engine == engine && row.level == level && row.settings == settings;
            TABLE.iter().find(is_it).and_then(Guarantee::formal)
        };
        let expect = [
            ("sqlite", "serializable", Level::Serializable),
            ("model", "snapshot isolation", Level::SnapshotIsolation),
            ("postgres", "read uncommitted", Level::MonotonicAtomicView),
            ("postgres", "read committed", Level::MonotonicAtomicView),
            ("postgres", "repeatable read", Level::SnapshotIsolation),
            ("postgres", "serializable", Level::Serializable),
            ("mariadb", "read uncommitted", Level::ReadUncommitted),
            ("mysql", "read committed", Level::MonotonicAtomicView),
            ("mysql", "repeatable read", Level::ReadCommitted),
            ("mariadb", "repeatable read", Level::ReadCommitted),
            ("h2", "repeatable read", Level::SnapshotIsolation),
        ];
        for (engine, level, is) in expect {
            assert_eq!(formal(engine, level, &[]), Some(is), "{engine} {level}");
        }
        let refusing = formal("mariadb", "repeatable read", &["innodb_snapshot_isolation=ON"]);
        assert_eq!(refusing, Some(Level::SnapshotIsolation));
        assert_eq!(formal("replicas", "eventual", &[]), None);
    }

    /// What allows more is worth no more.
    #[test]
    fn levels_of_the_theory_follow_what_is_allowed() {
        let is_less = |weak: &Guarantee, strong: &Guarantee| strong.allows.iter().all(|id| weak.allows.contains(id));
        for strong in TABLE {
            for weak in TABLE.iter().filter(|weak| is_less(weak, strong)) {
                // The exception that the documentation explains: a mixture of two views is less than either of them.
                let is_mixed = strong.allows == INNODB_REPEATABLE_READ_ALLOWS;
                let holds = match (strong.formal(), weak.formal()) {
                    (Some(strong), Some(weak)) => strong.implies(weak),
                    (_, weak) => weak.is_none(),
                };
                assert!(holds || is_mixed, "{} {}, {} {}", strong.engine, strong.level, weak.engine, weak.level);
            }
        }
    }

    #[test]
    fn stronger_levels_allow_no_more() {
        let by_strength = [
            SNAPSHOT_ALLOWS,
            INNODB_REPEATABLE_READ_ALLOWS,
            READ_COMMITTED_ALLOWS,
            READ_UNCOMMITTED_ALLOWS,
            EVENTUAL_ALLOWS,
        ];
        for pair in by_strength.windows(2) {
            assert!(pair[0].iter().all(|id| pair[1].contains(id)), "{pair:?}");
        }
    }
}
