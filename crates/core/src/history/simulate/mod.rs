//! Histories whose verdict is known beforehand: a store that keeps a level, and violations planted by hand.
//!
//! A checker that says "holds" to everything passes every healthy history, one that says "violated" every sick one. So both
//! are made here, in any number and size. A small store runs [`Workload::sessions`] clients that take turns at random; how
//! it chooses the version that a read sees, and whom it lets commit, is the level's row in a table of [`rules`]:
//!
//! | level | a read sees | commits are refused if | orders respected |
//! |---|---|---|---|
//! | serializable, repeatable read | a snapshot of the beginning | something read is no longer the newest | real time |
//! | snapshot isolation | the same | something written is newer than the snapshot | real time |
//! | prefix | the same | never | real time |
//! | parallel snapshot isolation | what had reached its site | something written is newer, at any site | sessions |
//! | causal | the same | never | sessions |
//! | read atomic | the same, but transactions arrive in any order | never | sessions |
//! | monotonic atomic view | the newest committed version, each time anew | (locks on what is written) | real time |
//! | cursor stability | one of the last committed versions | it writes what it read, and not the newest | real time |
//! | read committed | one of the last committed versions | (locks on what is written) | real time |
//! | read uncommitted | whatever is there | (locks on what is written) | real time |
//!
//! ```text
//!   clock      1       2        3       4        5       6          began and ended are what the client sees;
//!   session 0  begin   wx1              commit                      the transaction took effect in between
//!   session 1          begin    ry_              rx1     commit     rx1: monotonic atomic view, not read atomic
//! ```
//!
//! [`violations::plant`] adds a handful of transactions to a healthy history that show one anomaly and no other;
//! [`small::random_small`] makes histories small enough for the [brute force](super::brute), many of them nonsense.
//!
//! # Limits
//!
//! A list is one order of appends. Under causal and read atomic two sites would see different ones, so these two know
//! registers only; where nobody refuses concurrent appends (prefix), a transaction does not read a list that it has
//! appended to, as nobody could know yet what will stand before its element.

pub mod rules;
mod store;
pub mod violations;
pub mod small;
#[cfg(test)]
mod tests;

use super::build::{Builder, Head};
use super::{History, KeyId, Op, Scalar, Status};
use crate::generate::random::Random;
use crate::level::formal::Level;
use store::{Done, Running, Store, Written};

/// What the clients do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workload {
    /// How many clients there are.
    pub sessions: usize,
    /// How many transactions they run in all, those that are rolled back included.
    pub transactions: usize,
    /// How many keys there are.
    pub keys: usize,
    /// How many operations a transaction has at most.
    pub ops_per_transaction: usize,
    /// How many of a hundred operations read.
    pub read_share: usize,
    /// Lists that are appended to, or registers.
    pub is_list: bool,
    /// How many of a hundred transactions the client rolls back.
    pub abort_share: usize,
    /// Of how many of a hundred transactions the client does not learn how they ended.
    pub unknown_share: usize,
}

impl Default for Workload {
    /// A busy little workload.
    fn default() -> Workload {
        Workload {
            sessions: 5,
            transactions: 50,
            keys: 5,
            ops_per_transaction: 4,
            read_share: 50,
            is_list: false,
            abort_share: 5,
            unknown_share: 5,
        }
    }
}

/// A history of a store that keeps a level, with the orders of its row. Levels that make no sense for lists
/// ([`rules::Rules::has_lists`]) are simulated with registers.
pub fn simulate(level: Level, workload: &Workload, random: &mut Random) -> History {
    let rules = rules::of(level);
    let workload = Workload {
        sessions: workload.sessions.max(1),
        keys: workload.keys.max(1),
        is_list: workload.is_list && rules.has_lists,
        ..*workload
    };
    let store = Store::new(rules, workload.is_list, workload.keys, workload.sessions);
    let clients = (0..workload.sessions).map(|_| None).collect();
    Simulation { workload, store, clients, clock: 0, begun: 0, last_value: 0, finished: Vec::new(), random }.run()
}

/// The name of a key: letters while they last.
pub(super) fn key_name(at: usize) -> String {
    ["x", "y", "z"].get(at).map_or_else(|| format!("k{at}"), ToString::to_string)
}

struct Simulation<'a> {
    workload: Workload,
    store: Store,
    /// By session: what its client is about.
    clients: Vec<Option<Client>>,
    clock: u64,
    begun: usize,
    last_value: i64,
    /// In the order in which they ended.
    finished: Vec<Finished>,
    random: &'a mut Random,
}

struct Client {
    running: Running,
    ops_left: usize,
}

struct Finished {
    session: usize,
    status: Status,
    began: u64,
    ended: u64,
    ops: Vec<Done>,
}

impl Simulation<'_> {
    fn run(mut self) -> History {
        while self.finished.len() < self.workload.transactions {
            self.clock += 1;
            self.store.deliver(self.random);
            let session = self.random.below(self.workload.sessions);
            match self.clients[session].take() {
                None => self.begin(session),
                Some(client) if client.ops_left == 0 => self.end(session, client.running),
                Some(client) => self.act(session, client),
            }
        }
        self.history()
    }

    fn begin(&mut self, session: usize) {
        if self.begun < self.workload.transactions {
            self.begun += 1;
            let ops_left = 1 + self.random.below(self.workload.ops_per_transaction);
            self.clients[session] = Some(Client { running: self.store.begin(session, self.clock), ops_left });
        }
    }

    fn act(&mut self, session: usize, mut client: Client) {
        let key = self.random.below(self.workload.keys);
        let is_read = self.random.chance(self.workload.read_share, 100);
        if !is_read || !self.store.read(&mut client.running, key, self.random) {
            match self.store.write(&mut client.running, key, Scalar(self.last_value + 1)) {
                Written::Done => self.last_value += 1,
                Written::Wait => client.ops_left += 1,
                Written::Refused => {
                    self.store.roll_back(&client.running);
                    return self.finish(session, Status::Aborted, client.running);
                }
            }
        }
        client.ops_left -= 1;
        self.clients[session] = Some(client);
    }

    fn end(&mut self, session: usize, running: Running) {
        let fate = self.random.below(100);
        let Workload { abort_share, unknown_share, .. } = self.workload;
        let is_unknown = (abort_share..abort_share + unknown_share).contains(&fate);
        let wants_commit = if is_unknown { self.random.chance(1, 2) } else { fate >= abort_share };
        let is_committed = wants_commit && self.store.commit(&running);
        if !is_committed {
            self.store.roll_back(&running);
        }
        let status = match (is_unknown, is_committed) {
            (true, _) => Status::Unknown,
            (false, true) => Status::Committed,
            (false, false) => Status::Aborted,
        };
        self.finish(session, status, running);
    }

    fn finish(&mut self, session: usize, status: Status, running: Running) {
        let Running { began, mut ops, .. } = running;
        // Some clients learn what they have read only when the transaction ends.
        if status == Status::Unknown && self.random.chance(1, 2) {
            ops.iter_mut().for_each(Done::forget);
        }
        self.finished.push(Finished { session, status, began, ended: self.clock, ops });
    }

    fn history(self) -> History {
        let mut builder = Builder::default();
        let keys: Vec<KeyId> = (0..self.workload.keys).map(|at| builder.key(&key_name(at))).collect();
        for (at, transaction) in self.finished.into_iter().enumerate() {
            let Finished { session, status, began, ended, ops } = transaction;
            let ended = (status != Status::Unknown).then_some(ended);
            let line = at as u32 + 1;
            builder.begin(Head { session: session as u32, status, began: Some(began), ended, line });
            for done in ops {
                match done {
                    Done::Write(key, value) if self.workload.is_list => builder.push(Op::Append(keys[key], value)),
                    Done::Write(key, value) => builder.push(Op::Write(keys[key], value)),
                    Done::Read(key, value) => builder.push(Op::Read(keys[key], value)),
                    Done::ReadList(key, elements) => builder.push_list(keys[key], &elements),
                    Done::Unread(key) => builder.push(Op::Unread(keys[key])),
                }
            }
        }
        builder.finish()
    }
}
