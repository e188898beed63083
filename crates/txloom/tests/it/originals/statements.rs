//! Java originals send the statements of their SQL forms, in the same order: what PostgreSQL writes down is compared.
//!
//! The interpreter sends values where a driver sends `$1`, and people write the same statement in many ways. So of each
//! statement its verb and the names of tables and columns count. Rows alone would not tell that a query is missing.

use std::collections::BTreeSet;

use txloom::corpus::{CorpusProgram, PROGRAMS};

use super::compare::{by_interpreter, by_original};
use super::java::classes;
use super::place::Place;
use super::process::Original;
use super::tools;
use crate::program_calls::Calls;
use crate::support::limited;

/// Calls of a program.
const CALLS: usize = 60;

/// The statements in a log, each on one line.
fn statements(log: &str) -> Vec<String> {
    let mut statements: Vec<String> = Vec::new();
    let mut is_one = false;
    for line in log.lines() {
        if let Some(more) = line.strip_prefix('\t') {
            if let Some(last) = statements.last_mut().filter(|_| is_one) {
                *last = format!("{last} {}", more.trim());
            }
            continue;
        }
        let plain = line.split_once("LOG:  statement: ").map(|(_, sql)| sql);
        let sql = plain.or_else(|| Some(line.split_once("LOG:  execute ")?.1.split_once(": ")?.1));
        is_one = sql.is_some();
        statements.extend(sql.map(str::to_string));
    }
    statements
}

/// `UPDATE: district d_id d_next_o_id d_w_id`; nothing for what names no table of the program.
fn gist(sql: &str, tables: &BTreeSet<String>, columns: &BTreeSet<String>) -> Option<String> {
    let sql = sql.to_lowercase();
    let words: BTreeSet<&str> = sql.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let (verb, _) = sql.split_once(' ')?;
    let is_one = ["select", "insert", "update", "delete"].contains(&verb) && !sql.contains("pg_catalog");
    let named: Vec<&str> = words.iter().copied().filter(|word| tables.contains(*word)).collect();
    let used: Vec<&str> = words.iter().copied().filter(|word| columns.contains(*word)).collect();
    (is_one && !named.is_empty()).then(|| format!("{verb}: {}", [named, used].concat().join(" ")))
}

/// What a program's calls say. Lines of orders are inserted in a batch, after what stands behind them: they come last.
fn gists(program: &CorpusProgram, log: &str) -> Vec<String> {
    let schema = program.tables();
    let tables: BTreeSet<String> = schema.tables.values().map(|table| table.name.to_lowercase()).collect();
    let columns = schema.tables.values().flat_map(|table| &table.columns);
    let columns: BTreeSet<String> = columns.map(|column| column.name.to_lowercase()).collect();
    let gists = statements(log).into_iter().filter_map(|sql| gist(&sql, &tables, &columns));
    let (batched, others): (Vec<String>, Vec<String>) = gists.partition(|gist| gist.starts_with("insert: order_line"));
    [others, batched].concat()
}

fn check() {
    let mut place = Place::logging("postgres");
    let mut java = Original::java(&place);
    for program in PROGRAMS {
        let Some(classes) = classes(program) else { continue };
        let source = program.source("postgres.sql").unwrap_or(&program.sources[0]);
        let procedures = program.read(source).program;
        let calls: Vec<_> = Calls::new(program.name, &procedures, 25).take(CALLS).collect();
        let setup = program.definitions().setup;
        let ours = place.statements_of(|place| drop(by_interpreter(place.engine(), &setup, &procedures, &calls)));
        let parts = (&mut java, classes.as_slice());
        let theirs = place.statements_of(|place| drop(by_original(place.engine(), &setup, parts, &calls)));
        let (ours, theirs) = (gists(program, &ours), gists(program, &theirs));
        assert!(ours.len() > CALLS, "{}: {ours:?}", program.name);
        for (at, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            assert_eq!(ours, theirs, "{}: statement {at}", program.name);
        }
        assert_eq!(ours.len(), theirs.len(), "{}", program.name);
    }
}

#[test]
fn java_sends_the_statements_of_the_procedures() {
    tools::class_path();
    limited(check);
}
