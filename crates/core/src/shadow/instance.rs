//! A transaction's part in the shadow: what it draws, locks and changes (the paper's Algorithm 3).
//!
//! ```text
//!   begin(snapshot) ── existing ── change ── existing ── close_writes ── COMMIT ── commit     words settled, one stamp
//!                      share       claim     own write   in key order    or       abort      nothing happened
//! ```
//!
//! - An operation on a row that must exist takes a **share** of its key; an insert or delete takes the **claim**. Both
//!   are held to the end, so that what was instantiated stays valid.
//! - The **write set** are the claims with what becomes of them. A transaction sees its own writes before anybody else
//!   does: a row that it inserted can be read, updated, deleted; one that it deleted can be inserted again.
//! - A key that is not usable right now (it does not exist, changed after the snapshot, is locked) is **drawn again**,
//!   a bounded number of times. Then an insert may become a delete, or the other way round ([`Conversion`]). If that
//!   fails, too, the answer is [`Refused`], with the reasons: never a hang.
//! - Nothing here waits. With [`Locking::Late`] a commit may have to, for readers of what it deletes;
//!   [`Instance::close_writes`] says so, and the caller decides how long. It asks in the order of keys, so that two
//!   commits never wait for each other.
//!
//! An instance belongs to a session and is used for one transaction after the other: its lists keep their memory.

use super::keys::{Key, Slot};
use super::locks::{Locking, Refusal};
use super::sampler::Sampler;
use super::table::Shadow;

/// How often a key is drawn before giving up.
pub const DRAWS: usize = 64;

/// What happens to a row that comes or goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// It comes.
    Insert,
    /// It goes.
    Delete,
}

/// When an insert may become a delete, and the other way round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Conversion {
    /// Never: it is refused instead.
    Never,
    /// If no key was found that can be inserted (or deleted).
    #[default]
    WhenNoneLeft,
    /// As the first usable key demands: one that exists is deleted, another inserted. Then accesses follow the
    /// distribution exactly, and no draw is wasted.
    OnDraw,
}

/// A row that comes or goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// Its key.
    pub key: Key,
    /// What happens to it; not always what was asked for.
    pub kind: ChangeKind,
}

/// No key was found: how often each reason was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Refused {
    /// The row existed and should not, or the other way round.
    pub existence: usize,
    /// It changed after the snapshot.
    pub unsettled: usize,
    /// Another transaction used it.
    pub locked: usize,
}

impl Refused {
    fn count(&mut self, refusal: Refusal) {
        *match refusal {
            Refusal::Existence => &mut self.existence,
            Refusal::Unsettled => &mut self.unsettled,
            Refusal::Locked => &mut self.locked,
        } += 1;
    }
}

/// A dynamic key of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The position of the table.
    pub table: usize,
    /// The dynamic key.
    pub at: u32,
}

#[derive(Debug, Clone, Copy)]
struct Write {
    place: Place,
    exists: bool,
}

/// A share of a dynamic parent, taken for a child that is inserted.
#[derive(Debug, Clone, Copy)]
struct Pin {
    child: Place,
    reference: usize,
    parent: Place,
}

/// The transaction that a session runs.
#[derive(Debug, Default)]
pub struct Instance {
    snapshot: u64,
    shares: Vec<Place>,
    writes: Vec<Write>,
    pins: Vec<Pin>,
    /// The write set, and the number of pins, when the savepoint was set.
    savepoint: (Vec<Write>, usize),
}

impl Instance {
    /// A session that has run nothing yet.
    pub fn new() -> Instance {
        Instance::default()
    }

    /// Begins a transaction. `snapshot` is what [`Shadow::snapshot`] said before it began; where every statement sees
    /// what is committed, [`Instance::advance`] before each.
    pub fn begin(&mut self, snapshot: u64) {
        assert!(
            self.shares.is_empty() && self.writes.is_empty() && self.pins.is_empty(),
            "a transaction begins before the last one has ended"
        );
        self.snapshot = snapshot;
    }

    /// From now on the transaction sees what this snapshot sees.
    pub fn advance(&mut self, snapshot: u64) {
        self.snapshot = self.snapshot.max(snapshot);
    }

    /// A key whose row exists, for the transaction: to read or update it.
    pub fn existing(&mut self, shadow: &Shadow, table: usize, sampler: &mut Sampler) -> Result<Key, Refused> {
        let keys = shadow.tables()[table].keys();
        let mut refused = Refused::default();
        for _ in 0..DRAWS {
            let slot = keys.access().slot(sampler.draw());
            match slot {
                Slot::Static(_) => return Ok(keys.key(slot)),
                Slot::Dynamic(at) => match self.share(shadow, Place { table, at }) {
                    Ok(()) => return Ok(keys.key(slot)),
                    Err(refusal) => refused.count(refusal),
                },
            }
        }
        Err(refused)
    }

    /// Makes sure that a row exists and stays.
    fn share(&mut self, shadow: &Shadow, place: Place) -> Result<(), Refusal> {
        if let Some(own) = self.write(place) {
            return if own.exists { Ok(()) } else { Err(Refusal::Existence) };
        }
        if self.shares.contains(&place) {
            return Ok(());
        }
        word(shadow, place).map_or(Err(Refusal::Existence), |word| word.try_share(self.snapshot))?;
        self.shares.push(place);
        Ok(())
    }

    /// A key to insert, or to delete.
    pub fn change(
        &mut self,
        shadow: &Shadow,
        table: usize,
        kind: ChangeKind,
        conversion: Conversion,
        sampler: &mut Sampler,
    ) -> Result<Change, Refused> {
        let mut refused = Refused::default();
        let on_draw = conversion == Conversion::OnDraw;
        if let Some(change) = self.try_change(shadow, table, kind, on_draw, sampler, &mut refused) {
            return Ok(change);
        }
        let other = if kind == ChangeKind::Insert { ChangeKind::Delete } else { ChangeKind::Insert };
        let converted = (conversion == Conversion::WhenNoneLeft)
            .then(|| self.try_change(shadow, table, other, false, sampler, &mut refused))
            .flatten();
        converted.ok_or(refused)
    }

    fn try_change(
        &mut self,
        shadow: &Shadow,
        table: usize,
        kind: ChangeKind,
        on_draw: bool,
        sampler: &mut Sampler,
        refused: &mut Refused,
    ) -> Option<Change> {
        let keys = shadow.tables()[table].keys();
        for _ in 0..DRAWS {
            let at = keys.access().dynamic(sampler.draw())?;
            let place = Place { table, at };
            let kind = match on_draw {
                true if self.exists(shadow, place) => ChangeKind::Delete,
                true => ChangeKind::Insert,
                false => kind,
            };
            match self.claim(shadow, place, kind) {
                Ok(()) => return Some(Change { key: keys.key(Slot::Dynamic(at)), kind }),
                Err(refusal) => refused.count(refusal),
            }
        }
        None
    }

    /// Whether a row exists, as the transaction sees it.
    fn exists(&self, shadow: &Shadow, place: Place) -> bool {
        let committed = || word(shadow, place).is_some_and(|word| word.see().exists);
        self.write(place).map_or_else(committed, |own| own.exists)
    }

    fn claim(&mut self, shadow: &Shadow, place: Place, kind: ChangeKind) -> Result<(), Refusal> {
        let exists = kind == ChangeKind::Delete;
        // A row that this transaction's own children refer to must stay.
        if exists && self.pins.iter().any(|pin| pin.parent == place) {
            return Err(Refusal::Locked);
        }
        if let Some(own) = self.writes.iter_mut().find(|write| write.place == place) {
            if own.exists != exists {
                return Err(Refusal::Existence);
            }
            own.exists = !exists;
            return Ok(());
        }
        let shares = self.own_shares(place);
        let claimed = |word: &super::locks::Word| word.try_claim(exists, self.snapshot, shares, shadow.locking());
        word(shadow, place).map_or(Err(Refusal::Existence), claimed)?;
        self.writes.push(Write { place, exists: !exists });
        Ok(())
    }

    /// The key that a row of `table` refers to, by its reference number so and so. `inserted` says that the row is being
    /// inserted by this transaction; then its parent may be one that comes and goes, and is kept from going.
    pub fn parent(
        &mut self,
        shadow: &Shadow,
        table: usize,
        reference: usize,
        child: Key,
        inserted: bool,
        sampler: &mut Sampler,
    ) -> u64 {
        let link = &shadow.tables()[table].references()[reference];
        let parents = shadow.tables()[link.table()].keys();
        let draw = sampler.draw();
        if let (true, true, Slot::Dynamic(at)) = (inserted, link.pins(), child.slot)
            && let Some(Slot::Dynamic(parent)) = link.parent_slot(draw)
        {
            let (child, parent) = (Place { table, at }, Place { table: link.table(), at: parent });
            let free = self.write(parent).is_none();
            if free && word(shadow, parent).is_some_and(|word| word.try_share(self.snapshot).is_ok()) {
                self.pins.push(Pin { child, reference, parent });
                return parents.key(Slot::Dynamic(parent.at)).number;
            }
            // It is not there right now; one that is always there will do.
            return link.static_parent(0, parents, sampler.draw());
        }
        match link.parent_slot(draw) {
            Some(Slot::Static(rank)) => parents.key(Slot::Static(rank)).number,
            _ => link.static_parent(child.number, parents, sampler.draw()),
        }
    }

    /// The write set: the dynamic keys that the transaction has claimed, and whether their rows exist afterwards.
    pub fn writes(&self) -> impl Iterator<Item = (Place, bool)> + '_ {
        self.writes.iter().map(|write| (write.place, write.exists))
    }

    /// Prepares the commit: nobody gets a new share of what was claimed. The error names a key that others still have
    /// shares of: ask again when they may be gone, or give up and abort. With [`Locking::Early`] there is nothing to
    /// wait for.
    pub fn close_writes(&mut self, shadow: &Shadow) -> Result<(), Place> {
        if shadow.locking() == Locking::Early {
            return Ok(());
        }
        self.writes.sort_unstable_by_key(|write| write.place);
        let closed = |place| word(shadow, place).is_none_or(|word| word.close(self.own_shares(place)));
        match self.writes.iter().find(|write| !closed(write.place)) {
            Some(write) => Err(write.place),
            None => Ok(()),
        }
    }

    /// The database has acknowledged the commit: from now on everybody sees what was written. Returns its stamp.
    pub fn commit(&mut self, shadow: &Shadow) -> u64 {
        let stamp = if self.writes.is_empty() { self.snapshot } else { shadow.tick() };
        // Pins first: as long as the child is claimed, nobody else changes them.
        for at in 0..self.writes.len() {
            self.pin_parents(shadow, self.writes[at]);
        }
        for write in self.writes.drain(..) {
            word(shadow, write.place).inspect(|word| word.settle(write.exists, stamp));
        }
        self.release(shadow);
        stamp
    }

    /// What a child pinned before is free; what it refers to now is pinned, if it exists.
    fn pin_parents(&mut self, shadow: &Shadow, write: Write) {
        for (number, reference) in shadow.tables()[write.place.table].references().iter().enumerate() {
            // If a row was inserted twice, the later insert counts.
            let last = self.pins.iter().rposition(|pin| pin.child == write.place && pin.reference == number);
            let pinned = last.filter(|_| write.exists).map(|at| self.pins.remove(at).parent.at);
            if let Some(before) = reference.repin(write.place.at, pinned) {
                let parent = Place { table: reference.table(), at: before };
                word(shadow, parent).inspect(|word| word.release_share());
            }
        }
    }

    /// Sets the savepoint of the transaction.
    pub fn set_savepoint(&mut self) {
        self.savepoint.0.clone_from(&self.writes);
        self.savepoint.1 = self.pins.len();
    }

    /// The transaction was rolled back to its savepoint: rows that came and went after it are as they were. Shares stay
    /// to the end.
    pub fn roll_back_to_savepoint(&mut self, shadow: &Shadow) {
        let (kept, pins) = (std::mem::take(&mut self.savepoint.0), self.savepoint.1);
        for write in self.writes.iter().filter(|write| !kept.iter().any(|other| other.place == write.place)) {
            word(shadow, write.place).inspect(|word| word.release_claim());
        }
        for pin in self.pins.drain(pins..) {
            word(shadow, pin.parent).inspect(|word| word.release_share());
        }
        self.writes = kept;
    }

    /// The transaction was rolled back: nothing happened.
    pub fn abort(&mut self, shadow: &Shadow) {
        for write in self.writes.drain(..) {
            word(shadow, write.place).inspect(|word| word.release_claim());
        }
        self.release(shadow);
    }

    /// Nobody knows what became of the transaction: the connection broke during COMMIT. What it claimed stays claimed,
    /// so that nobody draws it, until [`Shadow::resolve`] is told; the keys are returned. Parents that it may refer to
    /// keep their shares for ever.
    pub fn abandon(&mut self, shadow: &Shadow) -> Vec<Place> {
        self.pins.clear();
        let claimed = self.writes.drain(..).map(|write| write.place).collect();
        self.release(shadow);
        claimed
    }

    fn release(&mut self, shadow: &Shadow) {
        for place in self.shares.drain(..).chain(self.pins.drain(..).map(|pin| pin.parent)) {
            word(shadow, place).inspect(|word| word.release_share());
        }
    }

    fn write(&self, place: Place) -> Option<Write> {
        self.writes.iter().find(|write| write.place == place).copied()
    }

    fn own_shares(&self, place: Place) -> u64 {
        u64::from(self.shares.contains(&place))
    }
}

fn word(shadow: &Shadow, place: Place) -> Option<&super::locks::Word> {
    shadow.tables().get(place.table).and_then(|table| table.keys().word(place.at))
}

#[cfg(test)]
mod tests;
