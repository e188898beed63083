//! Findings on disk.
//!
//! ```text
//!   DIR/0001-diff-rows.sql            the reduced case; its first lines say what is wrong and how to see it again
//!   DIR/0001-diff-rows.json           the whole finding, as a report
//!   DIR/0001-diff-rows-original.sql   the case as it was generated
//!   DIR/0002-storm-write-skew.txh     the history of a storm; a report beside it, as above
//!   DIR/hunt.json                     what the hunt came to: seed, profile, targets, counts
//! ```
//!
//! This is the only place that writes them. A file appears under its name only when it is complete, and nothing that is
//! there is written over: in a directory with findings, the numbers go on, and a second hunt's summary is
//! `hunt-2.json`. A directory that the user did not name ([`DIRECTORY`]) is created with the first finding.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use txloom_core::case::{self, Case, Entry};
use txloom_core::finding::Finding;
use txloom_core::history::History;
use txloom_core::history::formats::{Format, binary};

use super::{Found, Plan, StormFound};
use crate::files::{self, FileError};
use crate::report::build::{engine_version, finding_report};
use crate::report::json;
use crate::report::model::{Body, FindingReport, FindingsReport, Report, StormReport};

/// The directory of findings, in the current one, unless the user names another.
pub const DIRECTORY: &str = "txloom-findings";

/// How wide the prose of a case file may be.
const PROSE_WIDTH: usize = 110;

/// Something could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {attempt} {}: {problem}", path.display())]
pub struct FindingsError {
    /// What was attempted: `write`, `use the directory`.
    pub attempt: &'static str,
    /// Which file.
    pub path: PathBuf,
    /// Why it failed.
    pub problem: String,
    /// True if another name would help; false if the machine is at fault (a full disk, missing permissions).
    pub is_bad_input: bool,
}

impl FindingsError {
    fn of<'a>(attempt: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> FindingsError + 'a {
        move |error| {
            let error = FileError::new(attempt, path, error);
            let is_bad_input = error.is_bad_input();
            FindingsError { attempt, path: error.path, problem: error.problem.to_string(), is_bad_input }
        }
    }
}

/// A directory of findings.
#[derive(Debug)]
pub struct Findings {
    dir: PathBuf,
    /// The number of the next finding; `None` before the directory has been opened.
    next: Option<usize>,
}

/// A finding that was written.
#[derive(Debug, Clone)]
pub struct Written {
    /// The reduced case.
    pub case: PathBuf,
    /// What is told of the finding, with the replay command for that file.
    pub report: FindingReport,
}

impl Findings {
    /// Takes a directory, which is made if it is missing.
    pub fn open(dir: &Path) -> Result<Findings, FindingsError> {
        let mut findings = Findings::later(dir);
        findings.next_number()?;
        Ok(findings)
    }

    /// Takes a directory that is opened, and made if it is missing, when the first finding is written.
    pub fn later(dir: &Path) -> Findings {
        Findings { dir: dir.to_path_buf(), next: None }
    }

    /// True if the directory has been opened: named by the user, or something was written.
    pub fn is_open(&self) -> bool {
        self.next.is_some()
    }

    /// The number of the next finding. Opens the directory.
    fn next_number(&mut self) -> Result<usize, FindingsError> {
        match self.next {
            Some(next) => Ok(next),
            None => Ok(*self.next.insert(first_number(&self.dir)?)),
        }
    }

    /// Writes a case under a name of its own: `NAME.sql`, or `NAME-2.sql` if that holds something else.
    pub fn write_case(&mut self, name: &str, text: &str) -> Result<PathBuf, FindingsError> {
        self.next_number()?;
        let holds_it = |path: &PathBuf| files::beginning(path, text.len() as u64 + 1) == text.as_bytes();
        let there = names(&self.dir, name, "sql").take_while(|path| path.exists()).find(holds_it);
        there.map_or_else(|| self.put_first(names(&self.dir, name, "sql"), text.as_bytes()), Ok)
    }

    /// Writes the history of a storm under a name of its own: `NAME.txh`, or `NAME-2.txh` if that is taken.
    pub fn write_history(&mut self, name: &str, history: &History) -> Result<PathBuf, FindingsError> {
        self.next_number()?;
        self.put_first(names(&self.dir, name, "txh"), &binary::write(history, Format::Binary))
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes a finding: the reduced case first, since it is what matters most.
    pub fn write(&mut self, found: &Found, plan: &Plan) -> Result<Written, FindingsError> {
        let mut number = self.next_number()?;
        let (name, case_path, report) = loop {
            let name = file_name(number, &found.finding);
            let case_path = self.dir.join(format!("{name}.sql"));
            let report = report(found, plan, &case_path.display().to_string());
            let case = with_header(&found.finding.case, &header(found, plan, &report.replay));
            number += 1;
            if self.put_new(&case_path, case::print::print(&case).as_bytes())? {
                break (name, case_path, report);
            }
        };
        self.next = Some(number);
        let path = |ending: &str| self.dir.join(format!("{name}{ending}"));
        let whole = Report::new(Body::Findings(FindingsReport { findings: vec![report.clone()] }));
        self.put(&path(".json"), json::print(&whole).as_bytes())?;
        if found.original != found.finding.case {
            self.put(&path("-original.sql"), case::print::print(&found.original).as_bytes())?;
        }
        Ok(Written { case: case_path, report })
    }

    /// Writes what a storm found: its history, which is the evidence, and the report beside it. Gives the history's file;
    /// `None` if there is no history, which happens if a session was left behind.
    pub fn write_recorded(&mut self, found: &StormFound) -> Result<Option<PathBuf>, FindingsError> {
        let number = self.next_number()?;
        let name = format!("{number:04}-{}", file_kind(&found.kind));
        let path = self.dir.join(format!("{name}.txh"));
        if let Some(history) = &found.history {
            self.put(&path, &binary::write(history, Format::Binary))?;
        }
        self.next = Some(number + 1);
        let history = found.history.as_ref().map(|_| path.display().to_string());
        let report = StormReport { history, ..found.report.clone() };
        let whole = Report::new(Body::Storm(Box::new(report)));
        self.put(&self.dir.join(format!("{name}.json")), json::print(&whole).as_bytes())?;
        Ok(found.history.is_some().then_some(path))
    }

    /// Writes what the hunt came to.
    pub fn write_summary(&self, report: &Report) -> Result<PathBuf, FindingsError> {
        self.put_first(names(&self.dir, "hunt", "json"), json::print(report).as_bytes())
    }

    /// Writes a file under the first of the names that is free.
    fn put_first(
        &self,
        mut candidates: impl Iterator<Item = PathBuf>,
        content: &[u8],
    ) -> Result<PathBuf, FindingsError> {
        loop {
            // The names never end.
            let path = candidates.next().unwrap_or_default();
            if self.put_new(&path, content)? {
                return Ok(path);
            }
        }
    }

    /// Writes a file that is complete as soon as it has its name; false if the name is taken.
    fn put_new(&self, path: &Path, content: &[u8]) -> Result<bool, FindingsError> {
        let unfinished = self.dir.join(format!(".txloom-{}", std::process::id()));
        let written = fs::write(&unfinished, content).and_then(|()| match fs::hard_link(&unfinished, path) {
            Ok(()) => Ok(true),
            Err(_) if path.exists() => Ok(false),
            // Not every file system has links.
            Err(_) => fs::rename(&unfinished, path).map(|()| true),
        });
        let _ = fs::remove_file(&unfinished);
        written.map_err(FindingsError::of("write", path))
    }

    /// Writes a file that is complete as soon as it has its name.
    fn put(&self, path: &Path, content: &[u8]) -> Result<(), FindingsError> {
        let unfinished = self.dir.join(format!(".txloom-{}", std::process::id()));
        let written = fs::write(&unfinished, content).and_then(|()| fs::rename(&unfinished, path));
        written.map_err(|error| {
            // A disk that is full should at least not be left with half a file.
            let _ = fs::remove_file(&unfinished);
            FindingsError::of("write", path)(error)
        })
    }
}

/// Prepares a directory of findings, and gives the number that follows those of the findings in it.
fn first_number(dir: &Path) -> Result<usize, FindingsError> {
    if dir.exists() && !dir.is_dir() {
        let problem = "it is a file; findings need a directory of their own".to_string();
        let path = dir.to_path_buf();
        return Err(FindingsError { attempt: "use the directory", path, problem, is_bad_input: true });
    }
    fs::create_dir_all(dir).map_err(FindingsError::of("make the directory", dir))?;
    let entries = fs::read_dir(dir).map_err(FindingsError::of("read the directory", dir))?;
    let numbers = entries.flatten().filter_map(|entry| number_of(&entry.file_name().to_string_lossy()));
    let next = numbers.max().map_or(1, |last| last + 1);
    probe(dir)?;
    Ok(next)
}

/// Finds out whether anything can be written before hours of work depend on it.
fn probe(dir: &Path) -> Result<(), FindingsError> {
    let path = dir.join(format!(".txloom-{}", std::process::id()));
    let tried = fs::write(&path, "").and_then(|()| fs::remove_file(&path));
    tried.map_err(FindingsError::of("write into the directory", dir))
}

/// `NAME.EXTENSION`, `NAME-2.EXTENSION`, …
fn names(dir: &Path, name: &str, extension: &str) -> impl Iterator<Item = PathBuf> {
    let first = dir.join(format!("{name}.{extension}"));
    let (dir, name, extension) = (dir.to_path_buf(), name.to_string(), extension.to_string());
    [first].into_iter().chain((2_u64..).map(move |number| dir.join(format!("{name}-{number}.{extension}"))))
}

/// The number that a file's name begins with: 12 of `0012-diff-rows.sql`.
fn number_of(name: &str) -> Option<usize> {
    let (digits, _) = name.split_once('-')?;
    (digits.len() >= 4).then(|| digits.parse().ok())?
}

/// `0012-diff-rows`: the number, and what kind of violation it is.
fn file_name(number: usize, finding: &Finding) -> String {
    format!("{number:04}-{}", file_kind(finding.fingerprint.kind()))
}

/// A kind of violation as a part of a file's name.
fn file_kind(kind: &str) -> String {
    kind.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// The report of a finding whose reduced case is in a file.
pub fn report(found: &Found, plan: &Plan, file: &str) -> FindingReport {
    let mut replay = found.finding.replay_command(file);
    if !plan.replay_flags.is_empty() {
        replay = format!("{replay} {}", plan.replay_flags);
    }
    finding_report(&found.finding, case::print::print(&found.finding.case), replay)
}

/// The report of a finding that is in no file: its group is generated again.
pub fn unwritten_report(found: &Found, plan: &Plan) -> FindingReport {
    let replay = plan.group_command(found.origin.group);
    finding_report(&found.finding, case::print::print(&found.finding.case), replay)
}

/// The first lines of a case file: what is wrong, where it was found, how to see it again.
fn header(found: &Found, plan: &Plan, replay: &str) -> Vec<String> {
    let targets: Vec<String> =
        plan.targets.iter().map(|engine| format!("{} {}", engine.target, engine_version(engine))).collect();
    let super::Origin { seed, group, case } = found.origin;
    let finding = &found.finding;
    let mut lines = wrap(&finding.sentence);
    lines.push(String::new());
    let (targets, level) = (targets.join(" and "), &finding.level);
    lines.extend(wrap(&format!("Found in {targets} at {level} by the oracle {}.", finding.oracle)));
    lines.extend(wrap(&format!("Kind of violation: {}.", finding.fingerprint)));
    lines.extend(wrap(&format!("Generated: profile {}, seed {seed}, group {group}, case {case}.", plan.profile)));
    lines.push(format!(" To generate it again: {}", plan.group_command(group)));
    lines.push(format!(" To see it again: {replay}"));
    lines
}

/// The case under a new header: what the generator wrote there is part of it.
fn with_header(case: &Case, header: &[String]) -> Case {
    let mut case = case.clone();
    let first = case.entries.first_mut().map(|entry: &mut Entry| &mut entry.prose);
    *first.unwrap_or(&mut case.epilogue) = header.to_vec();
    case
}

/// Lines of prose, as a case file has them behind `--`.
fn wrap(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let is_full = |line: &String| !line.is_empty() && line.chars().count() + word.chars().count() >= PROSE_WIDTH;
        if lines.last().is_none_or(is_full) {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
#[cfg(feature = "sqlite")]
mod tests;
