//! One session of a valid workload.

use std::sync::Arc;

use txloom_core::history::Status;
use txloom_core::outcome::ErrorClass;
use txloom_core::shadow::fill::{Filled, Filler};
use txloom_core::shadow::measure::OperationKind;
use txloom_core::shadow::predicate::Wanted;
use txloom_core::shadow::template::Place;
use txloom_core::value::Value;

use super::super::super::log::{Item, Log, Seen};
use super::super::super::validity::Validity;
use super::super::{Answer, Next, Transactions, Versions, whole};
use super::Plan;
use super::missing;

/// A session.
pub(in crate::storm) struct Session {
    plan: Arc<Plan>,
    filler: Filler,
    versions: Versions,
    /// Which template is running, and where.
    code: usize,
    place: Place,
    /// The operation that is being executed, and the version that it writes.
    filled: Filled,
    version: i64,
    statement: String,
    /// Whether the last version that was read is even.
    is_even: bool,
    counted: Validity,
}

impl Session {
    pub(super) fn new(plan: Arc<Plan>, session: usize, sessions: usize) -> Session {
        Session {
            filler: Filler::new(&plan.samplers, session as u64, plan.conversion, Wanted::default()),
            versions: Versions::of(session, sessions),
            code: 0,
            place: Place::default(),
            filled: Filled::default(),
            version: 0,
            statement: String::new(),
            is_even: true,
            counted: Validity::new(&plan.shadow),
            plan,
        }
    }

    /// The next statement, in a buffer that is used again; `None` at the end of the transaction.
    pub(in crate::storm) fn next_statement(&mut self) -> Option<&str> {
        let Session { plan, filler, place, filled, .. } = self;
        loop {
            let random = filler.random();
            let draw = |least: usize, most: usize| random.between(least as i64, most as i64) as usize;
            let operation = plan.codes[self.code].next(place, self.is_even, draw)?;
            match filler.fill(&plan.shadow, operation, filled) {
                Ok(()) => break,
                // No key could be had: an operation that touched nothing.
                Err(_) => self.counted.alphas.of_mut(operation.kind()).invalid += 1,
            }
        }
        self.counted.count_access(&plan.shadow, filled);
        let is_write = !matches!(filled.kind, Some(OperationKind::ItemRead | OperationKind::PredicateRead));
        self.version = if is_write { self.versions.take() } else { 0 };
        self.statement.clear();
        plan.sql.write(&plan.shadow, filled, self.version, &mut self.statement);
        Some(&self.statement)
    }

    fn item(&self) -> Item {
        Item { table: self.filled.table as u32, key: self.filled.key.map_or(0, |key| key.number) as i64 }
    }

    /// Logs the rows of a predicate-read; returns how many there were.
    fn log_rows(&self, rows: &[Vec<Value>], log: &mut Log) -> usize {
        let table = self.filled.table;
        let columns = self.plan.shadow.tables()[table].key();
        let mut found = Vec::new();
        for row in rows {
            let Some((version, key)) = row.split_last() else { continue };
            if let Some(key) = columns.number(key) {
                found.push(key);
                log.read(Item { table: table as u32, key: key as i64 }, Seen::of(whole(version), version));
            }
        }
        if let Some(condition) = &self.filled.condition {
            for key in missing::keys(&self.plan.shadow.tables()[table], &condition.predicate, &mut found) {
                log.read(Item { table: table as u32, key: key as i64 }, Seen::NoRow);
            }
        }
        rows.len()
    }

    /// Counts and logs an answer that is no error; tells whether the operation touched a row.
    fn take_in(&mut self, kind: OperationKind, answer: &Answer<'_>, log: &mut Log) -> bool {
        let item = self.item();
        match kind {
            OperationKind::ItemRead => {
                let rows = answer.rows();
                let value = rows.first().and_then(|row| row.first());
                let version = value.and_then(whole);
                self.is_even = version.is_none_or(|version| version % 2 == 0);
                match value {
                    Some(value) => log.read(item, Seen::of(version, value)),
                    None if self.is_static() => log.read(item, Seen::NoRow),
                    None => {}
                }
                value.is_some()
            }
            OperationKind::PredicateRead => {
                let rows = self.log_rows(&answer.rows(), log);
                let all = self.plan.shadow.tables()[self.filled.table].keys().count_at_start();
                self.counted.count_share(rows as f64 / all.max(1) as f64);
                rows > 0
            }
            _ if answer.changed_nothing() => {
                if self.is_static() {
                    log.read(item, Seen::NoRow);
                }
                false
            }
            OperationKind::Delete => {
                log.delete(item, self.version);
                true
            }
            OperationKind::Insert | OperationKind::Update => {
                log.write(item, self.version);
                true
            }
        }
    }

    fn is_static(&self) -> bool {
        self.filled.key.is_some_and(|key| matches!(key.slot, txloom_core::shadow::keys::Slot::Static(_)))
    }

    /// An operation failed: was it concurrency control, or was the operation wrong?
    fn count_error(&mut self, kind: OperationKind, class: ErrorClass) {
        let counts = self.counted.alphas.of_mut(kind);
        let is_refused = class.is_concurrency()
            || matches!(class, ErrorClass::Cancelled | ErrorClass::ConnectionLost | ErrorClass::TransactionAborted);
        *(if is_refused { &mut counts.refused } else { &mut counts.invalid }) += 1;
    }

    /// Operations that are left out since the transaction ended before.
    fn count_rest(&mut self) {
        for operation in self.plan.codes[self.code].rest(&self.place) {
            self.counted.alphas.of_mut(operation.kind()).skipped += 1;
        }
    }
}

impl Transactions for Session {
    fn begin(&mut self) {
        self.code = self.filler.random().weighted(&self.plan.weights).unwrap_or(0);
        self.place.rewind();
        self.is_even = true;
        // Before the database takes the transaction's snapshot.
        let snapshot = self.plan.shadow.snapshot();
        self.filler.instance().begin(snapshot);
    }

    fn next(&mut self) -> Next {
        match self.next_statement() {
            Some(statement) => Next::Execute(statement.to_string()),
            None => Next::Commit,
        }
    }

    fn answered(&mut self, answer: &Answer<'_>, log: &mut Log) {
        let Some(kind) = self.filled.kind else { return };
        let Some(class) = answer.outcome.error_class() else {
            let is_valid = self.take_in(kind, answer, log);
            let counts = self.counted.alphas.of_mut(kind);
            *(if is_valid { &mut counts.valid } else { &mut counts.invalid }) += 1;
            return;
        };
        // It would have been written; should somebody see it, it is known whose it is.
        if matches!(kind, OperationKind::Insert | OperationKind::Update) {
            log.write(self.item(), self.version);
        }
        self.count_error(kind, class);
        self.count_rest();
    }

    fn savepoint(&mut self) {
        self.filler.instance().set_savepoint();
    }

    fn rolled_back_to_savepoint(&mut self) {
        self.filler.instance().roll_back_to_savepoint(&self.plan.shadow);
    }

    fn ended(&mut self, status: Status) {
        let instance = self.filler.instance();
        match status {
            Status::Committed => drop(instance.commit(&self.plan.shadow)),
            Status::Aborted => instance.abort(&self.plan.shadow),
            // What became of its rows is found out when everything is read.
            Status::Unknown => drop(instance.abandon(&self.plan.shadow)),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.plan.hand_in(&self.counted);
    }
}
