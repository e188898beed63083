//! Every operator against native arithmetic, and random problems against brute force.

use proptest::prelude::*;

use super::interval::Interval;
use super::random::{DOMAIN, Recipe};
use super::term::{quotient_of, remainder_of};
use super::*;

const BUDGET: u64 = 1_000_000;

/// The values of the unknowns, or what is said instead.
fn solved(problem: &Problem) -> Result<Vec<i128>, Answer> {
    match problem.solve(BUDGET) {
        Answer::Possible(model) => {
            let values = problem.evaluate(&model);
            assert!(problem.demands().iter().all(|demand| values.truth(*demand) == Some(true)), "{problem:?}");
            Ok(model.values().to_vec())
        }
        other => Err(other),
    }
}

/// Two unknowns of that range are fixed by demands, which the terms know nothing of: the circuit has to compute.
fn check_arithmetic(range: Interval, build: fn(&mut Terms, Int, Int) -> Int, native: fn(i128, i128) -> Option<i128>) {
    for (x, y) in range.clone().flat_map(|x| range.clone().map(move |y| (x, y))) {
        let mut problem = Problem::new();
        let (a, b) = (problem.integer("a", range.clone()), problem.integer("b", range.clone()));
        let result = build(&mut problem, a, b);
        let found = problem.integer("found", -1_000..=1_000);
        let (x_term, y_term) = (problem.constant(x), problem.constant(y));
        for equal in [problem.equal(a, x_term), problem.equal(b, y_term), problem.equal(result, found)] {
            problem.demand(equal);
        }
        assert_eq!(solved(&problem), Ok(vec![x, y, native(x, y).unwrap()]));
    }
}

#[test]
fn arithmetic_is_that_of_integers() {
    // All numbers of three bits; for divisions, also some of four.
    let range = -4..=3;
    check_arithmetic(range.clone(), Terms::plus, i128::checked_add);
    check_arithmetic(range.clone(), Terms::minus, i128::checked_sub);
    check_arithmetic(range.clone(), Terms::times, i128::checked_mul);
    check_arithmetic(range.clone(), |terms, a, _| terms.negate(a), |a, _| a.checked_neg());
    let least = |terms: &mut Terms, a, b| {
        let less = terms.less(a, b);
        terms.choose(less, a, b)
    };
    check_arithmetic(range.clone(), least, |a, b| Some(a.min(b)));
    for range in [range, -2..=5] {
        check_arithmetic(range.clone(), Terms::quotient, quotient_of);
        check_arithmetic(range, Terms::remainder, remainder_of);
    }
}

#[test]
fn comparisons_are_those_of_integers() {
    type Compare = fn(&mut Terms, Int, Int) -> Bool;
    type Native = fn(&i128, &i128) -> bool;
    let comparisons: [(Compare, Native); 4] =
        [(Terms::equal, i128::eq), (Terms::unequal, i128::ne), (Terms::less, i128::lt), (Terms::at_most, i128::le)];
    for (build, native) in comparisons {
        // Operands of different widths, too.
        for (x, y) in (-5..=4).flat_map(|x| (-2..=1).map(move |y| (x, y))) {
            let mut problem = Problem::new();
            let (a, b) = (problem.integer("a", -5..=4), problem.integer("b", -2..=1));
            let (x_term, y_term) = (problem.constant(x), problem.constant(y));
            let compared = build(&mut problem, a, b);
            let expected = if native(&x, &y) { compared } else { problem.not(compared) };
            for demand in [problem.equal(a, x_term), problem.equal(b, y_term), expected] {
                problem.demand(demand);
            }
            assert_eq!(solved(&problem), Ok(vec![x, y]));
        }
    }
}

#[test]
fn constants_are_computed_while_building() {
    let mut terms = Terms::default();
    let [seven, minus_two, zero] = [7, -2, 0].map(|value| terms.constant(value));
    let computed = [
        (terms.plus(seven, minus_two), 5),
        (terms.minus(seven, minus_two), 9),
        (terms.times(seven, minus_two), -14),
        (terms.quotient(seven, minus_two), -3),
        (terms.remainder(seven, minus_two), 1),
        (terms.quotient(seven, zero), 0),
        (terms.remainder(seven, zero), 7),
        (terms.negate(seven), -7),
    ];
    computed.into_iter().for_each(|(term, value)| assert_eq!(terms.as_constant(term), Some(value)));
    let (a, b) = (terms.integer("a", 1..=5), terms.integer("b", 1..=5));
    assert_eq!(terms.plus(a, b), terms.plus(b, a));
    assert_eq!(terms.plus(a, zero), a);
    let (less, same) = (terms.less(zero, a), terms.equal(seven, a));
    assert_eq!((terms.as_truth(less), terms.as_truth(same)), (Some(true), Some(false)));
    let (open, opposite) = (terms.less(a, b), terms.at_most(b, a));
    let (never, always) = (terms.and(open, opposite), terms.or(open, opposite));
    assert_eq!((terms.as_truth(never), terms.as_truth(always)), (Some(false), Some(true)));
}

#[test]
fn preferences_are_kept_as_far_as_they_can_be() {
    let mut problem = Problem::new();
    let (a, b) = (problem.integer("a", i128::from(i32::MIN)..=i128::from(i32::MAX)), problem.integer("b", 0..=1_000));
    let (one, two, limit) = (problem.constant(1), problem.constant(2), problem.constant(40));
    let sum = problem.plus(a, b);
    let demand = problem.less(limit, sum);
    problem.demand(demand);
    let small = [problem.equal(a, one), problem.equal(a, two)];
    problem.prefer(small);
    let equal = problem.equal(a, b);
    problem.prefer([equal]);
    let round = [one, limit].map(|value| problem.equal(b, value));
    problem.prefer(round);
    assert_eq!(solved(&problem), Ok(vec![1, 40]));
}

#[test]
fn small_values_are_as_near_to_zero_as_they_can_be() {
    for (low, high, expect) in [(-100, 100, 0), (37, 1 << 30, 37), (-(1 << 30), -1_001, -1_001), (5, 5, 5)] {
        let mut problem = Problem::new();
        let a = problem.integer("a", -(1 << 31)..=1 << 31);
        let within = problem.within(a, &(low..=high));
        problem.demand(within);
        let (zero, two) = (problem.constant(0), problem.constant(2));
        let positive = problem.at_most(zero, a);
        problem.prefer([positive]);
        problem.prefer_small(a);
        let not_smallest = problem.less(two, a);
        problem.prefer([not_smallest]);
        assert_eq!(solved(&problem), Ok(vec![expect]));
    }
}

#[test]
fn a_conflict_is_as_small_as_it_can_be() {
    let mut problem = Problem::new();
    let (amount, other) = (problem.integer("amount", 0..=100), problem.integer("other", 0..=100));
    let [five, ten] = [5, 10].map(|value| problem.constant(value));
    let demands = [
        problem.less(other, ten),
        problem.less(ten, amount),
        problem.less(other, amount),
        problem.less(amount, five),
        problem.less(amount, ten),
    ];
    for demand in demands {
        problem.demand(demand);
    }
    assert_eq!(problem.solve(BUDGET), Answer::Impossible);
    assert_eq!(problem.conflict(BUDGET), Some(vec![1, 3]));
}

#[test]
fn what_is_too_wide_is_not_known() {
    let mut problem = Problem::new().with_width_max(32);
    let a = problem.integer("a", 0..=1 << 20);
    let square = problem.times(a, a);
    let small = problem.constant(9);
    let demand = problem.equal(square, small);
    problem.demand(demand);
    assert_eq!(problem.solve(BUDGET), Answer::Unknown);
    assert_eq!(problem.conflict(BUDGET), None);
    // What is impossible anyway is.
    let (low, high) = (problem.less(a, small), problem.less(small, a));
    problem.demand(low);
    problem.demand(high);
    assert_eq!(problem.solve(BUDGET), Answer::Impossible);
    assert_eq!(problem.conflict(BUDGET), Some(vec![1, 2]));
    // Beyond all numbers.
    let mut problem = Problem::new();
    let a = problem.integer("a", 0..=i128::MAX);
    let more = problem.plus(a, a);
    let demand = problem.less(a, more);
    problem.demand(demand);
    assert_eq!(problem.solve(BUDGET), Answer::Unknown);
}

#[test]
fn wide_numbers_are_exact() {
    let mut problem = Problem::new();
    let (a, b) = (problem.integer("a", 2..=1_000), problem.integer("b", 1..=i128::from(i64::MAX)));
    let product = problem.times(a, b);
    let wanted = problem.constant(3 * i128::from(i64::MAX));
    let three = problem.constant(3);
    for demand in [problem.equal(product, wanted), problem.equal(a, three)] {
        problem.demand(demand);
    }
    assert_eq!(solved(&problem), Ok(vec![3, i128::from(i64::MAX)]));
}

/// Whether some values fulfil all demands, by trying all.
fn brute(problem: &Problem) -> bool {
    let models = DOMAIN.flat_map(|a| DOMAIN.flat_map(move |b| [0, 1].map(|c| Model::new(vec![a, b, c]))));
    models.map(|model| problem.evaluate(&model)).any(|values| {
        let is_met = |demand: &Bool| values.truth(*demand) == Some(true);
        problem.demands().iter().all(is_met)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn answers_are_those_of_trying_everything(
        steps in proptest::collection::vec((any::<u8>(), 0_usize..30, 0_usize..30, 0_usize..30), 1..25),
        demands in proptest::collection::vec((0_usize..6, any::<bool>()), 1..5),
    ) {
        let problem = Recipe { steps, demands }.cook();
        match problem.solve(BUDGET) {
            Answer::Possible(model) => {
                let values = problem.evaluate(&model);
                prop_assert!(problem.demands().iter().all(|demand| values.truth(*demand) == Some(true)));
                prop_assert!(brute(&problem));
            }
            Answer::Impossible => {
                prop_assert!(!brute(&problem));
                let conflict = problem.conflict(BUDGET).expect("it is impossible");
                let met = |demands: &[usize]| {
                    let mut part = problem.clone();
                    part.demands = demands.iter().map(|at| problem.demands()[*at]).collect();
                    brute(&part)
                };
                prop_assert!(!met(&conflict));
                for left_out in 0..conflict.len() {
                    let mut fewer = conflict.clone();
                    fewer.remove(left_out);
                    prop_assert!(met(&fewer), "{conflict:?} without {left_out} is still impossible");
                }
            }
            // Long chains of products.
            Answer::Unknown => {}
        }
        prop_assert_eq!(problem.solve(BUDGET), problem.solve(BUDGET));
    }
}
