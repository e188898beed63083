//! SQL text that knows where it comes from, and the syntax tree of it.
//!
//! A statement of a program is text with holes. To be parsed it is put together: `:name` for each hole, nothing for
//! INTO. The parser tells places as lines and columns of *that* text; here they become bytes of the original file.
//!
//! ```text
//!   file       SELECT balance INTO :b FROM accounts WHERE id = :id
//!   pieces     ╰─────14─────╯        ╰───────────26──────────╯╰3╯
//!   text       SELECT balance FROM accounts WHERE id = :id
//! ```

use sqlparser::ast::{Ident, ObjectName, Spanned, Statement};
use sqlparser::dialect::{Dialect, GenericDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::{Parser, ParserOptions};
use sqlparser::tokenizer::Location;

use crate::program::diagnostic::Diagnostic;
use crate::program::ir::{Span, SqlPart, SqlStatement};
use crate::sql::parse::{LENGTH_MAX, is_modest};
use crate::sql::{self, Token};

/// The language that a source is written in, as far as its SQL goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// Nobody said; what any of them understands is read.
    #[default]
    Any,
    /// MySQL's and MariaDB's.
    MySql,
    /// PostgreSQL's.
    Postgres,
    /// SQLite's.
    Sqlite,
}

impl Language {
    /// The parser's dialects, its own first: people run a program on other engines than it was written for.
    fn dialects(self) -> [&'static dyn Dialect; 4] {
        let generic = &GenericDialect {};
        let (mysql, postgres, sqlite) = (&MySqlDialect {}, &PostgreSqlDialect {}, &SQLiteDialect {});
        match self {
            Language::Any => [generic, mysql, postgres, sqlite],
            Language::MySql => [mysql, generic, postgres, sqlite],
            Language::Postgres => [postgres, generic, mysql, sqlite],
            Language::Sqlite => [sqlite, generic, mysql, postgres],
        }
    }
}

/// A piece of the text, and what it comes from.
#[derive(Debug, Clone)]
struct Piece {
    start: usize,
    length: usize,
    span: Span,
}

/// SQL text, with the way back to its source.
#[derive(Debug, Clone)]
pub(crate) struct Located {
    text: String,
    pieces: Vec<Piece>,
    /// The first byte of each line of the text.
    lines: Vec<usize>,
    /// True if columns are bytes: counting the characters of a long line for every name in it would take too long.
    is_ascii: bool,
    /// The whole statement: the place of what has none of its own.
    whole: Span,
}

impl Located {
    /// A statement with `:name` for its holes.
    pub(crate) fn statement(statement: &SqlStatement, whole: Span) -> Located {
        let mut text = String::new();
        let mut pieces = Vec::new();
        for part in &statement.parts {
            let (piece, lead, span) = match part {
                SqlPart::Text(piece) => (piece.text.clone(), piece.lead, piece.span),
                SqlPart::Use(variable) => (variable.to_string(), 0, variable.span),
                SqlPart::Into(_) => continue,
            };
            pieces.push(Piece { start: text.len() + lead, length: piece.len() - lead, span });
            text.push_str(&piece);
        }
        Located::new(text, pieces, whole)
    }

    /// Text as it stands in the source.
    pub(crate) fn verbatim(text: &str, span: Span) -> Located {
        Located::new(text.to_string(), vec![Piece { start: 0, length: text.len(), span }], span)
    }

    /// Text as it stands in the source, between other text that stands nowhere.
    pub(crate) fn wrapped(before: &str, text: &str, span: Span, after: &str) -> Located {
        let piece = Piece { start: before.len(), length: text.len(), span };
        Located::new(format!("{before}{text}{after}"), vec![piece], span)
    }

    fn new(text: String, pieces: Vec<Piece>, whole: Span) -> Located {
        let text = match text.len() <= LENGTH_MAX {
            true => without_sequence(without_advice(without_only(with_new_locks(text)))),
            false => text,
        };
        let is_ascii = text.is_ascii();
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Located { text, pieces, lines, is_ascii, whole }
    }

    /// The whole statement.
    pub(crate) fn whole(&self) -> Span {
        self.whole
    }

    /// The syntax tree, in the first dialect that understands the text; otherwise what its own dialect complains about.
    pub(crate) fn parse(&self, language: Language) -> Result<Statement, Diagnostic> {
        if !is_modest(&self.text) {
            return Err(Diagnostic::error(self.whole, "the statement is too long or too deeply nested to be analysed"));
        }
        let mut complaint = None;
        for dialect in language.dialects() {
            match parse_in(dialect, &self.text) {
                Ok(statement) => return Ok(statement),
                Err(message) => complaint = complaint.or(Some(message)),
            }
        }
        Err(self.complaint(&complaint.unwrap_or_default()))
    }

    /// `Expected: X, found: Y at Line: 1, Column: 8` as a diagnostic at that place.
    fn complaint(&self, message: &str) -> Diagnostic {
        let message = message.trim_start_matches("sql parser error: ").trim_start_matches("sql tokenizer error: ");
        let (what, place) = message.rsplit_once(" at Line: ").unwrap_or((message, ""));
        let location = place.split_once(", Column: ").and_then(|(line, column)| {
            Some(Location { line: line.trim().parse().ok()?, column: column.trim().parse().ok()? })
        });
        let span = match location {
            Some(at) if at.line > 0 => {
                let start = self.offset(at);
                let token = sql::tokens(&self.text).into_iter().find(|token| token.span.end > start);
                self.range(start, token.map_or(start, |token| token.span.end))
            }
            _ => self.whole,
        };
        let what = what.replace("Expected: ", "expected ").replace(", found: ", ", found ");
        let what = what.replace("found EOF", "found the end of the statement");
        Diagnostic::error(span, format!("the statement cannot be read: {what}"))
    }

    /// Where a part of the syntax tree stands in the source.
    pub(crate) fn span(&self, part: &impl Spanned) -> Span {
        let span = part.span();
        if span.start.line == 0 || span.end.line == 0 {
            return self.whole;
        }
        self.range(self.offset(span.start), self.offset(span.end))
    }

    /// Where a name stands in the source.
    pub(crate) fn name(&self, name: &Ident) -> Span {
        if name.span.start.line == 0 {
            return self.whole;
        }
        self.range(self.offset(name.span.start), self.offset(name.span.end))
    }

    /// The byte of the text at a line and column.
    fn offset(&self, location: Location) -> usize {
        let index = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
        let Some(start) = self.lines.get(index(location.line)) else { return self.text.len() };
        if self.is_ascii {
            return (start + index(location.column)).min(self.text.len());
        }
        let rest = &self.text[*start..];
        start + rest.char_indices().nth(index(location.column)).map_or(rest.len(), |(at, _)| at)
    }

    /// The place in the source of a range of the text.
    pub(crate) fn range(&self, start: usize, end: usize) -> Span {
        let first = self.place(start, false);
        let last = self.place(end.max(start), true);
        match (first, last) {
            (Some(first), Some(last)) => Span { end: last.end.max(first.start), ..first },
            _ => self.whole,
        }
    }

    fn place(&self, at: usize, is_end: bool) -> Option<Span> {
        let holds = |piece: &&Piece| {
            let end = piece.start + piece.length;
            if is_end { piece.start < at && at <= end } else { piece.start <= at && at < end }
        };
        let behind = self.pieces.partition_point(|piece| if is_end { piece.start < at } else { piece.start <= at });
        let piece = self.pieces[..behind].last().filter(holds).or(self.pieces.last())?;
        if piece.span.end - piece.span.start != piece.length {
            return Some(piece.span);
        }
        let inside = at.saturating_sub(piece.start).min(piece.length);
        let line_of = |at: usize| self.lines.partition_point(|start| *start <= at);
        let line = piece.span.line + line_of(piece.start + inside) - line_of(piece.start);
        let offset = piece.span.start + inside;
        Some(Span { start: offset, end: offset, line })
    }
}

/// Locks that the parser does not know, and the ones that it takes for them.
const LOCKS: &[(&[&str], &str)] = &[
    (&["LOCK", "IN", "SHARE", "MODE"], "FOR SHARE"),
    (&["FOR", "NO", "KEY", "UPDATE"], "FOR UPDATE"),
    (&["FOR", "KEY", "SHARE"], "FOR SHARE"),
];

/// `LOCK IN SHARE MODE` as `FOR SHARE`, which is all that the parser knows; as long as before.
fn with_new_locks(text: String) -> String {
    let tokens = sql::tokens(&text);
    for (old, new) in LOCKS {
        let is_old = |window: &&[Token<'_>]| window.iter().zip(*old).all(|(token, word)| token.is_word(word));
        let Some(window) = tokens.windows(old.len()).find(is_old) else { continue };
        let range = window[0].span.start..window[old.len() - 1].span.end;
        let respelled = format!("{new:width$}", width = range.len());
        let mut changed = text.clone();
        changed.replace_range(range, &respelled);
        return changed;
    }
    text
}

/// What may stand behind the verb of a statement of MySQL's, and changes nothing about what it means.
const ADVICE: &[&str] = &[
    "HIGH_PRIORITY",
    "LOW_PRIORITY",
    "SQL_BIG_RESULT",
    "SQL_BUFFER_RESULT",
    "SQL_CACHE",
    "SQL_CALC_FOUND_ROWS",
    "SQL_NO_CACHE",
    "SQL_SMALL_RESULT",
    "STRAIGHT_JOIN",
];

/// `SELECT SQL_NO_CACHE a` as `SELECT              a`, as long as before.
fn without_advice(text: String) -> String {
    if !text.contains('_') {
        return text;
    }
    let tokens = sql::tokens(&text);
    let is_verb =
        |token: &Token<'_>| ["SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE"].iter().any(|word| token.is_word(word));
    let is_advice = |token: &Token<'_>| ADVICE.iter().any(|word| token.is_word(word));
    let mut found = Vec::new();
    for at in (0..tokens.len()).filter(|at| is_verb(&tokens[*at])) {
        let behind = tokens[at + 1..].iter().take_while(|token| is_advice(token));
        found.extend(behind.map(|token| token.span.clone()));
    }
    found.into_iter().fold(text, |mut text, range| {
        text.replace_range(range.clone(), &" ".repeat(range.len()));
        text
    })
}

/// `FROM ONLY t` as `FROM      t`: the parser does not know that children of a table can be left out.
fn without_only(text: String) -> String {
    if !text.as_bytes().windows(4).any(|word| word.eq_ignore_ascii_case(b"ONLY")) {
        return text;
    }
    let tokens = sql::tokens(&text);
    let is_table = |token: &Token<'_>| ["FROM", "JOIN", "UPDATE"].iter().any(|word| token.is_word(word));
    let is_only = |window: &[Token<'_>]| is_table(&window[0]) && window[1].is_word("ONLY");
    let found: Vec<_> =
        tokens.windows(2).filter(|window| is_only(window)).map(|window| window[1].span.clone()).collect();
    found.into_iter().fold(text, |mut text, range| {
        text.replace_range(range.clone(), &" ".repeat(range.len()));
        text
    })
}

/// `AS IDENTITY (SEQUENCE NAME s START WITH 1)` without what is in parentheses: how rows are numbered does not matter, and
/// the parser wants it in another order than pg_dump writes it.
fn without_sequence(mut text: String) -> String {
    let tokens = sql::tokens(&text);
    let opens =
        |window: &[Token<'_>]| window[0].is_word("AS") && window[1].is_word("IDENTITY") && window[2].is_symbol("(");
    let Some(open) = tokens.windows(3).position(opens).map(|at| at + 2) else { return text };
    let Some(close) = tokens[open..].iter().find(|token| token.is_symbol(")")) else { return text };
    let range = tokens[open].span.start..close.span.end;
    text.replace_range(range.clone(), &" ".repeat(range.len()));
    text
}

fn parse_in(dialect: &dyn Dialect, text: &str) -> Result<Statement, String> {
    let options = ParserOptions::new().with_unescape(false);
    let parser = Parser::new(dialect).with_options(options).try_with_sql(text);
    let statements = parser.and_then(|mut parser| parser.parse_statements());
    let mut statements = statements.map_err(|error| error.to_string())?;
    match (statements.pop(), statements.is_empty()) {
        (Some(statement), true) => Ok(statement),
        _ => Err("there is not exactly one statement".to_string()),
    }
}

/// A name without its quotes, in lower case.
pub(crate) fn plain(name: &Ident) -> String {
    name.value.to_lowercase()
}

/// The last part of a qualified name, without its quotes, in lower case.
pub(crate) fn last_plain(name: &ObjectName) -> String {
    name.0.last().and_then(|part| part.as_ident()).map(plain).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Program, StatementKind};

    /// Where the parser stumbles over a statement, as text.
    fn check(statement: &str, expect: &str) {
        let source = format!("CREATE PROCEDURE p(x INT)\nBEGIN\n  {statement};\nEND;");
        let program = Program::parse(&source).unwrap();
        let StatementKind::Sql(sql) = &program.procedures[0].body[0].kind else { panic!("SQL") };
        let diagnostic = Located::statement(sql, program.procedures[0].body[0].span).parse(Language::Any).unwrap_err();
        let span = diagnostic.span;
        let found = format!("{}:`{}` {}", span.line, &source[span.start..span.end], diagnostic.message);
        assert_eq!(found, expect, "{statement}");
    }

    #[test]
    fn complaints_point_into_the_source() {
        check(
            "SELECT a INTO :x FROM t\n  WHERE b = = 1",
            "4:`=` the statement cannot be read: expected an expression, found =",
        );
        check("UPDATE t SET a = :x, WHERE b", "3:`b` the statement cannot be read: expected =, found b");
    }
}
