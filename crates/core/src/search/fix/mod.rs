//! Which changes of a program may remove an anomaly.
//!
//! # The problem
//!
//! Who is told that two deposits can lose one of them wants to know what to write instead. There is always an answer
//! (serializable, for everything), and nearly always a cheaper one:
//!
//! ```text
//!   SELECT balance INTO :b FROM accounts WHERE id = :id          + … FOR UPDATE
//!   UPDATE accounts SET balance = :b + :amount WHERE id = :id
//! ```
//!
//! # The idea
//!
//! For a cycle, [`changes`] names all changes of the [table](KINDS) that its statements give rise to, the cheapest
//! first. It does not prove anything: that a change removes the cycle, and brings no other one, is found out by applying
//! it to the sources ([`edit`]), reading them again, and searching again. What is analysed is what is shown as a
//! [`diff`].
//!
//! A change has places in the sources, so it can be made to a program that is read from them, and to no other.
//!
//! # Limits
//!
//! A level is set at the start of a procedure: if that has several transactions, it is the first one that is changed.
//! That statements of stores are not atomic leaves only a stronger level there. A check or a key refuses what the program
//! would refuse, but by an error.

mod check;
pub mod diff;
pub mod edit;
mod fold;
mod foreign;
mod level;
mod lock;
mod order;
mod unique;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

pub use edit::{Edit, Home, apply};
pub use level::is_said_inside;

use super::conflicts::Conflicts;
use super::cycles::Cycle;
use super::ground::Called;
use super::level::Target;
use crate::program::access::Node;
use crate::program::schema::Schema;

/// A kind of change.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// What people call it.
    pub name: &'static str,
    /// How much it costs, compared with others.
    pub cost: usize,
    /// When it applies.
    pub applies: &'static str,
}

/// A lock by one query.
pub const LOCK: Kind = Kind {
    name: "lock",
    cost: 1,
    applies: "an engine; a query of the cycle asks for rows that the cycle writes, and the engine can lock them",
};
/// Read, compute, write, as one statement.
pub const FOLD: Kind = Kind {
    name: "fold",
    cost: 2,
    applies: "an engine; a value is read by key, used once, to be written back to the same column of the same row",
};
/// A lock by one query, and by another procedure before all that it does.
pub const ORDER: Kind = Kind {
    name: "ordered locks",
    cost: 3,
    applies: "an engine; a query asks for a row that another procedure of the cycle writes, and names from the start",
};
/// Locks by all queries of the cycle.
pub const LOCKS: Kind =
    Kind { name: "locks", cost: 4, applies: "an engine; several queries of the cycle can lock what they read" };
/// A unique key.
pub const UNIQUE: Kind = Kind {
    name: "unique key",
    cost: 5,
    applies: "a row is looked for, and inserted if there is none, by columns that are no key yet",
};
/// A foreign key.
pub const FOREIGN: Kind = Kind {
    name: "foreign key",
    cost: 5,
    applies: "a row is looked for by its key, and another one that names it is inserted, in a column that refers to nothing",
};
/// A check.
pub const CHECK: Kind = Kind {
    name: "check",
    cost: 5,
    applies: "a value is looked at before it is changed, and what is asked comes to a question about the new value alone",
};
/// A stronger level for one transaction.
pub const TRANSACTION_LEVEL: Kind = Kind {
    name: "transaction level",
    cost: 10,
    applies: "an engine with SET TRANSACTION; it has a stronger level, and a transaction of the cycle sets none",
};
/// A stronger level for all transactions of the cycle.
pub const CYCLE_LEVEL: Kind =
    Kind { name: "cycle level", cost: 20, applies: "the same, if the cycle has several procedures" };
/// A stronger level for everything.
pub const PROGRAM_LEVEL: Kind =
    Kind { name: "program level", cost: 100, applies: "there is a stronger level of the engine, or of stores" };

/// Every kind of change, the cheapest first.
pub const KINDS: &[&Kind] =
    &[&LOCK, &FOLD, &ORDER, &LOCKS, &UNIQUE, &FOREIGN, &CHECK, &TRANSACTION_LEVEL, &CYCLE_LEVEL, &PROGRAM_LEVEL];

/// A change that may remove an anomaly.
#[derive(Debug, Clone)]
pub struct Change {
    /// What kind of change it is.
    pub kind: &'static Kind,
    /// What it costs. Of one kind, a level that is much stronger costs more than one that is a little stronger.
    pub cost: usize,
    /// What to do, in a sentence.
    pub says: String,
    /// What is changed in the sources.
    pub edits: Vec<Edit>,
    /// The procedures that do something else afterwards; `None` if these are all.
    pub procedures: Option<BTreeSet<u16>>,
    /// Those of them that send one statement more, before all others.
    pub begins_with_more: BTreeSet<u16>,
    /// The level that they set.
    pub sets_level: Option<&'static str>,
    /// The level that everything runs at afterwards, if it is another one.
    pub level: Option<Target>,
}

impl Change {
    /// A change that costs what its kind does, and leaves levels and the number of statements as they are.
    pub fn new(kind: &'static Kind, says: String, edits: Vec<Edit>, procedures: Option<BTreeSet<u16>>) -> Change {
        let begins_with_more = BTreeSet::new();
        Change { kind, cost: kind.cost, says, edits, procedures, begins_with_more, sets_level: None, level: None }
    }

    /// What its callers must be ready for afterwards: which calls are refused where they went wrong before.
    pub fn refusals(&self) -> Option<&'static str> {
        let is_level = self.sets_level.is_some() || matches!(self.level, Some(Target::Engine(_)));
        match self.kind {
            _ if is_level => Some(
                "calls that meet are refused with a serialization failure or a deadlock (SQLSTATE 40001, 40P01): \
                 repeat them from the beginning",
            ),
            kind if *kind == UNIQUE || *kind == FOREIGN || *kind == CHECK => Some(
                "the call that comes too late is refused with the constraint's error: tell its user; \
                 repeated, it looks again and refuses by itself",
            ),
            kind if *kind == LOCKS => Some(
                "calls that lock in different orders are refused with a deadlock (SQLSTATE 40P01 or 40001): \
                 repeat them from the beginning",
            ),
            _ => None,
        }
    }

    /// True if both changes do the same to the program.
    pub fn is_same(&self, other: &Change) -> bool {
        let levels = |change: &Change| (change.sets_level, change.level.as_ref().map(ToString::to_string));
        self.kind == other.kind
            && self.edits == other.edits
            && self.procedures == other.procedures
            && levels(self) == levels(other)
    }
}

/// A program at a level.
#[derive(Debug, Clone, Copy)]
pub struct Ground<'a> {
    /// The tables.
    pub schema: &'a Schema,
    /// The procedures.
    pub procedures: &'a [Called<'a>],
    /// Their conflicts.
    pub conflicts: &'a Conflicts,
    /// The level that they run at.
    pub level: Target,
}

/// A statement of a cycle: its procedure and its node.
type Place = (u16, usize);

impl<'a> Ground<'a> {
    fn node(&self, (procedure, node): Place) -> Option<&'a Node> {
        self.procedures.get(usize::from(procedure))?.access.nodes.get(node)
    }

    fn name(&self, procedure: u16) -> &'a str {
        self.procedures.get(usize::from(procedure)).map_or("?", |called| called.procedure.name.as_str())
    }

    /// The statements of a cycle, each once.
    fn places(&self, cycle: &Cycle) -> BTreeSet<Place> {
        let sites = cycle.visits.iter().flat_map(|visit| [visit.enter, visit.leave]);
        let sites = sites.map(|site| self.conflicts.site(site)).filter(|site| !site.undoes);
        sites.map(|site| (site.procedure, usize::from(site.node))).collect()
    }

    /// The tables that a cycle meets in.
    fn tables(&self, cycle: &Cycle) -> BTreeSet<&'a str> {
        let hops = cycle.visits.iter().map(|visit| self.conflicts.edge(visit.hop).table);
        hops.map(|table| self.conflicts.tables[usize::from(table)].as_str()).collect()
    }

    /// The procedures of a cycle, each once.
    fn procedures(&self, cycle: &Cycle) -> BTreeSet<u16> {
        cycle.visits.iter().map(|visit| self.conflicts.site(visit.enter).procedure).collect()
    }
}

/// The changes that may remove a cycle, the cheapest first.
pub fn changes(ground: &Ground<'_>, cycle: &Cycle) -> Vec<Change> {
    let mut all = Vec::new();
    if let Target::Engine(rules) = ground.level {
        let queries = lock::queries(ground, cycle, rules.engine);
        let locks: Vec<Change> = queries.iter().filter_map(|query| lock::lock(ground, *query)).collect();
        all.extend(lock::together(&locks));
        all.extend(locks);
        all.extend(order::orders(ground, cycle, &queries));
        for place in ground.places(cycle) {
            all.extend(fold::fold(ground, place));
            all.extend(unique::unique(ground, place));
            all.extend(foreign::foreign(ground, place));
            all.extend(check::check(ground, place));
        }
    }
    all.extend(level::levels(ground, cycle));
    all.sort_by_key(|change| change.cost);
    all
}
