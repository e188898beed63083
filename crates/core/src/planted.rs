//! Planted bugs: defects that we put into an engine, to see whether an oracle finds them.
//!
//! An oracle that has never caught a bug proves nothing by its silence. `TARGET+NAME` is a target with one of these.

/// A planted bug.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlantedBug {
    /// The name in `TARGET+NAME`.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub what: &'static str,
}

/// Every planted bug, in order of their names.
pub const ALL: &[PlantedBug] = &[
    PlantedBug { name: "dirty-read", what: "queries see the uncommitted changes of other transactions" },
    PlantedBug {
        name: "lost-update",
        what: "at snapshot isolation and above, an update of a row that changed since the snapshot is let through",
    },
    PlantedBug {
        name: "write-skew",
        what: "at serializable, a transaction commits even if what it read has changed since its snapshot",
    },
];
