//! Registers: rows that are read and assigned.
//!
//! Every value is written once, so that a read tells which write it saw. Most writes are *blind* (the transaction has not
//! read the register before): their order is what a history does not tell, and the checker must find one. One in four is to
//! a register that was read: an update of what was seen, which a weak level loses.

use txloom_core::bulk::Bulk;
use txloom_core::generate::random::Random;

use super::super::log::{Item, Log, Seen};
use super::{Answer, Keyed, Next, Scale, Transactions, Versions, Workload, keyed, whole};

/// The name of the profile.
pub(super) const NAME: &str = "registers";

/// One in so many writes is to a register that the transaction has read.
const SEEN_WRITES: usize = 4;

/// The workload.
#[derive(Debug, Clone, Copy)]
pub struct Registers {
    scale: Scale,
}

impl Registers {
    /// So many of them.
    pub fn new(scale: Scale) -> Registers {
        Registers { scale }
    }
}

impl Workload for Registers {
    fn name(&self) -> &'static str {
        NAME
    }

    fn setup(&self) -> Vec<String> {
        vec!["CREATE TABLE registers (k INT PRIMARY KEY, v BIGINT)".to_string()]
    }

    fn population(&self) -> Vec<Box<dyn Bulk + '_>> {
        vec![Box::new(Keyed::new("registers", "v", self.scale.keys, |cells| cells.integer(0)))]
    }

    fn session(&self, seed: u64, session: usize) -> Box<dyn Transactions> {
        Box::new(Session {
            scale: self.scale,
            random: Random::new(seed, &[session as u64]),
            versions: Versions::of(session, self.scale.sessions),
            left: 0,
            read: Vec::new(),
            last: Op::Read(0),
        })
    }

    fn audit(&self) -> Box<dyn Transactions> {
        Box::new(Audit { keys: self.scale.keys, is_asked: false })
    }

    fn item_name(&self, item: Item) -> String {
        item.key.to_string()
    }
}

/// An operation.
#[derive(Debug, Clone, Copy)]
enum Op {
    Read(i64),
    Write(i64, i64),
}

struct Session {
    scale: Scale,
    random: Random,
    versions: Versions,
    /// How many operations the transaction still has.
    left: usize,
    /// The registers that it has read.
    read: Vec<i64>,
    last: Op,
}

impl Session {
    fn choose(&mut self) -> Op {
        if !self.random.chance(1, 2) {
            return Op::Read(self.random.below(self.scale.keys) as i64);
        }
        let version = self.versions.take();
        if self.random.chance(1, SEEN_WRITES)
            && let Some(key) = self.random.pick(&self.read)
        {
            return Op::Write(*key, version);
        }
        let key = self.random.below(self.scale.keys) as i64;
        let is_read = self.read.contains(&key);
        Op::Write(if is_read { self.random.below(self.scale.keys) as i64 } else { key }, version)
    }
}

impl Transactions for Session {
    fn begin(&mut self) {
        self.left = self.scale.ops;
        self.read.clear();
    }

    fn next(&mut self) -> Next {
        if self.left == 0 {
            return Next::Commit;
        }
        self.left -= 1;
        self.last = self.choose();
        Next::Execute(match self.last {
            Op::Read(key) => format!("SELECT v FROM registers WHERE k = {key}"),
            Op::Write(key, version) => format!("UPDATE registers SET v = {version} WHERE k = {key}"),
        })
    }

    fn answered(&mut self, answer: &Answer<'_>, log: &mut Log) {
        match self.last {
            Op::Write(key, _) if answer.changed_nothing() => log.read(item(key), Seen::NoRow),
            Op::Write(key, version) => log.write(item(key), version),
            Op::Read(_) if answer.is_error() => {}
            Op::Read(key) => {
                self.read.push(key);
                let rows = answer.rows();
                let value = rows.first().and_then(|row| row.first());
                log.read(item(key), value.map_or(Seen::NoRow, |value| Seen::of(whole(value), value)));
            }
        }
    }
}

fn item(key: i64) -> Item {
    Item { table: 0, key }
}

/// Reads all registers at once.
struct Audit {
    keys: usize,
    is_asked: bool,
}

impl Transactions for Audit {
    fn begin(&mut self) {
        self.is_asked = false;
    }

    fn next(&mut self) -> Next {
        match std::mem::replace(&mut self.is_asked, true) {
            true => Next::Commit,
            false => Next::Execute("SELECT k, v FROM registers".to_string()),
        }
    }

    fn answered(&mut self, answer: &Answer<'_>, log: &mut Log) {
        if answer.is_error() {
            return;
        }
        let mut seen = vec![Seen::NoRow; self.keys];
        for (key, value) in answer.rows().iter().filter_map(|row| keyed(row)) {
            if let Some(place) = usize::try_from(key).ok().and_then(|key| seen.get_mut(key)) {
                *place = Seen::of(whole(value), value);
            }
        }
        seen.into_iter().zip(0..).for_each(|(seen, key)| log.read(item(key), seen));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use txloom_core::dialect::Sqlite;
    use txloom_core::outcome::{Column, Outcome, StatementResult, TxStatus};

    fn outcome(cell: Option<&str>, affected: Option<u64>) -> Outcome {
        let columns = vec![Column { name: "v".to_string(), type_name: String::new() }];
        let rows = cell.iter().map(|cell| vec![Some(cell.as_bytes().to_vec())]).collect();
        let result = match affected {
            Some(_) => StatementResult { affected, ..StatementResult::default() },
            None => StatementResult { columns, rows, ..StatementResult::default() },
        };
        Outcome { results: vec![result], ..Outcome::empty(TxStatus::Open) }
    }

    #[test]
    fn a_session_asks_for_the_same_things_each_time() {
        let statements = |seed| {
            let mut session = Registers::new(Scale::default()).session(seed, 1);
            let mut log = Log::default();
            let (mut all, outcome) = (Vec::new(), outcome(Some("i7"), None));
            for _ in 0..20 {
                session.begin();
                while let Next::Execute(sql) = session.next() {
                    all.push(sql);
                    session.answered(&Answer { dialect: &Sqlite, outcome: &outcome }, &mut log);
                }
            }
            all
        };
        assert_eq!(statements(3), statements(3));
        assert_ne!(statements(3), statements(4));
        let written = |sql: &&String| sql.starts_with("UPDATE");
        let count = statements(3).iter().filter(written).count();
        assert!((20..60).contains(&count), "{count} of 80 are writes");
    }

    #[test]
    fn a_row_that_is_gone_is_seen_to_be() {
        let mut audit = Registers::new(Scale { keys: 2, ..Scale::default() }).audit();
        audit.begin();
        assert!(matches!(audit.next(), Next::Execute(_)));
        let columns = ["k", "v"].map(|name| Column { name: name.to_string(), type_name: String::new() });
        let row = vec![Some(b"i1".to_vec()), Some(b"i0".to_vec())];
        let result = StatementResult { columns: columns.to_vec(), rows: vec![row], ..StatementResult::default() };
        let outcome = Outcome { results: vec![result], ..Outcome::empty(TxStatus::Open) };
        let mut log = Log::default();
        audit.answered(&Answer { dialect: &Sqlite, outcome: &outcome }, &mut log);
        assert_eq!(log.seen(), [(item(0), Seen::NoRow), (item(1), Seen::Version(0))]);
        assert_eq!(audit.next(), Next::Commit);
    }
}
