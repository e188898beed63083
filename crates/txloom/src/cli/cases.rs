//! From file names to cases.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use txloom_core::case::print::print;
use txloom_core::case::{Case, Line, parse_with_lines};
use txloom_core::formats::{self, Format, Imported};
use txloom_core::program::schema::Schema;
use txloom_core::program::{Diagnostic, Program, ProgramSyntaxError, Severity, front};

use super::failure::Failure;
use super::settings::is_stdin;
use super::streams::Streams;
use crate::files::{self, walk};
use crate::hunt::findings::{DIRECTORY, Findings};

/// The length of a first line that may name the version of a program.
const FIRST_LINE_MAX: u64 = 256;

/// A case that was read.
#[derive(Debug, Clone)]
pub struct LoadedCase {
    /// Its file, as reports name it; `-` is the standard input.
    pub file: String,
    /// What it says.
    pub case: Case,
    /// The line of the file, from 1, of each entry of the case; empty if they are not known.
    pub lines: Vec<usize>,
    /// Whether the file is in another tool's format.
    pub is_foreign: bool,
}

/// Reads all cases: files as they are named, directories recursively in sorted order. Tells everything that is wrong
/// with any of them at once.
pub fn load(paths: &[PathBuf], streams: &mut Streams) -> Result<Vec<LoadedCase>, Failure> {
    let mut cases = Vec::new();
    let mut failures = Vec::new();
    for path in paths {
        match expand(path, "sql") {
            Err(failure) => failures.push(failure),
            Ok(files) => files.iter().for_each(|file| match load_file(file, streams) {
                Ok(read) => cases.extend(read),
                Err(failure) => failures.push(failure),
            }),
        }
    }
    if failures.is_empty() { Ok(cases) } else { Err(Failure::all(&failures)) }
}

/// The files that a path stands for: itself, or all with that extension in a directory.
pub(super) fn expand(path: &Path, extension: &str) -> Result<Vec<PathBuf>, Failure> {
    expand_to(path, &[extension], |path| {
        format!("there are no cases (*.{extension}) in the directory {}", path.display())
    })
}

/// The files of an application that a path stands for: itself, or all with one of the extensions in a directory.
pub(super) fn expand_any(path: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>, Failure> {
    expand_to(path, extensions, |path| {
        let wanted = extensions.join(", *.");
        format!("there are no files of an application (*.{wanted}) in the directory {}", path.display())
    })
}

/// The files that a path stands for; the last argument words the error if there are none.
fn expand_to(path: &Path, extensions: &[&str], nothing: impl Fn(&Path) -> String) -> Result<Vec<PathBuf>, Failure> {
    if is_stdin(path) || !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let is_wanted = |path: &Path| {
        path.extension().is_some_and(|found| extensions.iter().any(|one| found == *one)) && !is_program(path)
    };
    let files = walk::files(path, is_wanted)?;
    if files.is_empty() {
        return Err(Failure::bad_input(nothing(path)));
    }
    Ok(files)
}

/// Programs are SQL files, too, and often lie beside the cases that call them; their first line, `-- @program 1`, tells
/// them apart. (In a case, `@program` names a file.)
fn is_program(path: &Path) -> bool {
    let is_version =
        |line: &str| line.strip_prefix("-- @program ").is_some_and(|rest| rest.trim().parse::<u32>().is_ok());
    let beginning = files::beginning(path, FIRST_LINE_MAX);
    String::from_utf8_lossy(&beginning).lines().next().is_some_and(is_version)
}

/// Reads the cases of one file, whatever its format: a spec may hold several.
pub(super) fn load_file(path: &Path, streams: &mut Streams) -> Result<Vec<LoadedCase>, Failure> {
    let file = path.display().to_string();
    let text = read_file(path, streams)?;
    let imported = formats::read(path, &text)
        .map_err(|error| Failure::in_file(&file, error.line, error.column, &error.message, &error.text))?;
    let is_foreign = formats::detect(path, &text) != Format::Case;
    let is_only = imported.len() == 1;
    let own = (!is_foreign).then(|| parse_with_lines(&text).map(|(_, lines)| lines).ok()).flatten();
    let lines = own.unwrap_or_default();
    let mut cases = Vec::new();
    for Imported { permutations, mut case } in imported {
        if let Some(named) = case.program_path() {
            let directory = path.parent().filter(|_| !is_stdin(path)).unwrap_or(Path::new(""));
            case.program = Some(Arc::new(read_program(&directory.join(named))?));
        }
        // `a.spec#3`: the third permutation, and those that only differ in their order.
        let number = permutations.first().filter(|_| !is_only);
        let file = number.map_or_else(|| file.clone(), |number| format!("{file}#{number}"));
        cases.push(LoadedCase { file, case, lines: lines.clone(), is_foreign });
    }
    Ok(cases)
}

/// The case as it must be written into another directory: it names its program relative to itself.
pub(super) fn moved(case: &Case, from: &str, to: &Path) -> Case {
    let directory = |path: &Path| path.parent().map_or(PathBuf::new(), Path::to_path_buf);
    let mut case = case.clone();
    let (from, to) = (directory(Path::new(from)), directory(to));
    for entry in case.entries.iter_mut().filter(|_| from != to) {
        if let Line::Program(named) = &mut entry.line {
            let path = from.join(&*named);
            *named = std::fs::canonicalize(&path).unwrap_or(path).display().to_string();
        }
    }
    case
}

/// The name of a case without directory and extension: `a-3` for `a.spec#3`, `case` for the standard input.
pub(super) fn stem(file: &str) -> String {
    let (file, number) = match file.rsplit_once('#') {
        Some((file, number)) if number.parse::<usize>().is_ok() => (file, format!("-{number}")),
        _ => (file, String::new()),
    };
    let path = Path::new(file);
    let stem = path.file_stem().filter(|_| !is_stdin(path)).map_or("case".into(), |stem| stem.to_string_lossy());
    format!("{stem}{number}")
}

/// The file that a replay command can name: the case's own, or a copy among the findings if it has none.
pub(super) fn replayable(loaded: &LoadedCase) -> Result<String, Failure> {
    if Path::new(&loaded.file).exists() {
        return Ok(loaded.file.clone());
    }
    let mut findings = Findings::later(Path::new(DIRECTORY));
    let case = moved(&loaded.case, &loaded.file, &findings.dir().join("case.sql"));
    let path = findings.write_case(&stem(&loaded.file), &print(&case))?;
    Ok(path.display().to_string())
}

/// The text of a file, or the standard input.
pub(super) fn read_file(path: &Path, streams: &mut Streams) -> Result<String, Failure> {
    if is_stdin(path) { streams.read_input() } else { Ok(files::read_text(path)?) }
}

/// A program in our own notation; or whatever a front-end makes procedures of, if it understands all of it.
fn read_program(path: &Path) -> Result<Program, Failure> {
    let file = path.display().to_string();
    let text = files::read_text(path)?;
    let only_ours = match Program::parse(&text) {
        Ok(program) => return Ok(program),
        Err(error) => error,
    };
    let reading = front::read(&text, &Schema::default());
    let is_error = |diagnostic: &&Diagnostic| diagnostic.severity == Severity::Error;
    if reading.program.procedures.is_empty() || reading.diagnostics.iter().any(|it| is_error(&it)) {
        let ProgramSyntaxError { line, column, message, text, .. } = only_ours;
        return Err(Failure::in_file(&file, line, column, &message, &text));
    }
    Ok(reading.program)
}
