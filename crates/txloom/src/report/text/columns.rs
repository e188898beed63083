//! The interleaving in columns: one per session, time runs down.

use unicode_width::UnicodeWidthStr;

use super::super::model::trace::TraceReport;
use super::line::{Line, Role};
use super::moments::{Moment, Said};

/// A column that has to be narrower than this is no longer read easily.
pub(crate) const COLUMN_MIN: usize = 24;

/// A column is not made narrower than this, however little there is to say: an interleaving looks like one.
const COLUMN_WANTED: usize = 16;

/// A column is not made wider than this, however wide the terminal is.
const COLUMN_MAX: usize = 72;

/// Between two columns.
const SEPARATOR: &str = " │ ";

/// Lays the moments out; `None` if the columns would be too narrow.
pub(crate) fn lay_out(trace: &TraceReport, moments: &[Moment], width: usize) -> Option<Vec<Line>> {
    let gutter = Gutter::new(trace);
    let separators = SEPARATOR.chars().count() * trace.sessions.len().saturating_sub(1);
    let room = width.checked_sub(gutter.width + separators)?;
    let widths = share(&natural_widths(trace, moments), room)?;
    let names: Vec<Line> = trace.sessions.iter().map(|s| Line::new(Role::Strong, s.name.as_str())).collect();
    let mut lines = vec![row(&gutter.blank(), &names, &widths), rule(&gutter, &widths)];
    for moment in moments {
        match moment.session {
            Some(session) => lines.extend(in_column(&gutter, moment, session, &widths)),
            None => lines.extend(across(&gutter, moment, width)),
        }
    }
    Some(lines)
}

/// How wide each column is when nothing wraps.
fn natural_widths(trace: &TraceReport, moments: &[Moment]) -> Vec<usize> {
    let widest = |session: usize| {
        let said = moments.iter().filter(|moment| moment.session == Some(session)).flat_map(|moment| &moment.said);
        said.map(Said::width).max().unwrap_or(0)
    };
    let name = |at: usize| Line::plain(trace.sessions[at].name.as_str()).width();
    (0..trace.sessions.len()).map(|at| widest(at).max(name(at)).clamp(COLUMN_WANTED, COLUMN_MAX)).collect()
}

/// Shares the room: a column that needs less than its fair part takes what it needs and leaves the rest to the others.
fn share(natural: &[usize], room: usize) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..natural.len()).collect();
    order.sort_by_key(|&column| natural[column]);
    let mut widths = vec![0; natural.len()];
    let mut left = room;
    for (taken, &column) in order.iter().enumerate() {
        let fair = left / (natural.len() - taken);
        widths[column] = natural[column].min(fair);
        if widths[column] < natural[column].min(COLUMN_MIN) {
            return None;
        }
        left -= widths[column];
    }
    Some(widths)
}

fn in_column(gutter: &Gutter, moment: &Moment, session: usize, widths: &[usize]) -> Vec<Line> {
    let mut lines = Vec::new();
    for said in &moment.said {
        let room = widths[session].saturating_sub(said.indent);
        for part in said.line.wrap(room, said.hanging) {
            let left = if lines.is_empty() { gutter.beside(moment) } else { gutter.blank() };
            let cells: Vec<Line> = (0..widths.len())
                .map(|at| if at == session { part.indented(said.indent) } else { Line::default() })
                .collect();
            lines.push(row(&left, &cells, widths));
        }
    }
    lines
}

/// What concerns all sessions stands across the columns.
fn across(gutter: &Gutter, moment: &Moment, width: usize) -> Vec<Line> {
    let room = width.saturating_sub(gutter.width);
    let parts = moment.said.iter().flat_map(|said| said.line.wrap(room, said.hanging));
    parts.map(|part| part.indented(gutter.width)).collect()
}

fn row(gutter: &Line, cells: &[Line], widths: &[usize]) -> Line {
    let mut line = gutter.clone();
    for (at, (cell, width)) in cells.iter().zip(widths).enumerate() {
        if at > 0 {
            line.push(Role::Faint, SEPARATOR);
        }
        line.extend(&cell.clone().padded(*width));
    }
    line
}

fn rule(gutter: &Gutter, widths: &[usize]) -> Line {
    let mut rule = format!(" {}", "─".repeat(gutter.width - 1));
    for (at, width) in widths.iter().enumerate() {
        if at > 0 {
            rule.push_str("─┼─");
        }
        rule.push_str(&"─".repeat(*width));
    }
    Line::new(Role::Faint, rule)
}

/// The names of steps at the left.
pub(crate) struct Gutter {
    name_width: usize,
    /// How many columns it takes.
    pub(crate) width: usize,
}

impl Gutter {
    /// A gutter that has room for the names of all steps.
    pub(crate) fn new(trace: &TraceReport) -> Gutter {
        let name_width = trace.steps.iter().map(|step| step.name.width()).max().unwrap_or(0).max(2);
        Gutter { name_width, width: name_width + 4 }
    }

    /// The gutter beside the first line of a moment: the step's name, and a mark if it is not as expected.
    pub(crate) fn beside(&self, moment: &Moment) -> Line {
        if moment.step.is_none() {
            return self.blank();
        }
        let mark = if moment.marked { Line::new(Role::Bad, "✗") } else { Line::plain(" ") };
        mark.with(Role::Faint, format!(" {:<width$}  ", moment.name, width = self.name_width))
    }

    /// The gutter beside all other lines.
    pub(crate) fn blank(&self) -> Line {
        Line::plain(" ".repeat(self.width))
    }
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn room_is_shared_fairly() {
        assert_eq!(share(&[30, 40], 100), Some(vec![30, 40]));
        assert_eq!(share(&[70, 70], 100), Some(vec![50, 50]));
        assert_eq!(share(&[70, 10, 70], 100), Some(vec![45, 10, 45]));
        assert_eq!(share(&[10, 10], 24), Some(vec![10, 10]));
        assert_eq!(share(&[60, 60], 47), None);
        assert_eq!(share(&[], 10), Some(vec![]));
    }
}
