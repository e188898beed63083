//! How valid a storm was: whether operations touched rows, the rows that they should, and what rows hold now.
//!
//! | figure | of | says |
//! |---|---|---|
//! | α | each kind of operation | the share that touched a row |
//! | β | each kind and table, over its static keys | how well accesses fit the distribution that was asked for |
//! | Δ | each attribute | how far its values are from their distribution, and how far they may be |
//!
//! Sessions count for themselves, and hand in what they counted when they end. β needs no memory for each key: keys are
//! put into at most [`CLASSES`] classes of neighbouring ranks.

use txloom_core::shadow::keys::{Keys, Slot};
use txloom_core::shadow::measure::{Alphas, Goodness, OperationKind};
use txloom_core::shadow::predicate::Predicate;
use txloom_core::shadow::{Shadow, fill::Filled};

/// At most so many classes of keys.
const CLASSES: u64 = 4_096;
/// Selectivities are counted in steps of a thousandth.
const STEPS: usize = 1_000;
/// With this probability an attribute is further from its distribution than its bound says, by chance.
const DOUBT: f64 = 0.001;

/// What sessions count.
#[derive(Debug, Clone, Default)]
pub struct Validity {
    /// What became of operations.
    pub alphas: Alphas,
    /// Accesses to static keys: by table, kind and class.
    touched: Vec<[Vec<u64>; OperationKind::ALL.len()]>,
    /// What predicate-reads were like.
    pub predicates: Predicates,
}

/// What predicate-reads were like.
#[derive(Debug, Clone, Default)]
pub struct Predicates {
    /// How many there were.
    pub count: u64,
    /// Those in which conditions are combined by AND.
    pub conjunctive: u64,
    /// How often conditions were made until one was as wanted.
    pub attempts: u64,
    /// Those that were answered, by the share of the table that they returned.
    shares: Vec<u64>,
}

impl Validity {
    /// Nothing was counted yet.
    pub fn new(shadow: &Shadow) -> Validity {
        let of_table = |keys: &Keys| {
            let classes = keys.static_count().min(CLASSES) as usize;
            std::array::from_fn(|_| vec![0; classes])
        };
        let touched = shadow.tables().iter().map(|table| of_table(table.keys())).collect();
        Validity { touched, predicates: Predicates::default(), alphas: Alphas::default() }
    }

    /// An operation has its parameters.
    pub fn count_access(&mut self, shadow: &Shadow, filled: &Filled) {
        if let (Some(kind), Some(Slot::Static(rank))) = (filled.kind, filled.key.map(|key| key.slot)) {
            let counts = &mut self.touched[filled.table][kind as usize];
            let keys = shadow.tables()[filled.table].keys().static_count();
            let class = class(rank, keys, counts.len());
            counts[class] += 1;
        }
        if let Some(condition) = &filled.condition {
            self.predicates.count += 1;
            self.predicates.conjunctive += u64::from(has_and(&condition.predicate));
            self.predicates.attempts += condition.attempts as u64;
        }
    }

    /// A predicate-read returned this share of its table.
    pub fn count_share(&mut self, share: f64) {
        let step = ((share * STEPS as f64) as usize).min(STEPS);
        let shares = &mut self.predicates.shares;
        if shares.is_empty() {
            shares.resize(STEPS + 1, 0);
        }
        shares[step] += 1;
    }

    /// Adds what another session counted.
    pub fn add(&mut self, other: &Validity) {
        self.alphas.add(&other.alphas);
        for (own, other) in self.touched.iter_mut().flatten().zip(other.touched.iter().flatten()) {
            own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
        }
        let (own, other) = (&mut self.predicates, &other.predicates);
        own.count += other.count;
        own.conjunctive += other.conjunctive;
        own.attempts += other.attempts;
        own.shares.resize(own.shares.len().max(other.shares.len()), 0);
        own.shares.iter_mut().zip(&other.shares).for_each(|(own, other)| *own += other);
    }

    /// β of every table and kind that touched static keys.
    pub fn goodness(&self, shadow: &Shadow) -> Vec<(usize, OperationKind, Goodness)> {
        let mut all = Vec::new();
        for (at, touched) in self.touched.iter().enumerate() {
            let Some(ranks) = shadow.tables()[at].keys().access().statics() else { continue };
            for kind in OperationKind::ALL {
                let counts = &touched[kind as usize];
                if counts.iter().sum::<u64>() == 0 {
                    continue;
                }
                let first = |class: usize| first_rank(class, ranks.count(), counts.len());
                let weight = |class| ranks.cumulative(first(class + 1)) - ranks.cumulative(first(class));
                let classes: Vec<(u64, f64)> =
                    counts.iter().enumerate().map(|(class, count)| (*count, weight(class))).collect();
                all.push((at, kind, Goodness::of(&classes)));
            }
        }
        all
    }
}

impl Predicates {
    /// The median share of a table that predicate-reads returned; `None` if none was answered.
    pub fn median_share(&self) -> Option<f64> {
        let all: u64 = self.shares.iter().sum();
        let mut left = all / 2;
        let at = self.shares.iter().position(|count| {
            let is_here = left < *count;
            left = left.saturating_sub(*count);
            is_here
        })?;
        Some(at as f64 / STEPS as f64)
    }
}

/// The class of a rank: neighbours share one.
fn class(rank: u64, ranks: u64, classes: usize) -> usize {
    (u128::from(rank) * classes as u128 / u128::from(ranks.max(1))) as usize
}

/// The first rank of a class.
fn first_rank(class: usize, ranks: u64, classes: usize) -> u64 {
    (class as u128 * u128::from(ranks)).div_ceil(classes.max(1) as u128) as u64
}

fn has_and(predicate: &Predicate) -> bool {
    match predicate {
        Predicate::And(_) => true,
        Predicate::Or(parts) => parts.iter().any(has_and),
        Predicate::Leaf(_) => false,
    }
}

/// How far an attribute is from its distribution.
#[derive(Debug, Clone, PartialEq)]
pub struct Stability {
    /// The table.
    pub table: String,
    /// The attribute: its first column.
    pub attribute: String,
    /// The largest distance between the distribution functions.
    pub deviation: f64,
    /// How large it may be: a larger one has a probability of less than [a thousandth](DOUBT) (Dvoretzky, Kiefer and
    /// Wolfowitz; the paper's Theorem 1).
    pub bound: f64,
}

impl Stability {
    /// Whether the attribute is stable.
    pub fn holds(&self) -> bool {
        self.deviation <= self.bound
    }

    /// The bound for so many rows.
    pub fn bound(rows: u64) -> f64 {
        ((2.0 / DOUBT).ln() / (2.0 * rows.max(1) as f64)).sqrt()
    }
}

/// All figures.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// What became of operations.
    pub alphas: Alphas,
    /// β by table and kind.
    pub goodness: Vec<(String, OperationKind, Goodness)>,
    /// Δ of attributes; empty if nobody looked.
    pub stability: Vec<Stability>,
    /// What predicate-reads were like.
    pub predicates: Predicates,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_ranges_of_ranks() {
        for (ranks, classes) in [(10, 3), (4_096, 4_096), (1_000_003, 4_096), (1, 1)] {
            assert_eq!((first_rank(0, ranks, classes), first_rank(classes, ranks, classes)), (0, ranks));
            for of in 0..classes {
                let (first, next) = (first_rank(of, ranks, classes), first_rank(of + 1, ranks, classes));
                assert!(first < next && class(first, ranks, classes) == of && class(next - 1, ranks, classes) == of);
            }
        }
    }

    #[test]
    fn the_median_is_found() {
        let mut validity = Validity::default();
        assert_eq!(validity.predicates.median_share(), None);
        [0.0, 0.05, 0.0521, 0.5, 1.0].iter().for_each(|share| validity.count_share(*share));
        assert_eq!(validity.predicates.median_share(), Some(0.052));
        let mut twice = Validity::default();
        twice.add(&validity);
        twice.add(&validity);
        assert_eq!(twice.predicates.median_share(), Some(0.052));
    }

    #[test]
    fn bounds_shrink_with_rows() {
        assert!((Stability::bound(2_000) - 0.0436).abs() < 0.001);
        assert!(Stability::bound(200_000) < 0.0044);
    }
}
