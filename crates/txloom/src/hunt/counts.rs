//! What was done, in numbers.

use std::collections::BTreeMap;

use txloom_core::trace::statistics::Statistics;

/// What was done and found so far. With a budget of cases, all of it is the same in every run of a hunt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counts {
    /// The cases that were judged, and what their scheduled runs look like, on all targets together. Only a sample of
    /// the cases is examined for rows that two transactions write.
    pub statistics: Statistics,
    /// Judgements that an oracle could not reach, by the oracle and its reason.
    pub undecided: BTreeMap<String, u64>,
    /// The first group in which each of these reasons was met.
    pub undecided_in: BTreeMap<String, u64>,
    /// Cases that no thorough oracle could judge.
    pub undecided_cases: u64,
    /// Cases whose setup a target refused.
    pub refused: u64,
    /// Cases that could not be observed: a connection was lost, a server had to be started again.
    pub unobserved: u64,
    /// Violations that did not appear each time they were looked at.
    pub unreproducible: u64,
    /// Storms.
    pub storms: u64,
    /// Their transactions.
    pub storm_transactions: u64,
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
/// So many reasons are told apart.
const REASONS_MAX: usize = 20;
/// What the others are called.
const OTHER_REASONS: &str = "other reasons";

impl Counts {
    /// Adds what somebody else counted.
    pub fn merge(&mut self, other: &Counts) {
        self.statistics.merge(&other.statistics);
        for (reason, count) in &other.undecided {
            let group = other.undecided_in.get(reason).copied().unwrap_or_default();
            self.note_undecided(reason.clone(), *count, group);
        }
        self.undecided_cases += other.undecided_cases;
        self.refused += other.refused;
        self.unobserved += other.unobserved;
        self.unreproducible += other.unreproducible;
        self.storms += other.storms;
        self.storm_transactions += other.storm_transactions;
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

    /// Cases that were run, or were to be: judged, refused and not observed.
    pub fn cases_met(&self) -> u64 {
        self.cases() + self.refused + self.unobserved
    }

    /// Cases that were not decided, for whatever reason.
    pub fn cases_undecided(&self) -> u64 {
        self.undecided_cases + self.refused + self.unobserved
    }

    /// Violations that are known behaviours.
    pub fn known_count(&self) -> u64 {
        self.known.values().sum()
    }

    /// Judgements that an oracle could not reach.
    pub fn undecided_count(&self) -> u64 {
        self.undecided.values().sum()
    }

    pub(super) fn note_undecided(&mut self, reason: String, count: u64, group: u64) {
        let is_told = self.undecided.contains_key(&reason) || self.undecided.len() < REASONS_MAX;
        let reason = if is_told { reason } else { OTHER_REASONS.to_string() };
        self.undecided_in.entry(reason.clone()).and_modify(|first| *first = group.min(*first)).or_insert(group);
        *self.undecided.entry(reason).or_default() += count;
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
