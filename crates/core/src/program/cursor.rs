//! The tokens of a program, with a position among them: what the parser looks at.

use std::rc::Rc;

use crate::program::ir::Span;
use crate::program::parse::ProgramSyntaxError;
use crate::sql::{self, Token, TokenKind};

/// The result of parsing something.
pub(in crate::program) type Parsed<T> = Result<T, ProgramSyntaxError>;

/// A source text as tokens, read from left to right.
#[derive(Clone)]
pub(in crate::program) struct Cursor<'a> {
    source: &'a str,
    tokens: Vec<Token<'a>>,
    at: usize,
    /// The first byte of each line.
    lines: Rc<[usize]>,
}

impl<'a> Cursor<'a> {
    pub(in crate::program) fn new(source: &'a str) -> Cursor<'a> {
        let lines = std::iter::once(0).chain(source.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Cursor { source, tokens: sql::tokens(source), at: 0, lines }
    }

    /// Tokens of a source whose lines are known.
    pub(in crate::program) fn within(source: &'a str, tokens: Vec<Token<'a>>, lines: Rc<[usize]>) -> Cursor<'a> {
        Cursor { source, tokens, at: 0, lines }
    }

    /// The tokens that come next, all of them.
    pub(in crate::program) fn rest(&self) -> &[Token<'a>] {
        &self.tokens[self.at..]
    }

    /// Some of the tokens that come next, as a cursor of their own; this one goes on behind them.
    pub(in crate::program) fn split(&mut self, length: usize) -> Cursor<'a> {
        let end = (self.at + length).min(self.tokens.len());
        let tokens = self.tokens[self.at..end].to_vec();
        self.at = end;
        Cursor { source: self.source, tokens, at: 0, lines: self.lines.clone() }
    }

    pub(in crate::program) fn source(&self) -> &'a str {
        self.source
    }

    /// The next token, if there is one.
    pub(in crate::program) fn peek(&self) -> Option<&Token<'a>> {
        self.peek_at(0)
    }

    /// The token after `ahead` others.
    pub(in crate::program) fn peek_at(&self, ahead: usize) -> Option<&Token<'a>> {
        self.tokens.get(self.at + ahead)
    }

    pub(in crate::program) fn advance(&mut self) -> Option<Token<'a>> {
        let token = self.tokens.get(self.at).cloned();
        self.at += usize::from(token.is_some());
        token
    }

    pub(in crate::program) fn is_word(&self, word: &str) -> bool {
        self.peek().is_some_and(|token| token.is_word(word))
    }

    pub(in crate::program) fn is_symbol(&self, symbol: &str) -> bool {
        self.peek().is_some_and(|token| token.is_symbol(symbol))
    }

    pub(in crate::program) fn accept_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    pub(in crate::program) fn accept_symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        self.at += usize::from(found);
        found
    }

    pub(in crate::program) fn expect_word(&mut self, word: &str, place: &str) -> Parsed<()> {
        if self.accept_word(word) { Ok(()) } else { Err(self.unexpected(&format!("{word} {place}"))) }
    }

    pub(in crate::program) fn expect_symbol(&mut self, symbol: &str, place: &str) -> Parsed<()> {
        if self.accept_symbol(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}` {place}"))) }
    }

    /// Where the next token begins (the end of the source if there is none).
    pub(in crate::program) fn start(&self) -> usize {
        self.peek().map_or(self.source.len(), |token| token.span.start)
    }

    /// From `start` to the end of the last token that was read.
    pub(in crate::program) fn span_from(&self, start: usize) -> Span {
        let end = self.at.checked_sub(1).map_or(start, |last| self.tokens[last].span.end.max(start));
        self.span(start, end)
    }

    pub(in crate::program) fn span(&self, start: usize, end: usize) -> Span {
        Span { start, end, line: self.line_at(start) }
    }

    /// The line that holds a byte, from 1.
    fn line_at(&self, offset: usize) -> usize {
        self.lines.partition_point(|start| *start <= offset)
    }

    /// `expected …, found …`, at the next token.
    pub(in crate::program) fn unexpected(&self, expected: &str) -> ProgramSyntaxError {
        let found = match self.peek() {
            None => "the end of the file".to_string(),
            Some(token) if token.kind == TokenKind::String => format!("the string {}", shortened(token.text)),
            Some(token) => format!("`{}`", shortened(token.text)),
        };
        self.error_at(self.start(), format!("expected {expected}, found {found}"))
    }

    /// An error at a byte of the source.
    pub(in crate::program) fn error_at(&self, offset: usize, message: String) -> ProgramSyntaxError {
        let line = self.line_at(offset);
        let start = self.lines[line - 1];
        let text = self.source[start..].lines().next().unwrap_or("").to_string();
        let column = self.source[start..offset].chars().count() + 1;
        let token = self.tokens.iter().find(|token| token.span.end > offset && token.span.start <= offset);
        let span = self.span(offset, token.map_or(offset, |token| token.span.end));
        ProgramSyntaxError { line, column, message, text, span }
    }
}

/// The first line of a token, cut if it is long: error messages show the whole line anyway.
fn shortened(text: &str) -> String {
    const LENGTH_MAX: usize = 30;
    let line = text.lines().next().unwrap_or("");
    match line.char_indices().nth(LENGTH_MAX) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None if line.len() < text.len() => format!("{line}…"),
        None => line.to_string(),
    }
}
