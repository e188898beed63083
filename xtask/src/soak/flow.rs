//! *Flow*: every schedule of TPC-C with each query a transaction of its own is run: it goes wrong, is harmless, or cannot
//! be run; and each verdict has its reason.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result};
use txloom::analyze::trial::{Fate, Settings, Trials};
use txloom::analyze::{Analysis, Project, report};
use txloom::engines::{self, Target};
use txloom::execute::EngineRunner;
use txloom_core::flow::Funnel;
use txloom_core::flow::program::Cut;
use txloom_core::level::LevelName;
use txloom_core::program::state::Samples;

use super::Section;
use super::hunts::{once, table};
use crate::measure::chopped_tpcc;

/// Where; and in which language the program is.
const TARGETS: &[(&str, &str)] = &[("sqlite", "mariadb.sql"), ("postgres", "postgres.sql"), ("mariadb", "mariadb.sql")];

/// Runs every schedule on every target.
pub(super) fn run() -> Result<Section> {
    let mut text = String::from(
        "## Flow: TPC-C, each query a transaction of its own, at serializable\n\nThe paper has 34 queries, 39,304 triples, W2 \
         916, W3 127, W4 11.\n\n",
    );
    let (mut rows, mut reasons, mut met) = (Vec::new(), Vec::new(), true);
    for (target, file) in TARGETS {
        let analysed = Analysed::read(file)?;
        let mut verdicts: BTreeMap<String, usize> = BTreeMap::new();
        for at in 0..analysed.analysis.schedules.len() {
            let cells = once("flow", &format!("{target}-{at}"), || analysed.try_one(target, at))?;
            let [name, verdict, why] = cells.as_slice() else { anyhow::bail!("{cells:?} is no verdict") };
            *verdicts.entry(verdict.clone()).or_default() += 1;
            met &= verdict != "undecided" && !why.is_empty();
            if *target == "postgres" {
                reasons.push(vec![name.clone(), verdict.clone(), why.clone()]);
            }
        }
        let funnel = Funnel::of(&analysed.analysis.flowing.application);
        let count = |verdict: &str| verdicts.get(verdict).copied().unwrap_or(0).to_string();
        rows.push(vec![
            format!("`{target}`"),
            funnel.queries.to_string(),
            funnel.all.to_string(),
            funnel.w2.to_string(),
            funnel.w3.to_string(),
            funnel.w4.to_string(),
            count("manifest"),
            count("harmless"),
            count("impossible"),
            count("not-reached"),
            count("undecided"),
        ]);
    }
    let header =
        "target | queries: | n³: | W2: | W3: | W4: | go wrong: | harmless: | impossible: | not reached: | undecided:";
    text += &table(header, &rows);
    text += "\nEach schedule, on PostgreSQL:\n\n";
    text += &table("schedule | verdict | why", &reasons);
    Ok(Section { text, met })
}

struct Analysed {
    project: Project,
    analysis: Analysis,
}

impl Analysed {
    fn read(file: &str) -> Result<Analysed> {
        let project = chopped_tpcc(file)?;
        let analysis = Analysis::of(&project, Cut::EachQuery);
        Ok(Analysed { project, analysis })
    }

    fn try_one(&self, target: &str, at: usize) -> Result<Vec<String>> {
        let schedule = &self.analysis.schedules[at];
        let settings = Settings {
            level: LevelName::parse("serializable").context("the level is known")?,
            samples: Samples::default(),
            seed: 1,
            limit: Duration::from_secs(10),
        };
        let mut runner = EngineRunner::new(vec![engines::open(&Target::parse(target)?)?]);
        let fate: Fate = Trials::new(&self.project, &self.analysis, &settings, &mut runner).of(schedule)?;
        let told = report::fate(&self.analysis, schedule, &fate);
        let name = schedule.label(&self.analysis.flowing.application);
        Ok(vec![name, told.verdict.name().to_string(), told.says.replace(['\t', '\n', '|'], " ")])
    }
}
