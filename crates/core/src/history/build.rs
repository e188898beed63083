//! Making a history, transaction by transaction: parsers, simulators and our own traces do it this way.

use std::collections::HashMap;

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
        let spine = &mut self.history.spines[key.0 as usize];
        let common = spine.iter().zip(elements).take_while(|(a, b)| a == b).count();
        let read = if common == elements.len() {
            ListRead::Prefix(common as u32)
        } else if common == spine.len() {
            spine.extend_from_slice(&elements[common..]);
            ListRead::Prefix(elements.len() as u32)
        } else {
            self.history.others.push(elements.to_vec());
            ListRead::Other(self.history.others.len() as u32 - 1)
        };
        self.push(Op::ReadList(key, read));
    }

    /// The history.
    pub fn finish(self) -> History {
        self.history
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
}
