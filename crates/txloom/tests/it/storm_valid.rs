//! Valid storms, from the command line: operations touch rows that exist, on every engine.

use txloom::report::model::storm::{StormReport, ValidityReport};

use crate::storm::{check_clean, reported, storm};
use crate::support::limited;

/// The least α that is asked for, by kind of operation.
const ALPHAS: &[(&str, f64)] =
    &[("item-read", 0.999), ("predicate-read", 0.97), ("insert", 0.99), ("update", 0.999), ("delete", 0.99)];

fn validity(report: &StormReport) -> &ValidityReport {
    report.validity.as_ref().expect("the workload keeps a picture of the database")
}

/// Nothing forbidden was seen, and operations touched rows.
#[track_caller]
fn check_valid(arguments: &str) -> ValidityReport {
    let report = check_clean(arguments);
    let validity = validity(&report).clone();
    for of in &validity.operations {
        let least = ALPHAS.iter().find(|(kind, _)| *kind == of.kind).expect("a known kind").1;
        assert!(of.alpha >= least, "{arguments}: {of:?}");
    }
    for of in &validity.attributes {
        assert!(of.delta <= of.bound, "{arguments}: {of:?}");
    }
    validity
}

#[test]
fn ycsb_is_valid_everywhere() {
    limited(|| {
        for target in ["sqlite", "model", "postgres", "mariadb"] {
            let validity = check_valid(&format!(
                "{target} --profile ycsb-sql --level serializable --sessions 8 --transactions 400 --keys 500"
            ));
            let kinds: Vec<&str> = validity.operations.iter().map(|of| of.kind.as_str()).collect();
            assert_eq!(kinds, ["item-read", "predicate-read", "insert", "update", "delete"]);
            let predicates = validity.predicates.expect("there are conditions");
            assert!(predicates.median_share.is_some_and(|share| share > 0.0 && share <= 0.1), "{predicates:?}");
            assert!(predicates.conjunctive * 3 >= predicates.count, "{predicates:?}");
        }
    });
}

#[test]
fn snapshots_are_older_than_the_shadow() {
    limited(|| {
        for (target, level) in
            [("postgres", "repeatable-read"), ("postgres", "read-committed"), ("mariadb", "repeatable-read")]
        {
            // Few rows, most of which come and go.
            let shape = "--profile ycsb-sql --keys 60 --dynamic 0.7 --sessions 8 --transactions 300";
            check_valid(&format!("{target} --level {level} {shape}"));
        }
    });
}

#[test]
fn random_workloads_are_clean() {
    limited(|| {
        for target in ["sqlite", "model", "postgres", "mariadb"] {
            for seed in 1..=3 {
                let shape = "--profile dbstorm --keys 200 --sessions 4 --transactions 100";
                check_clean(&format!("{target} {shape} --level serializable --seed {seed}"));
            }
        }
    });
}

/// What is known of the rows is still right after the server was killed.
fn check_after_kill(target: &'static str) {
    limited(move || {
        let report = check_clean(&format!(
            "{target} --profile ycsb-sql --keys 200 --sessions 4 --kill every 1s --for 2s --level serializable"
        ));
        assert!(report.faults.iter().any(|fault| fault.count > 0), "{report:?}");
        let invalid: u64 = validity(&report).operations.iter().map(|of| of.invalid).sum();
        let valid: u64 = validity(&report).operations.iter().map(|of| of.valid).sum();
        assert!(invalid * 200 <= valid, "{report:?}");
    });
}

#[test]
fn after_a_kill_of_postgres_the_picture_is_still_right() {
    check_after_kill("postgres");
}

#[test]
fn after_a_kill_of_mariadb_the_picture_is_still_right() {
    check_after_kill("mariadb");
}

#[test]
fn accesses_can_be_spread_evenly() {
    let (report, code) =
        reported("--profile updates --access even --keys 200 --transactions 2000 --generate-only --sessions 2");
    assert_eq!(code, 0);
    assert!(
        validity(&report).accesses.iter().all(|of| of.log10_of_one_minus_beta.is_none_or(|log| log < -10.0)),
        "{report:?}"
    );
    assert_eq!((report.counts.committed, report.counts.statements), (2_000, 8_000));
}

#[test]
fn conditions_can_be_left_out() {
    limited(|| {
        let validity = check_valid("sqlite --profile ycsb-sql --predicate off --transactions 100 --keys 100");
        assert_eq!(validity.predicates, None);
    });
}

#[test]
fn what_cannot_be_is_explained() {
    for (arguments, expect) in [
        ("--profile ycsb-sql --dynamic 0", "none of its keys is dynamic"),
        ("--profile ycsb-sql --dynamic 1", "all of its keys are dynamic"),
        ("--profile ycsb-sql --dynamic 2", "not a share between 0 and 1"),
        ("--profile ycsb-sql --skew=-1", "not between 0 and 10"),
        ("--profile registers --generate-only", "without answers"),
    ] {
        let done = storm(arguments);
        assert_eq!(done.code, 2, "{arguments}: {}", done.stderr);
        assert!(done.stderr.contains(expect), "{arguments}: {}", done.stderr);
    }
}
