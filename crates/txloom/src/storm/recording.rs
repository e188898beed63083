//! Everything that the sessions of a storm have written down.
//!
//! A storm of ten minutes has millions of transactions. As values, each takes hundreds of bytes; here each takes about
//! fifty, since keys are small, and versions and moments are close to the ones before. Transactions come back one at a
//! time, those of all sessions in the order in which they began:
//!
//! ```text
//!   session 0   ①④ … bytes      ⑤⑥ … bytes
//!   session 1     ②③ … bytes                     →  ① ② ⑤ …
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use txloom_core::history::Status;
use txloom_core::varint;

use super::log::{Access, Done, Item, Seen};

/// The transactions of a storm, packed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recording {
    /// By session: what was handed over at a time, in the order of time.
    sessions: BTreeMap<u32, Vec<Packed>>,
    accesses: usize,
    transactions: usize,
}

/// Transactions of one session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Packed {
    bytes: Vec<u8>,
    /// When the last transaction began.
    began: u64,
    /// The last version that was named.
    version: i64,
}

impl Recording {
    /// The number of transactions.
    pub fn len(&self) -> usize {
        self.transactions
    }

    /// True if there are no transactions.
    pub fn is_empty(&self) -> bool {
        self.transactions == 0
    }

    /// The number of accesses of all transactions.
    pub fn access_count(&self) -> usize {
        self.accesses
    }

    /// Adds a transaction; those of one session come in the order in which they began.
    pub fn push(&mut self, done: &Done) {
        self.transactions += 1;
        self.accesses += done.accesses.len();
        let packed = self.sessions.entry(done.session).or_default();
        if packed.is_empty() {
            packed.push(Packed::default());
        }
        if let Some(last) = packed.last_mut() {
            last.push(done);
        }
    }

    /// Adds what was recorded later.
    pub fn append(&mut self, later: Recording) {
        self.transactions += later.transactions;
        self.accesses += later.accesses;
        for (session, packed) in later.sessions {
            self.sessions.entry(session).or_default().extend(packed);
        }
    }

    /// Visits all transactions in the order in which they began.
    pub fn visit(&self, mut with: impl FnMut(&Done)) {
        let mut readers: Vec<SessionReader<'_>> =
            self.sessions.iter().map(|(session, packed)| SessionReader::new(*session, packed)).collect();
        let mut next = BinaryHeap::new();
        for (at, reader) in readers.iter_mut().enumerate() {
            next.extend(reader.advance().map(|began| Reverse((began, at))));
        }
        while let Some(Reverse((_, at))) = next.pop() {
            let reader = &mut readers[at];
            with(reader.read());
            next.extend(reader.advance().map(|began| Reverse((began, at))));
        }
    }
}

impl FromIterator<Done> for Recording {
    fn from_iter<I: IntoIterator<Item = Done>>(all: I) -> Recording {
        let mut recording = Recording::default();
        all.into_iter().for_each(|done| recording.push(&done));
        recording
    }
}

/// What an access is, in the low bits of its first number; the rest is the table.
const KINDS: u64 = 16;
const WRITE: u64 = 0;
const DELETE: u64 = 1;
const READ: u64 = 2;
const READ_NO_ROW: u64 = 3;
const READ_NONSENSE: u64 = 4;
const APPEND: u64 = 5;
const LIST: u64 = 6;
const NO_LIST: u64 = 7;
const ABSENT: u64 = 8;

impl Packed {
    fn push(&mut self, done: &Done) {
        let status = match done.status {
            Status::Committed => 0,
            Status::Aborted => 1,
            Status::Unknown => 2,
        };
        // Only a recording that is made by hand goes back in time.
        let before = std::mem::replace(&mut self.began, done.began);
        self.signed(done.began.wrapping_sub(before) as i64);
        self.number(status);
        self.signed(done.ended.wrapping_sub(done.began) as i64);
        self.number(done.accesses.len() as u64);
        done.accesses.iter().for_each(|access| self.access(access));
        self.number(done.operations.len() as u64);
        let mut before = 0;
        for end in &done.operations {
            self.number(u64::from(end - std::mem::replace(&mut before, *end)));
        }
    }

    fn access(&mut self, access: &Access) {
        let (kind, version) = match access {
            Access::Write(_, version) => (WRITE, Some(*version)),
            Access::Delete(_, version) => (DELETE, Some(*version)),
            Access::Read(_, Seen::Version(version)) => (READ, Some(*version)),
            Access::Read(_, Seen::NoRow) => (READ_NO_ROW, None),
            Access::Read(_, Seen::Nonsense(_)) => (READ_NONSENSE, None),
            Access::Append(_, element) => (APPEND, Some(*element)),
            Access::List(_, Some(_)) => (LIST, None),
            Access::List(_, None) => (NO_LIST, None),
            Access::Absent(_) => (ABSENT, None),
        };
        let item = access.item();
        self.number(u64::from(item.table) * KINDS + kind);
        self.signed(item.key);
        if let Some(version) = version {
            self.version(version);
        }
        match access {
            Access::Read(_, Seen::Nonsense(text)) => {
                self.number(text.len() as u64);
                self.bytes.extend_from_slice(text.as_bytes());
            }
            Access::List(_, Some(elements)) => {
                self.number(elements.len() as u64);
                elements.iter().for_each(|element| self.version(*element));
            }
            _ => {}
        }
    }

    fn version(&mut self, version: i64) {
        let before = std::mem::replace(&mut self.version, version);
        self.signed(version.wrapping_sub(before));
    }

    fn number(&mut self, number: u64) {
        varint::push(&mut self.bytes, number);
    }

    fn signed(&mut self, number: i64) {
        varint::push_signed(&mut self.bytes, number);
    }
}

/// Unpacks the transactions of one session, one after the other.
struct SessionReader<'a> {
    packed: std::slice::Iter<'a, Packed>,
    bytes: &'a [u8],
    at: usize,
    version: i64,
    done: Done,
}

impl<'a> SessionReader<'a> {
    fn new(session: u32, packed: &'a [Packed]) -> SessionReader<'a> {
        let done = Done {
            session,
            status: Status::Committed,
            began: 0,
            ended: 0,
            accesses: Vec::new(),
            operations: Vec::new(),
        };
        SessionReader { packed: packed.iter(), bytes: &[], at: 0, version: 0, done }
    }

    /// Tells when the next transaction began.
    fn advance(&mut self) -> Option<u64> {
        while self.at == self.bytes.len() {
            self.bytes = &self.packed.next()?.bytes;
            (self.at, self.version, self.done.began) = (0, 0, 0);
        }
        self.done.began = self.done.began.wrapping_add(self.signed() as u64);
        Some(self.done.began)
    }

    /// The transaction that was announced.
    fn read(&mut self) -> &Done {
        self.done.status = match self.number() {
            0 => Status::Committed,
            1 => Status::Aborted,
            _ => Status::Unknown,
        };
        self.done.ended = self.done.began.wrapping_add(self.signed() as u64);
        let mut accesses = std::mem::take(&mut self.done.accesses);
        accesses.clear();
        accesses.extend((0..self.number()).map(|_| self.access()));
        self.done.accesses = accesses;
        let mut operations = std::mem::take(&mut self.done.operations);
        operations.clear();
        let mut end = 0;
        for _ in 0..self.number() {
            end += self.number() as u32;
            operations.push(end);
        }
        self.done.operations = operations;
        &self.done
    }

    fn access(&mut self) -> Access {
        let head = self.number();
        let item = Item { table: (head / KINDS) as u32, key: self.signed() };
        match head % KINDS {
            WRITE => Access::Write(item, self.version()),
            DELETE => Access::Delete(item, self.version()),
            READ => Access::Read(item, Seen::Version(self.version())),
            READ_NO_ROW => Access::Read(item, Seen::NoRow),
            READ_NONSENSE => Access::Read(item, Seen::Nonsense(self.text())),
            APPEND => Access::Append(item, self.version()),
            LIST => {
                let length = self.number();
                Access::List(item, Some((0..length).map(|_| self.version()).collect()))
            }
            NO_LIST => Access::List(item, None),
            _ => Access::Absent(item),
        }
    }

    fn text(&mut self) -> String {
        let start = self.number() as usize + self.at;
        let text = &self.bytes[self.at..start];
        self.at = start;
        String::from_utf8_lossy(text).into_owned()
    }

    fn version(&mut self) -> i64 {
        self.version = self.version.wrapping_add(self.signed());
        self.version
    }

    fn number(&mut self) -> u64 {
        varint::read(self.bytes, &mut self.at).expect("what was packed in memory is whole")
    }

    fn signed(&mut self) -> i64 {
        varint::read_signed(self.bytes, &mut self.at).expect("what was packed in memory is whole")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(session: u32, began: u64, accesses: Vec<Access>) -> Done {
        let operations = if accesses.is_empty() { Vec::new() } else { vec![1, accesses.len() as u32] };
        Done { session, status: Status::Unknown, began, ended: began + 3, accesses, operations }
    }

    #[test]
    fn transactions_come_back_in_the_order_in_which_they_began() {
        let item = |key| Item { table: 20, key };
        let all = [
            done(0, 1, vec![Access::Write(item(1), 7), Access::Delete(item(-2), i64::MIN)]),
            done(1, 2, vec![Access::Read(item(1), Seen::Version(0)), Access::Read(item(1), Seen::NoRow)]),
            done(9, 2, vec![Access::Read(item(3), Seen::Nonsense("it's".to_string()))]),
            done(0, 5, vec![Access::Append(item(1), i64::MAX), Access::Absent(item(i64::MAX))]),
            done(1, 6, vec![Access::List(item(1), None), Access::List(item(1), Some(vec![3, 1, 2]))]),
            done(0, 8, Vec::new()),
        ];
        let mut recording: Recording = [&all[1], &all[4], &all[2]].into_iter().cloned().collect();
        recording.append([&all[0], &all[3]].into_iter().cloned().collect());
        recording.append([all[5].clone()].into_iter().collect());
        let mut visited = Vec::new();
        recording.visit(|done| visited.push(done.clone()));
        assert_eq!(visited, all);
        assert_eq!((recording.len(), recording.access_count()), (6, 9));
    }
}
