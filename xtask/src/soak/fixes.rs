//! *Fixes*: every change that `analyze --fix` proposes is made, and the changed program analysed and run again.
//!
//! The command line is used, and `patch` makes the change: what people would do.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use txloom::report::json;
use txloom::report::model::Body;
use txloom::report::model::analysis::{AnomaliesReport, TrialVerdict};

use super::Section;
use super::hunts::{once, table};

/// The programs: files of the corpus, with `{}` for the language of the target.
const PROGRAMS: &[&[&str]] = &[
    &["lost-update.sql"],
    &["write-skew.sql"],
    &["doors.sql"],
    &["stock.sql"],
    &["invoices.sql"],
    &["bookings.sql"],
    &["withdraw.sql"],
    &["long-fork.sql"],
    &["tatp/schema.sql", "tatp/{}.sql"],
    &["voter/schema.sql", "voter/{}.sql"],
    &["twitter/schema.sql", "twitter/{}.sql"],
    &["wikipedia/schema.sql", "wikipedia/{}.sql"],
    &["smallbank/schema.sql", "smallbank/{}.sql"],
    &["seats/schema.sql", "seats/{}.sql"],
    &["tpcc/schema.sql", "tpcc/{}.sql"],
];
const PLACES: &[(&str, &str)] =
    &[("postgres", "read committed"), ("postgres", "repeatable read"), ("mariadb", "repeatable read")];
/// A command ends after so many seconds.
const LIMIT: &str = "900";

pub(super) fn run() -> Result<Section> {
    let (mut rows, mut met) = (Vec::new(), true);
    for (target, level) in PLACES {
        for files in PROGRAMS {
            let name = files[0].split(['/', '.']).next().unwrap_or_default();
            let cells = once("fixes", &format!("{target}-{level}-{name}"), || measured(target, level, files))?;
            let number = |at: usize| cells.get(at).and_then(|cell| cell.parse::<usize>().ok()).unwrap_or(0);
            met &= number(3) == number(2);
            rows.push(
                [format!("`{target}`"), (*level).to_string(), name.to_string()].into_iter().chain(cells).collect(),
            );
        }
    }
    let header = "target | level | program | structures that show: | with a fix: | different changes: | gone when made: | \
                  not gone";
    let text = format!(
        "## Fixes\n\nEvery change that `analyze --run --fix` (2 calls) proposes, made with `patch`; then the same command on \
         the changed program: the structures that it is to remove are neither predicted nor shown.\n\n{}",
        table(header, &rows)
    );
    Ok(Section { text, met })
}

/// Structures that show, those with a fix, different changes, changes that work; and those that do not.
fn measured(target: &str, level: &str, files: &[&str]) -> Result<Vec<String>> {
    let sources: Vec<PathBuf> =
        files.iter().map(|file| Path::new("corpus/programs").join(file.replace("{}", target))).collect();
    let Some(found) = analyzed(&sources, target, level, true)? else { return Ok(out_of_time()) };
    let showing = found
        .structures
        .iter()
        .filter(|one| one.fate.as_ref().is_some_and(|fate| fate.verdict == TrialVerdict::Manifest));
    let showing: Vec<_> = showing.collect();
    let mut changes: BTreeMap<&str, (&str, Vec<&str>)> = BTreeMap::new();
    for one in showing.iter().filter(|one| one.fix.is_some()) {
        let Some(fix) = &one.fix else { continue };
        changes.entry(&fix.says).or_insert((&fix.diff, Vec::new())).1.push(&one.structure);
    }
    let (mut gone, mut not_gone) = (0, Vec::new());
    for (says, (diff, structures)) in &changes {
        match is_gone(&sources, target, level, diff, structures)? {
            true => gone += 1,
            false => not_gone.push(says.replace(['\t', '\n', '|'], " ")),
        }
    }
    let fixed = showing.iter().filter(|one| one.fix.is_some()).count();
    let numbers = [showing.len(), fixed, changes.len(), gone].map(|number| number.to_string());
    Ok(numbers.into_iter().chain([not_gone.join("; ")]).collect())
}

fn out_of_time() -> Vec<String> {
    ["?", "?", "0", "0", "not known: the time was over"].map(str::to_string).to_vec()
}

/// Whether a change, made to a copy of the sources, removes structures.
fn is_gone(sources: &[PathBuf], target: &str, level: &str, diff: &str, structures: &[&str]) -> Result<bool> {
    if diff.is_empty() {
        // A stronger level for all: there is nothing to patch.
        return Ok(true);
    }
    let folder = PathBuf::from("soak-results/fixes/changed");
    let _ = std::fs::remove_dir_all(&folder);
    let mut copies = Vec::new();
    for source in sources {
        let copy = folder.join(source);
        std::fs::create_dir_all(copy.parent().unwrap_or(&folder))?;
        std::fs::copy(source, &copy).with_context(|| format!("copying {}", source.display()))?;
        copies.push(copy);
    }
    std::fs::write(folder.join("change.diff"), diff)?;
    let patched = Command::new("patch")
        .args(["-s", "-p0", "-i", "change.diff"])
        .current_dir(&folder)
        .output()
        .context("patch")?;
    if !patched.status.success() {
        bail!("the change cannot be made: {}\n{diff}", String::from_utf8_lossy(&patched.stdout));
    }
    let Some(after) = analyzed(&copies, target, level, false)? else { return Ok(false) };
    Ok(structures.iter().all(|structure| after.structures.iter().all(|one| one.structure != *structure)))
}

/// What the command says; `None` if it takes too long.
fn analyzed(sources: &[PathBuf], target: &str, level: &str, fix: bool) -> Result<Option<AnomaliesReport>> {
    let program = std::env::current_exe()?.with_file_name("txloom");
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", LIMIT]).arg(program).arg("analyze").args(sources);
    command.args(["--level", level, "--on", target, "--instances", "2", "--for", "120s", "--format", "json", "--run"]);
    command.args(["--all"]).args(fix.then_some("--fix"));
    let Output { status, stdout, stderr } = command.stdin(Stdio::null()).output().context("running txloom")?;
    if status.code().is_none() || status.code() == Some(137) {
        return Ok(None);
    }
    match json::parse(&String::from_utf8_lossy(&stdout)).map(|report| report.body) {
        Ok(Body::Analysis(report)) => Ok(report.anomalies),
        _ => bail!("{sources:?}: {}", String::from_utf8_lossy(&stderr)),
    }
}
