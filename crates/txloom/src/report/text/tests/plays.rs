//! The stories that the tests tell.

use txloom_core::case::Case;
use txloom_core::outcome::ErrorClass;
use txloom_core::trace::Trace;

use crate::report::build::{engine_version, trace_report};
use crate::report::fixtures::{Play, changed, error, ok, rows, table};
use crate::report::model::{CaseReport, MismatchReport, Observed, RunResult, ScheduledRun, TargetRun};

/// A case with one run on one target.
pub(super) fn case(claim: &str, trace: &Trace) -> CaseReport {
    CaseReport {
        file: "corpus/example.sql".to_string(),
        claim: Some(claim.to_string()),
        anomaly: None,
        expectations: 3,
        runs: vec![ScheduledRun {
            schedule: None,
            policy: "skip".to_string(),
            targets: vec![target(trace, Vec::new())],
            differences: Vec::new(),
        }],
    }
}

/// What one target did.
pub(super) fn target(trace: &Trace, mismatches: Vec<MismatchReport>) -> TargetRun {
    let observed = Observed {
        trace: trace_report(&Case::default(), trace),
        checked: 3,
        mismatches,
        anomaly_happened: None,
        same_as: None,
        divergence: None,
        open: Vec::new(),
    };
    TargetRun {
        target: trace.engine.target.clone(),
        version: engine_version(&trace.engine),
        result: RunResult::Observed(Box::new(observed)),
    }
}

/// Two sessions update one row; the second waits for the first.
pub(super) fn lost_update() -> Play {
    Play::new("a b")
        .done("a", "BEGIN", ok())
        .done("b", "BEGIN", ok())
        .done("a", "SELECT balance FROM account WHERE id = 1", rows("balance", &[&["100"]]))
        .done("b", "SELECT balance FROM account WHERE id = 1", rows("balance", &[&["100"]]))
        .done("a", "UPDATE account SET balance = 40 WHERE id = 1", changed(1))
        .waits("b", "UPDATE account SET balance = 40 WHERE id = 1", "a")
        .done("a", "COMMIT", ok())
        .goes_on("b", changed(1))
        .done("b", "COMMIT", ok())
        .ends_with("account", table("id owner:text balance", &[&["2", "bob", "250"], &["1", "alice", "40"]]))
}

/// The same, where the second one is refused.
pub(super) fn refused_update() -> Play {
    let refusal =
        error(ErrorClass::SerializationFailure, "40001", "could not serialize access due to concurrent update");
    Play::new("a b")
        .level("a", "repeatable read")
        .level("b", "repeatable read")
        .done("a", "BEGIN", ok())
        .done("b", "BEGIN", ok())
        .done("a", "SELECT balance FROM account WHERE id = 1", rows("balance", &[&["100"]]))
        .done("b", "SELECT balance FROM account WHERE id = 1", rows("balance", &[&["100"]]))
        .done("a", "UPDATE account SET balance = 40 WHERE id = 1", changed(1))
        .waits("b", "UPDATE account SET balance = 40 WHERE id = 1", "a")
        .done("a", "COMMIT", ok())
        .goes_on("b", refusal)
        .done("b", "COMMIT", crate::report::fixtures::tagged("ROLLBACK"))
        .ends_with("account", table("id owner:text balance", &[&["1", "alice", "40"], &["2", "bob", "250"]]))
}
