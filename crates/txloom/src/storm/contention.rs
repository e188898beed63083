//! How much transactions met: the share of operations on an item that a concurrent transaction wrote.
//!
//! ```text
//!   T1      ├── read 7 ──┤                 counts: T2 wrote 7 at the same time
//!   T2   ├── write 7 ──────────┤           does not: nobody else wrote 7 meanwhile
//!   T3                           ├ read 7 ┤   does not: T2 was over
//! ```
//!
//! A storm whose transactions never meet proves nothing, however silent the checker is. How much they depend on each
//! other is counted, too: pairs of transactions of which one read what the other wrote.

use std::collections::{BTreeSet, HashMap};

use super::log::{Access, Done, Item, Seen};
use super::recording::Recording;

/// How many operations met a concurrent write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Contention {
    /// All operations.
    pub operations: u64,
    /// Those on an item that a concurrent transaction wrote.
    pub contended: u64,
    /// Pairs of transactions of which one read what the other wrote.
    pub dependencies: u64,
}

/// A transaction that wrote an item.
#[derive(Clone, Copy)]
struct Writer {
    began: u64,
    ended: u64,
    /// The last end of this writer and all before it.
    latest: u64,
}

impl Contention {
    /// The contention of a recording.
    pub fn of(recording: &Recording) -> Contention {
        let mut contention = Contention { dependencies: dependencies(recording), ..Contention::default() };
        let writers = writers(recording);
        recording.visit(|transaction| {
            let mut start = 0;
            for end in &transaction.operations {
                let accesses = &transaction.accesses[start..*end as usize];
                start = *end as usize;
                contention.operations += 1;
                let met =
                    |access: &Access| writers.get(&access.item()).is_some_and(|of_item| meets(transaction, of_item));
                contention.contended += u64::from(accesses.iter().any(met));
            }
        });
        contention
    }
}

/// The number of pairs of transactions of which one read what the other wrote.
fn dependencies(recording: &Recording) -> u64 {
    // A storm writes millions of versions: sorted lists need a third of the memory of one large map.
    let mut versions: HashMap<Item, Vec<(i64, u32)>> = HashMap::new();
    let mut at = 0;
    recording.visit(|transaction| {
        for access in &transaction.accesses {
            let written = access.written().map(|version| (version, at));
            written.into_iter().for_each(|written| versions.entry(access.item()).or_default().push(written));
        }
        at += 1;
    });
    versions.values_mut().for_each(|of_item| of_item.sort_unstable());
    let writer = |item: &Item, version: i64| {
        let of_item = versions.get(item)?;
        let after = of_item.partition_point(|(other, _)| *other <= version);
        of_item[..after].last().filter(|(other, _)| *other == version).map(|(_, at)| *at)
    };
    let (mut pairs, mut at) = (0, 0);
    let mut read_from = BTreeSet::new();
    recording.visit(|transaction| {
        for access in &transaction.accesses {
            match access {
                Access::Read(item, Seen::Version(version)) => read_from.extend(writer(item, *version)),
                Access::List(item, Some(elements)) => {
                    read_from.extend(elements.iter().filter_map(|element| writer(item, *element)));
                }
                _ => {}
            }
        }
        read_from.remove(&at);
        pairs += read_from.len() as u64;
        read_from.clear();
        at += 1;
    });
    pairs
}

fn writers(recording: &Recording) -> HashMap<Item, Vec<Writer>> {
    let mut writers: HashMap<Item, Vec<Writer>> = HashMap::new();
    recording.visit(|Done { began, ended, accesses, .. }| {
        for access in accesses.iter().filter(|access| access.written().is_some()) {
            let of_item = writers.entry(access.item()).or_default();
            let last = of_item.last().copied();
            if last.is_none_or(|last| last.began != *began) {
                let latest = last.map_or(*ended, |last| last.latest.max(*ended));
                of_item.push(Writer { began: *began, ended: *ended, latest });
            }
        }
    });
    writers
}

/// Whether somebody else wrote while the transaction was there. Writers stand in the order in which they began.
fn meets(transaction: &Done, writers: &[Writer]) -> bool {
    let before_its_end = writers.partition_point(|writer| writer.began < transaction.ended);
    let mut candidates = writers[..before_its_end].iter().rev().take_while(|w| w.latest > transaction.began);
    candidates.any(|writer| writer.began != transaction.began && writer.ended > transaction.began)
}

#[cfg(test)]
mod tests {
    use super::*;
    use txloom_core::history::Status;

    /// Transactions as `(began, ended, writes item 7)`.
    fn check(transactions: &[(u64, u64, bool)], contended: u64) {
        let item = Item { table: 0, key: 7 };
        let access = |writes| if writes { Access::Write(item, 1) } else { Access::Read(item, Seen::Version(0)) };
        let done: Recording = transactions
            .iter()
            .map(|(began, ended, writes)| Done {
                session: 0,
                status: Status::Committed,
                began: *began,
                ended: *ended,
                accesses: vec![access(*writes)],
                operations: vec![1],
            })
            .collect();
        let expected = Contention { operations: done.len() as u64, contended, dependencies: 0 };
        assert_eq!(Contention::of(&done), expected, "{transactions:?}");
    }

    #[test]
    fn who_read_what_another_wrote_depends_on_it() {
        let item = |key| Item { table: 0, key };
        let done = |began: u64, accesses: &[Access]| Done {
            session: 0,
            status: Status::Committed,
            began,
            ended: began + 1,
            accesses: accesses.to_vec(),
            operations: Vec::new(),
        };
        let read = |key, version| Access::Read(item(key), Seen::Version(version));
        let one = done(0, &[Access::Write(item(1), 5), Access::Write(item(2), 6), read(1, 5)]);
        let other = |began| done(began, &[read(1, 5), read(2, 6), read(3, 0)]);
        assert_eq!(dependencies(&[one.clone(), other(2)].into_iter().collect()), 1);
        assert_eq!(dependencies(&[one, other(2), other(4)].into_iter().collect()), 2);
    }

    #[test]
    fn only_concurrent_writes_count() {
        check(&[(0, 1, true), (2, 3, false)], 0);
        check(&[(0, 3, true), (1, 2, false)], 1);
        check(&[(0, 3, true), (1, 2, true)], 2);
        check(&[(0, 3, false), (1, 2, false)], 0);
        // The second writer is long over; the first is still there.
        check(&[(0, 9, true), (1, 2, true), (5, 6, false)], 3);
    }
}
