//! Text → [`Program`].
//!
//! A recursive-descent parser over the tokens of [`crate::sql`]. What it does not know is SQL for the server, up to the
//! next semicolon; so it must be careful not to swallow what is *meant* for it: an `END` inside a statement that is not
//! the end of a `CASE` is a forgotten semicolon, and said so.
//!
//! Undeclared variables, double declarations and double procedures are errors here, where there is a line to show.

use crate::program::cursor::{Cursor, Parsed};
use crate::program::ir::{
    Branch, Expr, FORMAT_VERSION, Parameter, Procedure, Program, Span, SqlPart, SqlStatement, Statement, StatementKind,
    Variable,
};
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
}

/// Words that cannot name a variable: an expression or a block would not know what is meant.
#[rustfmt::skip]
pub(super) const RESERVED: &[&str] = &[
    "and", "begin", "case", "commit", "create", "declare", "default", "div", "do", "else", "elseif", "elsif", "end",
    "false", "if", "into", "is", "not", "null", "or", "procedure", "return", "rollback", "set", "then", "true",
    "while",
];

/// How deep blocks and parentheses may be nested: hostile input must not exhaust the stack.
pub(super) const NESTING_MAX: usize = 64;

impl Program {
    /// Reads a program.
    pub fn parse(text: &str) -> Result<Program, ProgramSyntaxError> {
        let mut parser = Parser { cursor: Cursor::new(text), declared: Vec::new(), nesting: 0 };
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
pub(super) struct Parser<'a> {
    pub(super) cursor: Cursor<'a>,
    declared: Vec<String>,
    pub(super) nesting: usize,
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

    fn procedure(&mut self) -> Parsed<Procedure> {
        let start = self.cursor.start();
        self.declared.clear();
        self.cursor.expect_word("CREATE", "PROCEDURE")?;
        self.cursor.expect_word("PROCEDURE", "after CREATE")?;
        let (name, _) = self.new_name("the name of a procedure")?;
        let parameters = self.parameters()?;
        self.cursor.expect_word("BEGIN", "before the body of the procedure")?;
        let body = self.block(&["END"])?;
        self.cursor.expect_word("END", "after the body of the procedure")?;
        self.cursor.expect_symbol(";", "after the procedure's END")?;
        Ok(Procedure { name, parameters, body, span: self.cursor.span_from(start) })
    }

    fn parameters(&mut self) -> Parsed<Vec<Parameter>> {
        let mut parameters = Vec::new();
        self.cursor.expect_symbol("(", "after the procedure's name")?;
        if self.cursor.accept_symbol(")") {
            return Ok(parameters);
        }
        loop {
            let start = self.cursor.start();
            let variable = self.new_variable("the name of a parameter")?;
            let type_name = self.type_name(&variable.name)?;
            self.declared.push(variable.name.clone());
            parameters.push(Parameter { name: variable.name, type_name, span: self.cursor.span_from(start) });
            if !self.cursor.accept_symbol(",") {
                self.cursor.expect_symbol(")", "after the parameters")?;
                return Ok(parameters);
            }
        }
    }

    /// A name that may be given to something, in lower case, with its place.
    fn new_name(&mut self, what: &str) -> Parsed<(String, Span)> {
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

    /// Statements up to one of the words that end the block; the word is left for the caller.
    fn block(&mut self, ends: &[&str]) -> Parsed<Vec<Statement>> {
        self.nesting += 1;
        if self.nesting > NESTING_MAX {
            return Err(self.cursor.error_at(self.cursor.start(), "the blocks are nested too deeply".to_string()));
        }
        let mut statements = Vec::new();
        while !ends.iter().any(|end| self.cursor.is_word(end)) {
            if self.cursor.peek().is_none() {
                return Err(self.cursor.unexpected(&format!("a statement or {}", ends.join(" or "))));
            }
            statements.push(self.statement()?);
        }
        self.nesting -= 1;
        Ok(statements)
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let start = self.cursor.start();
        let kind = match self.keyword().as_str() {
            "declare" => self.declare()?,
            "set" if self.is_assignment() => self.assignment()?,
            "if" => self.conditional()?,
            "while" => self.repetition()?,
            "commit" if self.is_alone() => self.single(StatementKind::Commit),
            "rollback" if self.is_alone() => self.single(StatementKind::Rollback),
            "return" => self.returns()?,
            "else" | "elseif" | "elsif" | "then" | "do" | "end" | "into" => {
                return Err(self.cursor.unexpected("a statement"));
            }
            _ if self.cursor.is_symbol(";") => return Err(self.cursor.unexpected("a statement")),
            _ => StatementKind::Sql(self.sql()?),
        };
        let span = self.cursor.span_from(start);
        self.cursor.expect_symbol(";", "at the end of the statement")?;
        Ok(Statement { kind, span })
    }

    /// The keyword that the statement begins with, in lower case; empty if it is no word.
    fn keyword(&self) -> String {
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
            let body = self.block(&["ELSEIF", "ELSIF", "ELSE", "END"])?;
            branches.push(Branch { condition, body });
        }
        let otherwise = if self.cursor.accept_word("ELSE") { self.block(&["END"])? } else { Vec::new() };
        self.block_end("IF")?;
        Ok(StatementKind::If { branches, otherwise })
    }

    fn repetition(&mut self) -> Parsed<StatementKind> {
        self.cursor.advance();
        let condition = self.expression()?;
        self.cursor.expect_word("DO", "after the condition")?;
        let body = self.block(&["END"])?;
        self.block_end("WHILE")?;
        Ok(StatementKind::While { condition, body })
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
        let name = token.text.trim_start_matches(':').to_lowercase();
        if !self.declared.contains(&name) {
            let hint = suggest::hint(&name, self.declared.iter().map(String::as_str));
            return Err(self.cursor.error_at(start, format!("the variable {name} is not declared{hint}")));
        }
        self.cursor.advance();
        Ok(Variable { name, span: self.cursor.span_from(start) })
    }

    /// A statement for the server: its text, cut at the variables.
    fn sql(&mut self) -> Parsed<SqlStatement> {
        let mut pieces = Pieces::default();
        let mut copied = self.cursor.start();
        let mut cases = 0usize;
        while let Some(token) = self.cursor.peek().cloned() {
            if token.is_symbol(";") {
                break;
            }
            if token.is_word("END") && cases == 0 {
                let message = "END inside a statement; is a `;` missing before it?".to_string();
                return Err(self.cursor.error_at(token.span.start, message));
            }
            cases += usize::from(token.is_word("CASE"));
            cases -= usize::from(token.is_word("END"));
            self.check_closed(&token)?;
            let into =
                token.is_word("INTO") && self.cursor.peek_at(1).is_some_and(|next| next.kind == TokenKind::Variable);
            let text = &self.cursor.source()[copied..token.span.start];
            if into {
                pieces.targets(self, text)?;
            } else if token.kind == TokenKind::Variable {
                pieces.text(text);
                pieces.0.push(SqlPart::Use(self.mention()?));
            } else {
                self.cursor.advance();
                continue;
            }
            copied = self.cursor.span_from(0).end;
        }
        pieces.text(&self.cursor.source()[copied..self.cursor.span_from(copied).end]);
        Ok(SqlStatement { parts: pieces.0 })
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

/// The parts of a SQL statement, as they are found.
#[derive(Default)]
struct Pieces(Vec<SqlPart>);

impl Pieces {
    fn text(&mut self, text: &str) {
        // What follows INTO must not grow together with what stands before it.
        let after_into = matches!(self.0.last(), Some(SqlPart::Into(_)));
        let gap = if after_into && !text.is_empty() && !text.starts_with(char::is_whitespace) { " " } else { "" };
        if !text.is_empty() {
            self.0.push(SqlPart::Text(format!("{gap}{text}")));
        }
    }

    /// `INTO :a, :b`, with the text before it: the blanks between them belong to neither.
    fn targets(&mut self, parser: &mut Parser<'_>, text: &str) -> Parsed<()> {
        if self.0.iter().any(|part| matches!(part, SqlPart::Into(_))) {
            let message = "a statement can have one INTO with variables".to_string();
            return Err(parser.cursor.error_at(parser.cursor.start(), message));
        }
        self.text(text.trim_end());
        parser.cursor.advance();
        let mut variables = vec![parser.mention()?];
        let more = |parser: &Parser<'_>| {
            parser.cursor.is_symbol(",")
                && parser.cursor.peek_at(1).is_some_and(|next| next.kind == TokenKind::Variable)
        };
        while more(parser) {
            parser.cursor.advance();
            variables.push(parser.mention()?);
        }
        self.0.push(SqlPart::Into(variables));
        Ok(())
    }
}
