//! What a small history says for certain, read off the definitions.
//!
//! The fast checker has its own collector, made for millions of transactions. This one shares no code with it: it goes
//! through all operations again for every question. Only the types of the result are the same.
//!
//! * A transaction of unknown fate committed if a committed one saw something that it wrote.
//! * The elements of a list are versions; every list that a committed transaction read must be a beginning of the
//!   longest one.
//! * A read of a list shows the reader's own appends and those of others. The last element of others is the version
//!   that was read from them; without one it is the initial version.
//! * A transaction reads its own last write of a register, and all of its own appends at the end of a list, in their order
//!   (Adya: a transaction sees its own modifications); this is asked from monotonic atomic view on.

use super::super::facts::{DuplicateWrite, Facts, INITIAL, KeyFacts, NOBODY, Node, Read};
use super::super::{History, KeyId, Op, Scalar, Status, TxnId};
use crate::level::formal::Level;

/// A write: whose, which of its operations, of what.
#[derive(Clone, Copy, PartialEq)]
struct Written {
    by: TxnId,
    op: usize,
    key: KeyId,
    value: Scalar,
}

/// What is certain.
pub(super) struct Evidence {
    /// Committed transactions, versions, reads. No oddities: these are in `broken`.
    pub(super) facts: Facts,
    /// Levels that are broken by a single read or version; with each, all stronger ones.
    pub(super) broken: Vec<Level>,
}

/// Reads it off.
pub(super) fn evidence(history: &History) -> Result<Evidence, DuplicateWrite> {
    let writes = writes(history);
    for (at, second) in writes.iter().enumerate() {
        let is_same = |first: &&Written| (first.key, first.value) == (second.key, second.value);
        if let Some(first) = writes[..at].iter().find(is_same) {
            return Err(DuplicateWrite {
                line: history.transaction(second.by).line,
                key: history.key_name(second.key).to_string(),
                value: history.show(second.value),
                first_line: history.transaction(first.by).line,
            });
        }
    }
    let committed = committed(history, &writes);
    let mut reading = Reading { history, writes, committed, broken: Vec::new(), facts: Facts::default() };
    reading.facts.committed.clone_from(&reading.committed);
    for key in 0..history.keys.len() {
        reading.versions(KeyId(key as u32));
    }
    for id in reading.committed.clone() {
        for (at, op) in history.ops(id).iter().enumerate() {
            match op {
                Op::Read(key, value) => reading.register(id, at, *key, *value),
                Op::ReadList(key, list) => reading.list(id, at, *key, history.list(*key, *list)),
                Op::Write(..) | Op::Append(..) | Op::Unread(_) => {}
            }
        }
    }
    Ok(Evidence { facts: reading.facts, broken: reading.broken })
}

fn writes(history: &History) -> Vec<Written> {
    let of = |id: TxnId| history.ops(id).iter().enumerate().map(move |(at, op)| (id, at, op));
    let write = |(by, op, what): (TxnId, usize, &Op)| match what {
        Op::Write(key, value) | Op::Append(key, value) => Some(Written { by, op, key: *key, value: *value }),
        Op::Read(..) | Op::ReadList(..) | Op::Unread(_) => None,
    };
    history.transactions().flat_map(|(id, _)| of(id)).filter_map(write).collect()
}

/// Those that committed: known to, or seen by one that did. Again and again, until nothing changes.
fn committed(history: &History, writes: &[Written]) -> Vec<TxnId> {
    let ids: Vec<TxnId> = history.transactions().map(|(id, _)| id).collect();
    let status = |id: TxnId| history.transaction(id).status;
    let mut committed: Vec<TxnId> = ids.iter().copied().filter(|id| status(*id) == Status::Committed).collect();
    loop {
        let is_seen = |id: TxnId| {
            let own = writes.iter().filter(|write| write.by == id);
            own.into_iter().any(|write| committed.iter().any(|reader| saw(history, *reader, write)))
        };
        let is_new = |id: &TxnId| status(*id) == Status::Unknown && !committed.contains(id) && is_seen(*id);
        let Some(new) = ids.iter().copied().find(is_new) else { break };
        committed.push(new);
    }
    committed.sort_unstable();
    committed
}

fn saw(history: &History, reader: TxnId, write: &Written) -> bool {
    history.ops(reader).iter().any(|op| match op {
        Op::Read(key, value) => *key == write.key && *value == Some(write.value),
        Op::ReadList(key, list) => *key == write.key && history.list(*key, *list).contains(&write.value),
        Op::Write(..) | Op::Append(..) | Op::Unread(_) => false,
    })
}

struct Reading<'a> {
    history: &'a History,
    writes: Vec<Written>,
    committed: Vec<TxnId>,
    facts: Facts,
    broken: Vec<Level>,
}

impl Reading<'_> {
    fn node(&self, id: TxnId) -> Node {
        self.committed.iter().position(|other| *other == id).map_or(NOBODY, |at| at as Node + 1)
    }

    fn writer(&self, key: KeyId, value: Scalar) -> Option<Written> {
        self.writes.iter().copied().find(|write| write.key == key && write.value == value)
    }

    /// The lists that committed transactions read of a key.
    fn lists(&self, key: KeyId) -> Vec<Vec<Scalar>> {
        let ops = self.committed.iter().flat_map(|id| self.history.ops(*id));
        let list = |op: &Op| match op {
            Op::ReadList(other, list) if *other == key => Some(self.history.list(key, *list).to_vec()),
            _ => None,
        };
        ops.filter_map(list).collect()
    }

    /// The versions of a key: the longest list, then what committed transactions wrote and no list shows.
    fn versions(&mut self, key: KeyId) {
        let lists = self.lists(key);
        let longest = lists.iter().max_by_key(|list| list.len()).cloned().unwrap_or_default();
        let is_broken = lists.iter().any(|list| !longest.starts_with(list))
            || (1..longest.len()).any(|at| longest[..at].contains(&longest[at]))
            || longest.iter().any(|value| self.writer(key, *value).is_none())
            || self.is_out_of_order(key, &longest);
        if is_broken {
            self.broken.push(Level::ReadUncommitted);
        }
        let node = |value: &Scalar| self.writer(key, *value).map_or(NOBODY, |write| self.node(write.by));
        let chain: Vec<Node> = std::iter::once(INITIAL).chain(longest.iter().map(node)).collect();
        // A committed version on top of one that was rolled back.
        if chain.windows(2).any(|pair| pair[0] == NOBODY && pair[1] != NOBODY) {
            self.broken.push(Level::ReadCommitted);
        }
        let loose = self.loose(key, &longest).iter().map(|write| self.node(write.by)).collect();
        self.facts.keys.push(KeyFacts { chain, loose });
    }

    /// Whether what a transaction appended earlier is missing before what it appended later.
    fn is_out_of_order(&self, key: KeyId, longest: &[Scalar]) -> bool {
        let place = |write: &Written| longest.iter().position(|value| *value == write.value);
        let of_key: Vec<&Written> = self.writes.iter().filter(|write| write.key == key).collect();
        of_key.iter().any(|later| {
            let is_committed = self.node(later.by) != NOBODY;
            let earlier = of_key.iter().filter(|write| write.by == later.by && write.op < later.op);
            is_committed
                && place(later)
                    .is_some_and(|at| earlier.into_iter().any(|write| place(write).is_none_or(|before| before > at)))
        })
    }

    fn loose(&self, key: KeyId, longest: &[Scalar]) -> Vec<Written> {
        let is_append = |write: &Written| matches!(self.history.ops(write.by)[write.op], Op::Append(..));
        let is_version = |write: &&Written| {
            write.key == key
                && self.node(write.by) != NOBODY
                && !longest.contains(&write.value)
                && (is_append(write) || self.is_last(write))
        };
        self.writes.iter().filter(is_version).copied().collect()
    }

    fn is_last(&self, write: &Written) -> bool {
        !self.writes.iter().any(|other| other.by == write.by && other.key == write.key && other.op > write.op)
    }

    /// What the transaction wrote to a key before one of its operations.
    fn own(&self, id: TxnId, at: usize, key: KeyId) -> Vec<Scalar> {
        let own = self.writes.iter().filter(|write| write.by == id && write.key == key && write.op < at);
        own.map(|write| write.value).collect()
    }

    fn register(&mut self, id: TxnId, at: usize, key: KeyId, value: Option<Scalar>) {
        let own = self.own(id, at, key);
        if own.last().is_some_and(|last| value != Some(*last)) {
            self.broken.push(Level::MonotonicAtomicView);
        }
        let Some(value) = value else { return self.read(id, at, key, 0) };
        if own.contains(&value) {
            return;
        }
        match self.writer(key, value) {
            None => self.broken.push(Level::ReadUncommitted),
            // Its own later write, a write that was rolled back, or one that its writer overwrote.
            Some(write) if write.by == id || self.node(write.by) == NOBODY || !self.is_last(&write) => {
                self.broken.push(Level::ReadCommitted);
            }
            Some(write) => {
                let chain = self.facts.keys[key.0 as usize].chain.len();
                let loose = self.loose(key, &[]);
                let place = loose.iter().position(|other| *other == write).unwrap_or(0);
                self.read(id, at, key, chain + place);
            }
        }
    }

    fn list(&mut self, id: TxnId, at: usize, key: KeyId, elements: &[Scalar]) {
        if !elements.ends_with(&self.own(id, at, key)) {
            self.broken.push(Level::MonotonicAtomicView);
        }
        let writers: Vec<Option<Written>> = elements.iter().map(|value| self.writer(key, *value)).collect();
        let is_later = |write: &Written| write.by == id && write.op > at;
        let committed = self.committed.clone();
        let is_aborted = |write: &Written| !committed.contains(&write.by);
        if writers.iter().flatten().any(|write| is_later(write) || is_aborted(write)) {
            self.broken.push(Level::ReadCommitted);
        }
        let of_others = |write: &Option<Written>| write.is_none_or(|write| write.by != id);
        let Some(last) = writers.iter().rposition(of_others) else { return self.read(id, at, key, 0) };
        match writers[last] {
            Some(write) if !is_aborted(&write) && !self.is_last(&write) => self.broken.push(Level::ReadCommitted),
            Some(write) if !is_aborted(&write) => self.read(id, at, key, last + 1),
            _ => {}
        }
    }

    fn read(&mut self, id: TxnId, at: usize, key: KeyId, version: usize) {
        let read = Read { reader: self.node(id), op: at as u32, key, version: version as u32 };
        // What is no beginning of the longest list breaks everything, and has no version.
        if version < self.facts.keys[key.0 as usize].chain.len() + self.facts.keys[key.0 as usize].loose.len() {
            self.facts.reads.push(read);
        }
    }
}
