//! One case before all oracles, and whether what they say is to be trusted.

use txloom_core::case::Case;
use txloom_core::engine::EngineErrorKind;
use txloom_core::finding::Finding;
use txloom_core::oracle::{Mode, Oracle, RunError, RunRequest, Runner, Verdict};
use txloom_core::schedule::Policy;
use txloom_core::trace::contention;

use super::Counts;
use super::memo::Memo;

/// So often a violation is looked at again before it is believed.
const CONFIRMATIONS: usize = 2;

/// Something that an oracle objects to.
pub(super) struct Violation {
    /// The position of the oracle.
    pub(super) oracle: usize,
    /// What it says.
    pub(super) finding: Finding,
}

/// Has all oracles judge a case; what was seen goes into the counts.
pub(super) fn judge(
    case: &Case,
    group: u64,
    oracles: &[Box<dyn Oracle>],
    runner: &mut dyn Runner,
    counts: &mut Counts,
) -> Result<Vec<Violation>, RunError> {
    let mut memo = Memo::new(runner, case);
    let mut violations = Vec::new();
    // A hunt that was given no thorough oracle is content with those that it has.
    let has_thorough = oracles.iter().any(|oracle| oracle.is_thorough());
    let mut is_decided = false;
    for (position, oracle) in oracles.iter().enumerate() {
        match oracle.judge(case, &mut memo)? {
            Verdict::Holds(_) | Verdict::Vacuous(_) => is_decided |= oracle.is_thorough() || !has_thorough,
            // A difference that the next run did not show: the targets are not to be compared, and that is counted.
            Verdict::Unstable(reason) => {
                counts.unreproducible += 1;
                counts.note_trouble(format!("{}: {reason}", case.claim().unwrap_or_default()));
            }
            Verdict::Unknown(reason) => counts.note_undecided(format!("{}: {reason}", oracle.name()), 1, group),
            // What one oracle says of one case is one thing: its first words.
            Verdict::Violated(findings) => {
                is_decided = true;
                violations.extend(findings.into_iter().next().map(|finding| Violation { oracle: position, finding }));
            }
        }
    }
    counts.undecided_cases += u64::from(!is_decided);
    counts.statistics.add_case();
    memo.traces().for_each(|trace| counts.statistics.add(trace));
    Ok(violations)
}

/// Whether a violation appears each time that it is looked at. A run that fails is one in which it does not appear.
pub(super) fn is_reproducible(
    finding: &Finding,
    oracle: &dyn Oracle,
    runner: &mut dyn Runner,
) -> Result<bool, RunError> {
    for _ in 0..CONFIRMATIONS {
        let again = match oracle.judge(&finding.case, runner) {
            Ok(Verdict::Violated(found)) => found.iter().any(|other| is_same_kind(finding, other)),
            Ok(Verdict::Holds(_) | Verdict::Vacuous(_) | Verdict::Unknown(_) | Verdict::Unstable(_)) => false,
            Err(error) if is_interruption(&error) => return Err(error),
            Err(_) => false,
        };
        if !again {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_same_kind(one: &Finding, other: &Finding) -> bool {
    one.fingerprint.kind() == other.fingerprint.kind()
}

/// Whether the user asked to stop.
pub(super) fn is_interruption(error: &RunError) -> bool {
    matches!(error, RunError::Engine(error) if matches!(error.kind, EngineErrorKind::Interrupted))
}

/// Runs a case once more, on the first target, to see whether a row is written by two transactions.
pub(super) fn sample(case: &Case, runner: &mut dyn Runner, counts: &mut Counts) -> Result<(), RunError> {
    let instrumented = contention::instrument(case);
    let mode = Mode::Scheduled(instrumented.schedules().first().map(|schedule| (*schedule).clone()));
    let trace = runner.run(&RunRequest { case: &instrumented, target: 0, policy: Policy::default(), mode })?;
    counts.statistics.add_examined(contention::is_contended(case, &trace));
    Ok(())
}
