//! The rules of the model, as switches; a planted bug is a rule that is switched off.

use txloom_core::engine::{EngineError, EngineErrorKind};
use txloom_core::planted::PlantedBug;

/// What the model does to keep its isolation levels. All true in the healthy model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rules {
    /// Reads see committed data and the transaction's own changes, nothing else.
    pub(super) read_committed_only: bool,
    /// At snapshot isolation and above, a row that changed since the snapshot cannot be changed.
    pub(super) first_updater_wins: bool,
    /// At serializable, a transaction commits only if it would have had the same answers, run alone and now.
    pub(super) validate_at_commit: bool,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { read_committed_only: true, first_updater_wins: true, validate_at_commit: true }
    }
}

/// A planted bug of the model: its name, and the rule that it breaks.
type Breaks = (&'static str, fn(&mut Rules));

/// The planted bugs that the model has. What they do stands in [`txloom_core::planted::ALL`].
const BUGS: &[Breaks] = &[
    ("dirty-read", |rules| rules.read_committed_only = false),
    ("lost-update", |rules| rules.first_updater_wins = false),
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

    #[test]
    fn every_bug_of_the_model_is_registered_and_breaks_something() {
        for (name, _) in BUGS {
            let bug = txloom_core::planted::ALL.iter().find(|bug| bug.name == *name).unwrap();
            assert_ne!(Rules::with_bugs("model", &[bug]).unwrap(), Rules::default(), "{name}");
        }
    }

    #[test]
    fn a_bug_of_another_engine_is_refused() {
        static BUG: PlantedBug = PlantedBug { name: "missing-error", what: "" };
        let message = Rules::with_bugs("model+missing-error", &[&BUG]).unwrap_err().to_string();
        assert_eq!(
            message,
            "model+missing-error: this target does not have the planted bug `missing-error` \
             (it has: dirty-read, lost-update, write-skew)"
        );
    }
}
