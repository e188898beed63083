//! The interleaving line by line, for narrow terminals: `a> BEGIN`.

use unicode_width::UnicodeWidthStr;

use super::super::model::trace::TraceReport;
use super::columns::Gutter;
use super::line::{Line, Role};
use super::moments::Moment;

/// Lays the moments out, whatever the width.
pub(crate) fn lay_out(trace: &TraceReport, moments: &[Moment], width: usize) -> Vec<Line> {
    let gutter = Gutter::new(trace);
    let name_width = trace.sessions.iter().map(|session| session.name.width()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for moment in moments {
        let name = moment.session.map_or("", |at| trace.sessions[at].name.as_str());
        let prompt = if name.is_empty() { String::new() } else { format!("{name:>name_width$}> ") };
        let first = lines.len();
        for said in &moment.said {
            let room = width.saturating_sub(gutter.width + prompt.width() + said.indent).max(1);
            for part in said.line.wrap(room, said.hanging) {
                let left = if lines.len() == first { gutter.beside(moment) } else { gutter.blank() };
                let mut line = left.with(Role::Strong, prompt.as_str());
                line.extend(&part.indented(said.indent));
                lines.push(line);
            }
        }
    }
    lines
}
