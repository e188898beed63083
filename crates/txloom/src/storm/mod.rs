//! The storm: many sessions at once, unwatched; what they saw is written down and checked.
//!
//! The executor runs one step at a time, so that a run can be repeated. This is the opposite: every session has a
//! thread of its own and works as fast as the server lets it. What is asked for follows from the seed; what happens
//! does not. Nobody knows what happened until the checker has looked at the history.
//!
//! ```text
//!   Workload ──→ Transactions ──→ client 0 ─┐
//!                Transactions ──→ client 1 ─┼─→ logs ──→ History ──→ judge: does it keep what the engine promises?
//!                Transactions ──→ client 2 ─┘     │
//!                                   ↑             └────→ losses: is everything there that was acknowledged?
//!                                  run: connections, time limits, faults
//! ```
//!
//! * [`workload`]: what sessions ask for, and what their answers mean
//! * [`choice`]: which transactions roll back although nothing failed
//! * [`environment`]: transactions that failed by a full disk, a lost connection, a time limit
//! * [`log`]: which versions transactions wrote and saw; [`recording`]: the logs of all sessions, packed
//! * `client`: one session at work; `shared`: the numbers that all of them share
//! * `populate`: the rows that tables begin with
//! * `generate`: statements that are made and not sent
//! * `run`: the one who watches: opens connections, cancels what takes too long, breaks the server, listens
//! * [`fault`]: what befalls a server
//! * [`recovery`]: what must be there when nobody is at work
//! * [`invariant`]: what must be true of the tables then
//! * [`contention`], [`latency`]: how much transactions met, and how long they took
//! * [`validity`]: whether operations touched the rows that they should
//! * [`judge`]: the history against what the engine promises
//! * [`fresh`]: reads that do not see what was acknowledged before
//! * [`report`]: all of it as a report
//!
//! **Order.** A transaction lies between two numbers of one common counter, taken before its BEGIN and after its end.
//! That is all the real time that a history needs:
//!
//! ```text
//!   session 0    ①BEGIN  read 7  write 3  COMMIT④
//!   session 1       ②BEGIN  write 7  COMMIT③
//! ```
//!
//! **At rest.** When all sessions have ended, and after every recovery, one more transaction (the *audit*) reads
//! everything. It belongs to the history like any other, so that the last versions are known, too; and what it found is
//! compared with what was acknowledged. Then the workload's invariants are asked for.
//!
//! **Evidence.** What a storm finds cannot be shown again by running it again. The recorded history is the evidence: it
//! can be saved, and checked as often as one likes.
//!
//! # Limits
//!
//! A recording lies in memory until the end. Killing a server's processes tests its recovery, not a loss of power.

pub mod workload;
pub mod choice;
pub mod environment;
pub mod log;
pub mod recording;
pub mod contention;
pub mod latency;
pub mod validity;
pub mod recovery;
pub mod invariant;
pub mod fault;
mod shared;
mod client;
mod watch;
mod populate;
mod run;
mod generate;
pub mod fresh;
pub mod judge;
pub mod report;
mod conclusion;
#[cfg(test)]
mod testing;
#[cfg(test)]
#[cfg(feature = "sqlite")]
mod tests;

use std::ops::ControlFlow;
use std::time::Duration;

use txloom_core::engine::{Engine, EngineError, EngineErrorKind};
use txloom_core::level::LevelName;

pub use choice::RollbackShares;
pub use conclusion::conclusion;
pub use fault::{FaultCounts, FaultKind, Recurring};
pub use shared::Tally;
pub use watch::{Damage, Ended, Loading, Plan, Progress, Summary, Watcher};
pub use workload::{PROFILES, Scale, Shape, Workload};

use run::Run;

/// More sessions than this are a slip: each is a thread and a connection.
pub const SESSIONS_MAX: usize = 1_024;

/// Of a budget of commits, how many transactions may be tried for each.
const TRIES_PER_COMMIT: u64 = 20;

/// When a storm ends: whatever comes first. Without either it ends when somebody stops it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    /// After so many transactions.
    pub transactions: Option<u64>,
    /// After this time.
    pub time: Option<Duration>,
    /// Whether transactions that were rolled back do not count.
    pub only_commits: bool,
}

impl Budget {
    /// So many transactions.
    pub fn transactions(count: u64) -> Budget {
        Budget { transactions: Some(count), ..Budget::default() }
    }

    /// So much time.
    pub fn time(time: Duration) -> Budget {
        Budget { time: Some(time), ..Budget::default() }
    }

    fn tries_max(&self) -> Option<u64> {
        self.transactions.filter(|_| self.only_commits).map(|count| count.saturating_mul(TRIES_PER_COMMIT))
    }
}

/// A storm: what to do, at which level, for how long.
pub struct Storm<'a> {
    /// What sessions ask for.
    pub workload: &'a dyn Workload,
    /// How large the workload is; its sessions are those of the storm.
    pub scale: Scale,
    /// What all random choices follow from.
    pub seed: u64,
    /// The isolation level; `None` is the engine's default.
    pub level: Option<LevelName>,
    /// When it ends.
    pub budget: Budget,
    /// How many transactions a second are begun at most, by all sessions together.
    pub rate: Option<u32>,
    /// A statement that takes longer, be it because it waits, is cancelled, and its transaction rolled back.
    pub statement_limit: Duration,
    /// Whether what happens is recorded.
    pub is_recording: bool,
    /// What befalls the server, if it is one that may be broken.
    pub faults: Vec<Recurring>,
}

impl<'a> Storm<'a> {
    /// A storm with default settings: seed 1, a thousand transactions, recorded.
    pub fn new(workload: &'a dyn Workload, scale: Scale) -> Storm<'a> {
        Storm {
            workload,
            scale,
            seed: 1,
            level: None,
            budget: Budget::transactions(1_000),
            rate: None,
            statement_limit: Duration::from_secs(10),
            is_recording: true,
            faults: Vec::new(),
        }
    }

    /// Resets the engine, lets the sessions work, and tells what came of it. `Err` if it could not begin.
    pub fn run(&self, engine: &mut dyn Engine, watcher: &mut dyn Watcher) -> Result<Summary, EngineError> {
        let plan = self.plan(engine)?;
        self.set_up(engine, watcher)?;
        let mut run = Run::start(self, engine)?;
        if watcher.started(&plan) == ControlFlow::Break(()) {
            run.stop(Ended::ByWatcher);
        }
        run.until_all_ended(watcher);
        Ok(run.finish(plan))
    }

    fn plan(&self, engine: &dyn Engine) -> Result<Plan, EngineError> {
        let info = engine.info();
        let level = self.level.clone().unwrap_or_else(|| info.default_level.clone());
        info.require_level(&level)?;
        self.check_faults(engine)?;
        Ok(Plan {
            engine: info.clone(),
            level,
            profile: self.workload.name().to_string(),
            scale: self.scale,
            seed: self.seed,
            budget: self.budget,
            generate_only: false,
            rate: self.rate,
            faults: self.faults.clone(),
        })
    }

    /// Only what is ours is broken.
    fn check_faults(&self, engine: &dyn Engine) -> Result<(), EngineError> {
        let info = engine.info();
        let fills = self.faults.iter().any(|fault| fault.kind == FaultKind::FullDisk);
        let cuts = self.faults.iter().any(|fault| fault.kind == FaultKind::Partition);
        let breaks = self.faults.iter().any(|fault| fault.kind != FaultKind::Partition);
        let lack = match info.capabilities {
            can if cuts && can.nodes < 2 => "several nodes, between which there could be a partition",
            can if breaks && !can.kill => {
                "a server of its own that could be broken: txloom breaks only servers that it started"
            }
            can if fills && !can.small_disk => "a small disk of its own that could be filled",
            _ => return Ok(()),
        };
        Err(EngineError::new(&info.target, EngineErrorKind::Unsupported(lack.to_string())))
    }

    fn set_up(&self, engine: &mut dyn Engine, watcher: &mut dyn Watcher) -> Result<(), EngineError> {
        let outcomes = engine.reset(&self.workload.setup())?;
        match outcomes.into_iter().find_map(|outcome| outcome.error) {
            None => populate::populate(self.workload, engine, watcher),
            Some(error) => {
                let what = format!("the tables of `{}` could not be set up: {error}", self.workload.name());
                Err(EngineError::new(&engine.info().target, EngineErrorKind::Protocol(what)))
            }
        }
    }
}
