//! A session that passes its statements through the planted bugs.

use std::sync::Arc;

use txloom_core::dialect::Dialect;
use txloom_core::engine::{Cancel, EngineError, Session, SessionId};
use txloom_core::outcome::{DbError, ErrorClass, Outcome, TxStatus};
use txloom_core::sql::StatementKind;
use txloom_core::sql::write::{Verb, Write};

use super::Defect;
use super::world::World;

pub(super) struct PlantedSession {
    id: SessionId,
    inner: Box<dyn Session>,
    dialect: &'static dyn Dialect,
    defects: Arc<[&'static dyn Defect]>,
    world: Arc<World>,
    transaction: Transaction,
}

/// What a session did in its current transaction.
#[derive(Debug, Default)]
pub(super) struct Transaction {
    open: bool,
    /// The writes that succeeded, with their tables.
    writes: Vec<(Verb, String)>,
}

/// What a bug may look at: how things stood when the statement arrived.
pub(super) struct View<'a> {
    pub(super) dialect: &'static dyn Dialect,
    pub(super) world: &'a World,
    pub(super) transaction: &'a Transaction,
    /// Whether another session has a transaction open.
    pub(super) other_open: bool,
}

/// What lies below a bug: the other bugs, then the engine's own session.
pub(super) struct Below<'a> {
    inner: &'a mut dyn Session,
    rest: &'a [&'static dyn Defect],
    view: &'a View<'a>,
}

impl PlantedSession {
    pub(super) fn new(
        id: SessionId,
        inner: Box<dyn Session>,
        dialect: &'static dyn Dialect,
        defects: Arc<[&'static dyn Defect]>,
        world: Arc<World>,
    ) -> PlantedSession {
        PlantedSession { id, inner, dialect, defects, world, transaction: Transaction::default() }
    }
}

impl Session for PlantedSession {
    fn execute(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        if self.world.death().is_some() {
            return Ok(lost());
        }
        let view = View {
            dialect: self.dialect,
            world: &self.world,
            transaction: &self.transaction,
            other_open: self.world.is_other_open(self.id),
        };
        let outcome = Below { inner: self.inner.as_mut(), rest: &self.defects, view: &view }.execute(sql)?;
        if self.world.death().is_some() {
            // It died while this statement was executed.
            return Ok(lost());
        }
        self.transaction.note(sql, &outcome);
        self.world.note(self.id, outcome.status);
        Ok(outcome)
    }

    fn canceller(&self) -> Box<dyn Cancel> {
        self.inner.canceller()
    }
}

impl Drop for PlantedSession {
    fn drop(&mut self) {
        self.world.leave(self.id);
    }
}

impl Below<'_> {
    /// Executes a statement, through the bugs that come next.
    pub(super) fn execute(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        match self.rest.split_first() {
            None => self.inner.execute(sql),
            Some((first, rest)) => {
                first.execute(sql, self.view, &mut Below { inner: &mut *self.inner, rest, view: self.view })
            }
        }
    }

    /// Executes a statement of the bug's own; nobody else sees it.
    pub(super) fn execute_hidden(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        self.inner.execute(sql)
    }
}

impl Transaction {
    /// Whether a transaction is open and has not failed.
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// Whether the transaction has written anything.
    pub(super) fn has_written(&self) -> bool {
        !self.writes.is_empty()
    }

    /// Whether the transaction has done that to the table.
    pub(super) fn has_done(&self, verb: Verb, table: &str) -> bool {
        self.writes.iter().any(|(done, where_to)| *done == verb && where_to == table)
    }

    /// A statement has been executed.
    fn note(&mut self, sql: &str, outcome: &Outcome) {
        self.open = outcome.status == TxStatus::Open;
        let boundary = [StatementKind::Begin, StatementKind::Commit, StatementKind::Rollback];
        if !self.open || boundary.contains(&StatementKind::of(sql)) {
            self.writes.clear();
        } else if let Some(write) = Write::read(sql).filter(|_| outcome.error.is_none()) {
            self.writes.push((write.verb, write.table));
        }
    }
}

/// The answer of a server that is gone.
pub(super) fn lost() -> Outcome {
    let message = "the server closed the connection".to_string();
    let error =
        DbError { class: ErrorClass::ConnectionLost, code: "08006".to_string(), native: None, message, detail: None };
    Outcome::failed(error, TxStatus::Lost)
}
