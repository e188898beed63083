//! Where draws come from: independent ones, or ones that are spread evenly.
//!
//! A *draw* is a point of the unit interval, written as a whole number: `u` stands for the fraction `u / 2⁶⁴`. Whole
//! numbers keep the inversion of a distribution exact (see [`distribution`](super::distribution)), whatever its size.
//!
//! - **Independent** draws are what the word *random* promises. Counts of accesses then vary as chance has it, so the
//!   p-value of their χ² statistic (the paper's β) is uniform between 0 and 1: small now and then, and that is right.
//! - **Even** draws keep every count as close to its expectation as whole numbers allow, and β next to 1. They are van
//!   der Corput's sequence (the binary digits of 0, 1, 2, … mirrored at the point), with each digit flipped or not as a
//!   hash of the digits before it says (Owen's scrambling), so that the seed matters and no pattern shows:
//!
//! ```text
//!   draws 0 1 2 3 …   one in each half, one in each quarter, one in each eighth, …  of any aligned 2, 4, 8, …
//! ```
//!
//! Even draws lower contention: two transactions that draw one after the other hardly ever get the same key. Who looks
//! for conflicts wants independent ones, and they are the default.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::generate::random::Random;

/// How accesses are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Access {
    /// Each draw is independent of all others.
    #[default]
    Independent,
    /// Draws are spread evenly.
    Even,
}

/// A source of draws.
#[derive(Debug, Clone)]
pub struct Sampler(Source);

#[derive(Debug, Clone)]
enum Source {
    Independent { random: Random, seed: u64 },
    Even(Arc<Even>),
}

/// A scrambled van der Corput sequence; any number of threads may draw from it.
#[derive(Debug)]
struct Even {
    next: AtomicU64,
    seed: u64,
}

impl Sampler {
    /// The draws of a seed. `path` says what they are for.
    ///
    /// What is to be even needs a sampler of its own: of a sequence that serves reads and updates alternately, neither
    /// gets an even part.
    pub fn new(access: Access, seed: u64, path: &[u64]) -> Sampler {
        let mut random = Random::new(seed, path);
        let own = random.below(usize::MAX) as u64;
        Sampler(match access {
            Access::Independent => Source::Independent { random, seed: own },
            Access::Even => Source::Even(Arc::new(Even { next: AtomicU64::new(0), seed: own })),
        })
    }

    /// A sampler for one of several sessions: with independent draws it has draws of its own, whatever the others do.
    /// Even ones share the sequence, since only their union is even.
    pub fn for_session(&self, session: u64) -> Sampler {
        Sampler(match &self.0 {
            Source::Independent { seed, .. } => {
                Source::Independent { random: Random::new(*seed, &[session]), seed: *seed }
            }
            Source::Even(even) => Source::Even(Arc::clone(even)),
        })
    }

    /// The next draw.
    pub fn draw(&mut self) -> u64 {
        match &mut self.0 {
            // The whole of the 64 bits, but for one value.
            Source::Independent { random, .. } => random.below(usize::MAX) as u64,
            Source::Even(even) => scrambled(even.next.fetch_add(1, Ordering::Relaxed), even.seed),
        }
    }
}

/// A point of the sequence. Each step below changes a bit depending on lower bits only, so in the mirror image each
/// digit depends on those before it: that is Owen's scrambling (the hash is of the kind that Laine and Karras found).
fn scrambled(index: u64, seed: u64) -> u64 {
    let mut x = index.wrapping_add(seed);
    x ^= x.wrapping_mul(0x6c50_b47c_8ab5_d1e6);
    x = x.wrapping_mul(seed.rotate_left(32) | 1);
    x ^= x.wrapping_mul(0xb82f_1e52_c7af_c638);
    x ^= x.wrapping_mul(0xc7af_e638_8d22_f6e6);
    x.reverse_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(access: Access, seed: u64, count: usize) -> Vec<u64> {
        let mut sampler = Sampler::new(access, seed, &[]);
        (0..count).map(|_| sampler.draw()).collect()
    }

    #[test]
    fn the_seed_decides() {
        for access in [Access::Independent, Access::Even] {
            assert_eq!(draws(access, 1, 20), draws(access, 1, 20));
            assert_ne!(draws(access, 1, 20), draws(access, 2, 20));
        }
    }

    #[test]
    fn even_draws_meet_every_part_once() {
        for (seed, bits) in [(1, 4), (2, 8), (3, 10)] {
            let mut parts: Vec<u64> = draws(Access::Even, seed, 1 << bits).iter().map(|u| u >> (64 - bits)).collect();
            assert_ne!(parts, (0..1 << bits).collect::<Vec<u64>>());
            parts.sort_unstable();
            assert!(parts.into_iter().eq(0..1 << bits), "seed {seed}");
        }
    }

    #[test]
    fn independent_draws_do_not() {
        let mut parts: Vec<u64> = draws(Access::Independent, 1, 1 << 10).iter().map(|u| u >> 54).collect();
        parts.sort_unstable();
        parts.dedup();
        // Of n boxes, n balls leave a share of 1/e empty.
        assert!((600..700).contains(&parts.len()), "{}", parts.len());
    }

    #[test]
    fn sessions_have_draws_of_their_own_or_share_the_sequence() {
        let both = |access| {
            let sampler = Sampler::new(access, 5, &[]);
            let (mut a, mut b) = (sampler.for_session(0), sampler.for_session(1));
            (0..64).flat_map(|_| [a.draw(), b.draw()]).collect::<Vec<u64>>()
        };
        assert_eq!(both(Access::Even), draws(Access::Even, 5, 128));
        let independent = both(Access::Independent);
        assert!(independent.chunks(2).all(|pair| pair[0] != pair[1]));
        let mut alone = Sampler::new(Access::Independent, 5, &[]).for_session(1);
        assert!(independent.chunks(2).all(|pair| pair[1] == alone.draw()));
    }
}
