//! Tests of programs as a whole: reading and printing them, and calling their procedures.

mod calls;
mod syntax;

/// The walking thread's program.
pub(super) const WITHDRAW: &str = include_str!("../../../../../corpus/programs/withdraw.sql");
