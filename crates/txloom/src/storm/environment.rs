//! Transactions that failed by their environment: a full disk, a lost connection, a time limit.
//!
//! Such a failure says nothing about isolation, and a storm in which many transactions fail that way has tested less than
//! it seems. Above [`SHARE_MAX`] of all transactions no conclusion is drawn: the storm is *unknown*, with the reason.
//!
//! Failures while a fault was injected on purpose are counted apart. So are those by which a database defends its
//! isolation level or its constraints: they are what a storm is about.

use std::collections::BTreeMap;

use txloom_core::outcome::ErrorClass;

use super::shared::Tally;

/// The largest share of transactions that may fail by the environment.
pub const SHARE_MAX: f64 = 0.05;

/// Too many transactions failed by their environment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EnvironmentDoubt {
    /// The number of transactions that failed that way.
    pub failures: u64,
    /// The number of all transactions.
    pub transactions: u64,
    /// The most frequent class of error.
    pub class: ErrorClass,
}

impl EnvironmentDoubt {
    /// The share of transactions that failed by the environment.
    pub fn share(&self) -> f64 {
        self.failures as f64 / self.transactions.max(1) as f64
    }
}

/// True for errors that say nothing about isolation or constraints.
pub fn is_environment(class: ErrorClass) -> bool {
    match class {
        ErrorClass::Cancelled
        | ErrorClass::DiskFull
        | ErrorClass::ConnectionLost
        | ErrorClass::Syntax
        | ErrorClass::UnknownObject
        | ErrorClass::Other => true,
        ErrorClass::Deadlock
        | ErrorClass::SerializationFailure
        | ErrorClass::LockTimeout
        | ErrorClass::Unique
        | ErrorClass::ForeignKey
        | ErrorClass::Check
        | ErrorClass::NotNull
        | ErrorClass::OutOfRange
        | ErrorClass::Conversion
        | ErrorClass::DivisionByZero
        | ErrorClass::TransactionAborted => false,
    }
}

/// The number of transactions that failed by the environment, by class.
pub type EnvironmentCounts = BTreeMap<ErrorClass, u64>;

impl Tally {
    /// The number of transactions that failed by the environment, without those under an injected fault.
    pub fn environment_failures(&self) -> u64 {
        self.environment.values().sum()
    }

    /// The share of transactions that failed by the environment.
    pub fn environment_share(&self) -> f64 {
        self.environment_failures() as f64 / self.transactions().max(1) as f64
    }

    /// The reason for not concluding anything; `None` if few enough transactions failed by the environment.
    pub fn environment_doubt(&self) -> Option<EnvironmentDoubt> {
        let (class, _) = self.environment.iter().max_by_key(|(_, count)| **count)?;
        let (failures, transactions) = (self.environment_failures(), self.transactions());
        let doubt = EnvironmentDoubt { failures, transactions, class: *class };
        (doubt.share() > SHARE_MAX).then_some(doubt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(committed: u64, environment: &[(ErrorClass, u64)]) -> Tally {
        let rolled_back = environment.iter().map(|(class, count)| (Some(*class), *count)).collect();
        Tally { committed, rolled_back, environment: environment.iter().copied().collect(), ..Tally::default() }
    }

    #[test]
    fn a_few_percent_are_no_reason_to_doubt() {
        assert_eq!(tally(100, &[]).environment_doubt(), None);
        assert_eq!(tally(95, &[(ErrorClass::ConnectionLost, 5)]).environment_doubt(), None);
        let doubt = tally(93, &[(ErrorClass::Cancelled, 1), (ErrorClass::DiskFull, 6)]).environment_doubt();
        let expect = EnvironmentDoubt { failures: 7, transactions: 100, class: ErrorClass::DiskFull };
        assert_eq!(doubt, Some(expect));
        assert_eq!(Tally::default().environment_doubt(), None);
    }

    #[test]
    fn concurrency_control_is_no_environment() {
        assert!(ErrorClass::ALL.iter().all(|class| !(class.is_concurrency() && is_environment(*class))));
    }
}
