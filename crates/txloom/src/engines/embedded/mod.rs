//! What the engines inside this process share: taking turns, and talking to SQLite.
//!
//! * [`turns`]: one statement at a time; who waits for whom; who goes on first
//! * [`split`]: the statements of a message
//! * [`run`]: one statement on one connection, and the contents of a database
//! * [`load`]: many rows at once
//! * [`cell`], [`keys`], [`copy`], [`registers`]: values, keys, whole databases, and what belongs to a session
//! * [`admit`]: what cannot be let pass
//! * [`errors`]: what SQLite's error codes mean

pub(crate) mod turns;
pub(crate) mod split;
pub(crate) mod run;
pub(crate) mod load;
pub(crate) mod cell;
pub(crate) mod keys;
pub(crate) mod copy;
pub(crate) mod registers;
pub(crate) mod admit;
pub(crate) mod errors;
#[cfg(test)]
pub(crate) mod transcript;
