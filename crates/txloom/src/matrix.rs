//! The matrix *oracle × planted bug*: which oracle sees which bug, and why the others cannot.
//!
//! An oracle is worth what it finds. So for every [planted bug](txloom_core::planted) this table says, for every
//! oracle, that it finds the bug, or for what reason it cannot. Tests hold the oracles to it, with pinned seeds; the
//! soak run, with ten seeds and a time limit; and the table of the documentation is made of it.
//!
//! *Cannot* is about the idea, not about luck: `serial` compares a run with serial orders *on the same engine*, so a
//! bug that strikes in serial orders, too, is invisible to it. What an oracle might see if only the right case were
//! generated is not an entry here but a task for the generator.

use txloom_core::oracle::{crash, diff, graph, invariant, serial};
use txloom_core::planted::{Place, PlantedBug};

/// What an oracle can make of a bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// It finds it.
    Seen,
    /// It cannot, and this is why.
    Blind(&'static str),
}

/// What can be expected of an oracle, by its name; `None` if the table does not know the oracle or the bug.
pub fn expected(oracle: &str, bug: &str) -> Option<Sight> {
    let column = ORACLES.iter().position(|name| *name == oracle)?;
    let (_, sights) = TABLE.iter().find(|(name, _)| *name == bug)?;
    Some(sights[column])
}

/// The oracles, in the order of the table's columns.
pub const ORACLES: [&str; 5] = [diff::NAME, serial::NAME, graph::NAME, invariant::NAME, crash::NAME];

/// The profile whose cases an oracle is to find bugs with.
pub fn profile(oracle: &str) -> &'static str {
    if oracle == graph::NAME { "txcheck" } else { "dt2" }
}

/// The targets on which an oracle is to find a bug. `diff` needs a healthy one beside it.
pub fn targets(oracle: &str, bug: &PlantedBug, healthy: &str) -> Vec<String> {
    let healthy = if bug.place == Place::Model { "model" } else { healthy };
    let planted = format!("{healthy}+{}", bug.name);
    if oracle == diff::NAME { vec![healthy.to_string(), planted] } else { vec![planted] }
}

const SEEN: Sight = Sight::Seen;
const CONSTRAINTS: Sight = Sight::Blind("every committed state still keeps the constraints of the schema");
const ALIVE: Sight = Sight::Blind("the server survives it");
const SERIAL_TOO: Sight = Sight::Blind("a serial order on the same engine is answered in the same wrong way");
const CAUGHT: Sight = Sight::Blind(
    "at serializable, where a serial order is promised, another rule catches it: it shows at weaker levels",
);
const LEFT_OUT: Sight = Sight::Blind("statements that fail are left out, and the case is run again without them");
const KEYS: Sight = Sight::Blind("rows are followed by their primary keys, so cases that change one are refused");
const REFERENCES: Sight = Sight::Blind("the model checks references at COMMIT, so cases that have any are refused");
const DIED: Sight = Sight::Blind("a run that ends with the server's death is left to the oracle `crash`");

/// One row per bug, one column per oracle.
const TABLE: &[(&str, [Sight; 5])] = &[
    ("aborted-predicate", [SEEN, SEEN, SEEN, CONSTRAINTS, ALIVE]),
    ("dangling-reference", [SEEN, CAUGHT, REFERENCES, SEEN, ALIVE]),
    ("deadlock-victim", [SEEN, SEEN, LEFT_OUT, CONSTRAINTS, ALIVE]),
    ("dirty-read", [SEEN, SEEN, SEEN, CONSTRAINTS, ALIVE]),
    ("key-update", [SEEN, SEEN, KEYS, CONSTRAINTS, ALIVE]),
    ("lost-commit", [SEEN, SEEN, SEEN, CONSTRAINTS, ALIVE]),
    ("lost-update", [SEEN, SEEN, SEEN, CONSTRAINTS, ALIVE]),
    ("non-repeatable-read", [SEEN, SEEN, SEEN, CONSTRAINTS, ALIVE]),
    ("phantom", [SEEN, SEEN, SEEN, CONSTRAINTS, ALIVE]),
    ("rollback-leaves-row", [SEEN, SEEN, SEEN, CONSTRAINTS, ALIVE]),
    ("stale-read", [SEEN, SEEN, SEEN, CONSTRAINTS, ALIVE]),
    ("stale-snapshot", [SEEN, SEEN, SEEN, CONSTRAINTS, ALIVE]),
    ("statement-rollback-leaves-row", [SEEN, SEEN, LEFT_OUT, CONSTRAINTS, ALIVE]),
    ("write-skew", [SEEN, SEEN, SEEN, CONSTRAINTS, ALIVE]),
    ("crash", [SEEN, DIED, SEEN, DIED, SEEN]),
    ("extra-row", [SEEN, SEEN, SEEN, CONSTRAINTS, ALIVE]),
    ("missing-error", [SEEN, SERIAL_TOO, SEEN, CONSTRAINTS, ALIVE]),
    ("missing-row", [SEEN, SEEN, SEEN, CONSTRAINTS, ALIVE]),
    ("unexpected-error", [SEEN, SEEN, LEFT_OUT, CONSTRAINTS, ALIVE]),
    ("wrong-aggregate", [SEEN, SERIAL_TOO, SEEN, CONSTRAINTS, ALIVE]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use txloom_core::{oracle, planted};

    #[test]
    fn every_bug_has_its_row_and_every_oracle_its_column() {
        assert!(TABLE.iter().map(|(name, _)| *name).eq(planted::ALL.iter().map(|bug| bug.name)));
        // Generated cases call nothing, so there is nothing for `calls` to judge.
        let judging = oracle::NAMES.iter().filter(|name| **name != oracle::calls::NAME);
        assert!(judging.eq(&ORACLES));
        for (name, sights) in TABLE {
            assert!(sights.contains(&SEEN), "{name} is seen by nobody");
        }
        assert_eq!(expected("diff", "lost-update"), Some(Sight::Seen));
        assert_eq!(expected("diff", "x").or(expected("x", "crash")), None);
    }

    #[test]
    fn only_diff_needs_a_healthy_target() {
        let lost_update = planted::by_name("lost-update").unwrap();
        assert_eq!(targets("diff", lost_update, "sqlite"), ["model", "model+lost-update"]);
        assert_eq!(targets("crash", planted::by_name("crash").unwrap(), "sqlite"), ["sqlite+crash"]);
    }
}
