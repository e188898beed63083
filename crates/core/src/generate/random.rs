//! Random numbers: one seed reproduces everything.
//!
//! Everything that is generated is a function of a seed and of numbers that say *what* is generated ("group 12, case 3").
//! So a case can be made again without making all those before it, and two workers never share a stream.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The stream of a seed; each path of numbers has a stream of its own.
    pub fn new(seed: u64, path: &[u64]) -> Random {
        // The generator spreads its seed by itself (SplitMix64): neighbours share nothing. The odd constant keeps
        // `[1, 2]` apart from `[2, 1]`.
        let mixed = path.iter().fold(seed, |mixed, number| {
            let next = mixed.rotate_left(23).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number.wrapping_add(1);
            Xoshiro256PlusPlus::seed_from_u64(next).next_u64()
        });
        Random(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }

    /// A number below `limit`, each with the same chance; 0 if there is none.
    pub fn below(&mut self, limit: usize) -> usize {
        // The high half of the product: the bias is below 2⁻⁴⁰ for everything that we choose from.
        let product = u128::from(self.0.next_u64()) * limit as u128;
        (product >> 64) as usize
    }

    /// A number between the two, both included.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = high.saturating_sub(low).max(0) as usize;
        low + self.below(span.saturating_add(1)) as i64
    }

    /// True with the chance `part` of `whole`.
    pub fn chance(&mut self, part: usize, whole: usize) -> bool {
        self.below(whole) < part
    }

    /// One of them; `None` if there is none.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }

    /// Puts them in a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// A position, chosen with these weights; `None` if they are all 0.
    pub fn weighted(&mut self, weights: &[u64]) -> Option<usize> {
        let total: u64 = weights.iter().sum();
        let mut left = self.below(usize::try_from(total).ok().filter(|total| *total > 0)?) as u64;
        weights.iter().position(|weight| {
            let hit = left < *weight;
            left = left.saturating_sub(*weight);
            hit
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_a_function_of_its_seed_and_path() {
        let numbers = |seed, path: &[u64]| {
            let mut random = Random::new(seed, path);
            (0..8).map(|_| random.below(1_000_000)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(1, &[2, 3]), numbers(1, &[2, 3]));
        for other in [numbers(1, &[3, 2]), numbers(2, &[2, 3]), numbers(1, &[2]), numbers(1, &[2, 3, 0])] {
            assert_ne!(numbers(1, &[2, 3]), other);
        }
    }

    #[test]
    fn every_value_has_its_chance_and_no_other_appears() {
        let mut random = Random::new(7, &[]);
        let mut seen = [0; 5];
        (0..5_000).for_each(|_| seen[random.below(5)] += 1);
        assert!(seen.iter().all(|count| (800..1_200).contains(count)), "{seen:?}");
        assert!((0..1_000).all(|_| (-3..=3).contains(&random.between(-3, 3))));
        assert_eq!((random.below(0), random.pick::<u8>(&[]), random.weighted(&[0, 0])), (0, None, None));
        assert!((0..100).all(|_| random.weighted(&[0, 3, 0]) == Some(1)));
    }
}
