//! Matrices of anomalies and levels, as text and as Markdown.

use std::fmt::Write as _;

use super::super::model::levels::{AnomalyReport, CellReport, LevelsReport, MatrixReport, ReactionReport};
use super::line::{Line, Role};
use super::page::Page;
use super::table::Table;

const INDENT: usize = 2;

/// The whole report.
pub(crate) fn write(page: &mut Page, report: &LevelsReport) {
    for matrix in &report.targets {
        page.heading(title(matrix));
        write_matrix(page, matrix);
    }
    page.gap();
    let legend = "allowed: the anomaly happens. Prevented: refused b (b gets an error), waits b (b waits until the danger \
                  is over), versions (everybody goes on, and sees other versions of the rows).";
    page.paragraph(&Line::new(Role::Faint, legend), 0, 0);
}

fn title(matrix: &MatrixReport) -> String {
    format!("{} {}", matrix.target, matrix.version)
}

fn write_matrix(page: &mut Page, matrix: &MatrixReport) {
    // Where there is not room for all, the canonical names are enough.
    let with_names = table(matrix, true);
    let fits = with_names.total_width() + INDENT <= page.width();
    let table = if fits { with_names } else { table(matrix, false) };
    table.write(page, INDENT);
    for note in notes(matrix) {
        page.paragraph(&Line::new(Role::Wait, note), INDENT, 2 * INDENT);
    }
}

fn table(matrix: &MatrixReport, with_names: bool) -> Table {
    let mut header = if with_names { vec!["anomaly", ""] } else { vec!["anomaly"] };
    header.extend(matrix.levels.iter().map(String::as_str));
    let mut table = Table::new(&header);
    for row in &matrix.rows {
        let mut cells = vec![Line::new(Role::Strong, row.anomaly.as_str())];
        if with_names {
            cells.push(Line::plain(row.name.as_str()));
        }
        cells.extend(row.cells.iter().map(|cell| Line::new(role(cell), words(cell))));
        table.rows.push(cells);
    }
    table
}

/// What a cell says.
fn words(cell: &CellReport) -> String {
    let said = match &cell.reaction {
        ReactionReport::Allowed => "allowed".to_string(),
        ReactionReport::Refused { session, .. } => format!("refused {session}"),
        ReactionReport::Waited { session } => format!("waits {session}"),
        ReactionReport::Versions => "versions".to_string(),
        ReactionReport::Failed { .. } => "failed".to_string(),
    };
    if cell.news { said + " !" } else { said }
}

fn role(cell: &CellReport) -> Role {
    match cell.reaction {
        ReactionReport::Allowed => Role::Bad,
        ReactionReport::Failed { .. } => Role::Wait,
        _ => Role::Good,
    }
}

/// What a cell is too small to say: contradictions to what is known, and failures.
fn notes(matrix: &MatrixReport) -> Vec<String> {
    let at = |row: &AnomalyReport, column: usize| format!("{} at {}", row.anomaly, matrix.levels[column]);
    let mut notes = Vec::new();
    for row in &matrix.rows {
        for (column, cell) in row.cells.iter().enumerate() {
            if cell.news {
                notes.push(format!("! {}: not what txloom knows of this level", at(row, column)));
            }
            if let ReactionReport::Failed { why } = &cell.reaction {
                notes.push(format!("{} could not be run: {why}", at(row, column)));
            }
        }
    }
    notes
}

/// The report as Markdown tables, for documents and issues.
pub(crate) fn markdown(report: &LevelsReport) -> String {
    let mut text = String::new();
    for matrix in &report.targets {
        let levels = matrix.levels.join(" | ");
        let rule = "---|".repeat(matrix.levels.len() + 1);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "### {}\n\n| anomaly | {levels} |\n|{rule}", title(matrix));
        for row in &matrix.rows {
            let bold = |cell: &CellReport| match cell.reaction {
                ReactionReport::Allowed => format!("**{}**", words(cell)),
                _ => words(cell),
            };
            let cells: Vec<String> = row.cells.iter().map(bold).collect();
            let _ = writeln!(text, "| {} ({}) | {} |", row.anomaly, row.name, cells.join(" | "));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::{Body, Report};
    use crate::report::{json, text};

    fn report() -> LevelsReport {
        let session = || "b".to_string();
        let cell = |reaction, news| CellReport { reaction, news };
        let row = |anomaly: &str, name: &str, cells| AnomalyReport {
            anomaly: anomaly.to_string(),
            name: name.to_string(),
            case: "anomalies/x.sql".to_string(),
            cells,
        };
        let refused = ReactionReport::Refused { session: session(), class: "deadlock".to_string() };
        let failed = ReactionReport::Failed { why: "no such table".to_string() };
        LevelsReport {
            targets: vec![MatrixReport {
                target: "toy".to_string(),
                version: "1.0".to_string(),
                levels: vec!["weak".to_string(), "strong".to_string()],
                rows: vec![
                    row("G0", "dirty write", vec![cell(ReactionReport::Allowed, true), cell(refused, false)]),
                    row("P4", "lost update", vec![cell(ReactionReport::Versions, false), cell(failed, false)]),
                ],
            }],
        }
    }

    fn print(width: usize) -> String {
        let options = text::TextOptions { width, color: false, ..text::TextOptions::default() };
        text::print(&Report::new(Body::Levels(report())), &options)
    }

    #[test]
    fn a_matrix_is_a_table_and_what_is_new_is_said() {
        let printed = print(80);
        for line in [
            "  anomaly               weak       strong\n",
            "  G0       dirty write  allowed !  refused b\n",
            "  P4       lost update  versions   failed\n",
            "  ! G0 at weak: not what txloom knows of this level\n",
            "  P4 at strong could not be run: no such table\n",
        ] {
            assert!(printed.contains(line), "{printed}");
        }
    }

    #[test]
    fn a_narrow_one_does_without_the_friendly_names() {
        assert!(print(34).contains("  G0       allowed !  refused b\n"), "{}", print(34));
    }

    #[test]
    fn markdown_and_json_say_the_same() {
        assert!(markdown(&report()).contains("| G0 (dirty write) | **allowed !** | refused b |\n"));
        let whole = Report::new(Body::Levels(report()));
        assert_eq!(json::parse(&json::print(&whole)).unwrap(), whole);
    }
}
