//! A session: where it is between BEGIN and COMMIT, and what it has done so far.

use super::control::Level;
use super::link::Before;
use super::shape::Transaction;

/// Where a session is; see `collect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Unknown,
    Idle,
    Inside,
    Failed,
    /// Since this event.
    Ending(u64),
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) state: State,
    pub(super) autocommit: bool,
    pub(super) level: Option<Level>,
    pub(super) next_level: Option<Level>,
    pub(super) transaction: Transaction,
    pub(super) savepoints: Vec<(u64, usize)>,
    /// How many of the transaction's statements the last message brought, and the hash of its text.
    pub(super) last: (usize, u64),
    /// Whether the transaction is too long.
    pub(super) is_long: bool,
    /// Whether it sent something.
    pub(super) spoke: bool,
    /// Whether the log shows how it began.
    pub(super) is_whole: bool,
    /// The transaction before.
    pub(super) before: Option<Before>,
    /// Transactions that may go on, and the shape of the last of them.
    pub(super) held: Option<(Transaction, u64)>,
}

impl Session {
    pub(super) fn new(state: State) -> Session {
        Session {
            state,
            autocommit: true,
            level: None,
            next_level: None,
            transaction: Transaction::default(),
            savepoints: Vec::new(),
            last: (0, 0),
            is_long: false,
            spoke: false,
            is_whole: state == State::Idle,
            before: None,
            held: None,
        }
    }
}
