//! A step's answer in words.

use txloom_core::outcome::ErrorClass;

use super::super::model::cell::Cell;
use super::super::model::trace::{ErrorReport, OutcomeReport, Remark, ResultReport, StepReport};
use super::line::{Line, Role};

/// So many rows of a result are shown between the steps.
const ROWS_MAX: usize = 10;

/// Rows that take no more than this stand on one line: it fits into the narrowest column.
const ONE_LINE_MAX: usize = 20;

/// So much of a value is shown; JSON has all of it.
const CELL_WIDTH_MAX: usize = 80;

/// The lines below a step's text. A step that did what it says and returns nothing has none.
pub(crate) fn answer(step: &StepReport) -> Vec<Line> {
    let Some(outcome) = &step.outcome else {
        return vec![Line::new(Role::Bad, "→ no answer: the server died")];
    };
    let mut lines = Vec::new();
    for notice in &outcome.notices {
        lines.push(Line::new(Role::Faint, format!("{}: {}", notice.severity.to_lowercase(), notice.message)));
    }
    for result in &outcome.results {
        lines.extend(result_lines(result));
    }
    lines.extend(error_lines(step, outcome));
    lines.extend(step.remark.map(remark_line));
    lines
}

fn result_lines(result: &ResultReport) -> Vec<Line> {
    let mut lines = if result.columns.is_empty() { Vec::new() } else { row_lines(&result.rows) };
    // What RETURNING gives back is counted already by looking at it.
    let count = result.affected.filter(|count| lines.is_empty() || *count != result.rows.len() as u64);
    lines.extend(count.map(|count| Line::new(Role::Answer, format!("→ {}", rows_changed(count)))));
    lines
}

fn rows_changed(count: u64) -> String {
    if count == 1 { "1 row changed".to_string() } else { format!("{count} rows changed") }
}

fn row_lines(rows: &[Vec<Cell>]) -> Vec<Line> {
    let tuples: Vec<String> = rows.iter().map(|row| tuple(row)).collect();
    let together = tuples.join(" ");
    if rows.is_empty() {
        return vec![Line::new(Role::Answer, "→ (empty)")];
    }
    if rows.len() == 1 || together.chars().count() <= ONE_LINE_MAX {
        return vec![Line::new(Role::Answer, format!("→ {together}"))];
    }
    let shown = if rows.len() > ROWS_MAX { ROWS_MAX - 1 } else { rows.len() };
    let prefix = |at: usize| if at == 0 { "→" } else { " " };
    let row = |(at, tuple): (usize, &String)| Line::new(Role::Answer, format!("{} {tuple}", prefix(at)));
    let mut lines: Vec<Line> = tuples[..shown].iter().enumerate().map(row).collect();
    if shown < rows.len() {
        lines.push(Line::new(Role::Faint, format!("  … {} more rows", rows.len() - shown)));
    }
    lines
}

/// `(1, 'a', NULL)`, as case files write rows.
pub(crate) fn tuple(row: &[Cell]) -> String {
    let cells: Vec<String> = row.iter().map(cell).collect();
    format!("({})", cells.join(", "))
}

/// A value, shortened if it is very long.
pub(crate) fn cell(cell: &Cell) -> String {
    let text = cell.to_string();
    let length = text.chars().count();
    if length <= CELL_WIDTH_MAX {
        return text;
    }
    let start: String = text.chars().take(CELL_WIDTH_MAX - 20).collect();
    format!("{start}… ({length} characters)")
}

fn error_lines(step: &StepReport, outcome: &OutcomeReport) -> Vec<Line> {
    let Some(error) = &outcome.error else { return Vec::new() };
    // That it was cancelled has been told where it happened.
    if ErrorClass::parse(&error.class) == Some(ErrorClass::Cancelled) && step.cancelled.is_some() {
        return Vec::new();
    }
    let mut lines = vec![error_line(error)];
    if ErrorClass::parse(&error.class) == Some(ErrorClass::Deadlock) {
        // The detail speaks of processes and transaction numbers, which mean nothing to a reader.
        let words = format!("  {} was chosen to break the cycle of waits", step.session);
        lines.push(Line::new(Role::Wait, words));
    } else if let Some(detail) = &error.detail {
        lines.push(Line::new(Role::Faint, format!("  {detail}")));
    }
    lines
}

/// `→ error unique: …`, with the words that an expectation would use.
pub(crate) fn error_line(error: &ErrorReport) -> Line {
    Line::new(Role::Bad, format!("→ error {}: ", error.class)).with(Role::Plain, error.message.as_str())
}

fn remark_line(remark: Remark) -> Line {
    match remark {
        Remark::CommitRolledBack => {
            Line::new(Role::Bad, "→ ROLLBACK").with(Role::Plain, ": the server committed nothing")
        }
        Remark::TransactionRolledBack => Line::new(Role::Faint, "  its transaction is rolled back"),
        Remark::TransactionEnded => Line::new(Role::Wait, "  this ended the transaction"),
    }
}
