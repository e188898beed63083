//! How much transactions met: the share of operations on an item that a concurrent transaction wrote.
//!
//! ```text
//!   T1      ├── read 7 ──┤                 counts: T2 wrote 7 at the same time
//!   T2   ├── write 7 ──────────┤           does not: nobody else wrote 7 meanwhile
//!   T3                           ├ read 7 ┤   does not: T2 was over
//! ```
//!
//! A storm whose transactions never meet proves nothing, however silent the checker is.

use std::collections::HashMap;

use super::log::{Access, Done, Item};

/// How many operations met a concurrent write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Contention {
    /// All operations.
    pub operations: u64,
    /// Those on an item that a concurrent transaction wrote.
    pub contended: u64,
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
    /// Of transactions in the order in which they began.
    pub fn of(done: &[Done]) -> Contention {
        let writers = writers(done);
        let mut contention = Contention::default();
        for transaction in done {
            let mut start = 0;
            for end in &transaction.operations {
                let accesses = &transaction.accesses[start..*end as usize];
                start = *end as usize;
                contention.operations += 1;
                let met =
                    |access: &Access| writers.get(&access.item()).is_some_and(|of_item| meets(transaction, of_item));
                contention.contended += u64::from(accesses.iter().any(met));
            }
        }
        contention
    }
}

fn writers(done: &[Done]) -> HashMap<Item, Vec<Writer>> {
    let mut writers: HashMap<Item, Vec<Writer>> = HashMap::new();
    for Done { began, ended, accesses, .. } in done {
        for access in accesses.iter().filter(|access| access.written().is_some()) {
            let of_item = writers.entry(access.item()).or_default();
            let last = of_item.last().copied();
            if last.is_none_or(|last| last.began != *began) {
                let latest = last.map_or(*ended, |last| last.latest.max(*ended));
                of_item.push(Writer { began: *began, ended: *ended, latest });
            }
        }
    }
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
    use super::super::log::Seen;
    use super::*;
    use txloom_core::history::Status;

    /// Transactions as `(began, ended, writes item 7)`.
    fn check(transactions: &[(u64, u64, bool)], contended: u64) {
        let item = Item { table: 0, key: 7 };
        let access = |writes| if writes { Access::Write(item, 1) } else { Access::Read(item, Seen::Version(0)) };
        let done: Vec<Done> = transactions
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
        let expected = Contention { operations: done.len() as u64, contended };
        assert_eq!(Contention::of(&done), expected, "{transactions:?}");
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
