//! Search: which serializability anomalies an application can show, at which level (CLOTHO).
//!
//! ```text
//!   conflicts ──→ cycles ──→ (ways) ──→ plans ──→ …
//! ```
//!
//! * [`used`](mod@used): which reads matter
//! * [`conflicts`]: which statements of which procedures can meet on a row, and in which columns
//! * [`cycles`](mod@cycles): candidate cycles of dependencies
//! * [`class`]: what people call them
//! * [`level`]: what stores and engines let happen
//! * [`plan`]: who runs when, and who sees what
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
mod write;
mod looks;
mod hops;
mod outcome;
pub mod feasible;
mod witness;
pub mod find;
pub mod start;
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
