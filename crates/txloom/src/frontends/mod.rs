//! Front-ends: applications in the languages that people write them in → programs.
//!
//! ```text
//!   .sql            ──→ core's own front-ends: our notation, MySQL's, PL/pgSQL, tables
//!   .java           ──→ java   ─┐
//!   .py             ──→ python ─┼→ host: one tree, one way to follow it ──→ procedures
//!   .pgc, .pc, .c   ──→ c      ─┘
//!   logs of servers ──→ logs: what was sent, whoever sent it ──→ procedures
//! ```
//!
//! All files of an application are read together: a constant, a helper method, a table may stand in any of them.

pub(crate) mod c;
pub(crate) mod host;
pub(crate) mod java;
pub mod logs;
pub(crate) mod python;
pub(crate) mod syntax;
#[cfg(test)]
mod cases;

use txloom_core::program::schema::Schema;
use txloom_core::program::{Diagnostic, Language, Procedure};

use crate::analyze::SourceFile;

/// A language that an application may be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourceLanguage {
    /// SQL files: tables, stored procedures, our own notation.
    Sql,
    /// Java with JDBC.
    Java,
    /// Python with DB-API or SQLAlchemy.
    Python,
    /// C with embedded SQL.
    C,
}

/// Each language with the endings of its files.
const LANGUAGES: &[(SourceLanguage, &[&str])] = &[
    (SourceLanguage::Sql, &["sql", "ddl", "cql"]),
    (SourceLanguage::Java, &["java"]),
    (SourceLanguage::Python, &["py"]),
    (SourceLanguage::C, &["pgc", "pc", "ec", "sqc", "c"]),
];

impl SourceLanguage {
    /// The language of a file: by the ending of its name, or else by what it says.
    pub fn of(file: &SourceFile) -> SourceLanguage {
        if file.log.is_some() {
            return SourceLanguage::Sql;
        }
        SourceLanguage::named(&file.name).unwrap_or_else(|| SourceLanguage::by_content(&file.text))
    }

    /// The language of a file by the ending of its name.
    pub fn named(file: &str) -> Option<SourceLanguage> {
        let ending = file.rsplit_once('.').map(|(_, ending)| ending.to_lowercase()).unwrap_or_default();
        let known = LANGUAGES.iter().find(|(_, endings)| endings.contains(&ending.as_str()));
        known.map(|(language, _)| *language)
    }

    fn by_content(text: &str) -> SourceLanguage {
        let begins =
            |line: &str| ["import java.", "public class ", "package "].iter().any(|word| line.starts_with(word));
        let is_java = text.lines().take(200).any(|line| begins(line.trim_start()) && !line.contains("--"));
        if is_java { SourceLanguage::Java } else { SourceLanguage::Sql }
    }

    /// The endings of the files that are read from a directory.
    pub fn endings() -> impl Iterator<Item = &'static str> {
        LANGUAGES.iter().flat_map(|(_, endings)| endings.iter().copied())
    }
}

/// What a file of a host language says.
#[derive(Debug, Clone, Default)]
pub struct FileReading {
    /// The procedures, with places in that file.
    pub procedures: Vec<Procedure>,
    /// What could not be read or followed.
    pub diagnostics: Vec<Diagnostic>,
    /// The language of its SQL.
    pub language: Language,
    /// How many SQL statements stand in the file, and how many of them are understood.
    pub statements: (usize, usize),
}

/// Reads the files that are not SQL, all together; `known` are the tables. Each answer comes with the position of its
/// file.
pub fn read(files: &[SourceFile], known: &Schema, language: Language) -> Vec<(usize, FileReading)> {
    let is_host = |file: &SourceFile| SourceLanguage::of(file) != SourceLanguage::Sql;
    if !files.iter().any(is_host) {
        return Vec::new();
    }
    with_deep_stack(|| read_host(files, known, language))
}

/// Code is followed as deep as it is nested. A panic there is one here: nobody may take it for an empty program.
fn with_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, work);
        let thread = thread.unwrap_or_else(|error| panic!("no thread to read the sources with: {error}"));
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Enough for the deepest nesting that is followed, also in a build without optimisations.
const STACK_SIZE: usize = 256 << 20;

/// A host language: how its files are read, and what the words of its library mean.
type Host = (SourceLanguage, fn(&str) -> host::tree::Unit, &'static dyn host::vocabulary::Vocabulary);

const HOSTS: &[Host] = &[
    (SourceLanguage::Java, java::read, &java::jdbc::Jdbc),
    (SourceLanguage::Python, python::read, &python::dbapi::DbApi),
    (SourceLanguage::C, c::read, &c::ecpg::Ecpg),
];

fn read_host(files: &[SourceFile], known: &Schema, language: Language) -> Vec<(usize, FileReading)> {
    let mut readings = Vec::new();
    for (host, reader, vocabulary) in HOSTS {
        let of_host = files.iter().enumerate().filter(|(_, file)| SourceLanguage::of(file) == *host);
        let units: Vec<(usize, host::tree::Unit)> = of_host.map(|(at, file)| (at, reader(&file.text))).collect();
        if !units.is_empty() {
            readings.extend(host::roots::read(&units, *vocabulary, known, language));
        }
    }
    readings
}

#[cfg(all(test, feature = "cli"))]
mod tests {
    use std::io;

    use super::with_deep_stack;
    use crate::cli::{self, Streams};
    use crate::exit::Exit;

    #[test]
    fn what_is_read_comes_back() {
        assert_eq!(with_deep_stack(|| 6 * 7), 42);
    }

    #[test]
    fn a_defect_is_an_internal_error_not_an_empty_program() {
        let mut streams = Streams::of("", io::sink(), io::sink());
        let exit = cli::guarded(&mut streams, |_| {
            with_deep_stack(|| panic!("a defect, for the test"));
            Ok(Exit::Clean)
        });
        assert_eq!(exit, Exit::Internal);
    }
}
