//! One session at work: transactions, one after the other, as fast as the server lets it.
//!
//! What the server answers decides how a transaction ended. An error means rolled back; a connection that was lost while
//! COMMIT was under way means that nobody knows; one that was lost earlier means rolled back, since nobody asked for more.
//!
//! A client whose connection is lost hands over what it has logged, and waits for a new connection or for the end.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Instant;

use txloom_core::dialect::Dialect;
use txloom_core::engine::{EngineError, Session};
use txloom_core::history::Status;
use txloom_core::outcome::{ErrorClass, Outcome, TxStatus};

use super::log::{Done, Log};
use super::shared::{Leave, Shared, Tally};
use super::workload::{Answer, Next, Transactions};

/// What a client tells the storm.
pub(super) enum Message {
    /// Its connection is gone; it wants another one.
    Lost {
        /// The client.
        number: usize,
        /// What it has done so far.
        done: Vec<Done>,
    },
    /// It is over.
    Ended {
        /// The client.
        number: usize,
        /// Whether it could observe everything.
        result: Result<(), EngineError>,
        /// What it did, in numbers.
        tally: Tally,
        /// What it has done since it was last heard of.
        done: Vec<Done>,
    },
}

/// How much a client is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Share {
    /// As much as the budget lets it have.
    OfBudget,
    /// One transaction, whatever the budget says.
    One,
}

/// One session at work.
pub(super) struct Client {
    pub(super) number: usize,
    pub(super) session: Box<dyn Session>,
    pub(super) transactions: Box<dyn Transactions>,
    pub(super) dialect: &'static dyn Dialect,
    pub(super) shared: Arc<Shared>,
    pub(super) share: Share,
    /// Whether what it does is written down.
    pub(super) is_recording: bool,
    pub(super) tell: Sender<Message>,
    /// Where new connections come from.
    pub(super) connections: Receiver<Box<dyn Session>>,
    pub(super) tally: Tally,
    pub(super) done: Vec<Done>,
    /// How many calls back the present connection comes after.
    pub(super) calls_known: u64,
}

/// How a transaction ended, and why.
struct End {
    status: Status,
    /// The error that made it roll back.
    class: Option<ErrorClass>,
    is_lost: bool,
}

impl Client {
    /// Works until there is no more to do. Nobody listens any more if the storm has given up: then it does not matter.
    pub(super) fn run(mut self) {
        let result = self.work();
        let Client { number, session, tell, tally, done, .. } = self;
        drop(session);
        let _ = tell.send(Message::Ended { number, result, tally, done });
    }

    fn work(&mut self) -> Result<(), EngineError> {
        if self.share == Share::One {
            return self.transaction().map(drop);
        }
        loop {
            let is_lost = match self.shared.ask_leave(self.calls_known) {
                Leave::Over => return Ok(()),
                Leave::CalledBack => true,
                Leave::Begin => {
                    let end = self.transaction()?;
                    if end.status == Status::Aborted && self.shared.counts_commits() {
                        self.shared.give_back();
                    }
                    end.is_lost
                }
            };
            if is_lost && !self.reconnect() {
                return Ok(());
            }
        }
    }

    /// Waits for another connection; false if there will be none.
    fn reconnect(&mut self) -> bool {
        let done = std::mem::take(&mut self.done);
        if self.tell.send(Message::Lost { number: self.number, done }).is_err() {
            return false;
        }
        let Ok(session) = self.connections.recv() else { return false };
        self.session = session;
        self.calls_known = self.shared.calls();
        true
    }

    fn transaction(&mut self) -> Result<End, EngineError> {
        let (began, start) = (self.shared.tick(), Instant::now());
        let mut log = Log::default();
        let end = self.statements(&mut log)?;
        let ended = self.shared.tick();
        self.transactions.ended(end.status);
        self.count(&end, start);
        if self.is_recording {
            let (session, status, (accesses, operations)) = (self.number as u32, end.status, log.take());
            self.done.push(Done { session, status, began, ended, accesses, operations });
        }
        Ok(end)
    }

    /// From BEGIN to the end. BEGIN goes out with the first statement.
    fn statements(&mut self, log: &mut Log) -> Result<End, EngineError> {
        self.transactions.begin();
        let mut has_begun = false;
        loop {
            let sql = match self.transactions.next() {
                Next::Execute(sql) => sql,
                Next::Commit if has_begun => return self.commit(),
                Next::RollBack if has_begun => return self.roll_back(None, TxStatus::Open),
                Next::Commit => return Ok(End { status: Status::Committed, class: None, is_lost: false }),
                Next::RollBack => return Ok(End { status: Status::Aborted, class: None, is_lost: false }),
            };
            let begin = (!has_begun).then(|| self.dialect.begin());
            let outcome = self.execute(begin, &sql)?;
            has_begun = true;
            self.tally.statements += 1;
            self.transactions.answered(&Answer { dialect: self.dialect, outcome: &outcome }, log);
            log.end_operation();
            if outcome.error.is_some() {
                return self.roll_back(outcome.error_class(), outcome.status);
            }
        }
    }

    fn commit(&mut self) -> Result<End, EngineError> {
        let outcome = self.execute(None, "COMMIT")?;
        let is_lost = outcome.status == TxStatus::Lost;
        let is_refused = outcome.tag().is_some_and(|tag| tag.eq_ignore_ascii_case("ROLLBACK"));
        let (status, class) = match outcome.error_class() {
            None if is_refused => (Status::Aborted, Some(ErrorClass::TransactionAborted)),
            None => (Status::Committed, None),
            _ if is_lost => (Status::Unknown, None),
            // It may have been too late to cancel it.
            Some(ErrorClass::Cancelled) if outcome.status == TxStatus::Idle => (Status::Unknown, None),
            class => return self.roll_back(class, outcome.status),
        };
        Ok(End { status, class, is_lost })
    }

    /// Ends a transaction that failed, unless the server has done so.
    fn roll_back(&mut self, class: Option<ErrorClass>, status: TxStatus) -> Result<End, EngineError> {
        let status = match status {
            TxStatus::Open | TxStatus::Failed => self.execute(None, "ROLLBACK")?.status,
            ended => ended,
        };
        Ok(End { status: Status::Aborted, class, is_lost: status == TxStatus::Lost })
    }

    fn execute(&mut self, begin: Option<&str>, sql: &str) -> Result<Outcome, EngineError> {
        self.shared.set_busy(self.number, true);
        let outcome = match begin {
            Some(begin) => self.session.begin_with(begin, sql),
            None => self.session.execute(sql),
        };
        self.shared.set_busy(self.number, false);
        outcome
    }

    fn count(&mut self, end: &End, start: Instant) {
        if self.share == Share::One {
            return;
        }
        match end.status {
            Status::Committed => {
                self.tally.committed += 1;
                self.tally.latency.add(start.elapsed());
                self.shared.committed.fetch_add(1, Ordering::Relaxed);
            }
            Status::Unknown => self.tally.unknown += 1,
            Status::Aborted => {
                *self.tally.rolled_back.entry(end.class).or_default() += 1;
                self.shared.rolled_back.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}
