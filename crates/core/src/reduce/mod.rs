//! Reduction: the smallest case that still shows it.
//!
//! A case that a machine found has forty statements, and four of them matter. The reducer is given a test, "does this
//! case still show it?", and takes away whatever it can: sessions, transactions, statements, rows, columns, tables, what
//! stands inside the statements, switches between sessions, setup. It knows no database and no oracle.
//!
//! ```text
//!   case ──→ sessions ──→ transactions ──→ items ──→ events ──→ rows ──→ columns ──→ tables ──→ inside the SQL ──┐
//!     ↑                                                                                                          │
//!     ├─────────────────── again, until a whole round changes nothing ←── marks ←── setup ←── switches ←─────────┘
//!     └→ names
//! ```
//!
//! * Each pass is one file; `PASSES` is their order. Most of them are [`ddmin`](ddmin::ddmin) over some parts; those
//!   that look into statements are in the folder `sql`.
//! * A test that cannot tell (*unresolved*: the setup fails, a run is not clean) counts as not reproduced. A smaller
//!   case that merely might show it is no evidence.
//! * The same case is not tested twice, and the same input takes the same way. The number of tests is bounded.
//! * [`smallest()`] does all this for a finding: the test is that its oracle sees the same kind of violation.
//!
//! # Limits
//!
//! A schedule is adjusted when statements go; behind a call, whose number of steps only the program knows, its entries
//! stay as they are, and those that are too many are without effect. Programs themselves are not reduced.

mod arguments;
pub mod ddmin;
mod declared;
mod edit;
mod events;
mod items;
mod marks;
mod rows;
mod sessions;
mod setup;
mod size;
mod smallest;
mod sql;
mod switches;
mod trial;
#[cfg(test)]
mod tests;

pub use size::Size;
pub use smallest::smallest;
pub use trial::Reproduction;

use crate::case::Case;
pub(crate) use crate::sql::parse::parse as parse_statement;
use trial::Tests;

/// How many tests a reduction may run, unless the caller says otherwise.
pub const TESTS_MAX: usize = 2_000;

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
    &items::Brackets,
    &events::Events,
    &rows::Rows,
    &sql::columns::Columns,
    &sql::tables::Tables,
    &sql::clauses::CLAUSES,
    &sql::expressions::EXPRESSIONS,
    &sql::constants::Constants,
    &sql::types::TYPES,
    &sql::retype::Retype,
    &arguments::Arguments,
    &switches::Switches,
    &setup::Setup,
    &marks::Marks,
];

/// Reduces a case with at most [`TESTS_MAX`] tests.
pub fn reduce(case: &Case, test: &mut dyn FnMut(&Case) -> Reproduction) -> Reduced {
    reduce_within(TESTS_MAX, case, test)
}

/// Reduces a case with at most so many tests.
pub fn reduce_within(tests_max: usize, case: &Case, test: &mut dyn FnMut(&Case) -> Reproduction) -> Reduced {
    let mut tests = Tests::new(tests_max, test);
    let mut smallest = case.clone();
    let reproduced = tests.reproduces(case);
    let mut changed = reproduced;
    while changed && !tests.ran_out {
        let before = smallest.clone();
        for pass in PASSES {
            smallest = pass.reduce(&smallest, &mut tests);
        }
        changed = smallest != before;
    }
    if reproduced {
        // Only once, when nothing else changes any more: it makes nothing smaller, but easier to read.
        smallest = sql::names::Names.reduce(&smallest, &mut tests);
    }
    Reduced {
        reproduced,
        complete: reproduced && !tests.ran_out,
        tests: tests.run,
        unresolved: tests.unresolved,
        before: Size::of(case),
        after: Size::of(&smallest),
        case: smallest,
    }
}
