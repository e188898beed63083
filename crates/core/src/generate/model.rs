//! The stochastic model: every choice of the generator is a *feature*, a pair of candidates and a distribution.
//!
//! ```text
//!   schema.tables      <{1, 2, 3}, uniform>
//!   column.type        <{int, varchar, date}, weighted 5 : 3 : 1>
//!   session.ending     <{commit, rollback}, Zipf(1.0)>
//! ```
//!
//! Which features there are, with their bounds and defaults, stands in one table ([`FEATURES`](super::features::FEATURES)).
//! A *profile* says what some of them are to be; a [`Model`] is the table with a profile laid over it. The generator asks
//! the model, and never decides anything by itself. (The idea of describing a test space by such pairs is DBStorm's, §2.3.)

use std::collections::BTreeMap;

use super::random::Random;

/// A choice that the generator makes.
#[derive(Debug, Clone, Copy)]
pub struct Feature {
    /// Its name in a profile: `section.name`.
    pub name: &'static str,
    /// What may be chosen at all.
    pub domain: Domain,
    /// What is chosen if a profile says nothing.
    pub default: Usual,
    /// What is chosen, in one clause: documentation is made of it.
    pub what: &'static str,
}

/// What may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// A number between the two, both included.
    Number(i64, i64),
    /// One of these words.
    Words(&'static [&'static str]),
    /// Yes or no; the candidates are the words `true` and `false`.
    Flag,
}

/// The default of a feature, written down in a constant.
#[derive(Debug, Clone, Copy)]
pub enum Usual {
    /// All numbers between the two, each with the same chance.
    Range(i64, i64),
    /// Words with their weights; words that are missing here are not chosen.
    Weights(&'static [(&'static str, u64)]),
    /// Yes, in so many of a hundred cases.
    Percent(u64),
}

/// One candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Candidate {
    /// A number.
    Number(i64),
    /// A word of the feature's domain.
    Word(&'static str),
}

/// How one of the candidates is chosen.
#[derive(Debug, Clone, PartialEq)]
pub enum Distribution {
    /// Each with the same chance. (A constant has one candidate.)
    Uniform,
    /// By weights, one per candidate.
    Weighted(Vec<u64>),
    /// The n-th candidate has the weight 1/nˢ.
    Zipf(f64),
}

/// The weight of the first candidate of a Zipf distribution, so that the others are whole numbers, too.
const ZIPF_UNIT: f64 = 1_000_000.0;

/// What a feature is, in a model: candidates and a distribution over them.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    candidates: Vec<Candidate>,
    weights: Vec<u64>,
}

impl Choice {
    /// Candidates with a distribution. There must be one candidate, and one weight per candidate, not all 0: what reads
    /// profiles says so to the user.
    pub fn new(candidates: Vec<Candidate>, distribution: &Distribution) -> Choice {
        let weights = match distribution {
            Distribution::Uniform => vec![1; candidates.len()],
            Distribution::Weighted(weights) => weights.clone(),
            Distribution::Zipf(s) => {
                let weight = |rank: usize| (ZIPF_UNIT / (rank as f64).powf(*s)).round().max(1.0) as u64;
                (1..=candidates.len()).map(weight).collect()
            }
        };
        assert_eq!(candidates.len(), weights.len(), "one weight per candidate");
        assert!(weights.iter().any(|weight| *weight > 0), "something can be chosen");
        Choice { candidates, weights }
    }

    /// The candidates with their weights.
    pub fn weights(&self) -> impl Iterator<Item = (Candidate, u64)> + '_ {
        self.candidates.iter().copied().zip(self.weights.iter().copied())
    }

    /// One of those candidates that are allowed; `None` if no allowed one has a chance.
    fn sample(&self, random: &mut Random, allowed: impl Fn(Candidate) -> bool) -> Option<Candidate> {
        let weights: Vec<u64> = self.weights().map(|(c, weight)| if allowed(c) { weight } else { 0 }).collect();
        random.weighted(&weights).map(|at| self.candidates[at])
    }
}

impl From<Usual> for Choice {
    fn from(usual: Usual) -> Choice {
        let words = |weights: &[(&'static str, u64)]| {
            let (candidates, weights) = weights.iter().map(|(word, weight)| (Candidate::Word(word), *weight)).unzip();
            Choice::new(candidates, &Distribution::Weighted(weights))
        };
        match usual {
            Usual::Range(low, high) => {
                Choice::new((low..=high).map(Candidate::Number).collect(), &Distribution::Uniform)
            }
            Usual::Weights(weights) => words(weights),
            Usual::Percent(percent) => words(&[("true", percent), ("false", 100u64.saturating_sub(percent))]),
        }
    }
}

/// All features of a test space, each with candidates and distribution.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The name of the profile.
    pub name: String,
    /// What the profile is, in one sentence; may be empty.
    pub what: String,
    /// What the profile says; every other feature is as usual.
    choices: BTreeMap<&'static str, Choice>,
}

impl Model {
    /// A model in which every feature is as usual.
    pub fn usual(name: &str) -> Model {
        Model { name: name.to_string(), what: String::new(), choices: BTreeMap::new() }
    }

    /// Sets a feature.
    pub fn set(&mut self, feature: &Feature, choice: Choice) {
        self.choices.insert(feature.name, choice);
    }

    /// What a feature is in this model.
    pub fn choice(&self, feature: &Feature) -> Choice {
        self.choices.get(feature.name).cloned().unwrap_or_else(|| feature.default.into())
    }

    /// A number.
    pub fn number(&self, feature: &Feature, random: &mut Random) -> i64 {
        match self.choice(feature).sample(random, |_| true) {
            Some(Candidate::Number(number)) => number,
            _ => 0,
        }
    }

    /// How many of something.
    pub fn count(&self, feature: &Feature, random: &mut Random) -> usize {
        usize::try_from(self.number(feature, random)).unwrap_or(0)
    }

    /// Yes or no.
    pub fn flag(&self, feature: &Feature, random: &mut Random) -> bool {
        self.choice(feature).sample(random, |_| true) == Some(Candidate::Word("true"))
    }

    /// Whether a feature can be anything but `false` or 0. Nothing is drawn: features that only some profiles use leave
    /// the random numbers of all others as they are.
    pub fn can(&self, feature: &Feature) -> bool {
        let something = |candidate| !matches!(candidate, Candidate::Word("false") | Candidate::Number(0));
        self.choice(feature).weights().any(|(candidate, weight)| weight > 0 && something(candidate))
    }

    /// A word, among those that are allowed here; `None` if none of them has a chance.
    pub fn word(&self, feature: &Feature, random: &mut Random, allowed: impl Fn(&str) -> bool) -> Option<&'static str> {
        let may = |candidate| matches!(candidate, Candidate::Word(word) if allowed(word));
        match self.choice(feature).sample(random, may) {
            Some(Candidate::Word(word)) => Some(word),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Feature =
        Feature { name: "test.size", domain: Domain::Number(0, 9), default: Usual::Range(1, 3), what: "a size" };
    const KIND: Feature = Feature {
        name: "test.kind",
        domain: Domain::Words(&["a", "b", "c"]),
        default: Usual::Weights(&[("a", 3), ("b", 1)]),
        what: "a kind",
    };

    fn shares(model: &Model, allowed: &str) -> BTreeMap<&'static str, usize> {
        let mut random = Random::new(1, &[]);
        let mut seen = BTreeMap::new();
        for _ in 0..4_000 {
            if let Some(word) = model.word(&KIND, &mut random, |word| allowed.contains(word)) {
                *seen.entry(word).or_default() += 1;
            }
        }
        seen
    }

    #[test]
    fn candidates_come_with_their_weights_and_only_where_allowed() {
        let mut model = Model::usual("test");
        let seen = shares(&model, "abc");
        assert!((2_800..3_200).contains(&seen["a"]) && seen["a"] + seen["b"] == 4_000, "{seen:?}");
        assert_eq!(shares(&model, "bc").into_iter().collect::<Vec<_>>(), [("b", 4_000)]);
        assert!(shares(&model, "c").is_empty());
        let ranked = ["c", "a", "b"].map(Candidate::Word).to_vec();
        model.set(&KIND, Choice::new(ranked, &Distribution::Zipf(1.0)));
        let seen = shares(&model, "abc");
        assert!(seen["c"] > seen["a"] && seen["a"] > seen["b"] && seen["b"] > 500, "{seen:?}");
    }

    #[test]
    fn what_cannot_be_chosen_is_known_without_drawing() {
        let mut model = Model::usual("test");
        assert!(model.can(&SIZE));
        let constant = |candidate| Choice::new(vec![candidate], &Distribution::Uniform);
        model.set(&SIZE, constant(Candidate::Number(0)));
        assert!(!model.can(&SIZE));
        let flag =
            |percent| Feature { name: "test.flag", domain: Domain::Flag, default: Usual::Percent(percent), what: "" };
        assert!(!model.can(&flag(0)) && model.can(&flag(1)));
    }

    #[test]
    fn numbers_stay_in_their_range() {
        let model = Model::usual("test");
        let mut random = Random::new(1, &[]);
        let seen: std::collections::BTreeSet<usize> = (0..100).map(|_| model.count(&SIZE, &mut random)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [1, 2, 3]);
    }
}
