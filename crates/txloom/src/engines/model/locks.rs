//! Locks on rows and keys, and the memory of who changed what when.
//!
//! A lock is held until its transaction ends. A statement gets all the locks that it needs or none: while it waits it
//! holds only what its transaction held before. (Servers that lock row by row hold a part meanwhile, and so know
//! deadlocks between two single statements, which cannot happen here.)
//!
//! * **Nobody waits for ever.** A waiter tries again only when a holder has ended its transaction. There are only so
//!   many transactions in a case, and each ends once; so attempts are bounded, and two waiters cannot keep waking each
//!   other. One that is overtaken waits for the next holder, and again for an end.
//! * **No false deadlocks.** A statement needs all of its locks, so it really waits for each of the holders that it
//!   names, and a cycle of such waits does not resolve itself. The names may be outdated (another one has taken a
//!   further lock meanwhile), but only by being too few: such a cycle is found when the waiter tries again.

use std::collections::{BTreeMap, BTreeSet};

use txloom_core::engine::SessionId;

/// What can be locked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LockKey {
    /// The schema: shared by all who write, exclusive for those who change it.
    Schema,
    /// A value of a key of a table. Key 0 is the row's identity, the others are its unique keys.
    Key {
        /// The table.
        table: String,
        /// Which key.
        key: u32,
        /// The value, as SQL literals.
        value: String,
    },
}

/// How something is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LockMode {
    /// Together with others who share it.
    Shared,
    /// Alone.
    Exclusive,
}

/// The locks that a statement needs.
pub(super) type Wanted = BTreeMap<LockKey, LockMode>;

/// All locks that are held.
#[derive(Debug, Default)]
pub(super) struct LockTable {
    held: BTreeMap<LockKey, BTreeMap<SessionId, LockMode>>,
    /// The version in which each key was last changed.
    changed_in: BTreeMap<LockKey, u64>,
}

impl LockTable {
    /// Who holds one of these locks in a mode that does not go together with the wanted one.
    pub(super) fn blockers(&self, who: SessionId, wanted: &Wanted) -> BTreeSet<SessionId> {
        let mut blockers = BTreeSet::new();
        for (key, mode) in wanted {
            let holders = self.held.get(key).into_iter().flatten();
            let in_the_way = holders.filter(|(holder, held)| {
                **holder != who && (*mode == LockMode::Exclusive || **held == LockMode::Exclusive)
            });
            blockers.extend(in_the_way.map(|(holder, _)| *holder));
        }
        blockers
    }

    /// Takes the locks. Nobody must be in the way.
    pub(super) fn acquire(&mut self, who: SessionId, wanted: Wanted) {
        debug_assert!(self.blockers(who, &wanted).is_empty(), "locks are taken only when nobody is in the way");
        for (key, mode) in wanted {
            let held = self.held.entry(key).or_default().entry(who).or_insert(mode);
            *held = (*held).max(mode);
        }
    }

    /// Releases all locks of a session.
    pub(super) fn release(&mut self, who: SessionId) {
        self.held.retain(|_, holders| {
            holders.remove(&who);
            !holders.is_empty()
        });
    }

    /// Whether the session holds any lock.
    pub(super) fn holds_any(&self, who: SessionId) -> bool {
        self.held.values().any(|holders| holders.contains_key(&who))
    }

    /// Remembers that a version changed these keys.
    pub(super) fn note_changed(&mut self, keys: impl IntoIterator<Item = LockKey>, version: u64) {
        self.changed_in.extend(keys.into_iter().map(|key| (key, version)));
    }

    /// A key among these that a version after `version` has changed.
    pub(super) fn changed_after<'a>(
        &self,
        keys: impl IntoIterator<Item = &'a LockKey>,
        version: u64,
    ) -> Option<&'a LockKey> {
        keys.into_iter().find(|key| self.changed_in.get(key).is_some_and(|changed| *changed > version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: SessionId = SessionId(0);
    const B: SessionId = SessionId(1);
    const C: SessionId = SessionId(2);

    fn key(value: &str) -> LockKey {
        LockKey::Key { table: "t".into(), key: 0, value: value.into() }
    }

    fn want(value: &str, mode: LockMode) -> Wanted {
        [(key(value), mode)].into()
    }

    #[test]
    fn shared_locks_go_together_and_exclusive_ones_do_not() {
        use LockMode::{Exclusive, Shared};
        let mut locks = LockTable::default();
        locks.acquire(A, want("1", Shared));
        locks.acquire(B, want("1", Shared));
        assert!(locks.blockers(C, &want("1", Shared)).is_empty());
        assert_eq!(locks.blockers(C, &want("1", Exclusive)), [A, B].into());
        assert_eq!(locks.blockers(A, &want("1", Exclusive)), [B].into(), "B is in the way of an upgrade");
        locks.release(B);
        locks.acquire(A, want("1", Exclusive));
        locks.acquire(A, want("1", Shared));
        assert_eq!(locks.blockers(C, &want("1", Shared)), [A].into(), "a lock is never weakened");
        assert!(locks.holds_any(A) && !locks.holds_any(B));
        assert!(locks.blockers(C, &want("2", Exclusive)).is_empty());
    }

    #[test]
    fn changes_are_remembered_by_version() {
        let mut locks = LockTable::default();
        locks.note_changed([key("1")], 7);
        assert_eq!(locks.changed_after([&key("2"), &key("1")], 6), Some(&key("1")));
        assert_eq!(locks.changed_after([&key("1")], 7), None);
    }
}
