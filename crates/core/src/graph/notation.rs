//! Observations in one line per statement, for tests, in the order in which they completed:
//!
//! ```text
//!   a1 T0 uses t:rw u:v sees t1=0 t2=- u1=3 outputs t1=0 writes t1:0>5 t2:->5 t3:0>- probes k=7 lookups l
//! ```
//!
//! Session and step, transaction (T0 commits first), then what there is of the rest. A row is a letter and a number, `-` is
//! a row that is not there. Without `uses`, a statement that returns rows or writes none reads its tables, one that
//! replaces versions chooses among the rows of the tables that it saw what to write.

use std::collections::{BTreeMap, BTreeSet};

use super::{EdgeKind, Graph, Probe, Row, Statement, Uses, Version, Write, infer};
use crate::case::SessionName;
use crate::schedule::StepRef;
use crate::value::Value;

/// `t1`
pub(crate) fn row(text: &str) -> Row {
    let (table, key) = text.split_at(1);
    Row { table: table.into(), key: vec![Value::int(key.parse().expect("a row is a letter and a number"))] }
}

/// `a1`
pub(crate) fn step(text: &str) -> StepRef {
    let at = text.find(|c: char| c.is_ascii_digit()).expect("a step has a number");
    let number: usize = text[at..].parse().expect("a step ends with its number");
    StepRef { session: SessionName::new(&text[..at]).expect("a step has a session"), index: number - 1 }
}

fn version(text: &str) -> Version {
    (text != "-").then(|| text.parse().expect("a version is a number"))
}

/// All statements of a text.
pub(crate) fn statements(text: &str) -> Vec<Statement> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.enumerate().map(|(done, line)| statement(line, done)).collect()
}

/// The graph of a text without strangers, which must be one.
pub(crate) fn graph(text: &str) -> Graph {
    infer(statements(text), &BTreeMap::new()).expect("the observations make a graph")
}

/// The edges, as `a1 → b2 item-read t1=5`, evidence included.
pub(crate) fn edges(graph: &Graph) -> Vec<String> {
    let label = |at: usize| graph.statements[at].step.to_string();
    let shown = |version: Version| version.map_or("-".to_string(), |version| version.to_string());
    let row = |row: &Row| format!("{}{}", row.table, row.key[0]);
    let edges = graph.edges.iter().map(|edge| {
        let rows = edge.rows.iter().map(|(of, version)| format!(" {}={}", row(of), shown(*version)));
        let probes = edge.probes.iter().map(|probe| format!(" {}={}", probe.constraint, probe.value[0]));
        let evidence: String = rows.chain(probes).collect();
        format!("{} → {} {}{evidence}", label(edge.from), label(edge.to), edge.kind.name())
    });
    edges.collect()
}

/// Statements that did nothing, with edges that nobody inferred.
pub(crate) fn bare(count: usize, edges: &[(usize, usize)]) -> Graph {
    let statements = (0..count).map(|at| statement(&format!("a{} T0", at + 1), at)).collect();
    let mut edges: Vec<(usize, usize)> = edges.to_vec();
    edges.sort_unstable();
    edges.dedup();
    let edge =
        |(from, to)| super::Edge { from, to, kind: EdgeKind::PredicateRead, rows: Vec::new(), probes: Vec::new() };
    Graph { statements, edges: edges.into_iter().map(edge).collect() }
}

fn statement(line: &str, done: usize) -> Statement {
    let mut words = line.split_whitespace();
    let step = step(words.next().expect("a line begins with a step"));
    let transaction = words.next().and_then(|word| word.strip_prefix('T')?.parse().ok()).expect("then its transaction");
    let mut statement = Statement {
        step,
        transaction,
        done,
        uses: BTreeMap::new(),
        seen: BTreeMap::new(),
        output: None,
        writes: Vec::new(),
        probes: BTreeSet::new(),
        lookups: BTreeSet::new(),
    };
    let mut part = "";
    for word in words {
        match (part, word) {
            (_, "uses" | "sees" | "outputs" | "writes" | "probes" | "lookups") => {
                part = word;
                if word == "outputs" {
                    statement.output = Some(BTreeSet::new());
                }
            }
            _ => take(&mut statement, part, word),
        }
    }
    if !line.contains(" uses ") {
        let is_query = statement.output.is_some() || statement.writes.is_empty();
        let usual = Uses { read: is_query, write: !is_query, value: false };
        statement.uses.values_mut().for_each(|uses| *uses = usual);
    }
    statement
}

fn take(statement: &mut Statement, part: &str, word: &str) {
    let split = |separator: char| word.split_once(separator).expect("a word of two parts");
    match part {
        "uses" => {
            let (table, flags) = split(':');
            let has = |flag: char| flags.contains(flag);
            statement.uses.insert(table.into(), Uses { read: has('r'), write: has('w'), value: has('v') });
        }
        "sees" => {
            let (of, seen) = split('=');
            statement.uses.entry(row(of).table).or_default();
            version(seen).map(|version| statement.seen.insert(row(of), version));
        }
        "outputs" => {
            let (of, seen) = split('=');
            let version = version(seen).expect("a row that is returned is there");
            statement.uses.entry(row(of).table).or_default();
            statement.output.get_or_insert_default().insert((row(of), version));
        }
        "writes" => {
            let (of, change) = split(':');
            let (before, after) = change.split_once('>').expect("what was there, and what is there now");
            statement.writes.push(Write { row: row(of), before: version(before), after: version(after) });
        }
        "probes" => {
            let (constraint, value) = split('=');
            let value = vec![Value::int(value.parse().expect("a key is a number"))];
            statement.probes.insert(Probe { constraint: constraint.into(), value });
        }
        "lookups" => {
            statement.lookups.insert(word.into());
        }
        _ => panic!("{word}: what for?"),
    }
}
