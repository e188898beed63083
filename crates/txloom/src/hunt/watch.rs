//! What a hunt tells while it runs, and at its end.

use std::ops::ControlFlow;
use std::time::Duration;

use txloom_core::case::Case;
use txloom_core::engine::EngineInfo;
use txloom_core::finding::{Finding, shell_word};
use txloom_core::generate::Group;
use txloom_core::level::LevelName;
use txloom_core::reduce::Reduced;

use super::{Budget, Counts, HuntError, StormFound, Storms};

/// Somebody who is told what happens. Everything is told on the thread that called [`Hunt::run`](super::Hunt::run); a
/// watcher that answers *break* ends the hunt at the next safe point. `()` is a watcher who does not care.
pub trait Watcher {
    /// The hunt begins, and this is what will be done.
    fn started(&mut self, _plan: &Plan) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Something new was found. With a budget of cases, findings come in the same order in every run.
    fn found(&mut self, _found: &Found) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Something new was found by a storm.
    fn recorded(&mut self, _found: &StormFound) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// The only group of the hunt was generated.
    fn generated(&mut self, _group: &Group) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// How far the hunt is; told a few times a second.
    fn progress(&mut self, _progress: &Progress<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl Watcher for () {}

/// What will be done.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What is hunted in.
    pub targets: Vec<EngineInfo>,
    /// At which isolation levels.
    pub levels: Vec<LevelName>,
    /// With which oracles.
    pub oracles: Vec<&'static str>,
    /// The name of the profile that describes the cases.
    pub profile: String,
    /// What all random choices follow from.
    pub seed: u64,
    /// The only group to judge, if there is one.
    pub group: Option<u64>,
    /// When it ends.
    pub budget: Budget,
    /// How many cases are judged at the same time.
    pub workers: usize,
    /// Whether storms come between the cases, and how often.
    pub storms: Option<Storms>,
    /// What replay commands say besides the targets.
    pub replay_flags: String,
    /// The words of a command that generates the same groups: all but the number of the group.
    pub group_flags: String,
}

impl Plan {
    /// The command that generates one group again and judges it, and no other.
    pub fn group_command(&self, group: u64) -> String {
        let targets: Vec<String> = self.targets.iter().map(|engine| shell_word(&engine.target)).collect();
        let words = [targets.join(" "), self.group_flags.clone(), format!("--seed {} --group {group}", self.seed)];
        let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
        format!("txloom hunt {}", words.join(" "))
    }
}

/// How far a hunt is.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// What was done so far.
    pub counts: &'a Counts,
    /// How many findings are new.
    pub found: usize,
    /// How long it has been running.
    pub elapsed: Duration,
}

/// Where a finding comes from: enough to generate its case again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The seed of the hunt.
    pub seed: u64,
    /// The number of the group, from 0.
    pub group: u64,
    /// The position of the case in its group, from 0.
    pub case: usize,
}

/// A new finding.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its number in this hunt, from 1.
    pub number: usize,
    /// What was found, reduced.
    pub finding: Finding,
    /// The case as it was generated.
    pub original: Case,
    /// What the reduction came to; `None` if there was none, or if its result did not reproduce.
    pub reduced: Option<Reduced>,
    /// Where it comes from.
    pub origin: Origin,
    /// How often it was seen again. Complete only in the summary.
    pub repeats: u64,
}

/// Why a hunt ended.
#[derive(Debug)]
pub enum Ended {
    /// Its time is over, or its cases are judged.
    Budget,
    /// The first finding was asked for.
    FirstFound,
    /// The watcher wanted no more.
    ByWatcher,
    /// Ctrl-C.
    Interrupted,
    /// An engine could not be observed any more. What was found before counts all the same.
    Failed(HuntError),
}

/// What a hunt came to.
#[derive(Debug)]
pub struct Summary {
    /// What was to be done.
    pub plan: Plan,
    /// What was done.
    pub counts: Counts,
    /// What is new, in order of group and case.
    pub found: Vec<Found>,
    /// What storms found, in the order in which they did.
    pub recorded: Vec<StormFound>,
    /// How long it took.
    pub elapsed: Duration,
    /// Why it ended.
    pub ended: Ended,
}
