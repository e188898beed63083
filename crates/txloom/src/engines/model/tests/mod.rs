//! Transcripts of the model; see [`transcript`] for how to read them.
//!
//! * [`anomalies`]: what each level prevents
//! * [`waiting`]: who waits for whom, deadlock, cancellation, locking queries
//! * [`keys`]: rowids, unique keys, foreign keys, triggers
//! * [`transactions`]: boundaries, savepoints, statements that fail, schema changes
//! * [`planted`]: bugs that are visible
//! * [`serial`]: random transactions against a serial execution

mod anomalies;
mod keys;
mod planted;
mod serial;
mod transactions;
mod waiting;

use super::ModelEngine;
use crate::engines::embedded::transcript;

/// The table of most tests.
const TABLE: &[&str] = &["CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 10), (2, 20)"];

const RC: &str = "read committed";
const SI: &str = "snapshot isolation";
const SER: &str = "serializable";

/// Plays a transcript on the healthy model, starting from [`TABLE`].
#[track_caller]
fn check(level: &str, text: &str) {
    check_with(TABLE, level, text);
}

#[track_caller]
fn check_with(setup: &[&str], level: &str, text: &str) {
    transcript::check(&mut ModelEngine::start("model", &[]).unwrap(), level, setup, text);
}
