//! Reads that make no sense, in words.

use super::super::facts::{Oddity, OddityKind};
use super::super::{ListRead, Op, TxnId};
use super::Story;
use super::words::Words;
use crate::finding::Explanation;

/// Tells what makes no sense.
pub(super) fn tell(words: &Words<'_>, oddity: &Oddity) -> Story {
    let mut ids: Vec<TxnId> = std::iter::once(oddity.transaction).chain(oddity.writer).collect();
    ids.sort_unstable();
    ids.dedup();
    let (thens, however) = Odd { words, oddity }.clauses();
    let lets = ids.iter().map(|id| words.introduce(*id)).collect();
    let nodes = ids.iter().map(|id| words.node(*id)).collect();
    Story { explanation: Explanation { lets, thens, however: vec![however] }, nodes, edges: Vec::new() }
}

struct Odd<'a> {
    words: &'a Words<'a>,
    oddity: &'a Oddity,
}

impl Odd<'_> {
    fn clauses(&self) -> (Vec<String>, String) {
        let (who, key, value) = (self.name(self.oddity.transaction), self.key(), self.value());
        let writer = self.oddity.writer.map_or_else(|| "somebody".to_string(), |id| self.name(id));
        match self.oddity.kind {
            OddityKind::ThinAirRead => (vec![self.read()], format!("nobody ever wrote {value} to {key}")),
            OddityKind::DuplicateElement => {
                (vec![self.read()], format!("{value} was appended to {key} only once, and is in the list twice"))
            }
            OddityKind::IncompatibleOrder => self.incompatible(),
            OddityKind::AbortedRead => {
                let end = match self.oddity.writer.map(|id| self.words.history.transaction(id).status) {
                    Some(super::super::Status::Unknown) => "did not commit",
                    _ => "was rolled back",
                };
                let read = match self.op() {
                    Some(Op::ReadList(..)) => format!("{}; {writer} appended {value}", self.read()),
                    _ => format!("{}, which {writer} wrote", self.read()),
                };
                (vec![read], format!("{writer} {end}: nobody may see what it wrote"))
            }
            OddityKind::IntermediateRead => (
                vec![self.read(), format!("{writer} wrote {value} to {key}, and wrote to {key} again later")],
                format!("{who} saw {key} as it was in the middle of {writer}"),
            ),
            OddityKind::FutureRead => {
                (vec![self.read()], format!("{who} itself wrote {value} to {key}, but only after it had read it"))
            }
            OddityKind::DirtyUpdate => (
                vec![
                    format!("{writer} appended to {key}, and was rolled back"),
                    format!("{who} appended {value} to {key} behind that, and committed"),
                ],
                format!("{who} built on what never was"),
            ),
            OddityKind::Unrepeatable => {
                let before = self.read_before().unwrap_or_else(|| "something else".to_string());
                (
                    vec![format!("{who} first did: {before}"), self.read()],
                    format!("in between, {value} of others came in"),
                )
            }
            OddityKind::Internal => {
                let own = self.own().unwrap_or_else(|| "something else".to_string());
                (vec![self.read()], format!("{who} itself had done before: {own}"))
            }
        }
    }

    fn incompatible(&self) -> (Vec<String>, String) {
        let (who, key) = (self.name(self.oddity.transaction), self.key());
        let spine = self.words.list(self.words.history.spine(self.oddity.key));
        match self.op() {
            Some(Op::ReadList(_, ListRead::Other(_))) => (
                vec![self.read(), format!("{key} was also read as {spine}")],
                "neither list is the beginning of the other, and lists only grow".to_string(),
            ),
            _ => (
                vec![format!("{who} appended several elements to {key}, {} among them", self.value())],
                format!("{key} was read as {spine}, where they stand in another order, or not all of them"),
            ),
        }
    }

    /// `T2 read x as [1 2]`
    fn read(&self) -> String {
        let (who, key) = (self.name(self.oddity.transaction), self.key());
        match self.op() {
            Some(Op::ReadList(id, list)) => {
                format!("{who} read {key} as {}", self.words.list(self.words.history.list(*id, *list)))
            }
            Some(Op::Read(_, Some(value))) => format!("{who} read {key} as {}", self.words.history.show(*value)),
            _ => format!("{who} read {key} as it was initially"),
        }
    }

    /// The last thing that the transaction did to the key before.
    fn own(&self) -> Option<String> {
        let before = self.words.history.ops(self.oddity.transaction).get(..self.oddity.op as usize)?;
        let is_write = |op: &&Op| matches!(op, Op::Write(..) | Op::Append(..)) && op.key() == self.oddity.key;
        before.iter().rev().find(is_write).map(|op| self.words.op(op))
    }

    /// The last read of the key before.
    fn read_before(&self) -> Option<String> {
        let before = self.words.history.ops(self.oddity.transaction).get(..self.oddity.op as usize)?;
        let is_read = |op: &&Op| matches!(op, Op::ReadList(..)) && op.key() == self.oddity.key;
        before.iter().rev().find(is_read).map(|op| self.words.op(op))
    }

    fn op(&self) -> Option<&Op> {
        self.words.history.ops(self.oddity.transaction).get(self.oddity.op as usize)
    }

    fn name(&self, id: TxnId) -> String {
        self.words.name(id)
    }

    fn key(&self) -> String {
        self.words.key(self.oddity.key)
    }

    fn value(&self) -> String {
        self.oddity.value.map_or_else(|| "the initial value".to_string(), |value| self.words.history.show(value))
    }
}
