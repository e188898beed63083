//! How long it takes to search the benchmark programs for serializability anomalies (CLOTHO, Table 2 and Figure 20).

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::Result;
use txloom::analyze::search::{self, Searched, Wanted};
use txloom::supervisor::{Supervisor, WorkLimits};
use txloom_core::search::cycles::Bounds;
use txloom_core::search::level::Target;

use crate::measure::program;

/// The programs, with CLOTHO's anomalies, structures and seconds.
const PROGRAMS: &[(&str, usize, usize, u64)] = &[
    ("seats", 32, 18, 1970),
    ("tatp", 0, 0, 55),
    ("tpcc", 22, 13, 3270),
    ("smallbank", 60, 15, 264),
    ("voter", 0, 0, 8),
    ("twitter", 2, 2, 211),
    ("wikipedia", 3, 3, 4343),
];
/// TPC-C takes less than that, and all together less than that.
const BARS: (Duration, Duration) = (Duration::from_secs(30), Duration::from_secs(180));
/// Without grouping, nobody waits longer than that.
const ALONE_MAX: Duration = Duration::from_secs(60);

/// Searches every program at eventual consistency.
pub(super) fn run(table: &mut String) -> Result<bool> {
    table.push_str(
        "## Search: anomalies at eventual consistency, cycles of up to 4 statements in 3 calls\n\nCLOTHO's figures are those of \
         its Table 2, on another machine.\n\n| program | anomalies | structures | undecided | time | CLOTHO: anomalies | \
         structures | time | without grouping |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let (mut all, mut met) = (Duration::ZERO, true);
    for (name, anomalies, structures, seconds) in PROGRAMS {
        let began = Instant::now();
        let found = searched(name, true, None)?;
        let took = began.elapsed();
        let alone = searched(name, false, Some(ALONE_MAX))?;
        all += took;
        met &= *name != "tpcc" || took < BARS.0;
        met &= structures_of(&found) >= *structures;
        let unlooked = if alone.left > 0 { format!(", {} cycles left", alone.left) } else { String::new() };
        let line = format!(
            "| {name} | {} | {} | {} | {:.1} s | {anomalies} | {structures} | {seconds} s | {} in {:.1} s{unlooked} |\n",
            found.anomalies.len(),
            structures_of(&found),
            found.unknown.len(),
            took.as_secs_f64(),
            alone.anomalies.len(),
            alone.took.as_secs_f64(),
        );
        print!("{line}");
        table.push_str(&line);
    }
    met &= all < BARS.1;
    table.push_str(&format!("\nAll together: {:.1} s (CLOTHO: 10,121 s).\n\n", all.as_secs_f64()));
    Ok(met)
}

fn searched(name: &str, grouping: bool, time: Option<Duration>) -> Result<Searched> {
    let project = program(name, "mariadb.sql")?;
    let level = Target::parse("eventual", None)?;
    let bounds = Bounds { length: 4, instances: 3 };
    let supervisor = Supervisor::start(WorkLimits { time, memory: None });
    let budget = supervisor.budget().clone();
    let wanted = Wanted { level, bounds, external: false, initial: None, prefix: 0, budget, grouping, second: None };
    let called = search::called(&project);
    Ok(search::search(&search::prepare(&project, &called, &wanted)))
}

fn structures_of(found: &Searched) -> usize {
    found.anomalies.iter().map(|anomaly| &anomaly.structure).collect::<BTreeSet<_>>().len()
}
