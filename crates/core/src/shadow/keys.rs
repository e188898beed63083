//! Partitioned primary keys: most are always there, some come and go.
//!
//! Which rows exist while transactions run is what makes a workload valid, and nobody can tell for all of them without
//! storing it. So the keys are divided (the paper's §4.3): *static* keys are never inserted or deleted and need no
//! memory; *dynamic* ones have a [`Word`] each.
//!
//! ```text
//!   slot   0 ─────────────── static ─────────────┬─── dynamic ─── n
//!          always there                          │ [word][word]…
//!            ↕ permutation                       ↕
//!   key    0 ──────────────────────────────────────────────────── n      both kinds lie anywhere in the key's range
//! ```
//!
//! A slot is also a rank of the access distribution F: the first static slots are the hottest static keys, the first
//! dynamic slots the hottest dynamic ones. F applies to each part by itself, and each part gets as many accesses as it
//! has keys. So accesses to static keys follow F exactly, whatever happens to the dynamic ones, and the goodness of fit
//! can be measured there without bias.
//!
//! Limits: at most 2³² − 1 dynamic keys (they take 8 bytes each).

use super::bijection::Bijection;
use super::distribution::{Distribution, DistributionError, Ranks};
use super::locks::Word;

/// How the keys of a table are divided and accessed.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyPlan {
    /// How many keys there are, static and dynamic.
    pub count: u64,
    /// The share of dynamic ones, 0 to 1.
    pub dynamic: f64,
    /// The share of dynamic ones whose rows exist at the start, 0 to 1.
    pub present: f64,
    /// The access distribution F, over each part.
    pub access: Distribution,
}

impl KeyPlan {
    /// So many keys, all static and accessed alike.
    pub fn fixed(count: u64) -> KeyPlan {
        KeyPlan { count, dynamic: 0.0, present: 0.0, access: Distribution::Uniform }
    }

    /// How many of the keys are dynamic: the share, rounded. A share that is not 0 means at least one key, and one that
    /// is not 1 leaves at least one static; a single key is then static.
    pub fn dynamic_count(&self) -> u64 {
        let share = self.dynamic.clamp(0.0, 1.0);
        let rounded = (self.count as f64 * share).round() as u64;
        let least = u64::from(share > 0.0).min(self.count);
        let most = if share < 1.0 { self.count.saturating_sub(1) } else { self.count };
        rounded.max(least).min(most)
    }
}

/// Which part a key belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// Always there; its rank among the static keys.
    Static(u64),
    /// Comes and goes; its rank among the dynamic keys.
    Dynamic(u32),
}

/// A key that was drawn: its virtual value, and where it belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// The virtual value.
    pub number: u64,
    /// The part.
    pub slot: Slot,
}

/// A distribution over the keys of a table: the same over each part, and each part as often as it has keys.
#[derive(Debug, Clone)]
pub struct Parts {
    statics: u64,
    count: u64,
    static_ranks: Option<Ranks>,
    dynamic_ranks: Option<Ranks>,
}

impl Parts {
    /// A distribution over so many static and dynamic keys.
    pub fn new(distribution: &Distribution, statics: u64, dynamics: u64) -> Result<Parts, DistributionError> {
        let ranks = |count: u64| (count > 0).then(|| Ranks::new(distribution, count)).transpose();
        Ok(Parts { statics, count: statics + dynamics, static_ranks: ranks(statics)?, dynamic_ranks: ranks(dynamics)? })
    }

    /// The distribution over the static keys; `None` if there are none.
    pub fn statics(&self) -> Option<&Ranks> {
        self.static_ranks.as_ref()
    }

    /// The distribution over the dynamic keys; `None` if there are none.
    pub fn dynamics(&self) -> Option<&Ranks> {
        self.dynamic_ranks.as_ref()
    }

    /// The slot that a draw means: of either part.
    pub fn slot(&self, draw: u64) -> Slot {
        let target = u128::from(draw) * u128::from(self.count);
        let border = u128::from(self.statics) << 64;
        match (&self.static_ranks, &self.dynamic_ranks) {
            (Some(ranks), _) if target < border => Slot::Static(ranks.rank((target / u128::from(self.statics)) as u64)),
            (_, Some(ranks)) => {
                Slot::Dynamic(ranks.rank(((target - border) / u128::from(ranks.count())) as u64) as u32)
            }
            // Without dynamic keys the target is always below the border; without any keys nothing is ever drawn.
            _ => Slot::Static(0),
        }
    }

    /// The dynamic key that a draw means; `None` if there are none.
    pub fn dynamic(&self, draw: u64) -> Option<u32> {
        self.dynamic_ranks.as_ref().map(|ranks| ranks.rank(draw) as u32)
    }
}

/// The keys of a table.
#[derive(Debug)]
pub struct Keys {
    statics: u64,
    layout: Bijection,
    /// Which dynamic keys exist at the start: those whose image is below `present`.
    presence: Bijection,
    present: u64,
    access: Parts,
    words: Vec<Word>,
}

impl Keys {
    /// The keys of a plan. The caller has checked that the shares are shares and that there are not too many dynamic
    /// keys ([`schema`](super::schema) does).
    pub fn new(plan: &KeyPlan, seed: u64) -> Result<Keys, DistributionError> {
        let dynamic = plan.dynamic_count();
        let statics = plan.count - dynamic;
        let presence = Bijection::new(dynamic, seed ^ PRESENCE);
        let present = (dynamic as f64 * plan.present.clamp(0.0, 1.0)).round() as u64;
        Ok(Keys {
            statics,
            layout: Bijection::new(plan.count, seed),
            access: Parts::new(&plan.access, statics, dynamic)?,
            words: (0..dynamic).map(|at| Word::new(presence.forward(at) < present)).collect(),
            presence,
            present,
        })
    }

    /// How many keys there are.
    pub fn count(&self) -> u64 {
        self.layout.count()
    }

    /// How many of them are always there.
    pub fn static_count(&self) -> u64 {
        self.statics
    }

    /// How many of them come and go.
    pub fn dynamic_count(&self) -> u32 {
        self.words.len() as u32
    }

    /// Where a key belongs.
    pub fn slot(&self, key: u64) -> Slot {
        match self.layout.forward(key) {
            slot if slot < self.statics => Slot::Static(slot),
            slot => Slot::Dynamic((slot - self.statics) as u32),
        }
    }

    /// The key of a slot.
    pub fn key(&self, slot: Slot) -> Key {
        let at = match slot {
            Slot::Static(at) => at,
            Slot::Dynamic(at) => self.statics + u64::from(at),
        };
        Key { number: self.layout.inverse(at), slot }
    }

    /// Whether a key's row exists at the start.
    pub fn exists_at_start(&self, key: u64) -> bool {
        match self.slot(key) {
            Slot::Static(_) => key < self.count(),
            Slot::Dynamic(at) => self.presence.forward(u64::from(at)) < self.present,
        }
    }

    /// How many rows exist at the start.
    pub fn count_at_start(&self) -> u64 {
        self.statics + self.present
    }

    /// The word of a dynamic key; `None` if there is no such key.
    pub fn word(&self, at: u32) -> Option<&Word> {
        self.words.get(at as usize)
    }

    /// How many rows exist now: a snapshot of words that others may be changing.
    pub fn count_now(&self) -> u64 {
        self.statics + self.words.iter().filter(|word| word.see().exists).count() as u64
    }

    /// The access distribution F.
    pub fn access(&self) -> &Parts {
        &self.access
    }
}

/// Keeps the two permutations of a table apart.
const PRESENCE: u64 = 0x7072_6573_656e_6365;

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(count: u64, dynamic: f64, present: f64) -> KeyPlan {
        KeyPlan { count, dynamic, present, access: Distribution::Zipf(0.5) }
    }

    #[test]
    fn every_key_has_a_slot_and_every_slot_a_key() {
        for (count, dynamic) in [(1_000, 0.2), (10, 0.0), (10, 1.0), (1, 0.0), (7, 0.01), (7, 0.99)] {
            let keys = Keys::new(&plan(count, dynamic, 0.5), 1).unwrap();
            assert!((0..count).all(|key| keys.key(keys.slot(key)).number == key));
            let statics = (0..count).filter(|key| matches!(keys.slot(*key), Slot::Static(_))).count() as u64;
            assert_eq!((statics, statics + u64::from(keys.dynamic_count())), (keys.static_count(), count));
            let start = (0..count).filter(|key| keys.exists_at_start(*key)).count() as u64;
            assert_eq!((start, keys.count_now()), (keys.count_at_start(), start));
        }
    }

    #[test]
    fn shares_that_are_not_0_or_1_leave_some_of_both() {
        let count = |share| plan(7, share, 0.0).dynamic_count();
        assert_eq!([0.0, 0.01, 0.5, 0.99, 1.0].map(count), [0, 1, 4, 6, 7]);
    }

    #[test]
    fn both_parts_lie_anywhere_in_the_range() {
        let keys = Keys::new(&plan(1_000, 0.3, 0.5), 2).unwrap();
        let dynamic = |range: std::ops::Range<u64>| range.filter(|key| !matches!(keys.slot(*key), Slot::Static(_)));
        let (low, high) = (dynamic(0..500).count(), dynamic(500..1_000).count());
        assert!(low > 100 && high > 100 && low + high == 300, "{low} {high}");
    }

    #[test]
    fn each_part_is_drawn_as_often_as_it_has_keys() {
        let keys = Keys::new(&plan(1_000, 0.2, 0.5), 3).unwrap();
        let slots: Vec<Slot> = (0..10_000u64).map(|at| keys.access().slot(at * (u64::MAX / 10_000))).collect();
        let dynamic = slots.iter().filter(|slot| matches!(slot, Slot::Dynamic(_))).count();
        assert!((1_995..2_005).contains(&dynamic), "{dynamic}");
        // Within each part the first is the hottest.
        let hits = |wanted: Slot| slots.iter().filter(|slot| **slot == wanted).count();
        assert!(hits(Slot::Static(0)) > hits(Slot::Static(400)));
        assert!(hits(Slot::Dynamic(0)) > hits(Slot::Dynamic(100)));
    }

    #[test]
    fn a_part_without_keys_is_never_drawn() {
        let draws = || (0..1_000u64).map(|at| at * (u64::MAX / 999));
        let fixed = Keys::new(&KeyPlan::fixed(50), 1).unwrap();
        assert!(draws().all(|draw| matches!(fixed.access().slot(draw), Slot::Static(_))));
        assert_eq!((fixed.access().dynamic(1), fixed.word(0).is_none()), (None, true));
        let moving = Keys::new(&plan(50, 1.0, 0.5), 1).unwrap();
        assert!(draws().all(|draw| matches!(moving.access().slot(draw), Slot::Dynamic(_))));
        assert!(moving.access().statics().is_none());
    }
}
