//! Workloads: what the sessions of a storm ask for.
//!
//! A workload is made for one engine and gives every session a stream of transactions. The stream is asked for one
//! statement at a time and told every answer, so that a transaction may branch on what it read, and a workload that keeps
//! a picture of the database learns what became of it:
//!
//! ```text
//!   client                         Transactions
//!   ──────                         ────────────
//!   begin() ─────────────────────→ chooses a transaction
//!   next() ──────────────────────→ Execute("SELECT v FROM registers WHERE k = 7")
//!   answered(rows, log) ─────────→ log: read 7 → version 12
//!   next() ──────────────────────→ Execute("UPDATE registers SET v = 25 WHERE k = 7")
//!   answered(1 changed, log) ────→ log: write 7, version 25
//!   next() ──────────────────────→ Commit
//!   ended(Committed) ────────────→ the picture is brought up to date
//! ```
//!
//! What is asked for follows from the seed and from the answers alone; which transactions meet is up to the server.
//!
//! **Versions.** Only the workload knows which rows an answer is about and where their versions stand, so it is the
//! workload that writes the [`Log`]. Every write carries a version that nobody else writes to the same item; the initial
//! version is 0. A statement that failed still logs what it *would have* written: should somebody see that version, it is
//! known whose it is.
//!
//! A new workload is one file here and one line in [`PROFILES`].

mod registers;
mod list_append;
mod valid;
mod dialogue;
mod smallbank;
mod tpcc;

use txloom_core::bulk::{Bulk, Cells};
use txloom_core::dialect::Dialect;
use txloom_core::engine::EngineInfo;
use txloom_core::history::Status;
use txloom_core::outcome::Outcome;
use txloom_core::shadow;
use txloom_core::value::Value;

pub use list_append::ListAppend;
pub use registers::Registers;
pub use smallbank::SmallBank;
pub use tpcc::Tpcc;
pub use valid::Valid;

use super::choice::RollbackShares;
use super::invariant::Invariant;
use super::log::{Access, Item, Log};
use super::validity::Figures;

/// How large a workload is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// How many sessions there are: it keeps their versions apart.
    pub sessions: usize,
    /// How many items there are.
    pub keys: usize,
    /// How many operations a transaction has.
    pub ops: usize,
}

impl Default for Scale {
    fn default() -> Scale {
        Scale { sessions: 8, keys: 100, ops: 4 }
    }
}

/// What a workload is to be like. Not every workload has a use for everything.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// How large it is.
    pub scale: Scale,
    /// What random tables, initial rows and accesses follow from.
    pub seed: u64,
    /// How keys are drawn.
    pub access: shadow::Access,
    /// The exponent of the Zipf distribution of accesses; 0: all keys alike.
    pub skew: f64,
    /// The share of keys that come and go.
    pub dynamic: f64,
    /// Whether there are reads by a condition.
    pub has_predicates: bool,
}

impl Shape {
    /// The usual shape.
    pub fn new(scale: Scale) -> Shape {
        let access = shadow::Access::Independent;
        Shape { scale, seed: 1, access, skew: 0.0, dynamic: 0.2, has_predicates: true }
    }
}

/// What the sessions of a storm ask for.
pub trait Workload: Sync {
    /// The name of its profile.
    fn name(&self) -> &'static str;

    /// The statements that make its tables.
    fn setup(&self) -> Vec<String>;

    /// The rows that tables begin with, in the order in which they are to be loaded: parents before children.
    fn population(&self) -> Vec<Box<dyn Bulk + '_>> {
        Vec::new()
    }

    /// The transactions of one session: the same ones for the same seed, as far as the answers are the same.
    fn session(&self, seed: u64, session: usize) -> Box<dyn Transactions>;

    /// One transaction that reads everything. It is run when nobody else is at work: at the end, and after a recovery.
    fn audit(&self) -> Box<dyn Transactions>;

    /// How many of its transactions roll back although nothing failed.
    fn rollbacks(&self) -> RollbackShares {
        RollbackShares::default()
    }

    /// How people call an item.
    fn item_name(&self, item: Item) -> String;

    /// Nobody is at work, and this is what the audit found. A workload that keeps a picture of the database now learns
    /// what became of transactions of unknown fate.
    fn at_rest(&self, _audit: &[Access]) {}

    /// How valid it was; `None` if it keeps no picture of the database. Asked when all sessions have ended.
    fn figures(&self) -> Option<Figures> {
        None
    }

    /// What must be true of its tables. It is asked when nobody is at work, as the audit is.
    fn invariants(&self) -> Vec<Invariant> {
        Vec::new()
    }
}

/// The transactions of one session, one after the other. Lives on the session's thread.
///
/// The calls come in this order: `begin`, then `next` and `answered` in turns, then `ended`. After an answer with an error,
/// `ended` comes at once. Before a `next` there may be one `savepoint`, and before a later one `rolled_back_to_savepoint`.
pub trait Transactions: Send {
    /// Chooses the next transaction.
    fn begin(&mut self);

    /// What comes next in it.
    fn next(&mut self) -> Next;

    /// What the server said to the last statement. What it tells of versions goes into the log.
    fn answered(&mut self, answer: &Answer<'_>, log: &mut Log);

    /// A savepoint is set before the next statement.
    fn savepoint(&mut self) {}

    /// What came after the savepoint is undone.
    fn rolled_back_to_savepoint(&mut self) {}

    /// How the transaction ended.
    fn ended(&mut self, _status: Status) {}
}

/// What comes next in a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// A statement.
    Execute(String),
    /// It is complete.
    Commit,
    /// It changed its mind.
    RollBack,
}

/// What the server said to a statement.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// How its bytes are read.
    pub dialect: &'a dyn Dialect,
    /// What it said.
    pub outcome: &'a Outcome,
}

impl Answer<'_> {
    /// Whether the statement failed.
    pub fn is_error(&self) -> bool {
        self.outcome.error.is_some()
    }

    /// Whether a statement that should change something succeeded and changed nothing: what it looked for is not there.
    pub fn changed_nothing(&self) -> bool {
        !self.is_error() && self.outcome.affected() == Some(0)
    }

    /// The rows; none for a statement that failed or returns none.
    pub fn rows(&self) -> Vec<Vec<Value>> {
        match self.outcome.rows().filter(|_| !self.is_error()) {
            Some(rows) => self.dialect.values(rows),
            None => Vec::new(),
        }
    }
}

/// A workload that can be asked for by name.
pub struct Profile {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one line.
    pub what: &'static str,
    /// How many keys it has if nobody says.
    pub keys: usize,
    /// Makes it for an engine; `Err` says what is wrong.
    pub make: MakeWorkload,
}

/// Makes a workload of a shape for an engine.
pub type MakeWorkload = fn(&Shape, &EngineInfo) -> Result<Box<dyn Workload>, String>;

/// Every workload.
pub const PROFILES: &[Profile] = &[
    Profile {
        name: registers::NAME,
        what: "rows that are read and assigned; every value is written once",
        keys: 100,
        make: |shape, _| Ok(Box::new(Registers::new(shape.scale))),
    },
    Profile {
        name: list_append::NAME,
        what: "lists that grow at their end; a read of a list tells the order of all writes before it",
        keys: 100,
        make: |shape, engine| Ok(Box::new(ListAppend::new(shape.scale, engine)?)),
    },
    Profile {
        name: valid::YCSB,
        what: "two tables with rows that come and go; reads by key and by condition, updates, inserts, deletes",
        keys: 2_000,
        make: |shape, engine| Ok(Box::new(Valid::ycsb(shape, engine)?)),
    },
    Profile {
        name: valid::UPDATES,
        what: "the updates of ycsb-sql alone, four a transaction",
        keys: 2_000,
        make: |shape, engine| Ok(Box::new(Valid::updates(shape, engine)?)),
    },
    Profile {
        name: valid::DBSTORM,
        what: "random tables and transactions, with branches and loops; another seed, another workload",
        keys: 1_000,
        make: |shape, engine| Ok(Box::new(Valid::dbstorm(shape, engine)?)),
    },
    Profile {
        name: smallbank::NAME,
        what: "SmallBank: money moves between savings and checking accounts, and none may be lost",
        keys: 100,
        make: |shape, _| Ok(Box::new(SmallBank::new(shape.scale))),
    },
    Profile {
        name: tpcc::NAME,
        what: "TPC-C: orders, payments and deliveries on nine tables, with its consistency conditions",
        keys: 100,
        make: |shape, _| Ok(Box::new(Tpcc::new(shape.scale))),
    },
];

/// Hands out versions: no two sessions have one in common, and none is 0.
#[derive(Debug, Clone, Copy)]
struct Versions {
    next: i64,
    step: i64,
}

impl Versions {
    fn of(session: usize, sessions: usize) -> Versions {
        Versions { next: session as i64 + 1, step: sessions.max(1) as i64 }
    }

    fn take(&mut self) -> i64 {
        let version = self.next;
        self.next += self.step;
        version
    }
}

/// A table of keys from 0, each with the same initial value.
struct Keyed {
    table: &'static str,
    columns: [String; 2],
    keys: usize,
    /// Writes the value.
    initial: fn(&mut Cells),
}

impl Keyed {
    fn new(table: &'static str, value: &str, keys: usize, initial: fn(&mut Cells)) -> Keyed {
        Keyed { table, columns: ["k".to_string(), value.to_string()], keys, initial }
    }
}

impl Bulk for Keyed {
    fn table(&self) -> &str {
        self.table
    }

    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn positions(&self) -> u64 {
        self.keys as u64
    }

    fn row(&self, position: u64, cells: &mut Cells) -> bool {
        cells.integer(position as i64);
        (self.initial)(cells);
        true
    }
}

/// A whole number of an answer.
fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.to_i64(),
        _ => None,
    }
}

/// A row of key and value; the value is left as it is.
fn keyed(row: &[Value]) -> Option<(i64, &Value)> {
    match row {
        [key, value] => Some((whole(key)?, value)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_nobody_elses() {
        let mut all: Vec<i64> = (0..3)
            .flat_map(|session| {
                let mut versions = Versions::of(session, 3);
                (0..5).map(move |_| versions.take()).collect::<Vec<_>>()
            })
            .collect();
        all.sort_unstable();
        assert_eq!(all, (1..=15).collect::<Vec<_>>());
    }
}
