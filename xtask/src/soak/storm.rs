//! *Storms*: kills, weak settings, long runs.
//!
//! ```text
//!   kills      200 of each server, in parts that are kept; nothing acknowledged is lost, nothing is half-done
//!   positives  settings and planted bugs that lose commits, and H2's serializable: each is found
//!   long runs  200,000 transactions each: nothing that the guarantees forbid; what InnoDB's repeatable read allows is seen
//! ```
//!
//! What is judged is the same as in `txloom storm`: the history against the guarantee, and what is there after each
//! recovery against what was acknowledged.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use txloom::engines::{self, Target};
use txloom::storm::judge::{judge, promise};
use txloom::storm::workload::Shape;
use txloom::storm::{Budget, Ended, FaultKind, PROFILES, Recurring, Scale, Storm, Summary};
use txloom_core::engine::{EngineError, EngineErrorKind};
use txloom_core::history::check::Verdict;
use txloom_core::level::LevelName;

use super::Section;
use super::hunts::{once, table};

/// How many kills each server has to survive, in parts.
const KILLS: u64 = 200;
const KILLS_PER_PART: u64 = 20;
const KILL_EVERY: Duration = Duration::from_secs(2);
/// More than enough time for a part: it ends when its kills are done.
const PART_LIMIT: Duration = Duration::from_secs(600);

/// How many transactions a long run has, in parts that differ in their seed.
const TRANSACTIONS: u64 = 200_000;
const TRANSACTIONS_PER_PART: u64 = 20_000;

/// How long one check may take. After a kill the promise is what counts; what holds beyond it need not be known.
const CHECK_LIMIT: Duration = Duration::from_secs(300);
const KILL_CHECK_LIMIT: Duration = Duration::from_secs(120);

/// How long something that must be found may stay hidden.
const FIND_LIMIT: Duration = Duration::from_secs(60);

/// What loses commits, or commits too much: target, setting, level, whether the server is killed.
const POSITIVES: &[(&str, &str, &str, bool)] = &[
    ("postgres", "synchronous_commit=off", "read committed", true),
    ("mariadb", "innodb_flush_log_at_trx_commit=0", "repeatable read", true),
    ("model+lost-commit", "", "serializable", false),
    ("h2", "", "serializable", false),
];

/// Where nothing may be found in long runs.
const SILENT: &[(&str, &str)] = &[
    ("sqlite", "serializable"),
    ("postgres", "serializable"),
    ("postgres", "repeatable read"),
    ("mariadb", "serializable"),
];

/// What must be seen, though it is allowed.
const ALLOWED: (&str, &str, &[&str]) = ("mariadb", "repeatable read", &["P4", "G-single"]);

pub(super) fn run() -> Result<Section> {
    let mut met = true;
    let mut text = String::new();
    let mut add = |title: &str, header: &str, rows: Vec<Vec<String>>| {
        met &=
            rows.iter().all(|row| row.last().is_some_and(|verdict| verdict.starts_with("yes") || verdict == "missing"));
        text.push_str(&format!("{}{title}\n\n{}", if text.is_empty() { "" } else { "\n" }, table(header, &rows)));
    };
    let title = format!(
        "Kills (kill -9, every {} s), {KILLS} of each server: everything acknowledged is there, whole.",
        KILL_EVERY.as_secs()
    );
    add(&title, "target | profile | kills: | transactions: | unknown: | seconds: | all there", kills()?);
    let title = format!("What must be found within {} s.", FIND_LIMIT.as_secs());
    add(&title, "target | setting | level | after: | found", positives()?);
    let title = format!(
        "Long storms, {TRANSACTIONS} transactions each: nothing that the level forbids; what it allows is seen."
    );
    add(
        &title,
        "target | level | transactions: | committed: | seconds: | seen, and allowed | as it must be",
        long_runs()?,
    );
    Ok(Section { text, met })
}

/// What one storm is asked to do.
struct Ask<'a> {
    target: &'a str,
    setting: &'a str,
    profile: &'a str,
    level: &'a str,
    keys: usize,
    seed: u64,
    budget: Budget,
    kill_every: Option<Duration>,
}

impl Default for Ask<'_> {
    fn default() -> Self {
        let budget = Budget::time(FIND_LIMIT);
        Ask { target: "", setting: "", profile: "registers", level: "", keys: 100, seed: 1, budget, kill_every: None }
    }
}

/// What it came to.
struct Told {
    summary: Summary,
    /// Whether what is promised is kept; `None` if that is not decided.
    holds: Option<bool>,
    /// What stronger levels forbid.
    seen: Vec<String>,
}

impl Told {
    fn is_healthy(&self) -> bool {
        let is_broken = self.summary.breaches.iter().any(|breach| !breach.is_allowed());
        self.holds == Some(true) && self.summary.damage.is_empty() && !is_broken && self.ended_well()
    }

    fn ended_well(&self) -> bool {
        matches!(self.summary.ended, Ended::Budget | Ended::ByWatcher)
    }

    fn is_found(&self) -> bool {
        self.holds == Some(false) || !self.summary.damage.is_empty()
    }
}

/// Ends a storm after so many kills.
struct Enough(u64);

impl txloom::storm::Watcher for Enough {
    fn progress(&mut self, progress: &txloom::storm::Progress) -> std::ops::ControlFlow<()> {
        let is_enough = progress.faults.of(FaultKind::Kill) >= self.0;
        if is_enough { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
    }
}

fn storm(ask: &Ask<'_>, watcher: &mut dyn txloom::storm::Watcher) -> Result<Told, EngineError> {
    let bad = |what: String| EngineError::new(ask.target, EngineErrorKind::Protocol(what));
    let mut target = Target::parse(ask.target).map_err(|error| bad(error.to_string()))?;
    target.server.durable = ask.kill_every.is_some();
    target.server.extra.extend(ask.setting.split_once('=').map(|(name, value)| (name.to_string(), value.to_string())));
    let mut engine = engines::open(&target)?;
    let profile = PROFILES.iter().find(|profile| profile.name == ask.profile).expect("the profile exists");
    let scale = Scale { keys: ask.keys, ..Scale::default() };
    let workload = (profile.make)(&Shape { seed: ask.seed, ..Shape::new(scale) }, engine.info()).map_err(bad)?;
    let kill = ask.kill_every.map(|every| Recurring { kind: FaultKind::Kill, every });
    let storm = Storm {
        seed: ask.seed,
        level: LevelName::parse(ask.level),
        budget: ask.budget,
        faults: kill.into_iter().collect(),
        ..Storm::new(&*workload, scale)
    };
    let summary = storm.run(engine.as_mut(), watcher)?;
    let promised = promise(&summary.plan.engine, &summary.plan.level);
    let (mut holds, mut seen) = (None, Vec::new());
    if let Some(history) = &summary.history {
        let limit = if ask.kill_every.is_some() { KILL_CHECK_LIMIT } else { CHECK_LIMIT };
        let mut judgement = judge(history, promised, limit).map_err(bad)?;
        judgement.survey(history, limit);
        holds = match judgement.verdict {
            Verdict::Holds(_) => Some(true),
            Verdict::Violated(_) => Some(false),
            Verdict::Undecided(_) => None,
        };
        let found = judgement.survey.iter().flat_map(|survey| &survey.anomalies);
        seen = found.map(|found| found.named.to_string()).collect();
    }
    Ok(Told { summary, holds, seen })
}

fn kills() -> Result<Vec<Vec<String>>> {
    let mut rows = Vec::new();
    for target in ["postgres", "mariadb"] {
        for profile in ["registers", "list-append"] {
            let parts = KILLS / KILLS_PER_PART / 2;
            let part = |number: u64| {
                once("storm", &format!("kills-{target}-{profile}-{number}"), || kills_of(target, profile, number))
            };
            let parts = (1..=parts).map(part).collect::<Result<Vec<_>>>()?;
            rows.push(together(&parts));
        }
    }
    Ok(rows)
}

fn kills_of(target: &str, profile: &str, seed: u64) -> Result<Vec<String>> {
    let ask = Ask {
        target,
        profile,
        level: "read committed",
        keys: 200,
        seed,
        budget: Budget::time(PART_LIMIT),
        kill_every: Some(KILL_EVERY),
        ..Ask::default()
    };
    let told = storm(&ask, &mut Enough(KILLS_PER_PART))?;
    let summary = &told.summary;
    let kills = summary.faults.of(FaultKind::Kill);
    let is_whole = told.is_healthy() && kills >= KILLS_PER_PART;
    Ok(vec![
        format!("`{target}`"),
        profile.to_string(),
        kills.to_string(),
        summary.tally.transactions().to_string(),
        summary.tally.unknown.to_string(),
        format!("{:.0}", summary.elapsed.as_secs_f64()),
        if is_whole {
            "yes".to_string()
        } else {
            format!("NO: {:?}, {:?}, holds: {:?}", summary.ended, summary.damage, told.holds)
        },
    ])
}

/// Parts as one line: numbers are added, and all of them must be as they must be.
fn together(parts: &[Vec<String>]) -> Vec<String> {
    let Some(first) = parts.first() else { return Vec::new() };
    let cell = |at: usize| match parts.iter().map(|part| part[at].parse::<u64>()).sum::<Result<u64, _>>() {
        Ok(sum) => sum.to_string(),
        Err(_) => parts.iter().map(|part| &part[at]).find(|cell| cell.starts_with("NO")).unwrap_or(&first[at]).clone(),
    };
    (0..first.len()).map(cell).collect()
}

fn positives() -> Result<Vec<Vec<String>>> {
    let row = |(target, setting, level, is_killed): &(&str, &str, &str, bool)| {
        once("storm", &format!("positive-{target}"), || positive(target, setting, level, *is_killed))
    };
    POSITIVES.iter().map(row).collect()
}

/// Storms of a few seconds, with one seed after the other, until something is found.
fn positive(target: &str, setting: &str, level: &str, is_killed: bool) -> Result<Vec<String>> {
    let start = Instant::now();
    let mut is_found = false;
    let mut verdict = None;
    for seed in 1.. {
        let kill_every = is_killed.then_some(Duration::from_secs(1));
        let budget = Budget { time: Some(Duration::from_secs(5)), transactions: Some(5_000), only_commits: false };
        let ask = Ask { target, setting, level, keys: 50, seed, budget, kill_every, ..Ask::default() };
        match storm(&ask, &mut ()) {
            Ok(told) => is_found = told.is_found(),
            Err(error) if target == "h2" => verdict = Some(("missing".to_string(), error)),
            Err(error) => return Err(error).with_context(|| target.to_string()),
        }
        if is_found || verdict.is_some() || start.elapsed() >= FIND_LIMIT {
            break;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let is_in_time = is_found && start.elapsed() <= FIND_LIMIT;
    let said = verdict.map(|(word, error)| {
        println!("{target}: {error}");
        word
    });
    let said = said.unwrap_or_else(|| if is_in_time { "yes".to_string() } else { "NO".to_string() });
    Ok(vec![format!("`{target}`"), setting.to_string(), level.to_string(), format!("{seconds:.0}"), said])
}

fn long_runs() -> Result<Vec<Vec<String>>> {
    let (target, level, wanted) = ALLOWED;
    let silent = SILENT.iter().map(|(target, level)| (*target, *level, &[][..]));
    silent.chain([(target, level, wanted)]).map(|(target, level, wanted)| long_run(target, level, wanted)).collect()
}

fn long_run(target: &str, level: &str, wanted: &[&str]) -> Result<Vec<String>> {
    let part = |seed: u64| {
        let name = format!("long-{target}-{}-{seed}", level.replace(' ', "-"));
        once("storm", &name, || long_part(target, level, seed))
    };
    let parts = (1..=TRANSACTIONS / TRANSACTIONS_PER_PART).map(part).collect::<Result<Vec<_>>>()?;
    let mut row = together(&parts);
    let seen = parts.iter().flat_map(|part| part[5].split(", ")).filter(|name| !name.is_empty());
    let seen: std::collections::BTreeSet<&str> = seen.collect();
    row[5] = seen.iter().copied().collect::<Vec<_>>().join(", ");
    let lacks = wanted.iter().find(|wanted| !seen.iter().any(|name| name.starts_with(*wanted)));
    if let Some(lacks) = lacks.filter(|_| row[6] == "yes") {
        row[6] = format!("NO: {lacks} was not seen");
    }
    Ok(row)
}

fn long_part(target: &str, level: &str, seed: u64) -> Result<Vec<String>> {
    let profile = ["registers", "list-append"][(seed % 2) as usize];
    let budget = Budget::transactions(TRANSACTIONS_PER_PART);
    let ask = Ask { target, profile, level, keys: 300, seed, budget, ..Ask::default() };
    let told = storm(&ask, &mut ())?;
    let tally = &told.summary.tally;
    Ok(vec![
        format!("`{target}`"),
        level.to_string(),
        tally.transactions().to_string(),
        tally.committed.to_string(),
        format!("{:.0}", told.summary.elapsed.as_secs_f64()),
        told.seen.join(", "),
        if told.is_healthy() {
            "yes".to_string()
        } else {
            format!("NO: {:?}, holds: {:?}", told.summary.ended, told.holds)
        },
    ])
}
