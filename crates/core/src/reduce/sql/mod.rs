//! Reduction inside the SQL.
//!
//! Delta debugging over steps leaves the statements that matter, each as long as a generator or a person wrote it:
//!
//! ```text
//!   UPDATE t0 SET c1 = CASE WHEN c2 > 7 THEN c1 + 3 ELSE c1 END WHERE c0 IN (4, 9) AND NOT (c2 IS NULL)
//!   UPDATE t0 SET c1 = c1 + 3 WHERE c0 IN (4, 9) AND NOT (c2 IS NULL)     an expression by a part of it
//!   UPDATE t0 SET c1 = c1 + 3                                             without a clause
//!   UPDATE t0 SET c1 = c1 + 1                                             a smaller constant, everywhere in the case
//!   UPDATE t SET a = a + 1                                                names that were numbered
//! ```
//!
//! * [`rewrite`]: the pass that applies tables of small edits to one statement; the tables are [`clauses`],
//!   [`expressions`] and [`types`]
//! * [`retype`], [`columns`], [`tables`], [`constants`], [`names`]: passes over all statements at once, since a column
//!   must go from its table and from every statement together, and equal constants must stay equal
//!
//! An edit need not preserve any meaning, and not even validity: every candidate is tested like any other. It must only
//! make the statement *shorter*; that is why reduction ends.
//!
//! # Limits
//!
//! What no dialect of the parser understands is left as it is, and so are assertions: they say what must hold, and a
//! weaker one would be violated by anything.

pub(super) mod clauses;
pub(super) mod columns;
pub(super) mod constants;
pub(super) mod expressions;
pub(super) mod names;
mod literals;
pub(super) mod retype;
pub(super) mod rewrite;
mod schema;
pub(super) mod tables;
pub(super) mod types;

#[cfg(test)]
mod tests;
