//! Statements that read or change rows.

use std::collections::BTreeSet;

use txloom_core::engine::SessionId;
use txloom_core::outcome::{DbError, ErrorClass};
use txloom_core::sql::tokens;

use super::capture::{self, Log};
use super::changes::exists;
use super::errors::{serialization_failure, syntax, unsupported};
use super::locks::{LockKey, LockMode, Wanted};
use super::request::{LockRows, Request};
use super::schema::{Identity, RowKind, Table};
use super::store::Database;
use super::transaction::Level;
use super::world::{Attempt, World, answer_of, transaction};
use crate::engines::embedded::admit::replaces;
use crate::engines::embedded::run::{Answer, ask};

impl World {
    /// Executes a statement within the session's transaction, or as a transaction of its own.
    pub(super) fn attempt_rows(&mut self, who: SessionId, request: &Request<'_>) -> rusqlite::Result<Attempt> {
        if !self.is_open(who) {
            self.begin(who, false);
        }
        let answer = match self.attempt_within(who, request)? {
            Attempt::Answer(answer) => answer,
            Attempt::Wait(holders) => {
                transaction(&mut self.sessions, who).waits_for.extend(&holders);
                return Ok(Attempt::Wait(holders));
            }
        };
        let ends_here = self.is_open(who) && !transaction(&mut self.sessions, who).explicit;
        // A statement that failed may have kept a part of its changes (INSERT OR FAIL), so it commits, too.
        let committed = if ends_here { self.commit(who)? } else { Ok(()) };
        Ok(Attempt::Answer(answer.and_then(|result| committed.map(|()| result))))
    }

    fn attempt_within(&mut self, who: SessionId, request: &Request<'_>) -> rusqlite::Result<Attempt> {
        let current = transaction(&mut self.sessions, who);
        let base = current.look(&mut self.store)?;
        let sql = match request {
            Request::LockRows(rows) => return self.lock_rows(who, base, rows),
            Request::Run(sql) => sql,
            other => unreachable!("{other:?} does not concern rows"),
        };
        let read_only = match current.view(&self.store).prepare(sql).map(|statement| statement.readonly()) {
            Ok(read_only) => read_only,
            Err(error) => {
                let answer = answer_of(error)?;
                current.remember(sql, &answer, false);
                return Ok(Attempt::Answer(answer));
            }
        };
        if read_only { self.read(who, sql).map(Attempt::Answer) } else { self.write(who, base, sql) }
    }

    /// Readers lock nothing and never wait.
    fn read(&mut self, who: SessionId, sql: &str) -> rusqlite::Result<Answer> {
        let view = transaction(&mut self.sessions, who).view(&self.store);
        let mut answer = self.tools.interrupt.listening(|| ask(view, sql))?;
        if let Some(view) = self.wrong_view(who)? {
            let right = answer;
            answer = self.tools.interrupt.listening(|| ask(&view.connection, sql))?;
            self.store.give_back(view)?;
            transaction(&mut self.sessions, who).misled |= answer != right;
        }
        transaction(&mut self.sessions, who).remember(sql, &answer, false);
        Ok(answer)
    }

    /// Executes the statement on the private copy, then asks for the locks of what it touched. If somebody is in the
    /// way, the statement is undone and has to wait.
    fn write(&mut self, who: SessionId, base: u64, sql: &str) -> rusqlite::Result<Attempt> {
        if self.store.version(base).schema.has_triggers && replaces(sql) {
            return Ok(Attempt::Answer(Err(unsupported("REPLACE in a schema with triggers"))));
        }
        let sql = &self.as_executed(who, base, sql)?;
        let private = transaction(&mut self.sessions, who).private(&mut self.store)?;
        let answer = private.begin_statement(sql, &self.tools.interrupt)?;
        if private.is_lost() {
            self.roll_back(who)?;
            return Ok(Attempt::Answer(answer));
        }
        let log = private.log()?;
        let last_insert_rowid = private.database.connection.last_insert_rowid();
        let wanted = log.wanted_locks(self.store.version(base))?;
        let moved = self.moved_keys(base, sql, &log);
        if self.comes_too_late(who, base, &wanted) {
            return self.fail(who, "a row that is to be changed has been changed since the snapshot");
        }
        let mut blockers = self.locks.blockers(who, &wanted);
        if matches!(&answer, Err(error) if error.class == ErrorClass::Unique) {
            blockers.extend(self.who_could_lift(who, sql)?);
        }
        let current = transaction(&mut self.sessions, who);
        let private = current.private(&mut self.store)?;
        if !blockers.is_empty() {
            private.undo_statement()?;
            return Ok(Attempt::Wait(blockers));
        }
        private.keep_statement()?;
        let inserts = !log.new_rows.is_empty() && is_insert(sql);
        private.touched.extend(log.old_rows.into_iter().chain(log.new_rows));
        current.moved.extend(moved);
        current.written.extend(wanted.keys().filter(|key| **key != LockKey::Schema).cloned());
        current.remember(sql, &answer, inserts);
        self.locks.acquire(who, wanted);
        let session = self.session(who);
        session.registers = session.registers.after(&answer, inserts.then_some(last_insert_rowid));
        Ok(Attempt::Answer(answer))
    }

    /// First updater wins: whether somebody else has changed, since the snapshot, what is to be locked now.
    fn comes_too_late(&mut self, who: SessionId, base: u64, wanted: &Wanted) -> bool {
        let current = transaction(&mut self.sessions, who);
        let late = current.level != Level::ReadCommitted && self.locks.changed_after(wanted.keys(), base).is_some();
        // With the rule switched off, the transaction overwrites what it has not seen.
        current.misled |= late && !self.rules.first_updater_wins;
        late && self.rules.first_updater_wins
    }

    /// A unique key is violated by a committed row. If an open transaction has changed that row, the violation may go
    /// away when it commits: whoever could do that is waited for. (Only at read committed; a snapshot does not change.)
    fn who_could_lift(&mut self, who: SessionId, sql: &str) -> rusqlite::Result<BTreeSet<SessionId>> {
        let current = transaction(&mut self.sessions, who);
        if current.level != Level::ReadCommitted {
            return Ok(BTreeSet::new());
        }
        let own = current.changes(&self.store)?;
        let mut who_could = BTreeSet::new();
        for (other, session) in self.sessions.iter().filter(|(other, _)| **other != who) {
            let Some(transaction) = &session.transaction else { continue };
            let theirs = transaction.changes(&self.store)?;
            if theirs.is_empty() {
                continue;
            }
            let copy = self.store.copy(self.store.newest())?;
            if theirs.apply(&copy).and_then(|_| own.apply(&copy)).is_ok() {
                let answer = self.tools.interrupt.listening(|| ask(&copy.connection, sql))?;
                if !matches!(answer, Err(error) if error.class == ErrorClass::Unique) {
                    who_could.insert(*other);
                }
            }
            self.store.give_back(copy)?;
        }
        Ok(who_could)
    }

    /// `SELECT … FOR UPDATE`: reads, and locks the rows that it read, as far as they are committed ones.
    fn lock_rows(&mut self, who: SessionId, base: u64, rows: &LockRows) -> rusqlite::Result<Attempt> {
        let view = transaction(&mut self.sessions, who).view(&self.store);
        let answer = self.tools.interrupt.listening(|| ask(view, &rows.query))?;
        let version = self.store.version(base);
        let wanted = match (&answer, version.schema.table(&rows.table)) {
            (Err(_), _) => Wanted::new(),
            (Ok(_), None) => {
                return Ok(Attempt::Answer(Err(syntax("FOR UPDATE and FOR SHARE need a table, not a view"))));
            }
            (Ok(_), Some(table)) => match selected(view, table, rows)? {
                Ok(identities) => locks_of_rows(version, table, identities, rows.mode)?,
                Err(error) => return Ok(Attempt::Answer(Err(error))),
            },
        };
        if self.comes_too_late(who, base, &wanted) {
            return self.fail(who, "a row that is to be locked has been changed since the snapshot");
        }
        let blockers = self.locks.blockers(who, &wanted);
        if !blockers.is_empty() {
            return Ok(Attempt::Wait(blockers));
        }
        self.locks.acquire(who, wanted);
        transaction(&mut self.sessions, who).remember(&rows.query, &answer, false);
        Ok(Attempt::Answer(answer))
    }

    /// Rolls the transaction back with a serialization failure.
    fn fail(&mut self, who: SessionId, reason: &str) -> rusqlite::Result<Attempt> {
        self.end_by_conflict(who)?;
        Ok(Attempt::Answer(Err(serialization_failure(reason))))
    }
}

impl Log {
    /// The locks that the logged changes need. `base` is the version that they were made to: a row under a hidden rowid
    /// that is not in it is the transaction's own, and nobody else can know it.
    pub(super) fn wanted_locks(&self, base: &Database) -> rusqlite::Result<Wanted> {
        let keys = self.old_keys.iter().chain(&self.new_keys);
        let mut wanted: Wanted = keys.map(|key| (key.clone(), LockMode::Exclusive)).collect();
        for (name, identity) in self.old_rows.iter().chain(&self.new_rows) {
            let Some(table) = base.schema.table(name) else { continue };
            if !matches!(table.row, RowKind::Hidden(_)) || exists(&base.connection, table, identity)? {
                wanted.insert(table.row_key(identity), LockMode::Exclusive);
            }
        }
        if !self.old_rows.is_empty() || !self.new_rows.is_empty() {
            wanted.insert(LockKey::Schema, LockMode::Shared);
        }
        Ok(wanted)
    }
}

/// Whether the statement sets `last_insert_rowid()`, if it inserts anything.
fn is_insert(sql: &str) -> bool {
    match tokens(sql).as_slice() {
        [first, ..] if first.is_word("INSERT") || first.is_word("REPLACE") => true,
        [first, rest @ ..] => first.is_word("WITH") && rest.iter().any(|token| token.is_word("INSERT")),
        [] => false,
    }
}

/// The identities of the rows that a locking query selects.
fn selected(
    view: &rusqlite::Connection,
    table: &Table,
    rows: &LockRows,
) -> rusqlite::Result<Result<Vec<Identity>, DbError>> {
    let sql = format!("SELECT {} {}", table.identity_sql(""), rows.source);
    let read = || -> rusqlite::Result<Vec<Identity>> {
        view.prepare(&sql)?.query_map([], |row| Ok(capture::identity(row.get_ref(0)?)))?.collect()
    };
    match read() {
        Ok(identities) => Ok(Ok(identities)),
        Err(error) => answer_of(error),
    }
}

fn locks_of_rows(
    base: &Database,
    table: &Table,
    identities: Vec<Identity>,
    mode: LockMode,
) -> rusqlite::Result<Wanted> {
    let mut wanted = Wanted::from([(LockKey::Schema, LockMode::Shared)]);
    for identity in identities {
        if exists(&base.connection, table, &identity)? {
            wanted.insert(table.row_key(&identity), mode);
        }
    }
    Ok(wanted)
}
