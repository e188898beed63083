//! *Stores*: the programs of CLOTHO with its own schemas, at eventual consistency: every prediction is run, on our replicas
//! and on a ring of MariaDB servers, which nobody wrote for this.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result};
use txloom::analyze::Project;
use txloom::analyze::search::{self, Shown, Trials, Wanted};
use txloom::engines::{self, Target};
use txloom::execute::EngineRunner;
use txloom::supervisor::{Supervisor, WorkLimits};
use txloom_core::search::cycles::Bounds;
use txloom_core::search::level::Target as Level;

use super::Section;
use super::hunts::{once, percent, table};
use crate::measure::{program, program_with};

/// The programs, small ones first.
const PROGRAMS: &[&str] = &["voter", "tatp", "twitter", "smallbank", "wikipedia", "seats", "tpcc"];
/// HISTORY has no key in TPC-C, nor in CLOTHO.
const ADDED_KEY: &str = "  PRIMARY KEY (h_c_w_id, h_c_d_id, h_c_id, h_date),\n";
/// The targets, and whether each call stays on its node there.
const PLACES: &[(&str, bool)] = &[("replicas:3", false), ("mariadb-ring:3", true)];
/// At least so many of those that are predicted show on replicas.
const BAR: f64 = 0.95;
/// A search ends after that.
const TIME_MAX: Duration = Duration::from_secs(240);
/// So many tests of a program are run on a ring: each takes a second.
const RING_TESTS_MAX: usize = 60;

/// Searches and runs every program on every target.
pub(super) fn run() -> Result<Section> {
    let mut text = String::from(
        "## Stores: CLOTHO's programs with its own schemas, at `store:eventual`, run\n\nCycles of up to 4 statements in 3 calls. \
         On the ring, sessions stay on their servers (`--sticky`), and a test is undecided if it needs a delivery that a ring \
         cannot be told to make. CLOTHO: 80 % show on Cassandra.\n\n",
    );
    let (mut rows, mut reasons, mut met) = (Vec::new(), Vec::new(), true);
    for (target, sticky) in PLACES {
        let mut sum = [0; 3];
        for name in PROGRAMS {
            let cells = once("stores", &format!("{target}-{name}"), || measured(target, *sticky, name))?;
            for (sum, cell) in sum.iter_mut().zip(cells.iter().skip(3)) {
                *sum += cell.parse::<usize>().unwrap_or(0);
            }
            if let Some(why) = cells.get(7).filter(|why| !why.is_empty()) {
                reasons.push(format!("* {target}, {name}: {why}\n"));
            }
            rows.push(
                [format!("`{target}`"), (*name).to_string()].into_iter().chain(cells.into_iter().take(7)).collect(),
            );
        }
        let [ran, shown, undecided] = sum;
        let share = if ran == undecided { 1.0 } else { shown as f64 / (ran - undecided) as f64 };
        met &= *sticky || share >= BAR;
        text += &format!(
            "* `{target}`: {shown} of {ran} tests show, {undecided} are undecided: {} of the others\n",
            percent(share)
        );
    }
    let header = "target | program | predicted: | structures: | tests: | run: | show: | undecided: | not looked at:";
    text += &format!("\n{}", table(header, &rows));
    if !reasons.is_empty() {
        text += "\nWhat happened instead:\n\n";
        reasons.iter().for_each(|reason| text += reason);
    }
    Ok(Section { text, met })
}

/// The program with CLOTHO's schema.
fn original(name: &str) -> Result<Project> {
    if name == "tpcc" {
        program_with(name, "mariadb.sql", |schema| schema.replace(ADDED_KEY, ""))
    } else {
        program(name, "mariadb.sql")
    }
}

/// Predicted, structures, tests, run, shown, undecided, left; and what happened where nothing showed.
fn measured(target: &str, sticky: bool, name: &str) -> Result<Vec<String>> {
    let project = original(name)?;
    let supervisor = Supervisor::start(WorkLimits { time: Some(TIME_MAX), memory: None });
    let level = Level::parse("store:eventual", None)?;
    let wanted = Wanted {
        level: if sticky { level.staying() } else { level },
        bounds: Bounds { length: 4, instances: 3 },
        external: false,
        initial: None,
        prefix: 0,
        budget: supervisor.budget().clone(),
        grouping: true,
        second: None,
    };
    let called = search::called(&project);
    let found = search::search(&search::prepare(&project, &called, &wanted));
    let engine = engines::open(&Target::parse(target)?).with_context(|| format!("starting {target}"))?;
    let mut runner = EngineRunner::new(vec![engine]);
    let count_max = if sticky { RING_TESTS_MAX } else { usize::MAX };
    let (mut ran, mut shown, mut undecided) = (0, 0, 0);
    let mut instead: BTreeMap<String, usize> = BTreeMap::new();
    // Evenly over all structures.
    let step = found.tests.len().div_ceil(count_max).max(1);
    for test in found.tests.iter().step_by(step) {
        ran += 1;
        match Trials::new(&project, &mut runner, None, false).run(test)? {
            Shown::Manifest(_) => shown += 1,
            Shown::Not { instead: why, .. } => *instead.entry(why).or_default() += 1,
            Shown::Undecided(why) => {
                undecided += 1;
                *instead.entry(format!("undecided: {why}")).or_default() += 1;
            }
        }
    }
    let structures: std::collections::BTreeSet<_> = found.anomalies.iter().map(|one| &one.structure).collect();
    let why: Vec<String> = instead.iter().map(|(why, count)| format!("{count} × {why}")).collect();
    let numbers = [
        found.anomalies.len(),
        structures.len(),
        found.tests.len(),
        ran,
        shown,
        undecided,
        found.left + found.unknown.len(),
    ];
    let why = why.join("; ").replace(['\t', '\n', '|'], " ");
    Ok(numbers.iter().map(ToString::to_string).chain([why]).collect())
}
