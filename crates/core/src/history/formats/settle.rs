//! What can only be told when everything was read: whether an unwritten 0 is initial, and whether a key holds a list.

use std::collections::HashSet;

use super::super::{History, ListRead, Op, Scalar};
use super::ReadError;

/// Reads of 0 from keys to which nobody wrote 0 are reads of the initial version.
pub(super) fn zero_is_initial(history: &mut History) {
    let zero = |value: &Scalar| value.0 == 0;
    let written: HashSet<u32> = history
        .ops
        .iter()
        .filter_map(|op| match op {
            Op::Write(key, value) if zero(value) => Some(key.0),
            _ => None,
        })
        .collect();
    for op in &mut history.ops {
        if let Op::Read(key, Some(value)) = op
            && zero(value)
            && !written.contains(&key.0)
        {
            *op = Op::Read(*key, None);
        }
    }
}

/// What a key holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unknown,
    Register,
    List,
}

/// Gives reads of nothing their kind: of a list, nothing is the empty list. A key cannot be both.
pub(super) fn kinds(history: &mut History) -> Result<(), ReadError> {
    let mut kinds = vec![Kind::Unknown; history.keys.len()];
    for transaction in &history.transactions {
        for op in &history.ops[transaction.op_range()] {
            let kind = match op {
                Op::Write(..) | Op::Read(_, Some(_)) => Kind::Register,
                Op::Append(..) | Op::ReadList(..) => Kind::List,
                Op::Read(_, None) | Op::Unread(_) => continue,
            };
            let known = &mut kinds[op.key().0 as usize];
            if *known != Kind::Unknown && *known != kind {
                let key = &history.keys[op.key().0 as usize];
                let message = format!("{key} is used both as a list and as a register; a key is one or the other");
                return Err(ReadError::new(transaction.line as usize, message));
            }
            *known = kind;
        }
    }
    for op in &mut history.ops {
        if let Op::Read(key, None) = op
            && kinds[key.0 as usize] == Kind::List
        {
            *op = Op::ReadList(*key, ListRead::Prefix(0));
        }
    }
    Ok(())
}
