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

/// When a transaction began may be known although its end is not; who ended before that comes before it.
#[test]
fn a_transaction_without_an_end_has_a_beginning() {
    use crate::history::{brute, micro::micro};
    use crate::level::formal::{Level, Order};
    let history = micro("@2-4 wx1 / @7- rx_ wx2 ? | @17-22 rx2").expect("a history");
    for (order, expect) in [(Order::Free, true), (Order::Session, true), (Order::RealTime, false)] {
        let requirement = Level::ReadAtomic.with(order);
        let verdict = super::check(&history, requirement).expect("no value is written twice");
        assert_eq!(verdict.holds(), expect, "{requirement}");
        assert_eq!(brute::satisfies(&history, requirement).expect("the same"), expect, "{requirement}");
    }
}
