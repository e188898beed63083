//! Δ-stable attributes: what a column holds, known without asking the database.
//!
//! An attribute has a theoretical distribution G over its virtual values, and everything that is ever written to it is
//! drawn from G. Then what is in the table follows G at any time, but for a deviation Δ (the paper's Definition 2 and
//! Theorem 1), if three rules are kept:
//!
//! - **R1** the data of an insert are drawn from G: [`Attribute::draw`], or [`Attribute::initial`] of the new key;
//! - **R2** there are never fewer rows than at the start: only dynamic keys are deleted, so at least the static ones
//!   are always there ([`keys`](super::keys));
//! - **R3** an update is a delete and an insert of the same row: its data are drawn from G, too.
//!
//! Initial data are computed from the key, so that a table of any size can be filled in parallel and again:
//!
//! ```text
//!   key ──permutation──→ position p ──→ u = p / n ──G⁻¹──→ virtual value ──Φ──→ value
//!                                                   ←─G──
//! ```
//!
//! The paper's Algorithm 1 uses the key itself as position. Taken literally, every attribute is then monotone in the
//! key, and all attributes are monotone in each other: `WHERE a < 3 AND b > 7` never finds anything, and an index on
//! `a` lies in the order of the table. So each attribute has a permutation of its own ([`Bijection`]).
//!
//! All steps can be undone. The keys with a value are a range of positions, which tells how many they are and which,
//! in constant time. That is what predicates are made from, and for attributes that no update touches it stays true
//! for ever (see [`Attribute::fixed`]).

use std::ops::Range;

use super::bijection::Bijection;
use super::column::Columns;
use super::distribution::{Distribution, DistributionError, Ranks};
use super::sampler::Sampler;

/// An attribute of a table.
#[derive(Debug, Clone)]
pub struct Attribute {
    columns: Columns,
    ranks: Ranks,
    positions: Bijection,
    fixed: bool,
}

impl Attribute {
    /// An attribute of a table with so many keys. `fixed` says that updates leave it alone.
    pub fn new(
        columns: Columns,
        distribution: &Distribution,
        keys: u64,
        fixed: bool,
        seed: u64,
    ) -> Result<Attribute, DistributionError> {
        let ranks = Ranks::new(distribution, columns.domain())?;
        Ok(Attribute { columns, ranks, positions: Bijection::new(keys, seed), fixed })
    }

    /// Its columns.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The distribution of its virtual values.
    pub fn ranks(&self) -> &Ranks {
        &self.ranks
    }

    /// Whether every row that exists has the [`initial`](Attribute::initial) value of its key, always: no update
    /// touches the attribute, and inserts compute it.
    pub fn fixed(&self) -> bool {
        self.fixed
    }

    /// The virtual value that a key's row has at the start.
    pub fn initial(&self, key: u64) -> u64 {
        place(&self.positions, &self.ranks, key)
    }

    /// A virtual value for a row that is inserted or updated.
    pub fn draw(&self, sampler: &mut Sampler) -> u64 {
        self.ranks.rank(sampler.draw())
    }

    /// How many of the keys have a virtual value of this range at the start.
    pub fn key_count(&self, values: Range<u64>) -> u64 {
        let positions = self.position_range(values);
        positions.end - positions.start
    }

    /// These keys, in no particular order, one after the other.
    pub fn keys(&self, values: Range<u64>) -> impl Iterator<Item = u64> + '_ {
        self.position_range(values).map(|position| self.positions.inverse(position))
    }

    /// One of these keys; `None` if there is none.
    pub fn key(&self, values: Range<u64>, draw: u64) -> Option<u64> {
        let positions = self.position_range(values);
        let within = (u128::from(draw) * u128::from(positions.end - positions.start)) >> 64;
        (positions.start < positions.end).then(|| self.positions.inverse(positions.start + within as u64))
    }

    /// The probability that a row has a virtual value of this range.
    pub fn probability(&self, values: Range<u64>) -> f64 {
        let end = values.end.max(values.start);
        self.ranks.cumulative(end) - self.ranks.cumulative(values.start)
    }

    /// The measure of stability: the largest distance between the distribution function of these virtual values (in
    /// any order; they are sorted) and the theoretical one. 0 if there are none.
    pub fn deviation(&self, values: &mut [u64]) -> f64 {
        values.sort_unstable();
        let count = values.len() as f64;
        let mut worst: f64 = 0.0;
        let mut before = 0usize;
        for group in values.chunk_by(|a, b| a == b) {
            // Both functions are steps; they are furthest apart just before and just after a value.
            worst = worst.max((before as f64 / count - self.ranks.cumulative(group[0])).abs());
            before += group.len();
            worst = worst.max((before as f64 / count - self.ranks.cumulative(group[0] + 1)).abs());
        }
        worst
    }

    fn position_range(&self, values: Range<u64>) -> Range<u64> {
        let first = self.position(values.start);
        first..self.position(values.end).max(first)
    }

    /// The first position whose value is this one or a later one.
    fn position(&self, value: u64) -> u64 {
        first_position(&self.ranks, self.positions.count(), value)
    }
}

/// DCF: the rank of a key, by its position.
pub(super) fn place(positions: &Bijection, ranks: &Ranks, key: u64) -> u64 {
    let position = u128::from(positions.forward(key));
    ranks.rank(((position << 64) / u128::from(positions.count().max(1))) as u64)
}

/// The first of `count` positions whose rank is this one or a later one.
pub(super) fn first_position(ranks: &Ranks, count: u64, rank: u64) -> u64 {
    // ⌊p·2⁶⁴/n⌋ ≥ start if and only if p ≥ ⌈start·n/2⁶⁴⌉; the start of what lies beyond all ranks is 2⁶⁴.
    match u64::try_from(ranks.start(rank)) {
        Ok(start) => (u128::from(start) * u128::from(count)).div_ceil(1 << 64) as u64,
        Err(_) => count,
    }
}

/// Theorem 1: with probability `confidence` the deviation of an attribute stays below this, as long as there are at
/// least so many rows. (The inequality is that of Dvoretzky, Kiefer and Wolfowitz.)
pub fn deviation_bound(rows: u64, confidence: f64) -> f64 {
    ((2.0 / (1.0 - confidence)).ln() / (2.0 * rows.max(1) as f64)).sqrt().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shadow::column::{Form, VirtualColumn};
    use crate::shadow::sampler::Access;

    fn attribute(distribution: Distribution, domain: u64, keys: u64, seed: u64) -> Attribute {
        let column = VirtualColumn::new(Form::Integer { first: 0, step: 1 }, domain).unwrap();
        Attribute::new(column.into(), &distribution, keys, false, seed).unwrap()
    }

    #[test]
    fn the_inverse_finds_exactly_the_keys_with_a_value() {
        let weighted = Distribution::Weighted(vec![5, 0, 1, 2, 2]);
        for (distribution, domain) in [(Distribution::Uniform, 7), (Distribution::Zipf(1.0), 50), (weighted, 5)] {
            for keys in [1, 10, 333] {
                let attribute = attribute(distribution.clone(), domain, keys, keys);
                for value in 0..domain {
                    let expect: Vec<u64> = (0..keys).filter(|key| attribute.initial(*key) == value).collect();
                    let mut found: Vec<u64> = attribute.keys(value..value + 1).collect();
                    found.sort_unstable();
                    assert_eq!(found, expect, "{distribution:?} {keys} {value}");
                    assert_eq!(attribute.key_count(value..value + 1), expect.len() as u64);
                    assert_eq!(attribute.key(value..value + 1, u64::MAX / 2).is_some(), !expect.is_empty());
                }
                assert_eq!(attribute.key_count(0..domain), keys);
                assert_eq!(attribute.key_count(0..u64::MAX), keys);
                assert_eq!(attribute.key_count(domain..domain + 5), 0);
            }
        }
    }

    #[test]
    fn ranges_select_as_many_as_their_probability_says() {
        let attribute = attribute(Distribution::Zipf(0.4), 1_000, 100_000, 1);
        for range in [0..1, 0..10, 500..800, 999..1_000] {
            let expect = attribute.probability(range.clone()) * 100_000.0;
            assert!((attribute.key_count(range.clone()) as f64 - expect).abs() <= 1.0, "{range:?}");
        }
        let backwards = Range { start: 5, end: 3 };
        assert_eq!((attribute.key_count(backwards.clone()), attribute.probability(backwards)), (0, 0.0));
    }

    /// What Algorithm 1 lacks: two attributes say nothing about each other, nor about the key.
    #[test]
    fn attributes_are_neither_monotone_in_the_key_nor_in_each_other() {
        let (a, b) = (attribute(Distribution::Uniform, 10, 1_000, 1), attribute(Distribution::Uniform, 10, 1_000, 2));
        assert!((1..1_000).filter(|key| a.initial(*key) < a.initial(key - 1)).count() > 300);
        let mut both = [[0; 10]; 10];
        (0..1_000).for_each(|key| both[a.initial(key) as usize][b.initial(key) as usize] += 1);
        assert!(both.iter().flatten().filter(|count| (2..25).contains(*count)).count() > 95, "{both:?}");
    }

    #[test]
    fn initial_data_deviate_as_little_as_possible_and_drawn_data_stay_within_the_bound() {
        let attribute = attribute(Distribution::Zipf(1.0), 40, 2_000, 3);
        let mut values: Vec<u64> = (0..2_000).map(|key| attribute.initial(key)).collect();
        assert!(attribute.deviation(&mut values) <= 1.0 / 2_000.0);
        let mut sampler = Sampler::new(Access::Independent, 3, &[]);
        let bound = deviation_bound(2_000, 0.99);
        assert!((bound - 0.0364).abs() < 1e-4, "{bound}");
        for _ in 0..20 {
            // R3: rows are updated, again and again.
            values.iter_mut().for_each(|value| *value = attribute.draw(&mut sampler));
            let deviation = attribute.deviation(&mut values);
            assert!(0.001 < deviation && deviation < bound, "{deviation}");
        }
        // And what is not drawn from G is seen.
        assert!(attribute.deviation(&mut [0; 100]) > 0.5);
        assert_eq!(attribute.deviation(&mut []), 0.0);
    }
}
