//! Originals: programs as people write them, in Java, Python and C, run for real.
//!
//! **Problem.** A front-end that reads Java can be wrong in ways that no look at its output shows: a setter that counts
//! from the wrong end, a branch taken the other way. What the original does to a database is the only judge.
//!
//! **Idea.** The original is compiled and run by its own language and drivers, in a process that obeys lines
//! (`run/Runner.java`, `run/runner.py`, `run/runner.pgc`); txloom's interpreter makes the same calls, with the same
//! arguments, on the same rows. Results, failures and rows must be the same.
//!
//! ```text
//!   calls by seed ──→ interpreter of the program ──→ private server ──→ results, rows ─┐
//!                 ──→ process of the original    ──→ private server ──→ results, rows ─┴→ the same?
//! ```
//!
//! Files, in reading order: [`tools`] (what is compiled and installed, once), [`process`] (what obeys lines),
//! [`place`] (a private server that both reach), [`compare`] (two ways to make the same calls), [`java`], [`agenda`]
//! (the examples in Python and C), [`read`]
//! (what front-ends read from them), [`statements`] (the same effect, and the same statements), [`logs`] (what servers
//! write down meanwhile), [`shop`] (a whole application).
//!
//! What is installed or compiled lies in `target/tmp`, named after the contents it was made from; with that in place no
//! network is needed.

pub(crate) mod tools;
pub(crate) mod process;
pub(crate) mod place;
pub(crate) mod compare;
pub(crate) mod java;
pub(crate) mod agenda;
pub(crate) mod read;
mod statements;
mod logs;
mod shop;
