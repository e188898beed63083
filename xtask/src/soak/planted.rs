//! *Planted bugs*: every oracle finds every bug that it can see, within a minute, for each of ten seeds; and what it
//! finds is small.

use std::time::Duration;

use anyhow::Result;
use txloom::hunt::report::step_count;
use txloom::hunt::{Budget, Hunt};
use txloom::matrix::{self, ORACLES, Sight};
use txloom_core::engine::EngineInfo;
use txloom_core::oracle::{self, Oracle};
use txloom_core::planted::{ALL, PlantedBug};

use super::Section;
use super::hunts::{finish, median, model, once, open, parse, table};

const SEEDS: std::ops::RangeInclusive<u64> = 1..=10;
const TIME_MAX: Duration = Duration::from_secs(60);
/// The target that bugs of any engine are planted in.
const HEALTHY: &str = "model";
/// The median of the steps inside transactions, over all that was found.
const STEPS_MEDIAN_MAX: f64 = 6.0;

pub(super) fn run() -> Result<Section> {
    let (mut rows, mut steps, mut met) = (Vec::new(), Vec::new(), true);
    for bug in ALL {
        for oracle in ORACLES.iter().filter(|oracle| matrix::expected(oracle, bug.name) == Some(Sight::Seen)) {
            let found = SEEDS
                .map(|seed| once("planted", &format!("{}-{oracle}-{seed}", bug.name), || measure(bug, oracle, seed)))
                .collect::<Result<Vec<_>>>()?;
            let numbers = |at: usize| found.iter().filter_map(move |cells| cells.get(at)?.parse::<f64>().ok());
            met &= numbers(0).count() == found.len();
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
    let text = format!(
        "Every planted bug, every oracle that can see it, seeds 1 to 10, a minute each (time to the reduced finding; the \
         median of all reduced cases is {middle:.0} steps inside transactions).\n\n{}",
        table("bug | oracle | found: | median time: | longest: | median steps:", &rows)
    );
    Ok(Section { text, met: met && middle <= STEPS_MEDIAN_MAX })
}

/// The seconds that it took, and the steps of the reduced case; `-` if it was not found.
fn measure(bug: &PlantedBug, oracle_name: &str, seed: u64) -> Result<Vec<String>> {
    let targets = parse(&matrix::targets(oracle_name, bug, HEALTHY))?;
    let engines = || open(&targets);
    let oracles = |_: &[EngineInfo]| -> Vec<Box<dyn Oracle>> { oracle::in_hunt(oracle_name).into_iter().collect() };
    let hunt = Hunt {
        oracles: &oracles,
        seed,
        model: model(),
        budget: Budget::time(TIME_MAX),
        stop_on_first: true,
        ..Hunt::new(&engines)
    };
    let summary = finish(&hunt)?;
    Ok(match summary.found.first() {
        Some(found) => {
            vec![format!("{:.2}", summary.elapsed.as_secs_f64()), step_count(&found.finding.case).to_string()]
        }
        None => vec!["-".to_string(), "-".to_string()],
    })
}
