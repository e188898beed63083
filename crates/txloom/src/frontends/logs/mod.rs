//! Server logs: the transactions of any application, whatever language or ORM sent them.
//!
//! # The problem
//!
//! Few applications have their SQL in one place where it could be read. But every one of them leaves its transactions in
//! the server's log, if that is switched on (`txloom doctor` tells how):
//!
//! ```text
//!   10:00:01.005 UTC [41] LOG:  statement: BEGIN
//!   10:00:01.006 UTC [41] LOG:  execute <unnamed>: SELECT stock FROM items WHERE id = $1
//!   10:00:01.006 UTC [41] DETAIL:  parameters: $1 = '7'
//!   10:00:01.008 UTC [42] LOG:  statement: BEGIN
//!   10:00:01.009 UTC [41] LOG:  execute <unnamed>: UPDATE items SET stock = $1 WHERE id = $2
//!   10:00:01.009 UTC [41] DETAIL:  parameters: $1 = '9', $2 = '7'
//!   10:00:01.010 UTC [41] LOG:  statement: COMMIT
//! ```
//!
//! # The idea
//!
//! ```text
//!   file ─lines→ reader ─events→ sessions ─transactions→ shapes ─origins→ procedures
//!                stderr, csv,    collect    scan, template   shape, fold    origin, build
//!                json, mysql                (literals → slots)  rows
//! ```
//!
//! 1. A *reader* for each format makes events of lines: somebody sent this text; it failed. Nothing is kept.
//! 2. `collect` follows each session through BEGIN and COMMIT. What failed or was rolled back is counted, and left out.
//! 3. `scan` makes a *template* of each statement: its text with slots for literals and parameters. A template is
//!    analysed once, when it is first seen; after that a statement is a number and some values.
//! 4. Transactions with the same sequence of templates, loops folded, are one *shape*. Of their values is remembered what
//!    they have in common, not what they are.
//! 5. Transactions of a shape that is seen only behind another one, with the same values, belong to it (`link`).
//! 6. A shape becomes a procedure. Which slots are constants, which are the same parameter, and which come from an answer
//!    says `origin`: the log holds no answers, but where a row was written in the log, `rows` knows what it held.
//!
//! The example above becomes, seen often enough:
//!
//! ```text
//!   CREATE PROCEDURE select_items_update_items(items_id INT, stock_change INT)
//!   BEGIN
//!     SELECT stock FROM items WHERE id = :items_id INTO :stock;
//!     SET new_stock = :stock + :stock_change;
//!     UPDATE items SET stock = :new_stock WHERE id = :items_id;
//!     COMMIT;
//!   END;
//! ```
//!
//! # What it costs
//!
//! One pass over the bytes; memory for templates, shapes, open transactions and some rows, all of them bounded.
//!
//! # Limits
//!
//! * What an application decides is not in the log: an optional part of a transaction makes another procedure.
//! * A read that no value of a later write comes from decides nothing here, though it may in the application; `analyze
//!   --external` looks at such reads, too.
//! * MySQL's log does not tell what failed.
//! * What functions, triggers and procedures of the server do is not in the log.
//! * Messages in other languages than English (`lc_messages`) are not understood.

mod lines;
mod value;
mod event;
mod message;
mod prefix;
mod stderr;
mod csv;
mod json;
mod mysql;
mod detect;
mod control;
mod token;
mod literal;
mod scan;
mod deed;
mod template;
mod rows;
mod fold;
mod shape;
mod link;
mod session;
mod collect;
mod follow;
mod replay;
mod gather;
mod origin;
mod names;
mod build;
mod record;
mod excerpt;
mod survey;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

use txloom_core::program::schema::Schema;
use txloom_core::program::{Diagnostic, Language, Program, Span};

use crate::files::{self, FileError};
pub use build::Writing;
use collect::Collector;
use detect::{Format, Unknown};
pub use excerpt::Excerpt;
use lines::Lines;
pub use record::RecordedCall;
use shape::Shape;
pub use survey::Survey;
use template::COMMIT;

/// So many procedures are made; the rarest shapes are left out. Nobody reads more, and the analysis compares each with
/// each.
pub const PROCEDURES_MAX: usize = 64;

/// So many bytes are read at once; the format is told by the first of them.
const BUFFER: usize = 1 << 20;

/// Why a log could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file cannot be opened.
    #[error(transparent)]
    File(#[from] FileError),
    /// The log cannot be read any further.
    #[error("cannot read {name}: {error}")]
    Io {
        /// The file.
        name: String,
        /// Why.
        error: io::Error,
    },
    /// No line is in a format that we know.
    #[error(
        "{name} is no log that is understood: no line looks like PostgreSQL's (stderr, csvlog, jsonlog) or like the \
         general log of MySQL or MariaDB; `txloom doctor` tells how to switch the log on"
    )]
    Unknown {
        /// The file.
        name: String,
    },
    /// Sessions cannot be told apart.
    #[error(
        "{name}: the lines do not tell which session they belong to; put %p or %c into log_line_prefix, e.g. \
         log_line_prefix = '%m [%p] '"
    )]
    NoSession {
        /// The file.
        name: String,
    },
}

/// What a log says.
#[derive(Debug, Clone, PartialEq)]
pub struct LogReading {
    /// Its transactions as procedures, the most frequent first. Places are those of the excerpt.
    pub program: Program,
    /// The lines on which the statements were first seen.
    pub excerpt: Excerpt,
    /// What could not be read.
    pub diagnostics: Vec<Diagnostic>,
    /// How much of everything there was.
    pub survey: Survey,
    /// The language of the statements.
    pub language: Language,
}

/// Whether a file looks like a log, whatever its name.
pub fn is_log(path: &Path) -> bool {
    begins_log(&files::beginning(path, 64 << 10))
}

/// Whether these are the first bytes of a log.
pub fn begins_log(beginning: &[u8]) -> bool {
    detect::is_log(beginning)
}

/// Reads a log file; `rows` are the INSERTs that the tables began with.
pub fn read(path: &Path, schema: &Schema, rows: &[String]) -> Result<LogReading, LogError> {
    let name = path.display().to_string();
    read_from(files::open(path)?, &name, schema, rows)
}

/// Reads a log from anywhere. It is read a second time, if that tells more.
pub fn read_from(source: impl Source, name: &str, schema: &Schema, rows: &[String]) -> Result<LogReading, LogError> {
    Ok(collect(source, name, schema, rows, None)?.0)
}

/// Reads a log that fits into memory, and its committed transactions as calls, in the order in which they ended.
pub fn read_calls(
    source: impl Source,
    name: &str,
    schema: &Schema,
    rows: &[String],
    writing: Writing,
) -> Result<(LogReading, Vec<RecordedCall>), LogError> {
    collect(source, name, schema, rows, Some(writing))
}

/// Something that a log is read from.
pub trait Source: Read {
    /// Goes back to the start; false if that cannot be done.
    fn restart(&mut self) -> bool;
}

impl Source for File {
    fn restart(&mut self) -> bool {
        self.rewind().is_ok()
    }
}

impl Source for io::Cursor<&[u8]> {
    fn restart(&mut self) -> bool {
        self.set_position(0);
        true
    }
}

/// A source that is read once, as a pipe is.
pub struct Once<R>(pub R);

impl<R: Read> Read for Once<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl<R: Read> Source for Once<R> {
    fn restart(&mut self) -> bool {
        false
    }
}

/// Reads a log; with `writing`, keeps its transactions.
fn collect(
    mut source: impl Source,
    name: &str,
    schema: &Schema,
    rows: &[String],
    writing: Option<Writing>,
) -> Result<(LogReading, Vec<RecordedCall>), LogError> {
    // As much as tells the format, whatever a pipe holds at the moment.
    let mut beginning = Vec::new();
    let failed = |error: io::Error| LogError::Io { name: name.to_string(), error };
    source.by_ref().take(BUFFER as u64).read_to_end(&mut beginning).map_err(failed)?;
    let format = detect::detect(&beginning).map_err(|unknown| match unknown {
        Unknown::NoLog => LogError::Unknown { name: name.to_string() },
        Unknown::NoSession => LogError::NoSession { name: name.to_string() },
    })?;
    let mut collector = Collector::new(schema, format.is_mysql());
    collector.recorded = writing.map(|_| Vec::new());
    pass(&mut collector, format, io::Cursor::new(beginning).chain(source.by_ref()), rows).map_err(failed)?;
    let links = link::links(&collector.shapes);
    if !links.is_empty() && source.restart() {
        collector = collector.again(links);
        pass(&mut collector, format, source, rows).map_err(failed)?;
    }
    Ok(reading(collector, format.is_mysql(), writing.unwrap_or_default()))
}

/// Reads a log once.
fn pass(collector: &mut Collector<'_>, format: Format, source: impl Read, rows: &[String]) -> io::Result<()> {
    collector.preload(rows);
    let mut reader = format.reader();
    let mut lines = Lines::new(BufReader::with_capacity(BUFFER, source));
    while let Some((place, line)) = lines.next()? {
        reader.line(place, line, collector);
    }
    reader.finish(collector);
    collector.finish();
    let survey = &mut collector.survey;
    survey.format = format.name().to_string();
    (survey.bytes, survey.lines, survey.cut_lines) = (lines.bytes(), lines.count(), lines.cut);
    Ok(())
}

fn reading(collector: Collector<'_>, is_mysql: bool, writing: Writing) -> (LogReading, Vec<RecordedCall>) {
    let Collector { templates, shapes, mut survey, recorded, .. } = collector;
    let templates = templates.all;
    survey.templates = templates.len() - 1;
    survey.shapes = shapes.len();
    let understood = |id: &u32| templates[*id as usize].is_understood;
    // The most frequent first; the one that came first, if there are as many.
    let mut shapes: Vec<(u32, Shape)> = (0..).zip(shapes).collect();
    shapes.sort_by_key(|(_, shape)| (std::cmp::Reverse(shape.count), shape.place.line));
    let missed: u64 = shapes.iter().flat_map(|(_, shape)| shape.misunderstood(&understood)).sum();
    survey.understood = survey.committed.saturating_sub(missed);
    shapes.truncate(PROCEDURES_MAX);
    let used: BTreeSet<u32> =
        shapes.iter().flat_map(|(_, shape)| shape.sequence.iter().copied().filter(|id| *id != COMMIT)).collect();
    let mut excerpt = Excerpt::default();
    let starts = excerpt.templates(used.iter().map(|id| (*id, &templates[*id as usize])));
    let (mut program, mut taken, mut made) = (Program::default(), BTreeSet::new(), BTreeMap::new());
    for (id, shape) in &shapes {
        let name = names::name(shape, &templates, &mut taken);
        survey.procedures.push((name.clone(), shape.count));
        let commits = shape.sequence.iter().filter(|id| **id == COMMIT).count() as u64;
        survey.covered += shape.count * (commits + 1);
        let (procedure, arguments) = build::procedure(name, shape, &templates, &starts, writing);
        made.insert(*id, (program.procedures.len(), arguments, shape));
        program.procedures.push(procedure);
    }
    let mut recorded = recorded.unwrap_or_default();
    recorded.sort_by_key(|one| one.ended);
    let calls = recorded.into_iter().filter_map(|one| {
        let (procedure, arguments, shape) = made.get(&one.shape)?;
        Some(one.call(&program.procedures[*procedure], arguments, shape, &templates, writing.rounds))
    });
    let calls = calls.collect();
    let diagnostics = complaints(&survey, &mut excerpt);
    let language = if is_mysql { Language::MySql } else { Language::Postgres };
    (LogReading { program, excerpt, diagnostics, survey, language }, calls)
}

/// What is missing, said at the first line that it is about.
fn complaints(survey: &Survey, excerpt: &mut Excerpt) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    if let Some((line, text)) = survey.unread_at.first() {
        let start = excerpt.push(*line, text);
        let span = Span { start, end: start + text.len(), line: *line };
        let others: Vec<String> = survey.unread_at.iter().skip(1).map(|(line, _)| line.to_string()).collect();
        let others = if others.is_empty() { String::new() } else { format!("; others: lines {}", others.join(", ")) };
        let message = format!("{} of {} lines could not be read, this first{others}", survey.unread, survey.lines);
        diagnostics.push(Diagnostic::warning(span, message));
    }
    if survey.covered < survey.transactions {
        let message = format!(
            "the procedures cover {:.1} % of the transactions: there are {} shapes of them, and the rarest are left out",
            survey.coverage() * 100.0,
            survey.shapes
        );
        diagnostics.push(Diagnostic::warning(Span::default(), message));
    }
    diagnostics
}
