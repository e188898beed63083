//! Distribution-constrained functions: G and its inverse, over ranks.
//!
//! The paper (§4.4) computes data instead of storing it: if `u` is uniform, then `G⁻¹(u)` follows `G`. Here `u` is a
//! whole number that stands for the fraction `u / 2⁶⁴`, and `G⁻¹(u)` is a *rank*, a number below `n`. Two questions must
//! have answers that agree exactly: which rank does a draw mean ([`Ranks::rank`]), and where do the draws of a rank begin
//! ([`Ranks::start`])? The second tells how many rows have a value, and which.
//!
//! So every distribution is made of *pieces*, and all ranks of a piece have the same probability:
//!
//! ```text
//!   weight │▇                              Uniform     one piece
//!          │▇▇                             Weighted    a piece for each weight
//!          │▇▇▇▅▅▅                         Zipf        the first 1,024 ranks one by one, then pieces that grow by 1/128
//!          │▇▇▇▅▅▅▂▂▂▂▂▂▂▂▂                Normal      1,024 pieces of the same width
//!          └───────────────── rank
//! ```
//!
//! A draw finds its piece by bisection and its rank within the piece by one multiplication, all in whole numbers. For
//! Uniform and Weighted that is exact. For Zipf the probability of a rank beyond the first 1,024 is off by less than
//! `s/240` of itself, for Normal the distribution function by less than 2·10⁻⁶ (tests hold it to that); and what
//! [`Ranks::probability`] tells is the probability with which ranks are really drawn, so statistics over them are not
//! biased at all. Memory and time do not grow with `n`.
//!
//! (Rejection-inversion would be exact for Zipf. But it takes an unknown number of draws for one rank, so it has no
//! inverse, and of even draws it would take uneven ones.)

/// A theoretical distribution over the numbers `0..n`.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Distribution {
    /// All have the same chance.
    #[default]
    Uniform,
    /// The n-th has the weight 1/nˢ: the first is the most frequent.
    Zipf(f64),
    /// A bell over the whole range, cut off at its ends. Both are shares of the range: `mean` 0.5 is its middle.
    Normal {
        /// Where the top is.
        mean: f64,
        /// The standard deviation.
        deviation: f64,
    },
    /// By weights. If there are fewer weights than numbers, the numbers are divided into as many stretches, as equal
    /// as they can be: `[4, 1]` says that four in five accesses go to the first half.
    Weighted(Vec<u64>),
}

/// Why there is no such distribution.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DistributionError {
    /// There is nothing to choose from.
    #[error("a distribution over nothing; there must be at least one number")]
    Empty,
    /// More numbers than 2⁶³.
    #[error("a distribution over {0} numbers; there can be at most 2^63")]
    TooMany(u64),
    /// A parameter makes no sense.
    #[error("{what} is {found}; it must be {expected}")]
    Parameter {
        /// Which one.
        what: &'static str,
        /// What it is.
        found: f64,
        /// What it should be.
        expected: &'static str,
    },
    /// More weights than numbers, or none.
    #[error("{weights} weights for {count} numbers; give one weight per number, or fewer")]
    Weights {
        /// How many weights.
        weights: usize,
        /// How many numbers.
        count: u64,
    },
    /// The sum of the weights is 0 or above 2⁶².
    #[error("the weights add up to {0}; their sum must lie between 1 and 2^62")]
    Total(u128),
}

/// Ranks that have a piece each, before pieces of a Zipf distribution grow.
const SINGLE: u64 = 1_024;
/// A piece of a Zipf distribution is this part of the ranks before it.
const GROWTH: u64 = 128;
/// The pieces of a normal distribution.
const BELL: u64 = 1_024;
/// What weights that are no whole numbers are scaled to.
const SCALE: f64 = (1u64 << 61) as f64;

/// A distribution over the ranks `0..count`, ready to be drawn from.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranks {
    count: u64,
    /// The first rank of each piece, and `count` at the end.
    firsts: Vec<u64>,
    /// The weight of all pieces before each, and the total at the end.
    before: Vec<u64>,
}

impl Ranks {
    /// Prepares a distribution over `count` ranks.
    pub fn new(distribution: &Distribution, count: u64) -> Result<Ranks, DistributionError> {
        match count {
            0 => Err(DistributionError::Empty),
            _ if count > 1 << 63 => Err(DistributionError::TooMany(count)),
            _ => match distribution {
                Distribution::Uniform => Ok(Ranks { count, firsts: vec![0, count], before: vec![0, 1] }),
                Distribution::Weighted(weights) => weighted(weights, count),
                Distribution::Zipf(s) => zipf(*s, count),
                Distribution::Normal { mean, deviation } => normal(*mean, *deviation, count),
            },
        }
    }

    /// How many ranks there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// G⁻¹: the rank that a draw means.
    pub fn rank(&self, draw: u64) -> u64 {
        let target = wide(draw, self.total());
        // The piece is the last one that begins at or before the target.
        let piece = self.before.partition_point(|before| u128::from(*before) << 64 <= target) - 1;
        let inside = (target - (u128::from(self.before[piece]) << 64)) / u128::from(self.weight(piece));
        self.firsts[piece] + (wide(inside as u64, self.width(piece)) >> 64) as u64
    }

    /// G, as a draw: the first draw that means this rank or a later one. Between `0` and `2⁶⁴`.
    pub fn start(&self, rank: u64) -> u128 {
        if rank >= self.count {
            return 1 << 64;
        }
        let piece = self.firsts.partition_point(|first| *first <= rank) - 1;
        let inside = (u128::from(rank - self.firsts[piece]) << 64).div_ceil(u128::from(self.width(piece)));
        let target = (u128::from(self.before[piece]) << 64) + inside * u128::from(self.weight(piece));
        target.div_ceil(u128::from(self.total()))
    }

    /// G: the probability of a rank below this one.
    pub fn cumulative(&self, rank: u64) -> f64 {
        if rank >= self.count {
            return 1.0;
        }
        let piece = self.firsts.partition_point(|first| *first <= rank) - 1;
        let inside = (rank - self.firsts[piece]) as f64 / self.width(piece) as f64;
        (self.before[piece] as f64 + inside * self.weight(piece) as f64) / self.total() as f64
    }

    /// The probability of a rank.
    pub fn probability(&self, rank: u64) -> f64 {
        if rank >= self.count {
            return 0.0;
        }
        let piece = self.firsts.partition_point(|first| *first <= rank) - 1;
        self.weight(piece) as f64 / self.total() as f64 / self.width(piece) as f64
    }

    fn total(&self) -> u64 {
        self.before[self.before.len() - 1]
    }

    fn weight(&self, piece: usize) -> u64 {
        self.before[piece + 1] - self.before[piece]
    }

    fn width(&self, piece: usize) -> u64 {
        self.firsts[piece + 1] - self.firsts[piece]
    }

    /// From pieces, each with its width and weight; pieces without weight keep their ranks, which are never drawn.
    fn of_pieces(pieces: impl Iterator<Item = (u64, u64)>, count: u64) -> Ranks {
        let (mut firsts, mut before) = (vec![0], vec![0]);
        let (mut first, mut sum) = (0, 0);
        for (width, weight) in pieces {
            (first, sum) = (first + width, sum + weight);
            firsts.push(first);
            before.push(sum);
        }
        debug_assert_eq!(first, count, "the pieces cover all ranks");
        Ranks { count, firsts, before }
    }
}

fn wide(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

/// The ends of as many stretches of the same width as there are to be.
fn stretches(count: u64, number: u64) -> impl Iterator<Item = (u64, u64)> {
    let border = move |at: u64| (wide(at, count) / u128::from(number)) as u64;
    (0..number).map(move |at| (border(at), border(at + 1)))
}

fn weighted(weights: &[u64], count: u64) -> Result<Ranks, DistributionError> {
    let number = weights.len() as u64;
    if number == 0 || number > count {
        return Err(DistributionError::Weights { weights: weights.len(), count });
    }
    let total: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    if total == 0 || total > 1 << 62 {
        return Err(DistributionError::Total(total));
    }
    let pieces = stretches(count, number).zip(weights).map(|((first, end), weight)| (end - first, *weight));
    Ok(Ranks::of_pieces(pieces, count))
}

fn zipf(s: f64, count: u64) -> Result<Ranks, DistributionError> {
    if !(0.0..=16.0).contains(&s) {
        return Err(DistributionError::Parameter { what: "the exponent of Zipf", found: s, expected: "0 to 16" });
    }
    // The sum of x⁻ˢ from a + 1 to b is the integral between a + ½ and b + ½, but for a part of s(s + 1)/24a².
    let integral = |x: f64| if s == 1.0 { x.ln() } else { ((1.0 - s) * x.ln()).exp_m1() / (1.0 - s) };
    let mass = |first: u64, end: u64| match end - first {
        1 => (end as f64).powf(-s),
        _ => integral(end as f64 + 0.5) - integral(first as f64 + 0.5),
    };
    let mut borders = vec![0];
    let mut last = 0;
    while last < count {
        last = (last + if last < SINGLE { 1 } else { last / GROWTH }).min(count);
        borders.push(last);
    }
    let masses: Vec<f64> = borders.windows(2).map(|pair| mass(pair[0], pair[1])).collect();
    Ok(scaled(&borders, &masses))
}

fn normal(mean: f64, deviation: f64, count: u64) -> Result<Ranks, DistributionError> {
    let wrong = |what, found, expected| Err(DistributionError::Parameter { what, found, expected });
    if !(0.0..=1.0).contains(&mean) {
        return wrong("the mean of the normal distribution", mean, "a share of the range, 0 to 1");
    }
    if !(0.001..=1_000.0).contains(&deviation) {
        return wrong("the deviation of the normal distribution", deviation, "a share of the range, 0.001 to 1000");
    }
    let mut borders: Vec<u64> = stretches(count, BELL.min(count)).map(|(first, _)| first).collect();
    borders.push(count);
    let area = |border: u64| bell((border as f64 / count as f64 - mean) / deviation);
    let masses: Vec<f64> = borders.windows(2).map(|pair| area(pair[1]) - area(pair[0])).collect();
    Ok(scaled(&borders, &masses))
}

/// Pieces with these borders and masses. Every piece has some weight: whatever is in the range can be drawn.
fn scaled(borders: &[u64], masses: &[f64]) -> Ranks {
    let total: f64 = masses.iter().sum();
    let pieces = borders.windows(2).zip(masses).map(|(pair, mass)| {
        let weight = (mass / total * SCALE) as u64;
        (pair[1] - pair[0], weight.max(1))
    });
    Ranks::of_pieces(pieces, borders[borders.len() - 1])
}

/// The area under the normal density from 0 to `z`, by its power series (Marsaglia 2004).
fn bell(z: f64) -> f64 {
    // Beyond, nothing is left that a double could tell.
    let z = z.clamp(-8.5, 8.5);
    let (mut sum, mut term, mut odd) = (z, z, 1.0);
    while term.abs() > 1e-17 * sum.abs() {
        odd += 2.0;
        term *= z * z / odd;
        sum += term;
    }
    sum * (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

#[cfg(test)]
mod tests;
