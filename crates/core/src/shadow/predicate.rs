//! Conditions that find something (the paper's Algorithm 2).
//!
//! A condition whose parameters are drawn blindly often finds nothing: `a < 3 AND a > 7`, or a value that no row has.
//! The paper draws until the parts look satisfiable, each by itself; about one in five of its predicate reads still
//! finds nothing. Here a condition is built *around a row*, the witness, whose attributes are known or at least as likely
//! as any others:
//!
//! ```text
//!   NOT (a ≥ ? OR b = ?) AND c BETWEEN ? AND ?
//!     │ 1. NOT is pushed to the leaves
//!   a < ?  AND  b ≠ ?  AND  c BETWEEN ? AND ?
//!     │ 2. a witness row: a = 4, b = 7, c = 2
//!   a < 6  AND  b ≠ 1  AND  c BETWEEN 2 AND 5      3. parameters such that it satisfies each part
//! ```
//!
//! With OR, one side is built around the witness, the others around rows of their own. The parts around the witness
//! imply the whole condition, and their ranges tell how many rows are expected at least. If all of them concern the key
//! or [fixed](super::attribute::Attribute::fixed) attributes, the witness itself is certain to be found. Otherwise the
//! rows have changed since, but follow the same distribution; if `h` are expected, none is found with probability `e⁻ʰ`.
//! A condition that may find nothing with more than the probability allowed, or more rows than are wanted, is made
//! again; attempts are bounded and counted.
//!
//! Limits: a condition concerns one table. Joins along a reference find as many rows, since every child has a parent.

use std::ops::Range;

use super::table::TableShadow;
use crate::generate::random::Random;

/// What a condition is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// The primary key. Ranges of virtual keys are ranges of keys, in the order of an index.
    Key,
    /// An attribute, by its position.
    Attribute(usize),
}

/// How a subject is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Comparison {
    /// `= low`
    Equal,
    /// `<> low`
    NotEqual,
    /// `< high`
    Less,
    /// `>= low`
    AtLeast,
    /// `>= low AND < high`
    Within,
    /// `< low OR >= high`
    Outside,
}

/// A condition without parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Template {
    /// A comparison.
    Leaf(Subject, Comparison),
    /// All of these.
    And(Vec<Template>),
    /// At least one of these.
    Or(Vec<Template>),
    /// Not this.
    Not(Box<Template>),
}

/// A condition with parameters, which are virtual values. There is no NOT any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Predicate {
    /// A comparison.
    Leaf(Condition),
    /// All of these.
    And(Vec<Predicate>),
    /// At least one of these.
    Or(Vec<Predicate>),
}

/// A comparison with its parameters; which of them count, the comparison says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition {
    /// What is compared.
    pub subject: Subject,
    /// How.
    pub comparison: Comparison,
    /// The first virtual value.
    pub low: u64,
    /// The virtual value after the last.
    pub high: u64,
}

/// What is asked of a condition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wanted {
    /// With which probability it may find nothing.
    pub miss_max: f64,
    /// Which share of the rows it may find.
    pub share_max: f64,
    /// How often it is made again.
    pub attempts: usize,
}

impl Default for Wanted {
    fn default() -> Wanted {
        Wanted { miss_max: 0.005, share_max: 0.1, attempts: 16 }
    }
}

/// A condition, and what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Filled {
    /// The condition.
    pub predicate: Predicate,
    /// How many rows it finds at least, on average.
    pub hits: f64,
    /// With which probability it finds nothing, at most.
    pub miss: f64,
    /// Which share of the rows it finds, about.
    pub share: f64,
    /// How often it was made.
    pub attempts: usize,
}

impl Template {
    /// Whether there is a NOT in it.
    fn has_not(&self) -> bool {
        match self {
            Template::Not(_) => true,
            Template::And(parts) | Template::Or(parts) => parts.iter().any(Template::has_not),
            Template::Leaf(..) => false,
        }
    }

    /// Pushes NOT to the leaves; `negated` says that there is one in front of it.
    pub fn normalized(&self, negated: bool) -> Template {
        let all = |parts: &[Template]| parts.iter().map(|part| part.normalized(negated)).collect();
        match self {
            Template::Not(inner) => inner.normalized(!negated),
            Template::And(parts) if negated => Template::Or(all(parts)),
            Template::Or(parts) if negated => Template::And(all(parts)),
            Template::And(parts) => Template::And(all(parts)),
            Template::Or(parts) => Template::Or(all(parts)),
            Template::Leaf(subject, comparison) if negated => Template::Leaf(*subject, comparison.negated()),
            Template::Leaf(..) => self.clone(),
        }
    }
}

impl Comparison {
    /// What holds if this does not.
    pub fn negated(self) -> Comparison {
        match self {
            Comparison::Equal => Comparison::NotEqual,
            Comparison::NotEqual => Comparison::Equal,
            Comparison::Less => Comparison::AtLeast,
            Comparison::AtLeast => Comparison::Less,
            Comparison::Within => Comparison::Outside,
            Comparison::Outside => Comparison::Within,
        }
    }
}

impl Condition {
    /// Whether a virtual value satisfies it.
    pub fn holds(&self, value: u64) -> bool {
        let within = (self.low..self.high).contains(&value);
        match self.comparison {
            Comparison::Equal => value == self.low,
            Comparison::NotEqual => value != self.low,
            Comparison::Less => value < self.high,
            Comparison::AtLeast => value >= self.low,
            Comparison::Within => within,
            Comparison::Outside => !within,
        }
    }

    /// The longest range of values around this one, or around nothing, that satisfies it.
    fn around(&self, value: u64) -> Range<u64> {
        match self.comparison {
            Comparison::Less => 0..self.high,
            Comparison::AtLeast => self.low..u64::MAX,
            Comparison::Equal | Comparison::Within => self.low..self.high,
            Comparison::NotEqual | Comparison::Outside if value < self.low => 0..self.low,
            Comparison::NotEqual | Comparison::Outside => self.high..u64::MAX,
        }
    }
}

impl Predicate {
    /// Whether a row satisfies it, given its virtual values.
    pub fn holds(&self, value: &impl Fn(Subject) -> u64) -> bool {
        match self {
            Predicate::Leaf(condition) => condition.holds(value(condition.subject)),
            Predicate::And(parts) => parts.iter().all(|part| part.holds(value)),
            Predicate::Or(parts) => parts.iter().any(|part| part.holds(value)),
        }
    }
}

/// Fills in the parameters of a condition on a table. Who does this often with one template normalizes it before.
pub fn instantiate(table: &TableShadow, template: &Template, wanted: Wanted, random: &mut Random) -> Filled {
    let template = match template.has_not() {
        true => &template.normalized(false),
        false => template,
    };
    let mut best: Option<Filled> = None;
    let mut reach = REACH;
    for attempt in 1..=wanted.attempts.max(1) {
        let mut made = Maker { table, random, reach, implied: Vec::new() }.make(template);
        made.attempts = attempt;
        let hits = made.miss <= wanted.miss_max;
        if hits && made.share <= wanted.share_max {
            return made;
        }
        if !hits {
            reach *= 2.0;
        }
        // If none is as wanted, one that finds too much is better than one that may find nothing.
        let rank = |filled: &Filled| match filled.miss <= wanted.miss_max {
            true => (0.0, filled.share),
            false => (filled.miss, 0.0),
        };
        if best.as_ref().is_none_or(|best| rank(&made) < rank(best)) {
            best = Some(made);
        }
    }
    let mut best = best.expect("there was at least one attempt");
    best.attempts = wanted.attempts.max(1);
    best
}

/// How far a range reaches beyond the row that it is built around, as a share of the domain. One that may find nothing
/// is made again with twice the reach.
const REACH: f64 = 0.05;

struct Maker<'a, 'r> {
    table: &'a TableShadow,
    random: &'r mut Random,
    /// See [`REACH`].
    reach: f64,
    /// Conditions that together imply the whole, each as the range around the witness.
    implied: Vec<(Subject, Range<u64>)>,
}

/// A row around which conditions are built: its key, and a seed for values that are not known.
#[derive(Clone, Copy)]
struct Witness {
    key: u64,
    seed: u64,
}

impl Maker<'_, '_> {
    fn make(mut self, template: &Template) -> Filled {
        let witness = self.witness();
        let predicate = self.build(template, witness, true);
        let share = share(self.table, &predicate);
        let (certain, probability) = self.implied_probability();
        let hits = self.table.keys().static_count() as f64 * probability;
        let miss = if certain { 0.0 } else { (-hits).exp() };
        Filled { predicate, hits: if certain { hits.max(1.0) } else { hits }, miss, share, attempts: 1 }
    }

    /// A static row: it is always there.
    fn witness(&mut self) -> Witness {
        let keys = self.table.keys();
        let rank = self.random.below(usize::try_from(keys.static_count()).unwrap_or(usize::MAX)) as u64;
        let key = keys.key(super::keys::Slot::Static(rank)).number;
        Witness { key, seed: self.random.below(usize::MAX) as u64 }
    }

    fn value(&self, witness: Witness, subject: Subject) -> u64 {
        match subject {
            Subject::Key => witness.key,
            Subject::Attribute(at) => match self.table.attributes().get(at) {
                Some(attribute) if attribute.fixed() => attribute.initial(witness.key),
                // The row may have been updated: any value of the distribution is as good as the first.
                Some(attribute) => attribute.ranks().rank(mixed(witness.seed, at as u64)),
                None => 0,
            },
        }
    }

    /// `implying` says that the part belongs to those that imply the whole.
    fn build(&mut self, template: &Template, witness: Witness, implying: bool) -> Predicate {
        match template {
            Template::Leaf(subject, comparison) => {
                let value = self.value(witness, *subject);
                let condition = self.condition(*subject, *comparison, value);
                if implying {
                    self.implied.push((*subject, condition.around(value)));
                }
                Predicate::Leaf(condition)
            }
            Template::And(parts) => {
                Predicate::And(parts.iter().map(|part| self.build(part, witness, implying)).collect())
            }
            Template::Or(parts) => {
                let chosen = self.random.below(parts.len());
                let part = |(at, part): (usize, &Template)| match at == chosen {
                    true => self.build(part, witness, implying),
                    false => {
                        let other = self.witness();
                        self.build(part, other, false)
                    }
                };
                Predicate::Or(parts.iter().enumerate().map(part).collect())
            }
            // Templates are normalized; a NOT that is left means its opposite.
            Template::Not(inner) => self.build(&inner.normalized(true), witness, implying),
        }
    }

    /// A condition that a value satisfies, if its domain has room for that.
    fn condition(&mut self, subject: Subject, comparison: Comparison, value: u64) -> Condition {
        let domain = domain(self.table, subject);
        let span = ((domain as f64 * self.reach) as u64).clamp(1, domain.max(1));
        let mut below = |limit: u64| self.random.below(usize::try_from(limit).unwrap_or(usize::MAX)) as u64;
        let (low, high) = match comparison {
            Comparison::Equal => (value, value + 1),
            Comparison::NotEqual | Comparison::Outside if domain < 2 => (value, value + 1),
            Comparison::NotEqual => {
                let other = (value + 1 + below(domain - 1)) % domain;
                (other, other + 1)
            }
            Comparison::Less => (0, value + 1 + below(span.min(domain - value))),
            Comparison::AtLeast => (value - below(span.min(value + 1)), domain),
            Comparison::Within => {
                let low = value - below(span.min(value + 1));
                (low, value + 1 + below(span.min(domain - value)))
            }
            // All values before the row's, or all after it, are the larger part to be left out.
            Comparison::Outside if value > 0 => (below(value), value),
            Comparison::Outside => (1, 2 + below(domain - 1)),
        };
        Condition { subject, comparison, low, high }
    }

    /// Whether the witness is certain to be found, and the probability of what implies the whole.
    fn implied_probability(&mut self) -> (bool, f64) {
        let table = self.table;
        let fixed = |subject: &Subject| match subject {
            Subject::Key => true,
            Subject::Attribute(at) => table.attributes().get(*at).is_some_and(|attribute| attribute.fixed()),
        };
        let certain = self.implied.iter().all(|(subject, _)| fixed(subject));
        (certain, joint(table, &mut self.implied))
    }
}

/// A draw for a witness's attribute: the same whenever it is asked for, and another for each (SplitMix64).
fn mixed(seed: u64, attribute: u64) -> u64 {
    let x = seed.wrapping_add((attribute + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn domain(table: &TableShadow, subject: Subject) -> u64 {
    match subject {
        Subject::Key => table.keys().count(),
        Subject::Attribute(at) => table.attributes().get(at).map_or(1, |attribute| attribute.columns().domain()),
    }
}

fn probability(table: &TableShadow, subject: Subject, range: Range<u64>) -> f64 {
    match subject {
        Subject::Key => {
            let end = range.end.min(table.keys().count());
            end.saturating_sub(range.start) as f64 / table.keys().count() as f64
        }
        Subject::Attribute(at) => table.attributes().get(at).map_or(1.0, |attribute| attribute.probability(range)),
    }
}

/// The probability that a row satisfies all ranges: those of one subject are intersected, subjects are independent.
fn joint(table: &TableShadow, ranges: &mut [(Subject, Range<u64>)]) -> f64 {
    ranges.sort_unstable_by_key(|(subject, _)| *subject);
    let of_subject = |group: &[(Subject, Range<u64>)]| {
        let low = group.iter().map(|(_, range)| range.start).max().unwrap_or(0);
        let high = group.iter().map(|(_, range)| range.end).min().unwrap_or(0);
        probability(table, group[0].0, low..high.max(low))
    };
    ranges.chunk_by(|a, b| a.0 == b.0).map(of_subject).product()
}

/// About which share of the rows a condition finds. For OR the sum; for AND the leaves are combined exactly, and of
/// other parts the smallest counts.
fn share(table: &TableShadow, predicate: &Predicate) -> f64 {
    let leaf = |condition: &Condition| {
        let inside = probability(table, condition.subject, condition.low..condition.high);
        match condition.comparison {
            Comparison::NotEqual | Comparison::Outside => 1.0 - inside,
            _ => inside,
        }
    };
    match predicate {
        Predicate::Leaf(condition) => leaf(condition),
        Predicate::Or(parts) => parts.iter().map(|part| share(table, part)).sum::<f64>().min(1.0),
        Predicate::And(parts) => {
            let (mut ranges, mut rest) = (Vec::new(), 1.0f64);
            for part in parts {
                match part {
                    Predicate::Leaf(condition) if !condition.splits() => {
                        ranges.push((condition.subject, condition.low..condition.high));
                    }
                    other => rest = rest.min(share(table, other)),
                }
            }
            joint(table, &mut ranges) * rest
        }
    }
}

impl Condition {
    /// Whether what satisfies it may lie on both sides.
    fn splits(&self) -> bool {
        matches!(self.comparison, Comparison::NotEqual | Comparison::Outside)
    }
}

#[cfg(test)]
mod tests;
