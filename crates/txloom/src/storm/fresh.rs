//! Stale reads: a transaction that does not see what was committed, and acknowledged, before it began.
//!
//! ```text
//!   T1   ├─ write 7 → a ─┤
//!   T2                      ├─ write 7 → b ─┤
//!   T3                                          ├─ read 7: a ─┤
//! ```
//!
//! T1 had ended when T2 began, and T2 had ended when T3 began: `b` came after `a`, and a database that promises real time
//! has to show T3 `b`, or something later. Whatever was concurrent is not judged.
//!
//! Strong snapshot isolation and strict serializability forbid that by themselves. Read committed does not: there, each
//! statement sees what was committed before it began, which no level of the theory says of single reads. So it is looked
//! for here, and what is found is shown as the history of these three transactions, in which not even
//! [`SHOWN_BY`] holds.

use txloom_core::history::build::{Builder, Head};
use txloom_core::history::facts::{Facts, KeyFacts, Node};
use txloom_core::history::{History, KeyId, Op, Scalar, Status, Transaction, TxnId};
use txloom_core::level::formal::{Level, Order, Requirement};

/// The weakest requirement of the theory that a stale read violates.
pub const SHOWN_BY: Requirement = Requirement { level: Level::ReadAtomic, order: Order::RealTime };

/// A stale read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StaleRead {
    /// The transaction that read.
    pub reader: TxnId,
    /// What it read.
    pub key: KeyId,
    /// The version that was read: of a list the last element; `None` for the initial one.
    pub value: Option<Scalar>,
    /// The transaction that wrote that version.
    pub seen: Option<TxnId>,
    /// The transaction that wrote over that version, and had ended when the reader began.
    pub missed: TxnId,
}

/// The first stale read of a history whose facts are known, in the order of transactions.
pub fn stale_read(history: &History, facts: &Facts) -> Option<StaleRead> {
    let lines: Vec<KeyTimes> = facts.keys.iter().map(|key| KeyTimes::of(history, facts, key)).collect();
    facts.reads.iter().find_map(|read| {
        let reader = facts.transaction(read.reader)?;
        let began = committed(history, reader)?.0;
        let seen = facts.transaction(facts.writer_of(read));
        // Of a version whose writer's end is not known nobody knows what came after it.
        let ended = seen.map_or(Some(None), |seen| committed(history, seen).map(|(_, ended)| Some(ended)))?;
        let missed = facts.transaction(lines[read.key.0 as usize].latest_before(began)?)?;
        let is_later = ended.is_none_or(|ended| committed(history, missed).is_some_and(|(began, _)| ended < began));
        let value = version(history, history.ops(reader).get(read.op as usize)?)?;
        let is_stale = is_later && seen != Some(missed) && reader != missed;
        is_stale.then_some(StaleRead { reader, key: read.key, value, seen, missed })
    })
}

/// When a transaction began and ended that is known to have committed.
fn committed(history: &History, id: TxnId) -> Option<(u64, u64)> {
    let transaction = history.transaction(id);
    Some((transaction.began?, transaction.ended?)).filter(|_| transaction.status == Status::Committed)
}

/// The commits of a key's versions by time.
struct KeyTimes {
    /// The end of each, ascending.
    ended: Vec<u64>,
    /// The one that began last, of each and those before it.
    latest: Vec<Node>,
}

impl KeyTimes {
    fn of(history: &History, facts: &Facts, key: &KeyFacts) -> KeyTimes {
        let times = |node: Node| facts.transaction(node).and_then(|id| committed(history, id));
        let timed = |node: Node| times(node).map(|(_, ended)| (ended, node));
        let mut all: Vec<(u64, Node)> = key.writers().filter_map(timed).collect();
        all.sort_unstable();
        let began = |node: Node| times(node).map(|(began, _)| began);
        let latest = all.iter().scan(None, |latest: &mut Option<Node>, (_, node)| {
            *latest = latest.filter(|latest| began(*latest) >= began(*node)).or(Some(*node));
            *latest
        });
        KeyTimes { latest: latest.collect(), ended: all.iter().map(|(ended, _)| *ended).collect() }
    }

    /// Of the commits that had ended at a time, the one that began last.
    fn latest_before(&self, time: u64) -> Option<Node> {
        let count = self.ended.partition_point(|ended| *ended < time);
        self.latest[..count].last().copied()
    }
}

/// The version that a read showed: the last element of a list; `Some(None)` for the initial version.
fn version(history: &History, op: &Op) -> Option<Option<Scalar>> {
    match *op {
        Op::Read(_, value) => Some(value),
        Op::ReadList(key, list) => Some(history.list(key, list).last().copied()),
        Op::Write(..) | Op::Append(..) | Op::Unread(_) => None,
    }
}

/// The history of the transactions that a stale read concerns, and of the key alone: as a register, which each of them
/// reads or writes once.
pub fn excerpt(history: &History, stale: &StaleRead) -> History {
    let value = |id: TxnId, is_wanted: &dyn Fn(&Op) -> Option<Scalar>| {
        history.ops(id).iter().rev().filter(|op| op.key() == stale.key).find_map(is_wanted)
    };
    let written = |op: &Op| match *op {
        Op::Write(_, value) | Op::Append(_, value) => Some(value),
        _ => None,
    };
    let read = stale.value;
    let mut concerned = vec![(stale.reader, None)];
    concerned.extend(stale.seen.map(|seen| (seen, read)));
    concerned.push((stale.missed, value(stale.missed, &written)));
    concerned.sort_by_key(|(id, _)| history.transaction(*id).began);
    let mut builder = Builder::default();
    for (id, written) in concerned {
        let Transaction { session, status, began, ended, line, .. } = *history.transaction(id);
        builder.begin(Head { session, status, began, ended, line });
        let key = builder.key(history.key_name(stale.key));
        builder.push(written.map_or(Op::Read(key, read), |value| Op::Write(key, value)));
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::super::log::{Access, Done, Item, Seen, history};
    use super::*;
    use txloom_core::history::check::check;
    use txloom_core::history::facts::collect;

    const X: Item = Item { table: 0, key: 7 };

    fn done(session: u32, status: Status, began: u64, ended: u64, access: Access) -> Done {
        Done { session, status, began, ended, accesses: vec![access], operations: vec![1] }
    }

    fn find(done: &[Done]) -> Option<(Option<u32>, u32, u32)> {
        let history = history(&done.iter().cloned().collect(), &|item| item.key.to_string());
        let found = stale_read(&history, &collect(&history).unwrap());
        if let Some(stale) = &found {
            let excerpt = excerpt(&history, stale);
            assert!(check(&excerpt, SHOWN_BY).unwrap().is_violated(), "{excerpt:?}");
        }
        let line = |id: TxnId| history.transaction(id).line;
        found.map(|stale| (stale.seen.map(line), line(stale.missed), line(stale.reader)))
    }

    #[test]
    fn what_was_acknowledged_before_must_be_seen() {
        use Status::{Aborted, Committed, Unknown};
        let write = |began, ended, version| done(0, Committed, began, ended, Access::Write(X, version));
        let read = |began, version| done(1, Committed, began, began + 1, Access::Read(X, Seen::Version(version)));
        let both = [write(0, 1, 1), write(2, 3, 2)];
        let with = |read: Done| find(&[both[0].clone(), both[1].clone(), read]);
        assert_eq!(with(read(4, 2)), None);
        assert_eq!(with(read(4, 1)), Some((Some(1), 2, 3)));
        assert_eq!(with(read(4, 0)), Some((None, 2, 3)));
        assert_eq!(find(&[write(0, 1, 1), write(2, 6, 2), read(4, 1)]), None, "concurrent with the reader");
        assert_eq!(find(&[write(0, 3, 1), write(2, 4, 2), read(5, 1)]), None, "concurrent with one another");
        for status in [Aborted, Unknown] {
            let lost = done(0, status, 2, 3, Access::Write(X, 2));
            assert_eq!(find(&[write(0, 1, 1), lost, read(4, 1)]), None, "{status:?}");
        }
    }

    #[test]
    fn a_list_must_hold_what_was_acknowledged_before() {
        let append = |began, version| done(0, Status::Committed, began, began + 1, Access::Append(X, version));
        let read = |list: &[i64]| done(1, Status::Committed, 4, 5, Access::List(X, Some(list.to_vec())));
        assert_eq!(find(&[append(0, 1), append(2, 2), read(&[1, 2])]), None);
        assert_eq!(find(&[append(0, 1), append(2, 2), read(&[1])]), Some((Some(1), 2, 3)));
        assert_eq!(find(&[append(0, 1), append(2, 2), read(&[])]), Some((None, 2, 3)));
    }
}
