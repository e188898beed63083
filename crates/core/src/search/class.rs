//! What people call an anomaly, told from its cycle.
//!
//! A name says more than a cycle: everybody knows what a lost update is. Names are told from the kinds of the hops,
//! from who executes what first, and from whether a call writes the row that it has read:
//!
//! ```text
//!   A.select ──rw──→ B.update, B.select ──rw──→ A.update       each call writes the row that it has read: lost update
//!                                                              another one: write skew
//! ```
//!
//! The rows of the table are tried in order; the last one fits every cycle. A class is a name for people, nothing else:
//! no decision depends on it.

use crate::flow::program::Given;
use crate::program::access::{Effect, Node, ProcedureAccess, Reach, TableAccess};
use crate::program::predicate::{Predicate, Term};
use crate::search::conflicts::{Column, Conflict, Conflicts, Grip, Kind};
use crate::search::cycles::{Cycle, Through, Visit};

/// A class of anomalies.
#[derive(Debug, Clone, Copy)]
pub struct Class {
    /// What people call it: `lost update`.
    pub name: &'static str,
    /// What happens, in one sentence.
    pub what: &'static str,
    /// Where it is defined.
    pub citation: &'static str,
    fits: fn(&Shape<'_>) -> bool,
}

impl PartialEq for Class {
    fn eq(&self, other: &Class) -> bool {
        self.name == other.name
    }
}

impl Eq for Class {}

const ADYA: &str = "A. Adya: Weak Consistency, PhD thesis, MIT, 1999";
const BERENSON: &str = "H. Berenson et al.: A Critique of ANSI SQL Isolation Levels, SIGMOD 1995";
const BAILIS: &str = "P. Bailis et al.: Highly Available Transactions: Virtues and Limitations, VLDB 2013";
const RAMP: &str = "P. Bailis et al.: Scalable Atomic Visibility with RAMP Transactions, SIGMOD 2014";
const CERONE: &str = "A. Cerone, A. Gotsman: Analysing Snapshot Isolation, PODC 2016";
const FEKETE: &str =
    "A. Fekete et al.: A Read-Only Transaction Anomaly Under Snapshot Isolation, SIGMOD Record 33(3), 2004";

/// Every class; of several that fit, the first one counts.
pub const CLASSES: &[Class] = &[
    Class {
        name: "dirty read",
        what: "a call sees what another one takes back, or only the first part of what it writes",
        citation: BERENSON,
        fits: |shape| shape.undoes() || shape.sees_half(Through::Backward),
    },
    Class {
        name: "dirty write",
        what: "two calls write several rows, and each has the last word on one of them",
        citation: BERENSON,
        fits: |shape| shape.all(&[Kind::Ww]),
    },
    Class {
        name: "circular information flow",
        what: "calls depend on each other's writes in a circle",
        citation: ADYA,
        fits: |shape| shape.all(&[Kind::Ww, Kind::Wr]),
    },
    Class {
        name: "lost update",
        what: "a call overwrites a change that it has not seen, after it has read the row",
        citation: BERENSON,
        fits: |shape| shape.loses_update(),
    },
    Class {
        name: "fractured read",
        what: "a call sees a later write of another one, but not an earlier one",
        citation: RAMP,
        fits: |shape| shape.sees_half(Through::Forward),
    },
    Class {
        name: "observed transaction vanishes",
        what: "a call sees a write of another one, and later it does not see that one",
        citation: BAILIS,
        fits: |shape| shape.reads_around(Through::Forward, |_, _| true),
    },
    Class {
        name: "phantom",
        what: "a call looks for rows, and another one adds or removes one",
        citation: BERENSON,
        fits: |shape| shape.is_phantom(),
    },
    Class {
        name: "non-repeatable read",
        what: "a call reads the same row twice, before and after another one has changed it",
        citation: BERENSON,
        fits: |shape| shape.reads_around(Through::Backward, |shape, visit| shape.is_same_row(visit)),
    },
    Class {
        name: "read skew",
        what: "a call sees one row from before another call and one from after it",
        citation: BERENSON,
        fits: |shape| shape.reads_around(Through::Backward, |_, _| true),
    },
    Class {
        name: "write skew",
        what: "two calls each read what the other one writes, and neither sees the other",
        citation: BERENSON,
        fits: |shape| shape.count() == 2 && shape.all(&[Kind::Rw]),
    },
    Class {
        name: "read skew of a write",
        what: "a call reads from before another one, and then writes over what that one has written",
        citation: ADYA,
        fits: |shape| shape.count() == 2,
    },
    Class {
        name: "read-only transaction anomaly",
        what: "a call that only reads sees a state that no serial order passes through",
        citation: FEKETE,
        fits: |shape| shape.has_reader_between(),
    },
    Class {
        name: "long fork",
        what: "two calls see two independent writes in different orders",
        citation: CERONE,
        fits: |shape| shape.forks(),
    },
    Class {
        name: "unclassified",
        what: "calls depend on each other in a circle, in a way that has no name",
        citation: ADYA,
        fits: |_| true,
    },
];

/// What people call the anomaly that a cycle is.
pub fn classify(cycle: &Cycle, conflicts: &Conflicts, procedures: &[Given<'_>]) -> &'static Class {
    let shape = Shape { cycle, conflicts, procedures };
    CLASSES.iter().find(|class| (class.fits)(&shape)).expect("the last one fits every cycle")
}

/// A cycle to be looked at.
struct Shape<'a> {
    cycle: &'a Cycle,
    conflicts: &'a Conflicts,
    procedures: &'a [Given<'a>],
}

impl Shape<'_> {
    fn count(&self) -> usize {
        self.cycle.visits.len()
    }

    /// The visits with the hops that lead to them and away from them.
    fn visits(&self) -> impl Iterator<Item = (&Visit, &Conflict, &Conflict)> {
        let visits = &self.cycle.visits;
        let before = visits.iter().cycle().skip(visits.len() - 1);
        let edge = |visit: &Visit| self.conflicts.edge(visit.hop);
        visits.iter().zip(before).map(move |(visit, before)| (visit, edge(before), edge(visit)))
    }

    fn all(&self, kinds: &[Kind]) -> bool {
        self.visits().all(|(_, _, hop)| kinds.contains(&hop.kind))
    }

    fn undoes(&self) -> bool {
        self.visits().any(|(visit, ..)| self.conflicts.site(visit.enter).undoes)
    }

    /// Whether one statement sees a write of another call, but not another one; the write that it sees is executed
    /// first (backward) or last.
    fn sees_half(&self, through: Through) -> bool {
        let is_seen = |(visit, to, from): (&Visit, &Conflict, &Conflict)| {
            visit.through == through && to.kind == Kind::Rw && from.kind == Kind::Wr
        };
        let is_single = |(visit, ..): (&Visit, &Conflict, &Conflict)| visit.through == Through::One;
        self.count() == 2 && self.visits().any(is_seen) && self.visits().any(is_single)
    }

    /// Whether one call sees another one at one statement and not at another one, which is executed first (backward) or
    /// last.
    fn reads_around(&self, through: Through, fits: fn(&Self, &Visit) -> bool) -> bool {
        let is_reader = |(visit, to, from): (&Visit, &Conflict, &Conflict)| {
            let only_reads = [visit.enter, visit.leave].iter().all(|site| !self.writes(*site));
            let is_torn = visit.through == through && to.kind == Kind::Wr && from.kind == Kind::Rw;
            is_torn && only_reads && fits(self, visit)
        };
        self.count() == 2 && self.visits().any(is_reader)
    }

    fn writes(&self, site: u16) -> bool {
        self.conflicts.touches(site).iter().any(|touch| touch.is_write())
    }

    /// Whether rows come or go that a search would have found, and every other hop is the other way round.
    fn is_phantom(&self) -> bool {
        let searches = |hop: &Conflict| {
            let name = &self.conflicts.tables[usize::from(hop.table)];
            let adds = |site| {
                let touches = self.conflicts.touches(site).iter();
                touches.into_iter().any(|touch| touch.table == *name && touch.grip == Grip::Exist)
            };
            let scans = |access: &TableAccess| access.table == *name && access.is_scan();
            let looks = self.node(hop.from).is_some_and(|node| node.access.tables.iter().any(scans));
            hop.kind == Kind::Rw && hop.columns.contains(&Column::Existence) && adds(hop.to) && looks
        };
        let has_search = self.visits().any(|(_, _, hop)| searches(hop));
        let is_read = self.reads_around(Through::Backward, |_, _| true);
        self.count() == 2 && has_search && (is_read || self.all(&[Kind::Rw]))
    }

    /// A call that reads a row, and writes it after another one has; be it within one statement.
    fn loses_update(&self) -> bool {
        let loses = |(visit, to, from): (&Visit, &Conflict, &Conflict)| {
            let overwrites = to.kind != Kind::Wr && from.kind == Kind::Rw && to.table == from.table;
            let is_split = visit.through == Through::One && self.writes(visit.enter);
            let writes_later = visit.through == Through::Backward && self.is_same_row(visit);
            overwrites && (is_split || writes_later)
        };
        let is_split = |visit: &Visit| visit.through == Through::One;
        let all_split = self.cycle.visits.iter().all(is_split);
        let loses_late = self.visits().any(|one| one.0.through != Through::One && loses(one));
        let is_lost = || all_split && !self.is_phantom() && self.visits().any(loses);
        self.count() == 2 && (loses_late || is_lost())
    }

    /// Two that write, and two that see the one and not the other.
    fn forks(&self) -> bool {
        let is_reader = |(visit, to, from): (&Visit, &Conflict, &Conflict)| {
            visit.through != Through::One && to.kind == Kind::Wr && from.kind == Kind::Rw
        };
        let is_writer = |(_, to, from): (&Visit, &Conflict, &Conflict)| to.kind == Kind::Rw && from.kind == Kind::Wr;
        let readers: Vec<bool> = self.visits().map(is_reader).collect();
        let writers = self.visits().filter(|one| is_writer(*one)).count();
        self.count() == 4 && writers == 2 && readers.iter().filter(|reader| **reader).count() == 2
    }

    /// Somebody who only reads sees one of two calls of which the other one has not seen it.
    fn has_reader_between(&self) -> bool {
        let is_reader = |(visit, to, from): (&Visit, &Conflict, &Conflict)| {
            let only_reads = ![visit.enter, visit.leave].iter().any(|site| self.writes(*site));
            only_reads && to.kind == Kind::Wr && from.kind == Kind::Rw
        };
        let others = self.visits().filter(|(_, _, hop)| hop.kind == Kind::Rw).count();
        self.count() == 3 && others == 2 && self.visits().any(is_reader)
    }

    fn access(&self, site: u16) -> Option<&ProcedureAccess> {
        Some(self.procedures.get(usize::from(self.conflicts.site(site).procedure))?.access)
    }

    fn node(&self, site: u16) -> Option<&Node> {
        self.access(site)?.nodes.get(usize::from(self.conflicts.site(site).node))
    }

    /// Whether the two statements of a visit are about the same row.
    fn is_same_row(&self, visit: &Visit) -> bool {
        let (Some(procedure), Some(enter), Some(leave)) =
            (self.access(visit.enter), self.node(visit.enter), self.node(visit.leave))
        else {
            return false;
        };
        let pairs = enter.access.tables.iter().flat_map(|a| leave.access.tables.iter().map(move |b| (a, b)));
        pairs.filter(|(a, b)| a.table == b.table).any(|(a, b)| {
            (a.predicate != Predicate::True && a.predicate == b.predicate)
                || (!keys(a).is_empty() && keys(a) == keys(b))
                || is_found_by(procedure, a, b)
                || is_found_by(procedure, b, a)
        })
    }
}

/// The values by which an access finds its row, or with which it adds one.
fn keys(access: &TableAccess) -> Vec<(&str, &Term)> {
    match (&access.reach, access.effect) {
        (Reach::Key(reach), _) => {
            reach.columns.iter().flat_map(|(column, terms)| terms.iter().map(|term| (column.as_str(), term))).collect()
        }
        (_, Effect::Insert) => access.assigned.iter().map(|one| (one.column.as_str(), &one.value)).collect(),
        _ => Vec::new(),
    }
}

/// Whether an access finds its row by a key that another one has read.
fn is_found_by(procedure: &ProcedureAccess, access: &TableAccess, reader: &TableAccess) -> bool {
    if reader.effect != Effect::Read || !matches!(access.reach, Reach::Key(_)) {
        return false;
    }
    let is_read = |column: &str, term: &Term| {
        let Term::Variable(variable) = term else { return false };
        let definitions = procedure.nodes.iter().flat_map(|node| &node.defines);
        let mut own = definitions.filter(|definition| definition.variable.name == variable.name);
        own.any(|own| own.origins.iter().any(|one| one.table == access.table && one.column == column))
    };
    keys(access).iter().any(|(column, term)| is_read(column, term))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::search::conflicts::Options;
    use crate::search::cycles::{Bounds, cycles};
    use crate::search::testing::*;

    /// The classes of a program's cycles, with one of the cycles each.
    fn classes(sample: &Sample, bounds: Bounds, options: Options) -> BTreeSet<&'static str> {
        let conflicts = sample.conflicts(options);
        let given = sample.given();
        cycles(&conflicts, bounds).iter().map(|cycle| classify(cycle, &conflicts, &given).name).collect()
    }

    const EXTERNAL: Options = Options { external: true, references: false, rollbacks: true };

    /// Two procedures, and what the cycles between them, with two calls, are called.
    #[track_caller]
    fn check(first: &str, second: &str, expect: &[&str]) {
        let text = format!(
            "-- @program 1
             CREATE TABLE t (id INT PRIMARY KEY, owner INT, n INT);
             CREATE PROCEDURE p(x INT, y INT) BEGIN DECLARE v INT; DECLARE w INT; {first}; COMMIT; END;
             CREATE PROCEDURE q(x INT, y INT) BEGIN DECLARE v INT; DECLARE w INT; {second}; COMMIT; END;"
        );
        let sample = Sample::new(&text);
        let conflicts = sample.conflicts(EXTERNAL);
        let bounds = Bounds { instances: 2, ..Bounds::default() };
        let between = cycles(&conflicts, bounds)
            .into_iter()
            .filter(|cycle| cycle.procedure(&conflicts, 0) != cycle.procedure(&conflicts, 1));
        let names: BTreeSet<&str> = between.map(|cycle| classify(&cycle, &conflicts, &sample.given()).name).collect();
        assert_eq!(names, expect.iter().copied().collect(), "{first} | {second}");
    }

    const LOOK: &str = "SELECT n INTO :v FROM t WHERE id = :x";
    const SET: &str = "UPDATE t SET n = :y WHERE id = :x";

    #[test]
    fn textbook_anomalies_have_their_names() {
        check(&format!("{LOOK}; {SET}"), SET, &["lost update", "circular information flow"]);
        check(
            &format!("{LOOK}; UPDATE t SET n = 1 WHERE id = :y"),
            SET,
            &["read skew of a write", "circular information flow"],
        );
        check(&format!("{LOOK}; {LOOK}"), SET, &["non-repeatable read", "observed transaction vanishes"]);
        check(
            "SELECT n INTO :v FROM t WHERE id = 1; SELECT n INTO :w FROM t WHERE id = 2",
            "UPDATE t SET n = 1 WHERE id = 1; UPDATE t SET n = 1 WHERE id = 2",
            &["read skew", "observed transaction vanishes"],
        );
        check(LOOK, &format!("{SET}; {SET}"), &["dirty read", "fractured read"]);
        check(SET, &format!("{SET}; {SET}"), &["dirty write"]);
        check(
            "SELECT COUNT(*) INTO :v FROM t; SELECT COUNT(*) INTO :w FROM t",
            "INSERT INTO t VALUES (:x, 1, 1)",
            &["phantom", "observed transaction vanishes"],
        );
        check("UPDATE t SET n = n + 1 WHERE id = :x", "UPDATE t SET n = n + 2 WHERE id = :y", &["lost update"]);
    }

    #[test]
    fn the_small_programs_show_what_they_are_named_after() {
        let two = Bounds { instances: 2, ..Bounds::default() };
        for (text, bounds, name) in [
            (LOST_UPDATE, two, "lost update"),
            (WRITE_SKEW, two, "write skew"),
            (DIRTY_READ, two, "dirty read"),
            (DIRTY_WRITE, two, "dirty write"),
            (LONG_FORK, Bounds { length: 6, instances: 4 }, "long fork"),
        ] {
            let found = classes(&Sample::new(text), bounds, Options::default());
            assert!(found.contains(name), "{name}: {found:?}");
        }
        assert!(!classes(&Sample::new(LOST_UPDATE), two, Options::default()).contains("write skew"));
    }

    #[test]
    fn a_call_that_only_reads_may_be_the_third() {
        let (_, files) = BENCHMARKS.iter().find(|(name, _)| *name == "smallbank").unwrap();
        let sample = Sample::benchmark(*files);
        let conflicts = sample.conflicts(EXTERNAL);
        let names = sample.names();
        let found = cycles(&conflicts, Bounds { length: 5, ..Bounds::default() });
        let fekete = found.iter().find(|cycle| {
            let shown = cycle.structure(&conflicts).show(&conflicts, &names);
            shown.contains("balance -rw checking-> write_check -rw savings-> transact_savings -wr savings->")
        });
        let class = classify(fekete.expect("it is in reach"), &conflicts, &sample.given());
        assert_eq!(class.name, "read-only transaction anomaly");
    }

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<&str> = CLASSES.iter().map(|class| class.name).collect();
        assert_eq!(names.len(), CLASSES.len());
    }
}
