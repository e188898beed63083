//! The head of a procedure or function, and its body in the language that it is written in.

use super::body::{Body, Flavor};
use super::names::{Binding, Names};
use super::{Source, Trigger, Unit};
use crate::program::cursor::{Cursor, Parsed};
use crate::program::diagnostic::Diagnostic;
use crate::program::ir::{Mode, Parameter, Procedure, Span, Statement, StatementKind, Variable};
use crate::program::located::Language;
use crate::program::schema::Schema;
use crate::sql::{self, Token, TokenKind};

/// Reads a routine of another language than our own.
pub(super) fn read(source: &Source, unit: &Unit<'_>, schema: &Schema) -> (Option<Procedure>, Vec<Diagnostic>) {
    if !is_called(unit) {
        let message = "triggers and events are not analysed";
        return (None, vec![Diagnostic::warning(unit.span, message)]);
    }
    let string = body_string(unit);
    let flavor = if string.is_some() { Flavor::PlPgSql } else { Flavor::MySql };
    let language = match flavor {
        Flavor::MySql => Language::MySql,
        Flavor::PlPgSql => Language::Postgres,
    };
    let mut body = Body {
        cursor: Cursor::within(source.text(), adjusted(&unit.tokens), source.line_starts()),
        flavor,
        language,
        schema,
        names: Names::default(),
        diagnostics: Vec::new(),
        labels: Vec::new(),
        handlers: Vec::new(),
        nesting: 0,
    };
    let procedure = body.routine(source, unit, string);
    let procedure = procedure.map_err(|error| body.diagnostics.push(error.into())).ok();
    (procedure, body.diagnostics)
}

/// The table of a trigger.
pub(super) fn trigger(unit: &Unit<'_>) -> Option<Trigger> {
    if !unit.is_routine() || !unit.tokens.iter().take(14).any(|token| token.is_word("TRIGGER")) {
        return None;
    }
    let on = unit.tokens.iter().position(|token| token.is_word("ON"))?;
    let mut name = unit.tokens.get(on + 1)?;
    // The schema's name comes before the table's.
    while unit.tokens.get(on + 2).is_some_and(|token| token.is_symbol(".")) && name.span == unit.tokens[on + 1].span {
        name = unit.tokens.get(on + 3)?;
    }
    Some(Trigger { table: sql::plain_name(name.text), span: unit.span })
}

/// Whether somebody calls it: a procedure or a function, but for one that triggers run.
fn is_called(unit: &Unit<'_>) -> bool {
    let kinds = ["PROCEDURE", "FUNCTION", "TRIGGER", "EVENT"];
    let kind = unit.tokens.iter().take(14).find_map(|token| kinds.iter().position(|kind| token.is_word(kind)));
    let of_trigger = |pair: &[Token<'_>]| {
        pair[0].is_word("RETURNS") && (pair[1].is_word("TRIGGER") || pair[1].is_word("EVENT_TRIGGER"))
    };
    kind.is_some_and(|kind| kind < 2) && !unit.tokens.windows(2).any(of_trigger)
}

/// The string that is the body, if there is one: it follows AS.
fn body_string<'u, 'a>(unit: &'u Unit<'a>) -> Option<&'u Token<'a>> {
    let pairs = unit.tokens.windows(2);
    pairs.into_iter().find(|pair| pair[0].is_word("AS") && pair[1].kind == TokenKind::String).map(|pair| &pair[1])
}

/// Tokens that our lexer takes together, but these languages do not: `again:LOOP`, `1..10`.
fn adjusted<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut adjusted = Vec::with_capacity(tokens.len());
    for token in tokens {
        let split = match token.kind {
            TokenKind::Variable => Some(1),
            TokenKind::Number => token.text.find("..").filter(|at| *at > 0),
            _ => None,
        };
        let Some(at) = split else {
            adjusted.push(token.clone());
            continue;
        };
        let mut push = |from: usize, to: usize, kind: TokenKind| {
            let span = token.span.start + from..token.span.start + to;
            adjusted.extend((from < to).then(|| Token { kind, text: &token.text[from..to], span }));
        };
        if token.kind == TokenKind::Variable {
            push(0, at, TokenKind::Symbol);
            push(at, token.text.len(), TokenKind::Word);
        } else {
            push(0, at, TokenKind::Number);
            push(at, at + 1, TokenKind::Symbol);
            push(at + 1, at + 2, TokenKind::Symbol);
            let is_digit = token.text[at + 2..].starts_with(|c: char| c.is_ascii_digit());
            let kind = if is_digit { TokenKind::Number } else { TokenKind::Word };
            push(at + 2, token.text.len(), kind);
        }
    }
    adjusted
}

impl<'a> Body<'a, '_> {
    fn routine(&mut self, source: &'a Source, unit: &Unit<'a>, string: Option<&Token<'a>>) -> Parsed<Procedure> {
        while !self.cursor.is_word("PROCEDURE") && !self.cursor.is_word("FUNCTION") {
            self.cursor.advance();
        }
        self.cursor.advance();
        if self.word_at(0, "IF") {
            self.cursor.split(3);
        }
        let (mut name, _) = self.name("the name of a routine")?;
        while self.cursor.accept_symbol(".") {
            (name, _) = self.name("the name of a routine")?;
        }
        self.names.enter();
        let parameters = self.parameters()?;
        if self.flavor == Flavor::PlPgSql {
            // `routine.parameter` tells a parameter from a column of the same name.
            let fields = parameters.iter().map(|one| (one.name.clone(), one.name.clone())).collect();
            self.names.bind(&name, Binding::Record(fields));
        }
        let begins = |pair: &[Token<'_>]| pair[0].is_word("START") && pair[1].is_word("TRANSACTION");
        let works = |pair: &[Token<'_>]| pair[0].is_word("BEGIN") && pair[1].is_word("WORK");
        let autocommit = self.flavor == Flavor::MySql && unit.tokens.windows(2).any(|pair| begins(pair) || works(pair));
        let mut body = match string {
            Some(string) => self.string_body(source, unit, string)?,
            None => self.mysql_body()?,
        };
        body.splice(0..0, self.implicit(unit.span));
        Ok(Procedure { name, parameters, autocommit, body, span: unit.span })
    }

    /// Declarations of what nobody declared.
    fn implicit(&self, span: Span) -> Vec<Statement> {
        let span = Span { end: span.start, ..span };
        let declare = |(name, type_name): &(String, String)| {
            let variable = Variable { name: name.clone(), span };
            let kind = StatementKind::Declare { variable, type_name: type_name.clone(), default: None };
            Statement { kind, span }
        };
        self.names.implicit.iter().map(declare).collect()
    }

    /// `([IN | OUT | INOUT] name type [DEFAULT …], …)`
    fn parameters(&mut self) -> Parsed<Vec<Parameter>> {
        let mut parameters = Vec::new();
        self.cursor.expect_symbol("(", "after the name")?;
        while !self.cursor.accept_symbol(")") {
            let start = self.cursor.start();
            let mode = self.mode();
            let (source, _) = self.name("the name of a parameter")?;
            let type_name = self.type_name(&[",", ")", "DEFAULT", "="])?;
            let span = self.cursor.span_from(start);
            self.cursor.split(self.until(&[",", ")"]));
            let name = self.names.declare(&source);
            parameters.push(Parameter { name, mode, type_name, span });
            if !self.cursor.accept_symbol(",") && !self.cursor.is_symbol(")") {
                return Err(self.cursor.unexpected("`,` or `)` after the parameter"));
            }
        }
        Ok(parameters)
    }

    fn mode(&mut self) -> Mode {
        // A parameter may be called `out`: then its type is all that follows.
        let is_name =
            self.cursor.peek_at(2).is_some_and(|token| matches!(token.kind, TokenKind::Word | TokenKind::Quoted));
        for (word, mode) in [("IN", Mode::In), ("OUT", Mode::Out), ("INOUT", Mode::InOut)] {
            if is_name && self.cursor.accept_word(word) {
                return mode;
            }
        }
        Mode::In
    }

    /// What stands between the parameters and the body says nothing about rows.
    fn mysql_body(&mut self) -> Parsed<Vec<Statement>> {
        let starts =
            ["BEGIN", "SELECT", "INSERT", "UPDATE", "DELETE", "SET", "IF", "RETURN", "CALL", "REPLACE", "WITH"];
        while self.cursor.peek().is_some() {
            let labelled = self.symbol_at(1, ":") && self.word_at(2, "BEGIN");
            if labelled || starts.iter().any(|word| self.cursor.is_word(word)) {
                break;
            }
            self.cursor.advance();
        }
        let body = self.mysql_statement()?;
        if self.cursor.peek().is_some() && self.diagnostics.is_empty() {
            return Err(self.cursor.unexpected("the end of the routine"));
        }
        Ok(body)
    }

    /// A body in a string: PL/pgSQL, or a list of statements.
    fn string_body(&mut self, source: &'a Source, unit: &Unit<'a>, string: &Token<'a>) -> Parsed<Vec<Statement>> {
        let quote = if string.text.starts_with('$') { string.text[1..].find('$').map_or(1, |end| end + 2) } else { 1 };
        let inner = string.text.get(quote..string.text.len().saturating_sub(quote)).unwrap_or("");
        let offset = string.span.start + quote;
        let tokens = sql::tokens(inner).into_iter().map(|token| {
            let span = token.span.start + offset..token.span.end + offset;
            Token { text: &source.text()[span.clone()], kind: token.kind, span }
        });
        let tokens: Vec<Token<'a>> = tokens.collect();
        self.cursor = Cursor::within(source.text(), adjusted(&tokens), source.line_starts());
        let is_plain = |pair: &[Token<'_>]| {
            pair[0].is_word("LANGUAGE") && pair[1].text.trim_matches('\'').eq_ignore_ascii_case("sql")
        };
        if !unit.tokens.windows(2).any(is_plain) {
            let body = self.plpgsql_statement()?;
            self.cursor.accept_symbol(";");
            if self.cursor.peek().is_some() && self.diagnostics.is_empty() {
                return Err(self.cursor.unexpected("the end of the body"));
            }
            return Ok(body);
        }
        let mut statements = Vec::new();
        while self.cursor.peek().is_some() {
            if !self.cursor.accept_symbol(";") {
                statements.extend(self.send("")?);
            }
        }
        Ok(statements)
    }
}
