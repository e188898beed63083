//! Histories: which transaction wrote which version of what, and which versions it read.
//!
//! A history is what is left of a run when everything is forgotten but reads and writes of *versions*. It exists only where
//! reads tell which version they saw: because every value is written once (registers), or because a read returns the
//! whole list of what was ever appended (list-append). Whether a history satisfies an isolation level is a question about
//! it alone; the database is no longer needed.
//!
//! ```text
//!   T1 (session 0)   append x 1            ok
//!   T2 (session 1)   read x [1]  append x 2  ok        spine of x:  1  2  5
//!   T3 (session 0)   read x [1 2]          ok                       ↑ read x [1 2] is "the first two"
//! ```
//!
//! # How it is stored
//!
//! Histories are large: a million transactions whose reads return a hundred elements each. Almost all lists that are read
//! are beginnings of one another. So each key has a *spine*, the longest list that was read of it, and a read is a length;
//! only lists that contradict the spine are stored themselves. The spine is the version order.
//!
//! # Words
//!
//! *Version*: what one write made, named by its key and value. The *initial* version of a register is what nobody wrote
//! (`nil`); the initial list is empty. *Session*: a sequence of transactions of one client (Jepsen's process).

pub mod build;
pub mod from_trace;
pub mod micro;
pub mod formats;
pub mod facts;
pub mod brute;
pub mod check;
pub mod anomaly;
pub mod explain;
pub mod survey;
pub mod minimize;
pub mod simulate;

use std::ops::Range;

/// The position of a transaction in a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TxnId(pub u32);

/// The position of a key in [`History::keys`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub u32);

/// A value that was written: a number, or the position of a text in [`History::texts`], counted from `i64::MIN`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scalar(pub i64);

/// What is known of a transaction's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// It committed.
    Committed,
    /// It was rolled back: nobody may see what it wrote.
    Aborted,
    /// Nobody knows (Jepsen's `info`, or no answer at all): it committed if, and only if, somebody saw what it wrote.
    Unknown,
}

/// What a transaction did, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Wrote a value to a register.
    Write(KeyId, Scalar),
    /// Read a register; `None` is the initial version.
    Read(KeyId, Option<Scalar>),
    /// Appended an element to a list.
    Append(KeyId, Scalar),
    /// Read a list.
    ReadList(KeyId, ListRead),
    /// A read whose result is not known (the transaction did not complete).
    Unread(KeyId),
}

impl Op {
    /// The key that it is about.
    pub fn key(&self) -> KeyId {
        match self {
            Op::Write(key, _) | Op::Read(key, _) | Op::Append(key, _) | Op::ReadList(key, _) | Op::Unread(key) => *key,
        }
    }
}

/// A list that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListRead {
    /// The first so many elements of the key's spine.
    Prefix(u32),
    /// Something else: a position in the history's other lists.
    Other(u32),
}

/// A transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transaction {
    /// Its session.
    pub session: u32,
    /// How it ended.
    pub status: Status,
    /// When it was invoked and when it completed, where the format tells: positions in one common order.
    pub began: Option<u64>,
    /// See `began`.
    pub ended: Option<u64>,
    /// The line (or record) of the input where it stands, from 1.
    pub line: u32,
    ops: (u32, u32),
}

/// Reads and writes of versions, by transaction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    /// The names of the keys.
    pub keys: Vec<String>,
    /// The texts among the values.
    pub texts: Vec<String>,
    transactions: Vec<Transaction>,
    ops: Vec<Op>,
    /// By key: the longest list that was read.
    spines: Vec<Vec<Scalar>>,
    /// Lists that are no beginnings of their key's spine.
    others: Vec<Vec<Scalar>>,
}

impl History {
    /// How many transactions there are.
    pub fn len(&self) -> usize {
        self.transactions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.transactions.is_empty()
    }

    /// How many operations there are.
    pub fn op_count(&self) -> usize {
        self.ops.len()
    }

    /// All transactions, in the order of the input. Transactions of one session stand in the session's order.
    pub fn transactions(&self) -> impl ExactSizeIterator<Item = (TxnId, &Transaction)> {
        self.transactions.iter().enumerate().map(|(at, transaction)| (TxnId(at as u32), transaction))
    }

    /// One transaction.
    pub fn transaction(&self, id: TxnId) -> &Transaction {
        &self.transactions[id.0 as usize]
    }

    /// What a transaction did.
    pub fn ops(&self, id: TxnId) -> &[Op] {
        let Range { start, end } = self.transaction(id).op_range();
        &self.ops[start..end]
    }

    /// The longest list that was read of a key: its version order, as far as it was observed.
    pub fn spine(&self, key: KeyId) -> &[Scalar] {
        self.spines.get(key.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// The elements of a list that was read.
    pub fn list(&self, key: KeyId, read: ListRead) -> &[Scalar] {
        match read {
            ListRead::Prefix(length) => &self.spine(key)[..length as usize],
            ListRead::Other(at) => &self.others[at as usize],
        }
    }

    /// The name of a key.
    pub fn key_name(&self, key: KeyId) -> &str {
        &self.keys[key.0 as usize]
    }

    /// A value as it was written in the input.
    pub fn show(&self, value: Scalar) -> String {
        self.text(value).map_or_else(|| value.0.to_string(), |text| format!("{text:?}"))
    }

    /// The text that a value stands for; `None` if it is a number.
    pub fn text(&self, value: Scalar) -> Option<&str> {
        let at = usize::try_from(value.0.wrapping_sub(i64::MIN)).ok()?;
        self.texts.get(at).map(String::as_str)
    }
}

impl Transaction {
    fn op_range(&self) -> Range<usize> {
        self.ops.0 as usize..self.ops.1 as usize
    }
}
