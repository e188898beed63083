//! Known behaviours: every entry has a case that matches and a near miss; both do what their files say, and where the
//! engines that show a difference are at hand, the differential oracle finds it and the entry knows it.
//!
//! What takes servers that are not at hand everywhere is tested from recorded runs, beside the code of
//! `finding::known`.

use std::collections::BTreeSet;

use txloom::corpus::{self, CorpusCase};
use txloom::engines::{self, Target};
use txloom::execute::EngineRunner;
use txloom_core::case::check::check;
use txloom_core::engine::Engine;
use txloom_core::finding::Finding;
use txloom_core::finding::known::Known;
use txloom_core::oracle::{self, Verdict};

use crate::support::{engine, limited, run, runner};

fn corpus_case(name: &str) -> &'static CorpusCase {
    let path = format!("known/{name}.sql");
    corpus::KNOWN.iter().find(|case| case.path == path).unwrap_or_else(|| panic!("there is no {path}"))
}

#[test]
fn every_entry_has_a_case_and_a_near_miss() {
    let shipped = Known::shipped();
    let files = |entry: &str| [format!("known/{entry}.sql"), format!("known/{entry}-near-miss.sql")];
    let expected: BTreeSet<String> = shipped.entries().iter().flat_map(|entry| files(&entry.id)).collect();
    let listed: BTreeSet<String> = corpus::KNOWN.iter().map(|case| case.path.to_string()).collect();
    assert_eq!(listed, expected);
}

/// Every engine still answers what the files say.
fn cases_hold_on(target: &'static str) {
    limited(move || {
        let mut runner = runner(target);
        for corpus_case in corpus::KNOWN {
            let case = corpus_case.parse();
            let trace = run(&mut runner, &case);
            let mismatches = check(&case, &trace);
            assert!(mismatches.is_empty(), "{} on {target}: {mismatches:?}", corpus_case.path);
        }
    });
}

#[test]
fn the_cases_hold_on_mariadb() {
    cases_hold_on("mariadb");
}

#[test]
fn the_cases_hold_on_postgres() {
    cases_hold_on("postgres");
}

/// What the differential oracle finds in a case; `None` if it finds nothing.
fn found(name: &str, runner: &mut EngineRunner) -> Option<Finding> {
    let diff = oracle::by_name("diff").expect("the oracle");
    match diff.judge(&corpus_case(name).parse(), runner).unwrap_or_else(|error| panic!("{name}: {error}")) {
        Verdict::Violated(findings) => findings.into_iter().next(),
        Verdict::Holds(_) | Verdict::Vacuous(_) => None,
        Verdict::Unknown(reason) | Verdict::Unstable(reason) => panic!("{name}: {reason}"),
    }
}

/// The case differs and is known as its entry; the near miss is not, whether it differs or not.
fn is_known(id: &str, engines: Vec<Box<dyn Engine>>, near_miss_differs: bool) {
    let shipped = Known::shipped();
    let mut runner = EngineRunner::new(engines);
    let finding = found(id, &mut runner).unwrap_or_else(|| panic!("{id}: no difference"));
    let known = shipped.matching(&finding).map(|entry| entry.id.as_str());
    assert_eq!(known, Some(id), "{}", finding.sentence);
    let near_miss = found(&format!("{id}-near-miss"), &mut runner);
    assert_eq!(near_miss.is_some(), near_miss_differs, "{id}: the near miss");
    let known = near_miss.as_ref().and_then(|finding| shipped.matching(finding));
    assert!(known.is_none(), "{id}: the near miss matches {known:?}");
}

#[test]
fn mdev_27992() {
    limited(|| is_known("MDEV-27992", vec![engine("mariadb"), engine("postgres")], true));
}

#[test]
fn dt2_lock_point() {
    limited(|| is_known("DT2-lock-point", vec![engine("postgres"), engine("mariadb")], true));
}

#[test]
fn postgresql_key_twice() {
    limited(|| is_known("PostgreSQL-key-twice", vec![engine("postgres"), engine("mariadb")], false));
}

#[test]
fn mdev_35124() {
    limited(|| {
        let mut strict = Target::parse("mariadb").expect("a target");
        strict.server.extra = vec![("innodb_snapshot_isolation".to_string(), "ON".to_string())];
        let strict = engines::open(&strict).unwrap_or_else(|error| panic!("{error}"));
        is_known("MDEV-35124", vec![engine("mariadb"), strict], false);
    });
}

/// What the graph oracle finds in MariaDB, and the entry that knows it.
#[test]
fn the_graph_oracle_knows_mariadbs_not_in() {
    limited(|| {
        let mut runner = runner("mariadb");
        let graph = oracle::by_name("graph").expect("the oracle");
        let mut judge = |case: &CorpusCase| {
            let verdict = graph.judge(&case.parse(), &mut runner);
            match verdict.unwrap_or_else(|error| panic!("{}: {error}", case.path)) {
                Verdict::Violated(findings) => findings.into_iter().next(),
                _ => None,
            }
        };
        let finding = judge(corpus_case("MariaDB-NOT-IN")).expect("it deletes a row");
        let known = Known::shipped();
        assert_eq!(known.matching(&finding).map(|entry| entry.id.as_str()), Some("MariaDB-NOT-IN"));
        assert!(judge(corpus_case("MariaDB-NOT-IN-near-miss")).is_none());
    });
}
