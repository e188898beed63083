//! Search: which serializability anomalies an application can show, at which level (CLOTHO).
//!
//! # The problem
//!
//! Two calls of `deposit` read the same balance, and each writes what it has read plus its own amount: one deposit is
//! lost, unless the database forbids it. Which calls of an application can break each other like that at a given level,
//! with which arguments and from which rows? (Rahmani, Nagar, Delaware, Jagannathan: CLOTHO, OOPSLA 2019.)
//!
//! # The idea
//!
//! Structure first, arithmetic second: what can be enumerated is, and the solver is asked only for values.
//!
//! ```text
//!   conflicts ──→ cycles ──→ ways ──→ plans ──→ feasible ──→ tests ──→ script: a case
//!   who meets     drawings   through  who runs  arguments    witness: other cycles
//!   whom, where   of depen-  each     when and  and rows     of the same run
//!                 dencies    call     sees what
//! ```
//!
//! * [`used`](mod@used): which reads matter
//! * [`conflicts`]: which statements of which procedures can meet on a row, and in which columns
//! * [`cycles`](mod@cycles): candidate cycles of dependencies
//! * [`class`]: what people call them
//! * [`level`]: what stores and engines let happen
//! * [`plan`]: who runs when, and who sees what
//! * [`ground`], `world`, `scene`: the small database that calls are executed in, and what names mean in it
//! * `run`, `statement`, `query`, `group`, `write`, `looks`, `answer`: executing them, with terms for values
//! * `hops`, `outcome`: what must hold for a dependency to be there; what a run leaves behind
//! * [`feasible`](mod@feasible): values for which a cycle happens and shows
//! * [`find`], `groups`, `witness`: all of it, for every candidate; `prefixes`: which calls may have come before
//! * [`start`], [`placement`], [`script`]: a test as rows, nodes and a schedule
//! * [`brute`]: a second opinion on small programs
//! * [`fix`]: which changes of the program may remove an anomaly

pub mod used;
pub mod conflicts;
pub mod cycles;
pub mod class;
pub mod level;
pub mod plan;
pub mod ground;
mod world;
mod scene;
mod answer;
mod run;
mod statement;
mod query;
mod group;
mod write;
mod looks;
mod hops;
mod outcome;
mod refusal;
mod constraint;
mod locked;
mod stage;
pub mod feasible;
mod witness;
mod prefixes;
mod groups;
pub mod find;
pub mod start;
pub mod placement;
pub mod script;
pub mod brute;
pub mod fix;
#[cfg(test)]
mod testing;

pub use class::{Class, classify};
pub use conflicts::{Column, Conflict, Conflicts, Kind, Options, Site};
pub use cycles::{Bounds, Cycle, Structure, Through, Visit, cycles};
pub use level::Target;
pub use plan::{Apart, Move, Plan, plans};
