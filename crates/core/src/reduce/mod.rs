//! Reduction: the smallest case that still shows it.
//!
//! A case that a machine found has forty statements, and four of them matter. The reducer is given a test, "does this
//! case still show it?", and takes away whatever it can: sessions, transactions, statements, setup, rows, switches
//! between sessions. It knows no database and no oracle.
//!
//! ```text
//!   case ──→ sessions ──→ transactions ──→ items ──→ setup ──→ rows ──→ arguments ──→ switches ──→ marks ──┐
//!     ↑                                                                                                    │
//!     └────────────────────────────── again, until a whole round changes nothing ──────────────────────────┘
//! ```
//!
//! * Each pass is one file; `PASSES` is their order. Most of them are [`ddmin`](ddmin::ddmin) over some parts.
//! * A test that cannot tell (*unresolved*: the setup fails, a run is not clean) counts as not reproduced. A smaller
//!   case that merely might show it is no evidence.
//! * The same case is not tested twice, and the same input takes the same way. The number of tests is bounded.
//!
//! # Limits
//!
//! Statements are not simplified, only left out. A schedule is adjusted when statements go; behind a call, whose number
//! of steps only the program knows, its entries stay as they are, and those that are too many are without effect.

mod arguments;
pub mod ddmin;
mod edit;
mod items;
mod marks;
mod rows;
mod sessions;
mod setup;
mod switches;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use crate::case::{Case, Line, SessionName};
use crate::finding;
use crate::oracle::Verdict;

/// How many tests a reduction may run, unless the caller says otherwise.
pub const TESTS_MAX: usize = 2_000;

/// What a test says of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reproduction {
    /// It shows what it should.
    Reproduced,
    /// It does not.
    Gone,
    /// It cannot be told. Never counts as reproduced.
    Unresolved,
}

impl Reproduction {
    /// What an oracle's verdict means: violated or not; unknown is unresolved, and so is a run that failed.
    pub fn of<E>(verdict: &Result<Verdict, E>) -> Reproduction {
        match verdict {
            Ok(Verdict::Violated(_)) => Reproduction::Reproduced,
            Ok(Verdict::Holds(_)) => Reproduction::Gone,
            Ok(Verdict::Unknown(_)) | Err(_) => Reproduction::Unresolved,
        }
    }
}

/// How large a case is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    /// Sessions.
    pub sessions: usize,
    /// Items of all sessions.
    pub items: usize,
    /// Statements of the setup.
    pub setup: usize,
    /// Rows that the setup inserts, as far as they are written as VALUES.
    pub rows: usize,
    /// Switches from one session to another, in the first schedule or in line order.
    pub switches: usize,
}

impl Size {
    /// Measures a case.
    pub fn of(case: &Case) -> Size {
        let sessions = case.sessions();
        let switches = match case.schedules().first() {
            Some(schedule) => schedule.switch_count(),
            None => {
                let names: Vec<&SessionName> = case.entries.iter().filter_map(step_session).collect();
                names.windows(2).filter(|pair| pair[0] != pair[1]).count()
            }
        };
        let setup = case.setup();
        let rows = |sql: &String| rows::Values::of(sql).map_or(0, |values| values.rows.len());
        Size {
            sessions: sessions.len(),
            items: sessions.iter().map(|session| session.items.len()).sum(),
            rows: setup.iter().map(rows).sum(),
            setup: setup.len(),
            switches,
        }
    }
}

fn step_session(entry: &crate::case::Entry) -> Option<&SessionName> {
    match &entry.line {
        Line::Step(name, ..) => Some(name),
        _ => None,
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |number: usize, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
        write!(
            f,
            "{}, {}, {}, {}, {}",
            count(self.sessions, "session"),
            count(self.items, "item"),
            count(self.setup, "setup statement"),
            count(self.rows, "row"),
            if self.switches == 1 { "1 switch".to_string() } else { format!("{} switches", self.switches) }
        )
    }
}

/// A reduced case, and what it took.
#[derive(Debug, Clone)]
pub struct Reduced {
    /// The smallest case that was found to reproduce.
    pub case: Case,
    /// Whether the case that was given reproduces at all. If not, it is returned as it is.
    pub reproduced: bool,
    /// Whether nothing more can be taken away; false if the tests ran out first.
    pub complete: bool,
    /// How many tests were run.
    pub tests: usize,
    /// How many of them could not tell.
    pub unresolved: usize,
    /// The size of the case that was given.
    pub before: Size,
    /// The size of the reduced case.
    pub after: Size,
}

/// One way to make a case smaller.
trait Pass: Sync {
    /// Gives the smallest case that it can find, from one that reproduces; the case itself if there is none.
    fn reduce(&self, case: &Case, tests: &mut Tests<'_>) -> Case;
}

/// The passes of a round: what takes away most comes first.
const PASSES: &[&dyn Pass] = &[
    &sessions::Sessions,
    &items::Transactions,
    &items::Items,
    &setup::Setup,
    &rows::Rows,
    &arguments::Arguments,
    &switches::Switches,
    &marks::Marks,
];

/// Reduces a case with at most [`TESTS_MAX`] tests.
pub fn reduce(case: &Case, test: &mut dyn FnMut(&Case) -> Reproduction) -> Reduced {
    reduce_within(TESTS_MAX, case, test)
}

/// Reduces a case with at most so many tests.
pub fn reduce_within(tests_max: usize, case: &Case, test: &mut dyn FnMut(&Case) -> Reproduction) -> Reduced {
    let mut tests = Tests { test, left: tests_max, run: 0, unresolved: 0, rejected: BTreeSet::new() };
    let mut smallest = case.clone();
    let reproduced = tests.reproduces(case);
    let mut changed = reproduced;
    while changed && tests.left > 0 {
        let before = smallest.clone();
        for pass in PASSES {
            smallest = pass.reduce(&smallest, &mut tests);
        }
        changed = smallest != before;
    }
    Reduced {
        reproduced,
        complete: reproduced && !changed,
        tests: tests.run,
        unresolved: tests.unresolved,
        before: Size::of(case),
        after: Size::of(&smallest),
        case: smallest,
    }
}

/// The test, with its bookkeeping.
struct Tests<'a> {
    test: &'a mut dyn FnMut(&Case) -> Reproduction,
    left: usize,
    run: usize,
    unresolved: usize,
    /// Hashes of cases that do not reproduce. If two cases ever had the same hash, one of them would not be tried, and
    /// the result would be larger: never wrong.
    rejected: BTreeSet<u64>,
}

impl Tests<'_> {
    /// Whether a case reproduces. When no tests are left, nothing does.
    fn reproduces(&mut self, case: &Case) -> bool {
        let hash = finding::hash(&format!("{:?}", case.entries));
        if self.left == 0 || self.rejected.contains(&hash) {
            return false;
        }
        self.left -= 1;
        self.run += 1;
        let answer = (self.test)(case);
        self.unresolved += usize::from(answer == Reproduction::Unresolved);
        if answer != Reproduction::Reproduced {
            self.rejected.insert(hash);
        }
        answer == Reproduction::Reproduced
    }

    /// Keeps as few of the parts as possible; `build` makes the case that has only these.
    fn minimize<T: Clone>(&mut self, case: &Case, parts: &[T], build: impl Fn(&[T]) -> Option<Case>) -> Case {
        let kept = ddmin::ddmin(parts, &mut |parts: &[T]| build(parts).is_some_and(|case| self.reproduces(&case)));
        if kept.len() == parts.len() { case.clone() } else { build(&kept).unwrap_or_else(|| case.clone()) }
    }
}
