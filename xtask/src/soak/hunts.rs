//! What the sections that hunt share: one line of figures per hunt, kept in a file so that it is done once.

use std::path::PathBuf;

use anyhow::{Context, Result};
use txloom::engines::{self, Target};
use txloom::hunt::{Hunt, Summary};
use txloom_core::engine::{Engine, EngineError};
use txloom_core::generate::model::Model;
use txloom_core::generate::profile;

use super::FOLDER;

/// The profile of all hunts.
pub(super) fn model() -> Model {
    profile::shipped("dt2").expect("the profile is shipped")
}

/// Opens the targets of one worker.
pub(super) fn open(targets: &[Target]) -> Result<Vec<Box<dyn Engine>>, EngineError> {
    targets.iter().map(engines::open).collect()
}

/// Reads targets.
pub(super) fn parse<T: AsRef<str>>(targets: &[T]) -> Result<Vec<Target>> {
    targets.iter().map(|target| Ok(Target::parse(target.as_ref())?)).collect()
}

/// Runs a hunt to its end; one that could not go on is an error.
pub(super) fn finish(hunt: &Hunt<'_>) -> Result<Summary> {
    let summary = hunt.run(&mut ())?;
    match summary.ended {
        txloom::hunt::Ended::Failed(error) => Err(error.into()),
        _ => Ok(summary),
    }
}

/// The cells of a line of a table: from the file where they stand since they were measured, or measured now.
pub(super) fn once(section: &str, name: &str, measure: impl FnOnce() -> Result<Vec<String>>) -> Result<Vec<String>> {
    let folder = PathBuf::from(FOLDER).join(section);
    let path = folder.join(name.replace(['/', ' ', '@'], "_"));
    if let Ok(text) = std::fs::read_to_string(&path) {
        return Ok(text.trim_end_matches('\n').split('\t').map(str::to_string).collect());
    }
    let cells = measure().with_context(|| format!("{section}: {name}"))?;
    println!("{section} {name}: {}", cells.join(" | "));
    std::fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let unfinished = path.with_extension("new");
    std::fs::write(&unfinished, cells.join("\t") + "\n")?;
    std::fs::rename(&unfinished, &path).context("saving progress")?;
    Ok(cells)
}

/// A table in Markdown: the header's names, with `:` at the end where numbers stand.
pub(super) fn table(header: &str, rows: &[Vec<String>]) -> String {
    let names: Vec<&str> = header.split(" | ").collect();
    let rule: Vec<&str> = names.iter().map(|name| if name.ends_with(':') { "---:" } else { "---" }).collect();
    let mut table = format!("| {} |\n|{}|\n", names.join(" | ").replace(": |", " |").replace(':', ""), rule.join("|"));
    rows.iter().for_each(|row| table.push_str(&format!("| {} |\n", row.join(" | "))));
    table
}

/// `31.4 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
