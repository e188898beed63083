//! *Two solvers*: every question that the search asks about the corpus has one answer, whoever is asked.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use txloom::analyze::search::second::Trouble;
use txloom::analyze::search::{self, Second, Wanted};
use txloom::analyze::{Project, SourceFile};
use txloom::solver::Solver;
use txloom::supervisor::{Supervisor, WorkLimits};
use txloom_core::search::cycles::Bounds;
use txloom_core::search::level::Target as Level;

use super::Section;
use super::hunts::{once, table};
use crate::measure::program;

/// The benchmark programs.
const BENCHMARKS: &[&str] = &["tatp", "voter", "twitter", "smallbank", "wikipedia", "seats", "tpcc"];
/// The small ones.
const SMALL: &[&str] = &[
    "dirty-read",
    "dirty-write",
    "long-fork",
    "lost-update",
    "withdraw",
    "write-skew",
    "doors",
    "stock",
    "invoices",
    "bookings",
];
/// Where, and how many calls.
const LEVELS: &[(&str, Option<&str>)] =
    &[("eventual", None), ("read committed", Some("postgres")), ("repeatable read", Some("mariadb"))];
/// z3 may think so long about one question, and a search may take so long.
const LIMITS: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(3600));

pub(super) fn run() -> Result<Section> {
    let solver = Solver::find().context("there is no z3 on the search path: `make test` installs one")?;
    let (mut rows, mut met) = (Vec::new(), true);
    for (level, engine) in LEVELS {
        for name in SMALL.iter().chain(BENCHMARKS) {
            let key = format!("{}-{level}-{name}", engine.unwrap_or("store"));
            let cells = once("solvers", &key, || measured(&solver, level, *engine, name))?;
            met &= cells.get(2).is_some_and(|disagreements| disagreements == "0");
            let place = [format!("{} {level}", engine.unwrap_or("store:")), (*name).to_string()];
            rows.push(place.into_iter().chain(cells).collect());
        }
    }
    let header = "level | program | same answer: | one gave up: | disagreements: | cycles not looked at:";
    let text = format!(
        "## Two solvers\n\nEvery question of the search (cycles of up to 4 statements in 2 calls) asked of the embedded solver and \
         of z3, which may think {} s about each; a search ends after {} s.\n\n{}",
        LIMITS.0.as_secs(),
        LIMITS.1.as_secs(),
        table(header, &rows)
    );
    Ok(Section { text, met })
}

fn measured(solver: &Solver, level: &str, engine: Option<&str>, name: &str) -> Result<Vec<String>> {
    let file = if engine == Some("postgres") { "postgres.sql" } else { "mariadb.sql" };
    let project = if BENCHMARKS.contains(&name) { program(name, file)? } else { small(name)? };
    let level = Level::parse(level, engine.map(|engine| (engine, &[] as &[String])))?;
    let bounds = Bounds { length: 4, instances: 2 };
    let second = Arc::new(Second::new(solver.clone().with_limit(LIMITS.0)));
    let supervisor = Supervisor::start(WorkLimits { time: Some(LIMITS.1), memory: None });
    let wanted = Wanted {
        level,
        bounds,
        external: false,
        initial: None,
        prefix: 0,
        budget: supervisor.budget().clone(),
        grouping: true,
        second: Some(Arc::clone(&second)),
    };
    let called = search::called(&project);
    let found = search::search(&search::prepare(&project, &called, &wanted));
    let disagreements = match second.trouble() {
        None => 0,
        Some(Trouble::Failed(error)) => return Err(error.into()),
        Some(Trouble::Disagreement(found)) => {
            let files = found.save(&PathBuf::from("soak-results/solvers").join(format!("{name}-questions")))?;
            println!("{found}: {files:?}");
            1
        }
    };
    let (agreed, undecided) = second.counts();
    Ok([agreed, undecided, disagreements, found.left].iter().map(ToString::to_string).collect())
}

/// A small program from the corpus.
fn small(name: &str) -> Result<Project> {
    let path = format!("corpus/programs/{name}.sql");
    let text = std::fs::read_to_string(&path).with_context(|| format!("reading {path}"))?;
    Ok(Project::read(vec![SourceFile::new(path, text)]))
}
