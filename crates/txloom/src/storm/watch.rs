//! What a storm tells while it runs, and at its end.

use std::ops::ControlFlow;
use std::time::Duration;

use txloom_core::engine::{Death, EngineError, EngineInfo};
use txloom_core::history::History;
use txloom_core::level::LevelName;

use super::contention::Contention;
use super::fault::{FaultCounts, FaultKind, Recurring};
use super::invariant::Breach;
use super::recovery::Loss;
use super::shared::Tally;
use super::validity::Figures;
use super::{Budget, Scale};

/// Somebody who is told what happens, on the thread that called [`Storm::run`](super::Storm::run). Who answers *break* ends
/// the storm; what there is, is checked all the same. `()` is a watcher who does not care.
pub trait Watcher {
    /// Tables are being filled, which comes before everything else; told a few times a second. Who answers *break* ends the
    /// storm before it began.
    fn loading(&mut self, _loading: &Loading<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// The storm begins, and this is what will be done.
    fn started(&mut self, _plan: &Plan) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// How far it is; told a few times a second.
    fn progress(&mut self, _progress: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl Watcher for () {}

/// What will be done.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Where.
    pub engine: EngineInfo,
    /// At which isolation level.
    pub level: LevelName,
    /// The name of the workload.
    pub profile: String,
    /// How large it is.
    pub scale: Scale,
    /// What all random choices follow from.
    pub seed: u64,
    /// When it ends.
    pub budget: Budget,
    /// Whether statements are made and not sent.
    pub generate_only: bool,
    /// How many transactions a second are begun at most.
    pub rate: Option<u32>,
    /// What befalls the server.
    pub faults: Vec<Recurring>,
}

/// How far a table is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loading<'a> {
    /// The table.
    pub table: &'a str,
    /// How many rows it has.
    pub rows: u64,
    /// How many it will have at most.
    pub positions: u64,
    /// How long it has been taking.
    pub elapsed: Duration,
}

/// How far a storm is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Transactions that committed.
    pub committed: u64,
    /// Transactions that were rolled back.
    pub rolled_back: u64,
    /// What befell the server.
    pub faults: FaultCounts,
    /// How long it has been running.
    pub elapsed: Duration,
}

/// Why a storm ended.
#[derive(Debug)]
pub enum Ended {
    /// Its transactions are done, or its time is over.
    Budget,
    /// The watcher wanted no more.
    ByWatcher,
    /// Ctrl-C.
    Interrupted,
    /// The server died, though nobody killed it.
    Died(Death),
    /// The server was killed or restarted, and does not come back.
    NotRecovered(EngineError),
    /// After a recovery, something was not as it must be.
    Damaged,
    /// Something could not be observed any more.
    Failed(EngineError),
}

/// What was not as it must be when nobody was at work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// After what, and the how-many-eth of its kind; nothing: at the end.
    pub after: Option<(FaultKind, u64)>,
    /// What is wrong: at most one per item.
    pub losses: Vec<Loss>,
}

/// What a storm came to.
#[derive(Debug)]
pub struct Summary {
    /// What was to be done.
    pub plan: Plan,
    /// What was done.
    pub tally: Tally,
    /// How long it took, without the checks after its end.
    pub elapsed: Duration,
    /// Why it ended.
    pub ended: Ended,
    /// What befell the server.
    pub faults: FaultCounts,
    /// What was recorded; `None` if nothing was to be, or if a session was left behind, of which nobody knows what it did.
    pub history: Option<History>,
    /// How much transactions met.
    pub contention: Option<Contention>,
    /// How valid it was, if the workload keeps a picture of the database.
    pub figures: Option<Figures>,
    /// Faults after which everything was read and compared with what had been acknowledged.
    pub audited: u64,
    /// Whether everything was read and compared when the storm was over.
    pub is_audited_at_end: bool,
    /// What was lost, or is half there.
    pub damage: Vec<Damage>,
    /// How many invariants were asked for, each time that nobody was at work.
    pub invariants: usize,
    /// Those that were broken, when they were found to be for the first time.
    pub breaches: Vec<Breach>,
    /// What else went wrong, in words.
    pub troubles: Vec<String>,
}
