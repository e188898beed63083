//! Every engine keeps the promises of the `Engine` trait.

use txloom::contract::verify;
use txloom::engines::{self, Target};

use crate::support::{engine, limited};

fn check(target: &'static str) {
    limited(move || {
        let breaches = verify(engine(target));
        let lines: Vec<String> = breaches.iter().map(|breach| format!("{}: {}", breach.promise, breach.what)).collect();
        assert!(lines.is_empty(), "{target} breaks its contract:\n{}", lines.join("\n"));
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

/// Only where H2 is installed: the tests do not ask for it.
#[test]
fn snapshots_of_h2_hold_user_tables_only() {
    limited(|| {
        let Ok(mut engine) = engines::open(&Target::parse("h2").expect("a target")) else { return };
        let setup = ["CREATE TABLE t (id INT PRIMARY KEY)", "CREATE SCHEMA s", "CREATE TABLE s.u (id INT)"];
        engine.reset(&setup.map(str::to_string)).expect("the setup is accepted");
        let state = engine.snapshot().expect("a snapshot");
        assert_eq!(state.tables.keys().collect::<Vec<_>>(), ["s.u", "t"]);
    });
}
