//! What happens where a rule is switched off: the working side of the planted bugs.
//!
//! The healthy rule asks here what to do otherwise, and is told "nothing" as long as no bug is planted. A transaction
//! that was shown something wrong is `misled`: it is not executed again at COMMIT, since that would only hide the bug.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use txloom_core::engine::SessionId;
use txloom_core::sql::tokens;

use super::aim::{Aim, Hit};
use super::capture::Log;
use super::changes::Changes;
use super::locks::LockKey;
use super::schema::Identity;
use super::store::Database;
use super::transaction::{Level, Transaction};
use super::world::{World, transaction};

impl World {
    /// Whether no other session has a transaction open.
    fn is_alone(&self, who: SessionId) -> bool {
        !self.sessions.iter().any(|(id, session)| *id != who && session.transaction.is_some())
    }

    /// The data that a query sees by mistake; `None` if it sees what it should.
    pub(super) fn wrong_view(&mut self, who: SessionId) -> rusqlite::Result<Option<Database>> {
        let others_may_interfere = !self.is_alone(who);
        let current = transaction(&mut self.sessions, who);
        let newest = self.store.newest();
        let base = current.base().unwrap_or(newest);
        let own = current.changes(&self.store)?;
        let uncommitted = !self.rules.read_committed_only;
        let leaks = !(self.rules.snapshot_keeps_rows && self.rules.snapshot_hides_new_rows)
            && current.level != Level::ReadCommitted
            && base != newest;
        let stale = !self.rules.reads_own_changes && others_may_interfere && !own.is_empty();
        let is_late = !self.rules.snapshot_is_fresh && others_may_interfere && own.is_empty();
        let late = is_late.then(|| self.store.version_before(base)).flatten();
        if !uncommitted && !leaks && !stale && late.is_none() {
            return Ok(None);
        }
        let news = if leaks { self.news_since(base)? } else { Vec::new() };
        let view = self.store.copy(if uncommitted { newest } else { late.unwrap_or(base) })?;
        let mut layers = if uncommitted { self.changes_of_others(who)? } else { news };
        // The session's own changes come last: they win.
        layers.extend((!stale).then_some(own));
        for layer in layers {
            // Changes that do not fit together (a unique value that was used again, a second bug) are left out.
            let _ = layer.apply(&view);
        }
        Ok(Some(view))
    }

    fn changes_of_others(&self, who: SessionId) -> rusqlite::Result<Vec<Changes>> {
        let others = self.sessions.iter().filter(|(id, _)| **id != who);
        others.filter_map(|(_, session)| session.transaction.as_ref()).map(|other| other.changes(&self.store)).collect()
    }

    /// What a snapshot that leaks lets through of later versions.
    fn news_since(&self, base: u64) -> rusqlite::Result<Vec<Changes>> {
        let (earlier, later) = (self.store.version(base), self.store.version(self.store.newest()));
        if !Arc::ptr_eq(&earlier.schema, &later.schema) {
            return Ok(Vec::new());
        }
        let (to_known_rows, new_rows) = Changes::between_versions(earlier, later)?;
        let known = (!self.rules.snapshot_keeps_rows).then_some(to_known_rows);
        let new = (!self.rules.snapshot_hides_new_rows).then_some(new_rows);
        Ok(known.into_iter().chain(new).collect())
    }

    /// The statement as it is executed.
    pub(super) fn as_executed<'a>(
        &mut self,
        who: SessionId,
        base: u64,
        sql: &'a str,
    ) -> rusqlite::Result<Cow<'a, str>> {
        if !self.rules.statement_is_atomic && !self.is_alone(who) {
            return Ok(stopping_half_way(sql));
        }
        Ok(self.misaimed(who, base, sql)?.map_or(Cow::Borrowed(sql), Cow::Owned))
    }

    /// An UPDATE or DELETE, aimed at the rows that it hits by mistake; `None` if it hits what it should.
    fn misaimed(&mut self, who: SessionId, base: u64, sql: &str) -> rusqlite::Result<Option<String>> {
        let current = transaction(&mut self.sessions, who);
        let Some(aim) =
            Aim::read(sql).filter(|_| current.aborted_beside.is_some() || !current.lost_sight_of.is_empty())
        else {
            return Ok(None);
        };
        let schema = Arc::clone(&self.store.version(base).schema);
        let Some(table) = schema.table(&aim.table) else { return Ok(None) };
        let Ok(right) = aim.hits(current.view(&self.store), table) else { return Ok(None) };
        let mut hits = right.clone();
        if let Some(aborted) = &current.aborted_beside {
            let own = current.changes(&self.store)?;
            let view = self.store.copy(base)?;
            if own.apply(&view).and_then(|_| aborted.apply(&view)).is_ok() {
                hits = aim.hits(&view.connection, table)?;
            }
            self.store.give_back(view)?;
        }
        hits.retain(|hit: &Hit| hit.keys.is_disjoint(&current.lost_sight_of));
        let wrong = hits != right;
        current.misled |= wrong;
        Ok(wrong.then(|| aim.at(table, &hits)))
    }

    /// A transaction has been rolled back; those beside it take its changes for real.
    pub(super) fn haunt_others(&mut self, aborted: &Transaction) -> rusqlite::Result<()> {
        if self.rules.aborted_is_forgotten {
            return Ok(());
        }
        let changes = aborted.changes(&self.store)?;
        if !changes.is_empty() {
            for beside in self.sessions.values_mut().filter_map(|session| session.transaction.as_mut()) {
                beside.aborted_beside = Some(changes.clone());
            }
        }
        Ok(())
    }

    /// The old and new keys of the rows that an UPDATE has given another key.
    pub(super) fn moved_keys(&self, base: u64, sql: &str, log: &Log) -> BTreeSet<LockKey> {
        let update = || tokens(sql).first().is_some_and(|token| token.is_word("UPDATE"));
        if self.rules.waiter_follows_keys || !update() {
            return BTreeSet::new();
        }
        let schema = &self.store.version(base).schema;
        let row_key = |(name, identity): &(String, Identity)| Some(schema.table(name)?.row_key(identity));
        let rows = log.old_rows.symmetric_difference(&log.new_rows).filter_map(row_key);
        rows.chain(log.old_keys.symmetric_difference(&log.new_keys).cloned()).collect()
    }

    /// A transaction has committed; who waited for it loses sight of the rows whose keys it changed.
    pub(super) fn hide_moved_rows(&mut self, holder: SessionId, committed: &Transaction) {
        for waiter in self.sessions.values_mut().filter_map(|session| session.transaction.as_mut()) {
            if waiter.waits_for.contains(&holder) {
                waiter.lost_sight_of.extend(committed.moved.iter().cloned());
            }
        }
    }

    /// What ROLLBACK leaves behind.
    pub(super) fn leave_row(&mut self, who: SessionId) -> rusqlite::Result<()> {
        if self.rules.rollback_is_complete || self.is_alone(who) {
            return Ok(());
        }
        let current = transaction(&mut self.sessions, who);
        let written = current.written.clone();
        if let Some(row) = current.changes(&self.store)?.first_row()
            && let Ok(version) = self.store.install(&row, &self.rules)?
        {
            self.locks.note_changed(written, version);
        }
        Ok(())
    }

    /// What COMMIT writes by mistake; `None` if it writes everything.
    pub(super) fn incomplete(&self, who: SessionId, changes: &Changes) -> Option<Changes> {
        (!self.rules.commit_is_complete && !self.is_alone(who)).then(|| changes.without_last_row()).flatten()
    }
}

/// The statement with SQLite's own word for "keep what was done before the error".
fn stopping_half_way(sql: &str) -> Cow<'_, str> {
    match tokens(sql).as_slice() {
        [first, second, ..] if (first.is_word("INSERT") || first.is_word("UPDATE")) && !second.is_word("OR") => {
            let end = first.span.end;
            Cow::Owned(format!("{} OR FAIL{}", &sql[..end], &sql[end..]))
        }
        _ => Cow::Borrowed(sql),
    }
}
