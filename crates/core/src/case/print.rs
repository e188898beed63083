//! From a case to text, in canonical form: reading what is printed gives the same case.

use std::fmt::Write;

use crate::case::{Case, Expectation, FORMAT_VERSION, Item, Line};
use crate::sql;

/// Prints a case file.
pub fn print(case: &Case) -> String {
    let mut text = format!("-- @case {FORMAT_VERSION}\n");
    let mut above = None;
    for entry in &case.entries {
        print_prose(&mut text, &entry.prose, above);
        print_line(&mut text, &entry.line);
        above = Some(&entry.line);
    }
    print_prose(&mut text, &case.epilogue, above);
    text
}

fn print_prose(text: &mut String, prose: &[String], above: Option<&Line>) {
    if !prose.is_empty() && above.is_some_and(swallows_remarks) {
        text.push_str("-- @\n");
    }
    for line in prose.iter().flat_map(|line| line.split('\n')) {
        // A remark must not turn into a directive or an expectation.
        let space = if line.starts_with(" @") || line.starts_with(" >") { " " } else { "" };
        let _ = writeln!(text, "--{space}{line}");
    }
}

/// Whether a remark below this line would become part of its statement, whose string or comment is never closed.
fn swallows_remarks(line: &Line) -> bool {
    match line {
        Line::Init(sql, expectations) | Line::Step(_, Item::Sql(sql), expectations) => {
            expectations.is_empty() && !sql::is_finished(sql.as_str())
        }
        _ => false,
    }
}

fn print_line(text: &mut String, line: &Line) {
    // Writing to a String cannot fail.
    let _ = match line {
        Line::Isolation(None, level) => writeln!(text, "-- @isolation {level}"),
        Line::Isolation(Some(session), level) => writeln!(text, "-- @isolation {session} {level}"),
        Line::Node(session, node) => writeln!(text, "-- @node {session} {node}"),
        Line::First(session) => writeln!(text, "-- @first {session}"),
        Line::Program(path) => writeln!(text, "-- @program {path}"),
        Line::Anomaly(name) => writeln!(text, "-- @anomaly {name}"),
        Line::Schedule(schedule) => writeln!(text, "-- @schedule {schedule}"),
        Line::Assert(assert) => writeln!(text, "-- @assert {assert}"),
        Line::Final(expected) => {
            let guard = expected.guard.as_ref().map(|guard| format!("{guard} ")).unwrap_or_default();
            writeln!(text, "-- @final {guard}{} {}", expected.table, super::expect::print_rows(&expected.rows))
        }
        Line::Event(event) => writeln!(text, "-- @{event}"),
        Line::Init(sql, expectations) => {
            let _ = writeln!(text, "/*init*/ {};", sql.as_str());
            print_expectations(text, expectations)
        }
        Line::Step(session, item, expectations) => {
            let _ = match item {
                Item::Sql(sql) => writeln!(text, "/*{session}*/ {};", sql.as_str()),
                Item::Call(call) => writeln!(text, "/*{session}*/ -- call {call}"),
            };
            print_expectations(text, expectations)
        }
    };
}

fn print_expectations(text: &mut String, expectations: &[Expectation]) -> std::fmt::Result {
    expectations.iter().try_for_each(|expectation| writeln!(text, "-- > {expectation}"))
}
