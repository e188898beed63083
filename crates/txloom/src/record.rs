//! Histories recorded from a live engine, for who wants nothing but the history: a [storm](crate::storm) of registers.
//!
//! The database is a table of registers. Every value is written once, so that a read tells which write it saw; the initial
//! value is 0. Most writes are *blind* (the transaction has not read the register before): those are the ones whose order a
//! history does not tell. The last transaction of the history reads all registers.

use std::time::Duration;

use txloom_core::engine::{Engine, EngineError, EngineErrorKind};
use txloom_core::history::History;
use txloom_core::level::LevelName;

use crate::storm::workload::Registers;
use crate::storm::{Budget, Ended, Scale, Storm};

/// What to record.
#[derive(Debug, Clone)]
pub struct Recording {
    /// How many sessions work at once.
    pub sessions: usize,
    /// How many transactions are to commit. Those that are rolled back are in the history as well, and do not count.
    pub transactions: usize,
    /// How many operations a transaction has.
    pub ops: usize,
    /// How many registers there are.
    pub keys: usize,
    /// Where the choice of operations comes from.
    pub seed: u64,
    /// The isolation level; `None` is the engine's default.
    pub level: Option<LevelName>,
    /// A statement that takes longer is cancelled, and its transaction rolled back.
    pub statement_limit: Duration,
}

impl Default for Recording {
    fn default() -> Recording {
        Recording {
            sessions: 8,
            transactions: 1_000,
            ops: 8,
            keys: 100,
            seed: 0,
            level: None,
            statement_limit: Duration::from_secs(10),
        }
    }
}

impl Recording {
    /// Resets the engine, lets the sessions work, and gives back what they did.
    pub fn record(&self, engine: &mut dyn Engine) -> Result<History, EngineError> {
        let scale = Scale { sessions: self.sessions, keys: self.keys, ops: self.ops };
        let workload = Registers::new(scale);
        let storm = Storm {
            seed: self.seed,
            level: self.level.clone(),
            budget: Budget { only_commits: true, ..Budget::transactions(self.transactions as u64) },
            statement_limit: self.statement_limit,
            ..Storm::new(&workload, scale)
        };
        let summary = storm.run(engine, &mut ())?;
        let lost = |what: String| EngineError::new(&engine.info().target, EngineErrorKind::Lost(what));
        match summary.ended {
            Ended::Failed(error) => Err(error),
            Ended::Died(death) => Err(lost(death.to_string())),
            _ => summary.history.ok_or_else(|| lost("nothing was recorded".to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::{self, Target};
    use txloom_core::history::check::check;
    use txloom_core::history::{Op, Status};
    use txloom_core::level::formal::{Level, Requirement};

    #[test]
    fn what_is_recorded_keeps_the_level() {
        let mut engine = engines::open(&Target::parse("model").unwrap()).unwrap();
        for (level, holds) in [("serializable", Level::Serializable), ("read committed", Level::ReadCommitted)] {
            let level = LevelName::parse(level);
            let recording = Recording { transactions: 60, sessions: 4, keys: 6, ops: 4, level, ..Recording::default() };
            let history = recording.record(engine.as_mut()).unwrap();
            let committed = history.transactions().filter(|(_, t)| t.status == Status::Committed).count();
            assert_eq!(committed, 61, "and one that reads everything");
            assert!(check(&history, Requirement::from(holds)).unwrap().holds(), "{holds}");
        }
    }

    #[test]
    fn most_writes_are_blind() {
        let mut engine = engines::open(&Target::parse("model").unwrap()).unwrap();
        let recording = Recording { transactions: 100, sessions: 1, ..Recording::default() };
        let history = recording.record(engine.as_mut()).unwrap();
        let (mut blind, mut writes) = (0, 0);
        for (id, _) in history.transactions() {
            let ops = history.ops(id);
            for (at, op) in ops.iter().enumerate().filter(|(_, op)| matches!(op, Op::Write(..))) {
                writes += 1;
                blind +=
                    usize::from(!ops[..at].iter().any(|read| matches!(read, Op::Read(..)) && read.key() == op.key()));
            }
        }
        assert!(writes > 300 && blind * 2 > writes && blind < writes, "{blind} of {writes} writes are blind");
    }
}
