//! What is seen on one node of an engine, and who would wait or be refused: as its rules say.

use super::scene::Scene;
use super::{Apart, Plan};
use crate::program::access::Lock;
use crate::search::conflicts::{Grip, Kind, Touch, Within};
use crate::search::level::Target;
use crate::search::level::engines::{Acts, EngineRules, InnerReads, References, View};

/// The plan for an order, if the cycle's hops agree with what the engine does.
pub(super) fn plan(scene: &Scene<'_>) -> Option<Plan> {
    let node = Node { scene };
    // A solver is not needed to see that a query sees too much, so that is asked first.
    if !node.agrees() || (node.is_serializable() && node.overlaps()) {
        return None;
    }
    let sees = (0..scene.items.len()).map(|place| node.seen(place)).collect();
    scene.plan(sees, node.apart())
}

struct Node<'a> {
    scene: &'a Scene<'a>,
}

impl Node<'_> {
    fn rules(&self, place: usize) -> Option<&'static EngineRules> {
        if let Target::Engine(rules) = self.scene.transaction(place).level { Some(rules) } else { None }
    }

    fn is_serializable(&self) -> bool {
        (0..self.scene.items.len()).all(|place| self.rules(place).is_some_and(|rules| rules.serializable))
    }

    /// Whether a transaction has begun before another one has ended.
    fn overlaps(&self) -> bool {
        let mut open: Option<(usize, usize)> = None;
        (0..self.scene.items.len()).any(|place| {
            let own = (self.scene.items[place].0, self.scene.step(place).transaction);
            let disturbs = open.is_some_and(|open| open != own);
            open = (self.scene.end(place) != place).then_some(own);
            disturbs
        })
    }

    /// Whether every hop of the cycle is as the engine does it.
    fn agrees(&self) -> bool {
        self.scene.hops.iter().all(|hop| {
            let (from, to) = (self.scene.node(hop.from), self.scene.node(hop.to));
            match hop.kind {
                _ if hop.is_ordered() && from >= to => false,
                Kind::Wr => self.sees(from, to),
                Kind::Rw => hop.to_undo || (!self.sees(to, from) && !self.holds_up(hop.table, from, to)),
                Kind::Ww => true,
            }
        })
    }

    /// Whether one of the two waits for the other because a write locks what it only looks at. What it looks for is
    /// locked, too: who adds such a row waits where gaps are locked, and the row that was added before is waited for.
    fn holds_up(&self, table: u16, reader: usize, writer: usize) -> bool {
        let Some(rules) = self.rules(reader) else { return false };
        let locks = |touch: &Touch| {
            touch.grip == Grip::Look && touch.within != Within::Query && rules.locks_reads(touch.within)
        };
        let locks_gaps = rules.inner_reads == InnerReads::Locked;
        let is_open = if writer < reader {
            self.scene.end(writer) > reader
        } else {
            locks_gaps && self.scene.end(reader) > writer
        };
        is_open && self.touches(reader, table).any(locks)
    }

    /// A query that takes no lock by itself.
    fn is_plain(&self, place: usize) -> bool {
        self.scene.touches(place).iter().all(|touch| touch.grip == Grip::Look && touch.lock.is_none())
    }

    /// Where the snapshot of a transaction is taken, as far as one has been taken before or at a place.
    fn snapshot(&self, place: usize, view: View) -> Option<usize> {
        let counts = |at: &usize| {
            let step = self.scene.step(*at);
            match view {
                View::FirstStatement => step.is_statement,
                View::FirstQuery => step.site.is_some() && self.is_plain(*at),
                View::Latest | View::Statement => false,
            }
        };
        self.scene.transaction_places(place).filter(counts).find(|at| *at <= place)
    }

    /// Whether who is at a place sees an earlier write of another call.
    fn sees(&self, write: usize, place: usize) -> bool {
        let Some(rules) = self.rules(place).filter(|_| write < place) else { return false };
        let is_plain = self.is_plain(place);
        if is_plain && rules.view == View::Latest {
            return !self.scene.is_undone_before(write, place);
        }
        let uses_snapshot = is_plain || rules.acts == Acts::Snapshot;
        let moment = self.snapshot(place, rules.view).filter(|_| uses_snapshot).unwrap_or(place);
        self.is_committed_before(write, moment)
    }

    fn is_committed_before(&self, write: usize, moment: usize) -> bool {
        self.scene.transaction(write).commits && self.scene.end(write) < moment
    }

    /// The writes of others that are seen from a place.
    fn seen(&self, place: usize) -> Vec<usize> {
        if self.scene.step(place).site.is_none() {
            return Vec::new();
        }
        let is_seen = |write: &usize| {
            self.scene.is_other_call(*write, place) && self.scene.is_write(*write) && self.sees(*write, place)
        };
        (0..place).filter(is_seen).collect()
    }

    /// Those of whom the second would wait for the first, or be refused because of it, if they met.
    fn apart(&self) -> Vec<Apart> {
        let mut apart = Vec::new();
        for second in 0..self.scene.items.len() {
            for first in (0..second).filter(|first| self.scene.is_other_call(*first, second)) {
                let tables = self.scene.meetings(first, second).iter().copied();
                let clashing =
                    tables.filter(|table| self.waits(first, second, *table) || self.fails(first, second, *table));
                apart.extend(clashing.map(|table| Apart { first, second, table }));
            }
        }
        apart
    }

    /// Whether the first still holds locks, of which one is in the way of the second.
    fn waits(&self, first: usize, second: usize, table: u16) -> bool {
        let is_kept = self.touches(first, table).any(|touch| touch.lock == Some(Lock::Session));
        let end = if is_kept { self.released(first, table) } else { self.scene.end(first) };
        let is_open = end > second;
        let locks = |place: usize| {
            let rules = self.rules(place);
            let touches = self.touches(place, table);
            touches.filter_map(move |touch| Hold::of(touch, rules?)).collect::<Vec<_>>()
        };
        is_open && locks(first).iter().any(|first| locks(second).iter().any(|second| first.excludes(*second)))
    }

    /// The place where a call releases the advisory lock that it has taken at another one; it does at its end.
    fn released(&self, taken: usize, table: u16) -> usize {
        let is_own = |place: &usize| !self.scene.is_other_call(*place, taken);
        let own: Vec<usize> = (taken + 1..self.scene.items.len()).filter(is_own).collect();
        let releases = |place: &&usize| self.touches(**place, table).any(|touch| touch.lock == Some(Lock::Release));
        own.iter().find(releases).or(own.last()).copied().unwrap_or(taken)
    }

    /// Whether the second acts on a snapshot that is older than what the first has committed.
    fn fails(&self, first: usize, second: usize, table: u16) -> bool {
        let Some(rules) = self.rules(second).filter(|rules| rules.acts == Acts::Snapshot) else { return false };
        // A foreign key does not mind that the row was changed, but that it has come or gone.
        let minds = |touch: &Touch| match touch.grip {
            Grip::Look => None,
            Grip::Refer => Some(Grip::Exist),
            _ => Some(Grip::Write),
        };
        let least = self.touches(second, table).filter_map(minds).min();
        let clashes = |least: Grip| self.touches(first, table).any(|touch| touch.grip >= least);
        let is_newer = || {
            let snapshot = self.snapshot(second, rules.view).unwrap_or(second);
            self.is_committed_before(first, second) && !self.is_committed_before(first, snapshot)
        };
        least.is_some_and(clashes) && is_newer()
    }

    fn touches(&self, place: usize, table: u16) -> impl Iterator<Item = &Touch> {
        let name = self.scene.question.conflicts.tables[usize::from(table)].as_str();
        self.scene.touches(place).iter().filter(move |touch| touch.table == name)
    }
}

/// How a row is held until the transaction ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hold {
    /// It may not be removed, and its key not be changed.
    Keep,
    /// It may not be changed.
    Share,
    /// It is changed, but not its key.
    Change,
    /// Nobody else may do anything with it that locks.
    Own,
}

impl Hold {
    fn of(touch: &Touch, rules: &EngineRules) -> Option<Hold> {
        match touch.grip {
            Grip::Look if touch.lock == Some(Lock::Release) => None,
            Grip::Look => rules.locks_reads(touch.within).then_some(Hold::Share),
            Grip::Refer => match rules.references {
                References::Late => None,
                References::Keep => Some(Hold::Keep),
                References::Share => Some(Hold::Share),
            },
            Grip::Share => Some(Hold::Share),
            Grip::Write => Some(Hold::Change),
            Grip::Lock | Grip::Exist => Some(Hold::Own),
        }
    }

    /// Whether two transactions cannot hold a row so at the same time.
    fn excludes(self, other: Hold) -> bool {
        use Hold::{Change, Keep, Own, Share};
        match (self, other) {
            (Own, _) | (_, Own) => true,
            (Change, Keep) | (Keep, Change) => false,
            (Change, _) | (_, Change) => true,
            (Keep | Share, Keep | Share) => false,
        }
    }
}
