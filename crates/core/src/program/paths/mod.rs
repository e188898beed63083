//! Paths: arguments and rows that make calls follow the ways that we want.
//!
//! # The problem
//!
//! Flow analysis says: run A up to its first commit, then B, then the rest of A. It does not say how to get there. A
//! books only `IF :avail > 0`, B only if its amount is small enough, and both must mean the same flight:
//!
//! ```text
//!   A                                       B
//!   SELECT avail INTO :avail  → f.avail
//!   COMMIT
//!                                           IF :n > 2 …                     B.n > 2
//!                                           UPDATE … avail = avail - :n     f.avail becomes f.avail - B.n
//!   IF :avail > 0                                                           f.avail > 0: what A has read
//!   UPDATE … WHERE id = :flight                                             A.flight = f.id
//! ```
//!
//! # The idea
//!
//! One row of each table is the *focus*, where calls are to meet. Its columns are unknowns, and so are the parameters
//! of each call. Along given ways ([`ways`](mod@ways)) the calls are executed with terms for values, one segment after
//! the other; each branch that a way takes, and each meeting that is wanted, is a demand of a
//! [`Problem`](solve::Problem), and a model of the problem is what was asked for.
//!
//! ```text
//!   graph ──ways──→ one way per instance ──machine──→ demands ──solve──→ Found, or the next combination of ways
//! ```
//!
//! * [`ways`](mod@ways): through the graph, shortest first
//! * `symbol`: values as terms: numbers, truth values, codes for texts and days, each perhaps NULL
//! * `rows`: the focus rows, their types, keys, checks, references
//! * `expression`: expressions of the program and of SQL → symbols
//! * `statement`: what SQL does to the focus rows, and what it answers
//! * `machine`: ways → demands
//! * `wishes`, `values`: small and distinct values, and reading them from a model
//!
//! # What an answer means
//!
//! What cannot be expressed (a sum over rows, a pattern, a quotient with a fraction, a row that is not the focus) is a
//! *stand-in*: an unknown without a meaning. So there are ever more values than in a run, never fewer:
//! *impossible* is certain, and *found* is [`exact`](Found::exact) only if no demand needs a stand-in. Where, the other
//! way round, fewer values are looked at than there are (floating-point numbers are taken to be whole), *impossible* is
//! not said.
//!
//! # Limits
//!
//! Loops that constants do not end are unrolled [a few times](Limits::rounds). A statement that fails (a key that is
//! there already, a CHECK, a division by zero) is taken to be none of the path. Cascades and triggers are not followed.
//! Text is compared byte by byte, and only for equality.

pub mod ways;
mod constants;
pub(crate) mod symbol;
mod values;
mod rows;
pub(crate) mod expression;
mod statement;
mod machine;
mod wishes;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod random;

use std::collections::{BTreeMap, BTreeSet};

pub use ways::{Limits, Pass, PathCut, Way, Ways, ways};

use crate::program::access::ProcedureAccess;
use crate::program::ir::{Procedure, Span};
use crate::program::predicate::Element;
use crate::program::schema::Schema;
use crate::solve;
use crate::value::Value;
use machine::Machine;

/// Which calls are to get where.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// The tables.
    pub schema: &'a Schema,
    /// The calls.
    pub instances: Vec<Instance<'a>>,
    /// Who runs, in order. What no segment says is not run.
    pub segments: Vec<Segment>,
    /// Whether a focus row may be missing at the start. If not, all are there.
    pub may_be_absent: bool,
    /// How far is looked.
    pub limits: Limits,
}

/// A call.
#[derive(Debug, Clone)]
pub struct Instance<'a> {
    /// What is called.
    pub procedure: &'a Procedure,
    /// Its graph.
    pub access: &'a ProcedureAccess,
    /// The nodes that it has to pass, in order.
    pub passes: Vec<Pass>,
}

/// A part of a call that runs in one go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// The position of the instance.
    pub instance: usize,
    /// The position, among the nodes that it has to pass, of the last node of the segment; without one, its way ends.
    pub until: Option<usize>,
}

/// What is known of a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// How to get there.
    Found(Box<Found>),
    /// No values get there, on any way that was looked at.
    Impossible(Impossible),
    /// It could not be found out.
    Unknown,
}

/// Values that make calls follow their ways.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// For each instance, the values of its parameters. One whose type has no values here (JSON, arrays) is missing.
    pub arguments: Vec<BTreeMap<String, Value>>,
    /// The columns of the focus rows that matter, with their values at the start.
    pub columns: BTreeMap<Element, Value>,
    /// The tables whose focus row must not be there at the start.
    pub absent: BTreeSet<String>,
    /// The way of each instance.
    pub ways: Vec<Way>,
    /// Whether everything that matters was expressed. If not, these values are right as far as we can tell.
    pub exact: bool,
}

/// Why there are no values.
#[derive(Debug, Clone, PartialEq)]
pub struct Impossible {
    /// For the shortest ways, conditions that cannot hold together, in the order in which they are met. None if there is
    /// not even a way.
    pub conflict: Vec<Reason>,
    /// Whether all ways were looked at; if not, a longer one may be possible.
    pub complete: bool,
}

/// A condition, and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// The position of the instance.
    pub instance: usize,
    /// Where.
    pub span: Span,
    /// What must hold.
    pub kind: ReasonKind,
}

/// What kind of condition it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReasonKind {
    /// The condition of a branch is true.
    Taken,
    /// The condition of a branch is not true.
    NotTaken,
    /// The statement touches the focus row of that table.
    Meets(String),
    /// The rows of that table keep their types and constraints.
    Keeps(String),
    /// The expression or statement does not fail.
    Succeeds,
}

/// After so many answers that are not exact, there is hardly an exact one.
const LIKELY_MAX: usize = 3;

/// Looks for values: exact ones, or else those of the shortest ways.
pub fn find(question: &Question<'_>) -> Answer {
    let limits = &question.limits;
    let ways: Vec<Ways> =
        question.instances.iter().map(|instance| ways(instance.access, &instance.passes, limits)).collect();
    let (combinations, all) = combinations(&ways, limits.ways);
    let mut impossible = Impossible { conflict: Vec::new(), complete: all && ways.iter().all(Ways::is_complete) };
    let mut likely = Vec::new();
    let mut is_known = true;
    for (number, chosen) in combinations.into_iter().enumerate() {
        let machine = Machine::run(question, &chosen);
        match machine.problem().solve(limits.budget) {
            solve::Answer::Possible(model) => {
                let found = machine.found(&model, &chosen);
                if found.exact {
                    return Answer::Found(Box::new(found));
                }
                likely.push(found);
                if likely.len() == LIKELY_MAX {
                    break;
                }
            }
            solve::Answer::Impossible if !machine.is_narrowed() => {
                if number == 0 {
                    impossible.conflict = machine.conflict(limits.budget);
                }
            }
            _ => is_known = false,
        }
    }
    match likely.into_iter().next() {
        Some(found) => Answer::Found(Box::new(found)),
        None if is_known => Answer::Impossible(impossible),
        None => Answer::Unknown,
    }
}

/// A way for each instance, the shortest ones first; and whether these are all combinations.
fn combinations<'w>(ways: &'w [Ways], count_max: usize) -> (Vec<Vec<&'w Way>>, bool) {
    let mut is_cut = false;
    let mut combinations: Vec<(usize, Vec<&'w Way>)> = vec![(0, Vec::new())];
    for ways in ways {
        let longer = combinations.iter().flat_map(|(length, chosen)| {
            ways.ways.iter().map(move |way| {
                let chosen = chosen.iter().copied().chain([way]).collect();
                (length + way.nodes.len(), chosen)
            })
        });
        combinations = longer.collect();
        combinations.sort_by_key(|(length, _)| *length);
        is_cut |= combinations.len() > count_max;
        combinations.truncate(count_max);
    }
    (combinations.into_iter().map(|(_, chosen)| chosen).collect(), !is_cut)
}
