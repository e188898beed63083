//! What was done, in numbers.

use std::collections::BTreeMap;

use txloom_core::trace::statistics::Statistics;

/// What was done and found so far. With a budget of cases, all of it is the same in every run of a hunt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counts {
    /// The cases that were judged, and what their scheduled runs look like, on all targets together. Only a sample of
    /// the cases is examined for rows that two transactions write.
    pub statistics: Statistics,
    /// Judgements that an oracle could not reach.
    pub undecided: u64,
    /// Cases whose setup a target refused.
    pub refused: u64,
    /// Cases that could not be observed: a connection was lost, a server had to be started again.
    pub unobserved: u64,
    /// Violations that did not appear each time they were looked at.
    pub unreproducible: u64,
    /// Findings that are new in this hunt.
    pub new: u64,
    /// Violations that are of the kind of an earlier finding of this hunt.
    pub repeated: u64,
    /// Violations that are known behaviours, by the id of the entry.
    pub known: BTreeMap<String, u64>,
    /// The first few refusals of a setup, failures to observe and violations that did not come again, in words.
    pub troubles: Vec<String>,
}

/// So many different troubles are kept.
const TROUBLES_MAX: usize = 3;

impl Counts {
    /// Adds what somebody else counted.
    pub fn merge(&mut self, other: &Counts) {
        self.statistics.merge(&other.statistics);
        self.undecided += other.undecided;
        self.refused += other.refused;
        self.unobserved += other.unobserved;
        self.unreproducible += other.unreproducible;
        self.new += other.new;
        self.repeated += other.repeated;
        for (id, count) in &other.known {
            *self.known.entry(id.clone()).or_default() += count;
        }
        other.troubles.iter().for_each(|trouble| self.note_trouble(trouble.clone()));
    }

    /// Cases that were judged.
    pub fn cases(&self) -> u64 {
        self.statistics.cases
    }

    /// Violations that are known behaviours.
    pub fn known_count(&self) -> u64 {
        self.known.values().sum()
    }

    /// All violations, whatever became of them.
    pub fn violations(&self) -> u64 {
        self.new + self.repeated + self.known_count() + self.unreproducible
    }

    /// Keeps the words of the first few troubles.
    pub(super) fn note_trouble(&mut self, words: String) {
        if self.troubles.len() < TROUBLES_MAX && !self.troubles.contains(&words) {
            self.troubles.push(words);
        }
    }
}
