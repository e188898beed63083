//! Parsing of SQL inside a program: text, cut at the variables.

use crate::program::cursor::Parsed;
use crate::program::ir::{IntoClause, IntoRule, Span, SqlPart, SqlStatement, SqlText};
use crate::program::parse::Parser;
use crate::sql::TokenKind;

/// What ends a SQL statement.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum SqlEnd {
    Semicolon,
    /// A closing parenthesis that was not opened inside.
    Parenthesis,
}

impl Parser<'_> {
    /// A statement for the server: its text, cut at the variables.
    pub(super) fn sql(&mut self, end: SqlEnd) -> Parsed<SqlStatement> {
        let mut pieces = Pieces::default();
        let mut copied = self.cursor.start();
        let (mut cases, mut depth) = (0usize, 0usize);
        while let Some(token) = self.cursor.peek().cloned() {
            let closes = end == SqlEnd::Parenthesis && depth == 0 && token.is_symbol(")");
            if token.is_symbol(";") || closes {
                break;
            }
            if token.is_word("END") && cases == 0 {
                let message = "END inside a statement; is a `;` missing before it?".to_string();
                return Err(self.cursor.error_at(token.span.start, message));
            }
            cases = cases + usize::from(token.is_word("CASE")) - usize::from(token.is_word("END"));
            depth = (depth + usize::from(token.is_symbol("("))).saturating_sub(usize::from(token.is_symbol(")")));
            self.check_closed(&token)?;
            let text = self.cursor.span(copied, token.span.start);
            if self.is_into() {
                pieces.targets(self, text)?;
            } else if token.kind == TokenKind::Variable {
                pieces.text(self, text);
                pieces.0.push(SqlPart::Use(self.mention()?));
            } else {
                self.cursor.advance();
                continue;
            }
            copied = self.cursor.span_from(0).end;
        }
        pieces.text(self, self.cursor.span_from(copied));
        Ok(SqlStatement { parts: pieces.0 })
    }

    /// `INTO :a`, or `INTO KEEP :a`, as against `INSERT INTO t`.
    fn is_into(&self) -> bool {
        let is_variable = |at: usize| self.cursor.peek_at(at).is_some_and(|next| next.kind == TokenKind::Variable);
        self.cursor.is_word("INTO") && (is_variable(1) || (self.rule_at(1).is_some() && is_variable(2)))
    }

    fn rule_at(&self, ahead: usize) -> Option<IntoRule> {
        let token = self.cursor.peek_at(ahead)?;
        IntoRule::NAMED.iter().find(|(_, word)| token.is_word(word)).map(|(rule, _)| *rule)
    }
}

/// The parts of a SQL statement, as they are found.
#[derive(Default)]
struct Pieces(Vec<SqlPart>);

impl Pieces {
    /// The source text of a span.
    fn text(&mut self, parser: &Parser<'_>, span: Span) {
        let text = &parser.cursor.source()[span.start..span.end];
        // What follows INTO must not grow together with what stands before it.
        let after_into = matches!(self.0.last(), Some(SqlPart::Into(_)));
        let gap = if after_into && !text.is_empty() && !text.starts_with(char::is_whitespace) { " " } else { "" };
        if !text.is_empty() {
            self.0.push(SqlPart::Text(SqlText { text: format!("{gap}{text}"), lead: gap.len(), span }));
        }
    }

    /// `INTO :a, :b`, with the text before it: the blanks between them belong to neither.
    fn targets(&mut self, parser: &mut Parser<'_>, text: Span) -> Parsed<()> {
        if self.0.iter().any(|part| matches!(part, SqlPart::Into(_))) {
            let message = "a statement can have one INTO with variables".to_string();
            return Err(parser.cursor.error_at(parser.cursor.start(), message));
        }
        let length = parser.cursor.source()[text.start..text.end].trim_end().len();
        self.text(parser, Span { end: text.start + length, ..text });
        parser.cursor.advance();
        let rule = parser.rule_at(0);
        if rule.is_some() {
            parser.cursor.advance();
        }
        let mut variables = vec![parser.mention()?];
        let more = |parser: &Parser<'_>| {
            parser.cursor.is_symbol(",")
                && parser.cursor.peek_at(1).is_some_and(|next| next.kind == TokenKind::Variable)
        };
        while more(parser) {
            parser.cursor.advance();
            variables.push(parser.mention()?);
        }
        self.0.push(SqlPart::Into(IntoClause { variables, rule: rule.unwrap_or_default() }));
        Ok(())
    }
}
