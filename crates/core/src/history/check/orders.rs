//! Which order the versions of each key have: observed, guessed, or being tried out.
//!
//! The chain of a key was observed. Its loose versions come behind, in an order that is *chosen*: first guessed as a whole,
//! then, if the guess leads into a cycle, arranged anew so that certain pairs are the other way round. An order is always
//! one sequence, so neighbours say all of it: a key with a hundred thousand versions has as many edges, not as many pairs.

use super::super::KeyId;
use super::super::facts::{Facts, KeyFacts, NOBODY, Node, Version};

/// The chosen orders of all keys.
#[derive(Debug, Clone, Default)]
pub struct Orders {
    keys: Vec<KeyOrder>,
    /// Nothing is chosen: only what was observed counts.
    is_open: bool,
}

#[derive(Debug, Clone, Default)]
struct KeyOrder {
    /// The loose versions, in their order.
    sequence: Vec<Version>,
    /// By loose version, counted from the end of the chain: its place in the sequence.
    ranks: Vec<u32>,
}

impl Orders {
    /// Orders every key's loose versions by a number that each of their writers has.
    pub fn guess(facts: &Facts, rank: impl Fn(Node) -> u64) -> Orders {
        let keys = facts.keys.iter().map(|key| {
            let first = key.chain.len() as Version;
            let mut sequence: Vec<Version> = (0..key.loose.len() as Version).map(|at| first + at).collect();
            sequence.sort_by_key(|version| rank(key.writer(*version)));
            KeyOrder::new(sequence, first)
        });
        Orders { keys: keys.collect(), is_open: false }
    }

    /// No choice: pairs of loose versions are in no order.
    pub fn open(facts: &Facts) -> Orders {
        Orders { is_open: true, ..Orders::guess(facts, |_| 0) }
    }

    /// Whether nothing is chosen.
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Whether the first of two versions is before the second, as things stand; of an open pair, neither is.
    pub fn is_before(&self, id: KeyId, key: &KeyFacts, a: Version, b: Version) -> bool {
        let first = key.chain.len() as Version;
        match (a < first, b < first) {
            (true, true) => a < b,
            (true, false) => true,
            (false, true) => false,
            (false, false) => !self.is_open && self.rank(id, key, a) < self.rank(id, key, b),
        }
    }

    /// The place of a loose version among the loose ones.
    pub(super) fn rank(&self, id: KeyId, key: &KeyFacts, version: Version) -> u32 {
        self.keys[id.0 as usize].ranks[version as usize - key.chain.len()]
    }

    /// The loose versions of a key, in their order.
    pub(super) fn sequence(&self, id: KeyId) -> &[Version] {
        &self.keys[id.0 as usize].sequence
    }

    /// Gives the loose versions of a key another order.
    pub(super) fn arrange(&mut self, id: KeyId, key: &KeyFacts, sequence: Vec<Version>) {
        self.keys[id.0 as usize] = KeyOrder::new(sequence, key.chain.len() as Version);
    }

    /// Whether the order of two versions was chosen, not observed.
    pub fn is_choice(key: &KeyFacts, low: Version, high: Version) -> bool {
        let first = key.chain.len() as Version;
        low >= first && high >= first
    }

    /// Pairs of versions, the earlier one first: neighbours, as far as their order is known or chosen.
    pub(super) fn each_pair(&self, id: KeyId, key: &KeyFacts, mut with: impl FnMut(Version, Version)) {
        let mut before = 0;
        for version in (1..key.chain.len() as Version).filter(|version| key.writer(*version) != NOBODY) {
            with(std::mem::replace(&mut before, version), version);
        }
        for high in self.sequence(id) {
            with(before, *high);
            before = if self.is_open { before } else { *high };
        }
    }

    /// The versions that make a read of `low` old: the next one; all loose ones, if any of them may be the next.
    pub(super) fn each_next(&self, id: KeyId, key: &KeyFacts, low: Version, mut with: impl FnMut(Version)) {
        let first = key.chain.len() as Version;
        let is_real = |version: &Version| key.writer(*version) != NOBODY;
        let sequence = self.sequence(id);
        if low >= first {
            let next = sequence.get(self.rank(id, key, low) as usize + 1);
            return next.filter(|_| !self.is_open).copied().into_iter().for_each(with);
        }
        match (low + 1..first).find(is_real) {
            Some(next) => with(next),
            None if self.is_open => sequence.iter().copied().for_each(with),
            None => sequence.first().copied().into_iter().for_each(with),
        }
    }
}

impl KeyOrder {
    fn new(sequence: Vec<Version>, first: Version) -> KeyOrder {
        let mut ranks = vec![0; sequence.len()];
        sequence.iter().enumerate().for_each(|(at, version)| ranks[(version - first) as usize] = at as u32);
        KeyOrder { sequence, ranks }
    }
}
