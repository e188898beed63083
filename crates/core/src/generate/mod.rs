//! Generation: random cases from one stochastic model.
//!
//! ```text
//!   profile.toml ──profile──→ Model ┐
//!                                   ├─ Generator ─→ Group { one schema, several cases on it }
//!   targets ──language──→ Language  ┘                 each case: sessions, transactions, an order, a level
//! ```
//!
//! 1. [`model`]: every choice is a feature, a pair of candidates and a distribution; [`features`] lists them all, and
//!    a [`profile`] sets some of them.
//! 2. [`language`]: what *all* targets understand, and in the same way. A construct that one of them lacks is not
//!    generated.
//! 3. [`schema`]: tables, keys, constraints, rows; [`values`] for them.
//! 4. [`expression`] and [`predicate`]: typed trees, of which the statements of the sessions' transactions are made;
//!    they are submitted in several [`order`]s. Deep statements are made of whole queries (`query`).
//! 5. [`generator`]: all of it together.
//!
//! Everything is a function of the seed and of the number of the group: a case can be made again without those before
//! it.

pub mod random;
pub mod model;
pub mod features;
pub mod profile;
pub mod language;
pub mod schema;
pub mod values;
mod maker;
mod keys;
pub mod expression;
pub mod predicate;
mod query;
mod statement;
mod transaction;
pub mod order;
pub mod generator;

pub use generator::{GenerateError, Generator};
pub use maker::Tally;

use crate::case::Case;

/// Cases that share a schema: setting one up costs more than running a case, so there are several for each.
#[derive(Debug, Clone)]
pub struct Group {
    /// Its number, from 0.
    pub number: u64,
    /// The cases. All of them have the same setup; each is submitted in line order.
    pub cases: Vec<Case>,
}

/// What the use of a case demands of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Demands {
    /// The case will be run in other orders and the outcomes compared. So nothing may depend on more than the data: no
    /// numbers that the server hands out, no LIMIT without a total order.
    pub reorderable: bool,
    /// Assertions are wanted: what the constraints of the schema promise of every committed state.
    pub assertions: bool,
}
