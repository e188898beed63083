//! *Pairs of versions*: a quarter of an hour each; what is found goes into a folder, and each finding is run again three
//! times by its own replay command.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use txloom::hunt::findings::Findings;
use txloom::hunt::report::{hunt_finding, hunt_report};
use txloom::hunt::{Budget, Ended, Found, Hunt, Plan, Watcher};
use txloom::report::model::hunt::HuntFinding;
use txloom::report::model::{Body, Report};

use super::hunts::{model, once, open, parse, percent, table};
use super::{FOLDER, Section, short};

/// Names the pairs: targets separated by spaces, pairs by commas.
const PAIRS: &str = "TXLOOM_SOAK_PAIRS";
const TIME: Duration = Duration::from_secs(15 * 60);
const REPLAYS: usize = 3;
/// The exit code of a replay that shows the finding.
const FOUND: i32 = 1;
/// The cell of a line that holds how many replays failed.
const FAILED_REPLAYS: usize = 7;

pub(super) fn run() -> Result<Section> {
    let named = std::env::var(PAIRS).unwrap_or_default();
    let pairs: Vec<Vec<&str>> = named.split(',').map(|pair| pair.split_whitespace().collect()).collect();
    let mut rows = Vec::new();
    for pair in pairs.iter().filter(|pair| !pair.is_empty()) {
        rows.push(once("pairs", &pair.join("-"), || measure(pair))?);
    }
    if rows.is_empty() {
        return Ok(Section { text: format!("No pairs of versions: {PAIRS} names none.\n"), met: true });
    }
    let met = rows.iter().all(|row| row.get(FAILED_REPLAYS).is_some_and(|cell| cell == "0"));
    let header = "targets | versions | cases: | cases per second: | findings: | known: | not reproducible: | \
                  failed replays: | with a wait:";
    let words = "Versions compared with each other, a quarter of an hour each; every finding run again three times by its \
                 replay command.\n\n";
    Ok(Section { text: words.to_string() + &table(header, &rows), met })
}

fn measure(pair: &[&str]) -> Result<Vec<String>> {
    let targets = parse(pair)?;
    let engines = || open(&targets);
    let folder = PathBuf::from(FOLDER).join("found").join(pair.join("-").replace(['/', '@'], "_"));
    let mut keeper = Keeper { findings: Findings::open(&folder)?, plan: None, kept: Vec::new(), failure: None };
    let hunt = Hunt { model: model(), budget: Budget::time(TIME), ..Hunt::new(&engines) };
    let summary = hunt.run(&mut keeper)?;
    if let Some(failure) = keeper.failure {
        return Err(failure);
    }
    if let Ended::Failed(error) = &summary.ended {
        println!("{}: the hunt could not go on: {error}", pair.join(" "));
    }
    let mut failed = 0;
    for finding in &keeper.kept {
        failed += failed_replays(&finding.finding.replay)?;
    }
    let (found, counts) = (keeper.kept.len(), &summary.counts);
    let report = hunt_report(&summary, keeper.kept, Vec::new());
    keeper.findings.write_summary(&Report::new(Body::Hunt(Box::new(report))))?;
    let versions: Vec<String> = summary.plan.targets.iter().map(|engine| engine.version.to_string()).collect();
    Ok(vec![
        pair.iter().map(|target| short(target)).collect::<Vec<_>>().join(" "),
        versions.join(", "),
        counts.cases().to_string(),
        format!("{:.0}", counts.cases() as f64 / summary.elapsed.as_secs_f64().max(0.001)),
        found.to_string(),
        counts.known_count().to_string(),
        counts.unreproducible.to_string(),
        failed.to_string(),
        percent(counts.statistics.wait_share()),
    ])
}

/// Writes findings as they come.
struct Keeper {
    findings: Findings,
    plan: Option<Plan>,
    kept: Vec<HuntFinding>,
    failure: Option<anyhow::Error>,
}

impl Watcher for Keeper {
    fn started(&mut self, plan: &Plan) -> ControlFlow<()> {
        self.plan = Some(plan.clone());
        ControlFlow::Continue(())
    }

    fn found(&mut self, found: &Found) -> ControlFlow<()> {
        let Some(plan) = &self.plan else { return ControlFlow::Continue(()) };
        match self.findings.write(found, plan) {
            Ok(written) => {
                println!("{}: {}", written.case.display(), found.finding.sentence);
                self.kept.push(hunt_finding(found, plan, written.report, Some(written.case.display().to_string())));
                ControlFlow::Continue(())
            }
            Err(error) => {
                self.failure = Some(error.into());
                ControlFlow::Break(())
            }
        }
    }
}

/// How many of the replays do not show the finding.
fn failed_replays(command: &str) -> Result<usize> {
    let program = std::env::current_exe().context("the path of this program")?.with_file_name("txloom");
    anyhow::ensure!(program.is_file(), "there is no {}: build it first (`make soak` does)", program.display());
    let folder = program.parent().unwrap_or(Path::new("/"));
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let mut failed = 0;
    for _ in 0..REPLAYS {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).env("PATH", &path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if shell.status().context("running a replay command")?.code() != Some(FOUND) {
            failed += 1;
            println!("not shown again by: {command}");
        }
    }
    Ok(failed)
}
