//! *Planted bugs*: every oracle finds every bug that it can see, within a minute, for each of ten seeds; and what it
//! finds is small. The graph oracle, whose tests are larger, has two minutes, and bugs of any engine are planted in
//! PostgreSQL for it; a tenth of them it may miss. Of what it finds, the paper asks whether the transactions are a cycle
//! and how many of the sorted orders show it (Tables 4 and 5).

use std::time::Duration;

use anyhow::Result;
use txloom::execute::EngineRunner;
use txloom::hunt::report::step_count;
use txloom::hunt::{Budget, Hunt};
use txloom::matrix::{self, ORACLES, Sight};
use txloom_core::case::Case;
use txloom_core::engine::{Engine, EngineInfo};
use txloom_core::generate::profile;
use txloom_core::oracle::graph::{self, GraphOracle, Triggering};
use txloom_core::oracle::{self, Oracle};
use txloom_core::planted::{ALL, PlantedBug};

use super::Section;
use super::hunts::{finish, once, open, parse, table};
use crate::measure::median;

const SEEDS: std::ops::RangeInclusive<u64> = 1..=10;
const TIME_MAX: Duration = Duration::from_secs(60);
const GRAPH_TIME_MAX: Duration = Duration::from_secs(120);
/// The target that bugs of any engine are planted in.
const HEALTHY: &str = "model";
const GRAPH_HEALTHY: &str = "postgres";
/// So large a part of its hunts the graph oracle must end with a finding.
const GRAPH_FOUND_MIN: f64 = 0.9;
/// So many sorted orders of a finding are run.
const ORDERS_RUN: usize = 50;
/// The median of the steps inside transactions, over all that was found.
const STEPS_MEDIAN_MAX: f64 = 6.0;

pub(super) fn run() -> Result<Section> {
    let (mut rows, mut steps, mut met) = (Vec::new(), Vec::new(), true);
    let mut graph_found = Vec::new();
    for bug in ALL {
        for oracle in ORACLES.iter().filter(|oracle| matrix::expected(oracle, bug.name) == Some(Sight::Seen)) {
            let found = SEEDS
                .map(|seed| once("planted", &format!("{}-{oracle}-{seed}", bug.name), || measure(bug, oracle, seed)))
                .collect::<Result<Vec<_>>>()?;
            let numbers = |at: usize| found.iter().filter_map(move |cells| cells.get(at)?.parse::<f64>().ok());
            match *oracle == graph::NAME {
                true => graph_found.extend(found.iter().cloned()),
                false => met &= numbers(0).count() == found.len(),
            }
            steps.extend(numbers(1));
            let slowest = numbers(0).fold(0.0, f64::max);
            rows.push(vec![
                format!("`{}`", bug.name),
                format!("`{oracle}`"),
                format!("{} of {}", numbers(0).count(), found.len()),
                format!("{:.1} s", median(numbers(0).collect())),
                format!("{slowest:.1} s"),
                format!("{:.0}", median(numbers(1).collect())),
            ]);
        }
    }
    let middle = median(steps);
    let (sorted, is_graph_met) = graph_text(&graph_found);
    let text = format!(
        "Every planted bug, every oracle that can see it, seeds 1 to 10, a minute each, two for `graph` (time to the reduced \
         finding; the median of all reduced cases is {middle:.0} steps inside transactions).\n\n{}\n{sorted}",
        table("bug | oracle | found: | median time: | longest: | median steps:", &rows)
    );
    Ok(Section { text, met: met && is_graph_met && middle <= STEPS_MEDIAN_MAX })
}

/// What the paper's Tables 4 and 5 ask of the findings of the graph oracle.
fn graph_text(found: &[Vec<String>]) -> (String, bool) {
    let number = |cells: &Vec<String>, at: usize| cells.get(at).and_then(|cell| cell.parse::<f64>().ok());
    let times = found.iter().filter(|cells| number(cells, 0).is_some()).count();
    let sorted: Vec<&Vec<String>> = found.iter().filter(|cells| number(cells, 2).is_some()).collect();
    let sum = |at: usize| sorted.iter().filter_map(|cells| number(cells, at)).sum::<f64>();
    let share = |part: f64, whole: f64| 100.0 * part / whole.max(1.0);
    let orders = median(sorted.iter().filter_map(|cells| number(cells, 2)).collect());
    let is_met = times as f64 >= GRAPH_FOUND_MIN * found.len() as f64;
    let text = format!(
        "The graph oracle found {times} of {}. {} of these come to a comparison of two executions (the others are impossible \
         versions, other rows than selected, forbidden cycles, deaths): the transactions of {:.0} % are a cycle; the median \
         of sorted orders is {orders:.0}; {:.0} % of those run (at most {ORDERS_RUN} each) show the bug.\n",
        found.len(),
        sorted.len(),
        share(sum(5), sorted.len() as f64),
        share(sum(4), sum(3)),
    );
    (text, is_met)
}

/// The seconds that it took, and the steps of the reduced case; `-` if it was not found. For the graph oracle also the
/// number of sorted orders, how many were run, how many of them show the bug, and whether the transactions are a cycle.
fn measure(bug: &PlantedBug, oracle_name: &str, seed: u64) -> Result<Vec<String>> {
    let is_graph = oracle_name == graph::NAME;
    let (healthy, time) = if is_graph { (GRAPH_HEALTHY, GRAPH_TIME_MAX) } else { (HEALTHY, TIME_MAX) };
    let targets = parse(&matrix::targets(oracle_name, bug, healthy))?;
    let engines = || open(&targets);
    let oracles = |_: &[EngineInfo]| -> Vec<Box<dyn Oracle>> { oracle::in_hunt(oracle_name).into_iter().collect() };
    let hunt = Hunt {
        oracles: &oracles,
        seed,
        model: profile::shipped(matrix::profile(oracle_name)).expect("the profile is shipped"),
        budget: Budget::time(time),
        stop_on_first: true,
        ..Hunt::new(&engines)
    };
    let summary = finish(&hunt)?;
    let Some(found) = summary.found.first() else { return Ok(vec!["-".to_string(), "-".to_string()]) };
    let mut cells = vec![format!("{:.2}", summary.elapsed.as_secs_f64()), step_count(&found.finding.case).to_string()];
    if is_graph {
        cells.extend(sorted_orders(&found.original, open(&targets)?)?);
    }
    Ok(cells)
}

/// The case as it was generated: small ones have few orders.
fn sorted_orders(case: &Case, engines: Vec<Box<dyn Engine>>) -> Result<Vec<String>> {
    let oracle = GraphOracle { insists: false, ..GraphOracle::default() };
    let triggering = oracle.triggering(case, 0, &mut EngineRunner::new(engines), ORDERS_RUN)?;
    Ok(match triggering {
        Some(Triggering { orders, run, differ, is_cyclic }) => {
            vec![orders.to_string(), run.to_string(), differ.to_string(), u8::from(is_cyclic).to_string()]
        }
        None => vec!["-".to_string(); 4],
    })
}
