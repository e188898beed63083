//! Every engine keeps the promises of the `Engine` trait.

use txloom::contract::verify;

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
