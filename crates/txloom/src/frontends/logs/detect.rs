//! Which server wrote a file, and how: told by its first lines.

use super::csv::Csv;
use super::event::Reader;
use super::json::Json;
use super::mysql::{self, General};
use super::prefix::{Label, Style, split};
use super::stderr::Stderr;
use super::{csv, json};

/// A format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// PostgreSQL, `log_destination = stderr`.
    Stderr(Style),
    /// PostgreSQL, `log_destination = csvlog`.
    Csv,
    /// PostgreSQL, `log_destination = jsonlog`.
    Json,
    /// MySQL, MariaDB: `general_log`.
    General,
}

impl Format {
    pub(super) fn name(self) -> &'static str {
        match self {
            Format::Stderr(_) => "PostgreSQL's log (stderr)",
            Format::Csv => "PostgreSQL's log (csvlog)",
            Format::Json => "PostgreSQL's log (jsonlog)",
            Format::General => "the general log of MySQL or MariaDB",
        }
    }

    pub(super) fn is_mysql(self) -> bool {
        self == Format::General
    }

    pub(super) fn reader(self) -> Box<dyn Reader> {
        match self {
            Format::Stderr(style) => Box::new(Stderr::new(style)),
            Format::Csv => Box::new(Csv::default()),
            Format::Json => Box::new(Json),
            Format::General => Box::new(General::default()),
        }
    }
}

/// Why the format is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    /// It looks like PostgreSQL's, but no line tells its session.
    NoSession,
    /// It looks like nothing that we know.
    NoLog,
}

/// So many lines are looked at.
const LINES: usize = 2_000;

/// Tells the format by the beginning of a file: the one that most lines agree with.
pub(super) fn detect(beginning: &[u8]) -> Result<Format, Unknown> {
    let lines =
        || beginning.split(|byte| *byte == b'\n').take(LINES).map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let count = |is: fn(&[u8]) -> bool| lines().filter(|line| is(line)).count();
    let labelled = |line: &[u8]| split(line).is_some_and(|split| matches!(split.label, Label::Message(_)));
    let counts = [
        (count(json::is_record), Some(Format::Json)),
        (count(csv::is_record), Some(Format::Csv)),
        (count(mysql::is_entry), Some(Format::General)),
        (lines().filter(|line| line.first() != Some(&b'\t') && labelled(line)).count(), None),
    ];
    let Some((best, format)) = counts.into_iter().max_by_key(|(count, _)| *count).filter(|(best, _)| *best > 0) else {
        return Err(Unknown::NoLog);
    };
    let _ = best;
    if let Some(format) = format {
        return Ok(format);
    }
    let prefixes = || lines().filter(|line| line.first() != Some(&b'\t')).filter_map(split).map(|split| split.prefix);
    Style::detect(prefixes()).map(Format::Stderr).ok_or(Unknown::NoSession)
}

/// Whether a file looks like a log: for files whose name says nothing.
pub(super) fn is_log(beginning: &[u8]) -> bool {
    detect(beginning) != Err(Unknown::NoLog)
}
