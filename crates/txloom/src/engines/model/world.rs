//! The rules: what a statement does to the store, to the locks and to its transaction.
//!
//! Everything here happens within one turn ([`crate::engines::embedded::turns`]): one statement at a time, so no rule
//! has to think of another one running beside it. A statement that cannot get its locks leaves no trace but its
//! transaction, and asks its session to wait; afterwards it is attempted again, from the beginning.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Error;
use txloom_core::engine::SessionId;
use txloom_core::outcome::{DbError, StatementResult, TxStatus};

use super::errors::{deadlock, unsupported};
use super::locks::LockTable;
use super::request::Request;
use super::rules::Rules;
use super::store::{Store, Tools};
use super::transaction::{Level, Transaction};
use crate::engines::embedded::errors::{cancelled, db_error, out_of_place};
use crate::engines::embedded::registers::Values;
use crate::engines::embedded::run::Answer;

/// The database with its sessions.
pub(super) struct World {
    pub(super) rules: Rules,
    pub(super) tools: Tools,
    pub(super) store: Store,
    pub(super) locks: LockTable,
    pub(super) sessions: Sessions,
}

/// The sessions of a case.
pub(super) type Sessions = BTreeMap<SessionId, SessionState>;

/// What the model knows of a session.
pub(super) struct SessionState {
    level: Level,
    pub(super) transaction: Option<Transaction>,
    pub(super) registers: Values,
}

/// What came of an attempt to execute a statement.
pub(super) enum Attempt {
    /// It is done, well or not.
    Answer(Answer),
    /// It has to wait for these sessions, and changed nothing.
    Wait(BTreeSet<SessionId>),
}

/// The result of a statement that returns nothing.
pub(super) const DONE: StatementResult =
    StatementResult { columns: Vec::new(), rows: Vec::new(), affected: None, tag: None };

impl World {
    pub(super) fn new(rules: Rules, tools: Tools, store: Store) -> World {
        World { rules, tools, store, locks: LockTable::default(), sessions: BTreeMap::new() }
    }

    /// Goes back to the moment after the setup, when all sessions have ended.
    pub(super) fn rewind(&mut self) -> rusqlite::Result<()> {
        self.locks = LockTable::default();
        self.store.rewind()
    }

    /// A session begins.
    pub(super) fn join(&mut self, who: SessionId, level: Level) {
        self.sessions.insert(who, SessionState { level, transaction: None, registers: Values::default() });
    }

    /// A session ends; what it left open is rolled back.
    pub(super) fn leave(&mut self, who: SessionId) -> rusqlite::Result<()> {
        self.roll_back(who)?;
        self.sessions.remove(&who);
        Ok(())
    }

    /// Whether the session is within a transaction.
    pub(super) fn status(&self, who: SessionId) -> TxStatus {
        match self.sessions.get(&who).and_then(|session| session.transaction.as_ref()) {
            Some(transaction) if transaction.explicit => TxStatus::Open,
            _ => TxStatus::Idle,
        }
    }

    /// Whether others may have to wait for this session.
    pub(super) fn holds_locks(&self, who: SessionId) -> bool {
        self.locks.holds_any(who)
    }

    /// Executes a statement, or says for whom it has to wait.
    pub(super) fn attempt(&mut self, who: SessionId, sql: &str) -> rusqlite::Result<Attempt> {
        let registers = self.session(who).registers;
        self.tools.registers.load(registers);
        let request = match Request::read(sql) {
            Ok(request) => request,
            Err(error) => return Ok(Attempt::Answer(Err(error))),
        };
        match request {
            Request::Run(_) | Request::LockRows(_) => self.attempt_rows(who, &request),
            Request::Define(sql) => self.define(who, sql),
            _ => Ok(Attempt::Answer(self.control(who, sql, request)?)),
        }
    }

    /// The statement was cancelled while it waited.
    pub(super) fn give_up(&mut self, who: SessionId) -> rusqlite::Result<DbError> {
        if self.is_open(who) && !transaction(&mut self.sessions, who).explicit {
            self.roll_back(who)?;
        }
        Ok(cancelled())
    }

    /// The statement would have waited for ever.
    pub(super) fn break_deadlock(&mut self, who: SessionId) -> rusqlite::Result<DbError> {
        self.end_by_conflict(who)?;
        Ok(deadlock())
    }

    /// A conflict with others ends the transaction; what the session does next is not part of it.
    pub(super) fn end_by_conflict(&mut self, who: SessionId) -> rusqlite::Result<()> {
        let within = self.status(who) == TxStatus::Open;
        self.roll_back(who)?;
        if within && !self.rules.conflict_ends_transaction {
            self.begin(who, true);
        }
        Ok(())
    }

    pub(super) fn session(&mut self, who: SessionId) -> &mut SessionState {
        self.sessions.get_mut(&who).expect("a session executes only between join and leave")
    }

    /// Whether the session has a transaction, be it only for one statement.
    pub(super) fn is_open(&self, who: SessionId) -> bool {
        self.sessions.get(&who).is_some_and(|session| session.transaction.is_some())
    }

    /// BEGIN, COMMIT, ROLLBACK and savepoints.
    fn control(&mut self, who: SessionId, sql: &str, request: Request<'_>) -> rusqlite::Result<Answer> {
        // SQLite knows best whether the statement is well formed; executing it is our business.
        if let Err(error) = self.store.version(self.store.newest()).connection.prepare(sql) {
            return answer_of(error);
        }
        let open = self.is_open(who);
        let answer = match request {
            Request::Begin if open => Err(out_of_place("cannot start a transaction within a transaction")),
            Request::Begin => {
                self.begin(who, true);
                Ok(())
            }
            Request::Commit if open => self.commit(who)?,
            Request::Rollback if open => {
                self.leave_row(who)?;
                self.roll_back(who)?;
                Ok(())
            }
            Request::Commit => Err(out_of_place("cannot commit - no transaction is active")),
            Request::Rollback => Err(out_of_place("cannot rollback - no transaction is active")),
            _ => self.savepoint(who, sql, request)?,
        };
        Ok(answer.map(|()| DONE))
    }

    fn savepoint(&mut self, who: SessionId, sql: &str, request: Request<'_>) -> rusqlite::Result<Result<(), DbError>> {
        if !self.is_open(who) {
            return Ok(Err(unsupported("savepoints outside a transaction (send BEGIN first)")));
        }
        let World { store, sessions, .. } = self;
        let transaction = transaction(sessions, who);
        transaction.look(store)?;
        let answer = match request {
            Request::Savepoint(name) => {
                transaction.set_savepoint(store, name)?;
                Ok(())
            }
            Request::Release(name) => transaction.release(&name),
            Request::RollbackTo(name) => transaction.rollback_to(store, &name)?,
            other => unreachable!("{other:?} is no matter of savepoints"),
        };
        transaction.remember(sql, &answer.clone().map(|()| DONE), false);
        Ok(answer)
    }

    pub(super) fn begin(&mut self, who: SessionId, explicit: bool) {
        let session = self.session(who);
        session.transaction = Some(Transaction::new(session.level, explicit, session.registers));
    }

    /// Ends the session's transaction without its effects. Harmless if none is open.
    pub(super) fn roll_back(&mut self, who: SessionId) -> rusqlite::Result<()> {
        match self.sessions.get_mut(&who).and_then(|session| session.transaction.take()) {
            Some(transaction) => {
                self.haunt_others(&transaction)?;
                self.end(who, transaction)
            }
            None => Ok(()),
        }
    }

    /// A transaction is over: its locks, its copy and its version are free.
    pub(super) fn end(&mut self, who: SessionId, mut transaction: Transaction) -> rusqlite::Result<()> {
        transaction.discard_private(&mut self.store)?;
        self.locks.release(who);
        self.forget_versions()
    }

    /// Forgets the versions that no transaction is based on.
    pub(super) fn forget_versions(&mut self) -> rusqlite::Result<()> {
        let open = self.sessions.values().filter_map(|session| session.transaction.as_ref());
        let in_use: BTreeSet<u64> = open.filter_map(Transaction::base).collect();
        self.store.forget_except(&in_use)
    }
}

/// The open transaction of a session that has one.
pub(super) fn transaction(sessions: &mut Sessions, who: SessionId) -> &mut Transaction {
    let open = sessions.get_mut(&who).and_then(|session| session.transaction.as_mut());
    open.expect("a transaction is opened before its statements are executed")
}

/// What SQLite refused to the user is an answer; what it refused to us is not.
pub(super) fn answer_of<T>(error: Error) -> rusqlite::Result<Result<T, DbError>> {
    Ok(Err(db_error(&error).ok_or(error)?))
}
