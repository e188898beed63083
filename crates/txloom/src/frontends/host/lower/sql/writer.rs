//! A statement, put together from pieces of constants and variables, with the place of each.

use std::ops::Range;

use txloom_core::program::{Span, SqlPart, SqlStatement, SqlText, Variable};

use super::marks::Lexer;

/// Puts a statement together.
pub(super) struct Writer {
    parts: Vec<SqlPart>,
    pub(super) lexer: Lexer,
    home: usize,
    whole: Span,
    is_elsewhere: bool,
    /// Whether the rest of a quoted text is left out, because a part of it is not known.
    skips_quote: Option<char>,
}

impl Writer {
    pub(super) fn new(home: usize, whole: Span, is_elsewhere: bool) -> Writer {
        Writer { parts: Vec::new(), lexer: Lexer::Code, home, whole, is_elsewhere, skips_quote: None }
    }

    /// The place of a range of a constant.
    fn place(&self, text: &str, range: &Range<usize>, file: usize, place: Span) -> Span {
        if file != self.home || self.is_elsewhere {
            return self.whole;
        }
        if place.end - place.start != text.len() {
            return place;
        }
        let line = place.line + text[..range.start].matches('\n').count();
        Span { start: place.start + range.start, end: place.start + range.end, line }
    }

    pub(super) fn text(&mut self, text: &str, mut range: Range<usize>, file: usize, place: Span) {
        if let Some(quote) = self.skips_quote.take() {
            match text[range.clone()].find(quote) {
                Some(at) => range.start += at + quote.len_utf8(),
                None => {
                    self.skips_quote = Some(quote);
                    return;
                }
            }
        }
        if range.is_empty() {
            return;
        }
        let span = self.place(text, &range, file, place);
        let piece = &text[range];
        match self.parts.last_mut() {
            Some(SqlPart::Text(last)) => {
                last.text.push_str(piece);
                last.span = if span.end >= last.span.start {
                    Span { end: span.end.max(last.span.end), ..last.span }
                } else {
                    last.span
                };
            }
            last => {
                // `?AND` is two words; `:name` must not grow.
                let is_glued = piece.starts_with(|c: char| c.is_alphanumeric() || c == '_');
                let gap = if is_glued && matches!(last, Some(SqlPart::Use(_))) { " " } else { "" };
                self.parts.push(SqlPart::Text(SqlText { text: format!("{gap}{piece}"), lead: gap.len(), span }));
            }
        }
    }

    pub(super) fn value(&mut self, name: String, text: &str, range: &Range<usize>, file: usize, place: Span) {
        let span = self.place(text, range, file, place);
        self.parts.push(SqlPart::Use(Variable { name, span }));
    }

    /// A piece that is not known; inside quotes, all that is quoted is not known.
    pub(super) fn hole(&mut self, name: String, place: Span) {
        let span = if self.is_elsewhere { self.whole } else { place };
        if self.skips_quote.is_some() {
            return;
        }
        if let Lexer::Quoted(quote) = self.lexer {
            if let Some(SqlPart::Text(last)) = self.parts.last_mut()
                && let Some(at) = last.text.rfind(quote)
            {
                last.text.truncate(at);
                if last.text.is_empty() {
                    self.parts.pop();
                }
            }
            self.skips_quote = Some(quote);
        }
        self.parts.push(SqlPart::Use(Variable { name, span }));
    }

    pub(super) fn finish(mut self) -> SqlStatement {
        if let Some(SqlPart::Text(first)) = self.parts.first_mut() {
            let spaces = first.text.len() - first.text.trim_start().len();
            first.text.drain(..spaces);
            if first.span.end - first.span.start == first.text.len() + spaces {
                first.span.start += spaces;
            }
        }
        if let Some(SqlPart::Text(last)) = self.parts.last_mut() {
            let kept = last.text.trim_end_matches(|c: char| c.is_whitespace() || c == ';').len();
            let cut = last.text.len() - kept;
            if last.span.end - last.span.start == last.text.len() {
                last.span.end -= cut;
            }
            last.text.truncate(kept);
        }
        self.parts.retain(|part| !matches!(part, SqlPart::Text(text) if text.text.is_empty()));
        SqlStatement { parts: self.parts }
    }
}
