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

use std::collections::HashMap;

use txloom_core::history::build::{Builder, Head};
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

/// A transaction that committed a version of a key, and when.
struct Write {
    ended: u64,
    began: u64,
    by: TxnId,
    /// The write, among those that ended before this one or with it, that began last.
    latest: usize,
}

/// The first stale read of a history, in the order of transactions.
pub fn stale_read(history: &History) -> Option<StaleRead> {
    let (writers, writes) = writes(history);
    history.transactions().filter(|(_, of)| of.status == Status::Committed).find_map(|(reader, transaction)| {
        let began = transaction.began?;
        let mut reads = history.ops(reader).iter().filter_map(|op| seen(history, op));
        reads.find_map(|(key, value)| {
            let seen = value.map(|value| writers.get(&(key, value))).map_or(Some(None), |by| by.map(|by| Some(*by)))?;
            // Of a version whose writer's end is not known nobody knows what came after it.
            let ended = match seen.map(|seen| history.transaction(seen)) {
                None => None,
                Some(Transaction { status: Status::Committed, ended: Some(ended), .. }) => Some(*ended),
                Some(_) => return None,
            };
            let of_key = writes.get(&key)?;
            let before = of_key.partition_point(|write| write.ended < began).checked_sub(1)?;
            let missed = &of_key[of_key[before].latest];
            let is_later = ended.is_none_or(|ended| ended < missed.began);
            (is_later && seen != Some(missed.by) && reader != missed.by).then_some(StaleRead {
                reader,
                key,
                value,
                seen,
                missed: missed.by,
            })
        })
    })
}

/// The version that a read showed: the last element of a list; `None` for the initial version.
fn seen(history: &History, op: &Op) -> Option<(KeyId, Option<Scalar>)> {
    match *op {
        Op::Read(key, value) => Some((key, value)),
        Op::ReadList(key, list) => Some((key, history.list(key, list).last().copied())),
        Op::Write(..) | Op::Append(..) | Op::Unread(_) => None,
    }
}

type Writers = HashMap<(KeyId, Scalar), TxnId>;

/// Who wrote which version; and of each key the writes that were committed, in the order in which they ended.
fn writes(history: &History) -> (Writers, HashMap<KeyId, Vec<Write>>) {
    let mut writers = Writers::new();
    let mut writes: HashMap<KeyId, Vec<Write>> = HashMap::new();
    for (by, transaction) in history.transactions() {
        for op in history.ops(by) {
            let (Op::Write(key, value) | Op::Append(key, value)) = *op else { continue };
            writers.insert((key, value), by);
            if let (Status::Committed, Some(began), Some(ended)) =
                (transaction.status, transaction.began, transaction.ended)
            {
                writes.entry(key).or_default().push(Write { ended, began, by, latest: 0 });
            }
        }
    }
    for of_key in writes.values_mut() {
        of_key.sort_by_key(|write| write.ended);
        let mut latest = 0;
        for at in 0..of_key.len() {
            if of_key[at].began > of_key[latest].began {
                latest = at;
            }
            of_key[at].latest = latest;
        }
    }
    (writers, writes)
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

    const X: Item = Item { table: 0, key: 7 };

    fn done(session: u32, status: Status, began: u64, ended: u64, access: Access) -> Done {
        Done { session, status, began, ended, accesses: vec![access], operations: vec![1] }
    }

    fn find(done: &[Done]) -> Option<(Option<u32>, u32, u32)> {
        let history = history(done.to_vec(), &|item| item.key.to_string());
        let found = stale_read(&history);
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
