//! PostgreSQL's isolation tests: `.spec` files.
//!
//! ```text
//! setup    { CREATE TABLE t (v int); INSERT INTO t VALUES (1); }
//! teardown { DROP TABLE t; }
//!
//! session s1
//! setup    { BEGIN; }
//! step w1  { UPDATE t SET v = 2; }
//! step c1  { COMMIT; }
//!
//! session s2
//! step w2  { UPDATE t SET v = 3; }
//!
//! permutation w1 w2 c1          # w2 waits until c1
//! permutation w1 w2(*) c1       # … and is reported as waiting at once, however fast it is
//! ```
//!
//! Without a `permutation`, every interleaving of the steps is run. A file is read into a [`Spec`] ([`parse()`]), whose
//! references are resolved, and can be
//!
//! * run as PostgreSQL's own runner does, to the same transcript, byte for byte ([`tester`], [`transcript`]),
//! * turned into cases, one per permutation, and made from a case ([`to_cases`], [`from_case`]),
//! * printed ([`print()`]).

mod lex;
mod parse;
mod print;
mod interleavings;
pub mod tester;
pub mod transcript;
mod convert;
mod cleanup;

pub(super) use cleanup::removals;
pub use convert::{SpecCase, from_case, to_cases};
pub use interleavings::Interleavings;
pub use parse::{SpecError, parse};
pub use print::print;

/// An isolation test.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spec {
    /// The comment at the top of the file, line by line, without `#`.
    pub prose: Vec<String>,
    /// SQL blocks that are executed, one message each, before every permutation.
    pub setup: Vec<String>,
    /// What is executed after every permutation.
    pub teardown: Option<String>,
    /// The sessions; at least one.
    pub sessions: Vec<SpecSession>,
    /// The permutations; if there are none, all interleavings are meant.
    pub permutations: Vec<Permutation>,
}

/// A session of an isolation test: one connection, with the steps that it offers to permutations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpecSession {
    /// Its name.
    pub name: String,
    /// What it executes before the first step of every permutation.
    pub setup: Option<String>,
    /// Its steps; at least one.
    pub steps: Vec<SpecStep>,
    /// What it executes after the last step of every permutation.
    pub teardown: Option<String>,
}

/// A named message to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecStep {
    /// Its name; no two steps of a spec have the same.
    pub name: String,
    /// What is sent, without the blanks at both ends of the block (line breaks are kept).
    pub sql: String,
}

/// The place of a step in a [`Spec`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepAt {
    /// The position of its session.
    pub session: usize,
    /// Its position in the session.
    pub step: usize,
}

/// An order in which steps are launched.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Permutation {
    /// The comment above it, line by line, without `#`.
    pub prose: Vec<String>,
    /// The steps. A step may occur more than once, or not at all.
    pub steps: Vec<PermutationStep>,
}

/// A step of a permutation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermutationStep {
    /// Which step.
    pub at: StepAt,
    /// What its completion depends on, apart from the server.
    pub markers: Vec<Marker>,
}

impl From<StepAt> for PermutationStep {
    fn from(at: StepAt) -> PermutationStep {
        PermutationStep { at, markers: Vec::new() }
    }
}

/// A condition for *reporting* that a step has completed. Launching is never delayed by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// `(*)`: reported as waiting as soon as it is launched.
    Once,
    /// `(other)`: not reported as completed while the other step is active.
    Step(StepAt),
    /// `(other notices n)`: not reported as completed before the other step's session has sent so many notices, counted
    /// from the launch of this step.
    Notices(StepAt, u32),
}

impl Spec {
    /// The step at that place.
    pub fn step(&self, at: StepAt) -> &SpecStep {
        &self.sessions[at.session].steps[at.step]
    }

    /// Finds a step by its name.
    pub fn find(&self, name: &str) -> Option<StepAt> {
        self.steps().find(|at| self.step(*at).name == name)
    }

    /// All steps, in the order of the file.
    pub fn steps(&self) -> impl Iterator<Item = StepAt> {
        let of_session = |(session, steps): (usize, usize)| (0..steps).map(move |step| StepAt { session, step });
        self.sessions.iter().map(|session| session.steps.len()).enumerate().flat_map(of_session)
    }

    /// The permutations to run: those that are given, or all interleavings.
    pub fn all_permutations(&self) -> Box<dyn Iterator<Item = Permutation> + '_> {
        if self.permutations.is_empty() {
            Box::new(Interleavings::new(self))
        } else {
            Box::new(self.permutations.iter().cloned())
        }
    }

    /// The names of steps that no permutation uses, sorted; nothing is unused where all interleavings are run.
    pub fn unused_steps(&self) -> Vec<&str> {
        if self.permutations.is_empty() {
            return Vec::new();
        }
        let used = |at: &StepAt| self.permutations.iter().flat_map(|p| &p.steps).any(|step| step.at == *at);
        let mut names: Vec<&str> = self.steps().filter(|at| !used(at)).map(|at| self.step(at).name.as_str()).collect();
        names.sort_unstable();
        names
    }
}

/// Whether a text whose name says nothing is probably a spec: it has a line that begins a session and one that begins a
/// step.
pub(super) fn looks_like(text: &str) -> bool {
    let has = |keyword: &str| text.lines().any(|line| line.split_whitespace().next() == Some(keyword));
    has("session") && has("step")
}

#[cfg(test)]
mod tests;
