//! The body of a routine, statement by statement; what the languages share.
//!
//! A statement of a source may become several of the program, so each function here gives a list. An error costs the
//! statement that it is in: it is noted, and reading goes on behind the next semicolon.

use super::names::Names;
use crate::level::LevelName;
use crate::program::cursor::{Cursor, Parsed};
use crate::program::diagnostic::Diagnostic;
use crate::program::ir::{
    BinaryOp, Expr, ExprKind, IntoClause, IntoRule, Span, SqlPart, SqlStatement, Statement, StatementKind, Variable,
};
use crate::program::located::Language;
use crate::program::parse::{NESTING_MAX, Parser};
use crate::program::schema::Schema;
use crate::sql::{Token, TokenKind};

/// Whose procedural language it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavor {
    /// MySQL's and MariaDB's.
    MySql,
    /// PostgreSQL's.
    PlPgSql,
}

/// A loop or block around.
pub(super) struct Label {
    pub(super) name: Option<String>,
    pub(super) is_loop: bool,
    /// Whether something leaves it by its name.
    pub(super) is_used: bool,
}

/// The words that follow END, if it is not that of a block.
const KINDS: &[&str] = &["IF", "WHILE", "LOOP", "REPEAT", "CASE", "FOR"];

/// A value, computed here or by the server.
pub(super) enum Computed {
    Local(Expr),
    Server(Box<SqlStatement>, Span),
}

/// A body that is being read.
pub(super) struct Body<'a, 's> {
    pub(super) cursor: Cursor<'a>,
    pub(super) flavor: Flavor,
    pub(super) language: Language,
    pub(super) schema: &'s Schema,
    pub(super) names: Names,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) labels: Vec<Label>,
    /// What is to be done after a statement that found no row; the innermost handler counts.
    pub(super) handlers: Vec<Vec<Statement>>,
    pub(super) nesting: usize,
}

impl<'a> Body<'a, '_> {
    /// Statements up to one of the ends, which is left for the caller. An end is a word, or END with what follows it.
    pub(super) fn block(&mut self, ends: &[&str]) -> Parsed<Vec<Statement>> {
        self.nesting += 1;
        if self.nesting > NESTING_MAX {
            return Err(self.cursor.error_at(self.cursor.start(), "the blocks are nested too deeply".to_string()));
        }
        let mut statements = Vec::new();
        while !self.is_at(ends) {
            if self.cursor.peek().is_none() {
                self.nesting -= 1;
                return Err(self.cursor.unexpected(&format!("a statement or {}", ends.join(" or "))));
            }
            statements.extend(self.recovering());
        }
        self.nesting -= 1;
        Ok(statements)
    }

    /// One statement with its semicolon; nothing if it cannot be read.
    fn recovering(&mut self) -> Vec<Statement> {
        let (start, nesting, labels) = (self.cursor.start(), self.nesting, self.labels.len());
        match self.statement() {
            Ok(statements) => statements,
            Err(error) => {
                self.diagnostics.push(error.into());
                self.nesting = nesting;
                self.labels.truncate(labels);
                self.skip(start);
                Vec::new()
            }
        }
    }

    /// Goes on behind the next semicolon, or at an END, which may be that of the block.
    fn skip(&mut self, start: usize) {
        while let Some(token) = self.cursor.peek() {
            let (ends, is_first) = (token.is_symbol(";"), token.span.start == start);
            if token.is_word("END") && !is_first {
                return;
            }
            self.cursor.advance();
            if ends {
                return;
            }
        }
    }

    fn is_at(&self, ends: &[&str]) -> bool {
        let next = |word: &str| self.cursor.peek_at(1).is_some_and(|token| token.is_word(word));
        ends.iter().any(|end| match end.strip_prefix("END") {
            Some("") => self.cursor.is_word("END") && !KINDS.iter().any(|kind| next(kind)),
            Some(kind) => self.cursor.is_word("END") && next(kind.trim_start()),
            None => self.cursor.is_word(end),
        })
    }

    fn statement(&mut self) -> Parsed<Vec<Statement>> {
        // The beginning of what this ends could not be read; that has been said.
        if self.cursor.is_word("END") && KINDS.iter().any(|kind| self.is_at(&[&format!("END {kind}")])) {
            if self.diagnostics.is_empty() {
                return Err(self.cursor.unexpected("a statement"));
            }
            self.skip(self.cursor.start());
            return Ok(Vec::new());
        }
        if self.cursor.accept_symbol(";") {
            return Ok(Vec::new());
        }
        let statements = match self.flavor {
            Flavor::MySql => self.mysql_statement()?,
            Flavor::PlPgSql => self.plpgsql_statement()?,
        };
        // The last one of all may do without.
        if self.cursor.peek().is_some() {
            self.cursor.expect_symbol(";", "at the end of the statement")?;
        }
        Ok(statements)
    }

    /// `COMMIT [WORK]` and `ROLLBACK [WORK]`, or a longer form that only the server understands.
    pub(super) fn transaction_end(&mut self, kind: StatementKind) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        let words = 1 + usize::from(["WORK", "TRANSACTION"].iter().any(|word| self.word_at(1, word)));
        if self.cursor.peek_at(words).is_some_and(|token| !token.is_symbol(";")) {
            return self.send("");
        }
        self.cursor.split(words);
        Ok(vec![Statement { kind, span: self.cursor.span_from(start) }])
    }

    /// `SET [SESSION] TRANSACTION ISOLATION LEVEL …`, if that is what comes next.
    pub(super) fn isolation(&mut self) -> Option<Vec<Statement>> {
        let start = self.cursor.start();
        let scope = usize::from(["SESSION", "LOCAL"].iter().any(|word| self.word_at(1, word)));
        let head = ["TRANSACTION", "ISOLATION", "LEVEL"];
        if !head.iter().enumerate().all(|(at, word)| self.word_at(1 + scope + at, word)) {
            return None;
        }
        let length = self.until(&[","]);
        let words = (4 + scope..length).filter_map(|at| self.cursor.peek_at(at)).map(|token| token.text);
        let level = LevelName::parse(&words.collect::<Vec<_>>().join(" "))?;
        self.skip_rest();
        Some(vec![Statement { kind: StatementKind::Isolation(level), span: self.cursor.span_from(start) }])
    }

    /// `GET DIAGNOSTICS n = ROW_COUNT`
    pub(super) fn diagnostics_area(&mut self) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        self.cursor.advance();
        let _ = self.cursor.accept_word("CURRENT") || self.cursor.accept_word("STACKED");
        self.cursor.expect_word("DIAGNOSTICS", "after GET")?;
        let mut statements = Vec::new();
        loop {
            if self.cursor.accept_word("CONDITION") {
                self.cursor.advance();
            }
            let variable = self.target()?;
            self.cursor.accept_symbol(":");
            self.cursor.expect_symbol("=", "after the variable")?;
            let (item, span) = self.name("what is asked for")?;
            let kind = if item == "row_count" { ExprKind::RowCount } else { ExprKind::Any };
            if kind == ExprKind::Any {
                self.warn(span, &format!("{item} is taken for any value"), "the call cannot be run here");
            }
            let value = Expr { kind, span };
            let span = self.cursor.span_from(start);
            statements.push(Statement { kind: StatementKind::Assign { variable, value }, span });
            if !self.cursor.accept_symbol(",") {
                return Ok(statements);
            }
        }
    }

    /// The keyword that comes next, in lower case; empty if it is no word.
    pub(super) fn keyword(&self) -> String {
        let word = self.cursor.peek().filter(|token| token.kind == TokenKind::Word);
        word.map_or_else(String::new, |token| token.text.to_lowercase())
    }

    pub(super) fn word_at(&self, ahead: usize, word: &str) -> bool {
        self.cursor.peek_at(ahead).is_some_and(|token| token.is_word(word))
    }

    pub(super) fn symbol_at(&self, ahead: usize, symbol: &str) -> bool {
        self.cursor.peek_at(ahead).is_some_and(|token| token.is_symbol(symbol))
    }

    /// A name, in lower case and without its quotes, and where it stands.
    pub(super) fn name(&mut self, what: &str) -> Parsed<(String, Span)> {
        let start = self.cursor.start();
        let is_name = |token: &&Token<'_>| matches!(token.kind, TokenKind::Word | TokenKind::Quoted);
        let Some(token) = self.cursor.peek().filter(is_name) else {
            return Err(self.cursor.unexpected(what));
        };
        let name = crate::sql::plain_name(token.text);
        self.cursor.advance();
        Ok((name, self.cursor.span_from(start)))
    }

    /// How many tokens there are up to one of these words or symbols (or a semicolon), outside parentheses and CASE.
    pub(super) fn until(&self, ends: &[&str]) -> usize {
        let (mut depth, mut cases, mut length) = (0_usize, 0_usize, 0);
        while let Some(token) = self.cursor.peek_at(length) {
            let is_end = ends.iter().any(|end| token.is_word(end) || token.is_symbol(end));
            if (depth == 0 && cases == 0 && is_end) || token.is_symbol(";") {
                break;
            }
            depth = (depth + usize::from(token.is_symbol("("))).saturating_sub(usize::from(token.is_symbol(")")));
            cases = (cases + usize::from(token.is_word("CASE"))).saturating_sub(usize::from(token.is_word("END")));
            length += 1;
        }
        length
    }

    /// An expression up to one of these words or symbols: one that we can compute, or a query for the server.
    pub(super) fn computed(&mut self, ends: &[&str]) -> Parsed<Computed> {
        self.computed_of(self.until(ends))
    }

    /// An expression of so many tokens.
    fn computed_of(&mut self, length: usize) -> Parsed<Computed> {
        if length == 0 {
            return Err(self.cursor.unexpected("an expression"));
        }
        let tokens = self.cursor.split(length);
        let start = tokens.start();
        let mut parser = Parser::new(tokens.clone());
        parser.renamed = self.names.visible();
        parser.declared = parser.renamed.values().cloned().collect();
        parser.bare_found = self.flavor == Flavor::PlPgSql;
        match parser.expression() {
            Ok(expr) if parser.cursor.peek().is_none() && self.is_ours(&expr, &tokens) => Ok(Computed::Local(expr)),
            _ => {
                let span = self.cursor.span_from(start);
                Ok(Computed::Server(Box::new(self.holes(&tokens, "SELECT ")), span))
            }
        }
    }

    /// Whether we compute as every server does. Quotients have as many digits as each server likes, `||` is a choice in
    /// MySQL and depends on the types in PostgreSQL, and what a backslash in a string means is MySQL's business.
    fn is_ours(&self, expr: &Expr, tokens: &Cursor<'_>) -> bool {
        fn differs(expr: &Expr) -> bool {
            match &expr.kind {
                ExprKind::Binary { op: BinaryOp::Divide | BinaryOp::Concat, .. } => true,
                ExprKind::Binary { left, right, .. } => differs(left) || differs(right),
                ExprKind::Negate(inner) | ExprKind::Not(inner) | ExprKind::IsNull { operand: inner, .. } => {
                    differs(inner)
                }
                _ => false,
            }
        }
        let escapes = |token: &Token<'_>| token.kind == TokenKind::String && token.text.contains('\\');
        !differs(expr) && !tokens.rest().iter().any(escapes)
    }

    /// An expression that is needed at once: what the server computes goes to a variable first.
    pub(super) fn value(&mut self, ends: &[&str], before: &mut Vec<Statement>) -> Parsed<Expr> {
        self.value_of(self.until(ends), before)
    }

    pub(super) fn value_of(&mut self, length: usize, before: &mut Vec<Statement>) -> Parsed<Expr> {
        match self.computed_of(length)? {
            Computed::Local(expr) => Ok(expr),
            Computed::Server(query, span) => {
                let name = self.names.add_implicit("computed", "TEXT");
                before.push(into(*query, Variable { name: name.clone(), span }, span));
                Ok(Expr { kind: ExprKind::Variable(name), span })
            }
        }
    }

    /// Gives a variable the value of the expression that comes next.
    pub(super) fn assign(&mut self, variable: Variable, ends: &[&str], start: usize) -> Parsed<Statement> {
        let computed = self.computed(ends)?;
        let span = self.cursor.span_from(start);
        Ok(match computed {
            Computed::Local(value) => Statement { kind: StatementKind::Assign { variable, value }, span },
            Computed::Server(query, _) => into(*query, variable, span),
        })
    }

    /// A variable that is assigned to: a name, a field, or MySQL's `@name`.
    pub(super) fn target(&mut self) -> Parsed<Variable> {
        let start = self.cursor.start();
        let (name, span) = self.name("a variable")?;
        if self.cursor.is_symbol(".") && self.names.find(&name).is_some() {
            self.cursor.advance();
            let (field, _) = self.name("a field")?;
            let span = self.cursor.span_from(start);
            let variable = self.field(&name, &field, span);
            return Ok(Variable { name: variable, span });
        }
        match self.known(&name) {
            Some(name) => Ok(Variable { name, span }),
            None => {
                let visible = self.names.visible();
                let hint = crate::suggest::hint(&name, visible.keys().map(String::as_str));
                Err(self.cursor.error_at(start, format!("the variable {name} is not declared{hint}")))
            }
        }
    }

    /// The variable of a name; MySQL's `@name` need not be declared.
    pub(super) fn known(&mut self, name: &str) -> Option<String> {
        if let Some(known) = self.names.variable(name) {
            return Some(known.to_string());
        }
        let user = name.strip_prefix('@').filter(|rest| !rest.starts_with('@') && !rest.is_empty())?;
        let variable = self.names.add_implicit(&format!("user_{user}"), "TEXT");
        self.names.rebind(name, super::names::Binding::Variable(variable.clone()));
        Some(variable)
    }

    /// A statement for the server, up to its semicolon, with something put before it.
    pub(super) fn send(&mut self, prefix: &str) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        let length = self.until(&["END"]);
        let tokens = self.cursor.split(length);
        if self.cursor.is_word("END") {
            let message = "END inside a statement; is a `;` missing before it?".to_string();
            return Err(self.cursor.error_at(self.cursor.start(), message));
        }
        if length == 0 {
            return Err(self.cursor.unexpected("a statement"));
        }
        let sql = self.holes(&tokens, prefix);
        let takes_row = sql.into_clause().is_some();
        let span = self.cursor.span_from(start);
        let mut statements = vec![Statement { kind: StatementKind::Sql(sql), span }];
        if takes_row {
            statements.extend(self.not_found(span));
        }
        Ok(statements)
    }

    /// What MySQL's handler does after a statement that found no row.
    pub(super) fn not_found(&self, span: Span) -> Option<Statement> {
        let handler = self.handlers.last()?;
        Some(unless_found(handler.clone(), span))
    }

    pub(super) fn warn(&mut self, span: Span, message: &str, hint: &str) {
        self.diagnostics.push(Diagnostic::warning(span, message).with_hint(hint));
    }

    /// The rest of the statement, which is left out.
    pub(super) fn skip_rest(&mut self) {
        let length = self.until(&[]);
        self.cursor.split(length);
    }
}

/// `IF NOT FOUND() THEN … END IF`
pub(super) fn unless_found(body: Vec<Statement>, span: Span) -> Statement {
    let found = Expr { kind: ExprKind::Found, span };
    let condition = Expr { kind: ExprKind::Not(Box::new(found)), span };
    let branches = vec![crate::program::ir::Branch { condition, body }];
    Statement { kind: StatementKind::If { branches, otherwise: Vec::new() }, span }
}

/// A query whose one value goes to a variable.
pub(super) fn into(mut query: SqlStatement, variable: Variable, span: Span) -> Statement {
    query.parts.push(SqlPart::Into(IntoClause { variables: vec![variable], rule: IntoRule::Single }));
    Statement { kind: StatementKind::Sql(query), span }
}
