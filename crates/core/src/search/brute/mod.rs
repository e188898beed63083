//! Brute force: a second opinion on small programs, which shares nothing with the search.
//!
//! # The problem
//!
//! The search says that a pair of calls can show an anomaly, with arguments, rows and a plan; or that it cannot. Between
//! the text of a program and that answer stand conflicts, cycles, plans, symbols and a solver, and each of them may be
//! wrong.
//!
//! # The idea
//!
//! Small things can be tried. A random program of a few statements has few executions over two ids and three numbers, so
//! all of them are made, with a small interpreter of numbers and a program in a form of its own:
//!
//! ```text
//!   random program ──→ text ──→ parser, conflicts, cycles, plans, solver ──→ a test, or none
//!         │                                                                     │
//!         │                                              (a) the test, run with numbers: no serial order does the same
//!         │                                                                     │
//!         └──→ all rows × arguments × orders × deliveries ──→ an anomaly, or none
//!                                                             (b) if there is one, the search has found one as well
//! ```
//!
//! An *anomaly* is an execution of two calls whose answers and rows are those of no serial order.
//!
//! # The parts
//!
//! * `program`: random programs, and their text
//! * `machine`: what statements do to rows
//! * `explore`: all that two calls can do together, on a store (eventual) and on an engine (read committed)
//! * `domain`: all rows and arguments
//! * `replay`: what the search has found, run by the machine
//!
//! # Limits
//!
//! Two calls, two levels, no loops, no rollbacks but those of calls that fail. Programs with unique and foreign keys are
//! asked about on the engine only: stores know no more than primary keys. Executions in which a call fails are not
//! looked at (the search plans none); serial orders may fail. What the search finds with other numbers than ours, or with
//! NULLs, is checked by running it, but nobody looks whether it should have found something there.

mod program;
mod machine;
mod explore;
mod domain;
mod replay;

use std::fmt;
use std::ops::AddAssign;

use super::cycles::Bounds;
use super::find::{Examined, Group, Options, Search};
use super::ground::Called;
use super::level::Target;
use crate::budget::WorkBudget;
use crate::generate::random::Random;
use crate::program::Severity;
use crate::program::front::{self, Reading};
use crate::program::paths::Limits;
use crate::program::schema::Schema;
use explore::Rules;
use program::Program;

/// Keeps these programs apart from others of the same seed.
const STREAM: u64 = 9;
/// How the levels are called, and whose rules they are here.
const LEVELS: [(&str, Rules); 2] = [("eventual", Rules::Eventual), ("read committed", Rules::ReadCommitted)];

/// What came of some programs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Programs.
    pub programs: usize,
    /// Pairs of calls, each at one level.
    pub pairs: usize,
    /// Of these: both find an anomaly.
    pub found: usize,
    /// Neither does.
    pub silent: usize,
    /// The search does, and its tests are right; our numbers are too few for it.
    pub beyond: usize,
    /// We find an anomaly; the search finds none, and does not know either.
    pub unknown: usize,
    /// Tests of the search that were run, all of them anomalies.
    pub tests: usize,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.programs += other.programs;
        self.pairs += other.pairs;
        self.found += other.found;
        self.silent += other.silent;
        self.beyond += other.beyond;
        self.unknown += other.unknown;
        self.tests += other.tests;
    }
}

/// The search and brute force do not agree: one of them is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("seed {seed}, {level}, calls of {pair:?}: {what}\n{text}")]
pub struct Disagreement {
    /// The seed of the program.
    pub seed: u64,
    /// The level.
    pub level: String,
    /// The positions of the procedures that are called.
    pub pair: [usize; 2],
    /// About what.
    pub what: What,
    /// The program.
    pub text: String,
}

/// What they do not agree about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// The program could not be read.
    Unread(String),
    /// A test of the search is no anomaly.
    Wrong(String),
    /// The search has missed an execution.
    Missed(String),
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::Unread(why) => write!(f, "the program cannot be read: {why}"),
            What::Wrong(why) => write!(f, "the search has found what is no anomaly: {why}"),
            What::Missed(which) => write!(f, "the search has missed {which}"),
        }
    }
}

/// Asks both about a random program, at every level.
pub fn compare(seed: u64) -> Result<Tally, Box<Disagreement>> {
    let program = random_program(seed);
    let comparison = Comparison { seed, text: program.to_string(), program };
    let reading = comparison.read()?;
    let mut tally = Tally { programs: 1, ..Tally::default() };
    for (name, rules) in LEVELS {
        if rules == Rules::Eventual && comparison.program.has_constraints() {
            continue;
        }
        comparison.at_level(&reading, name, rules, &mut tally)?;
    }
    Ok(tally)
}

fn random_program(seed: u64) -> Program {
    program::random(&mut Random::new(seed, &[STREAM]))
}

/// A program that both are asked about.
struct Comparison {
    seed: u64,
    text: String,
    program: Program,
}

impl Comparison {
    fn disagree(&self, level: &str, pair: [usize; 2], what: What) -> Box<Disagreement> {
        let (level, text) = (level.to_string(), self.text.clone());
        Box::new(Disagreement { seed: self.seed, level, pair, what, text })
    }

    fn read(&self) -> Result<Reading, Box<Disagreement>> {
        let reading = front::read(&self.text, &Schema::default());
        match reading.diagnostics.iter().find(|one| one.severity == Severity::Error) {
            Some(error) => Err(self.disagree("any level", [0, 0], What::Unread(format!("{error:?}")))),
            None => Ok(reading),
        }
    }

    fn at_level(
        &self,
        reading: &Reading,
        level: &str,
        rules: Rules,
        tally: &mut Tally,
    ) -> Result<(), Box<Disagreement>> {
        let engine = (rules == Rules::ReadCommitted).then_some(("postgres", &[][..]));
        // Calls stay on their nodes there.
        let target = Target::parse(level, engine)
            .map(Target::staying)
            .map_err(|error| self.disagree(level, [0, 0], What::Unread(error.to_string())))?;
        let procedures = &reading.program.procedures;
        let called: Vec<Called<'_>> =
            procedures.iter().zip(&reading.accesses).map(|(procedure, access)| Called { procedure, access }).collect();
        let search = Search::new(&reading.schema, &called, options(target, called.len()));
        let count = self.program.procedures.len();
        for pair in (0..count).flat_map(|first| (first..count).map(move |second| [first, second])) {
            let examined = until_found(&search, &search.group(&pair.map(|one| one as u16)));
            for test in &examined.tests {
                replay::replay(&self.program, &reading.accesses, test, rules)
                    .map_err(|why| self.disagree(level, pair, What::Wrong(why)))?;
            }
            self.judge(level, pair, rules, &examined, tally)?;
        }
        Ok(())
    }

    /// Compares what the search says of a pair with what there is.
    fn judge(
        &self,
        level: &str,
        pair: [usize; 2],
        rules: Rules,
        examined: &Examined,
        tally: &mut Tally,
    ) -> Result<(), Box<Disagreement>> {
        let found = domain::any(&self.program, pair, |setup| {
            let scene = explore::find_anomaly(setup, rules)?;
            Some(format!("{}: {:?} on {:?}", scene.show(), setup.calls, setup.start))
        });
        tally.pairs += 1;
        tally.tests += examined.tests.len();
        match (found, examined.tests.is_empty(), examined.unknown.is_empty()) {
            (Some(_), false, _) => tally.found += 1,
            (None, false, _) => tally.beyond += 1,
            (None, true, _) => tally.silent += 1,
            (Some(_), true, false) => tally.unknown += 1,
            (Some(which), true, true) => return Err(self.disagree(level, pair, What::Missed(which))),
        }
        Ok(())
    }
}

/// Looks at one cycle after the other, until one of them happens: one is enough to compare.
fn until_found(search: &Search<'_>, group: &Group) -> Examined {
    let mut all = Examined::default();
    for cycle in &group.cycles {
        let alone = Group { procedures: group.procedures.clone(), cycles: vec![cycle.clone()] };
        let mut examined = search.examine(&alone);
        all.unknown.append(&mut examined.unknown);
        all.tests.append(&mut examined.tests);
        if !all.tests.is_empty() {
            break;
        }
    }
    all
}

fn options(target: Target, procedures: usize) -> Options<'static> {
    Options {
        levels: vec![target; procedures],
        bounds: Bounds { length: 4, instances: 2 },
        external: true,
        initial: None,
        prefix: 0,
        limits: Limits { rounds: 3, ways: 6, budget: 20_000 },
        grouping: true,
        second: None,
        budget: WorkBudget::unlimited(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Larger ones are left to the soak.
    const STATEMENTS_MAX: usize = 3;

    #[test]
    fn brute_force_and_the_search_agree_on_eighty_programs() {
        let size = |seed: &u64| random_program(*seed).procedures.iter().map(|one| one.body.len()).sum::<usize>();
        let mut tally = Tally::default();
        for seed in (0..).filter(|seed| size(seed) <= STATEMENTS_MAX).take(80) {
            tally += compare(seed).unwrap_or_else(|disagreement| panic!("{disagreement}"));
        }
        // Programs that show nothing, or that nobody understands, would prove nothing.
        assert!(tally.found > 30 && tally.silent > 20 && tally.unknown < 5, "{tally:?}");
    }

    /// Two INSERTs of one key; conditions that miss a row; a DELETE that an INSERT has seen; an INSERT that only one of
    /// two orders makes.
    #[test]
    fn what_once_divided_them() {
        for seed in [9, 13, 33, 1_054] {
            compare(seed).unwrap_or_else(|disagreement| panic!("{disagreement}"));
        }
    }
}
