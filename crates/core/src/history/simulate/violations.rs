//! Violations, planted: a handful of transactions that show one anomaly, hidden in a healthy history.
//!
//! Each row of [`PLANTS`] is a small history in the [micro-language](crate::history::micro), the anomaly that it shows, and
//! the strongest requirements that it satisfies all the same. It is added on keys and sessions of its own, somewhere in
//! the middle:
//!
//! ```text
//!   healthy    ──T1── ──T2── ───T3──── ──T4── ──T5──
//!   planted         ───────P1───────                     all of them are concurrent: neither real time
//!                      ─────P2─────────────              nor sessions say anything of them
//! ```
//!
//! A healthy history that satisfies strong serializability forbids nothing and adds nothing: no cycle leads through it that
//! real time among the planted ones does not close already. So what the whole satisfies is what the row says.

use crate::generate::random::Random;
use crate::history::anomaly::Anomaly;
use crate::history::build::{Builder, Head};
use crate::history::micro::micro;
use crate::history::{History, KeyId, Op, Scalar, Transaction, TxnId};
use crate::level::formal::{Level, Order, Requirement};

/// A violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plant {
    /// The [id](Anomaly::id) of the anomaly that it shows.
    pub anomaly: &'static str,
    /// The transactions, in the micro-language. Where they have no times, they are concurrent.
    pub transactions: &'static str,
    /// The strongest requirements that it satisfies.
    pub strongest: &'static [Requirement],
}

const fn plant_of(anomaly: &'static str, transactions: &'static str, strongest: &'static [Requirement]) -> Plant {
    Plant { anomaly, transactions, strongest }
}

const fn strong(level: Level) -> Requirement {
    Requirement { level, order: Order::RealTime }
}

const fn session(level: Level) -> Requirement {
    Requirement { level, order: Order::Session }
}

const NOTHING: &[Requirement] = &[];
const UNCOMMITTED: &[Requirement] = &[strong(Level::ReadUncommitted)];
const CURSOR: &[Requirement] = &[strong(Level::CursorStability)];
const CURSOR_AND_VIEW: &[Requirement] = &[strong(Level::CursorStability), strong(Level::MonotonicAtomicView)];
const CURSOR_AND_ATOMIC: &[Requirement] = &[strong(Level::CursorStability), strong(Level::ReadAtomic)];
const CURSOR_AND_PREFIX: &[Requirement] = &[strong(Level::CursorStability), strong(Level::Prefix)];
const VIEW: &[Requirement] = &[strong(Level::MonotonicAtomicView)];
const PREFIX: &[Requirement] = &[strong(Level::Prefix)];
const PARALLEL: &[Requirement] = &[strong(Level::ParallelSnapshotIsolation)];
const SNAPSHOT: &[Requirement] = &[strong(Level::SnapshotIsolation)];
const EARLY: &[Requirement] = &[session(Level::Serializable), strong(Level::ReadUncommitted)];
const LATE: &[Requirement] =
    &[session(Level::Serializable), strong(Level::CursorStability), strong(Level::MonotonicAtomicView)];

/// Every violation: registers, then lists.
pub const PLANTS: &[Plant] = &[
    plant_of("garbage-read", "rx7", NOTHING),
    plant_of("garbage-read", "ax1 / rx17", NOTHING),
    plant_of("duplicate-elements", "ax1 / rx11", NOTHING),
    plant_of("incompatible-order", "ax1 / ax2 / rx12 / rx2", NOTHING),
    plant_of("incompatible-order", "ax1 ax2 / rx2", NOTHING),
    plant_of("G0", "ax1 ay1 / ax2 ay2 / rx12 ry21", NOTHING),
    plant_of("G0", "ax1 ax3 / ax2 / rx123", NOTHING),
    plant_of("G1a", "wx1 ! / rx1", UNCOMMITTED),
    plant_of("G1a", "ax1 ! / rx1", UNCOMMITTED),
    plant_of("G1b", "wx1 wx2 / rx1", UNCOMMITTED),
    plant_of("G1b", "ax1 ax2 / rx1", UNCOMMITTED),
    plant_of("G1c", "wx1 ry1 / wy1 rx1", UNCOMMITTED),
    plant_of("G1c", "ax1 ry1 / ay1 rx1", UNCOMMITTED),
    plant_of("G1c", "ax1 ay1 / ax2 ry1 / rx21", UNCOMMITTED),
    plant_of("dirty-update", "ax1 ! / ax2 / rx12", UNCOMMITTED),
    plant_of("future-read", "rx1 wx1", UNCOMMITTED),
    plant_of("future-read", "rx1 ax1", UNCOMMITTED),
    plant_of("internal", "wx1 / wx2 rx1", CURSOR),
    plant_of("internal", "ax1 / ax2 rx1 / rx12", CURSOR),
    plant_of("internal", "ax1 / rx ax2 rx12", VIEW),
    plant_of("OTV", "wx1 wy1 / ry1 rx_", CURSOR),
    plant_of("OTV", "ax1 ay1 / ry1 rx", CURSOR),
    plant_of("commit-order", "wx1 wy1 / ry_ rx1", CURSOR_AND_VIEW),
    plant_of("commit-order", "ax1 ay1 / ry rx1", CURSOR_AND_VIEW),
    plant_of("P4", "rx_ wx1 / rx_ wx2", PREFIX),
    plant_of("P4", "rx ax1 / rx ax2 / rx12", PREFIX),
    plant_of("G-single", "wx1 / rx1 wy1 / ry1 rx_", CURSOR_AND_ATOMIC),
    plant_of("G-single", "ax1 / rx1 ay1 / ry1 rx", CURSOR_AND_ATOMIC),
    plant_of("G-single", "ax1 ay1 / rx ay2 / ry12", CURSOR_AND_PREFIX),
    plant_of("G-SIa", "@1-2 rx1 / @3-4 wx1", EARLY),
    plant_of("G-SIa", "@1-2 rx1 / @3-4 ax1", EARLY),
    plant_of("G-SIb", "@1-2 wx1 / @3-4 rx_", LATE),
    plant_of("G-SIb", "@1-2 ax1 / @3-4 rx / @1-4 rx1", LATE),
    plant_of("G-nonadjacent", "wx1 / wy1 / wz1 / rx1 ry_ / ry1 rz_ / rz1 rx_", PARALLEL),
    plant_of("G-nonadjacent", "ax1 / ay1 / az1 / rx1 ry / ry1 rz / rz1 rx", PARALLEL),
    plant_of("long-fork", "wx1 / wy1 / rx1 ry_ / ry1 rx_", PARALLEL),
    plant_of("long-fork", "ax1 / ay1 / rx1 ry / ry1 rx", PARALLEL),
    plant_of("write-skew", "wx1 ry_ / wy1 rx_", SNAPSHOT),
    plant_of("write-skew", "ax1 ry / ay1 rx", SNAPSHOT),
    plant_of("G2-item", "wx1 ry_ / wy1 rz_ / wz1 rx_", SNAPSHOT),
    plant_of("G2-item", "ax1 ry / ay1 rz / az1 rx", SNAPSHOT),
];

/// Plants an anomaly in a healthy history; `None` if a history of this kind (registers or lists) cannot show it.
pub fn plant(history: &History, anomaly: &Anomaly, random: &mut Random) -> Option<History> {
    let is_list = is_list(history);
    let fits = |plant: &&Plant| plant.anomaly == anomaly.id && is_list.is_none_or(|lists| lists == plant.is_list());
    let plants: Vec<&Plant> = PLANTS.iter().filter(fits).collect();
    random.pick(&plants).map(|plant| plant.add_to(history, random))
}

/// Whether a history is one of lists; `None` if it does not tell.
fn is_list(history: &History) -> Option<bool> {
    history.transactions().flat_map(|(id, _)| history.ops(id)).find_map(|op| match op {
        Op::Append(..) | Op::ReadList(..) => Some(true),
        Op::Write(..) | Op::Read(..) => Some(false),
        Op::Unread(_) => None,
    })
}

impl Plant {
    /// Its transactions alone.
    pub fn history(&self) -> History {
        micro(self.transactions).expect("what is planted is a history")
    }

    /// Whether it is one of lists.
    pub fn is_list(&self) -> bool {
        self.transactions.split_whitespace().any(|word| word.starts_with('a'))
    }

    /// Whether the history in which it is planted satisfies a requirement.
    pub fn satisfies(&self, requirement: Requirement) -> bool {
        self.strongest.iter().any(|held| held.implies(requirement))
    }

    /// Plants it in a healthy history of the same kind.
    pub fn add_to(&self, healthy: &History, random: &mut Random) -> History {
        let planted = self.history();
        let mut places: Vec<usize> = planted.transactions().map(|_| random.below(healthy.len() + 1)).collect();
        places.sort_unstable();
        let mut garden = Garden::new(healthy, &planted, random);
        let mut next = 0;
        for at in 0..=healthy.len() {
            while places.get(next) == Some(&at) {
                garden.planted(&planted, TxnId(next as u32), random);
                next += 1;
            }
            if at < healthy.len() {
                garden.healthy(healthy, TxnId(at as u32));
            }
        }
        garden.builder.finish()
    }
}

/// The history that is being put together.
struct Garden {
    builder: Builder,
    count: u32,
    /// The names of the planted keys, by key.
    names: Vec<String>,
    /// Sessions and values of the planted ones count from here.
    first_session: u32,
    above_values: i64,
    times: Option<Times>,
}

/// When the planted ones run: all of them at `middle`.
#[derive(Clone, Copy)]
struct Times {
    first: u64,
    middle: u64,
    last: u64,
}

impl Garden {
    fn new(healthy: &History, planted: &History, random: &mut Random) -> Garden {
        let mut builder = Builder::default();
        healthy.keys.iter().for_each(|name| {
            builder.key(name);
        });
        let free = (0..).map(super::key_name).filter(|name| !healthy.keys.contains(name));
        let written = healthy.transactions().flat_map(|(id, _)| healthy.ops(id)).filter_map(|op| match op {
            Op::Write(_, value) | Op::Append(_, value) => Some(value.0),
            _ => None,
        });
        let moments = healthy.transactions().flat_map(|(_, transaction)| [transaction.began, transaction.ended]);
        let moments: Vec<u64> = moments.flatten().collect();
        let first = moments.iter().copied().min().unwrap_or(0);
        let last = moments.iter().copied().max().unwrap_or(0) + 1;
        let middle = random.between(first as i64, last as i64 - 1) as u64;
        Garden {
            builder,
            count: 0,
            names: free.take(planted.keys.len()).collect(),
            first_session: healthy.transactions().map(|(_, transaction)| transaction.session + 1).max().unwrap_or(0),
            above_values: written.max().unwrap_or(0).max(0),
            times: (!moments.is_empty() || healthy.is_empty()).then_some(Times { first, middle, last }),
        }
    }

    fn healthy(&mut self, history: &History, id: TxnId) {
        let Transaction { session, status, began, ended, .. } = *history.transaction(id);
        self.begin(Head { session, status, began, ended, line: 0 });
        let same = |builder: &mut Builder, value: Scalar| history.text(value).map_or(value, |text| builder.text(text));
        self.copy(history, id, |key| history.key_name(key).to_string(), same);
    }

    fn planted(&mut self, history: &History, id: TxnId, random: &mut Random) {
        let transaction = history.transaction(id);
        let (mut began, mut ended) = (transaction.began, transaction.ended);
        match self.times {
            Some(Times { middle, .. }) if began.is_some() => {
                (began, ended) = (began.map(|at| middle + at), ended.map(|at| middle + at));
            }
            Some(Times { first, middle, last }) => {
                began = Some(random.between(first as i64, middle as i64) as u64);
                ended = Some(random.between(middle as i64 + 1, last as i64) as u64);
            }
            None => {}
        }
        let session = self.first_session + transaction.session;
        self.begin(Head { session, status: transaction.status, began, ended, line: 0 });
        let (names, above) = (self.names.clone(), self.above_values);
        let fresh = |_: &mut Builder, value: Scalar| Scalar(above + value.0);
        self.copy(history, id, |key| names[key.0 as usize].clone(), fresh);
    }

    /// Copies what a transaction did, with other names and values.
    fn copy(
        &mut self,
        history: &History,
        id: TxnId,
        name: impl Fn(KeyId) -> String,
        value: impl Fn(&mut Builder, Scalar) -> Scalar,
    ) {
        let builder = &mut self.builder;
        for op in history.ops(id) {
            let key = builder.key(&name(op.key()));
            let copied = match op {
                Op::Write(_, written) => Op::Write(key, value(builder, *written)),
                Op::Append(_, appended) => Op::Append(key, value(builder, *appended)),
                Op::Read(_, read) => Op::Read(key, read.map(|read| value(builder, read))),
                Op::Unread(_) => Op::Unread(key),
                Op::ReadList(of, list) => {
                    let elements = history.list(*of, *list).iter();
                    let elements: Vec<Scalar> = elements.map(|element| value(builder, *element)).collect();
                    builder.push_list(key, &elements);
                    continue;
                }
            };
            builder.push(copied);
        }
    }

    fn begin(&mut self, head: Head) {
        self.count += 1;
        self.builder.begin(Head { line: self.count, ..head });
    }
}
