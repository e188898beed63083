//! The hunt: generated cases, one after the other, until something is wrong or the budget is spent.
//!
//! ```text
//!   (seed, number) ──→ group of cases ──→ oracles ──violated──→ judged twice more ──→ reduced ──→ new? known? ──→ Found
//!                      one schema         share the runs            │                              │
//!                                         of a case (memo)          └─→ counted as                 └─→ counted as
//!                                                                       not reproducible               a repetition
//! ```
//!
//! **Workers.** Each worker owns engines of its own, one per target (a private server serves one worker), and takes the
//! next group from a common counter. What a group contains depends on the seed and its number alone, and so does what is
//! wrong with it. What is *reported* depends on what was reported before; so violations are brought to the
//! [ledger] in the order of their groups, and a worker that comes too early waits for its turn:
//!
//! ```text
//!   worker 1   group 0 ······ group 2 ··········· group 3 …
//!   worker 2   group 1 ··· ! waits ······· reduces, reports; group 4 …
//!                          └ group 0 has not been judged yet
//! ```
//!
//! With a budget of cases, the findings are therefore the same for any number of workers.
//!
//! **Storms.** If asked for, a [storm](crate::storm) comes after every few groups, see `storms.rs`.
//!
//! **What can go wrong.** A case that an engine could not be observed on (a connection lost, a server that had to be
//! started again) is counted and left; several of them in a row end the hunt with the engine's error. A setup that a
//! target refuses is counted and shown: the generator is then wrong about that target.
//!
//! **From a test.** Who develops a database implements [`Engine`] and writes:
//!
//! ```no_run
//! # use txloom_core::engine::{Engine, EngineError};
//! # fn my_database() -> Result<Box<dyn Engine>, EngineError> { unimplemented!() }
//! use txloom::hunt::{Budget, Hunt};
//!
//! let open = || Ok(vec![my_database()?]);
//! let hunt = Hunt { seed: 7, budget: Budget::cases(500), ..Hunt::new(&open) };
//! let summary = hunt.run(&mut ()).expect("the database can be observed");
//! assert!(summary.found.is_empty(), "{}", summary.found[0].finding.sentence);
//! ```
//!
//! Limits: a reduction that has begun is finished even if the time is over; what depends on the clock (`--for`) is not
//! reproducible in its length, only in its beginning.

mod cases;
mod counts;
mod watch;
mod memo;
mod judge;
mod turns;
mod ledger;
mod storms;
mod worker;
mod error;
mod conclusion;
pub mod findings;
pub mod report;
#[cfg(test)]
#[cfg(feature = "sqlite")]
mod tests;

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use txloom_core::engine::{Engine, EngineError, EngineInfo};
use txloom_core::finding::known::Known;
use txloom_core::generate::model::Model;
use txloom_core::generate::profile;
use txloom_core::generate::{Demands, Generator};
use txloom_core::level::LevelName;
use txloom_core::oracle::{self, Oracle, graph, invariant, serial};

pub use cases::Cases;
pub use conclusion::{UNDECIDED_SHARE_MAX, conclusion};
pub use counts::Counts;
pub use error::HuntError;
pub use storms::{StormFound, Storms};
pub use watch::{Ended, Found, Origin, Plan, Progress, Summary, Watcher};

use crate::execute::ExecuteOptions;
use worker::{Message, Shared, Worker};

/// How often a watcher is told of progress.
const TICK: Duration = Duration::from_millis(200);

/// The profile of a hunt that names none.
pub const DEFAULT_PROFILE: &str = "dt2";

/// How many tests a reduction may run, unless the caller says otherwise.
pub const REDUCE_TESTS: usize = 400;

/// Every so many cases, one is run once more to see whether a row was written by two transactions.
pub const SAMPLE_EVERY: u64 = 16;

/// Opens the engines of one worker, one per target, in the order of the targets.
pub type OpenEngines<'a> = &'a (dyn Fn() -> Result<Vec<Box<dyn Engine>>, EngineError> + Sync);

/// Gives the oracles of one worker.
pub type MakeOracles<'a> = &'a (dyn Fn(&[EngineInfo]) -> Vec<Box<dyn Oracle>> + Sync);

/// When a hunt ends: whatever comes first. Without either it ends when somebody stops it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    /// After this time.
    pub time: Option<Duration>,
    /// After so many cases.
    pub cases: Option<u64>,
}

impl Budget {
    /// So many cases.
    pub fn cases(count: u64) -> Budget {
        Budget { cases: Some(count), time: None }
    }

    /// So much time.
    pub fn time(time: Duration) -> Budget {
        Budget { time: Some(time), cases: None }
    }
}

/// A hunt: what to hunt in, with what, for how long.
pub struct Hunt<'a> {
    /// Opens the engines of one worker. The same target may be there twice.
    pub engines: OpenEngines<'a>,
    /// Gives the oracles; those [usual](fn@txloom_core::oracle::usual) for the targets, unless said otherwise.
    pub oracles: MakeOracles<'a>,
    /// The stochastic model of the cases.
    pub model: Model,
    /// What all random choices follow from.
    pub seed: u64,
    /// The isolation levels; all that the targets share, if empty.
    pub levels: Vec<LevelName>,
    /// When it ends.
    pub budget: Budget,
    /// How many cases are judged at the same time.
    pub workers: usize,
    /// Whether it ends with the first new finding.
    pub stop_on_first: bool,
    /// Behaviours that are known: they are counted apart.
    pub known: Known,
    /// How many tests one reduction may run.
    pub reduce_tests: usize,
    /// How long one statement may run.
    pub statement_limit: Duration,
    /// Whether storms come between the cases, and how often.
    pub storms: Option<Storms>,
    /// What a command line must say besides the targets so that it opens the same engines; part of replay commands.
    pub replay_flags: String,
    /// What a command line must say besides targets and seed so that it generates the same groups.
    pub group_flags: String,
    /// The only group to judge; all that the budget allows, if absent.
    pub group: Option<u64>,
}

impl<'a> Hunt<'a> {
    /// A hunt with default settings: one worker, seed 1, a minute, the default profile.
    pub fn new(engines: OpenEngines<'a>) -> Hunt<'a> {
        Hunt {
            engines,
            oracles: &oracle::usual,
            model: profile::shipped(DEFAULT_PROFILE).expect("the default profile is shipped"),
            seed: 1,
            levels: Vec::new(),
            budget: Budget::time(Duration::from_secs(60)),
            workers: 1,
            stop_on_first: false,
            known: Known::shipped(),
            reduce_tests: REDUCE_TESTS,
            statement_limit: ExecuteOptions::default().statement_limit,
            storms: None,
            replay_flags: String::new(),
            group_flags: String::new(),
            group: None,
        }
    }

    /// Hunts with generated cases.
    pub fn run(&self, watcher: &mut dyn Watcher) -> Result<Summary, HuntError> {
        let engines = (self.engines)()?;
        let targets = infos(&engines);
        let demands = demands(&(self.oracles)(&targets));
        let generator = Generator::new(self.model.clone(), &targets, demands, &self.levels, self.seed)?;
        self.run_on(engines, &generator, watcher)
    }

    /// Hunts with cases from elsewhere; model and levels are not asked.
    pub fn run_cases(&self, cases: &dyn Cases, watcher: &mut dyn Watcher) -> Result<Summary, HuntError> {
        self.run_on((self.engines)()?, cases, watcher)
    }

    fn run_on(
        &self,
        engines: Vec<Box<dyn Engine>>,
        cases: &dyn Cases,
        watcher: &mut dyn Watcher,
    ) -> Result<Summary, HuntError> {
        let plan = self.plan(infos(&engines))?;
        let start = Instant::now();
        let shared = Shared::new(self, cases, start);
        let is_shown = watcher.started(&plan).is_continue();
        let group = self.group.filter(|_| is_shown).map(|number| cases.group(number));
        if !is_shown || group.is_some_and(|group| watcher.generated(&group).is_break()) {
            shared.stop(Ended::ByWatcher);
        }
        let (sender, receiver) = channel();
        let mut opened = Some(engines);
        let (heard, results) = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..self.workers.max(1))
                .map(|_| {
                    let (engines, sender, shared) = (opened.take(), sender.clone(), &shared);
                    scope.spawn(move || Worker::start(self, shared, engines, sender).and_then(Worker::work))
                })
                .collect();
            drop(sender);
            let heard = follow(&receiver, &shared, start, watcher);
            // A panic of a worker is a defect of ours: it goes on where it can be seen.
            let join = |worker: std::thread::ScopedJoinHandle<'_, _>| {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            (heard, workers.into_iter().map(join).collect::<Vec<Result<(), HuntError>>>())
        });
        let ended = match results.into_iter().find_map(Result::err) {
            Some(error) if error.is_interruption() => Ended::Interrupted,
            Some(error) => Ended::Failed(error),
            None => shared.ended(),
        };
        Ok(shared.summary(plan, heard, start.elapsed(), ended))
    }

    /// What will be done.
    fn plan(&self, targets: Vec<EngineInfo>) -> Result<Plan, HuntError> {
        let oracles: Vec<&'static str> = (self.oracles)(&targets).iter().map(|oracle| oracle.name()).collect();
        if targets.is_empty() || oracles.is_empty() {
            return Err(HuntError::Nothing(if targets.is_empty() { "target" } else { "oracle" }));
        }
        let levels = if self.levels.is_empty() { shared_levels(&targets) } else { self.levels.clone() };
        Ok(Plan {
            targets,
            levels,
            oracles,
            profile: self.model.name.clone(),
            seed: self.seed,
            group: self.group,
            budget: self.budget,
            workers: self.workers.max(1),
            storms: self.storms,
            replay_flags: self.replay_flags.clone(),
            group_flags: self.group_flags.clone(),
        })
    }
}

/// What workers said.
#[derive(Default)]
struct Heard {
    counts: Counts,
    found: Vec<Found>,
    recorded: Vec<StormFound>,
}

/// Collects what workers say, until all of them have ended, and tells the watcher.
fn follow(receiver: &Receiver<Message>, shared: &Shared<'_>, start: Instant, watcher: &mut dyn Watcher) -> Heard {
    let (mut heard, mut told) = (Heard::default(), start);
    loop {
        let mut answer = ControlFlow::Continue(());
        match receiver.recv_timeout(TICK) {
            Ok(Message::Counts(more)) => heard.counts.merge(&more),
            Ok(Message::Found(new)) => {
                answer = watcher.found(&new);
                heard.found.push(*new);
            }
            Ok(Message::Recorded(new)) => {
                answer = watcher.recorded(&new);
                heard.recorded.push(*new);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return heard,
        }
        if told.elapsed() >= TICK {
            told = Instant::now();
            let found = heard.found.len() + heard.recorded.len();
            let progress = Progress { counts: &heard.counts, found, elapsed: start.elapsed() };
            answer = if answer.is_break() { answer } else { watcher.progress(&progress) };
        }
        if answer.is_break() {
            shared.stop(Ended::ByWatcher);
        }
    }
}

/// The isolation levels that all targets have, in the order of the first.
fn shared_levels(targets: &[EngineInfo]) -> Vec<LevelName> {
    let Some((first, others)) = targets.split_first() else { return Vec::new() };
    let is_shared = |level: &&LevelName| others.iter().all(|other| other.levels.contains(level));
    first.levels.iter().filter(is_shared).cloned().collect()
}

/// What the oracles ask of a case.
fn demands(oracles: &[Box<dyn Oracle>]) -> Demands {
    let has = |name: &str| oracles.iter().any(|oracle| oracle.name() == name);
    Demands { reorderable: has(serial::NAME) || has(graph::NAME), assertions: has(invariant::NAME) }
}

fn infos(engines: &[Box<dyn Engine>]) -> Vec<EngineInfo> {
    engines.iter().map(|engine| engine.info().clone()).collect()
}
