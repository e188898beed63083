//! The store: versions of keys, sites that learn of commits, locks. It does what its rules say and knows no levels.

use std::collections::{BTreeMap, BTreeSet};

use super::rules::{Reads, Rules, Sites, Writes};
use crate::generate::random::Random;
use crate::history::Scalar;

/// How many sites there are where there are several.
const SITES: usize = 3;
/// How far behind a stale read may be, in versions.
const STALE_MAX: usize = 2;
/// How many commits a site has not heard of before one arrives out of order: of a single one there is only one order.
const NEWS_MIN: usize = 4;

/// What an operation did.
#[derive(Debug, Clone)]
pub(super) enum Done {
    Write(usize, Scalar),
    Read(usize, Option<Scalar>),
    ReadList(usize, Vec<Scalar>),
    Unread(usize),
}

impl Done {
    /// Nobody knows any more what was read.
    pub(super) fn forget(&mut self) {
        if let Done::Read(key, _) | Done::ReadList(key, _) = self {
            *self = Done::Unread(*key);
        }
    }
}

/// How a write went.
pub(super) enum Written {
    Done,
    /// Somebody younger holds the lock: try again.
    Wait,
    /// The transaction must be rolled back.
    Refused,
}

/// A transaction that has not ended.
pub(super) struct Running {
    session: usize,
    pub(super) began: u64,
    view: View,
    /// Keys and how many versions there were up to the one that was read.
    reads: Vec<(usize, usize)>,
    writes: BTreeMap<usize, Vec<Scalar>>,
    pub(super) ops: Vec<Done>,
}

/// Some of the commits: all of the first ones, and further ones.
#[derive(Debug, Clone, Default)]
struct View {
    all_before: usize,
    also: BTreeSet<usize>,
}

impl View {
    fn sees(&self, commit: usize) -> bool {
        commit < self.all_before || self.also.contains(&commit)
    }

    fn add(&mut self, commit: usize) {
        self.also.insert(commit);
        while self.also.remove(&self.all_before) {
            self.all_before += 1;
        }
    }

    fn covers(&self, other: &View) -> bool {
        (self.all_before..other.all_before).chain(other.also.iter().copied()).all(|commit| self.sees(commit))
    }
}

/// A commit: where it was made, and what was seen there.
struct Commit {
    site: usize,
    view: View,
}

#[derive(Default)]
struct Key {
    /// In the order of their commits.
    versions: Vec<Version>,
    /// Of a list: everything that was appended.
    elements: Vec<Scalar>,
    /// Session and beginning of the transaction that holds the lock.
    holder: Option<(usize, u64)>,
    /// What the holder has written.
    pending: Vec<Scalar>,
}

struct Version {
    commit: usize,
    /// What a register holds.
    value: Scalar,
    /// How long a list is.
    length: usize,
}

pub(super) struct Store {
    rules: &'static Rules,
    is_list: bool,
    keys: Vec<Key>,
    commits: Vec<Commit>,
    sites: Vec<View>,
}

impl Store {
    pub(super) fn new(rules: &'static Rules, is_list: bool, keys: usize, sessions: usize) -> Store {
        let sites = if rules.sites == Sites::One { 1 } else { SITES.min(sessions) };
        Store {
            rules,
            is_list,
            keys: (0..keys).map(|_| Key::default()).collect(),
            commits: Vec::new(),
            sites: vec![View::default(); sites],
        }
    }

    fn site(&self, session: usize) -> usize {
        session % self.sites.len()
    }

    pub(super) fn begin(&self, session: usize, clock: u64) -> Running {
        let view = self.sites[self.site(session)].clone();
        Running { session, began: clock, view, reads: Vec::new(), writes: BTreeMap::new(), ops: Vec::new() }
    }

    /// Reads a key; false if nobody can know yet what it holds.
    pub(super) fn read(&self, running: &mut Running, at: usize, random: &mut Random) -> bool {
        let key = &self.keys[at];
        let own = running.writes.get(&at).map(Vec::as_slice);
        if self.is_list && own.is_some() && self.rules.writes == Writes::Free {
            return false;
        }
        let newest = key.versions.len();
        let version = match self.rules.reads {
            Reads::Snapshot => {
                key.versions.iter().rposition(|version| running.view.sees(version.commit)).map_or(0, |at| at + 1)
            }
            Reads::Stale if own.is_none() => newest - random.below(newest.min(STALE_MAX) + 1),
            Reads::Stale | Reads::Newest | Reads::Dirty => newest,
        };
        let uncommitted = match self.rules.reads {
            Reads::Dirty => key.pending.as_slice(),
            Reads::Snapshot | Reads::Newest | Reads::Stale => own.unwrap_or(&[]),
        };
        let committed = version.checked_sub(1).map(|at| &key.versions[at]);
        if self.is_list {
            let length = committed.map_or(0, |version| version.length);
            running.ops.push(Done::ReadList(at, [&key.elements[..length], uncommitted].concat()));
        } else {
            let value = uncommitted.last().copied().or(committed.map(|version| version.value));
            running.ops.push(Done::Read(at, value));
        }
        // A register that the transaction wrote itself tells nothing of what was there before.
        if self.is_list || own.is_none() {
            running.reads.push((at, version));
        }
        true
    }

    /// Writes or appends.
    pub(super) fn write(&mut self, running: &mut Running, at: usize, value: Scalar) -> Written {
        if matches!(self.rules.writes, Writes::Locked | Writes::LockedCursor) {
            let key = &mut self.keys[at];
            let me = (running.session, running.began);
            match key.holder {
                // The older one waits, the younger one dies: so nobody waits in a circle.
                Some(holder) if holder != me && running.began < holder.1 => return Written::Wait,
                Some(holder) if holder != me => return Written::Refused,
                _ => {}
            }
            let is_old = |(read, version): &(usize, usize)| *read == at && *version != key.versions.len();
            if self.rules.writes == Writes::LockedCursor && running.reads.iter().any(is_old) {
                return Written::Refused;
            }
            key.holder = Some(me);
            key.pending.push(value);
        }
        running.writes.entry(at).or_default().push(value);
        running.ops.push(Done::Write(at, value));
        Written::Done
    }

    /// Commits, or refuses to.
    pub(super) fn commit(&mut self, running: &Running) -> bool {
        let keys = &self.keys;
        let is_seen = |at: &usize| keys[*at].versions.last().is_none_or(|version| running.view.sees(version.commit));
        let may = match self.rules.writes {
            Writes::Free | Writes::Locked | Writes::LockedCursor => true,
            Writes::FirstCommitterWins => running.writes.keys().all(is_seen),
            Writes::Validated => running.reads.iter().all(|(at, version)| *version == keys[*at].versions.len()),
        };
        if may {
            self.install(running);
        }
        may
    }

    /// Undoes it. Dirty lists are not undone: somebody may have appended behind what somebody has seen.
    pub(super) fn roll_back(&mut self, running: &Running) {
        if self.is_list && self.rules.reads == Reads::Dirty {
            self.install(running);
        }
        self.unlock(running);
    }

    fn install(&mut self, running: &Running) {
        if running.writes.is_empty() {
            return;
        }
        let (commit, site) = (self.commits.len(), self.site(running.session));
        self.commits.push(Commit { site, view: running.view.clone() });
        for (at, values) in &running.writes {
            let (key, value) = (&mut self.keys[*at], *values.last().expect("a key that was written has values"));
            key.elements.extend(values);
            key.versions.push(Version { commit, value, length: key.elements.len() });
        }
        self.sites[site].add(commit);
        self.unlock(running);
    }

    fn unlock(&mut self, running: &Running) {
        let me = Some((running.session, running.began));
        for at in running.writes.keys() {
            let key = &mut self.keys[*at];
            if key.holder == me {
                key.holder = None;
                key.pending.clear();
            }
        }
    }

    /// Some sites learn of a commit that they had not heard of.
    pub(super) fn deliver(&mut self, random: &mut Random) {
        if self.sites.len() < 2 {
            return;
        }
        for at in 0..self.sites.len() {
            let arrives = random.chance(1, 2).then(|| self.arriving(at, random)).flatten();
            arrives.into_iter().for_each(|commit| self.sites[at].add(commit));
        }
    }

    fn arriving(&self, at: usize, random: &mut Random) -> Option<usize> {
        let site = &self.sites[at];
        let mut news = (site.all_before..self.commits.len()).filter(|commit| !site.sees(*commit));
        if self.rules.sites == Sites::InAnyOrder {
            let news: Vec<usize> = news.collect();
            return random.pick(&news).copied().filter(|_| news.len() >= NEWS_MIN);
        }
        let from = random.below(self.sites.len());
        let next = news.find(|commit| self.commits[*commit].site == from)?;
        site.covers(&self.commits[next].view).then_some(next)
    }
}
