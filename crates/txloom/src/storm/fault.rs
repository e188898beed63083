//! What befalls a server while a storm is at its height, and how often.
//!
//! | fault | what is done | what must hold |
//! |---|---|---|
//! | kill | SIGKILL to all processes, then recovery | everything acknowledged is there, nothing is half-done |
//! | restart | stopped in good order, then started | the same |
//! | pause | SIGSTOP to all processes for a second, then SIGCONT | nothing is lost; statements take longer |
//! | full disk | no room for two seconds, then room again | who got an error has changed nothing; the same |
//! | partition | some nodes are cut off for a second, then all are connected | what the level promises |
//!
//! After all but a pause and a partition the sessions are called back, everything is read by one more transaction, and
//! compared; see [`recovery`](super::recovery).

use std::fmt;
use std::time::Duration;

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// The server is killed, and recovers.
    Kill,
    /// The server stands still for a while.
    Pause,
    /// The server is stopped in good order, and started.
    Restart,
    /// The server's disk is full for a while.
    FullDisk,
    /// Some of the nodes cannot talk to the others for a while.
    Partition,
}

impl FaultKind {
    /// Every kind.
    pub const ALL: [FaultKind; 5] =
        [FaultKind::Kill, FaultKind::Pause, FaultKind::Restart, FaultKind::FullDisk, FaultKind::Partition];

    /// The name that flags and reports use.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::Kill => "kill",
            FaultKind::Pause => "pause",
            FaultKind::Restart => "restart",
            FaultKind::FullDisk => "full-disk",
            FaultKind::Partition => "partition",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A fault that comes again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recurring {
    /// What happens.
    pub kind: FaultKind,
    /// How long after the last time it was over, or after the beginning.
    pub every: Duration,
}

/// How often each kind of fault has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FaultCounts([u64; FaultKind::ALL.len()]);

impl FaultCounts {
    /// One more; says the how-many-eth it was.
    pub(super) fn add(&mut self, kind: FaultKind) -> u64 {
        self.0[kind as usize] += 1;
        self.0[kind as usize]
    }

    /// How often.
    pub fn of(&self, kind: FaultKind) -> u64 {
        self.0[kind as usize]
    }

    /// Those that have happened.
    pub fn iter(&self) -> impl Iterator<Item = (FaultKind, u64)> + '_ {
        FaultKind::ALL.into_iter().map(|kind| (kind, self.of(kind))).filter(|(_, count)| *count > 0)
    }
}
