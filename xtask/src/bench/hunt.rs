//! How many generated cases a hunt judges a second, with one worker.

use std::fmt::Write;
use std::time::Duration;

use anyhow::Result;
use txloom::engines::{self, Target};
use txloom::hunt::{Budget, Hunt};
use txloom_core::generate::profile;

const TIME: Duration = Duration::from_secs(30);

/// Targets, and how many cases a second there must be.
const BARS: &[(&[&str], f64)] = &[
    (&["mariadb", "mariadb"], 100.0),
    (&["postgres", "postgres"], 0.0),
    (&["model", "model"], 0.0),
    (&["sqlite", "sqlite"], 0.0),
    (&["postgres"], 0.0),
];

/// Measures all of them. True if every bar is met.
pub(super) fn run(table: &mut String) -> Result<bool> {
    table.push_str("\nHunts with generated cases: profile dt2, all levels, one worker, half a minute.\n\n");
    table.push_str(
        "| targets | cases per second | statements per second | accepted | with a wait | two write one row |\n",
    );
    table.push_str("|---|---:|---:|---:|---:|---:|\n");
    let mut met = true;
    for (targets, bar) in BARS {
        met &= measure(targets, table)? >= *bar;
    }
    Ok(met)
}

fn measure(names: &[&str], table: &mut String) -> Result<f64> {
    let targets = names.iter().map(|name| Ok(Target::parse(name)?)).collect::<Result<Vec<Target>>>()?;
    let open = || targets.iter().map(engines::open).collect();
    let model = profile::shipped("dt2").expect("the profile is shipped");
    let hunt = Hunt { model, budget: Budget::time(TIME), ..Hunt::new(&open) };
    let summary = hunt.run(&mut ())?;
    let statistics = &summary.counts.statistics;
    let per_second = |count: u64| count as f64 / summary.elapsed.as_secs_f64().max(0.001);
    writeln!(
        table,
        "| {} | {:.0} | {:.0} | {:.1} % | {:.1} % | {:.1} % |",
        names.join(" "),
        per_second(statistics.cases),
        per_second(statistics.statements),
        statistics.accepted_share() * 100.0,
        statistics.wait_share() * 100.0,
        statistics.contended_share() * 100.0
    )?;
    Ok(per_second(statistics.cases))
}
