//! A case in Markdown, for bug trackers: what was set up, who did what when, what was expected and what came.

use std::fmt::Write;

use super::interleaving::{CannotExport, ExportStep, interleaving};
use crate::case::check::{Mismatch, MismatchAt, check};
use crate::case::{Case, SessionName};
use crate::sql::one_line;
use crate::trace::Trace;

/// Prints a report: of the trace, if there is one, else of what the case expects.
pub fn print(case: &Case, trace: Option<&Trace>) -> Result<String, CannotExport> {
    let schedules = case.schedules();
    let steps = interleaving(case, schedules.first().copied(), trace)?;
    let mut text = String::new();
    if let Some(claim) = case.claim() {
        let _ = writeln!(text, "{}\n", escape(&claim));
    }
    print_engine(&mut text, case, trace);
    let setup: Vec<String> = case.setup().iter().map(|sql| format!("{sql};")).collect();
    if !setup.is_empty() {
        let _ = writeln!(text, "### Setup\n\n{}", code_block(&setup.join("\n")));
    }
    let _ = writeln!(text, "### Interleaving\n\n{}", table(case, &steps, trace));
    if let Some(trace) = trace {
        print_final_state(&mut text, trace);
        print_mismatches(&mut text, &check(case, trace), trace);
    }
    let _ = writeln!(text, "### As a file\n\n{}", code_block(crate::case::print::print(case).trim_end()));
    Ok(text)
}

fn print_engine(text: &mut String, case: &Case, trace: Option<&Trace>) {
    if let Some(trace) = trace {
        let engine = &trace.engine;
        let _ = writeln!(text, "Engine: {} {}  ", engine.family, escape(&engine.version.text));
        let levels: Vec<String> =
            trace.sessions.iter().map(|session| format!("{} ({})", session.level, session.name)).collect();
        let _ = writeln!(text, "Isolation level: {}\n", levels.join(", "));
        return;
    }
    let level = |name: &SessionName| case.level_of(name).map(|level| format!("{level} ({name})"));
    let levels: Vec<String> = case.sessions().iter().filter_map(|session| level(&session.name)).collect();
    if !levels.is_empty() {
        let _ = writeln!(text, "Isolation level: {}\n", levels.join(", "));
    }
}

/// One row per step, one column per session.
fn table(case: &Case, steps: &[ExportStep], trace: Option<&Trace>) -> String {
    let sessions: Vec<SessionName> = case.sessions().into_iter().map(|session| session.name).collect();
    let said = if trace.is_some() { "observed" } else { "expected" };
    let names: Vec<&str> = sessions.iter().map(SessionName::as_str).collect();
    let mut text = format!("| | {} | {said} |\n", names.join(" | "));
    let _ = writeln!(text, "|---:|{}---|", "---|".repeat(sessions.len()));
    for (at, step) in steps.iter().enumerate() {
        let cell =
            |name: &SessionName| if *name == step.session { code_span(&one_line(&step.sql)) } else { String::new() };
        let cells: Vec<String> = sessions.iter().map(cell).collect();
        let said: Vec<String> = step.said.iter().map(|said| escape(said)).collect();
        let _ = writeln!(text, "| {} | {} | {} |", at + 1, cells.join(" | "), said.join("; "));
    }
    text
}

fn print_final_state(text: &mut String, trace: &Trace) {
    let Some(state) = &trace.final_state else { return };
    if state.tables.is_empty() {
        return;
    }
    text.push_str("### Final state\n\n");
    for (name, table) in &state.tables {
        let rows = crate::trace::compare::sorted(trace.engine.dialect.values(table));
        let _ = writeln!(text, "- {}: {}", code_span(name), code_span(&crate::case::expect::print_rows(&rows)));
    }
    text.push('\n');
}

fn print_mismatches(text: &mut String, mismatches: &[Mismatch], trace: &Trace) {
    if mismatches.is_empty() {
        return;
    }
    text.push_str("### Expected, but not seen\n\n");
    for mismatch in mismatches {
        let at = match &mismatch.at {
            MismatchAt::Setup(at) => format!("setup {}", at + 1),
            MismatchAt::Step(id) => format!("step {}", trace.step_name(*id)),
            MismatchAt::Missing(session, item) => format!("item {} of {session}", item + 1),
            MismatchAt::Final(table) => format!("table {}", code_span(table)),
            MismatchAt::Assert(name) => format!("assertion {}", code_span(name)),
        };
        let _ = writeln!(text, "- {at}: expected {}, found {}", escape(&mismatch.expected), escape(&mismatch.found));
    }
    text.push('\n');
}

/// A fence that the text does not hold itself.
fn code_block(text: &str) -> String {
    let mut fence = "```".to_string();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}sql\n{text}\n{fence}\n")
}

/// Code on one line, in a cell of a table: only bars must be escaped there.
fn code_span(text: &str) -> String {
    let text = text.replace('|', "\\|").replace(|c: char| c.is_control(), " ");
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

/// Text in which nothing is markup.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            c if c.is_control() => escaped.push(' '),
            '|' | '*' | '_' | '`' | '<' | '[' | ']' | '\\' | '#' => {
                escaped.push('\\');
                escaped.push(c);
            }
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_becomes_a_table() {
        let text = "-- @case 1\n-- A *lost* update.\n-- @isolation rr\n/*init*/ CREATE TABLE t (a INT);\n\
                    /*a*/ SELECT `a`, '|' FROM t;\n-- > rows (1)\n/*b*/ COMMIT;\n";
        let printed = print(&crate::case::parse(text).unwrap(), None).unwrap();
        for expected in [
            "A \\*lost\\* update.\n",
            "Isolation level: repeatable read (a), repeatable read (b)\n",
            "```sql\nCREATE TABLE t (a INT);\n```\n",
            "| | a | b | expected |\n|---:|---|---|---|\n",
            "| 1 | `` SELECT `a`, '\\|' FROM t `` |  | rows (1) |\n| 2 |  | `COMMIT` |  |\n",
            "/*b*/ COMMIT;\n```\n",
        ] {
            assert!(printed.contains(expected), "`{expected}` is not in\n{printed}");
        }
    }
}
