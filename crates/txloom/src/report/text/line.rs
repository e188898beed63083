//! Styled lines: how wide they are, how they wrap, how they are painted.
//!
//! Text is laid out first and painted last: a [`Line`] carries the *role* of each piece (an error, a name, something
//! secondary), so that wrapping and padding count characters on the screen and never escape codes.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What a piece of text is, for the eye.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Ordinary text.
    Plain,
    /// A name or heading.
    Strong,
    /// Secondary: numbers in the gutter, rules, hints.
    Faint,
    /// An answer of the database.
    Answer,
    /// Waiting and going on.
    Wait,
    /// As it should be.
    Good,
    /// Not as it should be.
    Bad,
}

impl Role {
    fn style(self) -> Style {
        match self {
            Role::Plain => Style::new(),
            Role::Strong => Style::new().bold(),
            Role::Faint => Style::new().dimmed(),
            Role::Answer => AnsiColor::Cyan.on_default(),
            Role::Wait => AnsiColor::Yellow.on_default(),
            Role::Good => AnsiColor::Green.on_default(),
            Role::Bad => AnsiColor::Red.on_default(),
        }
    }
}

/// One line of styled text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Line {
    spans: Vec<(Role, String)>,
}

impl Line {
    /// A line of one piece.
    pub(crate) fn new(role: Role, text: impl Into<String>) -> Line {
        Line::default().with(role, text)
    }

    /// Ordinary text.
    pub(crate) fn plain(text: impl Into<String>) -> Line {
        Line::new(Role::Plain, text)
    }

    /// The line with one more piece.
    pub(crate) fn with(mut self, role: Role, text: impl Into<String>) -> Line {
        self.push(role, text);
        self
    }

    /// Appends a piece. Control characters (a line break in a string, an escape code from a server) become blanks.
    pub(crate) fn push(&mut self, role: Role, text: impl Into<String>) {
        let mut text: String = text.into();
        if text.chars().any(char::is_control) {
            text = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        }
        match self.spans.last_mut() {
            Some((last, tail)) if *last == role => tail.push_str(&text),
            _ if text.is_empty() => {}
            _ => self.spans.push((role, text)),
        }
    }

    /// Appends another line.
    pub(crate) fn extend(&mut self, other: &Line) {
        other.spans.iter().for_each(|(role, text)| self.push(*role, text.as_str()));
    }

    /// How many columns it takes on the screen.
    pub(crate) fn width(&self) -> usize {
        self.spans.iter().map(|(_, text)| text.width()).sum()
    }

    /// The line filled with blanks up to a width.
    pub(crate) fn padded(mut self, width: usize) -> Line {
        let missing = width.saturating_sub(self.width());
        self.push(Role::Plain, " ".repeat(missing));
        self
    }

    /// The line behind so many blanks.
    pub(crate) fn indented(&self, indent: usize) -> Line {
        let mut line = Line::plain(" ".repeat(indent));
        line.extend(self);
        line
    }

    /// Breaks the line at blanks so that every part fits into `width`; all parts but the first are indented by
    /// `hanging`. A word that is too long for a part of its own is cut.
    pub(crate) fn wrap(&self, width: usize, hanging: usize) -> Vec<Line> {
        let hanging = hanging.min(width.saturating_sub(2));
        let mut wrapper = Wrapper { width: width.max(1), hanging, lines: Vec::new(), line: Line::default(), used: 0 };
        for word in self.words() {
            wrapper.add(&word);
        }
        wrapper.lines.push(wrapper.line);
        wrapper.lines
    }

    /// The pieces between which the line may break: alternately blanks and non-blanks. A word may change its role.
    fn words(&self) -> Vec<Word> {
        let mut words: Vec<Word> = Vec::new();
        for (role, text) in &self.spans {
            for c in text.chars() {
                let blank = c == ' ';
                match words.last_mut() {
                    Some(word) if word.blank == blank => word.push(*role, c),
                    _ => words.push(Word::new(blank, *role, c)),
                }
            }
        }
        words
    }

    /// The text alone.
    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        self.spans.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// Writes the line without blanks at its end, with escape codes if colours are wanted.
    pub(crate) fn paint(&self, color: bool, out: &mut String) {
        let plain_end = self.spans.iter().rposition(|(_, text)| !text.trim_end().is_empty()).map_or(0, |at| at + 1);
        for (at, (role, text)) in self.spans[..plain_end].iter().enumerate() {
            let text = if at + 1 == plain_end { text.trim_end() } else { text.as_str() };
            let style = role.style();
            // Writing to a string cannot fail.
            let _ = if color { write!(out, "{style}{text}{style:#}") } else { write!(out, "{text}") };
        }
    }
}

struct Word {
    blank: bool,
    width: usize,
    spans: Vec<(Role, String)>,
}

impl Word {
    fn new(blank: bool, role: Role, c: char) -> Word {
        Word { blank, width: c.width().unwrap_or(0), spans: vec![(role, c.to_string())] }
    }

    fn push(&mut self, role: Role, c: char) {
        self.width += c.width().unwrap_or(0);
        match self.spans.last_mut() {
            Some((last, text)) if *last == role => text.push(c),
            _ => self.spans.push((role, c.to_string())),
        }
    }
}

/// Fills lines greedily.
struct Wrapper {
    width: usize,
    hanging: usize,
    lines: Vec<Line>,
    line: Line,
    used: usize,
}

impl Wrapper {
    fn add(&mut self, word: &Word) {
        if self.used + word.width <= self.width {
            word.spans.iter().for_each(|(role, text)| self.line.push(*role, text.as_str()));
            self.used += word.width;
        } else if word.blank {
            self.start_line();
        } else if self.hanging + word.width <= self.width {
            self.start_line();
            self.add(word);
        } else {
            self.cut(word);
        }
    }

    /// Spreads a word that fits nowhere over as many lines as it takes.
    fn cut(&mut self, word: &Word) {
        for (role, text) in &word.spans {
            for c in text.chars() {
                let width = c.width().unwrap_or(0);
                if self.used + width > self.width && self.used > self.hanging {
                    self.start_line();
                }
                self.line.push(*role, c.to_string());
                self.used += width;
            }
        }
    }

    /// Ends the line, unless nothing stands on it yet.
    fn start_line(&mut self) {
        if self.used <= self.hanging && !self.lines.is_empty() {
            return;
        }
        let indent = Line::plain(" ".repeat(self.hanging));
        self.lines.push(std::mem::replace(&mut self.line, indent));
        self.used = self.hanging;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, width: usize, hanging: usize, expect: &[&str]) {
        let lines: Vec<String> =
            Line::plain(text).wrap(width, hanging).iter().map(|l| l.text().trim_end().to_string()).collect();
        assert_eq!(lines, expect, "{text}");
    }

    #[test]
    fn lines_break_at_blanks() {
        check("SELECT v FROM t", 9, 2, &["SELECT v", "  FROM t"]);
        check("SELECT v FROM t", 15, 2, &["SELECT v FROM t"]);
        check("", 10, 2, &[""]);
        check("ab cd", 2, 0, &["ab", "cd"]);
    }

    #[test]
    fn long_words_are_cut() {
        check("abcdefgh", 3, 0, &["abc", "def", "gh"]);
        check("x abcdefgh", 4, 1, &["x ab", " cde", " fgh"]);
        check("abc", 1, 5, &["a", "b", "c"]);
    }

    #[test]
    fn wide_characters_take_two_columns() {
        check("日本 語", 4, 0, &["日本", "語"]);
        check("日本語", 4, 0, &["日本", "語"]);
        assert_eq!(Line::plain("日本").padded(6).width(), 6);
    }

    #[test]
    fn control_characters_cannot_reach_the_terminal() {
        assert_eq!(Line::plain("a\u{1b}[31mb\nc").text(), "a [31mb c");
    }

    #[test]
    fn colours_are_painted_only_when_wanted() {
        let line = Line::plain("x ").with(Role::Bad, "error").padded(20);
        let mut plain = String::new();
        line.paint(false, &mut plain);
        assert_eq!(plain, "x error");
        let mut painted = String::new();
        line.paint(true, &mut painted);
        assert_eq!(painted, "x \u{1b}[31merror\u{1b}[0m");
    }

    proptest! {
        #[test]
        fn wrapping_keeps_to_the_width_and_loses_only_blanks(
            text in "[ a-z日語é]{0,60}", width in 0..30usize, hanging in 0..34usize,
        ) {
            let lines = Line::plain(text.as_str()).wrap(width, hanging);
            let kept: String = lines.iter().map(Line::text).collect();
            prop_assert_eq!(kept.replace(' ', ""), text.replace(' ', ""));
            for line in lines {
                prop_assert!(line.width() <= width.max(2), "{}", line.text());
            }
        }
    }
}
