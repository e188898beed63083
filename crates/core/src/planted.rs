//! Planted bugs: defects that we put into an engine, to see whether an oracle finds them.
//!
//! An oracle that has never caught a bug proves nothing by its silence. `TARGET+NAME` is a target with one of these.
//! Most of them stand for a bug that was found in a database and published, or for an anomaly that every textbook
//! knows; each does one thing, and says at which levels.

/// A planted bug.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlantedBug {
    /// The name in `TARGET+NAME`.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub what: &'static str,
    /// The published bug or anomaly that it stands for.
    pub source: &'static str,
    /// Where it can be planted.
    pub place: Place,
    /// The levels at which it shows, by their names in `model`; empty: at every level of every engine.
    pub levels: &'static [&'static str],
}

/// Where a bug can be planted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A switch in the rules of `model`: a bug of isolation or atomicity.
    Model,
    /// A wrapper of any engine: a bug in what is answered or executed.
    AnyEngine,
}

/// All levels of the model.
const EVERY_LEVEL: &[&str] = &["read committed", "snapshot isolation", "serializable"];

/// The levels of the model at which a transaction sees one snapshot.
const SNAPSHOTS: &[&str] = &["snapshot isolation", "serializable"];

/// The planted bug of that name.
pub fn by_name(name: &str) -> Option<&'static PlantedBug> {
    ALL.iter().find(|bug| bug.name == name)
}

/// Every planted bug: those of the model, in order of their names, then those of any engine.
pub const ALL: &[PlantedBug] = &[
    // Switches of the model.
    PlantedBug {
        name: "aborted-predicate",
        what: "an UPDATE or DELETE chooses its rows by the values of a transaction that was rolled back beside it",
        source: "TxCheck, Figure 14 (MySQL: aborted transactions have effects)",
        place: Place::Model,
        levels: EVERY_LEVEL,
    },
    PlantedBug {
        name: "dangling-reference",
        what: "COMMIT does not see that another transaction has deleted the row that a new row refers to",
        source: "referential integrity broken by two transactions (Bailis et al., Feral Concurrency Control)",
        place: Place::Model,
        levels: &["read committed", "snapshot isolation"],
    },
    PlantedBug {
        name: "deadlock-victim",
        what: "after a deadlock or serialization failure, later statements are still undone by a ROLLBACK",
        source: "DT², Figure 1 (MDEV-27922)",
        place: Place::Model,
        levels: EVERY_LEVEL,
    },
    PlantedBug {
        name: "dirty-read",
        what: "queries see the uncommitted changes of other transactions",
        source: "A1 and G1a, dirty and aborted read (Adya)",
        place: Place::Model,
        levels: EVERY_LEVEL,
    },
    PlantedBug {
        name: "key-update",
        what: "UPDATE and DELETE miss the rows whose key was changed by a transaction that theirs had to wait for",
        source: "DT², Figure 3 (MDEV-27992)",
        place: Place::Model,
        levels: EVERY_LEVEL,
    },
    PlantedBug {
        name: "lost-commit",
        what: "COMMIT drops one of several changed rows while another transaction is open",
        source: "a committed write is lost: atomicity and durability",
        place: Place::Model,
        levels: EVERY_LEVEL,
    },
    PlantedBug {
        name: "lost-update",
        what: "at snapshot isolation and above, an update of a row that changed since the snapshot is let through",
        source: "P4, lost update (Berenson et al.)",
        place: Place::Model,
        levels: SNAPSHOTS,
    },
    PlantedBug {
        name: "non-repeatable-read",
        what: "at snapshot isolation and above, queries see what others have made of the snapshot's rows since",
        source: "P2 and G-single, fuzzy read and read skew (Berenson et al., Adya)",
        place: Place::Model,
        levels: SNAPSHOTS,
    },
    PlantedBug {
        name: "phantom",
        what: "at snapshot isolation and above, queries see the rows that others have inserted since the snapshot",
        source: "P3, phantom (Berenson et al.)",
        place: Place::Model,
        levels: SNAPSHOTS,
    },
    PlantedBug {
        name: "rollback-leaves-row",
        what: "ROLLBACK leaves one inserted or changed row behind while another transaction is open",
        source: "a transaction is undone in part: atomicity",
        place: Place::Model,
        levels: EVERY_LEVEL,
    },
    PlantedBug {
        name: "stale-read",
        what: "while another transaction is open, queries of a transaction that has not written do not see the last commit",
        source: "a stale read: strict serializability and strong snapshot isolation, violated (Herlihy and Wing; Daudjee and Salem)",
        place: Place::Model,
        levels: EVERY_LEVEL,
    },
    PlantedBug {
        name: "stale-snapshot",
        what: "queries do not see their transaction's own changes while another transaction is open",
        source: "read your writes, violated (Terry et al.)",
        place: Place::Model,
        levels: EVERY_LEVEL,
    },
    PlantedBug {
        name: "statement-rollback-leaves-row",
        what: "while another transaction is open, a statement that fails half way leaves the rows that it had changed",
        source: "a statement is undone in part: atomicity of statements",
        place: Place::Model,
        levels: EVERY_LEVEL,
    },
    PlantedBug {
        name: "write-skew",
        what: "at serializable, a transaction commits even if what it read has changed since its snapshot",
        source: "A5B and G2, write skew (Berenson et al., Adya)",
        place: Place::Model,
        levels: &["serializable"],
    },
    // Wrappers of any engine.
    PlantedBug {
        name: "crash",
        what: "the server dies of a DELETE from a table into which the same transaction has inserted",
        source: "TxCheck, Figure 16 (MariaDB: crash caused by transactions)",
        place: Place::AnyEngine,
        levels: &[],
    },
    PlantedBug {
        name: "extra-row",
        what: "inside a transaction, beside another one, an UPDATE also changes a row that does not match",
        source: "TxCheck, Figure 1 (MySQL: incorrect predicate matching)",
        place: Place::AnyEngine,
        levels: &[],
    },
    PlantedBug {
        name: "missing-error",
        what: "inside a transaction, a write that violates a unique key changes nothing, and reports no error",
        source: "DT², §5.2: an expected error is missed",
        place: Place::AnyEngine,
        levels: &[],
    },
    PlantedBug {
        name: "missing-row",
        what: "inside a transaction, beside another one, an UPDATE leaves out one of the rows that match",
        source: "TxCheck, Figure 1, the other way round",
        place: Place::AnyEngine,
        levels: &[],
    },
    PlantedBug {
        name: "unexpected-error",
        what: "inside a transaction, beside another one, a second UPDATE of the same table fails",
        source: "DT², §5.2: an unexpected error (MDEV-28140)",
        place: Place::AnyEngine,
        levels: &[],
    },
    PlantedBug {
        name: "wrong-aggregate",
        what: "inside a transaction that has written, COUNT, SUM, MIN and MAX are one too high",
        source: "TxCheck, Figure 15 (TiDB: incorrect transactional calculation)",
        place: Place::AnyEngine,
        levels: &[],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bugs_are_in_order_and_tell_everything() {
        for place in [Place::Model, Place::AnyEngine] {
            let names: Vec<&str> = ALL.iter().filter(|bug| bug.place == place).map(|bug| bug.name).collect();
            assert!(names.is_sorted() && names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        }
        assert!(ALL.is_sorted_by_key(|bug| bug.place == Place::AnyEngine));
        for bug in ALL {
            assert!(!bug.what.is_empty() && !bug.what.ends_with('.') && !bug.source.is_empty(), "{}", bug.name);
            assert_eq!(bug.place == Place::Model, !bug.levels.is_empty(), "{}", bug.name);
            assert_eq!(by_name(bug.name), Some(bug));
        }
    }
}
