//! NURand, the specification's uneven random numbers (clause 2.1.6), and the last names made of them.
//!
//! Some numbers come more often than others: bits of two even numbers are laid over each other, so that numbers with
//! many ones are frequent. How uneven it is depends on `A`, which the specification gives for its full size; here it is
//! smaller in the same proportion.

use txloom_core::generate::random::Random;

use super::sizes::Sizes;

/// Uneven random numbers of a range.
#[derive(Debug, Clone, Copy)]
pub(super) struct NuRand {
    low: i64,
    high: i64,
    /// One less than a power of two.
    a: i64,
    /// Which numbers are the frequent ones.
    c: i64,
}

impl NuRand {
    /// Numbers of last names, from 0.
    pub(super) fn names(sizes: &Sizes, random: &mut Random) -> NuRand {
        NuRand::new(0, sizes.names() - 1, (255, 1_000), random)
    }

    /// Customers of a district, from 1.
    pub(super) fn customers(sizes: &Sizes, random: &mut Random) -> NuRand {
        NuRand::new(1, sizes.customers, (1_023, 3_000), random)
    }

    /// Items, from 1.
    pub(super) fn items(sizes: &Sizes, random: &mut Random) -> NuRand {
        NuRand::new(1, sizes.items(), (8_191, 100_000), random)
    }

    fn new(low: i64, high: i64, (full_a, full_range): (i64, i64), random: &mut Random) -> NuRand {
        let range = high - low + 1;
        let power = ((full_a + 1) * range / full_range).max(2) as u64;
        let a = power.next_power_of_two() as i64 - 1;
        NuRand { low, high, a, c: random.between(0, a) }
    }

    /// The next number.
    pub(super) fn next(&self, random: &mut Random) -> i64 {
        let NuRand { low, high, a, c } = *self;
        let laid_over = random.between(0, a) | random.between(low, high);
        (laid_over + c) % (high - low + 1) + low
    }
}

const SYLLABLES: [&str; 10] = ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

/// The last name of a number below 1,000 (clause 4.3.2.3).
pub(super) fn last_name(number: i64) -> String {
    [100, 10, 1].map(|digit| SYLLABLES[(number / digit % 10) as usize]).concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_syllables() {
        assert_eq!(last_name(371), "PRICALLYOUGHT");
        assert_eq!(last_name(0), "BARBARBAR");
        assert_eq!(last_name(999), "EINGEINGEING");
    }

    #[test]
    fn at_full_size_a_is_that_of_the_specification() {
        let (full, mut random) = (Sizes { warehouses: 1, customers: 3_000 }, Random::new(1, &[]));
        assert_eq!(NuRand::names(&full, &mut random).a, 255);
        assert_eq!(NuRand::customers(&full, &mut random).a, 1_023);
        assert_eq!(NuRand::items(&full, &mut random).a, 8_191);
    }

    #[test]
    fn numbers_are_of_the_range_and_uneven() {
        for customers in [10, 100, 3_000] {
            let (sizes, mut random) = (Sizes { warehouses: 1, customers }, Random::new(5, &[]));
            let ranges = [
                (NuRand::names(&sizes, &mut random), 0, sizes.names() - 1),
                (NuRand::customers(&sizes, &mut random), 1, customers),
                (NuRand::items(&sizes, &mut random), 1, sizes.items()),
            ];
            for (nurand, low, high) in ranges {
                let mut counts = vec![0_usize; (high - low + 1) as usize];
                (0..100_000).for_each(|_| counts[(nurand.next(&mut random) - low) as usize] += 1);
                assert!(counts.iter().all(|count| *count > 0) || high > 400, "{nurand:?}");
                let most = counts.iter().max().unwrap() * counts.len();
                assert!(most > 140_000, "{nurand:?}: {most}");
            }
        }
    }
}
