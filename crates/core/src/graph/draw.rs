//! A graph as text: first the statements, by transaction, then who had to run before whom, and why.
//!
//! ```text
//!   T1
//!     a2 * UPDATE t SET v = 1
//!   T2
//!     b2 * SELECT * FROM t
//!     b3   SELECT * FROM u
//!
//!   a2 → b2  predicate-read t(2) v5
//!   b2 → a2  item-anti t(1) v0→v5, predicate-anti
//!
//!   * on a cycle; a shortest one: a2 → b2 → a2
//! ```
//!
//! Evidence that is the same as that of the kind before it is not repeated.

use super::isolation::name;
use super::{Edge, Graph, Probe, Row, Version};
use crate::schedule::StepRef;
use crate::sql::one_line;

/// No line is longer, in characters.
const COLUMNS_MAX: usize = 100;

/// Draws a graph; `text` tells the SQL of a statement.
pub fn draw(graph: &Graph, text: &dyn Fn(&StepRef) -> String) -> Vec<String> {
    if graph.statements.is_empty() {
        return vec!["no statements".to_string()];
    }
    let mut lines = statements(graph, text);
    lines.push(String::new());
    lines.extend(dependencies(graph));
    if let Some(cycle) = graph.shortest_cycle() {
        let path = cycle.iter().chain(cycle.first()).map(|at| label(graph, *at)).collect::<Vec<_>>().join(" → ");
        lines.extend([String::new(), format!("* on a cycle; a shortest one: {path}")]);
    }
    lines.into_iter().map(|line| shortened(&line, COLUMNS_MAX)).collect()
}

fn label(graph: &Graph, at: usize) -> String {
    graph.statements[at].step.to_string()
}

fn statements(graph: &Graph, text: &dyn Fn(&StepRef) -> String) -> Vec<String> {
    let on_cycles = graph.cyclic().concat();
    let width = (0..graph.statements.len()).map(|at| label(graph, at).chars().count()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (transaction, members) in graph.transactions() {
        lines.push(name(transaction));
        for at in members {
            let mark = if on_cycles.contains(&at) { '*' } else { ' ' };
            let sql = one_line(&text(&graph.statements[at].step));
            let line = format!("  {:width$} {mark} {sql}", label(graph, at));
            lines.push(line.trim_end().to_string());
        }
    }
    lines
}

/// One line for every two statements, with all reasons.
fn dependencies(graph: &Graph) -> Vec<String> {
    let pair = |edge: &Edge| format!("{} → {}", label(graph, edge.from), label(graph, edge.to));
    let width = graph.edges.iter().map(|edge| pair(edge).chars().count()).max().unwrap_or(0);
    if graph.edges.is_empty() {
        return vec!["no dependencies".to_string()];
    }
    let is_same = |first: &Edge, second: &Edge| (first.from, first.to) == (second.from, second.to);
    let line = |edges: &[Edge]| {
        let mut last = String::new();
        let mut reasons = Vec::new();
        for edge in edges {
            let evidence = evidence(graph, edge);
            let is_new = !evidence.is_empty() && evidence != last;
            let what = if is_new { format!(" {evidence}") } else { String::new() };
            reasons.push(format!("{}{what}", edge.kind.name()));
            last = evidence;
        }
        format!("{:width$}  {}", pair(&edges[0]), reasons.join(", "))
    };
    graph.edges.chunk_by(is_same).map(line).collect()
}

/// One or two pieces of evidence, or one and how many more there are.
fn evidence(graph: &Graph, edge: &Edge) -> String {
    let rows = edge.rows.iter().map(|(row, version)| version_in(graph, edge, row, *version));
    let all: Vec<String> = rows.chain(edge.probes.iter().map(probe)).collect();
    match all.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first, second] => format!("{first} and {second}"),
        [first, more @ ..] => format!("{first} and {} more", more.len()),
    }
}

/// `t(1) v5` if the later statement met it, `t(1) v0→v5` if it replaced it.
fn version_in(graph: &Graph, edge: &Edge, row: &Row, version: Version) -> String {
    let shown = |version: Version, absent: &str| version.map_or_else(|| absent.to_string(), |v| format!("v{v}"));
    let writes = &graph.statements[edge.to].writes;
    match writes.iter().find(|write| write.row == *row && write.before == version) {
        Some(write) => format!("{row} {}→{}", shown(version, "unborn"), shown(write.after, "dead")),
        None => format!("{row} {}", shown(version, "dead")),
    }
}

fn probe(probe: &Probe) -> String {
    let value: Vec<String> = probe.value.iter().map(ToString::to_string).collect();
    format!("{}({})", probe.constraint, value.join(", "))
}

fn shortened(line: &str, columns_max: usize) -> String {
    if line.chars().count() <= columns_max {
        return line.to_string();
    }
    let kept: String = line.chars().take(columns_max - 1).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests;
