//! A page: lines that are collected, wrapped to the width, and painted at the end.

use unicode_width::UnicodeWidthStr;

use super::line::{Line, Role};

/// Narrower than this, nothing can be laid out: such a terminal has to scroll sideways.
const WIDTH_MIN: usize = 20;

/// What will be printed.
pub(crate) struct Page {
    width: usize,
    lines: Vec<Line>,
}

impl Page {
    /// An empty page of a width.
    pub(crate) fn new(width: usize) -> Page {
        Page { width: width.max(WIDTH_MIN), lines: Vec::new() }
    }

    /// How many columns a line may take.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Adds a line as it is.
    pub(crate) fn line(&mut self, line: Line) {
        self.lines.push(line);
    }

    /// Adds an empty line, unless the page is empty or ends with one.
    pub(crate) fn gap(&mut self) {
        if self.lines.last().is_some_and(|last| last.width() > 0) {
            self.lines.push(Line::default());
        }
    }

    /// Adds a line, wrapped; all parts are indented, and those after the first by `hanging` more.
    pub(crate) fn paragraph(&mut self, line: &Line, indent: usize, hanging: usize) {
        let room = self.width.saturating_sub(indent).max(1);
        self.lines.extend(line.wrap(room, hanging).iter().map(|part| part.indented(indent)));
    }

    /// Adds a heading, with a gap above it.
    pub(crate) fn heading(&mut self, text: impl Into<String>) {
        self.gap();
        self.paragraph(&Line::new(Role::Strong, text), 0, 2);
    }

    /// Adds `name  value` lines, values aligned and wrapped below themselves.
    pub(crate) fn pairs(&mut self, pairs: &[(&str, Line)]) {
        let widest = pairs.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
        for (name, value) in pairs {
            let mut line = Line::new(Role::Faint, *name).padded(widest + 2);
            line.extend(value);
            self.paragraph(&line, 2, widest + 2);
        }
    }

    /// The text of the page.
    pub(crate) fn paint(&self, color: bool) -> String {
        let mut out = String::new();
        for line in &self.lines {
            line.paint(color, &mut out);
            out.push('\n');
        }
        out
    }
}
