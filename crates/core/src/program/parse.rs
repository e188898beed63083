//! Text → [`Program`].
//!
//! A recursive-descent parser over the tokens of [`crate::sql`]. What it does not know is SQL for the server, up to the
//! next semicolon; so it must be careful not to swallow what is *meant* for it: an `END` inside a statement that is not
//! the end of a `CASE` is a forgotten semicolon, and said so.
//!
//! Undeclared variables, double declarations and double procedures are errors here, where there is a line to show.

use std::collections::BTreeMap;

use crate::program::cursor::{Cursor, Parsed};
use crate::program::ir::{
    Branch, Expr, FORMAT_VERSION, Parameter, Procedure, Program, Span, Statement, StatementKind, Variable,
};
use crate::program::pieces::SqlEnd;
use crate::sql::{self, Token, TokenKind};
use crate::suggest;

/// Why a text is not a program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}\n  {text}")]
pub struct ProgramSyntaxError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// The line itself.
    pub text: String,
    /// The token that is wrong.
    pub span: Span,
}

/// Words that cannot name a variable: an expression or a block would not know what is meant.
#[rustfmt::skip]
pub(in crate::program) const RESERVED: &[&str] = &[
    "and", "begin", "case", "commit", "create", "declare", "default", "div", "do", "else", "elseif", "elsif", "end",
    "false", "if", "into", "is", "not", "null", "or", "procedure", "return", "rollback", "set", "then", "true",
    "while",
];

/// Whether a word, in lower case, cannot name a variable or a procedure.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// How deep blocks and parentheses may be nested: hostile input must not exhaust the stack.
pub(in crate::program) const NESTING_MAX: usize = 64;

impl Program {
    /// Reads a program.
    pub fn parse(text: &str) -> Result<Program, ProgramSyntaxError> {
        let mut parser = Parser::new(Cursor::new(text));
        parser.version()?;
        let mut program = Program::default();
        while parser.cursor.peek().is_some() {
            let at = parser.cursor.start();
            let procedure = parser.procedure()?;
            if program.procedure(&procedure.name).is_some() {
                let message = format!("there is already a procedure {}; give this one another name", procedure.name);
                return Err(parser.cursor.error_at(at, message));
            }
            program.procedures.push(procedure);
        }
        Ok(program)
    }
}

/// The parser: where it is, and which variables it has seen declared in the procedure.
pub(in crate::program) struct Parser<'a> {
    pub(in crate::program) cursor: Cursor<'a>,
    pub(in crate::program) declared: Vec<String>,
    /// What variables are called in the source, where that is not their name.
    pub(in crate::program) renamed: BTreeMap<String, String>,
    /// Whether FOUND needs no parentheses.
    pub(in crate::program) bare_found: bool,
    /// Errors that were recovered from. `None`: the first one ends it all.
    pub(in crate::program) recovered: Option<Vec<ProgramSyntaxError>>,
    /// The labels of the loops and blocks around; empty for a loop without one.
    pub(super) labels: Vec<String>,
    pub(super) nesting: usize,
}

impl<'a> Parser<'a> {
    pub(in crate::program) fn new(cursor: Cursor<'a>) -> Parser<'a> {
        Parser {
            cursor,
            declared: Vec::new(),
            renamed: BTreeMap::new(),
            bare_found: false,
            recovered: None,
            labels: Vec::new(),
            nesting: 0,
        }
    }
}

impl Parser<'_> {
    /// Checks the `-- @` lines above the first procedure: only `@program` with our version is known.
    fn version(&self) -> Parsed<()> {
        let head = &self.cursor.source()[..self.cursor.start()];
        let mut offset = 0;
        for line in head.split_inclusive('\n') {
            if let Some(directive) = line.strip_prefix("-- @") {
                let known = directive.trim_end() == format!("program {FORMAT_VERSION}");
                if !known {
                    let message = format!(
                        "`@{}` is not known here; a program file begins with `-- @program {FORMAT_VERSION}`",
                        directive.trim_end()
                    );
                    return Err(self.cursor.error_at(offset, message));
                }
            }
            offset += line.len();
        }
        Ok(())
    }

    pub(in crate::program) fn procedure(&mut self) -> Parsed<Procedure> {
        let start = self.cursor.start();
        self.declared.clear();
        self.labels.clear();
        self.nesting = 0;
        self.cursor.expect_word("CREATE", "PROCEDURE")?;
        self.cursor.expect_word("PROCEDURE", "after CREATE")?;
        let (name, _) = self.new_name("the name of a procedure")?;
        let parameters = self.parameters()?;
        let autocommit = self.cursor.accept_word("AUTOCOMMIT");
        self.cursor.expect_word("BEGIN", "before the body of the procedure")?;
        let body = self.block(&["END"], "")?;
        self.cursor.expect_word("END", "after the body of the procedure")?;
        self.cursor.expect_symbol(";", "after the procedure's END")?;
        Ok(Procedure { name, parameters, autocommit, body, span: self.cursor.span_from(start) })
    }

    fn parameters(&mut self) -> Parsed<Vec<Parameter>> {
        let mut parameters = Vec::new();
        self.cursor.expect_symbol("(", "after the procedure's name")?;
        if self.cursor.accept_symbol(")") {
            return Ok(parameters);
        }
        loop {
            let start = self.cursor.start();
            let mode = self.mode();
            let variable = self.new_variable("the name of a parameter")?;
            let type_name = self.type_name(&variable.name)?;
            self.declared.push(variable.name.clone());
            parameters.push(Parameter { name: variable.name, mode, type_name, span: self.cursor.span_from(start) });
            if !self.cursor.accept_symbol(",") {
                self.cursor.expect_symbol(")", "after the parameters")?;
                return Ok(parameters);
            }
        }
    }

    /// A name that may be given to something, in lower case, with its place.
    pub(super) fn new_name(&mut self, what: &str) -> Parsed<(String, Span)> {
        let start = self.cursor.start();
        let is_name = |token: &Token<'_>| token.kind == TokenKind::Word && !token.text.starts_with('@');
        let Some(token) = self.cursor.peek().filter(|token| is_name(token)) else {
            return Err(self.cursor.unexpected(what));
        };
        let name = token.text.to_lowercase();
        if RESERVED.contains(&name.as_str()) {
            return Err(self.cursor.error_at(start, format!("{name} is a keyword; choose another name")));
        }
        self.cursor.advance();
        Ok((name, self.cursor.span_from(start)))
    }

    /// The name of a variable that is about to be declared; the caller says when it can be used.
    fn new_variable(&mut self, what: &str) -> Parsed<Variable> {
        let (name, span) = self.new_name(what)?;
        if self.declared.contains(&name) {
            return Err(self.cursor.error_at(span.start, format!("{name} is declared already; choose another name")));
        }
        Ok(Variable { name, span })
    }

    /// A type, as text: everything up to `,`, `)`, `;` or DEFAULT outside parentheses.
    fn type_name(&mut self, of: &str) -> Parsed<String> {
        let start = self.cursor.start();
        let mut depth = 0usize;
        let mut end = start;
        while let Some(token) = self.cursor.peek() {
            let ends = token.is_symbol(",") || token.is_symbol(")") || token.is_word("DEFAULT");
            if token.is_symbol(";") || (depth == 0 && ends) {
                break;
            }
            depth += usize::from(token.is_symbol("("));
            depth = depth.saturating_sub(usize::from(token.is_symbol(")")));
            end = token.span.end;
            self.cursor.advance();
        }
        if end == start {
            return Err(self.cursor.unexpected(&format!("the type of {of}")));
        }
        Ok(sql::one_line(&self.cursor.source()[start..end]))
    }

    /// Statements up to one of the words that end the block; the word is left for the caller. `of` is what follows END.
    pub(super) fn block(&mut self, ends: &[&str], of: &str) -> Parsed<Vec<Statement>> {
        self.nesting += 1;
        if self.nesting > NESTING_MAX {
            return Err(self.cursor.error_at(self.cursor.start(), "the blocks are nested too deeply".to_string()));
        }
        let mut statements = Vec::new();
        while self.is_stray_end(of) || !ends.iter().any(|end| self.cursor.is_word(end)) {
            if self.cursor.peek().is_none() {
                return Err(self.cursor.unexpected(&format!("a statement or {}", ends.join(" or "))));
            }
            let (start, nesting, labels) = (self.cursor.start(), self.nesting, self.labels.len());
            if self.is_stray_end(of) {
                self.skip_statement(start);
                continue;
            }
            match (self.statement(), &mut self.recovered) {
                (Ok(statement), _) => statements.push(statement),
                (Err(error), None) => return Err(error),
                (Err(error), Some(recovered)) => {
                    recovered.push(error);
                    self.nesting = nesting;
                    self.labels.truncate(labels);
                    self.skip_statement(start);
                }
            }
        }
        self.nesting -= 1;
        Ok(statements)
    }

    /// `END IF` where no IF is open: its beginning could not be read.
    fn is_stray_end(&self, of: &str) -> bool {
        let kinds = ["IF", "WHILE", "LOOP", "FOR"];
        let is_other = |token: &Token<'_>| kinds.iter().any(|kind| token.is_word(kind)) && !token.is_word(of);
        let recovers = self.recovered.as_ref().is_some_and(|errors| !errors.is_empty());
        recovers && self.cursor.is_word("END") && self.cursor.peek_at(1).is_some_and(is_other)
    }

    /// Goes on behind the next semicolon, or at an END, which may be that of the block.
    fn skip_statement(&mut self, start: usize) {
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

    fn statement(&mut self) -> Parsed<Statement> {
        let start = self.cursor.start();
        let kind = match self.keyword().as_str() {
            "declare" => self.declare()?,
            _ if self.is_label() => self.labelled()?,
            "set" if self.is_assignment() => self.assignment()?,
            "set" if self.isolation().is_some() => self.set_isolation(),
            "start" if self.is_start() => self.begin(),
            "if" => self.conditional()?,
            "while" => self.repetition(None)?,
            "loop" => self.endless(None)?,
            "for" => self.for_each(None)?,
            "leave" => self.departure(StatementKind::Leave)?,
            "iterate" => self.departure(StatementKind::Iterate)?,
            "open" => self.open()?,
            "fetch" => self.fetch()?,
            "close" => self.close()?,
            "signal" => self.signal()?,
            "commit" if self.is_alone() => self.single(StatementKind::Commit),
            "rollback" if self.is_alone() => self.single(StatementKind::Rollback),
            "return" => self.returns()?,
            "else" | "elseif" | "elsif" | "then" | "do" | "end" | "into" => {
                return Err(self.cursor.unexpected("a statement"));
            }
            _ if self.cursor.is_symbol(";") => return Err(self.cursor.unexpected("a statement")),
            _ => StatementKind::Sql(self.sql(SqlEnd::Semicolon)?),
        };
        let span = self.cursor.span_from(start);
        self.cursor.expect_symbol(";", "at the end of the statement")?;
        Ok(Statement { kind, span })
    }

    /// The keyword that the statement begins with, in lower case; empty if it is no word.
    pub(super) fn keyword(&self) -> String {
        let word = self.cursor.peek().filter(|token| token.kind == TokenKind::Word);
        word.map_or_else(String::new, |token| token.text.to_lowercase())
    }

    /// `SET x =`, as against `SET TRANSACTION …` and other settings of the server.
    fn is_assignment(&self) -> bool {
        let is_target = |token: &Token<'_>| {
            token.kind == TokenKind::Variable || (token.kind == TokenKind::Word && !token.text.starts_with('@'))
        };
        self.cursor.peek_at(1).is_some_and(is_target)
            && self.cursor.peek_at(2).is_some_and(|token| token.is_symbol("="))
    }

    /// Whether the next token is the whole statement: `COMMIT;`, as against `COMMIT AND CHAIN;`.
    fn is_alone(&self) -> bool {
        self.cursor.peek_at(1).is_none_or(|token| token.is_symbol(";"))
    }

    fn single(&mut self, kind: StatementKind) -> StatementKind {
        self.cursor.advance();
        kind
    }

    /// `START TRANSACTION;` without further words.
    fn is_start(&self) -> bool {
        self.cursor.peek_at(1).is_some_and(|token| token.is_word("TRANSACTION"))
            && self.cursor.peek_at(2).is_none_or(|token| token.is_symbol(";"))
    }

    fn begin(&mut self) -> StatementKind {
        self.cursor.advance();
        self.single(StatementKind::Begin)
    }

    fn set_isolation(&mut self) -> StatementKind {
        let (level, words) = self.isolation().expect("it was asked for before");
        (0..words).for_each(|_| {
            self.cursor.advance();
        });
        StatementKind::Isolation(level)
    }

    fn declare(&mut self) -> Parsed<StatementKind> {
        self.cursor.advance();
        let variable = self.new_variable("the name of a variable")?;
        let type_name = self.type_name(&variable.name)?;
        let default = if self.cursor.accept_word("DEFAULT") { Some(self.expression()?) } else { None };
        // Only now: its own default cannot use it.
        self.declared.push(variable.name.clone());
        Ok(StatementKind::Declare { variable, type_name, default })
    }

    fn assignment(&mut self) -> Parsed<StatementKind> {
        self.cursor.advance();
        let variable = self.mention()?;
        self.cursor.expect_symbol("=", "after the variable")?;
        Ok(StatementKind::Assign { variable, value: self.expression()? })
    }

    fn conditional(&mut self) -> Parsed<StatementKind> {
        let mut branches = Vec::new();
        while branches.is_empty() || self.cursor.is_word("ELSEIF") || self.cursor.is_word("ELSIF") {
            self.cursor.advance();
            let condition = self.expression()?;
            self.cursor.expect_word("THEN", "after the condition")?;
            let body = self.block(&["ELSEIF", "ELSIF", "ELSE", "END"], "IF")?;
            branches.push(Branch { condition, body });
        }
        let otherwise = if self.cursor.accept_word("ELSE") { self.block(&["END"], "IF")? } else { Vec::new() };
        self.block_end("IF")?;
        Ok(StatementKind::If { branches, otherwise })
    }

    pub(super) fn repetition(&mut self, label: Option<String>) -> Parsed<StatementKind> {
        self.cursor.advance();
        let condition = self.expression()?;
        self.cursor.expect_word("DO", "after the condition")?;
        let body = self.loop_body(label.as_deref(), "WHILE")?;
        Ok(StatementKind::While { label, condition, body })
    }

    /// The statements of a loop, which can be left, and its end.
    pub(super) fn loop_body(&mut self, label: Option<&str>, of: &str) -> Parsed<Vec<Statement>> {
        self.labels.push(label.unwrap_or_default().to_string());
        let body = self.block(&["END"], of)?;
        self.labels.pop();
        self.block_end(of)?;
        Ok(body)
    }

    fn block_end(&mut self, of: &str) -> Parsed<()> {
        self.cursor.expect_word("END", of)?;
        self.cursor.expect_word(of, "after END")
    }

    fn returns(&mut self) -> Parsed<StatementKind> {
        self.cursor.advance();
        let mut outputs: Vec<Expr> = Vec::new();
        if !self.cursor.is_symbol(";") {
            outputs.push(self.expression()?);
            while self.cursor.accept_symbol(",") {
                outputs.push(self.expression()?);
            }
        }
        Ok(StatementKind::Return(outputs))
    }

    /// The next token as a variable that has been declared, with or without its colon.
    pub(super) fn mention(&mut self) -> Parsed<Variable> {
        let start = self.cursor.start();
        let is_mention = |token: &&Token<'_>| matches!(token.kind, TokenKind::Variable | TokenKind::Word);
        let Some(token) = self.cursor.peek().filter(is_mention) else {
            return Err(self.cursor.unexpected("a variable"));
        };
        let mut name = token.text.trim_start_matches(':').to_lowercase();
        if let Some(field) = self.field(&name) {
            (0..2).for_each(|_| {
                self.cursor.advance();
            });
            name = field;
        }
        let name = self.renamed.get(&name).cloned().unwrap_or(name);
        if !self.declared.contains(&name) {
            let hint = suggest::hint(&name, self.declared.iter().map(String::as_str));
            return Err(self.cursor.error_at(start, format!("the variable {name} is not declared{hint}")));
        }
        self.cursor.advance();
        Ok(Variable { name, span: self.cursor.span_from(start) })
    }

    /// `record.field`, if such a variable is known.
    fn field(&self, record: &str) -> Option<String> {
        let dot = self.cursor.peek_at(1).is_some_and(|token| token.is_symbol("."));
        let field = self.cursor.peek_at(2).filter(|token| dot && token.kind == TokenKind::Word)?;
        let name = format!("{record}.{}", field.text.to_lowercase());
        self.renamed.contains_key(&name).then_some(name)
    }

    /// An unfinished string swallows the rest of the file: say where it began.
    pub(super) fn check_closed(&self, token: &Token<'_>) -> Parsed<()> {
        if !matches!(token.kind, TokenKind::String | TokenKind::Quoted) || is_closed(token.text) {
            return Ok(());
        }
        Err(self.cursor.error_at(token.span.start, "what is quoted from here on has no end".to_string()))
    }
}

/// Whether a quoted token ends as it began.
fn is_closed(text: &str) -> bool {
    match text.strip_prefix('$') {
        Some(rest) => {
            let tag_length = rest.find('$').map_or(text.len(), |at| at + 2);
            text.len() >= 2 * tag_length && text.ends_with(&text[..tag_length])
        }
        // Quotes inside are doubled, so that a closed token has an even number of them.
        None => text.chars().next().is_some_and(|quote| text.matches(quote).count() % 2 == 0),
    }
}
