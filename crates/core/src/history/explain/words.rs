//! Transactions and operations in words.

use super::super::formats::elle::UNNAMED_SESSIONS;
use super::super::{History, KeyId, Op, Scalar, Status, TxnId};
use super::StoryNode;

/// Longer lists are cut in their middle.
const ELEMENTS_MAX: usize = 12;

/// Of longer transactions, so many operations are told.
const OPS_MAX: usize = 16;

/// Puts a history into words.
pub(super) struct Words<'a> {
    pub(super) history: &'a History,
    /// What a session is called.
    pub(super) session: &'a str,
}

impl Words<'_> {
    pub(super) fn name(&self, id: TxnId) -> String {
        format!("T{}", id.0 + 1)
    }

    pub(super) fn node(&self, id: TxnId) -> StoryNode {
        StoryNode { name: self.name(id), what: self.what(id), line: self.history.transaction(id).line }
    }

    /// `T12 (process 3, line 40): append x 5, read y [1 2]`
    pub(super) fn introduce(&self, id: TxnId) -> String {
        let line = format!("line {}", self.history.transaction(id).line);
        let place = self.session_of(id).into_iter().chain([line]).collect::<Vec<_>>().join(", ");
        format!("{} ({place}): {}", self.name(id), self.what(id))
    }

    /// `x`, and `key 7` if that is its name: a bare number could be anything in a sentence.
    pub(super) fn key(&self, key: KeyId) -> String {
        let name = self.history.key_name(key);
        if name.bytes().all(|byte| byte.is_ascii_digit()) { format!("key {name}") } else { name.to_string() }
    }

    /// `process 3`, if it has a name.
    pub(super) fn session_of(&self, id: TxnId) -> Option<String> {
        let session = self.history.transaction(id).session;
        (session < UNNAMED_SESSIONS).then(|| format!("{} {session}", self.session))
    }

    fn what(&self, id: TxnId) -> String {
        let ops = self.history.ops(id);
        let mut words: Vec<String> = ops.iter().take(OPS_MAX).map(|op| self.op(op)).collect();
        if ops.len() > OPS_MAX {
            words.push(format!("{} more", ops.len() - OPS_MAX));
        }
        let end = match self.history.transaction(id).status {
            Status::Committed => "",
            Status::Aborted => "; rolled back",
            Status::Unknown => "; nobody knows how it ended",
        };
        format!("{}{end}", words.join(", "))
    }

    /// `append x 5`
    pub(super) fn op(&self, op: &Op) -> String {
        let key = self.history.key_name(op.key());
        match op {
            Op::Write(_, value) => format!("write {key} {}", self.history.show(*value)),
            Op::Append(_, value) => format!("append {key} {}", self.history.show(*value)),
            Op::Read(_, None) => format!("read {key} initial"),
            Op::Read(_, Some(value)) => format!("read {key} {}", self.history.show(*value)),
            Op::ReadList(id, list) => format!("read {key} {}", self.list(self.history.list(*id, *list))),
            Op::Unread(_) => format!("read {key} ?"),
        }
    }

    /// `[1 2 5]`, cut in the middle if it is long.
    pub(super) fn list(&self, elements: &[Scalar]) -> String {
        let show = |part: &[Scalar]| part.iter().map(|value| self.history.show(*value)).collect::<Vec<_>>().join(" ");
        if elements.len() <= ELEMENTS_MAX {
            return format!("[{}]", show(elements));
        }
        let half = ELEMENTS_MAX / 2;
        let left_out = elements.len() - 2 * half;
        format!("[{} …{left_out} more… {}]", show(&elements[..half]), show(&elements[elements.len() - half..]))
    }
}
