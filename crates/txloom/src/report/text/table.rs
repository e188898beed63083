//! Small tables: a header, a rule, rows.

use super::super::model::cell::Cell;
use super::super::model::trace::TableReport;
use super::answer::{cell, tuple};
use super::line::{Line, Role};
use super::page::Page;
use txloom_core::value::Value;

/// So many rows of a table are shown; JSON has all of them.
const ROWS_MAX: usize = 20;

/// Between two columns.
const GAP: usize = 2;

/// A last column is wrapped rather than made narrower than this.
const LAST_COLUMN_MIN: usize = 20;

/// A table whose last column may be wrapped.
pub(crate) struct Table {
    /// The names of the columns.
    pub(crate) header: Vec<String>,
    /// The cells.
    pub(crate) rows: Vec<Vec<Line>>,
    /// The columns that are aligned at their right edge.
    pub(crate) right: Vec<bool>,
}

impl Table {
    /// A table without rows, all columns aligned at their left edge.
    pub(crate) fn new(header: &[&str]) -> Table {
        let header: Vec<String> = header.iter().map(ToString::to_string).collect();
        Table { right: vec![false; header.len()], header, rows: Vec::new() }
    }

    fn widths(&self) -> Vec<usize> {
        let header = |column: usize| Line::plain(self.header[column].as_str()).width();
        let widest = |column: usize| self.rows.iter().filter_map(|row| row.get(column)).map(Line::width).max();
        (0..self.header.len()).map(|column| header(column).max(widest(column).unwrap_or(0))).collect()
    }

    /// How wide it is if nothing is wrapped.
    pub(crate) fn total_width(&self) -> usize {
        self.widths().iter().sum::<usize>() + GAP * self.header.len().saturating_sub(1)
    }

    /// Writes the table, indented; the last column takes the room that is left, and wraps.
    pub(crate) fn write(&self, page: &mut Page, indent: usize) {
        let mut widths = self.widths();
        let Some((last, before)) = widths.split_last_mut() else { return };
        let used = indent + before.iter().map(|width| width + GAP).sum::<usize>();
        *last = (*last).min(page.width().saturating_sub(used).max(LAST_COLUMN_MIN));
        let header: Vec<Line> = self.header.iter().map(|name| Line::new(Role::Strong, name.as_str())).collect();
        self.write_row(page, indent, &widths, &header);
        let rule: Vec<Line> = widths.iter().map(|width| Line::new(Role::Faint, "─".repeat(*width))).collect();
        self.write_row(page, indent, &widths, &rule);
        self.rows.iter().for_each(|row| self.write_row(page, indent, &widths, row));
    }

    fn write_row(&self, page: &mut Page, indent: usize, widths: &[usize], cells: &[Line]) {
        let mut line = Line::plain(" ".repeat(indent));
        let Some((last, before)) = cells.split_last() else { return };
        for (at, cell) in before.iter().enumerate() {
            line.extend(&self.aligned(at, cell, widths[at]).padded(widths[at] + GAP));
        }
        let at = before.len();
        let left = line.width();
        for (part_at, part) in last.wrap(widths[at], 0).iter().enumerate() {
            let mut whole = if part_at == 0 { line.clone() } else { Line::plain(" ".repeat(left)) };
            whole.extend(&self.aligned(at, part, widths[at]));
            page.line(whole);
        }
    }

    fn aligned(&self, column: usize, cell: &Line, width: usize) -> Line {
        let shift = if self.right[column] { width.saturating_sub(cell.width()) } else { 0 };
        cell.indented(shift)
    }
}

/// The final contents of a table: as a table where it fits, else row by row.
pub(crate) fn write_contents(page: &mut Page, contents: &TableReport) {
    let more = contents.rows.len().saturating_sub(ROWS_MAX);
    let rows = &contents.rows[..contents.rows.len() - more];
    let is_number = |cell: &Cell| matches!(cell.0, Value::Number(_) | Value::Null);
    let column_is_right = |at: usize| contents.rows.iter().all(|row| row.get(at).is_some_and(is_number));
    let table = Table {
        header: contents.columns.iter().map(|column| column.name.clone()).collect(),
        rows: rows.iter().map(|row| row.iter().map(|value| Line::plain(cell(value))).collect()).collect(),
        right: (0..contents.columns.len()).map(column_is_right).collect(),
    };
    if rows.is_empty() || table.header.is_empty() {
        page.line(Line::plain("  (empty)"));
    } else if table.total_width() + 2 <= page.width() {
        table.write(page, 2);
    } else {
        page.paragraph(&Line::new(Role::Faint, format!("({})", table.header.join(", "))), 2, 2);
        rows.iter().for_each(|row| page.paragraph(&Line::plain(tuple(row)), 2, 2));
    }
    if more > 0 {
        page.line(Line::new(Role::Faint, format!("  … {more} more rows")));
    }
}
