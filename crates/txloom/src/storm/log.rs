//! What a session writes down: which versions its transactions wrote, and which they saw.
//!
//! A session logs while it works, so a log is small and dumb: items are numbers, versions are numbers. Names and
//! [histories](txloom_core::history) are made of it when the storm is over.

use std::collections::{HashMap, HashSet};

use txloom_core::history::build::{Builder, Head};
use txloom_core::history::{History, KeyId, Op, Scalar, Status};
use txloom_core::value::Value;

use super::recording::Recording;

/// Something that has versions: a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Item {
    /// The number of its table in the workload.
    pub table: u32,
    /// Its key.
    pub key: i64,
}

/// What a read of an item showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// This version; 0 is the initial one.
    Version(i64),
    /// The row is not there.
    NoRow,
    /// Something that is no version.
    Nonsense(String),
}

impl Seen {
    /// A version if it is one, or else the value as it is.
    pub fn of(version: Option<i64>, value: &Value) -> Seen {
        version.map_or_else(|| Seen::Nonsense(value.to_string()), Seen::Version)
    }
}

/// One thing that a transaction did to an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Wrote this version.
    Write(Item, i64),
    /// Removed the row; nobody can see this version, but it takes its place among the others.
    Delete(Item, i64),
    /// Saw that.
    Read(Item, Seen),
    /// Appended this element to a list.
    Append(Item, i64),
    /// Saw this list; `None`: there was none.
    List(Item, Option<Vec<i64>>),
    /// Saw that there is no row, where rows come and go: that says nothing about versions.
    Absent(Item),
}

impl Access {
    /// What it is about.
    pub fn item(&self) -> Item {
        match self {
            Access::Write(item, _)
            | Access::Delete(item, _)
            | Access::Read(item, _)
            | Access::Append(item, _)
            | Access::List(item, _)
            | Access::Absent(item) => *item,
        }
    }

    /// The version that it wrote.
    pub fn written(&self) -> Option<i64> {
        match self {
            Access::Write(_, version) | Access::Delete(_, version) | Access::Append(_, version) => Some(*version),
            Access::Read(..) | Access::List(..) | Access::Absent(_) => None,
        }
    }
}

/// What one transaction did.
#[derive(Debug, Default)]
pub struct Log {
    accesses: Vec<Access>,
    /// For each operation, how many accesses there are up to its end.
    operations: Vec<u32>,
}

impl Log {
    /// A version was written, or would have been.
    pub fn write(&mut self, item: Item, version: i64) {
        self.accesses.push(Access::Write(item, version));
    }

    /// A row was removed.
    pub fn delete(&mut self, item: Item, version: i64) {
        self.accesses.push(Access::Delete(item, version));
    }

    /// A row that comes and goes is not there.
    pub fn absent(&mut self, item: Item) {
        self.accesses.push(Access::Absent(item));
    }

    /// An item was read.
    pub fn read(&mut self, item: Item, seen: Seen) {
        self.accesses.push(Access::Read(item, seen));
    }

    /// An element was appended to a list, or would have been.
    pub fn append(&mut self, item: Item, element: i64) {
        self.accesses.push(Access::Append(item, element));
    }

    /// A list was read; `None`: it is not there, or no list.
    pub fn list(&mut self, item: Item, elements: Option<Vec<i64>>) {
        self.accesses.push(Access::List(item, elements));
    }

    /// All accesses since the last call belong to one operation.
    pub(super) fn end_operation(&mut self) {
        self.operations.push(self.accesses.len() as u32);
    }

    /// True if nothing was logged.
    pub(super) fn is_empty(&self) -> bool {
        self.accesses.is_empty()
    }

    /// How much there is.
    pub(super) fn mark(&self) -> LogMark {
        LogMark { accesses: self.accesses.len(), operations: self.operations.len() }
    }

    /// What came after the mark was undone by a rollback to a savepoint: its writes are taken out and returned. Reads
    /// stay, but for those of items that had been written after the mark.
    pub(super) fn undo(&mut self, mark: LogMark) -> Log {
        let ends = self.operations.split_off(mark.operations);
        let after = self.accesses.split_off(mark.accesses);
        let mut after = after.into_iter();
        let (mut undone, mut written) = (Log::default(), HashSet::new());
        let mut start = mark.accesses;
        for end in ends.into_iter().map(|end| end as usize) {
            let is_write = undone.accesses.len();
            for access in after.by_ref().take(end - start) {
                match access.written() {
                    Some(_) => {
                        written.insert(access.item());
                        undone.accesses.push(access);
                    }
                    None if written.contains(&access.item()) => {}
                    None => self.accesses.push(access),
                }
            }
            start = end;
            if undone.accesses.len() > is_write { &mut undone } else { &mut *self }.end_operation();
        }
        undone
    }

    /// What was logged: accesses, and where operations end.
    pub(super) fn take(self) -> (Vec<Access>, Vec<u32>) {
        (self.accesses, self.operations)
    }

    /// What was read.
    #[cfg(test)]
    pub(super) fn seen(&self) -> Vec<(Item, Seen)> {
        let read = |access: &Access| match access {
            Access::Read(item, seen) => Some((*item, seen.clone())),
            _ => None,
        };
        self.accesses.iter().filter_map(read).collect()
    }
}

/// A place in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LogMark {
    accesses: usize,
    operations: usize,
}

/// A transaction that is over, or the part of one that was rolled back to a savepoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// The number of its session.
    pub session: u32,
    /// How it ended.
    pub status: Status,
    /// When it began and ended, on a clock that all sessions share.
    pub began: u64,
    /// See `began`. Of a transaction of unknown fate, when it was given up.
    pub ended: u64,
    /// What it did.
    pub accesses: Vec<Access>,
    /// For each operation, how many of the accesses there are up to its end.
    pub operations: Vec<u32>,
}

/// A recording as a history.
pub fn history(recording: &Recording, name: &dyn Fn(Item) -> String) -> History {
    let mut builder = Builder::with_capacity(recording.len(), recording.access_count());
    let mut keys = HashMap::new();
    let mut line = 0;
    recording.visit(|transaction| {
        line += 1;
        let Done { session, status, began, ended, ref accesses, .. } = *transaction;
        // Nobody knows when a transaction of unknown fate took effect.
        let ended = Some(ended).filter(|_| status != Status::Unknown);
        builder.begin(Head { session, status, began: Some(began), ended, line });
        for access in accesses {
            let item = access.item();
            let key = *keys.entry(item).or_insert_with(|| builder.key(&name(item)));
            push(&mut builder, key, access);
        }
    });
    builder.finish()
}

fn push(builder: &mut Builder, key: KeyId, access: &Access) {
    let op = match access {
        Access::Write(_, version) | Access::Delete(_, version) => Op::Write(key, Scalar(*version)),
        Access::Absent(_) => return,
        Access::Append(_, element) => Op::Append(key, Scalar(*element)),
        Access::Read(_, Seen::Version(0)) => Op::Read(key, None),
        Access::Read(_, Seen::Version(version)) => Op::Read(key, Some(Scalar(*version))),
        Access::Read(_, Seen::NoRow) => Op::Read(key, Some(builder.text("no row"))),
        Access::Read(_, Seen::Nonsense(value)) => Op::Read(key, Some(builder.text(value))),
        Access::List(_, elements) => {
            let none = [builder.text("no list")];
            let elements = elements.as_ref().map(|elements| elements.iter().copied().map(Scalar).collect::<Vec<_>>());
            return builder.push_list(key, elements.as_deref().unwrap_or(&none));
        }
    };
    builder.push(op);
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: Item = Item { table: 0, key: 1 };
    const Y: Item = Item { table: 0, key: 2 };

    #[test]
    fn what_is_undone_takes_its_writes_along_and_leaves_its_reads() {
        let mut log = Log::default();
        log.write(X, 1);
        log.end_operation();
        let mark = log.mark();
        log.read(Y, Seen::Version(7));
        log.end_operation();
        log.write(Y, 2);
        log.end_operation();
        log.read(Y, Seen::Version(2));
        log.read(X, Seen::Version(1));
        log.end_operation();
        let undone = log.undo(mark);
        assert_eq!(undone.take(), (vec![Access::Write(Y, 2)], vec![1]));
        log.write(Y, 3);
        log.end_operation();
        let kept = [
            Access::Write(X, 1),
            Access::Read(Y, Seen::Version(7)),
            Access::Read(X, Seen::Version(1)),
            Access::Write(Y, 3),
        ];
        assert_eq!(log.take(), (kept.to_vec(), vec![1, 2, 3, 4]));
    }
}
