//! The bounds of sums, products and quotients.
//!
//! Every function gives bounds that the result stays within, as narrow as is simple; `None` if they do not fit into the
//! numbers that we compute with.

use std::ops::RangeInclusive;

/// From the first to the last, both included.
pub type Interval = RangeInclusive<i128>;

/// All sums.
pub fn sum(a: &Interval, b: &Interval) -> Option<Interval> {
    Some(a.start().checked_add(*b.start())?..=a.end().checked_add(*b.end())?)
}

/// All differences.
pub fn difference(a: &Interval, b: &Interval) -> Option<Interval> {
    Some(a.start().checked_sub(*b.end())?..=a.end().checked_sub(*b.start())?)
}

/// All products: the extremes are at the corners.
pub fn product(a: &Interval, b: &Interval) -> Option<Interval> {
    let corners = [(a.start(), b.start()), (a.start(), b.end()), (a.end(), b.start()), (a.end(), b.end())];
    span(corners.iter().map(|(x, y)| x.checked_mul(**y)))
}

/// All quotients, rounded towards zero; that by zero is zero.
pub fn quotient(a: &Interval, b: &Interval) -> Option<Interval> {
    let divisors = [*b.start(), *b.end(), -1, 1].into_iter().filter(|divisor| *divisor != 0 && b.contains(divisor));
    let corners = divisors.flat_map(|divisor| [a.start().checked_div(divisor), a.end().checked_div(divisor)]);
    span(corners.chain(b.contains(&0).then_some(Some(0))))
}

/// All remainders, which have the sign of the dividend; that of a division by zero is the dividend.
pub fn remainder(a: &Interval, b: &Interval) -> Option<Interval> {
    let longest = if b.contains(&0) { None } else { Some(b.start().checked_abs()?.max(b.end().checked_abs()?) - 1) };
    let within = |bound: i128| match longest {
        Some(longest) => bound.clamp(-longest, longest),
        None => bound,
    };
    Some(within(*a.start()).min(0)..=within(*a.end()).max(0))
}

/// From the least to the greatest of the bounds of both.
pub fn either(a: &Interval, b: &Interval) -> Interval {
    *a.start().min(b.start())..=*a.end().max(b.end())
}

fn span(values: impl Iterator<Item = Option<i128>>) -> Option<Interval> {
    let values = values.collect::<Option<Vec<i128>>>()?;
    Some(values.iter().copied().min()?..=values.iter().copied().max()?)
}

/// How many bits of two's complement hold all values.
pub fn width(interval: &Interval) -> u32 {
    let bits = |value: i128| 129 - (if value < 0 { !value } else { value }).leading_zeros();
    bits(*interval.start()).max(bits(*interval.end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::term::{quotient_of, remainder_of};

    #[test]
    fn results_stay_within_their_bounds() {
        type Bound = fn(&Interval, &Interval) -> Option<Interval>;
        type Native = fn(i128, i128) -> Option<i128>;
        let operations: [(Bound, Native); 5] = [
            (sum, i128::checked_add),
            (difference, i128::checked_sub),
            (product, i128::checked_mul),
            (quotient, quotient_of),
            (remainder, remainder_of),
        ];
        let intervals: Vec<Interval> = (-4..=4).flat_map(|low| (low..=4).map(move |high| low..=high)).collect();
        for (bound, native) in operations {
            for (a, b) in intervals.iter().flat_map(|a| intervals.iter().map(move |b| (a, b))) {
                let bounds = bound(a, b).unwrap();
                for (x, y) in a.clone().flat_map(|x| b.clone().map(move |y| (x, y))) {
                    let value = native(x, y).unwrap();
                    assert!(bounds.contains(&value), "{a:?} {b:?}: {x} {y} gives {value}, not in {bounds:?}");
                }
            }
        }
    }

    #[test]
    fn widths_are_as_small_as_they_can_be() {
        let widths = [(0..=0, 1), (-1..=0, 1), (0..=1, 2), (-2..=1, 2), (-3..=1, 3), (0..=127, 8), (0..=128, 9)];
        for (interval, expect) in widths {
            assert_eq!(width(&interval), expect, "{interval:?}");
        }
        assert_eq!(width(&(i128::MIN..=i128::MAX)), 128);
        assert_eq!(product(&(0..=i128::MAX), &(2..=2)), None);
        assert_eq!(quotient(&(i128::MIN..=0), &(-1..=1)), None);
    }
}
