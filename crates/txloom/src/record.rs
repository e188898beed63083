//! Histories recorded from a live engine: many sessions at once, unwatched.
//!
//! The executor runs one step at a time, so that a run can be repeated. This is the opposite: every session has a thread of
//! its own and works as fast as the server lets it, and nobody knows what happened until a checker has looked at the
//! history. What is asked for depends on the seed alone; what happens does not.
//!
//! ```text
//!   session 0    ①BEGIN  read 7  write 3  COMMIT④          one counter for all: ① ② ③ ④ …
//!   session 1       ②BEGIN  write 7  COMMIT③               a transaction lies between two of its numbers
//! ```
//!
//! The database is a table of registers. Every value is written once, so that a read tells which write it saw; the initial
//! value is 0. Writes are plain assignments. Most of them are *blind* (the transaction has not read the register before):
//! those are the ones whose order a history does not tell.
//!
//! What the server answers decides how a transaction ended: an error means rolled back; a connection that was lost while
//! COMMIT was under way means that nobody knows. A session whose connection is lost ends early; the others go on.
//!
//! # Limits
//!
//! Registers only; no predicates, inserts or deletes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use txloom_core::case::SessionName;
use txloom_core::dialect::Dialect;
use txloom_core::engine::{Engine, EngineError, EngineErrorKind, Session, SessionId, SessionSpec};
use txloom_core::generate::random::Random;
use txloom_core::history::build::{Builder, Head};
use txloom_core::history::{History, Op, Scalar, Status};
use txloom_core::level::LevelName;
use txloom_core::outcome::{ErrorClass, Outcome, TxStatus};
use txloom_core::value::Value;

/// What to record.
#[derive(Debug, Clone)]
pub struct Recording {
    /// How many sessions work at once.
    pub sessions: usize,
    /// How many transactions are to commit. Those that are rolled back are in the history as well, and do not count.
    pub transactions: usize,
    /// How many operations a transaction has.
    pub ops: usize,
    /// How many registers there are.
    pub keys: usize,
    /// Where the choice of operations comes from.
    pub seed: u64,
    /// The isolation level; `None` is the engine's default.
    pub level: Option<LevelName>,
    /// A statement that takes longer is cancelled, and its transaction rolled back.
    pub statement_limit: Duration,
}

impl Default for Recording {
    fn default() -> Recording {
        Recording {
            sessions: 8,
            transactions: 1_000,
            ops: 8,
            keys: 100,
            seed: 0,
            level: None,
            statement_limit: Duration::from_secs(10),
        }
    }
}

/// How many rows one INSERT of the setup has.
const ROWS_PER_INSERT: usize = 500;
/// How often a session tries for each transaction that is to commit, on average, before it gives up.
const TRIES_MAX: usize = 20;
/// One in so many writes is to a register that the transaction has read.
const SEEN_WRITES: usize = 4;

impl Recording {
    /// Resets the engine, lets the sessions work, and gives back what they did.
    pub fn record(&self, engine: &mut dyn Engine) -> Result<History, EngineError> {
        let target = engine.info().target.clone();
        let dialect = engine.info().dialect;
        let setup = self.setup();
        for outcome in engine.reset(&setup)? {
            if let Some(error) = outcome.error {
                let what = format!("the table of registers could not be set up: {error}");
                return Err(EngineError::new(&target, EngineErrorKind::Protocol(what)));
            }
        }
        let sessions = (0..self.sessions).map(|number| self.open(engine, number));
        let sessions = sessions.collect::<Result<Vec<_>, EngineError>>()?;
        self.work(sessions, dialect).map(history)
    }

    fn setup(&self) -> Vec<String> {
        let mut setup = vec!["CREATE TABLE registers (k INT PRIMARY KEY, v BIGINT)".to_string()];
        let keys: Vec<String> = (0..self.keys).map(|key| format!("({key}, 0)")).collect();
        let rows = keys.chunks(ROWS_PER_INSERT).map(|rows| rows.join(", "));
        setup.extend(rows.map(|rows| format!("INSERT INTO registers VALUES {rows}")));
        setup
    }

    fn open(&self, engine: &mut dyn Engine, number: usize) -> Result<Box<dyn Session>, EngineError> {
        let name = SessionName::new(&format!("s{number}")).expect("a letter and digits are a session name");
        engine.open(&SessionSpec { id: SessionId(number), name, node: None, level: self.level.clone() })
    }

    /// Every session on a thread of its own; this one watches the time.
    fn work(&self, sessions: Vec<Box<dyn Session>>, dialect: &dyn Dialect) -> Result<Vec<Done>, EngineError> {
        let clock = AtomicU64::new(0);
        let busy: Vec<Mutex<Option<Instant>>> = sessions.iter().map(|_| Mutex::new(None)).collect();
        let cancellers: Vec<_> = sessions.iter().map(|session| session.canceller()).collect();
        let (tell, told) = channel();
        std::thread::scope(|scope| {
            for (number, session) in sessions.into_iter().enumerate() {
                let random = Random::new(self.seed, &[number as u64]);
                let (busy, clock, tell) = (&busy[number], &clock, tell.clone());
                let client = Client {
                    number,
                    session,
                    recording: self,
                    dialect,
                    busy,
                    clock,
                    random,
                    values: 0,
                    is_lost: false,
                };
                scope.spawn(move || client.run(&tell));
            }
            drop(tell);
            let mut done = Ok(Vec::new());
            loop {
                match told.recv_timeout(self.statement_limit / 4) {
                    // Who failed has ended; the others are still to be watched.
                    Ok(result) => {
                        done = done.and_then(|mut all: Vec<Done>| {
                            all.extend(result?);
                            Ok(all)
                        });
                    }
                    Err(RecvTimeoutError::Disconnected) => return done,
                    Err(RecvTimeoutError::Timeout) => {}
                }
                for (busy, canceller) in busy.iter().zip(&cancellers) {
                    let since = *busy.lock().unwrap_or_else(PoisonError::into_inner);
                    if since.is_some_and(|since| since.elapsed() > self.statement_limit) {
                        // A statement that cannot be cancelled is tried again.
                        let _ = canceller.cancel();
                    }
                }
            }
        })
    }
}

/// A transaction that is over.
struct Done {
    session: u32,
    status: Status,
    began: u64,
    ended: u64,
    ops: Vec<Access>,
}

/// An operation of a transaction that is over.
enum Access {
    Write(usize, i64),
    /// `None` is a row that was not there.
    Read(usize, Option<i64>),
    Unread(usize),
}

/// One session at work.
struct Client<'a> {
    number: usize,
    session: Box<dyn Session>,
    recording: &'a Recording,
    dialect: &'a dyn Dialect,
    /// Since when a statement is being executed.
    busy: &'a Mutex<Option<Instant>>,
    clock: &'a AtomicU64,
    random: Random,
    /// How many values it has written.
    values: i64,
    is_lost: bool,
}

impl Client<'_> {
    /// Works until its share has been committed.
    fn run(mut self, tell: &Sender<Result<Vec<Done>, EngineError>>) {
        let Recording { transactions, sessions, .. } = *self.recording;
        let share = transactions / sessions + usize::from(self.number < transactions % sessions);
        let (mut done, mut committed) = (Vec::new(), 0);
        while committed < share && done.len() < share * TRIES_MAX && !self.is_lost {
            match self.transaction() {
                Ok(transaction) => {
                    committed += usize::from(transaction.status == Status::Committed);
                    done.push(transaction);
                }
                Err(error) => {
                    // Nobody listens if another session failed first.
                    let _ = tell.send(Err(error));
                    return;
                }
            }
        }
        drop(self.session);
        let _ = tell.send(Ok(done));
    }

    fn transaction(&mut self) -> Result<Done, EngineError> {
        let began = self.tick();
        let mut ops = Vec::new();
        let mut outcome = self.execute(self.dialect.begin())?;
        for _ in 0..self.recording.ops {
            if outcome.error.is_some() {
                break;
            }
            outcome = self.op(&mut ops)?;
        }
        let status = if outcome.error.is_none() { self.commit()? } else { self.roll_back(outcome.status)? };
        Ok(Done { session: self.number as u32, status, began, ended: self.tick(), ops })
    }

    /// One operation: what it was is added to those before it, whether it succeeded or not.
    fn op(&mut self, ops: &mut Vec<Access>) -> Result<Outcome, EngineError> {
        let is_write = self.random.chance(1, 2);
        let key = self.choose(is_write, ops);
        if is_write {
            let value = self.new_value();
            ops.push(Access::Write(key, value));
            return self.execute(&format!("UPDATE registers SET v = {value} WHERE k = {key}"));
        }
        let outcome = self.execute(&format!("SELECT v FROM registers WHERE k = {key}"))?;
        ops.push(match &outcome.error {
            Some(_) => Access::Unread(key),
            None => Access::Read(key, self.value(&outcome)),
        });
        Ok(outcome)
    }

    /// Most writes are to registers that the transaction has not read.
    fn choose(&mut self, is_write: bool, ops: &[Access]) -> usize {
        let read = |op: &Access| if let Access::Read(key, _) = op { Some(*key) } else { None };
        let seen: Vec<usize> = ops.iter().filter_map(read).collect();
        if is_write
            && self.random.chance(1, SEEN_WRITES)
            && let Some(key) = self.random.pick(&seen)
        {
            return *key;
        }
        let key = self.random.below(self.recording.keys);
        if is_write && seen.contains(&key) { self.random.below(self.recording.keys) } else { key }
    }

    /// No two sessions have one value in common.
    fn new_value(&mut self) -> i64 {
        self.values += 1;
        (self.values - 1) * self.recording.sessions as i64 + self.number as i64 + 1
    }

    fn value(&self, outcome: &Outcome) -> Option<i64> {
        let rows = self.dialect.values(outcome.rows()?);
        match rows.first()?.first()? {
            Value::Number(number) => number.as_str().parse().ok(),
            _ => None,
        }
    }

    fn commit(&mut self) -> Result<Status, EngineError> {
        let outcome = self.execute("COMMIT")?;
        let refused = outcome.tag().is_some_and(|tag| tag.eq_ignore_ascii_case("ROLLBACK"));
        match outcome.error_class() {
            _ if outcome.status == TxStatus::Lost => Ok(Status::Unknown),
            None => Ok(if refused { Status::Aborted } else { Status::Committed }),
            // It may have been too late to cancel it.
            Some(ErrorClass::Cancelled) if outcome.status == TxStatus::Idle => Ok(Status::Unknown),
            Some(_) => self.roll_back(outcome.status),
        }
    }

    /// Ends a transaction that failed, unless the server has done so.
    fn roll_back(&mut self, status: TxStatus) -> Result<Status, EngineError> {
        if matches!(status, TxStatus::Open | TxStatus::Failed) {
            self.execute("ROLLBACK")?;
        }
        Ok(Status::Aborted)
    }

    fn execute(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        let set = |since| *self.busy.lock().unwrap_or_else(PoisonError::into_inner) = since;
        set(Some(Instant::now()));
        let outcome = self.session.execute(sql);
        set(None);
        let outcome = outcome?;
        self.is_lost |= outcome.status == TxStatus::Lost;
        Ok(outcome)
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }
}

/// All transactions, in the order in which they began.
fn history(mut done: Vec<Done>) -> History {
    done.sort_by_key(|transaction| transaction.began);
    let mut builder = Builder::default();
    for (at, Done { session, status, began, ended, ops }) in done.into_iter().enumerate() {
        // Nobody knows when a transaction of unknown fate took effect.
        let ended = Some(ended).filter(|_| status != Status::Unknown);
        builder.begin(Head { session, status, began: Some(began), ended, line: at as u32 + 1 });
        for op in ops {
            let (Access::Write(key, _) | Access::Read(key, _) | Access::Unread(key)) = op;
            let key = builder.key(&key.to_string());
            let op = match op {
                Access::Write(_, value) => Op::Write(key, Scalar(value)),
                Access::Read(_, Some(0)) => Op::Read(key, None),
                Access::Read(_, Some(value)) => Op::Read(key, Some(Scalar(value))),
                Access::Read(_, None) => Op::Read(key, Some(builder.text("no row"))),
                Access::Unread(_) => Op::Unread(key),
            };
            builder.push(op);
        }
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::{self, Target};
    use txloom_core::history::check::check;
    use txloom_core::level::formal::{Level, Requirement};

    #[test]
    fn what_is_recorded_keeps_the_level() {
        let mut engine = engines::open(&Target::parse("model").unwrap()).unwrap();
        for (level, holds) in [("serializable", Level::Serializable), ("read committed", Level::ReadCommitted)] {
            let level = LevelName::parse(level);
            let recording = Recording { transactions: 60, sessions: 4, keys: 6, ops: 4, level, ..Recording::default() };
            let history = recording.record(engine.as_mut()).unwrap();
            let committed = history.transactions().filter(|(_, t)| t.status == Status::Committed).count();
            assert_eq!(committed, 60);
            assert!(check(&history, Requirement::from(holds)).unwrap().holds(), "{holds}");
        }
    }

    #[test]
    fn most_writes_are_blind() {
        let mut engine = engines::open(&Target::parse("model").unwrap()).unwrap();
        let recording = Recording { transactions: 100, sessions: 1, ..Recording::default() };
        let history = recording.record(engine.as_mut()).unwrap();
        let (mut blind, mut writes) = (0, 0);
        for (id, _) in history.transactions() {
            let ops = history.ops(id);
            for (at, op) in ops.iter().enumerate().filter(|(_, op)| matches!(op, Op::Write(..))) {
                writes += 1;
                blind +=
                    usize::from(!ops[..at].iter().any(|read| matches!(read, Op::Read(..)) && read.key() == op.key()));
            }
        }
        assert!(writes > 300 && blind * 2 > writes && blind < writes, "{blind} of {writes} writes are blind");
    }
}
