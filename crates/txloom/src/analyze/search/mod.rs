//! Serializability anomalies of an application, searched for at a level and run (CLOTHO).
//!
//! ```text
//!   project ──core::search──→ anomalies, each with a test ──case──→ run on a target ──→ does it show?
//! ```
//!
//! Groups of candidate cycles are examined side by side, on as many processors as there are. What is found does not
//! depend on how many: each group is searched by itself, and their results are put together in order.

mod case;
mod run;
pub mod second;
pub mod report;
pub mod fix;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use txloom_core::budget::WorkBudget;
use txloom_core::engine::Engine;
use txloom_core::oracle::RunError;
use txloom_core::program::paths::Limits;
use txloom_core::search::cycles::{Bounds, Cycle};
use txloom_core::search::feasible::SecondOpinion;
use txloom_core::search::find::{Anomaly, Examined, Group, Options, Search, Test};
use txloom_core::search::ground::{Called, Rows};
use txloom_core::search::level::Target as Level;
use txloom_core::value::Value;

pub use case::case;
pub use run::{Shown, TrialError, Trials};
pub use second::Second;

use super::Project;
use crate::execute::reset;

/// What is searched for.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The rules that all calls run under.
    pub level: Level,
    /// How long cycles may be.
    pub bounds: Bounds,
    /// Whether reads count that decide nothing.
    pub external: bool,
    /// The rows at the start, if they are given.
    pub initial: Option<Rows>,
    /// How many calls may come before, one after the other.
    pub prefix: usize,
    /// When to stop.
    pub budget: WorkBudget,
    /// Whether one run is looked through for other cycles.
    pub grouping: bool,
    /// Who hears every question of the solver, too.
    pub second: Option<Arc<Second>>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Searched {
    /// Runs that show anomalies.
    pub tests: Vec<Test>,
    /// The cycles that happen, each with the position of its test.
    pub anomalies: Vec<Anomaly>,
    /// How many candidate cycles there were.
    pub candidates: usize,
    /// How many of them cannot happen, or do not show.
    pub impossible: usize,
    /// Those of which nothing is known.
    pub unknown: Vec<Cycle>,
    /// How many were not looked at.
    pub left: usize,
    /// True if there are more candidate cycles than were made.
    pub is_cut: bool,
    /// How often the solver was asked.
    pub asked: usize,
    /// How long it took.
    pub took: Duration,
}

/// The procedures of a project, as the search takes them.
pub fn called(project: &Project) -> Vec<Called<'_>> {
    let pairs = project.program.procedures.iter().zip(&project.accesses);
    pairs.map(|(procedure, access)| Called { procedure, access }).collect()
}

/// The rows that a project's files make, as a database holds them.
pub fn rows_of(project: &Project, engine: &mut dyn Engine) -> Result<Rows, RunError> {
    let setup: Vec<String> = project.definitions.iter().chain(&project.rows).cloned().collect();
    reset(engine, &setup)?;
    let held = engine.snapshot().map_err(RunError::from)?;
    let dialect = engine.info().dialect;
    let mut rows = Rows::new();
    for (name, result) in &held.tables {
        let columns: Vec<String> = result.columns.iter().map(|column| column.name.to_lowercase()).collect();
        let row = |values: Vec<Value>| columns.iter().cloned().zip(values).collect();
        let table = name.rsplit('.').next().unwrap_or(name).to_lowercase();
        rows.insert(table, dialect.values(result).into_iter().map(row).collect());
    }
    Ok(rows)
}

/// A search over a project's procedures.
pub fn prepare<'a>(project: &'a Project, called: &'a [Called<'a>], wanted: &'a Wanted) -> Search<'a> {
    let options = Options {
        levels: vec![wanted.level; called.len()],
        bounds: wanted.bounds,
        external: wanted.external,
        initial: wanted.initial.as_ref(),
        prefix: wanted.prefix,
        limits: Limits { rounds: 3, ways: 12, budget: 20_000 },
        grouping: wanted.grouping,
        second: wanted.second.as_deref().map(|second| second as &dyn SecondOpinion),
        budget: wanted.budget.clone(),
    };
    Search::new(&project.schema, called, options)
}

/// Examines all candidate cycles.
pub fn search(search: &Search<'_>) -> Searched {
    search_for(search, &|_, _| true)
}

/// Examines the candidate cycles that are wanted, given the procedures that they are of.
pub fn search_for(search: &Search<'_>, is_wanted: &(dyn Fn(&[u16], &Cycle) -> bool + Sync)) -> Searched {
    let began = Instant::now();
    let candidates = Mutex::new((0, search.candidates()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = || {
        let mut candidates = candidates.lock().unwrap_or_else(PoisonError::into_inner);
        let mut group = candidates.1.next()?;
        candidates.0 += 1;
        let at: usize = candidates.0;
        drop(candidates);
        group.cycles.retain(|cycle| is_wanted(&group.procedures, cycle));
        Some((at, group))
    };
    let mut all: Vec<(usize, usize, Examined)> = std::thread::scope(|scope| {
        let work = || {
            let examine = |(at, group): (usize, Group)| (at, group.cycles.len(), search.examine(&group));
            std::iter::from_fn(next).map(examine).collect::<Vec<_>>()
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a search does not panic")).collect()
    });
    all.sort_by_key(|(at, ..)| *at);
    let (_, candidates) = candidates.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut found = Searched { is_cut: candidates.is_cut(), ..Searched::default() };
    for (_, candidates, examined) in all {
        found.add(candidates, examined);
    }
    found.took = began.elapsed();
    found
}

impl Searched {
    /// Adds what became of some candidate cycles.
    fn add(&mut self, candidates: usize, examined: Examined) {
        let before = self.tests.len();
        self.candidates += candidates;
        self.tests.extend(examined.tests);
        let anomalies = examined.anomalies.into_iter();
        self.anomalies.extend(anomalies.map(|anomaly| Anomaly { test: anomaly.test + before, ..anomaly }));
        self.impossible += examined.impossible;
        self.unknown.extend(examined.unknown);
        self.left += examined.left;
        self.asked += examined.asked;
    }
}
