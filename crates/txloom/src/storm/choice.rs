//! Rollbacks by choice: transactions that change their mind, wholly or back to a savepoint.
//!
//! A database that undoes too little is noticed only where something is undone. So in every workload some transactions
//! end in ROLLBACK although nothing failed, and some set a savepoint, do a few operations, and roll back to it:
//!
//! ```text
//!   BEGIN   read 7   SAVEPOINT   write 7 → a   read 9   ROLLBACK TO   write 3 → b   COMMIT
//!   history:  T   committed   read 7, read 9, write 3 → b
//!             T'  aborted     write 7 → a
//! ```
//!
//! What was written after the savepoint stands in the history as a transaction of its own that was rolled back: a read
//! of it is an aborted read (G1a) at every level that forbids those. Reads after the savepoint stay with the
//! transaction, which has seen them at every level; but for those of items that it had written after the savepoint, which
//! saw a version of its own that never was.

use txloom_core::generate::random::Random;

/// Separates this stream of random numbers from those of workloads.
const STREAM: u64 = 0x726f_6c6c_6261_636b;

/// The savepoint comes after at least one and at most so many statements. MySQL and MariaDB end the transaction of an
/// engine that a savepoint came before: its locks and its snapshot are gone after the rollback to it.
const STATEMENTS_BEFORE: usize = 4;

/// At most so many statements are undone by a rollback to a savepoint.
const STATEMENTS_UNDONE: i64 = 3;

/// The name of every savepoint; a transaction has at most one.
pub(super) const SET_SAVEPOINT: &str = "SAVEPOINT txloom";
/// Undoes what came after it.
pub(super) const ROLL_BACK_TO: &str = "ROLLBACK TO SAVEPOINT txloom";

/// How many transactions change their mind, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RollbackShares {
    /// Transactions that end in ROLLBACK instead of COMMIT.
    pub whole: usize,
    /// Transactions that roll back to a savepoint.
    pub to_savepoint: usize,
}

impl Default for RollbackShares {
    fn default() -> RollbackShares {
        RollbackShares { whole: 5, to_savepoint: 10 }
    }
}

/// The choices of one session.
#[derive(Debug)]
pub(super) struct Choices {
    shares: RollbackShares,
    random: Random,
}

/// What one transaction has chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Choice {
    /// It ends in ROLLBACK.
    pub(super) rolls_back: bool,
    /// The statements that are undone.
    pub(super) undone: Option<Undone>,
}

/// The statements between a savepoint and the rollback to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Undone {
    /// The number of statements before the savepoint.
    pub(super) first: usize,
    /// The number of statements before the rollback.
    pub(super) end: usize,
}

impl Choices {
    /// The choices that follow from a seed. `None` for a transaction that is not to choose, such as an audit.
    pub(super) fn new(shares: RollbackShares, seed: u64, session: usize) -> Choices {
        Choices { shares, random: Random::new(seed, &[STREAM, session as u64]) }
    }

    /// No rollbacks.
    pub(super) fn none() -> Choices {
        Choices::new(RollbackShares { whole: 0, to_savepoint: 0 }, 0, 0)
    }

    /// The choice of the next transaction.
    pub(super) fn next(&mut self) -> Choice {
        let RollbackShares { whole, to_savepoint } = self.shares;
        let rolls_back = self.random.chance(whole, 100);
        let undone = self.random.chance(to_savepoint, 100).then(|| {
            let first = 1 + self.random.below(STATEMENTS_BEFORE);
            Undone { first, end: first + self.random.between(1, STATEMENTS_UNDONE) as usize }
        });
        Choice { rolls_back, undone }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_follow_from_the_seed_and_keep_their_shares() {
        let all = |seed| {
            let mut choices = Choices::new(RollbackShares::default(), seed, 3);
            (0..2_000).map(|_| choices.next()).collect::<Vec<_>>()
        };
        assert_eq!(all(1), all(1));
        assert_ne!(all(1), all(2));
        let whole = all(1).iter().filter(|choice| choice.rolls_back).count();
        let savepoints = all(1).iter().filter(|choice| choice.undone.is_some()).count();
        assert!((60..140).contains(&whole) && (140..260).contains(&savepoints), "{whole}, {savepoints}");
        let mut none = Choices::none();
        assert!((0..100).all(|_| none.next() == Choice::default()));
    }
}
