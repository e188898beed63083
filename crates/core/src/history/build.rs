//! Making a history, transaction by transaction: parsers, simulators and our own traces do it this way.
//!
//! The spine of a key is made of what *committed* transactions read. Who is rolled back has seen its own appends, and these
//! are in nobody else's list:
//!
//! ```text
//!   T1   append x 1   read x [1]   rolled back
//!   T2   append x 2   read x [2]   committed        no contradiction: the spine is 2
//! ```
//!
//! Of a transaction of unknown fate this is known only at the end, when everybody who may have seen it has been heard.

use std::collections::HashMap;

use super::facts;
use super::{History, KeyId, ListRead, Op, Scalar, Status, Transaction, TxnId};

/// Puts a history together.
#[derive(Debug, Default)]
pub struct Builder {
    history: History,
    keys: HashMap<String, KeyId>,
    texts: HashMap<String, Scalar>,
}

/// The head of a transaction.
#[derive(Debug, Clone, Copy)]
pub struct Head {
    /// Its session.
    pub session: u32,
    /// How it ended.
    pub status: Status,
    /// When it was invoked, where that is known.
    pub began: Option<u64>,
    /// When it completed.
    pub ended: Option<u64>,
    /// Where it stands in the input.
    pub line: u32,
}

impl Builder {
    /// A builder with room for so many transactions and operations.
    pub fn with_capacity(transactions: usize, ops: usize) -> Builder {
        let mut builder = Builder::default();
        builder.history.transactions.reserve_exact(transactions);
        builder.history.ops.reserve_exact(ops);
        builder
    }

    /// The key of that name.
    pub fn key(&mut self, name: &str) -> KeyId {
        if let Some(key) = self.keys.get(name) {
            return *key;
        }
        let key = KeyId(self.history.keys.len() as u32);
        self.history.keys.push(name.to_string());
        self.history.spines.push(Vec::new());
        self.keys.insert(name.to_string(), key);
        key
    }

    /// A value that is no number.
    pub fn text(&mut self, text: &str) -> Scalar {
        if let Some(scalar) = self.texts.get(text) {
            return *scalar;
        }
        let scalar = Scalar(i64::MIN + self.history.texts.len() as i64);
        self.history.texts.push(text.to_string());
        self.texts.insert(text.to_string(), scalar);
        scalar
    }

    /// Begins a transaction; the operations that follow are its own.
    pub fn begin(&mut self, head: Head) -> TxnId {
        let Head { session, status, began, ended, line } = head;
        let at = self.history.ops.len() as u32;
        self.history.transactions.push(Transaction { session, status, began, ended, line, ops: (at, at) });
        TxnId(self.history.transactions.len() as u32 - 1)
    }

    /// Adds an operation to the transaction that was begun last.
    pub fn push(&mut self, op: Op) {
        self.history.ops.push(op);
        let end = self.history.ops.len() as u32;
        if let Some(last) = self.history.transactions.last_mut() {
            last.ops.1 = end;
        }
    }

    /// Adds a read of a list.
    pub fn push_list(&mut self, key: KeyId, elements: &[Scalar]) {
        let is_committed = self.history.transactions.last().is_some_and(|last| last.status == Status::Committed);
        let spine = &mut self.history.spines[key.0 as usize];
        let common = spine.iter().zip(elements).take_while(|(a, b)| a == b).count();
        let read = if common == elements.len() {
            ListRead::Prefix(common as u32)
        } else if common == spine.len() && is_committed {
            spine.extend_from_slice(&elements[common..]);
            ListRead::Prefix(elements.len() as u32)
        } else {
            self.history.others.push(elements.to_vec());
            ListRead::Other(self.history.others.len() as u32 - 1)
        };
        self.push(Op::ReadList(key, read));
    }

    /// The history.
    pub fn finish(mut self) -> History {
        if !self.history.others.is_empty() {
            self.extend_spines();
            self.share_spines();
        }
        self.history
    }

    /// Whoever of unknown fate was seen has committed, so what it read counts.
    fn extend_spines(&mut self) {
        let history = &self.history;
        let is_other = |op: &Op| matches!(op, Op::ReadList(_, ListRead::Other(_)));
        let is_open = |(id, transaction): (TxnId, &Transaction)| {
            transaction.status == Status::Unknown && history.ops(id).iter().any(is_other)
        };
        if !history.transactions().any(is_open) {
            return;
        }
        for id in facts::seen_unknown(history) {
            for at in self.history.transaction(id).op_range() {
                let Op::ReadList(key, ListRead::Other(other)) = self.history.ops[at] else { continue };
                let (spine, list) = (&mut self.history.spines[key.0 as usize], &self.history.others[other as usize]);
                if list.starts_with(spine) {
                    spine.extend_from_slice(&list[spine.len()..]);
                }
            }
        }
    }

    /// Lists that turned out to be beginnings of their spines are not kept.
    fn share_spines(&mut self) {
        let History { ops, spines, others, .. } = &mut self.history;
        let mut kept = Vec::new();
        for op in ops {
            let Op::ReadList(key, ListRead::Other(at)) = op else { continue };
            let list = std::mem::take(&mut others[*at as usize]);
            let read = if spines[key.0 as usize].starts_with(&list) {
                ListRead::Prefix(list.len() as u32)
            } else {
                kept.push(list);
                ListRead::Other(kept.len() as u32 - 1)
            };
            *op = Op::ReadList(*key, read);
        }
        *others = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_share_a_spine_until_they_contradict_it() {
        let mut builder = Builder::default();
        let x = builder.key("x");
        builder.begin(Head { session: 0, status: Status::Committed, began: None, ended: None, line: 1 });
        for list in [&[1, 2][..], &[], &[1, 2, 3], &[1], &[1, 3]] {
            builder.push_list(x, &list.iter().map(|n| Scalar(*n)).collect::<Vec<_>>());
        }
        let history = builder.finish();
        let reads: Vec<Vec<i64>> = history
            .ops(TxnId(0))
            .iter()
            .map(|op| match op {
                Op::ReadList(key, read) => history.list(*key, *read).iter().map(|scalar| scalar.0).collect(),
                _ => Vec::new(),
            })
            .collect();
        assert_eq!(reads, [vec![1, 2], vec![], vec![1, 2, 3], vec![1], vec![1, 3]]);
        assert_eq!((history.spine(x).len(), history.others.len()), (3, 1));
    }

    /// The spine of x after all.
    fn check_spine(text: &str, spine: &[i64], others: usize) {
        let history = crate::history::micro::micro(text).unwrap();
        let found: Vec<i64> = history.spine(KeyId(0)).iter().map(|scalar| scalar.0).collect();
        assert_eq!((found.as_slice(), history.others.len()), (spine, others), "{text}");
    }

    #[test]
    fn what_rolled_back_transactions_read_is_no_version_order() {
        check_spine("ax1 rx1 ! / ax2 rx2", &[2], 1);
        check_spine("ax1 rx1 ? / ax2 rx2", &[2], 1);
        check_spine("ax1 rx1 ! / ax1 rx12 / ax2", &[1, 2], 0);
        check_spine("ax1 ay1 rx1 ? / ax2 / ry1", &[1], 0);
        check_spine("ax1 ay1 rx1 ? / ax2 / ry1 rx12", &[1, 2], 0);
        check_spine("rx1 ay1 ? / ax1 az1 ? / ry1", &[1], 0);
    }
}
