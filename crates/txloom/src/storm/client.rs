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

use super::choice::{Choice, Choices, ROLL_BACK_TO, SET_SAVEPOINT};
use super::environment::is_environment;
use super::log::{Done, Log, LogMark};
use super::recording::Recording;
use super::shared::{Leave, Shared, Tally};
use super::workload::{Answer, Next, Transactions};

/// What a client tells the storm.
pub(super) enum Message {
    /// Its connection is gone; it wants another one.
    Lost {
        /// The client.
        number: usize,
        /// What it has done so far.
        done: Recording,
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
        done: Recording,
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
    /// Which transactions roll back although nothing failed.
    pub(super) choices: Choices,
    /// The number under which what it rolls back to savepoints is written down.
    pub(super) undone_session: u32,
    pub(super) tell: Sender<Message>,
    /// Where new connections come from.
    pub(super) connections: Receiver<Box<dyn Session>>,
    pub(super) tally: Tally,
    pub(super) done: Recording,
    /// How many calls back the present connection comes after.
    pub(super) calls_known: u64,
}

/// A transaction that has not ended.
#[derive(Default)]
struct Open {
    log: Log,
    choice: Choice,
    /// Whether BEGIN was sent.
    has_begun: bool,
    /// How many statements of the workload were sent.
    statements: usize,
    /// The log when the savepoint was set, while it is to be rolled back to.
    savepoint: Option<LogMark>,
    /// What was rolled back to the savepoint, and when.
    undone: Option<(Log, u64)>,
}

/// How a transaction ended, and why.
struct End {
    status: Status,
    /// The error that made it roll back, or that leaves its fate unknown.
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
        let (faults, began, start) = (self.shared.faults(), self.shared.tick(), Instant::now());
        let mut open = Open { choice: self.choices.next(), ..Open::default() };
        let end = self.statements(&mut open)?;
        let ended = self.shared.tick();
        self.transactions.ended(end.status);
        self.count(&end, start, self.shared.is_disturbed(faults));
        if self.is_recording {
            let (session, status, (accesses, operations)) = (self.number as u32, end.status, open.log.take());
            self.done.push(&Done { session, status, began, ended, accesses, operations });
            if let Some((log, ended)) = open.undone.filter(|(log, _)| !log.is_empty()) {
                let (session, (accesses, operations)) = (self.undone_session, log.take());
                self.done.push(&Done { session, status: Status::Aborted, began, ended, accesses, operations });
            }
        }
        Ok(end)
    }

    /// From BEGIN to the end. BEGIN goes out with the first statement.
    fn statements(&mut self, open: &mut Open) -> Result<End, EngineError> {
        self.transactions.begin();
        loop {
            if open.choice.undone.is_some_and(|undone| undone.first == open.statements)
                && open.undone.is_none()
                && let Some(end) = self.set_savepoint(open)?
            {
                return Ok(end);
            }
            let is_undone = open.choice.undone.is_some_and(|undone| undone.end == open.statements);
            let next = if is_undone && open.savepoint.is_some() { Next::Commit } else { self.transactions.next() };
            match next {
                Next::Execute(sql) => {
                    if let Some(end) = self.statement(&sql, open)? {
                        return Ok(end);
                    }
                }
                // It has reached its end, or as many statements as it was to undo.
                Next::Commit if open.savepoint.is_some() => {
                    if let Some(end) = self.roll_back_to_savepoint(open)? {
                        return Ok(end);
                    }
                }
                Next::Commit if open.has_begun && open.choice.rolls_back => {
                    return self.roll_back(None, TxStatus::Open);
                }
                Next::Commit if open.has_begun => return self.commit(),
                Next::RollBack if open.has_begun => return self.roll_back(None, TxStatus::Open),
                Next::Commit => return Ok(End { status: Status::Committed, class: None, is_lost: false }),
                Next::RollBack => return Ok(End { status: Status::Aborted, class: None, is_lost: false }),
            }
        }
    }

    /// Executes a statement of the workload; says how the transaction ended if that made it end.
    fn statement(&mut self, sql: &str, open: &mut Open) -> Result<Option<End>, EngineError> {
        let outcome = self.within(sql, open)?;
        open.statements += 1;
        self.tally.statements += 1;
        self.transactions.answered(&Answer { dialect: self.dialect, outcome: &outcome }, &mut open.log);
        open.log.end_operation();
        self.end_of(&outcome)
    }

    fn set_savepoint(&mut self, open: &mut Open) -> Result<Option<End>, EngineError> {
        if open.savepoint.is_some() {
            return Ok(None);
        }
        let outcome = self.within(SET_SAVEPOINT, open)?;
        open.savepoint = Some(open.log.mark());
        self.transactions.savepoint();
        self.end_of(&outcome)
    }

    fn roll_back_to_savepoint(&mut self, open: &mut Open) -> Result<Option<End>, EngineError> {
        let outcome = self.within(ROLL_BACK_TO, open)?;
        if let Some(mark) = open.savepoint.take()
            && outcome.error.is_none()
        {
            open.undone = Some((open.log.undo(mark), self.shared.tick()));
            self.transactions.rolled_back_to_savepoint();
            self.tally.to_savepoint += 1;
        }
        self.end_of(&outcome)
    }

    /// Executes a statement within the transaction, after BEGIN if it is the first.
    fn within(&mut self, sql: &str, open: &mut Open) -> Result<Outcome, EngineError> {
        let begin = (!std::mem::replace(&mut open.has_begun, true)).then(|| self.dialect.begin());
        self.execute(begin, sql)
    }

    /// A statement that failed ends its transaction.
    fn end_of(&mut self, outcome: &Outcome) -> Result<Option<End>, EngineError> {
        match outcome.error {
            None => Ok(None),
            Some(_) => self.roll_back(outcome.error_class(), outcome.status).map(Some),
        }
    }

    fn commit(&mut self) -> Result<End, EngineError> {
        let outcome = self.execute(None, "COMMIT")?;
        let is_lost = outcome.status == TxStatus::Lost;
        let is_refused = outcome.tag().is_some_and(|tag| tag.eq_ignore_ascii_case("ROLLBACK"));
        let (status, class) = match outcome.error_class() {
            None if is_refused => (Status::Aborted, Some(ErrorClass::TransactionAborted)),
            None => (Status::Committed, None),
            class if is_lost => (Status::Unknown, class),
            // It may have been too late to cancel it.
            class @ Some(ErrorClass::Cancelled) if outcome.status == TxStatus::Idle => (Status::Unknown, class),
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

    /// Counts a transaction; `is_disturbed` says that there was an injected fault while it was open.
    fn count(&mut self, end: &End, start: Instant, is_disturbed: bool) {
        if self.share == Share::One {
            return;
        }
        match end.class.filter(|class| is_environment(*class)) {
            None => {}
            Some(_) if is_disturbed => self.tally.injected += 1,
            Some(class) => *self.tally.environment.entry(class).or_default() += 1,
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
