//! Which order the versions of each key have: observed, guessed, or being tried out.
//!
//! The chain of a key was observed. Its loose versions come behind, in an order that is *chosen*: first guessed as a whole,
//! then, if the guess leads into a cycle, changed pair by pair. So an order is a sequence and a set of pairs that are the
//! other way round than the sequence says; with such pairs it may be no order at all, which then shows as a cycle of `ww`.

use std::collections::BTreeSet;

use super::super::KeyId;
use super::super::facts::{Facts, KeyFacts, NOBODY, Version};

/// The chosen orders of all keys.
#[derive(Debug, Clone, Default)]
pub struct Orders {
    keys: Vec<KeyOrder>,
    /// Nothing is chosen: only what was observed counts.
    is_open: bool,
}

#[derive(Debug, Clone, Default)]
struct KeyOrder {
    /// The loose versions, in the order of the guess.
    guess: Vec<Version>,
    /// By loose version, counted from the end of the chain: its place in the guess.
    ranks: Vec<u32>,
    /// Pairs that the guess has the other way round: the first one is earlier.
    reversed: BTreeSet<(Version, Version)>,
}

impl Orders {
    /// Orders every key's loose versions by a number that each of their writers has.
    pub fn guess(facts: &Facts, rank: impl Fn(super::super::facts::Node) -> u64) -> Orders {
        let keys = facts.keys.iter().map(|key| {
            let first = key.chain.len() as Version;
            let mut guess: Vec<Version> = (0..key.loose.len() as Version).map(|at| first + at).collect();
            guess.sort_by_key(|version| rank(key.writer(*version)));
            let mut ranks = vec![0; guess.len()];
            guess.iter().enumerate().for_each(|(at, version)| ranks[(version - first) as usize] = at as u32);
            KeyOrder { guess, ranks, reversed: BTreeSet::new() }
        });
        Orders { keys: keys.collect(), is_open: false }
    }

    /// No choice: pairs of loose versions are in no order.
    pub fn open(facts: &Facts) -> Orders {
        Orders { is_open: true, ..Orders::guess(facts, |_| 0) }
    }

    /// Whether the first of two versions is before the second, as things stand; of an open pair, neither is.
    pub fn is_before(&self, id: KeyId, key: &KeyFacts, a: Version, b: Version) -> bool {
        let first = key.chain.len() as Version;
        match (a < first, b < first) {
            (true, true) => a < b,
            (true, false) => true,
            (false, true) => false,
            (false, false) => !self.is_open && self.keys[id.0 as usize].is_before(a, b, first),
        }
    }

    /// Turns the pair round: `low` was before `high` in the guess, and is behind it from now on; or takes that back.
    pub fn reverse(&mut self, key: KeyId, low: Version, high: Version, is_reversed: bool) {
        let reversed = &mut self.keys[key.0 as usize].reversed;
        if is_reversed {
            reversed.insert((high, low));
        } else {
            reversed.remove(&(high, low));
        }
    }

    /// Whether the guess has the first of two loose versions before the second.
    pub fn is_guessed(&self, id: KeyId, key: &KeyFacts, low: Version, high: Version) -> bool {
        let rank = |version: Version| self.keys[id.0 as usize].ranks[version as usize - key.chain.len()];
        rank(low) < rank(high)
    }

    /// Whether the order of two versions was chosen, not observed.
    pub fn is_choice(key: &KeyFacts, low: Version, high: Version) -> bool {
        let first = key.chain.len() as Version;
        low >= first && high >= first
    }

    /// Pairs of versions, the earlier one first: neighbours; every pair of loose ones where orders are being tried out.
    pub(super) fn each_pair(&self, id: KeyId, key: &KeyFacts, mut with: impl FnMut(Version, Version)) {
        let order = &self.keys[id.0 as usize];
        let mut before = 0;
        for version in (1..key.chain.len() as Version).filter(|version| key.writer(*version) != NOBODY) {
            with(std::mem::replace(&mut before, version), version);
        }
        for (at, high) in order.guess.iter().enumerate() {
            if order.reversed.is_empty() && !self.is_open {
                with(std::mem::replace(&mut before, *high), *high);
                continue;
            }
            with(before, *high);
            for low in order.guess[..at].iter().filter(|_| !self.is_open) {
                let (low, high) = order.turned(*low, *high);
                with(low, high);
            }
        }
    }

    /// The versions that make a read of `low` old: the next one, or all later ones where orders are being tried out.
    pub(super) fn each_next(&self, id: KeyId, key: &KeyFacts, low: Version, mut with: impl FnMut(Version)) {
        let order = &self.keys[id.0 as usize];
        let first = key.chain.len() as Version;
        let is_real = |version: &Version| key.writer(*version) != NOBODY;
        if low < first {
            if let Some(next) = (low + 1..first).find(is_real) {
                return with(next);
            }
            if order.reversed.is_empty() && !self.is_open {
                return order.guess.first().copied().into_iter().for_each(with);
            }
            return order.guess.iter().copied().for_each(with);
        }
        if self.is_open {
            return;
        }
        if order.reversed.is_empty() {
            let rank = order.ranks[(low - first) as usize] as usize;
            return order.guess.get(rank + 1).copied().into_iter().for_each(with);
        }
        let later = |high: &Version| *high != low && order.is_before(low, *high, first);
        order.guess.iter().copied().filter(later).for_each(with);
    }
}

impl KeyOrder {
    /// A pair that the guess has this way round, as it is now.
    fn turned(&self, low: Version, high: Version) -> (Version, Version) {
        if self.reversed.contains(&(high, low)) { (high, low) } else { (low, high) }
    }

    fn is_before(&self, a: Version, b: Version, first: Version) -> bool {
        let guessed = self.ranks[(a - first) as usize] < self.ranks[(b - first) as usize];
        if guessed { !self.reversed.contains(&(b, a)) } else { self.reversed.contains(&(a, b)) }
    }
}
