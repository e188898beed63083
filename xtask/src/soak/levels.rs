//! *Other versions*: what the levels of every version allow is compared with the table of guarantees.

use anyhow::{Context, Result};
use txloom::engines::{self, Target};
use txloom::execute::EngineRunner;
use txloom::levels;
use txloom_core::level::LevelName;

use super::{Section, TARGETS, more_targets, short};

/// Measures all targets.
pub(super) fn run() -> Result<Section> {
    let more = more_targets();
    let versions = TARGETS.iter().copied().chain(more.iter().map(String::as_str)).map(levels_of);
    let versions = versions.collect::<Result<Vec<VersionLevels>>>()?;
    let met = versions.iter().all(|version| version.contradictions == 0);
    Ok(Section { text: render(&versions), met })
}

/// What one version's levels allow.
struct VersionLevels {
    target: String,
    version: String,
    /// What happens to a lost update at each level.
    lost_update: String,
    /// How many cells contradict the table of guarantees, or could not be run.
    contradictions: usize,
}

fn levels_of(target: &str) -> Result<VersionLevels> {
    let mut runner = EngineRunner::new(vec![engines::open(&Target::parse(target)?)?]);
    let matrix = levels::measure(&mut runner, 0, &[])?;
    let cells = matrix.rows.iter().flat_map(|row| &row.cells);
    let contradictions = cells.filter(|cell| cell.is_news() || cell.reaction.is_err()).count();
    let row = matrix.rows.iter().find(|row| row.anomaly.id == "P4").context("the corpus has no lost update")?;
    let words = |(level, cell): (&LevelName, &levels::Cell)| {
        let refused = cell.reaction.as_ref().is_ok_and(|reaction| reaction.is_prevented());
        format!("{level}: {}", if refused { "refused" } else { "allowed" })
    };
    Ok(VersionLevels {
        target: short(target).to_string(),
        version: matrix.engine.version.to_string(),
        lost_update: matrix.levels.iter().zip(&row.cells).map(words).collect::<Vec<_>>().join(", "),
        contradictions,
    })
}

fn render(versions: &[VersionLevels]) -> String {
    let mut table = "The levels of every version, compared with the table of guarantees.\n\n".to_string();
    table.push_str("| target | version | lost update | contradictions |\n|---|---|---|---:|\n");
    for line in versions {
        let VersionLevels { target, version, lost_update, contradictions } = line;
        table.push_str(&format!("| {target} | {version} | {lost_update} | {contradictions} |\n"));
    }
    table
}
