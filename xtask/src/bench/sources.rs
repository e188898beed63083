//! How fast the sources of an application become procedures.
//!
//! The Java classes of the corpus's benchmark programs, each several times under other names, until there are ten thousand
//! lines. What is measured is all that `txloom analyze` does before it begins to analyse: reading the syntax, following
//! the code, and what each statement reads and writes.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use txloom::analyze::{Project, SourceFile};

/// The programs; together about two thousand lines.
const PROGRAMS: &[&str] = &["tpcc", "seats", "smallbank", "tatp", "voter", "twitter", "wikipedia"];
/// Classes whose names the front-end knows: they are there once.
const KNOWN: &[&str] = &["SQLStmt"];
/// How often each other class is there.
const COPIES: usize = 6;
/// The bar: so many lines in so many seconds.
const LINES: usize = 10_000;
const SECONDS_MAX: f64 = 2.0;

/// Measures every program. True if the bar is met.
pub(super) fn run(table: &mut String) -> Result<bool> {
    table.push_str(
        "\nReading Java: classes of the corpus, several times under other names.\n\n\
         | program | lines | procedures | statements | seconds | bar |\n|---|---:|---:|---:|---:|---|\n",
    );
    let (mut lines, mut seconds) = (0, 0.0);
    for name in PROGRAMS {
        let one = measure(name).with_context(|| format!("reading {name}"))?;
        lines += one.lines;
        seconds += one.seconds;
        writeln!(table, "| {name} | {} | {} | {} | {:.2} | |", one.lines, one.procedures, one.statements, one.seconds)?;
    }
    anyhow::ensure!(lines >= LINES, "there are only {lines} lines");
    let is_met = seconds * LINES as f64 / (lines as f64) < SECONDS_MAX;
    let verdict = if is_met { "met" } else { "missed" };
    writeln!(table, "| all | {lines} | | | {seconds:.2} | {LINES} lines in {SECONDS_MAX:.0} s: {verdict} |")?;
    Ok(is_met)
}

struct Measured {
    lines: usize,
    procedures: usize,
    statements: usize,
    seconds: f64,
}

fn measure(name: &str) -> Result<Measured> {
    let folder = Path::new("corpus/programs").join(name);
    let classes = classes(&folder.join("java"))?;
    let (known, own): (Vec<_>, Vec<_>) = classes.iter().partition(|(stem, _)| KNOWN.contains(&stem.as_str()));
    let stems: BTreeSet<&str> = own.iter().map(|(stem, _)| stem.as_str()).collect();
    let copy = |copy: usize| own.iter().map(|(stem, text)| (stem, copy, text)).collect::<Vec<_>>();
    let mut files: Vec<SourceFile> = (0..COPIES)
        .flat_map(copy)
        .map(|(stem, copy, text)| SourceFile::new(format!("{stem}{copy}.java"), renamed(text, &stems, copy)))
        .collect();
    files.extend(known.iter().map(|(stem, text)| SourceFile::new(format!("{stem}.java"), text.as_str())));
    let lines = files.iter().map(|file| file.text.lines().count()).sum();
    files.push(SourceFile::new("schema.sql", std::fs::read_to_string(folder.join("schema.sql"))?));
    let start = Instant::now();
    let project = Project::read(files);
    let seconds = start.elapsed().as_secs_f64();
    let (all, understood) = project.statements;
    anyhow::ensure!(all > 0 && all == understood, "{understood} of {all} statements are understood");
    Ok(Measured { lines, procedures: project.program.procedures.len(), statements: all, seconds })
}

/// The classes of a folder: the name of each, and its text.
fn classes(folder: &Path) -> Result<Vec<(String, String)>> {
    let mut classes = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        classes.push((stem.unwrap_or_default(), std::fs::read_to_string(&path)?));
    }
    classes.sort();
    Ok(classes)
}

/// The text with another name for each class.
fn renamed(text: &str, classes: &BTreeSet<&str>, copy: usize) -> String {
    let mut renamed = String::with_capacity(text.len());
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        renamed.push_str(word);
        if classes.contains(word) {
            renamed.push_str(&copy.to_string());
        }
        let end = behind.find(is_part).unwrap_or(behind.len());
        renamed.push_str(&behind[..end]);
        rest = &behind[end..];
    }
    renamed
}
