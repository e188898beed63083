//! Our own traces as histories: what the marks of an anomaly's case say, the checker says.

use txloom::corpus;
use txloom_core::case::check::shows_anomaly;
use txloom_core::history::check::check;
use txloom_core::history::from_trace::history_of;
use txloom_core::level::formal::{Level, Requirement};

use crate::support::{limited, run, runner};

/// The anomalies whose cases read and write rows by their keys, and the weakest level that forbids each.
const FORBIDDEN_FROM: &[(&str, Level)] = &[
    ("G1a", Level::ReadCommitted),
    ("G1b", Level::ReadCommitted),
    ("G1c", Level::ReadCommitted),
    ("A1", Level::ReadCommitted),
    ("OTV", Level::MonotonicAtomicView),
    ("A2", Level::ReadAtomic),
    ("P4", Level::CursorStability),
    ("G-single", Level::ParallelSnapshotIsolation),
    ("G2-item", Level::Serializable),
    ("G2-read-only", Level::Serializable),
];

/// Every anomaly at every level of an engine.
fn agree(target: &'static str) {
    limited(move || {
        let mut runner = runner(target);
        let levels = runner.engines_mut()[0].info().levels.clone();
        let mut complaints = Vec::new();
        for corpus_case in corpus::ANOMALIES {
            let case = corpus_case.parse();
            let id = case.anomaly().expect("the case of an anomaly");
            let Some((_, forbidden_from)) = FORBIDDEN_FROM.iter().find(|(anomaly, _)| *anomaly == id) else { continue };
            for level in &levels {
                let mut case = case.clone();
                case.set_level(level.clone());
                let trace = run(&mut runner, &case);
                let happened = shows_anomaly(&case, &trace).expect("every case of an anomaly has marks");
                let verdict = history_of(&case, &trace).map_err(|refusal| refusal.to_string()).and_then(|history| {
                    check(&history, Requirement::from(*forbidden_from)).map_err(|error| error.to_string())
                });
                match verdict {
                    Ok(verdict) if verdict.is_violated() == happened => {}
                    Ok(verdict) => complaints.push(format!("{id} at {level}: {happened}, but {verdict:?}")),
                    Err(refusal) => complaints.push(format!("{id} at {level}: {refusal}")),
                }
            }
        }
        assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
    });
}

#[test]
fn marks_and_verdicts_agree_on_the_model() {
    agree("model");
}

/// By what they look for, by a sum, or with a predicate over values: such reads do not tell versions.
#[test]
fn other_anomalies_are_refused() {
    limited(|| {
        let mut runner = runner("model");
        for id in ["A3", "PMP", "PMP-write", "G-single-write", "G2"] {
            let cases = corpus::ANOMALIES.iter().map(corpus::CorpusCase::parse);
            let case = cases.into_iter().find(|case| case.anomaly() == Some(id)).expect("a case of the anomaly");
            let trace = run(&mut runner, &case);
            assert!(history_of(&case, &trace).is_err(), "{id}");
        }
    });
}
