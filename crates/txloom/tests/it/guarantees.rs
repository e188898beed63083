//! The table of guarantees says what runs say, in both directions.

use txloom::corpus;
use txloom_core::anomaly;
use txloom_core::case::check::shows_anomaly;
use txloom_core::level::guarantees;

use crate::support::{limited, run, runner};

/// Runs every anomaly at every level, and compares with the table.
fn check(target: &'static str) {
    limited(move || {
        let mut runner = runner(target);
        let info = runner.engines_mut()[0].info().clone();
        let mut complaints = Vec::new();
        for level in &info.levels {
            let row = guarantees::of(&info, level).unwrap_or_else(|| panic!("no row for {target} at {level}"));
            for corpus_case in corpus::ANOMALIES {
                let mut case = corpus_case.parse();
                case.set_level(level.clone());
                let trace = run(&mut runner, &case);
                let happened = shows_anomaly(&case, &trace).expect("every case of an anomaly has marks");
                let anomaly = case.anomaly().and_then(anomaly::by_id).expect("a known anomaly");
                if happened == row.prevents(anomaly) {
                    let word = if happened { "happened" } else { "did not happen" };
                    complaints.push(format!("{target} at {level}: {} {word}", corpus_case.path));
                }
            }
        }
        assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
    });
}

#[test]
fn sqlite() {
    check("sqlite");
}

#[test]
fn model() {
    check("model");
}

#[test]
fn replicas() {
    check("replicas");
}

#[test]
fn postgres() {
    check("postgres");
}

#[test]
fn mariadb() {
    check("mariadb");
}

/// What is published for InnoDB: READ UNCOMMITTED prevents only G0, READ COMMITTED G0 to OTV; REPEATABLE READ prevents PMP
/// and G-single for reads only, and allows the lost update; SERIALIZABLE prevents all.
#[test]
fn the_table_says_what_is_published_of_innodb() {
    for engine in ["mariadb", "mysql"] {
        let prevented = |level: &str| -> Vec<&str> {
            let is_usual =
                |row: &&guarantees::Guarantee| row.engine == engine && row.level == level && row.settings.is_empty();
            let row = guarantees::TABLE.iter().find(is_usual).unwrap_or_else(|| panic!("no row for {engine} {level}"));
            anomaly::ALL.iter().filter(|anomaly| row.prevents(anomaly)).map(|anomaly| anomaly.id).collect()
        };
        assert_eq!(prevented("read uncommitted"), ["G0"]);
        assert_eq!(prevented("read committed"), ["G0", "G1a", "G1b", "G1c", "A1", "OTV"]);
        let reads = ["G0", "G1a", "G1b", "G1c", "A1", "OTV", "A2", "A3", "PMP", "G-single"];
        assert_eq!(prevented("repeatable read"), reads);
        assert_eq!(prevented("serializable").len(), anomaly::ALL.len());
    }
}

/// What is published for PostgreSQL, said here once more and independently of the table: READ COMMITTED prevents G0 to
/// OTV, REPEATABLE READ all but write skew and its relatives, SERIALIZABLE all. `model` has the same three levels.
#[test]
fn the_table_says_what_is_published() {
    let allows = |engine: &str, level: &str| {
        let row = guarantees::TABLE.iter().find(|row| row.engine == engine && row.level == level);
        row.unwrap_or_else(|| panic!("no row for {engine} at {level}")).allows.to_vec()
    };
    for (engine, weak, middle) in
        [("postgres", "read committed", "repeatable read"), ("model", "read committed", "snapshot isolation")]
    {
        for prevented in ["G0", "G1a", "G1b", "G1c", "OTV"] {
            assert!(!allows(engine, weak).contains(&prevented), "{engine} {weak} {prevented}");
        }
        for allowed in ["PMP", "P4", "G-single", "G2-item", "G2"] {
            assert!(allows(engine, weak).contains(&allowed), "{engine} {weak} {allowed}");
        }
        assert_eq!(allows(engine, middle), ["G2-item", "G2-read-only", "G2"]);
        assert!(allows(engine, "serializable").is_empty());
    }
}
