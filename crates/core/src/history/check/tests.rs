//! The fast checker against the brute force, on small histories of all kinds.

use crate::generate::random::Random;
use crate::history::micro;
use crate::history::simulate::small::{Comparison, compare, random_small};

#[test]
fn the_fast_checker_agrees_with_the_brute_force() {
    for seed in 0..2_000 {
        let history = random_small(&mut Random::new(seed, &[]), seed % 2 == 0);
        let comparison = compare(&history).unwrap();
        assert_eq!(comparison, Comparison::default(), "seed {seed}\n{}", micro::print(&history));
    }
}
