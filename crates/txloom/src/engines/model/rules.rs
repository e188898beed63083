//! The rules of the model, as switches; a planted bug is a rule that is switched off.
//!
//! Bugs of atomicity (a ROLLBACK that leaves a row, a COMMIT that loses one) strike only while another transaction is
//! open. That is where they live in databases, too; and one transaction after the other, the model stays healthy, so
//! that a serial execution shows what would have been right.

use txloom_core::engine::{EngineError, EngineErrorKind};
use txloom_core::planted::PlantedBug;

/// What the model does to keep its isolation levels. All true in the healthy model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rules {
    /// Reads see committed data and the transaction's own changes, nothing else.
    pub(super) read_committed_only: bool,
    /// At snapshot isolation and above, rows stay what they were in the snapshot.
    pub(super) snapshot_keeps_rows: bool,
    /// At snapshot isolation and above, rows that were not in the snapshot are not seen.
    pub(super) snapshot_hides_new_rows: bool,
    /// Reads see the transaction's own changes.
    pub(super) reads_own_changes: bool,
    /// A snapshot holds everything that was committed before it was taken.
    pub(super) snapshot_is_fresh: bool,
    /// At snapshot isolation and above, a row that changed since the snapshot cannot be changed.
    pub(super) first_updater_wins: bool,
    /// At serializable, a transaction commits only if it would have had the same answers, run alone and now.
    pub(super) validate_at_commit: bool,
    /// COMMIT finds the references that transactions break together. (At serializable, executing again finds them first.)
    pub(super) references_hold: bool,
    /// COMMIT installs all changes.
    pub(super) commit_is_complete: bool,
    /// ROLLBACK undoes all changes.
    pub(super) rollback_is_complete: bool,
    /// A statement that fails undoes all of its changes.
    pub(super) statement_is_atomic: bool,
    /// What a transaction did that was rolled back has no effect on anybody.
    pub(super) aborted_is_forgotten: bool,
    /// A deadlock or a serialization failure ends the transaction.
    pub(super) conflict_ends_transaction: bool,
    /// A statement that has waited finds the rows whose keys have changed meanwhile.
    pub(super) waiter_follows_keys: bool,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            read_committed_only: true,
            snapshot_keeps_rows: true,
            snapshot_hides_new_rows: true,
            reads_own_changes: true,
            snapshot_is_fresh: true,
            first_updater_wins: true,
            validate_at_commit: true,
            references_hold: true,
            commit_is_complete: true,
            rollback_is_complete: true,
            statement_is_atomic: true,
            aborted_is_forgotten: true,
            conflict_ends_transaction: true,
            waiter_follows_keys: true,
        }
    }
}

/// A planted bug of the model: its name, and the rule that it breaks.
type Breaks = (&'static str, fn(&mut Rules));

/// The planted bugs that the model has. What they do stands in [`txloom_core::planted::ALL`].
const BUGS: &[Breaks] = &[
    ("aborted-predicate", |rules| rules.aborted_is_forgotten = false),
    ("dangling-reference", |rules| rules.references_hold = false),
    ("deadlock-victim", |rules| rules.conflict_ends_transaction = false),
    ("dirty-read", |rules| rules.read_committed_only = false),
    ("key-update", |rules| rules.waiter_follows_keys = false),
    ("lost-commit", |rules| rules.commit_is_complete = false),
    ("lost-update", |rules| rules.first_updater_wins = false),
    ("non-repeatable-read", |rules| rules.snapshot_keeps_rows = false),
    ("phantom", |rules| rules.snapshot_hides_new_rows = false),
    ("rollback-leaves-row", |rules| rules.rollback_is_complete = false),
    ("stale-read", |rules| rules.snapshot_is_fresh = false),
    ("stale-snapshot", |rules| rules.reads_own_changes = false),
    ("statement-rollback-leaves-row", |rules| rules.statement_is_atomic = false),
    ("write-skew", |rules| rules.validate_at_commit = false),
];

impl Rules {
    /// The rules with these bugs planted.
    pub(super) fn with_bugs(target: &str, bugs: &[&'static PlantedBug]) -> Result<Rules, EngineError> {
        let mut rules = Rules::default();
        for bug in bugs {
            let Some((_, plant)) = BUGS.iter().find(|(name, _)| *name == bug.name) else {
                let have: Vec<&str> = BUGS.iter().map(|(name, _)| *name).collect();
                let what = format!("the planted bug `{}` (it has: {})", bug.name, have.join(", "));
                return Err(EngineError::new(target, EngineErrorKind::Unsupported(what)));
            };
            plant(&mut rules);
        }
        Ok(rules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use txloom_core::planted::{ALL, Place};

    #[test]
    fn every_bug_of_the_model_is_registered_and_breaks_something() {
        let registered = ALL.iter().filter(|bug| bug.place == Place::Model);
        assert!(registered.clone().map(|bug| bug.name).eq(BUGS.iter().map(|(name, _)| *name)));
        for bug in registered {
            assert_ne!(Rules::with_bugs("model", &[bug]).unwrap(), Rules::default(), "{}", bug.name);
        }
    }

    #[test]
    fn a_bug_of_another_engine_is_refused() {
        static BUG: PlantedBug =
            PlantedBug { name: "missing-error", what: "", source: "", place: Place::AnyEngine, levels: &[] };
        let message = Rules::with_bugs("model+missing-error", &[&BUG]).unwrap_err().to_string();
        let expect = "model+missing-error: this target does not have the planted bug `missing-error` \
                      (it has: aborted-predicate, dangling-reference, ";
        assert!(message.starts_with(expect), "{message}");
    }
}
