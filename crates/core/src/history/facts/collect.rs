//! From operations to facts, in a few passes over the history.

use std::collections::BTreeSet;
use std::ops::Range;

use super::writes::{Write, Writes};
use super::{Facts, INITIAL, KeyFacts, NOBODY, Node, Oddity, OddityKind, Read, Version};
use crate::history::{History, KeyId, ListRead, Op, Scalar, Status, TxnId};

/// What cannot be a history: values must be unique for reads to tell versions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "line {line}: {key} is given the value {value} a second time (first in line {first_line}); values must be unique"
)]
pub struct DuplicateWrite {
    /// Where.
    pub line: u32,
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
    /// Where it was written first.
    pub first_line: u32,
}

/// Collects the facts.
pub fn collect(history: &History) -> Result<Facts, DuplicateWrite> {
    let writes = Writes::of(history)?;
    let nodes = nodes(history, &writes);
    let ids = history.transactions().map(|(id, _)| id);
    let committed = ids.filter(|id| nodes[id.0 as usize] != NOBODY).collect();
    let facts = Facts { committed, ..Facts::default() };
    let mut collector = Collector { history, writes, nodes: &nodes, facts, spoilt: Vec::new(), wrote: (0, 0) };
    collector.chains();
    collector.loose_versions();
    for id in collector.facts.committed.clone() {
        collector.reads(id);
    }
    Ok(collector.facts)
}

/// The transactions of unknown fate that committed, as somebody saw them; none if the history is none.
pub(crate) fn seen_unknown(history: &History) -> Vec<TxnId> {
    let Ok(writes) = Writes::of(history) else { return Vec::new() };
    let nodes = nodes(history, &writes);
    let unknown = history.transactions().filter(|(_, transaction)| transaction.status == Status::Unknown);
    unknown.map(|(id, _)| id).filter(|id| nodes[id.0 as usize] != NOBODY).collect()
}

/// The key and the value of a write.
pub(super) fn written(op: &Op) -> Option<(KeyId, Scalar)> {
    match op {
        Op::Write(key, value) | Op::Append(key, value) => Some((*key, *value)),
        Op::Read(..) | Op::ReadList(..) | Op::Unread(_) => None,
    }
}

/// The node of every transaction, [`NOBODY`] for those that did not commit. Whoever was seen by somebody who committed
/// did commit, unless it is known to have rolled back.
fn nodes(history: &History, writes: &Writes) -> Vec<Node> {
    let mut commits: Vec<bool> = history.transactions().map(|(_, t)| t.status == Status::Committed).collect();
    let mut open: Vec<TxnId> = history.transactions().map(|(id, _)| id).filter(|id| commits[id.0 as usize]).collect();
    let unknown = history.transactions().any(|(_, transaction)| transaction.status == Status::Unknown);
    while let Some(id) = open.pop().filter(|_| unknown) {
        for (key, value) in seen(history, id) {
            let Some(write) = writes.get(key, value) else { continue };
            let writer = write.transaction;
            let is_unknown = history.transaction(writer).status == Status::Unknown;
            if is_unknown && !std::mem::replace(&mut commits[writer.0 as usize], true) {
                open.push(writer);
            }
        }
    }
    let mut next = INITIAL;
    let node = |commits: bool| {
        next += u32::from(commits);
        if commits { next } else { NOBODY }
    };
    commits.into_iter().map(node).collect()
}

/// Every value that a transaction saw.
fn seen(history: &History, id: TxnId) -> impl Iterator<Item = (KeyId, Scalar)> + '_ {
    history.ops(id).iter().flat_map(move |op| {
        let values: &[Scalar] = match op {
            Op::Read(_, Some(value)) => std::slice::from_ref(value),
            Op::ReadList(key, list) => history.list(*key, *list),
            _ => &[],
        };
        values.iter().map(move |value| (op.key(), *value))
    })
}

/// What a transaction itself wrote to a key by some of its operations.
fn own_writes(
    history: &History,
    id: TxnId,
    range: Range<u32>,
    key: KeyId,
) -> impl DoubleEndedIterator<Item = Scalar> + '_ {
    let earlier = history.ops(id)[range.start.min(range.end) as usize..range.end as usize].iter().filter_map(written);
    earlier.filter(move |(other, _)| *other == key).map(|(_, value)| value)
}

/// How many oddities of one kind are kept: a history in which everything is wrong need not say so a million times.
const KEPT_MAX: usize = 100;

/// From which length on, in which way, because of which value, of whom.
type Spoilt = (usize, OddityKind, Scalar, Option<TxnId>);

struct Collector<'a> {
    history: &'a History,
    /// Who wrote what; and, as that becomes known, which version it is.
    writes: Writes,
    nodes: &'a [Node],
    facts: Facts,
    /// By key: from which length on a list that was read is wrong in itself.
    spoilt: Vec<Vec<Spoilt>>,
    /// Between which of its operations the transaction that is being looked at writes. Who reads a whole database and
    /// writes nothing need not look back at a million reads for each of them.
    wrote: (u32, u32),
}

impl<'a> Collector<'a> {
    fn node(&self, id: TxnId) -> Node {
        self.nodes[id.0 as usize]
    }

    /// What the transaction that is being looked at wrote to a key before one of its operations.
    fn own(&self, (id, at): (TxnId, u32), key: KeyId) -> impl DoubleEndedIterator<Item = Scalar> + use<'a> {
        own_writes(self.history, id, self.wrote.0..at, key)
    }

    fn write_of(&self, key: KeyId, value: Scalar) -> Option<Write> {
        self.writes.get(key, value).copied()
    }

    fn version(&self, key: KeyId, value: Scalar) -> Option<Version> {
        self.writes.get(key, value).and_then(Write::version)
    }

    /// The chains, from the spines: lists were seen to grow this way.
    fn chains(&mut self) {
        for at in 0..self.history.keys.len() {
            let key = KeyId(at as u32);
            let mut chain = vec![INITIAL];
            let mut spoilt = Vec::new();
            let mut unwritten = BTreeSet::new();
            let mut under: Option<Write> = None;
            for value in self.history.spine(key) {
                let write = self.write_of(key, *value);
                let node = write.map_or(NOBODY, |write| self.node(write.transaction));
                let length = chain.len();
                let is_known = match write {
                    Some(_) => self.writes.set_version(key, *value, length as Version).is_some(),
                    None => !unwritten.insert(*value),
                };
                if is_known {
                    spoilt.push((length, OddityKind::DuplicateElement, *value, write.map(|write| write.transaction)));
                }
                match write {
                    None => spoilt.push((length, OddityKind::ThinAirRead, *value, None)),
                    Some(write) if node == NOBODY => {
                        spoilt.push((length, OddityKind::AbortedRead, *value, Some(write.transaction)));
                        under = Some(write);
                    }
                    Some(write) => {
                        self.check_own_order(write, key, *value, length);
                        if let Some(under) = under.take() {
                            let on = Some(under.transaction);
                            self.odd(OddityKind::DirtyUpdate, write.place(), key, Some(*value), on);
                        }
                    }
                }
                chain.push(node);
            }
            self.spoilt.push(spoilt);
            self.facts.keys.push(KeyFacts { chain, loose: Vec::new() });
        }
    }

    /// What a transaction appended before an element stands before it in every list.
    fn check_own_order(&mut self, write: Write, key: KeyId, value: Scalar, place: usize) {
        if write.is_first {
            return;
        }
        let (id, at) = write.place();
        let before = own_writes(self.history, id, 0..at, key).next_back();
        if before.is_some_and(|own| self.version(key, own).is_none_or(|version| version as usize >= place)) {
            self.odd(OddityKind::IncompatibleOrder, write.place(), key, Some(value), Some(write.transaction));
        }
    }

    /// What committed transactions wrote and no list shows: every append, and the last write of a register.
    fn loose_versions(&mut self) {
        for id in self.facts.committed.clone() {
            for op in self.history.ops(id) {
                let Some((key, value)) = written(op) else { continue };
                let Some(write) = self.write_of(key, value) else { continue };
                let is_version = write.is_last || matches!(op, Op::Append(..));
                if !is_version || write.version().is_some() {
                    continue;
                }
                let node = self.node(id);
                let facts = &mut self.facts.keys[key.0 as usize];
                facts.loose.push(node);
                let version = (facts.chain.len() + facts.loose.len() - 1) as Version;
                self.writes.set_version(key, value, version);
            }
        }
    }

    fn reads(&mut self, id: TxnId) {
        let history = self.history;
        let is_write = |op: &Op| written(op).is_some();
        let ops = history.ops(id);
        let (first, last) = (ops.iter().position(is_write), ops.iter().rposition(is_write));
        self.wrote = (first.unwrap_or(ops.len()) as u32, last.map_or(0, |last| last as u32 + 1));
        for (at, op) in ops.iter().enumerate() {
            match op {
                Op::Read(key, value) => self.register_read((id, at as u32), *key, *value),
                Op::ReadList(key, list) => self.list_read((id, at as u32), *key, *list),
                Op::Write(..) | Op::Append(..) | Op::Unread(_) => {}
            }
        }
    }

    fn register_read(&mut self, place: (TxnId, u32), key: KeyId, value: Option<Scalar>) {
        if let Some(last) = self.own(place, key).next_back() {
            if value == Some(last) {
                return;
            }
            self.odd(OddityKind::Internal, place, key, value, None);
        }
        let Some(value) = value else { return self.read(place, key, 0) };
        let Some(write) = self.write_of(key, value) else {
            return self.odd(OddityKind::ThinAirRead, place, key, Some(value), None);
        };
        let writer = Some(write.transaction);
        if write.transaction == place.0 {
            if write.op > place.1 {
                self.odd(OddityKind::FutureRead, place, key, Some(value), writer);
            }
        } else if self.node(write.transaction) == NOBODY {
            self.odd(OddityKind::AbortedRead, place, key, Some(value), writer);
        } else if !write.is_last {
            self.odd(OddityKind::IntermediateRead, place, key, Some(value), writer);
        } else {
            let version = write.version().expect("every last write of somebody who committed is a version");
            self.read(place, key, version);
        }
    }

    fn list_read(&mut self, place: (TxnId, u32), key: KeyId, list: ListRead) {
        let elements = self.history.list(key, list);
        let ListRead::Prefix(length) = list else { return self.other_list(place, key, elements) };
        let wrong = self.spoilt[key.0 as usize].iter().take_while(|(from, ..)| *from <= length as usize);
        for (_, kind, value, writer) in wrong.copied().collect::<Vec<_>>() {
            self.odd(kind, place, key, Some(value), writer);
        }
        if self.is_future(place, key, length) {
            return self.odd(OddityKind::FutureRead, place, key, elements.last().copied(), Some(place.0));
        }
        if let Some(last) = self.own(place, key).next_back() {
            let mut shown = elements.iter().rev();
            if !self.own(place, key).rev().all(|own| shown.next() == Some(&own)) {
                self.odd(OddityKind::Internal, place, key, Some(last), None);
            } else if let Some(others) = self.shown_since(place, key, elements) {
                self.odd(OddityKind::Unrepeatable, place, key, Some(others), None);
            }
        }
        self.read_of_others(place, key, elements);
    }

    /// The read of the last element that the transaction did not append itself: its own appends hide no other version.
    fn read_of_others(&mut self, place: (TxnId, u32), key: KeyId, elements: &[Scalar]) {
        let is_own = |value: &Scalar| self.writes.get(key, *value).is_some_and(|write| write.transaction == place.0);
        let Some(at) = elements.iter().rposition(|value| !is_own(value)) else { return self.read(place, key, 0) };
        let value = elements[at];
        let Some(write) = self.write_of(key, value) else { return };
        if self.node(write.transaction) == NOBODY {
            return;
        }
        if write.is_last {
            self.read(place, key, at as Version + 1);
        } else {
            self.odd(OddityKind::IntermediateRead, place, key, Some(value), Some(write.transaction));
        }
    }

    /// An element that a read shows between what the transaction had read of the list before and what it appended since.
    /// (Without own appends this is a read of two versions, which the graph tells.)
    fn shown_since(&self, (id, at): (TxnId, u32), key: KeyId, elements: &[Scalar]) -> Option<Scalar> {
        let ops = &self.history.ops(id)[..at as usize];
        let before = |op: &Op| matches!(op, Op::ReadList(other, _) if *other == key);
        let read_at = ops.iter().rposition(before)?;
        let Op::ReadList(_, list) = ops[read_at] else { return None };
        let read = self.history.list(key, list);
        let since = ops[read_at..].iter().filter_map(written).filter(|(other, _)| *other == key).count();
        let others = elements.len().checked_sub(since)?;
        let is_same = elements[..others] == *read;
        (!is_same).then(|| elements.get(read.len()).or(elements.last()).copied()).flatten()
    }

    /// Whether a list holds something that its reader appends only later.
    fn is_future(&self, (id, at): (TxnId, u32), key: KeyId, length: u32) -> bool {
        let later = self.history.ops(id)[at as usize..self.wrote.1.max(at) as usize].iter().filter_map(written);
        let mut later = later.filter(|(other, _)| *other == key);
        later.any(|(_, value)| self.version(key, value).is_some_and(|version| version <= length))
    }

    /// A list that contradicts the longest one: no version order explains both.
    fn other_list(&mut self, place: (TxnId, u32), key: KeyId, elements: &[Scalar]) {
        let odd = elements.iter().zip(self.history.spine(key)).find(|(a, b)| a != b).map(|(a, _)| *a);
        self.odd(OddityKind::IncompatibleOrder, place, key, odd, None);
        for value in elements {
            match self.write_of(key, *value) {
                None => self.odd(OddityKind::ThinAirRead, place, key, Some(*value), None),
                Some(write) if self.node(write.transaction) == NOBODY => {
                    self.odd(OddityKind::AbortedRead, place, key, Some(*value), Some(write.transaction));
                }
                Some(_) => {}
            }
        }
    }

    fn read(&mut self, (id, op): (TxnId, u32), key: KeyId, version: Version) {
        let reader = self.node(id);
        self.facts.reads.push(Read { reader, op, key, version });
    }

    fn odd(
        &mut self,
        kind: OddityKind,
        (transaction, op): (TxnId, u32),
        key: KeyId,
        value: Option<Scalar>,
        writer: Option<TxnId>,
    ) {
        if self.facts.oddities.iter().filter(|other| other.kind == kind).count() < KEPT_MAX {
            self.facts.oddities.push(Oddity { kind, transaction, op, key, value, writer });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::micro::micro;

    /// Reads as `reader<writer`, oddities by name.
    fn check(text: &str, reads: &str, oddities: &[OddityKind]) {
        let facts = collect(&micro(text).unwrap()).unwrap();
        let show = |read: &Read| format!("{}<{}", read.reader, facts.writer_of(read));
        assert_eq!(facts.reads.iter().map(show).collect::<Vec<_>>().join(" "), reads, "{text}");
        assert_eq!(facts.oddities.iter().map(|oddity| oddity.kind).collect::<Vec<_>>(), oddities, "{text}");
    }

    #[test]
    fn reads_know_their_writers() {
        check("wx1 / rx1 / rx_", "2<1 3<0", &[]);
        check("ax1 / ax2 / rx12 rx1 rx", "3<2 3<1 3<0", &[]);
        check("wx1 rx1 wx2 rx2", "", &[]);
        check("ax1 rx1 / rx1 ax2 rx12", "1<0 2<1 2<1", &[]);
        check("ax1 rx12 / ax2", "1<2", &[OddityKind::Internal]);
        check("ax1 / ax2 rx12 ax3 rx123", "2<1 2<1", &[]);
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        check("rx7", "", &[OddityKind::ThinAirRead]);
        check("wx1 ! / rx1", "", &[OddityKind::AbortedRead]);
        check("wx1 wx2 / rx1", "", &[OddityKind::IntermediateRead]);
        check("rx1 wx1", "", &[OddityKind::FutureRead]);
        check("wx1 / wx2 rx1", "2<1", &[OddityKind::Internal]);
        check("ax1 ! / ax2 / rx12", "2<1", &[OddityKind::DirtyUpdate, OddityKind::AbortedRead]);
        check("ax1 / ax2 / rx12 / rx2", "3<2", &[OddityKind::IncompatibleOrder]);
        check("ax1 ax2 / rx2", "2<1", &[OddityKind::IncompatibleOrder]);
        check("ax1 / rx11", "2<1", &[OddityKind::DuplicateElement]);
        check("ax1 ax2 / rx1", "", &[OddityKind::IntermediateRead]);
        check("ax1 / ax2 rx1 / rx12", "2<1 3<2", &[OddityKind::Internal]);
        check("ax1 ax2 / ax3 rx13", "", &[OddityKind::IntermediateRead]);
        check("ax1 rx12 ax2", "", &[OddityKind::FutureRead]);
        check("ax1 ! / ax2 rx12", "", &[OddityKind::DirtyUpdate, OddityKind::AbortedRead]);
        check("rx1 ax1", "", &[OddityKind::FutureRead]);
        check("ax1 / rx ax2 rx12", "2<0 2<1", &[OddityKind::Unrepeatable]);
    }

    #[test]
    fn whoever_was_seen_has_committed() {
        check("wx1 ? / rx1", "2<1", &[]);
        check("wx1 ? / rx_", "1<0", &[]);
        check("rx1 wy1 ? / wx1 ? / ry1", "1<2 3<1", &[]);
    }

    #[test]
    fn values_must_be_unique() {
        let error = collect(&micro("wx1 / wx1").unwrap()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2: x is given the value 1 a second time (first in line 1); values must be unique"
        );
    }
}
