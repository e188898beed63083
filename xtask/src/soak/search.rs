//! *Search*: every anomaly that is predicted is run: on a replicated store, and on engines at their levels.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result};
use txloom::analyze::search::{self, Shown, Trials, Wanted};
use txloom::engines::{self, Target};
use txloom::execute::EngineRunner;
use txloom::supervisor::{Supervisor, WorkLimits};
use txloom_core::level::LevelName;
use txloom_core::search::cycles::Bounds;
use txloom_core::search::level::Target as Level;

use super::Section;
use super::hunts::{once, percent, table};
use crate::measure::program;

/// The benchmark programs.
const PROGRAMS: &[&str] = &["seats", "tatp", "tpcc", "smallbank", "voter", "twitter", "wikipedia"];
/// Where, at which level, and in which language the program is.
const PLACES: &[(&str, &str, &str)] = &[
    ("replicas:3", "eventual", "mariadb.sql"),
    ("postgres", "read committed", "postgres.sql"),
    ("postgres", "repeatable read", "postgres.sql"),
    ("postgres", "serializable", "postgres.sql"),
    ("mariadb", "read committed", "mariadb.sql"),
    ("mariadb", "repeatable read", "mariadb.sql"),
    ("mariadb", "serializable", "mariadb.sql"),
];
/// Balance, which only reads, sees TransactSavings and not WriteCheck, which did not see it either (Fekete et al. 2004).
const READ_ONLY: (&str, &str, &str, &str) = ("postgres", "repeatable read", "smallbank", "postgres.sql");
/// At least so many of those that are predicted show: on the store, and on engines.
const BARS: (f64, f64) = (0.95, 0.90);
/// A search ends after that.
const TIME_MAX: Duration = Duration::from_secs(240);

/// Searches and runs every program everywhere.
pub(super) fn run() -> Result<Section> {
    let mut text = String::from(
        "## Search: predicted anomalies, run\n\nCycles of up to 4 statements in 3 calls (2 calls on engines). An anomaly shows \
         if what its run leaves is what no serial order of the calls leaves; those that share a run show together.\n\n",
    );
    let (mut rows, mut reasons, mut met) = (Vec::new(), BTreeMap::new(), true);
    let mut sums: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    for (target, level, file) in PLACES {
        for name in PROGRAMS {
            let key = format!("{target}-{level}-{name}");
            let cells = once("search", &key, || measured(target, level, name, file, None))?;
            let number = |at: usize| cells.get(at).and_then(|cell| cell.parse().ok()).unwrap_or(0);
            let sum = sums.entry((target, level)).or_default();
            *sum = (sum.0 + number(0), sum.1 + number(3));
            if let Some(why) = cells.get(6).filter(|why| !why.is_empty()) {
                reasons.insert(key, why.clone());
            }
            let shown = cells.iter().take(6).cloned();
            rows.push(
                [format!("`{target}`"), (*level).to_string(), (*name).to_string()].into_iter().chain(shown).collect(),
            );
        }
    }
    let (target, level, name, file) = READ_ONLY;
    let cells = once("search", "read-only", || measured(target, level, name, file, Some(5)))?;
    met &= cells.first().is_some_and(|found| found != "0") && cells.first() == cells.get(3);
    let place = [format!("`{target}`"), level.to_string(), format!("{name}: --length 5 --instances 3 --external")];
    rows.push(place.into_iter().chain(cells.iter().take(6).cloned()).collect());
    let header = "target | level | program | found: | structures: | runs: | show: | undecided: | not looked at:";
    text += &table(header, &rows);
    text += "\n";
    for ((target, level), (found, shown)) in &sums {
        let bar = if target.starts_with("replicas") { BARS.0 } else { BARS.1 };
        let share = if *found == 0 { 1.0 } else { *shown as f64 / *found as f64 };
        let is_met = if *level == "serializable" { *found == 0 } else { share >= bar };
        met &= is_met;
        let word = if is_met { "met" } else { "NOT MET" };
        text += &format!("* `{target}`, {level}: {shown} of {found} show ({}): {word}\n", percent(share));
    }
    if !reasons.is_empty() {
        text += "\nWhat happened instead:\n\n";
        reasons.iter().for_each(|(key, why)| text += &format!("* {key}: {why}\n"));
    }
    Ok(Section { text, met })
}

/// Found, structures, runs, shown, undecided, left; and what happened where nothing showed. With a length, cycles go
/// through three calls, and reads that decide nothing count.
fn measured(target: &str, level: &str, name: &str, file: &str, length: Option<usize>) -> Result<Vec<String>> {
    let project = program(name, file)?;
    let parsed = Target::parse(target)?;
    let engine = engines::open(&parsed).with_context(|| format!("starting {target}"))?;
    let info = engine.info().clone();
    let mut runner = EngineRunner::new(vec![engine]);
    let is_store = info.capabilities.nodes > 0;
    let rules = Level::parse(level, (!is_store).then_some((info.family, info.settings.as_slice())))?;
    let instances = if is_store || length.is_some() { 3 } else { 2 };
    let bounds = Bounds { length: length.unwrap_or(4), instances };
    let supervisor = Supervisor::start(WorkLimits { time: Some(TIME_MAX), memory: None });
    let wanted = Wanted {
        level: rules,
        bounds,
        external: length.is_some(),
        initial: None,
        prefix: 0,
        budget: supervisor.budget().clone(),
        grouping: true,
        second: None,
    };
    let called = search::called(&project);
    let prepared = search::prepare(&project, &called, &wanted);
    let found = search::search(&prepared);
    let own = (!is_store).then(|| LevelName::custom(level));
    let mut shows = Vec::new();
    let mut instead: BTreeMap<String, usize> = BTreeMap::new();
    for test in &found.tests {
        let shown = Trials::new(&project, &mut runner, own.clone(), false).run(test)?;
        shows.push(matches!(shown, Shown::Manifest(_)));
        match shown {
            Shown::Manifest(_) => {}
            Shown::Not { instead: why, .. } | Shown::Undecided(why) => *instead.entry(why).or_default() += 1,
        }
    }
    let structures: std::collections::BTreeSet<_> = found.anomalies.iter().map(|one| &one.structure).collect();
    let shown = found.anomalies.iter().filter(|anomaly| shows[anomaly.test]).count();
    let why: Vec<String> = instead.iter().map(|(why, count)| format!("{count} × {why}")).collect();
    let numbers = [found.anomalies.len(), structures.len(), found.tests.len(), shown, found.unknown.len(), found.left];
    let why = why.join("; ").replace(['\t', '\n', '|'], " ");
    Ok(numbers.iter().map(ToString::to_string).chain([why]).collect())
}
