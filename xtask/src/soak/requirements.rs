//! *Requirements*: which of TPC-C's are broken by directed tests, and which by ten minutes of storm (CLOTHO, Table 3).
//!
//! The tests begin with the rows of the corpus, which keep all requirements; every run that shows an anomaly is asked
//! which of them it breaks.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use txloom::analyze::search::{self, Shown, Trials, Wanted};
use txloom::engines::{self, Target};
use txloom::execute::EngineRunner;
use txloom::report::json;
use txloom::report::model::Body;
use txloom::supervisor::{Supervisor, WorkLimits};
use txloom_core::search::cycles::Bounds;
use txloom_core::search::level::Target as Level;

use super::Section;
use super::hunts::{once, table};
use crate::measure::program;

/// The requirements, by the names that the paper has for them.
const REQUIREMENTS: &[&str] = &[
    "CR1", "CR2", "CR3", "CR4", "CR5A", "CR5B", "CR6", "CR7A", "CR7B", "CR8", "CR9", "CR10", "CR11", "CR12", "NCR1",
    "NCR2", "NCR3", "NCR4", "NCR5", "NCR6", "NCR7",
];
/// Delivers all orders: then an order that is new is the next to be delivered.
const DELIVERED: &[&str] = &[
    "UPDATE customer SET c_balance = c_balance + COALESCE((SELECT SUM(ol_amount) FROM orders JOIN order_line \
     ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_w_id = c_w_id AND o_d_id = c_d_id \
     AND o_c_id = c_id AND o_carrier_id IS NULL), 0), c_delivery_cnt = c_delivery_cnt + (SELECT COUNT(*) FROM orders \
     WHERE o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id AND o_carrier_id IS NULL)",
    "UPDATE order_line SET ol_delivery_d = 9 WHERE ol_delivery_d IS NULL",
    "UPDATE orders SET o_carrier_id = 5 WHERE o_carrier_id IS NULL",
    "DELETE FROM new_order",
];
/// A search ends after that.
const TIME_MAX: Duration = Duration::from_secs(300);
/// How long the storm is.
const STORM: &str = "600s";

pub(super) fn run() -> Result<Section> {
    let directed = once("requirements", "directed", directed)?;
    let storm = once("requirements", "storm", storm)?;
    let (mut rows, mut met) = (Vec::new(), true);
    for name in REQUIREMENTS {
        let count = directed.iter().find_map(|cell| cell.strip_prefix(&format!("{name}=")));
        let in_storm = match in_storm(name) {
            Some(condition) if storm.contains(&condition) => "broken",
            Some(_) => "not broken",
            None => "not asked",
        };
        met &= count.is_some() || in_storm == "broken";
        rows.push(vec![(*name).to_string(), count.unwrap_or("0").to_string(), in_storm.to_string()]);
    }
    let total = directed.first().cloned().unwrap_or_default();
    let text = format!(
        "## TPC-C's requirements\n\nDirected tests ({total} runs of two or three calls on `replicas:3`, from rows that keep all \
         requirements), and a storm on `replicas:2` of {STORM} with 8 sessions, its network cut every 5 s.\n\n{}",
        table("requirement | tests that break it: | storm", &rows)
    );
    Ok(Section { text, met })
}

/// What the storm calls a requirement.
fn in_storm(name: &str) -> Option<String> {
    match name {
        "NCR1" | "NCR2" => Some("stock".to_string()),
        _ => {
            let number = name.strip_prefix("CR")?.trim_end_matches(['A', 'B']);
            Some(format!("TPC-C 3.3.2.{number}"))
        }
    }
}

/// How many runs there were, and for each requirement that was broken, how often.
fn directed() -> Result<Vec<String>> {
    let project = program("tpcc", "mariadb.sql")?;
    let target = Target::parse("replicas:3")?;
    let mut runner = EngineRunner::new(vec![engines::open(&target).context("starting replicas:3")?]);
    let mut delivered = program("tpcc", "mariadb.sql")?;
    delivered.rows.extend(DELIVERED.iter().map(|sql| (*sql).to_string()));
    let (mut runs, mut broken) = (0, BTreeMap::<String, usize>::new());
    for (instances, project) in [(2, &project), (3, &project), (2, &delivered)] {
        let supervisor = Supervisor::start(WorkLimits { time: Some(TIME_MAX), memory: None });
        let wanted = Wanted {
            level: Level::parse("eventual", None)?,
            bounds: Bounds { length: 4, instances },
            external: false,
            initial: Some(search::rows_of(project, runner.engines_mut()[0].as_mut())?),
            prefix: 0,
            budget: supervisor.budget().clone(),
            grouping: instances == 3,
            second: None,
        };
        let called = search::called(project);
        let found = search::search(&search::prepare(project, &called, &wanted));
        for test in &found.tests {
            runs += 1;
            if let Shown::Manifest(finding) = Trials::new(project, &mut runner, None, true).run(test)? {
                for name in &finding.breaks {
                    let short = name.split(',').next().unwrap_or_default().to_string();
                    *broken.entry(short).or_default() += 1;
                }
            }
        }
    }
    let counts = broken.iter().map(|(name, count)| format!("{name}={count}"));
    Ok([runs.to_string()].into_iter().chain(counts).collect())
}

/// The requirements that a storm breaks.
fn storm() -> Result<Vec<String>> {
    let program = std::env::current_exe()?.with_file_name("txloom");
    let mut command = Command::new(program);
    command.args([
        "storm",
        "replicas:2",
        "--profile",
        "tpcc",
        "--for",
        STORM,
        "--partition",
        "every",
        "5s",
        "--sessions",
        "8",
    ]);
    let done = command.args(["--level", "store:eventual", "--format", "json"]).output().context("running txloom")?;
    match json::parse(&String::from_utf8_lossy(&done.stdout)).map(|report| report.body) {
        Ok(Body::Storm(report)) => {
            Ok(report.invariants.map(|told| told.broken.into_iter().map(|one| one.name).collect()).unwrap_or_default())
        }
        _ => bail!("{}", String::from_utf8_lossy(&done.stderr)),
    }
}
