//! A seeded permutation of the numbers below `n`, computed instead of stored.
//!
//! Everything in the shadow is a number below some `n`: keys, values of attributes, positions in a distribution. To
//! say "the hot keys lie anywhere" or "this attribute has nothing to do with the key" one needs a permutation of these
//! numbers, and for 100 million keys it must not take memory. So it is a chain of steps that can each be undone, on the
//! smallest power of two that holds `n`:
//!
//! ```text
//!   x ──(+ key)──→ ┌ × odd number  mod 2ᵇ ┐ ──→ y      y < n: done
//!                  │ x ^ (x >> ⌈b/2⌉)     │            y ≥ n: through the chain once more, with y ("cycle walking")
//!                  └──── three rounds ────┘
//! ```
//!
//! A multiplication carries low bits up, the shift brings high bits down; after three rounds each bit depends on all.
//! Walking on until the number is below `n` follows the permutation's own cycle, which must come back to where it
//! began; so it ends, and what remains is a permutation of the numbers below `n`. As `2ᵇ < 2n`, two passes are enough on
//! average.
//!
//! Limits: no cryptography. For a handful of numbers there are few permutations, and the identity is one of them.

use crate::generate::random::Random;

const ROUNDS: usize = 3;

/// A permutation of the numbers below [`Bijection::count`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bijection {
    count: u64,
    mask: u64,
    shift: u32,
    offset: u64,
    rounds: [Round; ROUNDS],
}

/// An odd factor and its inverse modulo 2⁶⁴ (and so modulo every smaller power of two).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Round {
    factor: u64,
    inverse: u64,
}

impl Bijection {
    /// The permutation of the numbers below `count` that belongs to a seed.
    pub fn new(count: u64, seed: u64) -> Bijection {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        let mut random = Random::new(seed, &[count]);
        let mut number = || random.below(usize::MAX) as u64;
        let offset = number();
        let rounds = std::array::from_fn(|_| Round::new(number() | 1));
        let mask = u64::MAX.checked_shr(u64::BITS - bits).unwrap_or(0);
        Bijection { count, mask, shift: bits.div_ceil(2).max(1), offset, rounds }
    }

    /// How many numbers are permuted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The image of a number. A number that is not below the count stays what it is: it takes no part.
    pub fn forward(&self, number: u64) -> u64 {
        if number >= self.count {
            return number;
        }
        let mut x = number;
        loop {
            x = x.wrapping_add(self.offset) & self.mask;
            for round in &self.rounds {
                x = x.wrapping_mul(round.factor) & self.mask;
                x ^= x >> self.shift;
            }
            if x < self.count {
                return x;
            }
        }
    }

    /// The number whose image this is.
    pub fn inverse(&self, image: u64) -> u64 {
        if image >= self.count {
            return image;
        }
        let mut x = image;
        loop {
            for round in self.rounds.iter().rev() {
                // The shift is at least half of the bits, so that the step undoes itself.
                x ^= x >> self.shift;
                x = x.wrapping_mul(round.inverse) & self.mask;
            }
            x = x.wrapping_sub(self.offset) & self.mask;
            if x < self.count {
                return x;
            }
        }
    }
}

impl Round {
    fn new(factor: u64) -> Round {
        // Newton's iteration doubles the number of correct bits: an odd number is its own inverse modulo 8.
        let step = |inverse: u64, _| inverse.wrapping_mul(2u64.wrapping_sub(factor.wrapping_mul(inverse)));
        Round { factor, inverse: (0..5).fold(factor, step) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_ones_are_permutations() {
        for count in (0..=130).chain([255, 256, 257, 1_000, 4_097]) {
            for seed in 0..5 {
                let bijection = Bijection::new(count, seed);
                let mut images: Vec<u64> = (0..count).map(|number| bijection.forward(number)).collect();
                assert!(
                    (0..count).all(|number| bijection.inverse(images[number as usize]) == number),
                    "{count} {seed}"
                );
                images.sort_unstable();
                assert!(images.into_iter().eq(0..count), "{count} {seed}");
            }
        }
    }

    #[test]
    fn what_is_outside_stays_there() {
        let bijection = Bijection::new(100, 1);
        assert_eq!((bijection.forward(100), bijection.inverse(u64::MAX)), (100, u64::MAX));
        assert_eq!(Bijection::new(0, 1).forward(0), 0);
    }

    #[test]
    fn seeds_differ() {
        let images = |seed| (0..50).map(|number| Bijection::new(1_000, seed).forward(number)).collect::<Vec<_>>();
        assert_eq!(images(1), images(1));
        assert_ne!(images(1), images(2));
    }

    /// Neighbours go up as often as down, and the images of the first half lie in both halves.
    #[test]
    fn the_order_is_lost() {
        for count in [1_000u64, 65_536, 1_000_003, 1 << 40, 1 << 63] {
            for seed in 0..4 {
                let bijection = Bijection::new(count, seed);
                let sample = 2_000u64.min(count / 2);
                let up = (0..sample).filter(|at| bijection.forward(*at) < bijection.forward(at + 1)).count() as f64;
                let high = (0..sample).filter(|at| bijection.forward(*at) >= count / 2).count() as f64;
                for share in [up / sample as f64, high / sample as f64] {
                    // Among 1,000 numbers, 500 are drawn without replacement; 0.1 is more than four deviations.
                    assert!((0.4..0.6).contains(&share), "{count} {seed}: {share}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn forward_and_inverse_undo_each_other(count in 1u64..=1 << 63, seed: u64, number: u64) {
            let bijection = Bijection::new(count, seed);
            let number = number % count;
            let image = bijection.forward(number);
            prop_assert!(image < count);
            prop_assert_eq!(bijection.inverse(image), number);
            prop_assert_eq!(bijection.forward(bijection.inverse(number)), number);
        }
    }
}
