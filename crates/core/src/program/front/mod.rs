//! Front-ends: sources of several languages → one [`Program`], with what could not be read.
//!
//! ```text
//!   file ──units──→ CREATE TABLE …                  ──→ schema
//!                   CREATE PROCEDURE p() BEGIN … END  ──→ native or MySQL ─┐
//!                   CREATE FUNCTION f() … AS $$ … $$  ──→ PL/pgSQL ────────┴→ procedures
//! ```
//!
//! Which language it is, the text shows: `-- @program`, or variables with a colon, is our own notation; a body that is a
//! string is PL/pgSQL; any other body is MySQL's. What the languages do differently is said in the program itself, so
//! that the interpreter need not know where it came from:
//!
//! | | MySQL, MariaDB | PL/pgSQL | the program |
//! |---|---|---|---|
//! | a name that is a variable *and* a column | the variable (we warn) | an error | `:name` is a variable |
//! | `SELECT … INTO` without a row | variables stay | NULL | `INTO KEEP`, `INTO FIRST` |
//! | … with several | an error | the first | `INTO KEEP`, `INTO FIRST` |
//! | no row | NOT FOUND handler | `FOUND` | `FOUND()`, asked after the statement |
//! | `FETCH` behind the last row | handler, or an error | NULL | `FETCH` and `FOUND()` |
//! | transactions | each statement, unless START TRANSACTION | the whole call, up to COMMIT | `AUTOCOMMIT` or not |
//!
//! A MySQL procedure that never says START TRANSACTION is taken to run in its caller's transaction.
//!
//! **Expressions that we cannot compute** (functions, subqueries, division, whose digits are each server's own) are
//! computed by the server: `SET x = f(y)` becomes `SELECT f(:y) INTO :x`, and a condition gets a variable of its own. So
//! every program can be run, and what a subquery in a condition reads is seen.
//!
//! # Limits
//!
//! Exception handlers are not followed: an error of the database ends the call, as EXIT HANDLER with ROLLBACK does. What
//! else they do is a warning. Dynamic SQL and calls of other routines cannot be analysed, and are said to be.

mod units;
mod names;
mod holes;
mod body;
mod control;
mod mysql;
mod plpgsql;
mod records;
mod routine;
mod copy;
mod definitions;
#[cfg(test)]
mod tests;

pub use definitions::Definitions;
pub(crate) use units::{Source, Unit};

use crate::program::access::{ProcedureAccess, nodes};
use crate::program::cursor::Cursor;
use crate::program::diagnostic::Diagnostic;
use crate::program::ir::{FORMAT_VERSION, Procedure, Program, Span};
use crate::program::located::Language;
use crate::program::parse::Parser;
use crate::program::schema::{Reader, Schema};
use crate::sql::{Token, TokenKind};

/// What a file says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading {
    /// Its procedures.
    pub program: Program,
    /// The tables: those that were known before, and its own.
    pub schema: Schema,
    /// What could not be read or resolved, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// The language of its SQL.
    pub language: Language,
    /// The graph of each procedure.
    pub accesses: Vec<ProcedureAccess>,
    /// The triggers, which are not read.
    pub triggers: Vec<Trigger>,
}

/// A trigger: statements that belong to each statement that writes its table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trigger {
    /// The table's plain name, in lower case.
    pub table: String,
    /// The definition.
    pub span: Span,
}

/// Reads a file of definitions and procedures; `known` are tables that other files define.
pub fn read(text: &str, known: &Schema) -> Reading {
    let source = Source::new(text);
    let units = source.units();
    let mut reader = Reader::new(known.clone(), source.language);
    units.iter().for_each(|unit| reader.unit(unit));
    let (schema, mut diagnostics) = reader.finish();
    let is_native = text.lines().take_while(|line| !line.to_uppercase().starts_with("CREATE")).any(is_header);
    if is_native {
        diagnostics.extend(unknown_version(text));
    }
    let mut program = Program::default();
    for unit in units.iter().filter(|unit| unit.is_routine()) {
        let (procedure, complaints) = if is_native || speaks_native(unit) {
            native(&source, unit)
        } else {
            routine::read(&source, unit, &schema)
        };
        diagnostics.extend(complaints);
        add(&mut program, procedure, &mut diagnostics);
    }
    let triggers = units.iter().filter_map(routine::trigger).collect();
    Reading { schema: schema.clone(), triggers, ..resolve(program, &schema, source.language, diagnostics) }
}

/// What the procedures of a program do to tables that are known; front-ends outside end with this.
pub fn resolve(program: Program, schema: &Schema, language: Language, mut diagnostics: Vec<Diagnostic>) -> Reading {
    let mut accesses = Vec::new();
    for procedure in &program.procedures {
        let (access, complaints) = nodes::of_procedure(procedure, schema, language);
        diagnostics.extend(complaints);
        accesses.push(access);
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
    diagnostics.dedup_by(|a, b| a.span.start == b.span.start && a.message == b.message);
    Reading { program, schema: Schema::default(), diagnostics, language, accesses, triggers: Vec::new() }
}

fn is_header(line: &str) -> bool {
    line.starts_with("-- @program")
}

fn unknown_version(text: &str) -> Option<Diagnostic> {
    let at = text.find("-- @program")?;
    let line = text[at..].lines().next().unwrap_or("");
    let number = text[..at].matches('\n').count() + 1;
    let span = Span { start: at, end: at + line.len(), line: number };
    let is_ours = line.trim_end() == format!("-- @program {FORMAT_VERSION}");
    let hint = format!("this version reads `-- @program {FORMAT_VERSION}`");
    (!is_ours).then(|| Diagnostic::error(span, "the version of the notation is not known").with_hint(hint))
}

fn add(program: &mut Program, procedure: Option<Procedure>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(procedure) = procedure else { return };
    if program.procedure(&procedure.name).is_some() {
        let message = format!("there is already a procedure {}", procedure.name);
        diagnostics.push(Diagnostic::error(procedure.span, message).with_hint("give this one another name"));
        return;
    }
    program.procedures.push(procedure);
}

/// Whether a body names its variables with colons.
fn speaks_native(unit: &Unit<'_>) -> bool {
    let loops = [":loop", ":while", ":repeat", ":begin"];
    let is_variable =
        |token: &Token<'_>| token.kind == TokenKind::Variable && !loops.contains(&token.text.to_lowercase().as_str());
    unit.tokens.iter().any(is_variable)
}

/// A procedure in our own notation; a statement that cannot be read costs only itself.
fn native(source: &Source, unit: &Unit<'_>) -> (Option<Procedure>, Vec<Diagnostic>) {
    let end = unit.span.end;
    let mut tokens = unit.tokens.clone();
    tokens.push(Token { kind: TokenKind::Symbol, text: ";", span: end..end });
    let mut parser = Parser::new(Cursor::within(source.text(), tokens, source.line_starts()));
    parser.recovered = Some(Vec::new());
    let procedure = parser.procedure();
    let mut errors = parser.recovered.take().unwrap_or_default();
    let procedure = procedure.map_err(|error| errors.push(error)).ok();
    (procedure, errors.into_iter().map(Diagnostic::from).collect())
}
