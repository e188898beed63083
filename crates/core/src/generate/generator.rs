//! The generator: from a model, targets and a seed to groups of cases.
//!
//! ```text
//!   group(n) ─→ schema ─→ ┌ transactions 0 ─→ order 0, order 1, …   each order is a case
//!                         └ transactions 1 ─→ order 0, order 1, …
//! ```
//!
//! Everything below a group is a function of the seed and of the group's number.

use crate::case::{Case, Entry, Item, Line, SessionName, Sql};
use crate::engine::EngineInfo;
use crate::level::{KNOWN_LEVELS, LevelName};

use super::language::Language;
use super::maker::{Maker, Tally};
use super::model::Model;
use super::random::Random;
use super::schema::{assertions, make, print};
use super::{Demands, Group, features, order};

/// The names of sessions.
const SESSIONS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

/// What a stream of random numbers is for: the first number of its path after the group's.
const SCHEMA: u64 = 0;
const TRANSACTIONS: u64 = 1;
const ORDERS: u64 = 2;
const LEVELS: u64 = 3;

/// Makes cases for some targets.
#[derive(Debug, Clone)]
pub struct Generator {
    model: Model,
    language: Language,
    begin: &'static str,
    levels: Vec<LevelName>,
    demands: Demands,
    seed: u64,
}

/// Why nothing can be generated for some targets: the user must choose others.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// No target was given.
    #[error("there is no target to generate cases for")]
    NoTarget,
    /// No level is common to all targets.
    #[error("the targets have no isolation level in common ({0}); choose other targets")]
    NoLevel(String),
    /// A level was asked for that a target lacks.
    #[error("not every target has the isolation level `{wanted}` ({have}); choose another level or other targets")]
    LevelNotShared {
        /// The level.
        wanted: LevelName,
        /// What each target has.
        have: String,
    },
    /// The targets lack something that every case needs.
    #[error("the targets have too little of their languages in common: {0}; choose other targets")]
    TooLittle(String),
}

impl Generator {
    /// A generator of cases that all targets understand. `levels` are those that cases may ask for; empty means all
    /// that the targets share.
    pub fn new(
        model: Model,
        targets: &[EngineInfo],
        demands: Demands,
        levels: &[LevelName],
        seed: u64,
    ) -> Result<Generator, GenerateError> {
        let levels = shared_levels(targets, levels)?;
        let begin = shared_begin(targets)?;
        Ok(Generator { model, language: Language::of(targets), begin, levels, demands, seed })
    }

    /// The cases of a group: a function of what [`Generator::new`] was given, and of the number.
    pub fn group(&self, number: u64) -> Group {
        self.tallied_group(number).0
    }

    /// The same, and what happened on the way.
    pub fn tallied_group(&self, number: u64) -> (Group, Tally) {
        let stream = |path: &[u64]| Random::new(self.seed, &[&[number], path].concat());
        let mut random = stream(&[SCHEMA]);
        let schema = make::schema(&self.model, &self.language, self.demands, &mut random);
        let mut shared: Vec<Line> = Vec::new();
        if self.demands.assertions {
            shared.extend(assertions::assertions(&schema).into_iter().map(Line::Assert));
        }
        shared.extend(print::setup(&schema, &self.language).iter().map(|sql| Line::Init(checked(sql), Vec::new())));

        let (mut cases, mut tally) = (Vec::new(), Tally::default());
        for transactions in 0..self.model.count(&features::GROUPS, &mut random).max(1) as u64 {
            let random = stream(&[TRANSACTIONS, transactions]);
            let mut maker = Maker::new(&self.model, &self.language, &schema, self.demands, random);
            let sessions = maker.sessions(self.begin);
            tally.add(&maker.tally);
            let steps: Vec<usize> = sessions.iter().map(Vec::len).collect();
            let orders = order::orders(&steps, &self.model, &mut stream(&[ORDERS, transactions]));
            for order in orders {
                let mut random = stream(&[LEVELS, cases.len() as u64]);
                let mut lines = self.isolation(sessions.len(), &mut random);
                lines.extend(shared.iter().cloned());
                lines.extend(interleaved(&sessions, &order));
                let title = self.title(number, cases.len(), transactions);
                cases.push(case(lines, title));
            }
        }
        (Group { number, cases }, tally)
    }

    /// Where a case comes from, for those who find it in a file.
    fn title(&self, group: u64, case: usize, transactions: u64) -> String {
        let (profile, seed) = (&self.model.name, self.seed);
        format!(" Generated: profile {profile}, seed {seed}, group {group}, case {case} (transactions {transactions}).")
    }

    /// The level of all sessions, or one for each.
    fn isolation(&self, sessions: usize, random: &mut Random) -> Vec<Line> {
        match self.model.flag(&features::MIXED, random) {
            true => (0..sessions).map(|at| Line::Isolation(Some(session(at)), self.level(random))).collect(),
            false => vec![Line::Isolation(None, self.level(random))],
        }
    }

    fn level(&self, random: &mut Random) -> LevelName {
        let named = |word: &str| self.levels.iter().find(|level| level.as_str() == word);
        // Levels of engines that we do not know have no weights.
        let known = self.levels.iter().all(|level| KNOWN_LEVELS.contains(&level.as_str()));
        let word = if known { self.model.word(&features::LEVEL, random, |word| named(word).is_some()) } else { None };
        let chosen = word.and_then(named).or_else(|| random.pick(&self.levels));
        chosen.expect("a generator has a level").clone()
    }
}

fn session(at: usize) -> SessionName {
    SessionName::new(SESSIONS[at % SESSIONS.len()]).expect("the names are valid")
}

fn checked(sql: &str) -> Sql {
    Sql::new(sql).expect("what is generated is one line of SQL")
}

/// The steps of all sessions in an order.
fn interleaved(sessions: &[Vec<String>], order: &[usize]) -> Vec<Line> {
    let mut left: Vec<_> = sessions.iter().map(|steps| steps.iter()).collect();
    let step = |at: &usize| {
        let sql = left[*at].next()?;
        Some(Line::Step(session(*at), Item::Sql(checked(sql)), Vec::new()))
    };
    order.iter().filter_map(step).collect()
}

fn case(lines: Vec<Line>, title: String) -> Case {
    let mut entries: Vec<Entry> = lines.into_iter().map(Entry::from).collect();
    if let Some(first) = entries.first_mut() {
        first.prose.push(title);
    }
    Case { entries, ..Case::default() }
}

/// How all targets open a transaction.
fn shared_begin(targets: &[EngineInfo]) -> Result<&'static str, GenerateError> {
    let mut all = targets.iter().map(|target| target.dialect.begin());
    let first = all.next().ok_or(GenerateError::NoTarget)?;
    match all.find(|other| *other != first) {
        Some(other) => Err(GenerateError::TooLittle(format!("one opens a transaction by {first}, one by {other}"))),
        None => Ok(first),
    }
}

/// The levels that cases may ask for, in the order of the first target.
fn shared_levels(targets: &[EngineInfo], wanted: &[LevelName]) -> Result<Vec<LevelName>, GenerateError> {
    let Some((first, others)) = targets.split_first() else { return Err(GenerateError::NoTarget) };
    let has_all = |level: &LevelName| others.iter().all(|target| target.levels.contains(level));
    let shared: Vec<LevelName> = first.levels.iter().filter(|level| has_all(level)).cloned().collect();
    let have = || {
        let names = |target: &EngineInfo| target.levels.iter().map(LevelName::as_str).collect::<Vec<_>>().join(", ");
        targets.iter().map(|target| format!("{}: {}", target.target, names(target))).collect::<Vec<_>>().join("; ")
    };
    if let Some(missing) = wanted.iter().find(|level| !shared.contains(level)) {
        return Err(GenerateError::LevelNotShared { wanted: missing.clone(), have: have() });
    }
    match (wanted, shared.is_empty()) {
        ([], true) => Err(GenerateError::NoLevel(have())),
        ([], false) => Ok(shared),
        (wanted, _) => Ok(wanted.to_vec()),
    }
}

#[cfg(test)]
mod tests;
