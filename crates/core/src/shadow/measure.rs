//! How valid a workload was: α, β, and a test of β itself.
//!
//! **α** is the share of operations that touched a row. Those that concurrency control refused, and those that were
//! skipped because their transaction had ended, say nothing about the generator; they are counted apart.
//!
//! **β** is the paper's goodness of fit: with `Nᵢ` accesses to key `i`, and `Nₜpᵢ` expected,
//!
//! ```text
//!         (Nᵢ − Nₜpᵢ)²
//!   χ² = Σ ────────────        β = P(a χ² distributed variable ≥ χ²)
//!             Nₜpᵢ
//! ```
//!
//! That is a p-value. The paper wants it next to 1, and reports `1 − β < 10⁻¹⁰⁰`; no random sample ever fits that well.
//! If accesses are drawn *independently*, β is uniform between 0 and 1: over many seeds that can be tested
//! ([`kolmogorov_smirnov`]), and a single value says only that nothing is wrong unless it is tiny. If they are *even*
//! ([`Access::Even`](super::sampler::Access)), β is next to 1, so near that `1 − β` must be told as a logarithm.
//!
//! The χ² distribution is an approximation that needs some accesses of each class: classes that expect fewer than five
//! are pooled.

use super::gamma::{Tails, chi_square_tails};

/// A kind of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OperationKind {
    /// A read by primary key.
    ItemRead,
    /// A read by a condition.
    PredicateRead,
    /// A new row.
    Insert,
    /// A changed row.
    Update,
    /// A removed row.
    Delete,
}

impl OperationKind {
    /// All kinds.
    pub const ALL: [OperationKind; 5] = [
        OperationKind::ItemRead,
        OperationKind::PredicateRead,
        OperationKind::Insert,
        OperationKind::Update,
        OperationKind::Delete,
    ];

    /// Its name, as reports say it.
    pub fn name(self) -> &'static str {
        match self {
            OperationKind::ItemRead => "item-read",
            OperationKind::PredicateRead => "predicate-read",
            OperationKind::Insert => "insert",
            OperationKind::Update => "update",
            OperationKind::Delete => "delete",
        }
    }
}

/// What became of the operations of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Accessibility {
    /// They touched a row.
    pub valid: u64,
    /// They did not, though nothing prevented it; or no key was found for them.
    pub invalid: u64,
    /// Concurrency control refused them: a deadlock, a serialization failure, a time-out of a lock.
    pub refused: u64,
    /// They were not run, as their transaction had ended before.
    pub skipped: u64,
}

impl Accessibility {
    /// α over the operations that were run and not refused; 1 if there are none.
    pub fn alpha(&self) -> f64 {
        share(self.valid, self.valid + self.invalid)
    }

    /// α over all operations; 1 if there are none.
    pub fn alpha_of_all(&self) -> f64 {
        share(self.valid, self.valid + self.invalid + self.refused + self.skipped)
    }

    /// Adds what another session counted.
    pub fn add(&mut self, other: &Accessibility) {
        self.valid += other.valid;
        self.invalid += other.invalid;
        self.refused += other.refused;
        self.skipped += other.skipped;
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// Accessibility by kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Alphas([Accessibility; OperationKind::ALL.len()]);

impl Alphas {
    /// What became of the operations of a kind.
    pub fn of(&self, kind: OperationKind) -> &Accessibility {
        &self.0[kind as usize]
    }

    /// The same, to count.
    pub fn of_mut(&mut self, kind: OperationKind) -> &mut Accessibility {
        &mut self.0[kind as usize]
    }

    /// Adds what another session counted.
    pub fn add(&mut self, other: &Alphas) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| own.add(other));
    }
}

/// Classes that expect fewer accesses than this are pooled.
const EXPECTED_MIN: f64 = 5.0;

/// How well accesses fit a distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goodness {
    /// All accesses.
    pub accesses: u64,
    /// χ².
    pub statistic: f64,
    /// Degrees of freedom: the classes that were left after pooling, less one.
    pub degrees: u64,
    /// The logarithms of `1 − β` (below) and of β (above).
    pub tails: Tails,
}

impl Goodness {
    /// Compares accesses with a distribution. Each class has what was counted and its probability, or a weight: only
    /// their proportions matter. So accesses to some of the keys can be judged by themselves.
    ///
    /// Nothing can be said about fewer than two classes; β is 1 then.
    pub fn of(classes: &[(u64, f64)]) -> Goodness {
        let accesses: u64 = classes.iter().map(|(count, _)| count).sum();
        let weight: f64 = classes.iter().map(|(_, weight)| weight).sum();
        let mut pool = Pool::default();
        if weight > 0.0 {
            let unit = accesses as f64 / weight;
            classes.iter().for_each(|(count, weight)| pool.add(*count as f64, weight * unit));
        }
        let (statistic, classes) = pool.finish();
        let degrees = classes.saturating_sub(1);
        Goodness { accesses, statistic, degrees, tails: chi_square_tails(degrees, statistic) }
    }

    /// The paper's β.
    pub fn beta(&self) -> f64 {
        self.tails.above.exp()
    }

    /// The decimal logarithm of `1 − β`: −100 means `β = 1 − 10⁻¹⁰⁰`.
    pub fn miss_log10(&self) -> f64 {
        self.tails.below / std::f64::consts::LN_10
    }
}

/// Classes that were added, with small ones put together.
#[derive(Debug, Default)]
struct Pool {
    statistic: f64,
    classes: u64,
    /// The small classes that do not yet make a large one: counted and expected.
    open: (f64, f64),
    /// The last class that was closed, which takes in what is left over.
    last: Option<(f64, f64)>,
}

impl Pool {
    fn add(&mut self, count: f64, expected: f64) {
        if expected >= EXPECTED_MIN {
            return self.close(count, expected);
        }
        self.open = (self.open.0 + count, self.open.1 + expected);
        if self.open.1 >= EXPECTED_MIN {
            let (count, expected) = std::mem::take(&mut self.open);
            self.close(count, expected);
        }
    }

    fn close(&mut self, count: f64, expected: f64) {
        self.statistic += term(count, expected);
        self.classes += 1;
        self.last = Some((count, expected));
    }

    fn finish(mut self) -> (f64, u64) {
        if let Some((count, expected)) = self.last.filter(|_| self.open.1 > 0.0) {
            self.statistic += term(count + self.open.0, expected + self.open.1) - term(count, expected);
        }
        (self.statistic.max(0.0), self.classes)
    }
}

fn term(count: f64, expected: f64) -> f64 {
    (count - expected) * (count - expected) / expected
}

/// The test of Kolmogorov and Smirnov: whether numbers between 0 and 1 (in any order; they are sorted) look uniform.
/// Returns the largest distance of the distribution functions, and the probability of one at least as large.
pub fn kolmogorov_smirnov(numbers: &mut [f64]) -> (f64, f64) {
    numbers.sort_unstable_by(f64::total_cmp);
    let count = numbers.len() as f64;
    let distance = |(at, number): (usize, &f64)| {
        let (before, after) = (at as f64 / count, (at + 1) as f64 / count);
        (number - before).max(after - number)
    };
    let distance = numbers.iter().enumerate().map(distance).fold(0.0, f64::max);
    // Stephens' correction makes the limit distribution good enough for any count.
    let lambda = (count.sqrt() + 0.12 + 0.11 / count.sqrt()) * distance;
    if lambda < 0.3 {
        // The series converges too slowly here, and the probability is 1 but for 10⁻⁵.
        return (distance, 1.0);
    }
    let terms = (1..=100).map(|j| {
        let j = f64::from(j);
        let sign = if j % 2.0 == 1.0 { 1.0 } else { -1.0 };
        sign * (-2.0 * j * j * lambda * lambda).exp()
    });
    (distance, (2.0 * terms.sum::<f64>()).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests;
